#include "read/files/wandb.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "base/secrets.h"
#include "base/text.h"
#include "read/files/testing/encode.h"
#include "read/files/testing/recording_sink.h"

using namespace mw;

namespace {

std::unique_ptr<Decoder> make() { return std::make_unique<WandbDecoder>(); }

std::string unhex(std::string_view hex) {
  std::string out;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string digits;
  for (const char c : hex) {
    if (c != ' ') digits.push_back(c);
  }
  for (size_t i = 0; i + 1 < digits.size(); i += 2)
    out.push_back(static_cast<char>(digit(digits[i]) * 16 + digit(digits[i + 1])));
  return out;
}

/// A small run with everything in it: several blocks, both writers' ways, console output, an exit.
std::string sample_run() {
  encode::Wandb file;
  file.run("abc123", "little-run", {{"lr", "1e-06"}, {"trainer", R"({"algo": "grpo", "api_key": "hunter2hunter2"})"}},
           1'760'000'000'000);
  file.output("loading ", true, 1'760'000'001'000);
  file.output("the warning\n", false, 1'760'000'001'500);
  file.output("weights\n", true, 1'760'000'002'000);
  file.output("\r 10%|#         |\r 20%|##        |\n", false, 1'760'000'003'000, false);
  for (int step = 0; step < 40; ++step) {
    encode::Values values = {{"reward", format_double(0.01 * step)},
                             {"actor/entropy", "1.25"},
                             {"bad", step == 3 ? "NaN" : "-Infinity"},
                             {"note", R"("hé \"there\"")"},
                             {"flag", "true"},
                             {"picture", R"({"_type": "image-file", "width": 3})"},
                             {"nested", R"({"a": {"b": 2}, "list": [1, 2, 3]})"},
                             {"nothing", "null"}};
    if (step == 20) values.push_back({"long", "\"" + std::string(70'000, 'x') + "\""});
    file.history(step, 1'760'000'010 + step, values, step % 2 == 0);
    file.stats(1'760'000'010'500 + step * 1000L, {{"gpu.0.temp", "61"}, {"cpu", "3.5"}});
  }
  file.exit(1, 300);
  return file.take();
}

}  // namespace

TEST_CASE("wandb: the bytes of W&B's own writer are read") {
  // Made with wandb's datastore.py: one history record with reward, actor.entropy (nested) and step 7.
  const std::string bytes = unhex(
      "3a572642 e1be 00 f048e97d 3100 01 0801 122d 0a0e 1206 726577617264 820103 302e35 0a17 1205 6163746f72 1207 "
      "656e74726f7079 820104 312e3235 1202 0807");
  CHECK(decode_log(make, bytes, 0, 0) == "row 1 step 7 at  reward=0.5 actor/entropy=1.25\nconsumed 63\n");
}

TEST_CASE("wandb: records of a whole run") {
  RecordingSink sink;
  WandbDecoder decoder;
  decoder.feed(sample_run(), sink);
  decoder.finish(sink);
  CHECK(sink.rows == 80);
  CHECK(sink.first_step == 0);
  CHECK(sink.last_step == 39);
  CHECK(sink.problems == 0);
  CHECK(sink.ended_code == 1);
  CHECK(sink.has("property config/lr=1e-06\n"));
  CHECK(sink.has("property config/trainer/algo=grpo\n"));
  CHECK(sink.has("property run/name=little-run\n"));
  CHECK_FALSE(sink.has("hunter2"));
  CHECK(sink.has("console 1 2025-10-09T08:53:21.500Z the warning\n"));
  CHECK(sink.has("console 2 2025-10-09T08:53:21Z loading weights\n"));
  CHECK(sink.has("console 3 2025-10-09T08:53:23Z  10%|#         |\nconsole 4"));
  CHECK(sink.has("step 3 at 2025-10-09T08:53:33Z reward=0.03 actor/entropy=1.25 bad=nan flag=1 nested/a/b=2 "));
  CHECK(sink.has("bad=-inf"));
  CHECK(sink.has("note='h\u00e9 \"there\"'"));
  CHECK(sink.has("system/gpu.0.temp=61"));
  CHECK_FALSE(sink.has("picture"));
  CHECK(sink.has("ended 1 2025-10-09T08:58:20Z"));
}

TEST_CASE("wandb: the pieces' sizes make no difference") {
  const std::string bytes = sample_run();
  const std::string whole = decode_log(make, bytes, 0, 0);
  CHECK(decode_log(make, bytes, 1, 0) == whole);
  for (uint64_t seed = 1; seed < 20; ++seed) CHECK(decode_log(make, bytes, seed * seed * 40, seed) == whole);
}

TEST_CASE("wandb: cut at any byte, what is whole is read and the rest is said to be torn") {
  encode::Wandb file;
  std::vector<size_t> ends = {0, 7};
  for (int step = 0; step < 12; ++step) {
    file.history(step, 1'760'000'000 + step, {{"reward", "0.5"}, {"loss", "-1e-3"}});
    ends.push_back(file.bytes().size());
  }
  size_t whole = 0;
  for (size_t cut = 0; cut <= file.bytes().size(); ++cut) {
    while (whole + 1 < ends.size() && ends[whole + 1] <= cut) ++whole;
    RecordingSink sink;
    WandbDecoder decoder;
    decoder.feed(std::string_view(file.bytes()).substr(0, cut), sink);
    decoder.finish(sink);
    REQUIRE(sink.rows == (whole < 1 ? 0 : whole - 1));
    REQUIRE(sink.torn == (ends[whole] != cut));
    REQUIRE(decoder.consumed() == ends[whole]);
  }
}

TEST_CASE("wandb: flipped bits lose at most their block, and are said") {
  const std::string bytes = sample_run();
  const std::string good = decode_log(make, bytes, 0, 0);
  Prng prng(7);
  for (int round = 0; round < 300; ++round) {
    std::string bad = bytes;
    const size_t at = 7 + static_cast<size_t>(prng.below(bad.size() - 7));
    bad[at] = static_cast<char>(bad[at] ^ (1 << prng.below(8)));
    const std::string log = decode_log(make, bad, 0, 0);
    if (log == good) continue;  // in the padding of a block
    CHECK((contains(log, "bad-checksum") || contains(log, "torn-tail")));
  }
}

TEST_CASE("wandb: where only names are wanted, none is missing, and system records are read once") {
  struct Names : RecordingSink {
    explicit Names(bool alone) : alone(alone) {}
    void row(const Row& row) override {
      RecordingSink::row(row);
      for (const RowNumber& number : row.numbers) names.emplace(number.key);
    }
    void property(std::string_view key, std::string_view) override { names.emplace(key); }
    bool names_only() const override { return alone; }
    bool alone;
    std::set<std::string> names;
  } all(false), alone(true);
  encode::Wandb file;
  file.run("abc123", "little-run", {{"lr", "1e-06"}, {"api_key", "\"hunter2hunter2\""}}, 1'760'000'000'000);
  for (int i = 0; i < 100; ++i) {
    encode::Values values = {{"cpu", std::to_string(i)}, {"gpu.0.temp", i < 50 ? "null" : "61"}};
    if (i == 70) values.push_back({"gpu.1.temp", "-1"});
    file.stats(1'760'000'010'500 + i * 1000L, values);
    if (i % 10 == 0) file.history(i, 1'760'000'010 + i, {{"reward", "0.5"}});
  }
  const std::string bytes = file.take();
  WandbDecoder one, other;
  one.feed(bytes, all);
  other.feed(bytes, alone);
  CHECK(all.names == alone.names);
  CHECK(alone.names.count("system/gpu.0.temp") == 1);
  CHECK(alone.names.count("system/gpu.1.temp") == 1);
  CHECK(all.rows == 110);
  CHECK(alone.rows == 13);
}

TEST_CASE("wandb: a bad block is passed over and the next one read") {
  encode::Wandb file;
  for (int step = 0; step < 2000; ++step)
    file.history(step, 1'760'000'000 + step, {{"reward", "0.5"}, {"loss", "-1e-3"}});
  std::string bytes = file.take();
  bytes[40'000] = static_cast<char>(bytes[40'000] ^ 1);
  RecordingSink sink;
  WandbDecoder decoder;
  decoder.feed(bytes, sink);
  decoder.finish(sink);
  CHECK(sink.problems == 2);
  CHECK(sink.has("problem bad-checksum"));
  CHECK(sink.has("problem damaged"));
  CHECK(sink.rows > 1600);
  CHECK(sink.rows < 1999);
  CHECK(sink.last_step == 1999);
}

TEST_CASE("wandb: what is no run file is said once") {
  CHECK(contains(decode_log(make, std::string(100'000, 'x'), 0, 0), "problem not-a-record 0:"));
  CHECK(decode_log(make, "", 0, 0) == "consumed 0\n");
}

TEST_CASE("wandb: a number is secret where its name says so") {
  encode::Wandb file;
  file.run("abc123", "r", {{"db_password", "48121633"}, {"tokenizer/max", "48121634"}, {"save", "true"}},
           1'760'000'000'000);
  RecordingSink sink;
  WandbDecoder decoder;
  decoder.feed(file.take(), sink);
  decoder.finish(sink);
  CHECK(sink.has(cat("property config/db_password=", kRedacted)));
  CHECK_FALSE(sink.has("48121633"));
  CHECK(sink.has("property config/tokenizer/max=48121634\n"));
  CHECK(sink.has("property config/save=true\n"));
}
