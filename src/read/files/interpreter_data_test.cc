// Real runs, where they lie beside the project: whose trainer they are of, and which steps they show.
#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"
#include "base/testing/sanitized.h"
#include "base/testing/skip.h"
#include "base/text.h"
#include "read/files/sniff.h"
#include "read/files/text_log.h"
#include "read/interpret/interpreter.h"
#include "read/match/pattern_set.h"

namespace mw {
namespace {

constexpr size_t kRecogniseBytes = 256 << 10;  // of a log's head and tail that are searched for signs

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::string bytes(file ? static_cast<size_t>(file.tellg()) : 0, '\0');
  file.seekg(0).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

class StepSpan final : public EventSink {
 public:
  void put(Event&& event) override {
    if (const auto* body = std::get_if<event::Measured>(&event.body); body != nullptr && !body->eval) take(body->step);
    if (const auto* body = std::get_if<event::StepBegan>(&event.body)) take(body->step);
  }
  void take(int64_t step) {
    if (step == kNoStep) return;
    first = first == kNoStep ? step : std::min(first, step);
    last = last == kNoStep ? step : std::max(last, step);
  }
  int64_t first = kNoStep, last = kNoStep;
};

class Rows final : public RecordSink {
 public:
  Rows(Recogniser& recogniser, Interpreter* interpreter) : recogniser_(recogniser), interpreter_(interpreter) {}
  void row(const Row& row) override {
    for (const RowNumber& number : row.numbers) recogniser_.name(Sign::In::kMetric, number.key);
    if (interpreter_ != nullptr) interpreter_->row(row);
  }
  void console(std::string_view line, uint64_t, Time) override { recogniser_.text(line); }
  void property(std::string_view key, std::string_view) override { recogniser_.name(Sign::In::kConfig, key); }
  void ended(int64_t, Time) override {}
  void problem(std::string_view, std::string_view, uint64_t) override {}

 private:
  Recogniser& recogniser_;
  Interpreter* interpreter_;
};

struct Bench {
  const DialectBook& book;
  const PatternSet& patterns;
};

/// Reads the files of a case as the program does: first it searches them for signs of the framework, then it reads
/// everything.
std::string read_case(const Bench& bench, const std::vector<std::string>& paths, StepSpan& steps) {
  Recogniser recogniser(bench.book);
  TemplateMiner miner;
  const PatternIndex pattern_index{&bench.book, 0, nullptr, 0, {}, nullptr};
  for (const bool looking : {true, false}) {
    for (const std::string& path : paths) {
      const std::string bytes = slurp(path);
      const std::string_view all = bytes;
      const FileKind kind = sniff(all.substr(0, kSniffBytes), path);
      Interpreter interpreter(pattern_index, recogniser, miner, steps, 0);
      if (kind == FileKind::kText && looking) {
        recogniser.text(all.substr(0, kRecogniseBytes));
        recogniser.text(all.substr(all.size() - std::min(all.size(), kRecogniseBytes)));
      } else if (kind == FileKind::kText) {
        TextLog log(bench.patterns, interpreter, steps, 0);
        log.feed(all);
        log.finish();
      } else if (const auto decoder = make_decoder(kind, path)) {
        Rows rows(recogniser, looking ? nullptr : &interpreter);
        decoder->feed(all, rows);
        decoder->finish(rows);
        if (!looking) interpreter.finish();
      }
    }
  }
  return recogniser.answer().framework;
}

struct Checked {
  bool named = false, stepped = true;
};

Checked check_case(const Bench& bench, const std::string& root, const Json& label) {
  std::vector<std::string> paths;
  for (const Json& path : label.find("paths")->items()) paths.push_back(root + path.string());
  StepSpan steps;
  Checked checked;
  checked.named = read_case(bench, paths, steps) == label.string_or("framework", "");
  if (const Json* span = label.find("steps"); span != nullptr && span->is_object()) {
    checked.stepped = steps.first != kNoStep &&
                      std::fabs(static_cast<double>(steps.first) - span->number_or("first", 0)) <= 1 &&
                      std::fabs(static_cast<double>(steps.last) - span->number_or("last", 0)) <= 1;
  }
  return checked;
}

TEST_CASE("real runs: framework and steps" * doctest::test_suite(testing::kMachine)) {
  const std::string root = MW_SOURCE_DIR "/../shared/data/";
  const auto labels = Json::parse(slurp(root + "labels.json"));
  if (!labels.ok()) {
    testing::skip("no ../shared/data/labels.json beside the project");
    return;
  }
  const auto book = DialectBook::built_in();
  REQUIRE_MESSAGE(book.ok(), (book.ok() ? "" : book.error().what));
  const auto mine = PatternSet::compile(book->patterns(0)), others = PatternSet::compile(book->patterns(0));
  REQUIRE(mine.ok());
  REQUIRE(others.ok());
  const auto& all = labels->items();
  std::atomic<size_t> next = 0, cases = 0, named = 0, stepped = 0;
  const auto work = [&](const PatternSet& patterns) {  // each thread has its own: they are not thread-safe
    for (size_t i = next++; i < all.size(); i = next++) {
      if (testing::kSanitized && i % 4 != 0) continue;
      ++cases;
      const Checked checked = check_case({*book, patterns}, root, all[i]);
      named += checked.named ? 1 : 0;
      stepped += checked.stepped ? 1 : 0;
    }
  };
  std::thread other([&] { work(*others); });
  work(*mine);
  other.join();
  std::printf("real runs: %zu cases, framework right in %zu, steps right in %zu\n", cases.load(), named.load(),
              stepped.load());
  CHECK(named * 100 >= cases * 85);
  CHECK(stepped * 100 >= cases * 80);
}

}  // namespace
}  // namespace mw
