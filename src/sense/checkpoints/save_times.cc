#include "sense/checkpoints/save_times.h"

#include <algorithm>
#include <utility>

#include "core/event.h"
#include "sense/checkpoints/layouts/layout.h"

namespace mw {
namespace {

/// The files of one save are written within seconds to minutes; between two saves lies more than between two files.
constexpr Duration kApart = Duration::seconds(10);
constexpr Duration kLate = Duration::seconds(600);
constexpr size_t kFewest = 3;  // files, of which one can stand apart from the others

bool is_part(const TreeFile& file) {
  return (file.role == FileRole::kWeights || file.role == FileRole::kOptimizer || file.name().ends_with(".distcp")) &&
         file.changed.known() && !is_export(file.path);
}

std::vector<const TreeFile*> by_time(std::vector<const TreeFile*> files) {
  std::stable_sort(files.begin(), files.end(),
                   [](const TreeFile* a, const TreeFile* b) { return a->changed < b->changed; });
  return files;
}

/// A file is dated when its last byte is written, by a disk or network that does at least so much in a second.
constexpr double kSlowest = 20e6;
Duration pause_before(const TreeFile& file) {
  return {kApart.ns + Duration::seconds(static_cast<double>(file.bytes) / kSlowest).ns};
}

struct Span {
  size_t from = 0, to = 0;  ///< of the files in their order of time
};

/// Files without a longer pause between them than between two files of one save, as far as most of all are.
Span largest_cluster(const std::vector<const TreeFile*>& files) {
  Span best, now;
  for (size_t i = 0; i < files.size(); ++i) {
    if (i > 0 && files[i]->changed - files[i - 1]->changed > kApart) now.from = i;
    now.to = i + 1;
    if (now.to - now.from > best.to - best.from) best = now;
  }
  return best;
}

bool is_within(Time time, const std::vector<const TreeFile*>& files, Span span) {
  return span.to > span.from && time >= files[span.from]->changed && time <= files[span.to - 1]->changed;
}

}  // namespace

std::vector<StrangeTime> written_with_another(Disk& disk, const CheckpointTree& tree,
                                              const std::vector<std::string>& beside) {
  std::vector<StrangeTime> out;
  const auto own = by_time(parts_of(tree));
  const Span most = largest_cluster(own);
  if (own.size() < kFewest || 2 * (most.to - most.from) <= own.size() || most.to - most.from == own.size()) return out;
  for (const std::string& path : beside) {
    const auto other = CheckpointTree::read(disk, path);
    if (!other.ok() || other->root() == tree.root()) continue;
    const auto files = by_time(parts_of(*other));
    const Span span = largest_cluster(files);
    // Two saves whose times run into each other tell nothing apart.
    const bool apart = span.to > span.from && (files[span.to - 1]->changed < own[most.from]->changed ||
                                               own[most.to - 1]->changed < files[span.from]->changed);
    if (2 * (span.to - span.from) <= files.size() || !apart) continue;
    for (size_t i = 0; i < own.size(); ++i) {
      const bool in_own = i >= most.from && i < most.to;
      if (!in_own && is_within(own[i]->changed, files, span)) out.push_back({own[i]->path, path, own[i]->changed});
    }
  }
  return out;
}

std::vector<StrangeTime> states_of_another(Disk& disk, const CheckpointTree& tree,
                                           const std::map<std::string, Time>& outside,
                                           const std::vector<std::string>& beside) {
  std::vector<StrangeTime> out;
  const auto parts = by_time(parts_of(tree));
  if (parts.size() < 2) return out;
  const Time began = parts.front()->changed;
  std::vector<std::pair<std::string, Time>> early;
  const auto add = [&](const std::string& path, Time written) {
    if (written.known() && began - written > kApart) early.emplace_back(path, written);
  };
  for (const TreeFile& file : tree.files()) {
    const bool state =
        file.role == FileRole::kSettings && (file.name().ends_with(".pt") || file.name().ends_with(".pkl"));
    // prime-rl's orchestrator is steps ahead of its trainer, and says of which step it is.
    if (state && file.name() != "progress.pt" && !is_export(file.path)) add(file.path, file.changed);
  }
  for (const auto& [path, written] : outside) add(path, written);
  for (const std::string& path : early.empty() ? std::vector<std::string>() : beside) {
    const auto other = CheckpointTree::read(disk, path);
    if (!other.ok() || other->root() == tree.root()) continue;
    const auto theirs = by_time(parts_of(*other));
    if (theirs.empty() || began - theirs.back()->changed <= kApart) continue;
    for (const auto& [file, written] : early) {
      if (theirs.front()->changed - written <= kApart && written - theirs.back()->changed <= kApart)
        out.push_back({file, path, written});
    }
  }
  return out;
}

std::vector<const TreeFile*> parts_of(const CheckpointTree& tree) {
  std::vector<const TreeFile*> out;
  for (const TreeFile& file : tree.files()) {
    if (is_part(file)) out.push_back(&file);
  }
  return out;
}

SaveTime save_time_of(const CheckpointTree& tree) {
  std::vector<const TreeFile*> files;
  for (const TreeFile& file : tree.files()) {
    if (file.changed.known() && !is_export(file.path)) files.push_back(&file);
  }
  files = by_time(std::move(files));
  Span best, now;
  for (size_t i = 0; i < files.size(); ++i) {
    if (i > 0 && files[i]->changed - files[i - 1]->changed > pause_before(*files[i])) now.from = i;
    now.to = i + 1;
    if (now.to - now.from > best.to - best.from) best = now;
  }
  if (files.size() < kFewest || 2 * (best.to - best.from) <= files.size()) return {};
  return {files[best.from]->changed, files[best.to - 1]->changed, true};
}

bool written_apart(const TreeFile& file, const SaveTime& save) {
  if (!save.known || !file.changed.known()) return false;
  return file.changed - save.to > pause_before(file) || save.from - file.changed > kApart;
}

namespace {

/// So long that times which a download in any order gave do not look like those of two saves.
Duration saves_apart(const CheckpointTree& one, const CheckpointTree& other) {
  constexpr size_t kFew = 5;
  return Duration::seconds(std::min(one.files().size(), other.files().size()) < kFew ? 600 : 60);
}

}  // namespace

std::vector<StrangeTime> exchanged_by_time(Disk& disk, const CheckpointTree& tree,
                                           const std::vector<std::string>& beside) {
  std::vector<StrangeTime> out;
  const SaveTime save = save_time_of(tree);
  const int64_t step = step_of_name(tree.own_name());
  std::vector<const TreeFile*> apart;
  for (const TreeFile& file : tree.files()) {
    if (!is_export(file.path) && written_apart(file, save)) apart.push_back(&file);
  }
  if (apart.empty() || step == kNoStep) return out;
  for (const std::string& path : beside) {
    const auto other = CheckpointTree::read(disk, path);
    if (!other.ok() || other->root() == tree.root()) continue;
    const SaveTime there = save_time_of(*other);
    const int64_t its = step_of_name(other->own_name());
    const Duration between = its < step ? save.from - there.to : there.from - save.to;
    if (!there.known || its == kNoStep || its == step || between < saves_apart(tree, *other)) continue;
    for (const TreeFile* const file : apart) {
      const TreeFile* const twin = other->find(file->path);
      if (twin == nullptr || !written_apart(*twin, there)) continue;
      if (!written_apart(*file, there) && !written_apart(*twin, save)) out.push_back({file->path, path, file->changed});
    }
  }
  return out;
}

LateFile written_late(const CheckpointTree& tree) {
  const auto parts = by_time(parts_of(tree));
  if (parts.size() < kFewest) return {};
  const TreeFile& last = *parts.back();
  Time before;
  for (const TreeFile& file : tree.files()) {
    if (&file != &last && file.changed > before) before = file.changed;
  }
  const Duration after = last.changed - before;
  if (!before.known() || after.ns <= kLate.ns + pause_before(last).ns) return {};
  return {last.path, last.changed, after};
}

}  // namespace mw
