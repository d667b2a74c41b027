// How fast run files are decoded, against reading the same file twice through the checksum that its format uses.
//   bench_decode [--mb N] [--rounds N] [--only wandb|torch|batch|jsonl]
// Rows of each format: points/s, MB/s, and the ratio to two passes of a plain checksum loop, a byte at a time (above 1:
// the decoder is faster than the two passes; docs/decisions/0006 says why that loop). The ratio to two passes of the
// checksum that we use (hardware or SIMD) stands beside it for information. Exit status 1 when a binary format is below
// 10 M points/s of processor time or slower than the plain loop.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/checksum.h"
#include "base/numbers.h"
#include "base/prng.h"
#include "bench.h"
#include "read/files/jsonl.h"
#include "read/files/testing/encode.h"
#include "read/files/tfevents.h"
#include "read/files/wandb.h"

using namespace mw;

namespace {

constexpr size_t kKeys = 60;        // metrics per step, as a verl run has
constexpr size_t kPiece = 1 << 20;  // bytes per feed(), as the daemon reads

class CountingSink : public RecordSink {
 public:
  void row(const Row& row) override {
    points += row.numbers.size();
    for (const RowNumber& number : row.numbers) sum += number.value;
  }
  void console(std::string_view, uint64_t, Time) override {}
  void property(std::string_view, std::string_view) override {}
  void ended(int64_t, Time) override {}
  void problem(std::string_view name, std::string_view detail, uint64_t) override {
    std::printf("problem: %.*s %.*s\n", static_cast<int>(name.size()), name.data(), static_cast<int>(detail.size()),
                detail.data());
  }
  uint64_t points = 0;
  double sum = 0;
};

std::vector<std::string> key_names() {
  const char* const groups[] = {"actor", "critic", "response_length", "timing_s", "perf", "rollout"};
  std::vector<std::string> keys;
  for (size_t i = 0; i < kKeys; ++i)
    keys.push_back(std::string(groups[i % 6]) + "/metric_" + std::to_string(i) + "/mean");
  return keys;
}

std::string make_wandb(size_t bytes) {
  encode::Wandb file;
  Prng prng(1);
  const auto keys = key_names();
  for (int64_t step = 0; file.bytes().size() < bytes; ++step) {
    encode::Values values;
    for (const std::string& key : keys) values.emplace_back(key, format_double(prng.unit()));
    file.history(step, 1.76e9 + static_cast<double>(step), values);
  }
  return file.take();
}

/// `per_event`: one value per event (torch's add_scalar) or all of a step in one.
std::string make_tfevents(size_t bytes, bool per_event) {
  encode::Tfevents file;
  Prng prng(1);
  const auto keys = key_names();
  for (int64_t step = 0; file.bytes().size() < bytes; ++step) {
    std::vector<std::string> values;
    for (const std::string& key : keys) {
      values.push_back(encode::Tfevents::simple(key, static_cast<float>(prng.unit())));
      if (per_event) file.event(step, 1.76e9 + static_cast<double>(step), {values.back()});
    }
    if (!per_event) file.event(step, 1.76e9 + static_cast<double>(step), values);
  }
  return file.take();
}

std::string make_jsonl(size_t bytes) {
  std::string text;
  Prng prng(1);
  const auto keys = key_names();
  for (int64_t step = 0; text.size() < bytes; ++step) {
    text += "{\"step\": " + std::to_string(step);
    for (const std::string& key : keys) text += ", \"" + key + "\": " + format_double(prng.unit());
    text += "}\n";
  }
  return text;
}

/// Processor time, so that other programs on the machine count for less.
double seconds_of(const auto& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  };
  const double begin = now();
  work();
  return now() - begin;
}

uint32_t g_guard = 0;  // keeps the checksums from being optimized away

/// A file that exists only while it is measured; what is read comes from the page cache.
class File {
 public:
  explicit File(const std::string& bytes) : file_(std::tmpfile()) {
    MW_CHECK(file_ != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size());
    MW_CHECK(std::fflush(file_) == 0);
  }
  ~File() { std::fclose(file_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  /// Calls `use` with the file's bytes, in pieces of kPiece.
  void read(const auto& use) {
    off_t at = 0;
    while (true) {
      const ssize_t size = pread(fileno(file_), piece_.data(), piece_.size(), at);
      MW_CHECK(size >= 0);
      if (size == 0) return;
      use(std::string_view(piece_.data(), static_cast<size_t>(size)));
      at += size;
    }
  }

 private:
  std::FILE* file_;
  std::vector<char> piece_ = std::vector<char>(kPiece);
};

/// The peer: reading the file twice through `checksum`.
double two_passes(File& file, uint32_t (*checksum)(std::string_view, uint32_t)) {
  return seconds_of([&] {
    for (int pass = 0; pass < 2; ++pass) {
      uint32_t value = 0;
      file.read([&](std::string_view piece) { value = checksum(piece, value); });
      g_guard ^= value;
    }
  });
}

/// The plainest loop there is: one table, one byte at a time.
uint32_t bytewise(std::string_view bytes, uint32_t seed) {
  static const std::vector<uint32_t> table = [] {
    std::vector<uint32_t> made(256);
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320U : 0);
      made[i] = crc;
    }
    return made;
  }();
  uint32_t crc = ~seed;
  for (const char c : bytes) crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return ~crc;
}

constexpr double kPointsLeast = 10;  // millions a second, issue 2
constexpr double kPlainLeast = 1;    // as fast as two passes of a plain checksum loop, issue 2

struct Measure {
  double points_per_s = 0, mb_per_s = 0;
  double ratio = 0;        // to the checksum of the format, as base/checksum.h has it (hardware, or zlib's)
  double plain_ratio = 0;  // to the plain loop, a byte at a time
};

template <typename MakeDecoder>
Measure measure(const std::string& bytes, MakeDecoder make, int rounds,
                uint32_t (*checksum)(std::string_view, uint32_t)) {
  File file(bytes);
  double best = 1e9, peer = 1e9, plain = 1e9;
  uint64_t points = 0;
  for (int round = 0; round < rounds; ++round) {  // the two take turns, so that a busy machine hits both
    CountingSink sink;
    auto decoder = make();
    const double took = seconds_of([&] {
      file.read([&](std::string_view piece) { decoder.feed(piece, sink); });
      decoder.finish(sink);
    });
    best = took < best ? took : best;
    points = sink.points;
    const double passes = two_passes(file, checksum);
    peer = passes < peer ? passes : peer;
    const double byte_passes = two_passes(file, bytewise);
    plain = byte_passes < plain ? byte_passes : plain;
  }
  const double mb = static_cast<double>(bytes.size()) / 1e6;
  return {static_cast<double>(points) / best, mb / best, peer / best, plain / best};
}

/// A binary format has limits, text has none.
void print(bench::Table& table, const std::string& name, const Measure& result, bool binary) {
  table.figure("decode " + name, result.mb_per_s, "MB/s");
  if (binary) {
    table.at_least("decode " + name, result.points_per_s / 1e6, "M points/s", kPointsLeast);
    table.at_least("decode " + name + " to two plain checksum passes", result.plain_ratio, "x", kPlainLeast);
  } else {
    table.figure("decode " + name, result.points_per_s / 1e6, "M points/s");
    table.figure("decode " + name + " to two plain checksum passes", result.plain_ratio, "x");
  }
  table.figure("decode " + name + " to two passes of our checksum", result.ratio, "x");
}

}  // namespace

int main(int argc, char** argv) {
  size_t mb = 200;  // per format
  int rounds = 5;
  std::string only;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--mb") == 0) mb = static_cast<size_t>(std::atoi(argv[i + 1]));
    if (std::strcmp(argv[i], "--only") == 0) only = argv[i + 1];
    if (std::strcmp(argv[i], "--rounds") == 0) rounds = std::atoi(argv[i + 1]);
  }
  bench::Table table;
  const auto wanted = [&](std::string_view name) { return only.empty() || name == only; };
  const auto wandb = [] { return WandbDecoder(); };
  const auto tfevents = [] { return TfeventsDecoder(); };
  const auto jsonl = [] { return JsonlDecoder(); };
  const size_t size = mb << 20;
  if (wanted("wandb")) print(table, "wandb", measure(make_wandb(size), wandb, rounds, crc32_ieee), true);
  if (wanted("torch")) {
    print(table, "tfevents (torch)", measure(make_tfevents(size, true), tfevents, rounds, crc32c), true);
  }
  if (wanted("batch")) {
    print(table, "tfevents (batch)", measure(make_tfevents(size, false), tfevents, rounds, crc32c), true);
  }
  if (wanted("jsonl")) print(table, "jsonl", measure(make_jsonl(size), jsonl, rounds, crc32_ieee), false);
  std::printf("(guard %u)\n", g_guard);
  return table.status();
}
