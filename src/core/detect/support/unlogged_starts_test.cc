#include "core/detect/support/unlogged_starts.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/text.h"

namespace mw::detect {
namespace {

struct File {
  std::string name;
  bool figures = false;
  int64_t bytes = 5000;
  std::string kind = "tfevents";
};

std::string begun(int64_t seconds, std::string_view rest = ".node-1.70.0") {
  return cat("events.out.tfevents.", 1'700'000'000 + seconds, rest);
}

State state_of(const std::vector<File>& files) {
  State state;
  for (const File& file : files) {
    SourceState source;
    source.path = cat("/run/", file.name);
    source.kind = file.kind;
    source.bytes = file.bytes;
    state.sources.push_back(source);
  }
  for (uint32_t i = 0; i < files.size(); ++i) {
    if (files[i].figures) fold(state, {{}, {i, 1}, event::Measured{1, false, {{"loss.total", "loss", 0.5}}}});
  }
  return state;
}

size_t found(const std::vector<File>& files) { return unlogged_starts(state_of(files)).size(); }

}  // namespace

TEST_CASE("starts that left an event file without a figure") {
  const auto all =
      unlogged_starts(state_of({{begun(600, ".node-1.99.0")}, {begun(0)}, {begun(1200, ".node-1.120.0")}}));
  REQUIRE(all.size() == 1);
  CHECK(all[0].kind == "died-silently");
  CHECK(all[0].severity == Severity::kWarning);
  CHECK(contains(all[0].summary, "3 starts left event files"));
  CHECK(contains(all[0].summary, "2023-11-14 22:13, 22:23, 22:33 UTC"));
  CHECK(all[0].onset.where.source == 1);
  CHECK(all[0].suggests.front().cause == "autoretry-crash-loop");
}

TEST_CASE("starts before one that trained are information, those behind it nothing") {
  const auto before = unlogged_starts(state_of({{begun(0)}, {begun(600, ".n.9.0"), true}, {begun(900, ".n.10.0")}}));
  REQUIRE(before.size() == 1);
  CHECK(before[0].severity == Severity::kInfo);
  CHECK(contains(before[0].summary, "A start left an event file"));
  CHECK(found({{begun(0), true}, {begun(600, ".n.9.0")}}) == 0);
}

TEST_CASE("event files that are no starts without a figure") {
  CHECK(found({{begun(0)}}) == 0);                                              // it may be young
  CHECK(found({{begun(0)}, {begun(5, ".node-1.71.0")}}) == 0);                  // ranks of one start
  CHECK(found({{begun(0), true}, {begun(600, ".node-1.70.1")}}) == 0);          // a process's second file
  CHECK(found({{begun(0), false, 88}, {begun(600, ".n.9.0"), true}}) == 0);     // of a writer that nobody used
  CHECK(found({{"events.out.tfevents"}, {"old/events.out.tfevents.x"}}) == 0);  // no time in the name
  CHECK(found({{"a/" + begun(0)}, {"b/" + begun(600)}}) == 0);                  // one in each folder
  CHECK(found({{begun(0)}, {begun(600, ".n.9.0")}, {"train.log", false, 90, "text"}}) == 0);  // the log tells
  CHECK(found({{begun(0)}, {begun(600, ".n.9.0")}, {"m.jsonl", true, 90, "jsonl"}}) == 0);    // figures elsewhere
}

}  // namespace mw::detect
