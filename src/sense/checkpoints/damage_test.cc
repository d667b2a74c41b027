// The damages that checkpoints suffer, one at a time, to each file of each sample: at which depth is it found? Nothing
// damaged may pass for whole where that depth can know it. Makes the table of docs/checkpoints.md.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <functional>

#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;

const Time kLater = Time::from_seconds(1768500000);

CheckpointVerdict verified(FakeDisk& disk, const std::string& path, bool deep,
                           const CheckpointManifest* earlier = nullptr, const CheckpointManifest* other = nullptr) {
  VerifyOptions options;
  options.deep = deep;
  options.now = kLater;
  options.earlier = earlier;
  if (other != nullptr) options.others.push_back(other);
  auto verdict = verify_checkpoint(disk, path, options);
  REQUIRE(verdict.ok());
  return std::move(*verdict);
}

enum Depth { kStructural, kDeep, kManifest, kNever, kDepths };
enum Damage { kCut, kFlip, kDrop, kSwap, kOnlyMetadata, kDamages };
constexpr std::array<const char*, kDamages> kDamageNames = {"cut", "bit flipped", "file dropped",
                                                            "file of another step", "no weights"};

struct Counts {
  size_t by[kDamages][kDepths] = {};
};

class Matrix {
 public:
  Matrix(FakeDisk& disk, const testing::Sample& sample)
      : disk_(disk), sample_(sample), path_(cat("/ck/", sample.path)) {
    good_ = verified(disk_, path_, true);
    REQUIRE(good_.state == State::kWhole);
    manifest_ = manifest_of(good_, Time::from_seconds(1768470000));
    if (*sample.before != '\0')
      before_ = manifest_of(verified(disk_, cat("/ck/", sample.before), true), Time::from_seconds(1768470000));
  }

  Counts run() {
    for (const ManifestFile& file : manifest_.files) {
      const std::string path = cat(path_, "/", file.path), content = disk_.content(path);
      const size_t size = content.size();
      for (const size_t cut : {size_t{0}, size_t{1}, size / 4, size / 2, size * 3 / 4, size - 1})
        if (cut < size) damaged(kCut, path, content, content.substr(0, cut));
      for (size_t i = 0; i < kFlips; ++i) {
        std::string flipped = content;
        char& byte = flipped[(size - 1) * i / (kFlips - 1)];
        byte = static_cast<char>(byte ^ (1 << (i % 8)));
        damaged(kFlip, path, content, flipped);
      }
      drop(path, content);
      const std::string other = *sample_.before == '\0' ? "" : cat("/ck/", sample_.before, "/", file.path);
      if (!other.empty() && disk_.exists(other) && disk_.content(other) != content)
        damaged(kSwap, path, content, disk_.content(other));
    }
    only_metadata();
    return counts_;
  }

 private:
  static constexpr size_t kFlips = 9;

  bool found(const CheckpointVerdict& verdict) const {
    return verdict.state != State::kWhole || verdict.resumable != good_.resumable;
  }

  void judge(Damage damage, const std::string& what) {
    CAPTURE(what);
    Depth depth = kNever;
    if (found(verified(disk_, path_, false))) {
      depth = kStructural;
    } else if (found(verified(disk_, path_, true))) {
      depth = kDeep;
    } else if (found(verified(disk_, path_, true, &manifest_, &before_))) {
      depth = kManifest;
    }
    // Alone, the file of a checkpoint of one file is as good as the other step's.
    const bool same = damage == kSwap && manifest_.files.size() == 1;
    CHECK((depth != kNever || same));
    ++counts_.by[damage][depth];
  }

  void damaged(Damage damage, const std::string& path, const std::string& good, const std::string& bad) {
    disk_.put(path, bad);
    judge(damage, cat(path, ": ", kDamageNames[damage], ", ", bad.size(), " of ", good.size(), " bytes"));
    disk_.put(path, good);
  }

  void drop(const std::string& path, const std::string& content) {
    if (manifest_.files.size() == 1) return;
    disk_.unlink(path);
    judge(kDrop, cat(path, " dropped"));
    disk_.put(path, content);
  }

  void only_metadata() {
    std::vector<std::pair<std::string, std::string>> taken;
    for (const ManifestFile& file : manifest_.files) {
      const std::string path = cat(path_, "/", file.path);
      const FileRole role = role_of(basename(path));
      const bool chunk =
          role == FileRole::kUnknown && basename(path).find_first_not_of("0123456789.") == std::string_view::npos;
      if (role == FileRole::kWeights || role == FileRole::kOptimizer || chunk)
        taken.emplace_back(path, disk_.content(path));
    }
    if (taken.size() == manifest_.files.size()) return;
    for (const auto& [path, content] : taken) disk_.unlink(path);
    const CheckpointVerdict verdict = verified(disk_, path_, false);
    CHECK((verdict.state == State::kPartial || verdict.state == State::kCorrupt));
    judge(kOnlyMetadata, "only metadata");
    for (const auto& [path, content] : taken) disk_.put(path, content);
  }

  FakeDisk& disk_;
  const testing::Sample& sample_;
  std::string path_;
  CheckpointVerdict good_;
  CheckpointManifest manifest_, before_;
  Counts counts_;
};

std::string row(const testing::Sample& sample, const Counts& counts) {
  std::string out = cat("| ", sample.layout, " |");
  for (const auto& by : counts.by) {
    size_t all = 0;
    for (size_t depth = 0; depth < kDepths; ++depth) all += by[depth];
    if (all == 0) {
      out += " – |";
      continue;
    }
    out += cat(" ", by[kStructural], " / ", by[kDeep], " / ", by[kManifest],
               by[kNever] > 0 ? cat(" (", by[kNever], " not)") : "", " |");
  }
  return out + "\n";
}

TEST_CASE(
    "every damage to every file of every sample is found, and the table of docs/checkpoints.md says at which depth") {
  FakeDisk disk;
  testing::put_samples(disk);
  std::string table = "| sample |";
  for (const char* name : kDamageNames) table += cat(" ", name, " |");
  table += "\n|---|---|---|---|---|---|\n";
  for (const testing::Sample& sample : testing::samples()) table += row(sample, Matrix(disk, sample).run());
  const std::string path = MW_SOURCE_DIR "/docs/checkpoints.md";
  const auto read = [&path] {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  };
  std::string page = read();
  const size_t begin = page.find("| sample |"), end = page.find("\n\n", begin);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  page.replace(begin, end + 1 - begin, table);
  if (std::getenv("MIDWATCH_UPDATE_DOCS") != nullptr) std::ofstream(path) << page;
  CHECK_MESSAGE(read() == page, path << " is out of date: run MIDWATCH_UPDATE_DOCS=1 build/tests/test_sense");
}

}  // namespace
}  // namespace mw
