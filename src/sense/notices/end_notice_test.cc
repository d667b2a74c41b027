#include "sense/notices/end_notice.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "platform/fake/fake_disk.h"

namespace mw {
namespace {

/// A metadata server: paths and what they answer.
class Metadata final : public Http {
 public:
  Result<HttpAnswer> send(const HttpRequest& request) override {
    asked.push_back(cat(request.method, " ", request.url, " ", request.headers.at(0)));
    CHECK(request.direct);
    for (const auto& [part, answer] : answers) {
      if (contains(request.url, part)) return answer;
    }
    return HttpAnswer{404, "", -1};
  }
  Result<void> mail(const MailRequest&) override { return {}; }
  std::vector<std::pair<std::string, HttpAnswer>> answers;
  std::vector<std::string> asked;
};

struct World {
  std::shared_ptr<FakeDisk> disk = std::make_shared<FakeDisk>();
  std::shared_ptr<Metadata> http = std::make_shared<Metadata>();
  std::map<std::string, std::string> variables;
  void file(const std::string& path, std::string_view text) const {
    REQUIRE(disk->make_folders(path.substr(0, path.rfind('/'))).ok());
    auto out = disk->open_append(path);
    REQUIRE(out.ok());
    REQUIRE((*out)->append(text).ok());
  }
  std::vector<std::shared_ptr<NoticeSource>> sources(const std::vector<std::string>& words) const {
    const auto variable = [this](const std::string& name) {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
    auto out = notice_sources({disk, http, variable}, words);
    REQUIRE(out.ok());
    return *out;
  }
};

std::optional<EndNotice> asked(NoticeSource& source) {
  const auto answer = source.ask();
  REQUIRE(answer.ok());
  return *answer;
}

TEST_CASE("AWS is asked with a token that is asked for once, and anew when it is refused") {
  World world;
  world.http->answers = {{"/api/token", {200, "tok\n", -1}}};
  const auto source = world.sources({"aws"}).at(0);
  CHECK_FALSE(asked(*source));
  CHECK_FALSE(asked(*source));
  REQUIRE(world.http->asked.size() == 3);
  CHECK(world.http->asked[0] ==
        "PUT http://169.254.169.254/latest/api/token X-aws-ec2-metadata-token-ttl-seconds: 21600");
  CHECK(contains(world.http->asked[2], "/latest/meta-data/spot/instance-action X-aws-ec2-metadata-token: tok"));
  world.http->answers.emplace_back("instance-action", HttpAnswer{401, "", -1});
  CHECK_FALSE(source->ask().ok());
  world.http->answers.back().second = {200, R"({"action": "terminate", "time": "2026-01-15T08:22:00Z"})", -1};
  const auto notice = asked(*source);
  CHECK(contains(world.http->asked[4], "PUT"));
  REQUIRE(notice);
  CHECK(notice->what == "AWS will terminate this machine");
  CHECK(format_utc(notice->at) == "2026-01-15T08:22:00Z");
  world.http->answers.back().second = {503, "<html>", -1};
  CHECK_FALSE(source->ask().ok());
}

TEST_CASE("Google says TRUE; Azure names who goes, and another machine of the group is none") {
  World world;
  world.http->answers = {{"/instance/preempted", {200, "FALSE\n", -1}},
                         {"compute/name", {200, "vm_3", -1}},
                         {"scheduledevents", {200, "", -1}}};
  const auto sources = world.sources({"gcp", "azure"});
  CHECK_FALSE(asked(*sources[0]));
  world.http->answers[0].second.body = "TRUE";
  CHECK(asked(*sources[0]));
  CHECK_FALSE(asked(*sources[0])->at.known());
  const auto event = [](std::string_view type, std::string_view whom) {
    return cat(R"({"DocumentIncarnation":2,"Events":[{"EventId":"e","EventType":")", type, R"(","Resources":[")", whom,
               R"("],"EventStatus":"Scheduled","NotBefore":"Mon, 19 Sep 2016 18:29:47 GMT"}]})");
  };
  for (const auto& one : {std::tuple{"Preempt", "vm_4", false}, std::tuple{"Freeze", "vm_3", false},
                          std::tuple{"Preempt", "vm_3", true}, std::tuple{"Terminate", "vm_3", true}}) {
    const char *type = std::get<0>(one), *whom = std::get<1>(one);
    const bool counts = std::get<2>(one);
    CAPTURE(type);
    world.http->answers[2].second.body = event(type, whom);
    const auto notice = asked(*sources[1]);
    CHECK(notice.has_value() == counts);
    if (notice) CHECK(format_utc(notice->at) == "2016-09-19T18:29:47Z");
  }
}

TEST_CASE("a file that appears, one of Mithril's, and a variable give notice") {
  World world;
  world.variables["SAGEMAKER_CURRENT_CAPACITY_BLOCK_EXPIRATION_TIMESTAMP"] = "1800000000";
  const auto sources = world.sources({"file:/run/going", "mithril", "capacity-block"});
  REQUIRE(sources.size() == 3);
  CHECK_FALSE(asked(*sources[0]));
  CHECK_FALSE(asked(*sources[1]));
  world.file("/run/going", "");
  CHECK(asked(*sources[0]));
  world.file("/opt/mithril/MITHRIL_SIGNAL.yml", "status: STATUS_PREEMPTING\nend_time: \"2026-01-15T08:22:00Z\"\n");
  const auto notice = asked(*sources[1]);
  REQUIRE(notice);
  CHECK(format_utc(notice->at) == "2026-01-15T08:22:00Z");
  CHECK(asked(*sources[2])->at.seconds() == 1.8e9);
  CHECK_FALSE(parse_capacity_block("soon"));
  CHECK_FALSE(parse_capacity_block("12"));
}

TEST_CASE("a machine that is in no cloud asks nobody, and one in a cloud only its own") {
  World world;
  CHECK(world.sources({"auto"}).empty());
  CHECK(world.sources({}).empty());
  world.file("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
  REQUIRE(world.sources({"auto"}).size() == 1);
  CHECK(world.sources({"auto"})[0]->name() == "aws");
  world.variables["AWS_EC2_METADATA_DISABLED"] = "true";
  CHECK(world.sources({"auto"}).empty());
  CHECK(world.http->asked.empty());
  CHECK_FALSE(notice_sources({world.disk, world.http, [](const std::string&) { return std::nullopt; }}, {"moon"}).ok());
}

TEST_CASE("a notice is due when less is left than what is to be done needs; until then it may be withdrawn") {
  const Time now = Time::from_seconds(1.8e9);
  const Duration lead = Duration::seconds(120);
  CHECK(notice_is_due({"at once", {}}, now, lead));
  CHECK(notice_is_due({"", now + Duration::seconds(119)}, now, lead));
  CHECK_FALSE(notice_is_due({"", now + Duration::seconds(121)}, now, lead));
  CHECK(notice_is_due({"late", now + Duration::seconds(-5)}, now, lead));
}

}  // namespace
}  // namespace mw
