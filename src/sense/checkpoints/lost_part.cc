#include "sense/checkpoints/lost_part.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "sense/checkpoints/deep_read.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/lost_rank_file.h"

namespace mw {
namespace {

constexpr std::ptrdiff_t kNearest = 2;  // of each side, where nobody said which
constexpr size_t kNames = 4096;         // of one checkpoint beside this one
constexpr size_t kNoted = 3;

/// What a trainer loads if it trains one, and stops without.
struct Part {
  std::string_view framework, path, why;
  std::optional<Piece> piece;  ///< what it lacks for a resume
  bool small = false;          ///< without it the weights and the optimizer are all there
};
/// DeepSpeed may keep the scheduler itself, and a script of accelerate's may have none.
constexpr std::array<Part, 5> kParts = {
    {{"verl", "critic", "with a critic verl cannot resume from it", Piece::kCritic},
     {"skyrl", "critic", "with a critic SkyRL cannot resume from it", Piece::kCritic},
     {"skyrl", "fully_async_state.pt", "asynchronous training cannot resume from it", std::nullopt},
     {"transformers", "scheduler.pt", "transformers cannot resume from it", Piece::kScheduler, true},
     {"accelerate", "scheduler.bin", "accelerate cannot resume from it", Piece::kScheduler, true}}};

/// The nearest first.
struct Sides {
  std::vector<std::string> older, newer;
};

Sides sides_of(const std::vector<std::string>& beside, int64_t own) {
  Sides out;
  for (const std::string& one : beside) {
    const int64_t step = step_of_name(basename(one));
    if (step != kNoStep && step != own) (step < own ? out.older : out.newer).push_back(one);
  }
  return out;
}

/// That of which the trainer deletes the critics early may lie far behind the last one that has any.
void add_newest(Disk& disk, const std::string& own, const std::string& known, Sides& sides) {
  if (!known.empty()) {
    if (step_of_name(basename(known)) > step_of_name(basename(own))) sides.newer.push_back(known);
    return;
  }
  const auto names = disk.list(folder_of(own));
  int64_t last = step_of_name(basename(own));
  std::string newest;
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    if (const int64_t step = step_of_name(name); step > last) {
      last = step;
      newest = name;
    }
  }
  if (!newest.empty()) sides.newer.push_back(cat(folder_of(own), "/", newest));
}

/// An empty folder is none.
bool has_part(Disk& disk, const std::string& checkpoint, std::string_view part) {
  const std::string path = cat(checkpoint, "/", part);
  const auto info = disk.info(path);
  if (!info.ok() || info->kind == FileInfo::Kind::kFile) return info.ok() && info->size > 0;
  const auto names = disk.list(path);
  return names.ok() && !names->empty();
}

/// Of those nearest to it on each side, all have it.
void look_for_small(Examination& exam, const Sides& sides, const Part& part) {
  std::string_view other;
  for (const auto* const side : {&sides.newer, &sides.older}) {
    if (side->empty()) continue;
    if (!has_part(exam.disk(), side->front(), part.path)) return;  // the run goes on without, or began without
    other = basename(side->front());
  }
  if (other.empty()) return;
  exam.lacks(*part.piece);
  exam.note(cat(part.path, ": it is missing, and ", other, " has it: ", part.why));
}

void look_for(Examination& exam, const Sides& sides, const Part& part) {
  if (part.small) return look_for_small(exam, sides, part);
  const auto has = [&](const std::string& one) { return has_part(exam.disk(), one, part.path); };
  const bool older = !sides.older.empty() && has(sides.older.front());
  const auto newer = std::find_if(sides.newer.begin(), sides.newer.end(), has);
  const bool later = newer != sides.newer.end();
  if (!older && !later) return;
  const std::string_view other = basename(older ? sides.older.front() : *newer);
  if (older && (later || sides.newer.empty()))
    return exam.problem(Trouble::kMissing, std::string(part.path),
                        cat("it is missing, and ", other, " has it: ", part.why));
  if (later && part.piece) exam.lacks(*part.piece);
  exam.note(cat(part.path, " is not in it, and is in ", other, ": ", part.why));
}

/// Megatron's folders of ranks (mp_rank_00) by the folder that holds them, and the files in them.
std::map<std::string, std::set<std::string>> rank_folders(const CheckpointTree& tree) {
  std::map<std::string, std::set<std::string>> out;
  for (const auto& [folder, files] : tree.folders()) {
    if (basename(folder).starts_with("mp_rank_")) out[std::string(folder_in_tree(folder))].emplace(basename(folder));
  }
  return out;
}

/// Its arguments may not say how many ranks there are. The one before it, or after it, has the same ones and more, and
/// what both have is as large: with fewer ranks each would hold more.
void look_for_lost_ranks(Examination& exam, const std::string& other) {
  constexpr double kAlike = 0.02;
  if (other.empty()) return;
  for (const auto& [folder, ranks] : rank_folders(exam.tree())) {
    const std::string there = cat(other, folder.empty() ? "" : "/", folder);
    const auto names = exam.disk().list(there);
    std::set<std::string> others;
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
      if (name.starts_with("mp_rank_")) others.insert(name);
    }
    if (others.size() <= ranks.size() || !std::includes(others.begin(), others.end(), ranks.begin(), ranks.end()))
      continue;
    const auto alike = [&, &holder = folder](const TreeFile& file) {
      const std::string_view in = folder_in_tree(file.path);
      if (!basename(in).starts_with("mp_rank_") || folder_in_tree(in) != holder) return true;
      const auto info = exam.disk().info(cat(other, "/", file.path));
      if (!info.ok()) return false;
      const auto a = static_cast<double>(file.bytes), b = static_cast<double>(info->size);
      return std::abs(a - b) <= kAlike * std::max(a, b);
    };
    if (!std::all_of(exam.tree().files().begin(), exam.tree().files().end(), alike)) continue;
    for (const std::string& name : others) {
      const std::string path = in_folder(folder, name);
      const auto known = [&path](const CheckpointProblem& one) { return one.path.starts_with(path); };
      if (ranks.count(name) != 0 || std::any_of(exam.problems().begin(), exam.problems().end(), known)) continue;
      exam.problem(Trouble::kMissing, path,
                   cat("it is missing, and ", basename(other), " has it, with files of the same size for the others"));
    }
  }
}

/// Two levels of names, with '#' for each number, and as they are.
using Names = std::map<std::string, std::string, std::less<>>;

void add_name(Names& names, const std::string& path) {
  if (!is_no_part(basename(path)) && !is_export(cat(path, "/"))) names.emplace(family_of(path), path);
}

/// Nothing where there are too many.
Names names_in(Disk& disk, const std::string& checkpoint) {
  Names out;
  size_t listed = 0;
  const auto top = disk.list(checkpoint);
  for (const std::string& name : top.ok() ? *top : std::vector<std::string>()) {
    if (++listed > kNames) return {};
    if (name.starts_with(".midwatch")) continue;
    add_name(out, name);
    const std::string folder = cat(checkpoint, "/", name);
    const auto info = disk.info(folder);
    if (!info.ok() || info->kind != FileInfo::Kind::kFolder || is_export(cat(name, "/"))) continue;
    const auto below = disk.list(folder);
    for (const std::string& file : below.ok() ? *below : std::vector<std::string>()) {
      if (++listed > kNames) return {};
      add_name(out, cat(name, "/", file));
    }
  }
  return out;
}

Names names_in(const CheckpointTree& tree) {
  Names out;
  for (const TreeFile& file : tree.files()) {
    const size_t first = file.path.find('/');
    add_name(out, file.path.substr(0, first));
    if (first != std::string::npos) add_name(out, file.path.substr(0, file.path.find('/', first + 1)));
  }
  return out;
}

/// Of the newest: what both before it have.
void note_absent(Examination& exam, const Sides& sides) {
  if (!sides.newer.empty() || sides.older.size() < 2 || exam.broken()) return;
  const Names nearest = names_in(exam.disk(), sides.older[0]), further = names_in(exam.disk(), sides.older[1]);
  const Names own = names_in(exam.tree());
  size_t noted = 0;
  for (const auto& [family, path] : nearest) {
    const std::string_view folder = folder_in_tree(family);
    const bool within = !folder.empty() && own.count(folder) == 0;  // that is said of the folder
    const auto is_said = [begin = cat(path, ": ")](const std::string& note) { return note.starts_with(begin); };
    const bool said = std::any_of(exam.notes().begin(), exam.notes().end(), is_said);
    if (within || said || own.count(family) != 0 || further.count(family) == 0 || ++noted > kNoted) continue;
    exam.note(cat(path, " is not in it, and is in ", basename(sides.older[0]), " and ", basename(sides.older[1]),
                  ": it was lost, or the settings were changed"));
  }
}

}  // namespace

void look_for_lost_parts(Examination& exam, const std::vector<std::string>& beside, const std::string& before,
                         const std::string& newest) {
  const CheckpointTree& tree = exam.tree();
  const int64_t own = step_of_name(tree.own_name());
  if (tree.single_file() || own == kNoStep || !tree.seen_whole()) return;
  Sides sides = sides_of(beside, own);
  for (const std::string& other : {sides.older.empty() ? before : sides.older.front(),
                                   sides.newer.empty() ? std::string() : sides.newer.front()}) {
    look_for_lost_ranks(exam, other);
    look_for_lost_rank_files(exam, other);
  }
  for (const Part& part : kParts) {
    if (exam.framework() != part.framework || tree.has(part.path) || tree.has_folder(part.path)) continue;
    if (part.small && exam.pieces().count(Piece::kOptimizer) == 0) continue;  // no save to resume from
    if (beside.empty() && (before.empty() || !has_part(exam.disk(), before, part.path))) continue;
    if (beside.empty()) sides = sides_of(nearest_beside(exam.disk(), tree.root(), kNearest), own);
    if (!sides.newer.empty()) add_newest(exam.disk(), tree.root(), newest, sides);
    look_for(exam, sides, part);
  }
  if (!beside.empty()) note_absent(exam, sides);
}

}  // namespace mw
