// practice_tools: the tool server of the practice run, a calculator over HTTP that can be slow or fail from some call
// on.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/numbers.h"
#include "base/prng.h"
#include "base/text.h"
#include "practice/http.h"
#include "practice/policy.h"

namespace practice {
namespace {

struct ToolOptions {
  int port = 8600;
  double latency = 0, fail_rate = 0;  // seconds a call takes; share of calls that fail
  int64_t from = 0;                   // calls before either begins
};

HttpReply calculate(const ToolOptions& options, int64_t call, const std::string& body) {
  const bool ill = call >= options.from;
  if (ill && options.latency > 0) usleep(static_cast<useconds_t>(options.latency * 1e6));
  HttpReply reply;
  mw::Prng dice(static_cast<uint64_t>(call) + 1);  // the same calls fail in every run
  if (ill && dice.chance(options.fail_rate)) {
    reply.status = 503;
    reply.body = "{\"error\":\"the sandbox is not available\"}";
    return reply;
  }
  const auto json = mw::Json::parse(body);
  if (!json.ok() || json->find("a") == nullptr || json->find("b") == nullptr) {
    reply.status = 400;
    reply.body = "{\"error\":\"a, b and minus are needed\"}";
    return reply;
  }
  const Question question{static_cast<int>(json->integer_or("a", 0)), static_cast<int>(json->integer_or("b", 0)),
                          json->boolean_or("minus", false)};
  reply.body = mw::cat("{\"result\":", question.answer(), "}");
  return reply;
}

std::optional<ToolOptions> parse(int argc, char** argv) {
  ToolOptions options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const auto number = mw::parse_double(argv[i + 1]);
    if (!number || *number < 0) return std::nullopt;
    if (name == "--port") {
      options.port = static_cast<int>(*number);
    } else if (name == "--latency") {
      options.latency = *number;
    } else if (name == "--fail-rate") {
      options.fail_rate = *number;
    } else if (name == "--from") {
      options.from = static_cast<int64_t>(*number);
    } else {
      return std::nullopt;
    }
  }
  return argc % 2 == 1 ? std::optional(options) : std::nullopt;
}

}  // namespace
}  // namespace practice

int main(int argc, char** argv) {
  const auto options = practice::parse(argc, argv);
  if (!options) {
    std::fputs(
        "practice_tools --port N [--latency SECONDS] [--fail-rate SHARE] [--from CALL]\n"
        "Serves GET /health and POST /calculate on 127.0.0.1; slow or failing from that call on.\n",
        stderr);
    return 2;
  }
  std::atomic<int64_t> calls{0};
  const int trouble = practice::http_serve(
      options->port, [] {},
      [&](const practice::HttpRequest& request) {
        practice::HttpReply reply;
        if (request.path == "/health") return reply;
        if (request.path == "/calculate") return practice::calculate(*options, calls++, request.body);
        reply.status = 404;
        return reply;
      });
  std::fprintf(stderr, "practice_tools: cannot listen on 127.0.0.1:%d: errno %d\n", options->port, trouble);
  return 1;
}
