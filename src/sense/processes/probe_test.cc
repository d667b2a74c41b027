#include "sense/processes/probe.h"

#include <doctest/doctest.h>

#include <map>

#include "base/text.h"

using namespace mw;
using namespace mw::components;
using Health = event::ComponentSaw::Health;
using How = Reply::How;

namespace {

/// A server that answers as a test says, by path; what is not said is not found.
class FakeHttp final : public Http {
 public:
  std::map<std::string, HttpAnswer> answers;
  std::map<std::string, Error::Code> errors;
  std::vector<std::string> asked;

  Result<HttpAnswer> send(const HttpRequest& request) override {
    CHECK(request.direct);
    const std::string path = request.url.substr(std::string("http://h:1").size());
    asked.push_back(request.method + " " + path);
    if (const auto error = errors.find(path); error != errors.end()) return Error{error->second, "no", ""};
    const auto found = answers.find(path);
    return found != answers.end() ? found->second : HttpAnswer{404, "", -1};
  }
  Result<void> mail(const MailRequest&) override { return {}; }
};

Target engine() {
  Target target;
  target.name = "engine";
  target.address = "http://h:1";
  target.generate = true;
  target.declared = true;
  return target;
}

Answer well() {
  Answer answer;
  answer.health = {How::kAnswered, 200};
  answer.generation = {How::kAnswered, 200};
  return answer;
}

/// Asks every five seconds, of a run that does a step every two.
struct Course {
  Target target = engine();
  ProbeJudge judge;
  Rhythm rhythm;
  double seconds = 100;
  int64_t step = 0;
  bool training = true;

  std::optional<event::ComponentSaw> see(const Answer& answer, bool paused = false) {
    seconds += 5;
    for (double at = seconds - 4; training && at <= seconds; at += 2) rhythm.saw(1, ++step, Duration::seconds(at));
    return judge.take(target, answer, rhythm, Duration::seconds(seconds), paused);
  }
};

}  // namespace

TEST_CASE("an engine is asked for its health, its counters and a token") {
  FakeHttp http;
  http.answers["/health"] = {200, "", -1};
  http.answers["/metrics"] = {200, "vllm:num_requests_running 2\nvllm:generation_tokens_total 9\n", -1};
  http.answers["/v1/models"] = {200, R"({"data":[{"id":"m"}]})", -1};
  http.answers["/v1/completions"] = {500, "", -1};
  const Answer answer = ask(http, engine());
  CHECK(answer.health.status == 200);
  CHECK(*answer.figures.generated == 9);
  CHECK(answer.generation.status == 500);
  CHECK(http.asked ==
        std::vector<std::string>{"GET /health", "GET /metrics", "GET /v1/models", "POST /v1/completions"});
}

TEST_CASE(
    "one that does not speak OpenAI's protocol is asked as SGLang is, and one that speaks neither is not judged by "
    "it") {
  FakeHttp http;
  http.answers["/health"] = {200, "", -1};
  SUBCASE("SGLang") {
    http.answers["/generate"] = {200, "{}", -1};
    CHECK(ask(http, engine()).generation.status == 200);
  }
  SUBCASE("neither") { CHECK(ask(http, engine()).generation.how == How::kNotAsked); }
  SUBCASE("garbage for models") {
    http.answers["/v1/models"] = {200, "{\"data\":[[[", -1};
    CHECK(ask(http, engine()).generation.how == How::kNotAsked);
  }
}

TEST_CASE("the token comes with its log-probability, where the engine states it") {
  FakeHttp http;
  http.answers["/health"] = {200, "", -1};
  SUBCASE("OpenAI's protocol") {
    http.answers["/v1/models"] = {200, R"({"data":[{"id":"m"}]})", -1};
    http.answers["/v1/completions"] = {200, R"({"choices":[{"text":"2","logprobs":{"token_logprobs":[-0.25]}}]})", -1};
    const Answer answer = ask(http, engine());
    CHECK(answer.token == "2");
    CHECK(answer.score == -0.25);
  }
  SUBCASE("SGLang") {
    http.answers["/generate"] = {200, R"({"meta_info":{"output_token_logprobs":[[-0.5,17,null]]}})", -1};
    const Answer answer = ask(http, engine());
    CHECK(answer.token == "17");
    CHECK(answer.score == -0.5);
  }
  SUBCASE("it does not") {
    http.answers["/v1/models"] = {200, R"({"data":[{"id":"m"}]})", -1};
    http.answers["/v1/completions"] = {200, R"({"choices":[{"text":"2","logprobs":null}]})", -1};
    const Answer answer = ask(http, engine());
    CHECK(answer.generation.status == 200);
    CHECK(!answer.score);
  }
}

TEST_CASE("who does not answer for its health is asked nothing else; a tool server only for that") {
  FakeHttp http;
  http.errors["/health"] = Error::Code::kNotFound;
  CHECK(ask(http, engine()).health.how == How::kRefused);
  CHECK(http.asked.size() == 1);
  http.errors.clear();
  Target tools = engine();
  tools.kind = "tools";
  (void)ask(http, tools);
  CHECK(http.asked.size() == 2);
}

TEST_CASE("a half-dead engine says that it is well and gives no token") {
  Course course;
  REQUIRE(course.see(well()));
  CHECK(!course.see(well()));
  Answer half = well();
  SUBCASE("an error") { half.generation = {How::kAnswered, 500}; }
  SUBCASE("no answer") { half.generation = {How::kLate, 0}; }
  CHECK(!course.see(half));
  const auto reported = course.see(half);
  REQUIRE(reported);
  CHECK(reported->health == Health::kHalfDead);
  CHECK(reported->certain);
  CHECK(reported->address == "h:1");
  CHECK(!course.see(half));
  const auto again = course.see(well());
  REQUIRE(again);
  CHECK(again->health == Health::kWell);
}

TEST_CASE("a busy engine gives no token in time, while its counter moves") {
  Course course;
  Answer busy = well();
  busy.figures.running = 100;
  for (int i = 0; i < 50; ++i) {
    busy.figures.generated = 1000.0 * i;
    busy.generation = {i == 0 ? How::kAnswered : How::kLate, i == 0 ? 200 : 0};
    const auto reported = course.see(busy);
    CHECK((!reported || reported->health == Health::kWell));
  }
}

TEST_CASE("a server that is refused is silent, at once where it was declared") {
  Course course;
  Answer refused;
  refused.health = {How::kRefused, 0};
  SUBCASE("declared") {}
  SUBCASE("found") { course.target.declared = false; }
  (void)course.see(well());
  CHECK(!course.see(refused));
  const auto reported = course.see(refused);
  REQUIRE(reported);
  CHECK(reported->health == Health::kSilent);
  CHECK(reported->certain == course.target.declared);
  course.training = false;
  for (int i = 0; i < 20 && !course.target.declared; ++i) {
    if (const auto later = course.see(refused)) CHECK(later->certain);
  }
}

TEST_CASE("a slow server is silent only when nothing is done meanwhile") {
  Course course;
  (void)course.see(well());
  Answer slow;
  slow.health = {How::kLate, 0};
  bool certain = false;
  for (int i = 0; i < 100; ++i) {
    if (const auto reported = course.see(slow)) certain = certain || reported->certain;
  }
  CHECK(!certain);
  course.training = false;
  for (int i = 0; i < 20; ++i) {
    if (const auto reported = course.see(slow)) certain = certain || reported->certain;
  }
  CHECK(certain);
}

TEST_CASE("what has not been well yet is starting, until its time is up") {
  Course course;
  Answer refused;
  refused.health = {How::kRefused, 0};
  const auto reported = course.see(refused);
  REQUIRE(reported);
  CHECK(reported->health == Health::kStarting);
  for (int i = 0; i < 178; ++i) CHECK(!course.see(refused));
  std::optional<event::ComponentSaw> late;
  for (int i = 0; i < 4 && !late; ++i) late = course.see(refused);
  REQUIRE(late);
  CHECK(late->certain);
  CHECK(late->health == Health::kStarting);  // nobody ever answered: its address may be wrong
}

TEST_CASE("what once worked, or is midwatch's own, is silent when its time is up") {
  Course course;
  Answer refused;
  refused.health = {How::kRefused, 0};
  SUBCASE("in the attempt before") {
    (void)course.see(well());
    course.judge.begin_anew();
  }
  SUBCASE("as an earlier midwatch saw") { course.judge.worked(); }
  SUBCASE("its process is known") { course.target.pid = 7; }
  std::optional<event::ComponentSaw> late;
  for (int i = 0; i < 200; ++i) {
    if (auto news = course.see(refused)) late = std::move(news);
  }
  REQUIRE(late);
  CHECK(late->health == Health::kSilent);
  CHECK(late->certain);
}

TEST_CASE("requests that run without a token for minutes are a half-dead engine, unless steps are done") {
  Course course;
  Answer wedged = well();
  wedged.generation = {};
  wedged.figures.running = 3;
  wedged.figures.generated = 500;
  (void)course.see(wedged);
  for (int i = 0; i < 60; ++i) CHECK(!course.see(wedged));
  course.training = false;
  std::optional<event::ComponentSaw> reported;
  for (int i = 0; i < 30 && !reported; ++i) reported = course.see(wedged);
  REQUIRE(reported);
  CHECK(reported->health == Health::kHalfDead);
  CHECK(contains(reported->text, "3 requests are running"));
}

TEST_CASE("while the run is paused, nothing is to be expected") {
  Course course;
  (void)course.see(well());
  Answer refused;
  refused.health = {How::kRefused, 0};
  for (int i = 0; i < 100; ++i) CHECK(!course.see(refused, true));
  CHECK(!course.see(refused));
}

TEST_CASE("the rhythm is the median of the last steps, and goes on over attempts") {
  Rhythm rhythm;
  CHECK(rhythm.usual().ns == 0);
  double at = 0;
  for (int64_t step = 1; step <= 10; ++step) rhythm.saw(1, step, Duration::seconds(at += step == 5 ? 100 : 2));
  CHECK(rhythm.usual() == Duration::seconds(2));
  CHECK(rhythm.steps() == 10);
  CHECK(!rhythm.waits({}, Duration::seconds(at + 5), Duration::seconds(1), 3, Duration::seconds(600)));
  CHECK(rhythm.waits({}, Duration::seconds(at + 7), Duration::seconds(1), 3, Duration::seconds(600)));
  rhythm.saw(2, 1, Duration::seconds(at + 300));
  CHECK(rhythm.usual() == Duration::seconds(2));
  CHECK(rhythm.steps() == 1);
}
