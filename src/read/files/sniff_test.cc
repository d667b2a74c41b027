#include "read/files/sniff.h"

#include <doctest/doctest.h>

#include "base/prng.h"
#include "read/files/testing/encode.h"

using namespace mw;
using Kind = FileKind;

TEST_CASE("sniff: binary kinds by their magic, whatever their name") {
  CHECK(sniff("", "x.log") == Kind::kEmpty);
  CHECK(sniff("\x1f\x8b\x08rest", "train.log") == Kind::kGzip);
  CHECK(sniff("\x28\xb5\x2f\xfdrest", "train.log") == Kind::kZstd);
  CHECK(sniff(encode::Wandb().bytes(), "data") == Kind::kWandb);
  CHECK(sniff(encode::Tfevents().bytes(), "data") == Kind::kTfevents);
  CHECK(sniff(std::string_view("SQLite format 3\0xyz", 19), "p") == Kind::kSqlite);
  CHECK(sniff("PK\x03\x04stuff", "train.log") == Kind::kBinary);
  std::string noise;
  Prng prng(1);
  for (int i = 0; i < 5000; ++i) noise.push_back(static_cast<char>(prng.next()));
  CHECK(sniff(noise, "train.log") == Kind::kBinary);
  CHECK(sniff(std::string(5000, '\0'), "train.log") == Kind::kBinary);
}

TEST_CASE("sniff: logs are the default for text") {
  CHECK(sniff("hello\n", "") == Kind::kText);
  CHECK(sniff(std::string(3000, '\0') + "2026-01-02 step 1 loss 0.5\n", "") == Kind::kText);  // truncated while written
  CHECK(sniff("step 1\n" + std::string(3000, '\0') + "step 1 loss 0.5\n", "") == Kind::kText);  // behind another writer
  CHECK(sniff("\x1b[32mINFO\x1b[0m done \xe2\x9c\x93\n", "") == Kind::kText);
  CHECK(sniff("[2026-01-02 03:04:05] INFO begin\n", "") == Kind::kText);
  CHECK(sniff("[rank0]: boom\n", "") == Kind::kText);
  CHECK(sniff("{'loss': 0.5, 'step': 1}\n{'loss': 0.25}\n", "") == Kind::kText);
  CHECK(sniff("{\"level\": \"info\", \"msg\": \"step done\", \"time\": 1}\n{\"msg\": \"x\"}\n", "t.log") ==
        Kind::kText);
  CHECK(sniff("Hello, world\nand, then\n", "") == Kind::kText);
  const std::string tail = R"(\n","stream":"stdout","time":"2026-01-02T10:20:30.123456789Z"})";
  CHECK(sniff(R"({"log":"{\"loss\": 0.5}" )" + std::string(), "x") == Kind::kJsonDocument);  // cut, and nobody's
  CHECK(sniff(R"({"log":"{\"loss\": 0.5})" + tail, "x") == Kind::kText);
  CHECK(sniff(R"({"log":")" + std::string(2000, 'a') + tail + "\n", "x") == Kind::kText);
  CHECK(sniff("step 1, loss 0.5\nstep 2, loss 0.25\n", "") == Kind::kText);
  CHECK(sniff("{\"step\": 1}\nTraceback (most recent call last):\n", "x.log") == Kind::kText);
}

TEST_CASE("sniff: JSON of all kinds") {
  CHECK(sniff("{\"step\": 1, \"loss\": NaN}\n{\"step\": 2}\n", "x.txt") == Kind::kJsonLines);
  CHECK(sniff("{\"step\": 1, \"loss\": 0.5}\n", "metrics.jsonl") == Kind::kJsonLines);
  CHECK(sniff("{\"step\": 1, \"los", "metrics.jsonl") == Kind::kJsonLines);
  CHECK(sniff("{\"loss\": {\"1\": 0.5}}", "metrics.json") == Kind::kJsonDocument);
  CHECK(sniff("{\n  \"epoch\": 1,\n  \"log_history\": [", "config.json") == Kind::kJsonDocument);
  CHECK(sniff("[\n  {\n    \"step\": 1", "history") == Kind::kJsonDocument);
  CHECK(sniff("{\n  \"lr\": 1e-6\n}\n", "run_config.json") == Kind::kJsonSettings);
  CHECK(sniff("{\"prompt\": \"2+2?\", \"score\": 1}\n{\"prompt\": \"x\"}\n", "12.jsonl") == Kind::kSamples);
  CHECK(sniff("{\"step\": 1, \"mean_reward\": 0.5, \"answer\": \"4\"}\n{\"step\": 2}\n", "log.jsonl") ==
        Kind::kJsonLines);
  CHECK(sniff("{\"messages\": [{\"role\": \"user\"}], \"reward\": 1}\n{}\n", "12.jsonl") == Kind::kSamples);
  CHECK(sniff("[{\"question\": \"2+2?\", \"answer\": \"4\"}]", "test.json") == Kind::kSamples);
}

TEST_CASE("sniff: tables and MLflow's files") {
  CHECK(sniff("step,loss\n1,0.5\n", "x") == Kind::kCsv);
  CHECK(sniff("step\tloss\n1\t0.5\n", "x") == Kind::kCsv);
  CHECK(sniff("epoch;kl\n1;nan\n", "x") == Kind::kCsv);
  CHECK(sniff("a,b\n", "x.csv") == Kind::kCsv);
  CHECK(sniff("1760000000000 0.5 3\n", "mlruns/0/r/metrics/a/b") == Kind::kMlflowMetric);
  CHECK(sniff("run_id: x\nstatus: 3\n", "mlruns/0/r/meta.yaml") == Kind::kMlflowMeta);
}

TEST_CASE("sniff: every kind that has a decoder gets one") {
  for (const Kind kind : {Kind::kJsonLines, Kind::kJsonDocument, Kind::kJsonSettings, Kind::kCsv, Kind::kWandb,
                          Kind::kTfevents, Kind::kMlflowMetric, Kind::kMlflowMeta}) {
    CHECK(make_decoder(kind) != nullptr);
    CHECK(kind_name(kind) != "binary");
  }
  CHECK(make_decoder(Kind::kText) == nullptr);
  CHECK(make_decoder(Kind::kBinary) == nullptr);
}

TEST_CASE("worth_reading leaves weights, caches and documents alone") {
  for (const char* const path :
       {"train.log", "logs/slurm-123.out", "run.err", "events.out.tfevents.1.host.2.0", "wandb/run-1/run-x.wandb",
        "checkpoint-10/trainer_state.json", "m.jsonl.gz", "a/metrics.csv", "log.txt", "output", "p.db",
        "mlruns/0/r/metrics/loss", "mlruns/0/r/meta.yaml"}) {
    CHECK_MESSAGE(worth_reading(path, 1000), path);
  }
  for (const char* const path : {"model.safetensors", "a/optim.pt", ".git/config", "x/node_modules/a.log", "core.1234",
                                 "data/train.parquet", "tokenizer.json", "src/__pycache__/a.log", "train.py", "fig.png",
                                 "mlruns/0/r/params/lr", "checkpoint-1/model.safetensors.index.json"}) {
    CHECK_MESSAGE(!worth_reading(path, 1000), path);
  }
}

TEST_CASE("sniff: a log may begin with JSON") {
  const std::string settings = "{\n  \"lr\": 1e-6,\n  \"steps\": 300\n}\n";
  const std::string message = "{\"role\": \"user\", \"content\": \"2 + 2?\"}\n";
  CHECK(sniff(settings + "step 1 loss 0.5\n", "train.log") == Kind::kText);
  CHECK(sniff(message + message + "step 1 loss 0.5\n", "train.log") == Kind::kText);
  CHECK(sniff(settings, "train.log") == Kind::kJsonDocument);
  CHECK(sniff(message + message, "train.log") == Kind::kSamples);
  CHECK(sniff(message + "it is 4\"}\n", "train.log") == Kind::kSamples);  // a piece of a record
  CHECK(sniff(settings + "step 1 loss 0.5\n", "run.json") == Kind::kJsonDocument);
  CHECK(may_turn_out_a_log(Kind::kSamples, "train.log"));
  CHECK_FALSE(may_turn_out_a_log(Kind::kSamples, "rollouts.jsonl"));
  CHECK_FALSE(may_turn_out_a_log(Kind::kText, "train.log"));
}

TEST_CASE("sniff: step records that show their samples, in one document") {
  const std::string shown = R"("completions": [{"text": "a"}], "prompt": "b", )";
  CHECK(sniff("[{\"step\": 0, " + shown + "\"stats\": {\"loss\": 0.5, \"lr\": 0.001}}, ", "t.json") ==
        Kind::kJsonDocument);
  CHECK(sniff("[{\"episode\": 0, " + shown + "\"mean_reward\": 0.5}, ", "t.json") == Kind::kJsonDocument);
  const std::string losses = "{\"kept\": 200, \"losses\": [-0.01, 0.02], \"per_step\": [{\"useful_step\": 1, " + shown +
                             "\"loss\": -0.5}, {\"useful_step\": 2, " + shown + "\"loss\": 0.5}, ";
  CHECK(sniff(losses, "t.json") == Kind::kJsonDocument);
  CHECK(sniff("[{\"step\": 7, " + shown + "\"loss\": 0.5}, {\"step\": 7, " + shown + "\"loss\": 0.4}, ", "t.json") ==
        Kind::kSamples);
  CHECK(sniff("[{\"id\": 0, " + shown + "\"score\": 0.5}, ", "t.json") == Kind::kSamples);
  CHECK(sniff("[{\"step\": 0, " + shown + "\"score\": 0.5}, ", "t.json") == Kind::kSamples);
  CHECK(sniff(R"([{"id": 0, "prompt": "set \"step\": 1, \"lr\": 2", "score": 0.5}, )", "t.json") == Kind::kSamples);
}
