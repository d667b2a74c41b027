#include "sense/processes/scrape_watch.h"

#include <doctest/doctest.h>

#include <chrono>
#include <mutex>
#include <thread>

#include "base/text.h"

namespace mw {
namespace {

/// One server that says what a test says.
class FakeHttp final : public Http {
 public:
  struct World {
    std::mutex lock;
    Result<HttpAnswer> answer = HttpAnswer{404, "", -1};
    std::vector<HttpRequest> asked;
  };
  explicit FakeHttp(World& world) : world_(world) {}
  Result<HttpAnswer> send(const HttpRequest& request) override {
    const std::lock_guard guard(world_.lock);
    world_.asked.push_back(request);
    return world_.answer;
  }
  Result<void> mail(const MailRequest&) override { return {}; }

 private:
  World& world_;
};

class Heard final : public EventWriter {
 public:
  using EventWriter::observed;
  Result<uint32_t> intend(event::Intended) override { return 1U; }
  void acted(event::Acted) override {}
  Result<void> record(SupervisionEvent, Time) override { return {}; }
  Result<void> note(event::Note, Time) override { return {}; }
  void observed(const std::string& source, event::Measured&& figures) override {
    CHECK(source == "host:scrape");
    CHECK(figures.step == kNoStep);
    for (const Reading& one : figures.readings) lines.push_back(cat(one.signal(), " ", one.raw(), " ", one.value));
  }
  void observed(const std::string&, event::SourceProblem&& problem) override { lines.push_back(problem.detail); }
  std::vector<std::string> take() { return std::exchange(lines, {}); }
  std::vector<std::string> lines;
};

TEST_CASE("an endpoint's metrics come as figures, and what is missing is reported once") {
  FakeHttp::World world;
  FakeClock clock;
  Heard heard;
  const State state;
  Endpoint endpoint;
  endpoint.name = "gateway";
  endpoint.url = "http://h:1/metrics";
  endpoint.figures = {{"depth", "depth", false}, {"rate(errors_total)", "errors_total", true}};
  endpoint.every = Duration::seconds(10);
  ScrapeWatch watch(clock, std::make_unique<FakeHttp>(world), {endpoint});
  size_t rounds = 0;
  const auto round = [&](Result<HttpAnswer> answer) {
    {
      const std::lock_guard guard(world.lock);
      world.answer = std::move(answer);
    }
    clock.pass(endpoint.every);
    ++rounds;
    const auto patience = watch.turn(state, true, heard);
    REQUIRE(patience.has_value());
    CHECK(*patience <= ScrapeWatch::kLook);
    // Until the answer is taken the watch asks for it again soon.
    for (int i = 0; i < 5000 && *watch.turn(state, true, heard) <= ScrapeWatch::kLook; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const std::lock_guard guard(world.lock);
    CHECK(world.asked.size() == rounds);
    CHECK((world.asked.back().direct && world.asked.back().method == "GET" && world.asked.back().url == endpoint.url));
    return heard.take();
  };
  using Lines = std::vector<std::string>;
  const auto says = [](std::string text) { return HttpAnswer{200, std::move(text), -1}; };
  CHECK(round(says("depth 3\nerrors_total{a=\"1\"} 5\nother 1\n")) == Lines{"scrape.gateway depth 3"});
  CHECK(round(says("depth 3\nerrors_total{a=\"1\"} 5\nerrors_total{a=\"2\"} 20\n")) ==
        Lines{"scrape.gateway rate(errors_total) 2"});
  CHECK(round(says("depth 8\n")) == Lines{"scrape gateway: there is no metric errors_total", "scrape.gateway depth 8"});
  CHECK(round(HttpAnswer{503, "depth 9\n", -1}) == Lines{"scrape gateway: it answers with status 503"});
  CHECK(round(Error{Error::Code::kNotFound, "refused", ""}) == Lines{"scrape gateway: it gives no answer: refused"});
  CHECK(round(Error{Error::Code::kNotFound, "refused", ""}).empty());
  CHECK(round(says("not a metric at all\n\0\xff{{{")) == Lines{"scrape gateway: there is no metric depth"});
  CHECK(round(says("errors_total 1000\ndepth 1\n")) == Lines{"scrape.gateway depth 1"});  // no rate across the gap
}

}  // namespace
}  // namespace mw
