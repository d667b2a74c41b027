#include "act/supervise/inbox.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "core/event_writer.h"
#include "core/notes.h"
#include "core/state.h"
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

/// Keeps what it is given.
class Pages final : public EventWriter {
 public:
  explicit Pages(State& state) : state_(state) {}
  Result<uint32_t> intend(event::Intended) override { return uint32_t{1}; }
  void acted(event::Acted) override {}
  Result<void> note(event::Note words, Time at) override {
    fold(state_, {at, {}, std::move(words)});
    return {};
  }
  using EventWriter::record;
  Result<void> record(SupervisionEvent event, Time at) override {
    std::visit([&](auto& body) { fold(state_, {at, {}, std::move(body)}); }, event);
    return {};
  }

 private:
  State& state_;
};

TEST_CASE("when a run is over its notes are still taken, once, and nothing else is") {
  FakeDisk disk;
  State state;
  Pages pages(state);
  RunAsk ask;
  ask.who = "mira";
  for (const char* const text : {"first", "second"}) {
    ask.text = text;
    ask.at.ns += 10;
    REQUIRE(put_ask(disk, "/run", ask, 1).ok());
  }
  ask.what = RunAsk::What::kStop;
  ask.at.ns += 10;
  REQUIRE(put_ask(disk, "/run", ask, 1).ok());
  for (int again = 0; again < 2; ++again) {
    take_notes(disk, "/run", state, pages);
    REQUIRE(state.notes.size() == 2);
    CHECK(state.notes[0].second.text == "first");
    CHECK(state.notes[1].second.text == "second");
    CHECK_FALSE(state.supervision.stop);
    CHECK(disk.list("/run/inbox")->size() == 1);
  }
}

}  // namespace
}  // namespace mw
