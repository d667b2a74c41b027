#include "read/files/tfevents.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "read/files/testing/encode.h"
#include "read/files/testing/recording_sink.h"

using namespace mw;
using encode::Tfevents;

namespace {

std::unique_ptr<Decoder> make() { return std::make_unique<TfeventsDecoder>(); }

std::string little(uint64_t value, size_t size) {
  std::string out;
  encode::little(out, value, size);
  return out;
}

std::string bits_of(double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, 8);
  return little(bits, 8);
}

std::string sample_run() {
  Tfevents file;
  for (int step = 0; step < 30; ++step) {
    file.event(step, 1.76e9 + step, {Tfevents::simple("reward", 0.5F)});
    file.event(step, 1.76e9 + step, {Tfevents::simple("loss", -0.25F), Tfevents::simple("kl", 2)});
    if (step % 10 == 9) file.event(step, 1.76e9 + step + 0.5, {Tfevents::tensor("eval/score", 2, bits_of(0.75))});
  }
  return file.take();
}

}  // namespace

TEST_CASE("tfevents: one row per step, whatever the events") {
  RecordingSink sink;
  TfeventsDecoder decoder;
  decoder.feed(sample_run(), sink);
  CHECK(sink.rows == 29);  // the last step may still get more
  decoder.finish(sink);
  CHECK(sink.rows == 30);
  CHECK(sink.problems == 0);
  CHECK(sink.has("row 2 step 0 at 2025-10-09T08:53:20Z reward=0.5 loss=-0.25 kl=2\n"));
  CHECK(sink.has("step 29 at 2025-10-09T08:53:49Z reward=0.5 loss=-0.25 kl=2 eval/score=0.75\n"));
}

TEST_CASE("tfevents: a tag that comes again makes a row of its own") {
  Tfevents file;
  for (int i = 0; i < 3; ++i) file.event(5, 1.76e9, {Tfevents::simple("loss", static_cast<float>(i))});
  RecordingSink sink;
  TfeventsDecoder decoder;
  decoder.feed(file.bytes(), sink);
  decoder.finish(sink);
  CHECK(sink.rows == 3);
}

TEST_CASE("tfevents: scalars as tensors of every type; what is no scalar is left out") {
  const auto read = [](const std::string& value) {
    Tfevents file;
    file.event(1, 1.76e9, {value});
    return decode_log(make, file.bytes(), 0, 0);
  };
  float half_one = 1.5F;
  uint32_t bits = 0;
  std::memcpy(&bits, &half_one, 4);
  CHECK(contains(read(Tfevents::tensor("x", 1, little(bits, 4))), " x=1.5\n"));
  CHECK(contains(read(Tfevents::tensor("x", 3, little(static_cast<uint32_t>(-7), 4))), " x=-7\n"));
  CHECK(contains(read(Tfevents::tensor("x", 9, little(static_cast<uint64_t>(-9), 8))), " x=-9\n"));
  CHECK(contains(read(Tfevents::tensor("x", 19, little(0x3c00, 2))), " x=1\n"));
  CHECK(contains(read(Tfevents::tensor("x", 19, little(0xfc00, 2))), " x=-inf\n"));
  CHECK(contains(read(Tfevents::tensor("x", 19, little(0x0001, 2))), " x=5.960464477539063e-08\n"));
  CHECK(contains(read(Tfevents::tensor("x", 14, little(0x3fc0, 2))), " x=1.5\n"));
  CHECK(contains(read(Tfevents::tensor("x", 10, little(1, 1))), " x=1\n"));
  CHECK_FALSE(contains(read(Tfevents::tensor("x", 1, little(0, 8))), "row"));  // two floats
  std::string tensor;
  encode::field_varint(tensor, 1, 1);
  encode::field_float(tensor, 5, 2.5F);
  CHECK(contains(read(Tfevents::with_tensor("x", tensor, "scalars")), " x=2.5\n"));
  CHECK_FALSE(contains(read(Tfevents::with_tensor("x", tensor, "histograms")), "row"));
  std::string text;
  encode::field_varint(text, 1, 7);
  encode::field_bytes(text, 8, "hello");
  CHECK(contains(read(Tfevents::with_tensor("notes", text, "text")), "property text/notes=hello\n"));
}

TEST_CASE("tfevents: the pieces' sizes make no difference") {
  const std::string bytes = sample_run();
  const std::string whole = decode_log(make, bytes, 0, 0);
  for (uint64_t seed = 1; seed < 20; ++seed) CHECK(decode_log(make, bytes, seed * seed, seed) == whole);
}

TEST_CASE("tfevents: cut at any byte") {
  const std::string bytes = sample_run();
  const std::string whole = decode_log(make, bytes, 0, 0);
  uint64_t before = 0;
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    RecordingSink sink;
    TfeventsDecoder decoder;
    decoder.feed(std::string_view(bytes).substr(0, cut), sink);
    decoder.finish(sink);
    REQUIRE(sink.problems <= 1);
    REQUIRE(sink.problems == (sink.torn ? 1 : 0));
    REQUIRE(decoder.consumed() <= cut);
    REQUIRE(decoder.consumed() >= before);
    REQUIRE((sink.torn || decoder.consumed() == cut));
    before = decoder.consumed();
  }
}

TEST_CASE("tfevents: a garbled record costs itself, a garbled length what comes before the next record") {
  const std::string bytes = sample_run();
  const std::string good = decode_log(make, bytes, 0, 0);
  Prng prng(11);
  for (int round = 0; round < 500; ++round) {
    std::string bad = bytes;
    const size_t at = static_cast<size_t>(prng.below(bad.size()));
    bad[at] = static_cast<char>(bad[at] ^ (1 << prng.below(8)));
    const std::string log = decode_log(make, bad, 0, 0);
    REQUIRE(contains(log, "bad-checksum"));
    REQUIRE(std::count(log.begin(), log.end(), '\n') >= 30);
    REQUIRE(decode_log(make, bad, 300, static_cast<uint64_t>(round)) == log);
  }
}
