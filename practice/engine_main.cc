// practice_engine: the inference server of the practice run as a process of its own, over HTTP, with a worker process
// behind it. When the worker dies the server can stay, as real ones do: /health goes on answering 200.
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"
#include "practice/engine.h"
#include "practice/http.h"

namespace practice {
namespace {

using mw::cat;

struct EngineOptions {
  int port = 8000;
  uint64_t seed = 7;
  std::string metrics = "vllm", when_worker_dies = "error";
  double delay = 0;         // seconds a request takes at least
  int64_t deaf_after = -1;  // updates after which weights are taken with thanks, and not loaded; -1: never
};

/// What the threads of the server share.
class Server {
 public:
  explicit Server(const EngineOptions& options) : options_(options), worker_(options.seed) {}

  HttpReply answer(const HttpRequest& request) {
    const std::string path = request.path.substr(0, request.path.find('?'));
    HttpReply reply;
    if (request.method == "GET" && path == "/health") return reply;
    if (request.method == "GET" && path == "/metrics") return metrics();
    if (request.method == "POST" && path == "/generate") return generate(request.body);
    if (request.method == "GET" && path == "/v1/models") {
      reply.body = "{\"object\":\"list\",\"data\":[{\"id\":\"practice\",\"object\":\"model\"}]}";
      return reply;
    }
    if (request.method == "POST" && path == "/v1/completions") return complete();
    if (request.method == "POST" && path == "/update_weights") return update(request.body);
    reply.status = 404;
    reply.body = "{\"detail\":\"Not Found\"}";
    return reply;
  }

 private:
  HttpReply dead(const char* path) {
    if (options_.when_worker_dies == "hang") never_answer();
    if (options_.when_worker_dies == "exit") _exit(1);
    std::printf("INFO:     127.0.0.1:0 - \"POST %s HTTP/1.1\" 500 Internal Server Error\n", path);
    std::fflush(stdout);
    HttpReply reply;
    reply.status = 500;
    reply.body =
        "{\"error\":{\"message\":\"EngineCore encountered an issue. See stack trace (above) for the root cause.\","
        "\"type\":\"EngineDeadError\",\"code\":500}}";
    return reply;
  }

  static HttpReply bad_request(const char* why) {
    HttpReply reply;
    reply.status = 400;
    reply.body = cat("{\"error\":{\"message\":\"", why, "\"}}");
    return reply;
  }

  HttpReply generate(const std::string& body) {
    const auto json = mw::Json::parse(body);
    const mw::Json* prompts = json.ok() ? json->find("prompts") : nullptr;
    if (prompts == nullptr || !prompts->is_array()) return bad_request("prompts is missing");
    std::vector<Question> questions;
    for (const mw::Json& prompt : prompts->items()) {
      if (prompt.items().size() != 3) return bad_request("a prompt is [a, b, minus]");
      const auto operand = [&prompt](size_t i) { return static_cast<int>(prompt.items()[i].integer()); };
      const Question question{operand(0), operand(1), prompt.items()[2].boolean()};
      if (question.a < 0 || question.a > 9 || question.b < 0 || question.b > 9) return bad_request("no such prompt");
      questions.push_back(question);
    }
    const int64_t group = json->integer_or("n", 1);
    if (group < 1 || group > 4096) return bad_request("n is out of range");
    const auto seed = static_cast<uint64_t>(mw::parse_int(json->string_or("seed", "0")).value_or(0));
    ++running_;
    if (options_.delay > 0) usleep(static_cast<useconds_t>(options_.delay * 1e6));
    std::optional<std::vector<Sample>> samples;
    {
      const std::lock_guard<std::mutex> lock(worker_lock_);
      samples = worker_.generate(questions, static_cast<int>(group), json->number_or("temperature", 1), seed);
    }
    if (!samples) return dead("/generate");  // it stays among the running ones
    --running_;
    return reply_with(*samples, questions.size());
  }

  /// As OpenAI's protocol has it; whatever the prompt, an answer to the same question, as it is asked only to see
  /// whether there is one. Each request draws from its own seed, so this changes nobody's samples.
  HttpReply complete() {
    ++running_;
    std::optional<std::vector<Sample>> samples;
    {
      const std::lock_guard<std::mutex> lock(worker_lock_);
      samples = worker_.generate({Question{1, 1, false}}, 1, 1, 1);
    }
    if (!samples) return dead("/v1/completions");
    --running_;
    ++generated_;
    ++finished_;
    HttpReply reply;
    mw::JsonWriter json(reply.body);
    json.begin_object().key("object").string("text_completion").key("choices").begin_array().begin_object();
    json.key("index").integer(0).key("text").string(cat("<", samples->front().tokens.front(), ">"));
    json.key("finish_reason").string("length").key("logprobs").begin_object().key("token_logprobs").begin_array();
    json.number(samples->front().log_probs.front()).end_array().end_object().end_object().end_array().end_object();
    return reply;
  }

  HttpReply reply_with(const std::vector<Sample>& samples, size_t prompts) {
    HttpReply reply;
    mw::JsonWriter json(reply.body);
    json.begin_object().key("outputs").begin_array();
    for (const Sample& sample : samples) {
      json.begin_object().key("token_ids").begin_array();
      for (const int token : sample.tokens) json.integer(token);
      json.end_array().key("logprobs").begin_array();
      for (const double score : sample.log_probs) json.number(score);
      json.end_array().key("entropy").number(sample.entropy);
      json.key("finish_reason").string(sample.cut ? "length" : "stop").end_object();
      generated_ += static_cast<int64_t>(sample.tokens.size());
    }
    json.end_array().key("weight_version").integer(updates_).end_object();
    prompted_ += static_cast<int64_t>(3 * prompts);
    finished_ += static_cast<int64_t>(samples.size());
    return reply;
  }

  HttpReply update(const std::string& body) {
    std::vector<double> weights(body.size() / sizeof(double));
    if (weights.size() != Policy(1).weights().size() || body.size() % sizeof(double) != 0) {
      return bad_request("these are no weights of this model");
    }
    std::memcpy(weights.data(), body.data(), body.size());
    const std::lock_guard<std::mutex> lock(worker_lock_);
    const bool deaf = options_.deaf_after >= 0 && updates_ >= options_.deaf_after;
    if (!deaf && !worker_.load(weights, 0)) return dead("/update_weights");
    ++updates_;
    HttpReply reply;
    reply.body = "{\"success\":true}";
    return reply;
  }

  HttpReply metrics() const {
    const bool vllm = options_.metrics == "vllm";
    const std::string labels = vllm ? "{engine=\"0\",model_name=\"practice\"} " : "{model_name=\"practice\"} ";
    HttpReply reply;
    reply.type = "text/plain; version=0.0.4";
    const auto put = [&](const char* in_vllm, const char* in_sglang, const char* type, int64_t value) {
      const std::string name = vllm ? cat("vllm:", in_vllm) : cat("sglang:", in_sglang);
      reply.body +=
          cat("# HELP ", name, " Of the practice engine.\n# TYPE ", name, " ", type, "\n", name, labels, value, ".0\n");
    };
    put("num_requests_running", "num_running_reqs", "gauge", running_);
    put("num_requests_waiting", "num_queue_reqs", "gauge", 0);
    put("kv_cache_usage_perc", "token_usage", "gauge", 0);
    put("prompt_tokens_total", "prompt_tokens_total", "counter", prompted_);
    put("generation_tokens_total", "generation_tokens_total", "counter", generated_);
    put("request_success_total", "num_requests_total", "counter", finished_);
    return reply;
  }

  const EngineOptions& options_;
  ForkedEngine worker_;
  std::mutex worker_lock_;
  std::atomic<int64_t> running_{0}, generated_{0}, prompted_{0}, finished_{0}, updates_{0};
};

std::optional<EngineOptions> parse(int argc, char** argv) {
  EngineOptions options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    const auto number = mw::parse_int(value);
    if (name == "--port" && number && *number > 0 && *number < 65536) {
      options.port = static_cast<int>(*number);
    } else if (name == "--seed" && number) {
      options.seed = static_cast<uint64_t>(*number);
    } else if (name == "--metrics" && (value == "vllm" || value == "sglang")) {
      options.metrics = value;
    } else if (name == "--when-worker-dies" && (value == "error" || value == "hang" || value == "exit")) {
      options.when_worker_dies = value;
    } else if (name == "--delay" && mw::parse_double(value)) {
      options.delay = *mw::parse_double(value);
    } else if (name == "--deaf-after" && number && *number >= 0) {
      options.deaf_after = *number;
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
        "practice_engine --port N [--seed N] [--metrics vllm|sglang] [--when-worker-dies error|hang|exit] [--delay "
        "SECONDS]\n"
        "                [--deaf-after UPDATES]\n"
        "Serves GET /health, /metrics, /v1/models and POST /generate, /v1/completions, /update_weights on 127.0.0.1.\n",
        stderr);
    return 2;
  }
  practice::Server server(*options);  // forks its worker before there are threads
  const auto ready = [&options] {
    std::printf("INFO:     Started server process [%d]\nINFO:     Application startup complete.\n", getpid());
    std::printf("INFO:     Uvicorn running on http://127.0.0.1:%d (Press CTRL+C to quit)\n", options->port);
    std::fflush(stdout);
  };
  const int trouble = practice::http_serve(
      options->port, ready, [&server](const practice::HttpRequest& request) { return server.answer(request); });
  std::printf(
      "ERROR:    [Errno %d] error while attempting to bind on address ('127.0.0.1', %d): address already in use\n",
      trouble, options->port);
  return 1;
}
