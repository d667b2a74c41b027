// Files of one run that count or date its steps otherwise than each other, read as one.
#include <doctest/doctest.h>

#include <cstdio>
#include <string>

#include "app/read_run.h"
#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "ui/view/overview.h"

namespace mw {
namespace {

constexpr int64_t kNoon = 1'768'478'400;  // 2026-01-15T12:00:00Z

std::string clock_of(int64_t second) { return format_utc({second * 1'000'000'000}).substr(0, 19); }

double reward_at(int step) { return 0.2 + 0.001 * step + 0.0001 * ((step * 7919) % 97); }

std::string figures(int step, int shown, const char* form) {
  char text[200];
  std::snprintf(text, sizeof text, form, shown, reward_at(step), 1.3 - 0.0017 * step);
  return text;
}

/// A log whose clock is `east` seconds ahead of UTC.
std::string log_text(int last, int64_t east) {
  std::string text;
  for (int i = 1; i <= last; ++i) {
    std::string at = clock_of(kNoon + 30 * i + east);
    at[10] = ' ';
    text += cat(at, " INFO trainer.py:88 - ", figures(i, i, "step %d/300 reward %.4f entropy %.4f"), "\n");
  }
  return text;
}

std::string sink_text(int last, int scale) {
  std::string text;
  for (int i = 1; i <= last; ++i)
    text += cat("{", figures(i, i * scale, "\"step\": %d, \"reward\": %.4f, \"entropy\": %.4f"),
                ", \"timestamp\": ", kNoon + 30 * i, "}\n");
  return text;
}

constexpr std::string_view kFailed =
    "Traceback (most recent call last):\n  File \"/w/train.py\", line 12, in <module>\n    main()\n"
    "  File \"/w/train.py\", line 9, in main\n    return table[key]\nKeyError: 'answer'\n";

std::unique_ptr<Replayed> replayed(FakeDisk& disk) {
  const auto knowledge = KnowledgeBase::load({}, {});
  REQUIRE(knowledge.ok());
  auto read = read_run(disk, **knowledge, ReplayRequest{}, {"/w"});
  REQUIRE(read.ok());
  return std::move(*read);
}

TEST_CASE("a log whose clock names no zone is dated by the sink that has the same figures") {
  for (const int64_t hours : {-8, -5, 2}) {
    CAPTURE(hours);
    FakeDisk disk;
    disk.put("/w/train.log", cat(log_text(150, 3600 * hours), kFailed));
    disk.put("/w/metrics.jsonl", sink_text(150, 1));
    const auto read = replayed(disk);
    CHECK(read->state.verdict == "crashed");
    CHECK(read->state.last_at.ns / 1'000'000'000 == kNoon + 30 * 150);
  }
}

TEST_CASE("a sink that counts samples is read along the steps of the log") {
  for (const int scale : {2, 8, 512}) {
    CAPTURE(scale);
    FakeDisk disk;
    disk.put("/w/train.log", cat(log_text(150, 0), kFailed));
    disk.put("/w/metrics.jsonl", sink_text(150, scale));
    const auto read = replayed(disk);
    CHECK(read->state.verdict == "crashed");
    CHECK(read->state.steps().last == 150);
    CHECK(read->state.steps().count == 150);
  }
}

TEST_CASE("of a run that stood still for hours while its log went on, that leads") {
  FakeDisk disk;
  std::string text = log_text(150, 0);
  for (int i = 1; i <= 300; ++i) {
    std::string at = clock_of(kNoon + 30 * 150 + 60 * i);
    at[10] = ' ';
    text += cat(at, " INFO rollout.py:12 - waiting for rollouts (0/64)\n");
  }
  disk.put("/w/train.log", text);
  const StatusLine line = status_line(replayed(disk)->state);
  CHECK(line.word == "STALLED");
  CHECK(contains(line.rest, "No step after 150 for 5h"));
}

}  // namespace
}  // namespace mw
