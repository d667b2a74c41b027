#include "act/supervise/inbox.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "core/notes.h"
#include "platform/fake/fake_disk.h"

namespace mw {
namespace {

std::string asked(std::string_view what, std::string_view kind) {
  return cat(R"({"version":1,"ask":")", what, R"(","who":"mira","text":"x","at_ns":5,"kind":")", kind, "\"}");
}

TEST_CASE("a note may be a lesson or a tag, and no other request has a kind") {
  for (const std::string_view kind : {std::string_view(), kLesson, kTag, kUntag}) {
    const auto ask = parse_ask(asked("tell", kind));
    REQUIRE(ask.ok());
    CHECK(ask->kind == kind);
  }
  CHECK_FALSE(parse_ask(asked("tell", "stop")).ok());  // it would be recorded as a request to stop
  CHECK_FALSE(parse_ask(asked("pause", "tag")).ok());
  CHECK(parse_ask(R"({"version":1,"ask":"tell","who":"a","text":"of an older midwatch","at_ns":5})").ok());
}

TEST_CASE("the kind of a note goes through the inbox's file") {
  FakeDisk disk;
  RunAsk ask;
  ask.text = "ablation";
  ask.kind = kTag;
  ask.at.ns = 5;
  const auto path = put_ask(disk, "/run", ask, 1);
  REQUIRE(path.ok());
  auto file = disk.open_read(*path);
  REQUIRE(file.ok());
  std::string text;
  REQUIRE((*file)->read_at(0, 10'000, text).ok());
  const auto back = parse_ask(text);
  REQUIRE(back.ok());
  CHECK(back->kind == kTag);
  CHECK(back->text == "ablation");
}

}  // namespace
}  // namespace mw
