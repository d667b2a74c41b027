// The damages that checkpoints suffer, one at a time, to each file of each sample: at which depth is it found, and what
// is the verdict? Nothing damaged may pass for whole where that depth can know it. Makes the tables of
// docs/checkpoints.md.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <functional>

#include "base/testing/sanitized.h"
#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;

const Time kSaved = Time::from_seconds(1768465800), kCopied = Time::from_seconds(1768469400),
           kSavedBefore = Time::from_seconds(1768464000), kLater = Time::from_seconds(1768500000);

CheckpointVerdict verified(FakeDisk& disk, const std::string& path, bool deep,
                           const CheckpointManifest* earlier = nullptr, const CheckpointManifest* other = nullptr,
                           const std::string& beside = "") {
  VerifyOptions options;
  if (!beside.empty()) options.beside = {beside};
  options.deep = deep;
  options.now = kLater;
  options.earlier = earlier;
  if (other != nullptr) options.others.push_back(other);
  auto verdict = verify_checkpoint(disk, path, options);
  REQUIRE(verdict.ok());
  return std::move(*verdict);
}

constexpr bool kShare = testing::kSanitized;  // there each file is cut and changed in its middle alone

enum Depth { kStructural, kDeep, kManifest, kNever, kDepths };
enum Damage { kCut, kFlip, kDrop, kSwap, kExchange, kExchangeAlike, kOnlyMetadata, kDamages };
constexpr std::array<const char*, kDamages> kDamageNames = {"cut",
                                                            "bit flipped",
                                                            "file dropped",
                                                            "file of another step",
                                                            "files exchanged",
                                                            "exchanged, times made alike",
                                                            "no weights"};

/// Verdicts on what is damaged: its state, or that it is whole without something that a resume needs.
enum Verdict { kIsPartial, kIsCorrupt, kIsSuspect, kIsNotResumable, kIsOther, kVerdicts };
constexpr std::array<const char*, kVerdicts> kVerdictNames = {"partial", "corrupt", "suspect", "not resumable",
                                                              "other"};

struct Counts {
  size_t by[kDamages][kDepths] = {};
  size_t verdicts[kDamages][kVerdicts] = {};
};

Verdict kind_of(const CheckpointVerdict& verdict) {
  switch (verdict.state) {
    case State::kPartial:
      return kIsPartial;
    case State::kCorrupt:
      return kIsCorrupt;
    case State::kSuspect:
      return kIsSuspect;
    case State::kWhole:
      return verdict.resumable == CheckpointVerdict::Resumable::kYes ? kIsOther : kIsNotResumable;
    default:
      return kIsOther;
  }
}

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
        if (cut < size && (!kShare || cut == size / 2)) damaged(kCut, path, content, content.substr(0, cut));
      for (size_t i = 0; i < kFlips; ++i) {
        if (kShare && i != kFlips / 2) continue;
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
    if (*sample_.before != '\0') exchange_each();
    return counts_;
  }

 private:
  static constexpr size_t kFlips = 9;

  /// mv a x; mv b a; mv x b. The two checkpoints have the times of two saves, and so have the files, or, in the end,
  /// the time of that in whose place each lies.
  void exchange_each() {
    const std::string before = cat("/ck/", sample_.before);
    date(before, kSavedBefore);
    good_ = verified(disk_, path_, true, nullptr, nullptr, before);
    CHECK(good_.state == State::kWhole);
    CHECK(verified(disk_, before, true, nullptr, nullptr, path_).state == State::kWhole);
    for (const ManifestFile& file : manifest_.files) {
      const std::string own = cat(path_, "/", file.path), other = cat(before, "/", file.path);
      if (!disk_.exists(other) || disk_.content(own) == disk_.content(other)) continue;
      const std::string content = disk_.content(own), theirs = disk_.content(other);
      for (const Damage damage : {kExchange, kExchangeAlike}) {
        put(own, theirs, damage == kExchange ? kSavedBefore : kSaved);
        put(other, content, damage == kExchange ? kSaved : kSavedBefore);
        judge(damage, cat(own, ": ", kDamageNames[damage]));
      }
      put(own, content, kSaved);
      put(other, theirs, kSavedBefore);
    }
    date(before, kSaved);
  }

  void put(const std::string& path, const std::string& content, Time at) {
    disk_.unlink(path);
    disk_.set_time(at);
    disk_.put(path, content);
    disk_.set_time(kSaved);
  }
  void date(const std::string& folder, Time at) {
    for (const std::string& path : disk_.paths())
      if (path.starts_with(folder + "/")) put(path, disk_.content(path), at);
  }

  bool found(const CheckpointVerdict& verdict) const {
    return verdict.state != State::kWhole || verdict.resumable != good_.resumable;
  }

  void judge(Damage damage, const std::string& what) {
    CAPTURE(what);
    Depth depth = kNever;
    const std::string beside = *sample_.before == '\0' ? "" : cat("/ck/", sample_.before);
    CheckpointVerdict verdict = verified(disk_, path_, false, nullptr, nullptr, beside);
    if (found(verdict)) {
      depth = kStructural;
    } else if (verdict = verified(disk_, path_, true, nullptr, nullptr, beside); found(verdict)) {
      depth = kDeep;
    } else if (verdict = verified(disk_, path_, true, &manifest_, &before_, beside); found(verdict)) {
      depth = kManifest;
    }
    ++counts_.by[damage][depth];
    const bool exchanged = damage == kExchange || damage == kExchangeAlike, swapped = damage == kSwap || exchanged;
    CHECK(depth != kNever);
    const Verdict is = kind_of(verdict);
    INFO(word_of(verdict.state));
    CHECK(is != kIsOther);
    // What is gone is missing, not contradictory; and no NaN comes from a file that is cut or not there.
    if (damage == kDrop || damage == kOnlyMetadata) CHECK((is == kIsPartial || is == kIsNotResumable));
    if (damage != kFlip && !swapped) CHECK(is != kIsSuspect);
    ++counts_.verdicts[damage][is];
  }

  void damaged(Damage damage, const std::string& path, const std::string& good, const std::string& bad) {
    disk_.set_time(damage == kSwap ? kCopied : kSaved);
    disk_.put(path, bad);
    disk_.set_time(kSaved);
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

/// "48 partial, 2 corrupt".
std::string verdict_row(const testing::Sample& sample, const Counts& counts) {
  std::string out = cat("| ", sample.layout, " |");
  for (const auto& verdicts : counts.verdicts) {
    std::string cell;
    for (size_t is = 0; is < kVerdicts; ++is) {
      if (verdicts[is] > 0) cell += cat(cell.empty() ? " " : ", ", verdicts[is], " ", kVerdictNames[is]);
    }
    out += cat(cell.empty() ? " –" : cell, " |");
  }
  return out + "\n";
}

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

/// Puts a table in the place of that which begins so.
void replace_table(std::string& page, const std::string& head, const std::string& table) {
  const size_t begin = page.find(head), end = page.find("\n\n", begin);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  page.replace(begin, end + 1 - begin, table);
}

TEST_CASE("every damage to every file of every sample is found, and docs/checkpoints.md says at which depth, and how") {
  FakeDisk disk;
  testing::put_samples(disk);
  std::string depths = "| sample |", verdicts = "| verdicts |";
  for (const char* name : kDamageNames) {
    depths += cat(" ", name, " |");
    verdicts += cat(" ", name, " |");
  }
  const std::string line = "\n|---|---|---|---|---|---|---|---|\n";
  depths += line;
  verdicts += line;
  for (const testing::Sample& sample : testing::samples()) {
    const Counts counts = Matrix(disk, sample).run();
    depths += row(sample, counts);
    verdicts += verdict_row(sample, counts);
  }
  if (kShare) return;
  const std::string path = MW_SOURCE_DIR "/docs/checkpoints.md";
  const auto read = [&path] {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  };
  std::string page = read();
  replace_table(page, "| sample |", depths);
  replace_table(page, "| verdicts |", verdicts);
  if (std::getenv("MIDWATCH_UPDATE_DOCS") != nullptr) std::ofstream(path) << page;
  CHECK_MESSAGE(read() == page, path << " is out of date: run MIDWATCH_UPDATE_DOCS=1 build/tests/test_damage");
}

}  // namespace
}  // namespace mw
