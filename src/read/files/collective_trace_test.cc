#include "read/files/collective_trace.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "read/files/sniff.h"

namespace mw {
namespace {

using namespace std::string_literals;  // NOLINT: bytes with zeros in them

class Lines : public RecordSink {
 public:
  void row(const Row&) override { ++rows; }
  void console(std::string_view line, uint64_t, Time when) override {
    lines.emplace_back(line);
    at = when;
  }
  void property(std::string_view, std::string_view) override { ++rows; }
  void ended(int64_t, Time) override { ++rows; }
  void problem(std::string_view name, std::string_view, uint64_t) override { problems.emplace_back(name); }
  std::vector<std::string> lines, problems;
  Time at;
  int rows = 0;
};

Lines decoded(const std::string& dump, std::string_view path = "/tmp/nccl_trace_rank_3", size_t piece = SIZE_MAX) {
  Lines lines;
  CollectiveTraceDecoder decoder(path);
  for (size_t i = 0; i < dump.size(); i += piece) decoder.feed(std::string_view(dump).substr(i, piece), lines);
  decoder.finish(lines);
  return lines;
}

std::string entry(int group, int number, const char* state, const char* name = "nccl:all_reduce") {
  return cat(R"({"pg_id":)", group, R"(,"collective_seq_id":)", number, R"(,"profiling_name":")", name,
             R"(","state":")", state,
             R"(","time_created_ns":1770000000000000000,"frames":[{"name":"step","line":7}]})");
}

std::string dump_of(const std::string& entries, const char* status = "{}") {
  return cat(R"({"version":"2.5","pg_config":{"0":{"ranks":"[0, 1]"}},"pg_status":)", status, R"(,"entries":[)",
             entries, "]}");
}

// Python's pickle.dumps(..., protocol 2) of the same with one entry and a status.
std::string text(const std::string& value) { return "X"s + static_cast<char>(value.size()) + "\0\0\0"s + value; }
std::string pickled() {
  return "\x80\x02}("s + text("pg_config") + "}" + text("pg_status") + "}(" + text("0") + "}(" +
         text("last_enqueued_collective") + "M\x9c\x01" + text("last_completed_collective") + "M\x9b\x01" + "uu" +
         text("entries") + "](}(" + text("pg_id") + "K\0"s + text("collective_seq_id") + "M\x9c\x01" +
         text("profiling_name") + text("nccl:all_reduce") + text("state") + text("started") + text("time_created_ns") +
         "\x8a\x08\0\0\x84\xe2\x0b\x4b\x90\x18"s + "ueu.";
}

TEST_CASE("a dump says of each group how far the rank is, and in what it waits") {
  const Lines lines = decoded(dump_of(entry(0, 411, "completed") + "," + entry(0, 412, "started") + "," +
                                      entry(0, 413, "scheduled", "nccl:broadcast") + "," + entry(1, 20, "completed")));
  REQUIRE(lines.lines.size() == 1);
  CHECK(lines.lines[0] ==
        "Flight recorder of rank 3: group 0 has done 411 of 413 (ALLREDUCE started); group 1 has done 20 of 20 "
        "(ALLREDUCE completed);");
  CHECK(lines.at == Time{1'770'000'000'000'000'000});
  CHECK(lines.rows == 0);
}

TEST_CASE("a pickle says the same, fed in pieces of any size; nothing of it is called") {
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{100000}}) {
    const Lines lines = decoded(pickled(), "comm_lib_trace_rank_12", piece);
    REQUIRE(lines.lines.size() == 1);
    CHECK(lines.lines[0] == "Flight recorder of rank 12: group 0 has done 411 of 412 (ALLREDUCE started);");
  }
}

TEST_CASE("the status tells what the buffer no longer holds, as numbers or as text") {
  CHECK(decoded(dump_of("", R"({"0":{"last_enqueued_collective":"9","last_completed_collective":8}})")).lines.at(0) ==
        "Flight recorder of rank 3: group 0 has done 8 of 9;");
}

TEST_CASE("what is cut, of no rank or not such a dump is no line; names are foreign") {
  const std::string whole = pickled();
  for (size_t size = 1; size < whole.size(); ++size) {
    const Lines lines = decoded(whole.substr(0, size));
    CHECK(lines.lines.empty());
    CHECK(lines.problems == std::vector<std::string>{"torn-tail"});
  }
  CHECK(decoded(dump_of(entry(0, 1, "started")), "/tmp/dump").lines.empty());
  CHECK(decoded(dump_of(entry(0, 1, "started", "x:a; group 7 \\u001b[31m")), "d_5").lines.at(0) ==
        "Flight recorder of rank 5: group 0 has done -1 of 1 (AGROUP731M started);");
  CHECK(decoded(dump_of(R"(7,"x",{"pg_id":-1},{"pg_id":0,"collective_seq_id":5,"state":"odd"})")).lines.empty());
}

TEST_CASE("it is known by its content, its rank by its name") {
  CHECK(sniff(pickled(), "/tmp/nccl_trace_rank_0") == FileKind::kCollectiveTrace);
  CHECK(sniff(dump_of(entry(0, 1, "started")), "_dump_7.json") == FileKind::kCollectiveTrace);
  CHECK(sniff("\x80\x02}q\0."s, "x.pkl") == FileKind::kBinary);
  CHECK(rank_of_trace("/a/nccl_trace_rank_17") == 17);
  CHECK(rank_of_trace("_dump_4.json") == 4);
  CHECK_FALSE(rank_of_trace("/rank_3/trace").has_value());
  CHECK_FALSE(rank_of_trace("").has_value());
}

}  // namespace
}  // namespace mw
