// Pieces of a large file, shared by threads: what is found must not depend on where a piece ends or who reads it.
#include "sense/checkpoints/deep_check.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/checksum.h"
#include "base/digest.h"
#include "base/prng.h"
#include "base/text.h"
#include "platform/real/posix_disk.h"

namespace mw {
namespace {

struct Scratch {
  Scratch() {
    root = (std::filesystem::temp_directory_path() / "midwatch-deep-XXXXXX").string();
    REQUIRE(::mkdtemp(root.data()) != nullptr);
  }
  ~Scratch() { std::filesystem::remove_all(root); }
  std::string root;
};

/// A safetensors file of tensors of BF16 with these numbers of bytes; all numbers are finite but those at `nan` (bytes
/// from the beginning of the tensors).
std::string safetensors(const std::vector<size_t>& sizes, const std::vector<size_t>& nan, size_t spaces) {
  std::string header = "{", data;
  Prng dice(7);
  for (size_t i = 0; i < sizes.size(); ++i) {
    header += cat(i == 0 ? "" : ",", "\"t", i, R"(":{"dtype":"BF16","shape":[)", sizes[i] / 2, R"(],"data_offsets":[)",
                  data.size(), ",", data.size() + sizes[i], "]}");
    for (size_t k = 0; k < sizes[i]; k += 2) {
      data += static_cast<char>(dice.next());
      data += '\x3c';
    }
  }
  for (const size_t at : nan) data.replace(at, 2, "\xff\x7f");
  header += "}" + std::string(spaces, ' ');
  std::string out(8, '\0');
  for (size_t i = 0; i < 8; ++i) out[i] = static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return out + header + data;
}

/// The real disk, whose files cannot be mapped: as on file systems without it.
class WithoutViews final : public Disk {
 public:
  Result<std::unique_ptr<ReadFile>> open_read(const std::string& path) override {
    auto open = real_->open_read(path);
    if (!open.ok()) return open.error();
    return std::unique_ptr<ReadFile>(std::make_unique<File>(std::move(*open)));
  }
  Result<std::unique_ptr<AppendFile>> open_append(const std::string& path) override { return real_->open_append(path); }
  Result<FileInfo> info(const std::string& path) override { return real_->info(path); }
  Result<std::vector<std::string>> list(const std::string& folder) override { return real_->list(folder); }
  Result<void> make_folders(const std::string& path) override { return real_->make_folders(path); }
  Result<void> rename(const std::string& from, const std::string& to) override { return real_->rename(from, to); }
  Result<void> remove(const std::string& path) override { return real_->remove(path); }

 private:
  class File final : public ReadFile {
   public:
    explicit File(std::unique_ptr<ReadFile> real) : real_(std::move(real)) {}
    Result<void> read_at(uint64_t offset, size_t size, std::string& out) override {
      return real_->read_at(offset, size, out);
    }
    Result<FileInfo> info() override { return real_->info(); }

   private:
    std::unique_ptr<ReadFile> real_;
  };
  std::shared_ptr<Disk> real_ = make_posix_disk();
};

struct Checked {
  DeepAnswer answer;
  std::string problems;
};
Checked check(const std::string& folder, int threads, const CheckProgress& progress = nullptr, bool mapped = true) {
  std::shared_ptr<Disk> disk = make_posix_disk();
  if (!mapped) disk = std::make_shared<WithoutViews>();
  const auto tree = CheckpointTree::read(*disk, folder);
  REQUIRE(tree.ok());
  Examination exam(*disk, *tree);
  Checked out;
  out.answer = check_deeply(exam, threads, progress);
  for (const CheckpointProblem& problem : exam.problems()) out.problems += cat(problem.path, ": ", problem.what, "\n");
  return out;
}

TEST_CASE("one large file is read by several threads, and all of them find the same") {
  const Scratch scratch;
  // Headers of all remainders: pieces end within numbers, ranges and at their edges. The NaN lie around where they end.
  for (const size_t spaces : {0, 1, 2, 3, 5}) {
    const std::vector<size_t> sizes = {2, 700'000, 262'144, 0, 30, 30, 9'400'000};
    std::vector<size_t> nan;
    for (size_t piece = 262'144; piece < 10'300'000; piece += 262'144) nan.push_back((piece - 600) / 2 * 2);
    const std::string bytes = safetensors(sizes, nan, spaces);
    std::ofstream(scratch.root + "/model.safetensors", std::ios::binary) << bytes;
    const Checked one = check(scratch.root, 1);
    CAPTURE(one.problems);
    REQUIRE(one.answer.files.size() == 1);
    Xxh3 hash;
    hash.update(bytes);
    CHECK(one.answer.files[0].xxh3 == hash.digest());
    CHECK(one.answer.files[0].xxh3_128 == content_hash(bytes));
    CHECK(one.answer.figures.bytes == bytes.size());
    CHECK(one.answer.figures.tensors == 6);
    CHECK(one.answer.figures.all.numbers == (2 + 700'000 + 262'144 + 60 + 9'400'000) / 2);
    CHECK(one.answer.figures.all.nan == nan.size());
    for (const int threads : {-1, -2, 2, 4}) {  // below 0: without views
      const Checked more = check(scratch.root, std::abs(threads), nullptr, threads > 0);
      CHECK(more.problems == one.problems);
      CHECK(more.answer.files[0].xxh3 == one.answer.files[0].xxh3);
      CHECK(more.answer.figures.all.squares == one.answer.figures.all.squares);  // to the last bit
      CHECK(more.answer.figures.all.nan == nan.size());
    }
  }
}

/// What this process asked the kernel to copy from files so far.
uint64_t bytes_read() {
  std::ifstream file("/proc/self/io");
  std::string name;
  uint64_t bytes = 0;
  file >> name >> bytes;
  REQUIRE(name == "rchar:");
  return bytes;
}

TEST_CASE("what one thread read of a large file is not read again for another") {
  const Scratch scratch;
  constexpr size_t kSize = 100'000'000;
  std::ofstream(scratch.root + "/model.safetensors", std::ios::binary) << safetensors({kSize}, {}, 0);
  constexpr uint64_t kOnce = kSize / 100 * 107;
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 5 && least >= kOnce;
       ++i) {  // a thread that another process holds up has its chunk read by the leader
    const uint64_t before = bytes_read();
    CHECK(check(scratch.root, 2, nullptr, false).answer.figures.bytes > kSize);
    least = std::min(least, bytes_read() - before);
  }
  CHECK(least < kOnce);
  const uint64_t before = bytes_read();
  CHECK(check(scratch.root, 2).answer.figures.bytes > kSize);
  CHECK(bytes_read() - before < kSize / 100);  // not copied at all
}

TEST_CASE("pages that never reached the disk are found, wherever they lie and whoever reads them") {
  const Scratch scratch;
  const std::vector<size_t> sizes = {700'000, 5'000, 9'400'000, 200, 30'000};
  std::string whole = safetensors(sizes, {}, 0);
  whole = safetensors(sizes, {}, (8 - whole.size() % 8) % 8);  // as the library writes it
  const size_t begin = whole.size() - 700'000 - 5'000 - 9'400'000 - 200 - 30'000;
  const auto found = [&](size_t from, size_t bytes) {
    std::string torn = whole;
    torn.replace(from, bytes, std::string(bytes, '\0'));
    std::ofstream(scratch.root + "/model.safetensors", std::ios::binary) << torn;
    const std::string one = check(scratch.root, 1).problems;
    for (const int threads : {-1, -2, 2, 4})
      CHECK(check(scratch.root, std::abs(threads), nullptr, threads > 0).problems == one);
    return one;
  };
  constexpr size_t kPage = 4096;
  CHECK(found(0, 0).empty());
  CHECK(contains(found(40 * kPage, kPage),
                 "4.1 KB of zeros in whole pages, the first from byte 163840 on, in the middle of the numbers of t0"));
  // At the edges of pieces and chunks, and over several of them.
  for (const size_t at :
       {size_t{1} << 20, (size_t{1} << 20) - kPage, size_t{4} << 20, (size_t{4} << 20) - 64 * kPage}) {
    CAPTURE(at);
    CHECK(contains(found(at, kPage), "of t2"));
    CHECK(contains(found(at, 1'400 * kPage), "5.7 MB of zeros"));
  }
  // From one tensor into the next ones, and up to the end of the file.
  const size_t next = (begin + 700'000) / kPage * kPage;
  CHECK(contains(found(next - 2 * kPage, 8 * kPage), "of t0"));
  const size_t late = (whole.size() - 20'000) / kPage * kPage;
  CHECK(contains(found(late, whole.size() - late), "of t4"));
  CHECK(contains(found(late - 12 * kPage, whole.size() - late + 12 * kPage), "of t2"));
  // Zeros that no disk made: not in whole pages, a tensor's own end, a whole tensor.
  CHECK(found(40 * kPage + 2, kPage).empty());
  CHECK(found(40 * kPage - 6, 3 * kPage + 6).empty());
  CHECK(found(begin + 650'000, 50'000).empty());
  CHECK(found(begin, 705'000).empty());
}

TEST_CASE("whoever says stop is obeyed by all threads, and nobody waits for another") {
  const Scratch scratch;
  std::ofstream(scratch.root + "/model.safetensors", std::ios::binary) << safetensors({20'000'000}, {}, 0);
  for (int i = 0; i < 40; ++i) std::ofstream(cat(scratch.root, "/", i, ".txt")) << "small";
  for (const int64_t stop : {int64_t{1}, int64_t{3'000'000}}) {
    const Checked checked = check(scratch.root, 4, [stop](int64_t done, int64_t) { return done < stop; });
    CHECK(checked.answer.stopped);
    CHECK(checked.answer.figures.bytes < 20'000'000);
  }
  const Checked all = check(scratch.root, 4);
  CHECK(all.answer.files.size() == 41);
}

TEST_CASE("a file that is cut while it is read cannot be read, and nothing is said of what was not there") {
  const Scratch scratch;
  const std::string path = scratch.root + "/model.safetensors", whole = safetensors({30'000'000}, {}, 0);
  for (const bool mapped : {true, false}) {
    for (const int threads : {1, 4}) {
      CAPTURE(mapped);
      CAPTURE(threads);
      std::ofstream(path, std::ios::binary) << whole;
      const auto cut = [&path](int64_t, int64_t) {
        std::filesystem::resize_file(path, 5'000'000);
        return true;
      };
      const Checked checked = check(scratch.root, threads, cut, mapped);
      CHECK(checked.answer.files.empty());
      CHECK(checked.problems.find("cannot be read at") != std::string::npos);
      CHECK(checked.answer.figures.tensors == 0);
    }
  }
}

TEST_CASE("an empty file has a checksum, and one that is cut meanwhile has none") {
  const Scratch scratch;
  std::ofstream(scratch.root + "/empty.txt") << "";
  const std::string path = scratch.root + "/model.safetensors";
  std::ofstream(path, std::ios::binary) << safetensors({2'000'000}, {}, 0);
  const auto disk = make_posix_disk();
  const auto tree = CheckpointTree::read(*disk, scratch.root);
  REQUIRE(tree.ok());
  std::filesystem::resize_file(path, 1'000'000);
  Examination exam(*disk, *tree);
  const DeepAnswer answer = check_deeply(exam, 4, nullptr);
  REQUIRE(answer.files.size() == 1);
  CHECK(answer.files[0].path == "empty.txt");
  REQUIRE(exam.problems().size() == 1);
  CHECK(exam.problems()[0].trouble == Trouble::kUnreadable);
}

}  // namespace
}  // namespace mw
