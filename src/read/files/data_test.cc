// Every structured file of ../shared/data, where it lies beside the project: read whole, nothing garbled, sensible
// counts.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/testing/sanitized.h"
#include "base/testing/skip.h"
#include "read/files/sniff.h"
#include "read/files/testing/recording_sink.h"

using namespace mw;
namespace fs = std::filesystem;

TEST_CASE("real files: all that is structured is read" * doctest::test_suite(testing::kMachine)) {
  const fs::path folder = fs::path(MW_SOURCE_DIR) / "../shared/data";
  if (!fs::exists(folder)) {
    testing::skip("../shared/data is not there");
    return;
  }
  const bool verbose = std::getenv("MIDWATCH_VERBOSE") != nullptr;
  constexpr uintmax_t kSmall = 1 << 20;  // bytes
  size_t structured = 0, large = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string path = fs::relative(entry.path(), folder).string();
    if (!entry.is_regular_file() || path == "labels.json" || path == ".gitattributes") continue;
    if (!worth_reading(path, static_cast<int64_t>(entry.file_size()))) continue;
    if (testing::kSanitized && entry.file_size() > kSmall && ++large % 3 != 0) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const FileKind kind = sniff(std::string_view(bytes).substr(0, kSniffBytes), path);
    CHECK_MESSAGE(kind != FileKind::kBinary, path);
    const auto decoder = make_decoder(kind, path);
    if (decoder == nullptr) {
      if (verbose && kind != FileKind::kText) MESSAGE(path, ": ", kind_name(kind));
      continue;
    }
    ++structured;
    RecordingSink sink;
    sink.keep = verbose;
    decoder->feed(bytes, sink);
    decoder->finish(sink);
    CHECK_MESSAGE(sink.rows + sink.lines + sink.properties > 0, path);
    CHECK_MESSAGE(sink.problems <= 1, path);  // a copy may have a torn tail
    if (verbose) {
      MESSAGE(path, ": ", kind_name(kind), ", ", sink.rows, " rows, ", sink.numbers, " numbers, ", sink.lines,
              " lines, ", sink.properties, " settings, ", sink.problems, " problems, steps ", sink.first_step, "..",
              sink.last_step, ", ended ", sink.ended_code);
    }
  }
  CHECK(structured > 20);
}
