#include "read/files/written_figures.h"

#include <doctest/doctest.h>

#include <string>

#include "base/numbers.h"
#include "base/text.h"
#include "read/files/csv.h"
#include "read/files/jsonl.h"
#include "read/files/testing/recording_sink.h"

namespace mw {
namespace {

std::string said(std::string_view text) {
  const auto figure = figure_in("x", text);
  if (!figure) return "-";
  return cat(format_double(figure->value), figure->whole == 1 ? "" : "%", figure->is_time ? " s" : "");
}

/// The rows of `text`, as the decoder hands them over.
template <typename Of>
std::string rows(Of decoder, std::string_view text) {
  RecordingSink sink;
  decoder.feed(text, sink);
  decoder.finish(sink);
  return sink.log;
}
std::string row(std::string_view json) { return rows(JsonlDecoder(), cat(json, "\n")); }

TEST_CASE("a text says a number with or without its unit, and a clock, a version or words say none") {
  CHECK(said("0.31") == "0.31");
  CHECK(said("1e-06") == "1e-06");
  CHECK(said("3,141") == "3141");
  CHECK(said("31.5%") == "31.5%");
  CHECK(said("12.3s") == "12.3 s");
  CHECK(said("850ms") == "0.85 s");
  CHECK(said("1.2k") == "1200");
  CHECK(said("tensor(0.31, device='cuda:0')") == "0.31");
  CHECK(said("np.float64(0.31)") == "0.31");
  for (const char* text : {"12:30:01", "1.2.3", "0.5 of 1", "train", "cuda:0", "true", "", "1.2GB", "4x"}) {
    CAPTURE(text);
    CHECK(said(text) == "-");
  }
}

TEST_CASE("a record whose figures are all texts is one of figures") {
  CHECK(contains(row(R"({"step": "5", "reward": "0.31", "lr": "1e-06", "split": "train"})"),
                 "step 5 at  step=5 reward=0.31 lr=1e-06 split='train'"));
  CHECK(contains(row(R"({"step": 5, "reward": "0.31", "time": "12.3s", "tokens": "1,200"})"),
                 "step 5 at  step=5 reward=0.31 time=12.3 tokens=1200"));
  CHECK(contains(row(R"({"step": "3,005", "reward": "0.31"})"), "step 3005 "));
  CHECK(contains(row(R"j({"step": 5, "loss": 0.5, "reward": "tensor(0.31)", "seed": "42"})j"),
                 "loss=0.5 reward=0.31 seed='42'"));
}

TEST_CASE("what a sample holds, and what has no step, stays text") {
  CHECK(contains(row(R"({"step": 5, "loss": 0.5, "answer": "42"})"), "answer='42'"));
  CHECK(contains(row(R"({"lr": "1e-06", "seed": "42"})"), "lr='1e-06'"));
  const std::string prompt(80, 'x');
  CHECK(contains(row(cat(R"({"step": 5, "prompt": ")", prompt, R"(", "answer": "0.5"})")), "answer='0.5'"));
}

TEST_CASE("figures in a list of objects are the record's where it has no other") {
  CHECK(
      contains(row(R"({"step": 5, "metrics": [{"name": "reward", "value": 0.31}, {"name": "loss", "value": "0.5"}]})"),
               "reward=0.31 loss=0.5"));
  CHECK(contains(row(R"({"step": 5, "metrics": [{"reward": 0.31, "loss": "0.5"}]})"),
                 "metrics/reward=0.31 metrics/loss=0.5"));
  const std::string two = row(R"({"step": 5, "rollouts": [{"reward": 1}, {"reward": 0}]})");
  CHECK(!contains(two, "rollouts"));  // one for each of several is no figure of the step
  const std::string beside = row(R"({"step": 5, "loss": 0.5, "calls": [{"name": "search", "value": 3}]})");
  CHECK(!contains(beside, "search"));
}

TEST_CASE("cells of a table with units, and a header behind a hash, are read") {
  CHECK(contains(rows(CsvDecoder(), "step,reward,time\n5,31.5%,12.3s\n"), "step=5 reward=31.5 time=12.3"));
  CHECK(contains(rows(CsvDecoder(), "# step,reward\n5,0.31\n"), "row 2 step 5 at"));
}

}  // namespace
}  // namespace mw
