#include "read/lines/log_line.h"

#include <doctest/doctest.h>

#include <string>

#include "base/text.h"
#include "base/time.h"

namespace mw {
namespace {

struct Case {
  std::string_view line, text;
  std::string_view at;  // "" when unknown
  Level level = Level::kNone;
  std::string_view logger = "", actor = "";
  int64_t pid = -1;
  int rank = -1;
};

void check(const Case& c, LineReader& reader) {
  CAPTURE(c.line);
  const LogLine& line = reader.read(c.line, 1);
  CHECK(line.text == c.text);
  CHECK(format_utc(line.at) == c.at);
  CHECK(line.level == c.level);
  CHECK(line.logger == c.logger);
  CHECK(line.actor == c.actor);
  CHECK(line.pid == c.pid);
  CHECK(line.rank == c.rank);
}

void check(const Case& c) {
  LineReader reader;
  check(c, reader);
}

TEST_CASE("ANSI sequences vanish: CSI, OSC, two-byte, lone, torn") {
  std::string out;
  CHECK(strip_ansi("plain", out) == "plain");
  CHECK(strip_ansi("\x1b[1m\x1b[38;5;9mred\x1b[0m!", out) == "red!");
  CHECK(strip_ansi("a\x1b]0;title\x07z", out) == "az");
  CHECK(strip_ansi("a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\z", out) == "alinkz");
  CHECK(strip_ansi("a\x1b(Bz", out) == "az");
  CHECK(strip_ansi("a\x1b", out) == "a");
  CHECK(strip_ansi("a\x1b[12", out) == "a");
  CHECK(strip_ansi("a\x1b]never closed", out) == "anever closed");
}

TEST_CASE("a progress bar shows its last picture and keeps what wraps it") {
  LineReader reader;
  const LogLine& bar = reader.read("\x1b[36m(WorkerDict pid=77)\x1b[0m \rLoad:  0%|\rLoad: 50%|#####  | 1/2\r\n", 3);
  CHECK(bar.whole == "Load: 50%|#####  | 1/2");
  CHECK(bar.text == "Load: 50%|#####  | 1/2");
  CHECK(bar.actor == "WorkerDict");
  CHECK(bar.pid == 77);
  CHECK(bar.number == 3);
}

TEST_CASE("the line by which Slurm ends a job says when it did") {
  check({"slurmstepd: error: *** JOB 7781 ON gpu12 CANCELLED AT 2026-02-01T10:20:30 DUE TO TIME LIMIT ***",
         "slurmstepd: error: *** JOB 7781 ON gpu12 CANCELLED AT 2026-02-01T10:20:30 DUE TO TIME LIMIT ***",
         "2026-02-01T10:20:30Z", Level::kError});
  check({"the policy writes *** A JOB CANCELLED AT dawn ***", "the policy writes *** A JOB CANCELLED AT dawn ***", ""});
}

TEST_CASE("Ray's prefixes") {
  check({"(TaskRunner pid=123, ip=10.0.0.1) step:1", "step:1", "", Level::kNone, "", "TaskRunner", 123});
  check({"(WorkerDict pid=46)   warnings.warn(", "  warnings.warn(", "", Level::kNone, "", "WorkerDict", 46});
  check({"(pid=9) hello", "hello", "", Level::kNone, "", "", 9});
  check(
      {"\x1b[36m(skyrl_entrypoint pid=8)\x1b[0m 2026-02-19 09:08:11.482 | INFO     | a.trainer:fit:12 - Started: "
       "'step'",
       "Started: 'step'", "2026-02-19T09:08:11.482Z", Level::kInfo, "a.trainer:fit:12", "skyrl_entrypoint", 8});
  check({"(raylet, ip=10.1.2.3) [2026-02-19 09:08:11,482 E 39 39] (raylet) node.cc:32: 2 Workers killed",
         "node.cc:32: 2 Workers killed", "2026-02-19T09:08:11.482Z", Level::kError, "", "raylet"});
  check({"(WorkerDict pid=5) (EngineCore_DP0 pid=6) ERROR 02-19 09:08:11 [core.py:340] boom", "boom", "", Level::kError,
         "core.py:340", "EngineCore_DP0", 6});
  LineReader reader;
  const LogLine& line = reader.read(
      "(W pid=1, ip=10.0.0.9) hash:\x1b[32m [repeated 6x across cluster] (Ray deduplicates logs. See docs.)\x1b[0m", 1);
  CHECK(line.repeated == 6);
  CHECK(line.text == "hash:");
  CHECK(line.ip == "10.0.0.9");
}

TEST_CASE("launchers' prefixes") {
  check({"[default3]:  File \"a.py\", line 1", "  File \"a.py\", line 1", "", Level::kNone, "", "", -1, 3});
  check({"[rank12]:   File \"a.py\", line 1", "  File \"a.py\", line 1", "", Level::kNone, "", "", -1, 12});
  check({"[trainer0]:09:08:11    INFO Step 4", "Step 4", "", Level::kInfo, "", "", -1, 0});
  check({"3: 2026-02-19 09:08:11,482 INFO go", "go", "2026-02-19T09:08:11.482Z", Level::kInfo, "", "", -1, 3});
  check({"3: a list item", "3: a list item", ""});
  check({"[Rank 3 | Local Rank 0] 2026-02-19 09:08:11,482 WARNING [app.rollout:204] => saved", "=> saved",
         "2026-02-19T09:08:11.482Z", Level::kWarning, "app.rollout:204", "", -1, 3});
  check({"[Rank 2] Saved model", "[Rank 2] Saved model", "", Level::kNone, "", "", -1, 2});
  LineReader reader;
  for (int i = 0; i < 20; ++i) reader.read("1: loading", 1);
  CHECK(reader.read("2: at work", 1).text == "at work");
  CHECK(reader.read("2: at work", 1).rank == 2);
  LineReader of_one;  // a number that comes again numbers no list
  of_one.read("0: loading", 1);
  CHECK(of_one.read("0: Total steps: 350", 2).text == "Total steps: 350");
  LineReader list;
  for (int i = 1; i < 6; ++i) CHECK(list.read(cat(i, ": an item"), 1).text == cat(i, ": an item"));
}

TEST_CASE("containers' prefixes") {
  check({"2026-02-19T09:08:11.123456789Z     raise e", "    raise e", "2026-02-19T09:08:11.123Z"});
  check({"2026-02-19T09:08:11.123456789Z stderr F Killed", "Killed", "2026-02-19T09:08:11.123Z"});
  check({"[pod/run-0/trainer] step 1", "step 1", "", Level::kNone, "", "run-0/trainer"});
  check({"2026-02-19T09:08:11.123456789Z 20260219-17:08:11.490 Local Scheduler INFO: started", "started",
         "2026-02-19T09:08:11.123Z", Level::kInfo, "Local Scheduler"});
}

TEST_CASE("logging libraries' headers") {
  const std::string_view at = "2026-02-19T09:08:11.482Z", whole = "2026-02-19T09:08:11Z";
  check(
      {"2026-02-19 09:08:11,482 [INFO] run_sweep: Training: rho=1", "Training: rho=1", at, Level::kInfo, "run_sweep"});
  check({"2026-02-19 09:08:11,482 - INFO - tuner.py:262 - flash.jit: [Tuner]: begins", "[Tuner]: begins", at,
         Level::kInfo, "tuner.py:262"});
  check({"2026-02-19 09:08:11,482 - a.b - WARNING - slow", "slow", at, Level::kWarning, "a.b"});
  check({"2026-02-19 09:08:11,482\tINFO worker.py:1832 -- Started Ray", "Started Ray", at, Level::kInfo,
         "worker.py:1832"});
  check({"[2026-02-19 09:08:11,482] [WARNING] [accel.py:222:get] no ops", "no ops", at, Level::kWarning,
         "accel.py:222:get"});
  check({"[2026-02-19 09:08:11,482][__main__][INFO] - go", "go", at, Level::kInfo, "__main__"});
  check({" [2026-02-19 09:08:11] iteration 1/ 10 | loss: 1.0", "iteration 1/ 10 | loss: 1.0", whole});
  check({"[2026-02-19 09:08:11 DP1 TP3] Decode batch.", "Decode batch.", whole, Level::kNone, "", "", -1, 3});
  check({"[INFO|trainer.py:2128] 2026-02-19 09:08:11,482 >> ***** Running *****", "***** Running *****", at,
         Level::kInfo, "trainer.py:2128"});
  check({"(AReaL) 20260219-09:08:11.482 [FSDP Engine Rank 0] INFO: mesh", "mesh", at, Level::kInfo,
         "FSDP Engine Rank 0", "AReaL"});
  check({"20260219-09:08:11.482 /w/areal/device.py INFO: memory", "memory", at, Level::kInfo, "/w/areal/device.py"});
  check({"[NeMo W 2026-02-19 09:08:11 nemo_logging:393] old", "old", whole, Level::kWarning, "nemo_logging:393"});
  check({"INFO:     10.0.0.1:5000 - \"POST /x\" 200", "10.0.0.1:5000 - \"POST /x\" 200", "", Level::kInfo});
  check({"WARNING:root:careful", "careful", "", Level::kWarning, "root"});
  check({"INFO:2026-02-19 09:08:11,482:[Rank 0] Saved", "[Rank 0] Saved", at, Level::kInfo, "", "", -1, 0});
  check({"time.py:1: UserWarning: odd", "time.py:1: UserWarning: odd", "", Level::kWarning});
  check({"slurmstepd: error: *** JOB 1 ***", "slurmstepd: error: *** JOB 1 ***", "", Level::kError});
  check({"Thu Feb 19 09:08:11 2026 hello", "hello", whole});
  check({"1771492091.482 hello", "hello", at});
  check({"2026/02/19 09:08:11 hello", "hello", whole});
}

TEST_CASE("what only looks like a header stays in the message") {
  const std::string_view at = "2026-02-19T09:08:11Z";
  check({"2026-02-19 09:08:11 INFO reward_mean: 0.5", "reward_mean: 0.5", at, Level::kInfo});
  check({"2026-02-19 09:08:11 INFO actor/loss: 0.5", "actor/loss: 0.5", at, Level::kInfo});
  check({"2026-02-19 09:08:11 ERROR torch.OutOfMemoryError: CUDA out", "torch.OutOfMemoryError: CUDA out", at,
         Level::kError});
  check({"00:12:33 elapsed", "00:12:33 elapsed", ""});
  check({"[00:12<00:33, 1.2s/it]", "[00:12<00:33, 1.2s/it]", ""});
  check({"[Gloo] Rank 0 is connected", "[Gloo] Rank 0 is connected", ""});
  check({"9771492020.3 is no date", "9771492020.3 is no date", ""});
  check({"(some words) and more", "(some words) and more", ""});
  check({"INFORMATION desk", "INFORMATION desk", ""});
  check({"  File \"x.py\", line 3, in f", "  File \"x.py\", line 3, in f", ""});
  check({"{'loss': 0.5}", "{'loss': 0.5}", ""});
  check({"", "", ""});
}

TEST_CASE("clocks without a date get one: from the last date, past midnight, from a hint") {
  LineReader reader;
  check({"09:08:11    INFO no date yet", "no date yet", "", Level::kInfo}, reader);
  CHECK(reader.read("09:08:11    INFO no date yet", 1).clock_ms == (9 * 3600 + 8 * 60 + 11) * 1000);
  check({"2026-02-19 23:59:50 INFO dated", "dated", "2026-02-19T23:59:50Z", Level::kInfo}, reader);
  check({"23:59:58    INFO same day", "same day", "2026-02-19T23:59:58Z", Level::kInfo}, reader);
  check({"[00:00:03] next day", "next day", "2026-02-20T00:00:03Z"}, reader);
  check({"23:59:59 | INFO | came late", "came late", "2026-02-19T23:59:59Z", Level::kInfo}, reader);
  check({"INFO 02-21 01:02:03 [a.py:1] year from before", "year from before", "2026-02-21T01:02:03Z", Level::kInfo,
         "a.py:1"},
        reader);
  check({"[rank0]:[W222 01:15:33.580767019 PG.cpp:1553] Warning: x", "Warning: x", "2026-02-22T01:15:33.580Z",
         Level::kWarning, "PG.cpp:1553", "", -1, 0},
        reader);
  check({"E0222 02:57:04.297000 1867 torch/api.py:874] failed", "failed", "2026-02-22T02:57:04.297Z", Level::kError,
         "torch/api.py:874"},
        reader);
  LineReader hinted;
  hinted.set_date_hint(*parse_time("2026-12-31 20:00:00"));
  check({"06:00:00    INFO a", "a", "2026-12-31T06:00:00Z", Level::kInfo}, hinted);
  check({"22:00:00    INFO b", "b", "2026-12-31T22:00:00Z", Level::kInfo}, hinted);
  check({"WARNING 01-01 00:00:10 [a.py:1] c", "c", "2027-01-01T00:00:10Z", Level::kWarning, "a.py:1"}, hinted);
}

TEST_CASE("a date without a year is in the latest year that is not after the file") {
  const auto dated = [](std::string_view line) {
    LineReader reader;
    reader.set_date_hint(*parse_time("2026-11-21 20:00:00"));
    return format_utc(reader.read(line, 1).at);
  };
  CHECK(dated("INFO 03-07 10:42:17 [a.py:1] x") == "2026-03-07T10:42:17Z");
  CHECK(dated("INFO 11-22 06:00:00 [a.py:1] x") == "2026-11-22T06:00:00Z");  // another zone's clock
  CHECK(dated("INFO 12-30 10:42:17 [a.py:1] x") == "2025-12-30T10:42:17Z");
  CHECK(dated("INFO 02-29 10:42:17 [a.py:1] x") == "2024-02-29T10:42:17Z");
}

TEST_CASE("clocks without a date before the first dated line lie beside that line, not beside the file's last change") {
  const auto first = [](const std::string& head) {
    LineReader reader;
    reader.set_date_hint(*parse_time("2026-11-26 20:00:00"));  // when it was copied
    reader.expect_dates(head);
    return format_utc(reader.read(head.substr(0, head.find('\n')), 1).at);
  };
  const std::string dated = "no clock\nWARNING:2025-11-20 01:08:17,569:Setting x\n";
  CHECK(first("[rank7]:[W1120 01:13:20.886560089 a.cpp:1] x\n" + dated) == "2025-11-20T01:13:20.886Z");
  CHECK(first("INFO 11-19 23:59:00 [a.py:1] x\n" + dated) == "2025-11-19T23:59:00Z");
  CHECK(first("[00:30:00] x\n" + dated) == "2025-11-20T00:30:00Z");
  CHECK(first("[23:30:00] x\n" + dated) == "2025-11-19T23:30:00Z");
  CHECK(first("INFO 11-20 01:08:17 [a.py:1] x\nno date\n") == "2026-11-20T01:08:17Z");
  CHECK(first("10:28:23 INFO a.py:1 x\nINFO 12-13 10:28:26 [a.py:1] x\n") == "2025-12-13T10:28:23Z");
}

TEST_CASE("a line beyond the limit is cut, not refused") {
  LineReader reader;
  const std::string huge(LineReader::kBytesLimit * 2, 'x');
  CHECK(reader.read(huge, 1).text.size() == LineReader::kBytesLimit);
}

}  // namespace
TEST_CASE("a clock without a zone shows the zone that is set, one with a zone its own") {
  LineReader reader;
  reader.set_date_hint(*parse_time("2026-03-01T22:00:00Z"));
  CHECK(reader.read("2026-03-02 06:00:00 a", 1).at == *parse_time("2026-03-02T06:00:00Z"));
  reader.set_zone(*TimeZone::parse("+08:00"));
  CHECK(reader.read("2026-03-02 06:00:00 a", 2).at == *parse_time("2026-03-01T22:00:00Z"));
  CHECK(reader.wall() == *parse_time("2026-03-02T06:00:00Z"));
  CHECK(reader.read("2026-03-02T06:00:00+02:00 a", 3).at == *parse_time("2026-03-02T04:00:00Z"));
  CHECK_FALSE(reader.wall().known());
  CHECK(reader.read("2026-03-02T06:00:00Z a", 4).at == *parse_time("2026-03-02T06:00:00Z"));
  // Clocks without a date go on from the date on the wall, across its midnight.
  CHECK(reader.read("2026-03-02 23:59:58 a", 5).at == *parse_time("2026-03-02T15:59:58Z"));
  CHECK(reader.read("[00:00:03] a", 6).at == *parse_time("2026-03-02T16:00:03Z"));
}

TEST_CASE("it is known what the clocks do not name: a zone, where none was set either, and the first date") {
  const auto lacks = [](const std::vector<std::string>& lines, bool zone_set = false, bool ahead = false) {
    LineReader reader;
    if (zone_set) reader.set_zone(*TimeZone::parse("+08:00"));
    reader.set_date_hint(*parse_time("2026-11-26 20:00:00"));
    std::string head;
    for (const std::string& line : lines) head += line + "\n";
    if (ahead) reader.expect_dates(head);
    for (const std::string& line : lines) (void)reader.read(line, 1);
    return std::string(reader.lacks_zone() ? "zone " : "") + (reader.lacks_date() ? "date" : "");
  };
  CHECK(lacks({"no clock"}).empty());
  CHECK(lacks({"2026-03-02T06:00:00Z a", "[06:00:03] b"}) == "zone ");
  CHECK(lacks({"2026-03-02T06:00:00+02:00 a"}).empty());
  CHECK(lacks({"2026-03-02 06:00:00 a"}) == "zone ");
  CHECK(lacks({"2026-03-02 06:00:00 a"}, true).empty());
  CHECK(lacks({"[06:00:03] a"}) == "zone date");
  CHECK(lacks({"[06:00:03] a"}, true) == "date");
  CHECK(lacks({"INFO 03-07 10:42:17 [a.py:1] x"}) == "zone date");
  CHECK(lacks({"[00:30:00] x", "2025-11-20 01:08:17,569 y"}, false, true) == "zone ");
}

TEST_CASE("the day of a clock without a date is that of the file, in the zone of the clock") {
  LineReader reader;
  reader.set_zone(*TimeZone::parse("+08:00"));
  reader.set_date_hint(*parse_time("2026-03-01T22:00:00Z"));  // the 2nd, 06:00 there
  CHECK(reader.read("05:59:00    INFO a", 1).at == *parse_time("2026-03-01T21:59:00Z"));
  LineReader later;
  later.set_date_hint(*parse_time("2026-03-01T22:00:00Z"));
  later.set_zone(*TimeZone::parse("+08:00"));
  CHECK(later.read("05:59:00    INFO a", 1).at == *parse_time("2026-03-01T21:59:00Z"));
}

TEST_CASE("a logger's name behind its level, syslog's program, a clock alone, and rows of tables") {
  LineReader reader;
  struct Case {
    const char *line, *text;
  };
  for (const Case& one :
       {Case{"2026-03-01 10:00:31,013 - INFO - trainer - [12/60] loss: 0.5", "[12/60] loss: 0.5"},
        Case{"2026-03-01 10:00:31,013 - INFO - trainer -   - loss: 0.5", "  - loss: 0.5"},
        Case{"2026-03-01 10:00:31,013 - INFO - reward - 0.5", "reward - 0.5"},
        Case{"Mar 01 10:00:31 gpu-7 python[2211]: step 1 | loss 0.5", "step 1 | loss 0.5"},
        Case{"Mar 01 10:00:31 | step     |     1 |", "| step     |     1 |"},
        Case{"10:00:31 [12] loss: 0.5", "[12] loss: 0.5"},
        Case{"10:00:31 reward=0.5 loss=0.25", "reward=0.5 loss=0.25"}, Case{"00:12:33 elapsed", "00:12:33 elapsed"}}) {
    CAPTURE(std::string(one.line));
    CHECK(reader.read(one.line, 1).text == one.text);
  }
  CHECK(reader.read("Mar 01 10:00:31 gpu-7 python[2211]: a", 2).pid == 2211);
}

TEST_CASE("a machine's or a container's name before a bar or a record is no part of it, a bar's title is") {
  LineReader reader;
  const auto text = [&reader](std::string_view line) { return std::string(reader.read(line, 1).text); };
  CHECK(text("worker-0: {'loss': 0.5}") == "{'loss': 0.5}");
  CHECK(text("10.0.0.2:  12%|#2   | 12/100 [00:10<01:20]") == " 12%|#2   | 12/100 [00:10<01:20]");
  CHECK(text("trainer-1  |  12%|#2   | 12/100 [00:10<01:20]") == " 12%|#2   | 12/100 [00:10<01:20]");
  CHECK(text("10:00:01  12%|#2   | 12/100 [00:10<01:20]") == " 12%|#2   | 12/100 [00:10<01:20]");
  for (const std::string_view line :
       {"MATH-500:  12%|#2   | 12/100 [00:10<01:20]", "step-12: {'loss': 0.5}", "worker-0: ready", "job 7 | 12 rows"}) {
    CHECK(text(line) == line);
  }
}

TEST_CASE("labels that the beginning of a file shows are known from its first line on") {
  std::string head;
  for (int i = 0; i < 14; ++i) head += cat(i % 4 == 3 ? "1: " : "0: ", i, ",0.5,0.25\n");
  LineReader reader;
  reader.expect_labels(head);
  CHECK(reader.read("0: step,reward,loss", 1).text == "step,reward,loss");
  LineReader list;
  list.expect_labels("1: a\n2: b\n3: c\n4: d\n5: e\n6: f\n7: g\n8: h\n9: i\n10: j\n11: k\n12: l\n13: m\n");
  CHECK(list.read("1: a", 1).text == "1: a");
}

TEST_CASE("names of machines and ranks in brackets before every line are no part of it") {
  const auto text = [](std::string_view label, std::string_view other, std::string_view line) {
    std::string head;
    for (int i = 0; i < 14; ++i) head += cat(i % 4 == 3 ? other : label, "loading part ", i, "\n");
    LineReader reader;
    reader.expect_labels(head);
    return std::string(reader.read(line, 1).text);
  };
  CHECK(text("node01: ", "node02: ", "node01: Traceback (most recent call last):") ==
        "Traceback (most recent call last):");
  CHECK(text("node01: ", "node02: ", "node17:   File \"a.py\", line 3, in f") == "  File \"a.py\", line 3, in f");
  CHECK(text("[0] ", "[1] ", "[3] ValueError: bad") == "ValueError: bad");
  CHECK(text("node01: ", "node02: ", "gpu3: 81 C") == "gpu3: 81 C");
  CHECK(text("step1: ", "step2: ", "step1: loss 0.5") == "step1: loss 0.5");
  CHECK(text("INFO: ", "WARNING: ", "INFO: ready") != "");
  CHECK(text("node01: ", "", "node01: ready") == "node01: ready");  // not before every line
}

}  // namespace mw
