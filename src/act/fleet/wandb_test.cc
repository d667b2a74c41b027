#include "act/fleet/wandb.h"

#include <doctest/doctest.h>

#include "base/text.h"

namespace mw::fleet {
namespace {

constexpr std::string_view kAnswer =
    R"({"data":{"project":{"run":{"name":"abc","state":"running","heartbeatAt":"2026-01-06T11:09:50",)"
    R"("summaryMetrics":"{\"_step\": 98, \"_timestamp\": 1767690540.5, \"reward\": NaN}"}}}})";

class Server final : public Http {
 public:
  Result<HttpAnswer> send(const HttpRequest& request) override {
    asked = request;
    return answer;
  }
  Result<void> mail(const MailRequest&) override { return {}; }
  HttpRequest asked;
  HttpAnswer answer;
};

TEST_CASE("W&B's word on a run: its state, its last step, and both ages by the time of the answer") {
  Server server;
  server.answer = {200, std::string(kAnswer), -1, {{"date", "Tue, 06 Jan 2026 11:10:00 GMT"}}};
  const auto word = ask_wandb(server, {"https://api.wandb.ai", "me", "rl", "abc", "secret"});
  REQUIRE(word.ok());
  CHECK(word->state == "running");
  CHECK(word->step == 98);
  REQUIRE(word->heard);
  CHECK(word->heard->seconds() == 10);
  REQUIRE(word->step_age);
  CHECK(word->step_age->seconds() == doctest::Approx(1767697800 - 1767690540.5));
  CHECK(server.asked.url == "https://api.wandb.ai/graphql");
  CHECK(contains(server.asked.headers.at(1), "Basic YXBpOnNlY3JldA=="));
  CHECK(contains(server.asked.body, R"("run":"abc")"));
}

TEST_CASE("what is no answer of W&B's is an error, of which nothing follows") {
  for (const char* body : {"", "<html>", "{}", R"({"data":null})", R"({"data":{"project":null}})",
                           R"({"errors":[{"message":"x"}],"data":null})", R"({"data":{"project":{"run":{}}}})"}) {
    CAPTURE(body);
    CHECK_FALSE(parse_wandb(body, {}).ok());
  }
  const auto none = parse_wandb(R"({"data":{"project":{"run":null}}})", {});
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().code == Error::Code::kNotFound);
  const auto timeless = parse_wandb(kAnswer, {});  // without W&B's clock there is no age
  REQUIRE(timeless.ok());
  CHECK_FALSE(timeless->heard);
  CHECK_FALSE(timeless->step_age);
  Server server;
  server.answer = {401, "no", -1, {}};
  const auto denied = ask_wandb(server, {"https://api.wandb.ai", "me", "rl", "abc", "secret"});
  REQUIRE_FALSE(denied.ok());
  CHECK(denied.error().code == Error::Code::kDenied);
  CHECK_FALSE(contains(denied.error().what, "secret"));
}

}  // namespace
}  // namespace mw::fleet
