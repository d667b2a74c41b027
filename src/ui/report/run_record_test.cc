#include "ui/report/run_record.h"

#include <doctest/doctest.h>

#include "base/json.h"
#include "base/text.h"
#include "ui/testing/fake_run.h"
#include "ui/view/layout.h"
#include "ui/view/run_record.h"

namespace mw {
namespace {

/// A run in whose every text somebody wrote what they liked.
RunsAnswer::Run hostile() {
  RunsAnswer::Run run;
  RunRecord& record = run.record;
  run.status.name = "20260219-train";
  record.began.ns = 1'770'000'000'000'000'000;
  record.ended.ns = record.began.ns + 7'200'000'000'000;
  record.seconds = 7200;
  record.cost_per_hour = 5.5;
  record.verdict = "crashed";
  record.status = "CRASHED";
  record.headline = record.framework = record.version = kHostile;
  record.settings = {{"model", kHostile}, {kHostile, kHostile}};
  record.command = {kHostile};
  record.step = 9;
  record.attempts = {{record.began, record.ended, 1, 9, kNoStep, kHostile}, {{}, {}, 1, 9, 4, kHostile}};
  record.incidents = {{1, "crash", "critical", kHostile, true, record.began, 9, 2, kHostile, kHostile, "open"}};
  record.figures = {{"reward.mean", "1", false, 0.1, 0.2, 0.9, 1, 9, 5, true}};
  record.checkpoints = {{5, 1000, record.began, kHostile, kHostile, true}};
  record.checkpoints_in_all = 1;
  record.notes = {{record.began, 3, kHostile, kHostile, ""},
                  {record.began, 3, "mira", "=HYPERLINK(\"http://evil.example\")", "lesson"}};
  record.tags = {"ablation"};
  record.changes = {{2, "package", kHostile, kHostile, kHostile}};
  record.machines = {{"node7", kHostile, 1, 2}};
  run.before = kHostile;
  run.differs = {{0, "setting", "lr", "1e-6", kHostile}};
  return run;
}

/// A control character, a C1 or bidirectional one, would be read as a command by a terminal.
bool is_plain(const std::string& text) {
  for (const char* bad : {"\x1b", "\x07", "\r", "\x7f", "\xe2\x80\xae", "\xc2\x9b"}) {
    if (contains(text, bad)) return false;
  }
  return true;
}

/// Without code spans, in which Markdown has no meaning, and without escaped characters, which are themselves.
std::string outside_code(const std::string& text) {
  std::string out;
  size_t fence = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    size_t quotes = 0;
    while (i + quotes < text.size() && text[i + quotes] == '`') ++quotes;
    if (quotes > 0) {
      fence = fence == 0 ? quotes : fence == quotes ? 0 : fence;
      i += quotes - 1;
    } else if (fence == 0 && text[i] == '\\') {
      ++i;
    } else if (fence == 0) {
      out += text[i];
    }
  }
  return fence == 0 ? out : "<unbalanced";
}

TEST_CASE("the experiment log tells a run from its figures to its lessons, and nobody's text is markup in it") {
  const std::string log = markdown_experiment_log({hostile()});
  CHECK(is_plain(log));
  const std::string outside = outside_code(log);
  for (const char* bad : {"<", "](", "**bold**", "://"}) {
    CAPTURE(bad);
    CHECK_FALSE(contains(outside, bad));
  }
  for (const char* part :
       {"# Training runs", "## Active runs\n\nNone.", "## Completed runs", "### Run: 20260219-train", "**Cost**: 11.00",
        "| reward.mean | 0.1 (step 1) | 0.2 (step 9) | 0.9 (step 5) |", "#### Incidents and recovery", "#### Attempts",
        "#### What differs from ", "#### What changed between attempts", "#### Checkpoints", "#### Notes",
        "#### Lessons learned", "\n## Lessons learned", "0.2 (best 0.9)"}) {
    CAPTURE(part);
    CHECK(contains(log, part));
  }
  // No foreign line begins a line: a heading or a table row of its own would.
  CHECK_FALSE(contains(log, "\n# head"));
}

TEST_CASE("a live run stands with the active ones, one that cannot be read at the end") {
  RunsAnswer::Run live = hostile(), broken;
  live.live = true;
  live.status.supervised = true;
  live.status.watcher = 7;
  broken.status.name = "broken";
  broken.trouble = "no journal";
  const std::string log = markdown_experiment_log({live, broken});
  CHECK(contains(log, "## Completed runs\n\n| Run |"));
  CHECK(contains(log, "*none yet*"));
  CHECK(contains(log, "## Runs that cannot be read\n\n- broken: no journal"));
}

TEST_CASE("one run on a terminal keeps to its width, and passes no escape on") {
  Console console;
  console.width = 80;
  const std::string text = terminal_record(hostile(), console);
  CHECK(is_plain(text));
  for (const std::string_view line : split(text, '\n')) CHECK(cells_of(line) <= 80);
  CHECK(contains(text, "reward.mean       0.2 at step 9 (best 0.9 at step 5, first 0.1 at step 1)"));
  CHECK(contains(text, "11.00 at 5.50 an hour"));
  CHECK(contains(text, "ablation"));
  CHECK(contains(text, "  lesson"));
}

TEST_CASE("CSV has one line for each run, and no text in it is a formula") {
  const std::string csv = csv_of_runs({hostile(), hostile()});
  size_t quotes = 0, lines = 0, columns = 0, first = 0;
  for (const char c : csv) {
    if (c == '"') ++quotes;
    if (c == ',' && quotes % 2 == 0) ++columns;
    if (c != '\n' || quotes % 2 != 0) continue;
    if (++lines == 1) first = columns;
    CHECK(columns == first);
    columns = 0;
  }
  CHECK(lines == 3);
  CHECK(is_plain(csv));
  CHECK(contains(csv, "\"'=HYPERLINK("));
  CHECK_FALSE(contains(csv, ",=HYPERLINK"));
}

TEST_CASE("JSON of a run is its record with state, cost and what differs") {
  const auto json = Json::parse(json_of_run(hostile()));
  REQUIRE(json.ok());
  CHECK(json->string_or("schema", "") == "midwatch.run/1");
  CHECK(json->number_or("cost", 0) == doctest::Approx(11));
  CHECK(json->string_or("state", "") == "crashed");
  REQUIRE(json->find("differs") != nullptr);
  CHECK(json->find("differs")->items().size() == 1);
  const auto all = Json::parse(json_of_runs({hostile()}));
  REQUIRE(all.ok());
  CHECK(all->find("runs")->items().size() == 1);
}

}  // namespace
}  // namespace mw
