#include "read/files/csv.h"

#include <doctest/doctest.h>

#include "read/files/mlflow_file.h"
#include "read/files/sniff.h"
#include "read/files/testing/recording_sink.h"

using namespace mw;

namespace {
std::unique_ptr<Decoder> make() { return std::make_unique<CsvDecoder>(); }
std::string read(std::string_view text) { return decode_log(make, text, 0, 0); }
}  // namespace

TEST_CASE("csv: header, quotes, empty and textual cells, line ends inside quotes") {
  CHECK(
      read("step,\"loss, mean\",note,time\r\n1,0.5,\"two\nlines, \"\"quoted\"\"\",2026-01-02 03:04:05\r\n2,,x,\r\n") ==
      "row 2 step 1 at 2026-01-02T03:04:05Z step=1 loss, mean=0.5 note='two\nlines, \"quoted\"' time='2026-01-02 "
      "03:04:05'\nrow 4 step 2 at  step=2 note='x'\nconsumed 87\n");
}

TEST_CASE("csv: other separators, flags, NaN, a byte-order mark") {
  CHECK(read("\xef\xbb\xbfglobal_step;kl;ok\n3;nan;True\n") ==
        "row 2 step 3 at  global_step=3 kl=nan ok=1\nconsumed 32\n");
  CHECK(contains(read("step\tloss\n3\t-inf\n"), "step=3 loss=-inf\n"));
}

TEST_CASE("csv: decimal commas") {
  CHECK(contains(read("step;loss;reward\n1;0,02;1,204\n"), "step=1 loss=0.02 reward=1.204\n"));
  CHECK(contains(read("step;loss;tokens\n1;0.02;1,204\n"), "step=1 loss=0.02 tokens='1,204'\n"));
  CHECK(contains(read("step,loss,tokens\n1,\"0,02\",\"1,204,000\"\n"), "step=1 loss=0.02 tokens='1,204,000'\n"));
}

TEST_CASE("csv: exports of W&B and TensorBoard") {
  const std::string one = read(
      "\"Step\",\"run-a - train/reward\",\"run-a - train/reward__MIN\",\"run-a - train/reward__MAX\"\n"
      "\"10\",\"0.5\",\"0.5\",\"0.5\"\n");
  CHECK(contains(one, "row 2 step 10 at  Step=10 train/reward=0.5\n"));
  CHECK(contains(read("Step,a - r,b - r\n1,2,3\n"), "step 1 at  Step=1 a - r=2 b - r=3\n"));
  const std::string two = read(
      "Step,a - kl,a - kl__MIN,a - kl__MAX,b - kl,b - kl__MIN,b - kl__MAX\n"
      "1,0.1,0.1,0.1,0.2,0.2,0.2\n2,,,,0.3,0.3,0.3\n");
  CHECK(contains(two, "row 2 step 1 at  Step=1 kl=0.1 arm='a'\nrow 2 step 1 at  Step=1 kl=0.2 arm='b'\n"));
  CHECK(contains(two, "row 3 step 2 at  Step=2 kl=0.3 arm='b'\n"));
  CHECK_FALSE(contains(two, "row 3 step 2 at  Step=2 arm='a'"));
  const std::string path = "actor.model.path: /data/models/of/the/team/7b/step";
  const std::string long_names =
      read(cat("Step,", path, "100-hf - kl,", path, "100-hf - kl__MIN,", path, "2000-hf - kl\n1,0.1,0.1,0.2\n"));
  CHECK(contains(long_names, "kl=0.1 arm='step100'"));
  CHECK(contains(long_names, "kl=0.2 arm='step2000'"));
  CHECK(contains(read("Wall time,Step,Value\n1760000000.0,5,0.25\n"), "step 5 at 2025-10-09T08:53:20Z"));
}

TEST_CASE("csv: too many cells, a quote that never ends") {
  CHECK(contains(read("a,b\n1,2,3\n4,5\n"), "problem not-a-record 2: more cells than the header has: 1,2,3\nrow 3"));
  const std::string open = "a,b\n1,\"" + std::string(kCsvRecordLimit + 10, 'x') + "\n3,4\n5,6\n";
  const std::string log = read(open);
  CHECK(contains(log, "problem line-too-long"));
  CHECK(contains(log, "a=5 b=6"));
  CHECK(decode_log(make, open, 5000, 1) == log);
  CHECK(contains(read("a,b\n1,\"x"), "problem torn-tail 2"));
  CHECK(contains(read("a,b\n1"), "problem torn-tail 2"));
  CHECK(contains(read("a,b\n1,2"), "row 2"));
}

TEST_CASE("csv: a line with a quote that never ends costs that line") {
  const std::string at_the_end = "step,r,t\n1,0.5,a\n2,0.5,\"open\n3,0.5,c\nwords, more, words\n4,0.5,d\n";
  const std::string log = read(at_the_end);
  CHECK(contains(log, "problem not-a-record 3: a quote opens and does not end"));
  CHECK_FALSE(contains(log, "row 3 "));
  CHECK(contains(log, "row 4 step 3"));
  CHECK_FALSE(contains(log, "words"));  // it may be what the quote held
  CHECK(contains(log, "row 6 step 4"));

  std::string many = "step,r,t\n1,0.5,a\n2,0.5,\"open\n";
  for (int step = 3; step < 100'000; ++step) many += cat(step, ",0.5,cccc\n");
  const std::string all = read(many);
  CHECK(contains(all, "row 4 step 3 "));
  CHECK(contains(all, "row 100000 step 99999"));
  CHECK(decode_log(make, many, 70'000, 3) == all);
}

TEST_CASE("csv: a quote within a cell is a letter") {
  const std::string log = read("step,r,t\n1,0.5,a 5\" bar\n2,0.5,b\n3,0.5,\"two \"\"quoted\"\"\"\n");
  CHECK(contains(log, "t='a 5\" bar'"));
  CHECK(contains(log, "row 3 step 2"));
  CHECK(contains(log, "t='two \"quoted\"'"));
}

TEST_CASE("csv: the pieces' sizes make no difference") {
  const std::string text = "step,a,\"b\"\n1,\"x\ny\",3\r\n2,\"\"\"\",4\n\n3,,5\n4,6,7,8\n5,1";
  const std::string whole = read(text);
  for (uint64_t seed = 0; seed < 50; ++seed) CHECK(decode_log(make, text, 1 + seed % 9, seed) == whole);
}

TEST_CASE("csv: a line that was printed among the rows is text") {
  const auto csv = [] { return std::make_unique<CsvDecoder>(); };
  const std::string log =
      decode_log(csv, "step,reward,loss\n1,0.5,0.25\nSaved model to out/step_1\n2,0.5,0.25\n", 0, 0);
  CHECK(contains(log, "Saved model to out/step_1\n"));
  CHECK(contains(log, "row 4 step 2"));
  CHECK_FALSE(contains(log, "row 3"));
}

TEST_CASE("mlflow: files of one metric, old and new lines") {
  const auto metric = [] { return std::make_unique<MlflowMetricDecoder>("mlruns/0/abc/metrics/critic/score/mean"); };
  const std::string text = "1760000000500 0.25 7\n1760000001000 nan 8 name digest\n1760000002000 0.5\nbad\n17600";
  const std::string log = decode_log(metric, text, 0, 0);
  CHECK(log ==
        "row 1 step 7 at 2025-10-09T08:53:20.500Z critic/score/mean=0.25\n"
        "row 2 step 8 at 2025-10-09T08:53:21Z critic/score/mean=nan\n"
        "row 3 step 0 at 2025-10-09T08:53:22Z critic/score/mean=0.5\n"
        "problem not-a-record 4: bad\nproblem torn-tail 5: the last line is incomplete\nconsumed 75\n");
  CHECK(decode_log(metric, text, 3, 5) == log);
}

TEST_CASE("csv: the episodes of Gymnasium's Monitor") {
  const std::string text = "#{\"t_start\": 1760000000.5, \"env_id\": \"Some-v1\"}\nr,l,t\n-3.5,80,0.02\n-2.5,90,0.5\n";
  CHECK(sniff(text, "/runs/monitor.csv") == FileKind::kCsv);
  CHECK(contains(read(text), "row 3 step 1 at  episode_reward=-3.5 episode_length=80 time=0.02\n"));
  CHECK(contains(read(text), "row 4 step 2 at  episode_reward=-2.5"));
  CHECK(contains(read("#{\"note\": 1}\nr,l,t\n1,2,3\n"), "r=1 l=2 t=3\n"));
  CHECK(contains(read("# step,loss\n1,2\n"), "row 2 step 1 at  step=1 loss=2\n"));
}

TEST_CASE("csv: beside the number of an episode \"steps\" is its length") {
  CHECK(contains(read("episode,total_reward,steps\n1,11.5,30\n2,-15,50\n"), "row 2 step - at  episode=1 "));
  CHECK(contains(read("reward,steps\n11.5,30\n"), "row 2 step 30 at  reward=11.5 "));
}

TEST_CASE("mlflow: meta.yaml says how the run ended") {
  const auto meta = [] { return std::make_unique<MlflowMetaDecoder>(); };
  const std::string log = decode_log(meta, "run_id: abc\nstatus: 4\nend_time: 1760000000000\nrun_name: 'x'\n", 0, 0);
  CHECK(contains(log, "property run/run_id=abc\n"));
  CHECK(contains(log, "property run/run_name=x\n"));
  CHECK(contains(log, "ended 1 2025-10-09T08:53:20Z"));
  CHECK_FALSE(contains(decode_log(meta, "status: 1\nend_time: null\n", 0, 0), "ended"));
}

TEST_CASE("csv: of a trainer that is known to write no header the columns have names, of another one they have none") {
  const std::string path = "/r/log_2024-05-06 07:08:09.123456.csv";
  const std::string rows = "99,0.69,0.01,0.61\n199,0.68,0.03,0.625\n";
  CHECK(sniff(rows, path) == FileKind::kCsv);
  CHECK(sniff(rows, "/r/log.csv") == FileKind::kText);
  const auto known = [&path] { return std::make_unique<CsvDecoder>(names_without_header(path)); };
  CHECK(decode_log(known, rows, 0, 0)
            .starts_with("row 1 step 99 at  step=99 loss=0.69 eval_distance=0.01 eval_accuracy=0.61\n"));
  CHECK(contains(decode_log(known, "step,loss,kl,reward\n5,0.5,0.25,1\n", 0, 0), "row 2 step 5 at  step=5 loss=0.5"));
  CHECK(names_without_header("/r/log_2024.csv").empty());
  CHECK(is_row_of_numbers("1,2.5,nan"));
  CHECK_FALSE(is_row_of_numbers("7"));
}
