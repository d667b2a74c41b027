#include "app/checkpoint_survey.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "act/supervise/run_files.h"
#include "base/text.h"
#include "core/checkpoint_layout.h"
#include "platform/paths.h"
#include "platform/real/posix_disk.h"
#include "sense/checkpoints/deep_read.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/open_files.h"
#include "sense/checkpoints/recover_slot.h"

namespace mw {
namespace {

using Checkpoint = CheckpointsAnswer::Checkpoint;

constexpr size_t kBeside = 64;          // checkpoints beside one that is not to be resumed from that are looked at
constexpr std::ptrdiff_t kNearest = 2;  // checkpoints before and after one, with which times and samples are compared
constexpr std::string_view kStructural = "structural", kSuspect = "suspect", kCorrupt = "corrupt";

/// As writers call what they have not finished: step_40.tmp, tmp_step_40, .staging-40.
bool is_name_for_a_time(std::string_view name) {
  constexpr std::array<std::string_view, 3> kWords = {"tmp", "incomplete", "staging"};
  return name.find_first_of("0123456789") != std::string_view::npos &&
         std::any_of(kWords.begin(), kWords.end(), [name](std::string_view word) { return contains(name, word); });
}

std::vector<std::string> words_of(const std::vector<Piece>& pieces) {
  std::vector<std::string> out;
  out.reserve(pieces.size());
  for (const Piece piece : pieces) out.emplace_back(word_of(piece));
  return out;
}

Checkpoint answer_of(const CheckpointVerdict& verdict, bool deep) {
  constexpr const char* kResumable[] = {"yes", "no", "unknown"};
  Checkpoint out;
  out.path = verdict.path;
  out.state = word_of(verdict.state);
  out.resumable = kResumable[static_cast<size_t>(verdict.resumable)];
  const bool counted = verdict.framework == "accelerate" && counts_saves(verdict.path);
  out.step = counted ? kNoStep : verdict.step;
  out.framework = verdict.framework;
  out.layouts = verdict.layouts;
  out.depth = word_of(verdict.depth);
  for (const CheckpointProblem& problem : verdict.problems) {
    out.problems.push_back({std::string(word_of(problem.trouble)), std::string(word_of(problem.depth)), problem.path,
                            problem.what, problem.breaks});
  }
  out.problems_in_all = verdict.problems_in_all;
  out.notes = verdict.notes;
  out.there = words_of(verdict.pieces);
  out.lacks = words_of(verdict.lacks);
  out.files = static_cast<int64_t>(verdict.files);
  out.bytes = verdict.bytes;
  out.newest = verdict.newest;
  out.compared = verdict.compared;
  out.beside = verdict.beside;
  out.counted = {static_cast<int64_t>(verdict.counted.files), verdict.counted.steps};
  if (deep) {
    const TensorFigures& all = verdict.deep.all;
    out.deep = {verdict.deep.bytes, verdict.deep.tensors,       all.numbers, all.not_finite, verdict.deep.zero,
                all.norm(),         verdict.deep.unjudged_bytes};
  }
  return out;
}

/// What was found when all of its bytes were read holds while nobody writes to it.
void recall(Checkpoint& out) {
  if (out.state != "whole" || (out.verified_state != kSuspect && out.verified_state != kCorrupt)) return;
  out.state = out.verified_state;
  out.problems.insert(out.problems.begin(), {"recorded", "content", "",
                                             cat("all of it was read at ", format_utc(out.verified_at), " and found ",
                                                 out.verified_state, ": --deep says why"),
                                             true});
  ++out.problems_in_all;
}

bool is_sound(const Checkpoint& one) {
  const bool not_sane = one.depth == kStructural &&  // by its numbers, or its checksums
                        (one.verified_state == kSuspect || one.verified_state == kCorrupt);
  return one.state == "whole" && !one.tainted && !not_sane;
}

}  // namespace

int survey_threads() {
  const int all = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(all / 2, std::clamp(all, 1, 2), 4);
}

std::string plain_path(const std::string& path) { return absolute_path(path, absolute_path(std::string("."))); }

CheckpointSurvey::CheckpointSurvey(Disk& disk, const CheckpointsRequest& request, Time now)
    : disk_(disk), request_(request), now_(now), home_(home_of(request.home)) {}

Result<Checkpoint> CheckpointSurvey::look(const std::string& path, bool deep) {
  const auto began = std::chrono::steady_clock::now();
  const auto earlier = load_manifest(disk_, home_, path);
  std::vector<CheckpointManifest> others;
  if (deep) others = manifests_beside(disk_, home_, path);
  VerifyOptions options;
  options.deep = deep;
  options.threads = survey_threads();
  options.now = now_;
  options.earlier = earlier.ok() && mw::is_sound(*earlier) ? &*earlier : nullptr;
  for (const CheckpointManifest& other : others) options.others.push_back(&other);
  const std::vector<FoundCheckpoint>& all = neighbours(folder_of(path)).checkpoints;
  options.beside = nearest_in(all, path, kNearest);
  if (!all.empty()) options.newest = all.back().path;
  options.writer = [this](const std::string& place) { return writer_of(*system_, place); };
  if (request_.progress) {
    options.progress = [this, &path](int64_t done, int64_t all) {
      request_.progress(path, done, all);
      return true;
    };
  }
  const auto verdict = verify_checkpoint(disk_, path, options);
  if (!verdict.ok()) return verdict.error();
  Checkpoint out = answer_of(*verdict, deep);
  if (earlier.ok() && (earlier->verdict == "whole" || is_untouched(*earlier))) {
    out.verified_at = earlier->at;
    out.verified_state = earlier->verdict;
  }
  if (!deep) recall(out);
  note_beside(out);
  const auto info = disk_.info(path);
  if (out.step == kNoStep && info.ok() && info->kind == FileInfo::Kind::kFile) out.step = step_of_file(basename(path));
  if (deep) remember(*verdict, earlier.ok() ? &*earlier : nullptr, out);
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return out;
}

void CheckpointSurvey::note_beside(Checkpoint& out) {
  const std::string folder = folder_of(out.path);
  note_pointers(disk_, neighbours(folder), out);
  const std::string other = other_role_of(basename(folder));
  if (!other.empty()) note_other_role(neighbours(folder), neighbours(cat(folder_of(folder), "/", other)), now_, out);
}

/// Of a list of thousands each would look at all others.
const CheckpointNeighbours& CheckpointSurvey::neighbours(const std::string& folder) {
  const auto [known, anew] = neighbours_.try_emplace(folder);
  if (anew) known->second = neighbours_in(disk_, folder);
  return known->second;
}

void CheckpointSurvey::find_resume(CheckpointsAnswer& answer) {
  answer.resume_from = {};
  answer.resume_with.clear();
  find_whole(answer);
  note_renamed(answer);
}

/// NeMo-RL was killed between the two renames with which a save takes the place of one of the same step: a later whole
/// one lies under the name of what was to go.
void CheckpointSurvey::note_renamed(CheckpointsAnswer& answer) {
  Checkpoint& back = answer.resume_from;
  if (back.path.empty() || back.step == kNoStep) return;
  const std::string folder = folder_of(back.path);
  for (const FoundCheckpoint& one : neighbours(folder).checkpoints) {
    const auto step = step_in("old_step_{step}", basename(one.path));
    const std::string name = cat("step_", step.value_or(0));
    if (!step || *step <= back.step || disk_.info(cat(folder, "/", name)).ok()) continue;
    const auto old = known_or_looked_at(one.path, answer);
    const bool only_named = old.ok() && std::all_of(old->lacks.begin(), old->lacks.end(), [](const std::string& lack) {
                              return lack == word_of(Piece::kStep);
                            });
    if (!only_named || !is_sound(*old)) continue;
    back.notes.push_back(cat("Step ", *step, " is whole, too, in ", one.path,
                             ", where a save that was killed had put it. It comes back by: mv ", one.path, " ", folder,
                             "/", name));
  }
}

void CheckpointSurvey::find_whole(CheckpointsAnswer& answer) {
  const Checkpoint* newer = nullptr;
  for (auto one = answer.checkpoints.rbegin(); one != answer.checkpoints.rend(); ++one) {
    const bool good = one->state == "whole" && !one->tainted;
    if (good && find_resumable(*one, answer)) return;
    if (good && newer == nullptr) newer = &*one;
    if (good || one->state == "foreign") continue;
    find_other(*one, newer, answer);
    return prefer_resumable(answer);
  }
}

/// Beside an export that is broken, or being written, lie exports. All that is listed of a run is its own: the newest
/// one from which its trainer resumes is elsewhere.
void CheckpointSurvey::prefer_resumable(CheckpointsAnswer& answer) {
  if (answer.run.empty() || answer.resume_from.path.empty() || answer.resume_from.resumable != "no") return;
  const Checkpoint* newest = nullptr;
  for (const Checkpoint& one : answer.checkpoints) {
    if (!is_sound(one) || one.resumable != "yes" || one.step == kNoStep) continue;
    if (newest == nullptr || one.step > newest->step) newest = &one;
  }
  if (newest != nullptr) offer({newest->path, newest->step}, Checkpoint(*newest), answer);
}

/// Of the newest in its folder, from which no resume goes on with all that was saved: one before it that has all.
bool CheckpointSurvey::find_resumable(Checkpoint& newest, CheckpointsAnswer& answer) {
  const auto& beside = neighbours(folder_of(newest.path)).checkpoints;
  if (newest.resumable != "no" || newest.lacks.empty() || beside.empty() || beside.back().path != newest.path)
    return false;
  size_t looked = 0;
  for (auto one = beside.rbegin() + 1; one != beside.rend() && ++looked <= kBeside; ++one) {
    const auto older = known_or_looked_at(one->path, answer);
    if (!older.ok() || !is_sound(*older) || older->resumable != "yes" || older->framework != newest.framework) continue;
    if (!offer(*one, *older, answer)) continue;
    newest.unresumable = true;
    if (newest.lacks.back() != kOtherRole)
      newest.notes.push_back(cat(newest.lacks.front() == word_of(Piece::kPointer)
                                     ? "a resume from it fails"
                                     : cat("a resume from it begins the ", newest.lacks.front(), " anew, or fails"),
                                 ": step ", one->step, " has all that a resume needs"));
    return true;
  }
  return false;
}

/// The newest one beside `broken` from which its trainer could resume; else the newest whole one. What was looked at
/// for the answer is not looked at again: it may have been read deeper, or be tainted. `newer`: the newest of all, if
/// `broken` is an older one; nullptr: it is not.
void CheckpointSurvey::find_other(const Checkpoint& broken, const Checkpoint* newer, CheckpointsAnswer& answer) {
  const std::string slot = recover_slot_of(disk_, broken.path);
  if (!slot.empty() && resumes_from_slot(slot, broken, answer)) return;
  // What lacks a file says nothing of what was saved after it; what was trained on NaN does.
  const bool of_itself = broken.state != kSuspect && !broken.tainted;
  bool exports = false;
  auto beside = siblings(broken, &exports);
  std::reverse(beside.begin(), beside.end());
  size_t looked = 0;
  for (const FoundCheckpoint& one : beside) {
    const bool later = broken.step != kNoStep && one.step >= broken.step && !exports;
    if (one.path == broken.path || (later && !of_itself)) continue;
    if (++looked > kBeside) return;
    const auto other = known_or_looked_at(one.path, answer);
    if (!other.ok() || !is_sound(*other)) continue;
    const bool resumable = other->resumable != "no";
    if (!resumable && !answer.resume_from.path.empty()) continue;
    if (offer(one, *other, answer) && resumable) return;
  }
  const bool beside_it = newer != nullptr && folder_of(newer->path) == folder_of(broken.path);
  if (answer.resume_from.path.empty() && beside_it && of_itself && is_sound(*newer) && newer->resumable != "no")
    offer({newer->path, newer->step}, *newer, answer);
}

/// `exports`: they are a trial's exports, each written by a save of its own.
std::vector<FoundCheckpoint> CheckpointSurvey::siblings(const Checkpoint& broken, bool* exports) {
  std::vector<FoundCheckpoint> beside;
  if (step_of_name(basename(broken.path)) != kNoStep) beside = neighbours(folder_of(broken.path)).checkpoints;
  if (beside.empty() && (step_of_file(basename(broken.path)) != kNoStep || broken.path.ends_with(".ckpt"))) {
    // Of a checkpoint that is a file: those in its folder.
    const std::string folder = folder_of(broken.path);
    const auto names = disk_.list(folder);
    if (names.ok()) beside = checkpoint_files_in(disk_, folder, *names);
  }
  // A save that was never given its name, or a part of one.
  for (const std::string& unnamed : {broken.path, folder_of(broken.path)}) {
    if (beside.empty() && is_name_for_a_time(basename(unnamed))) beside = neighbours(folder_of(unnamed)).checkpoints;
  }
  *exports = beside.empty();
  return *exports ? exports_of(disk_, broken.path) : beside;
}

/// As what to resume from. False: of a step that lies in several trees all of them must be sound, and one is not.
bool CheckpointSurvey::offer(const FoundCheckpoint& found, const Checkpoint& one, CheckpointsAnswer& answer) {
  auto parts = parts_of(found);
  if (std::any_of(parts.begin(), parts.end(), [](const Checkpoint& part) { return part.state != "whole"; }))
    return false;
  answer.resume_from = one;
  answer.resume_with = std::move(parts);
  return true;
}

Result<Checkpoint> CheckpointSurvey::known_or_looked_at(const std::string& path, const CheckpointsAnswer& answer) {
  const auto known = std::find_if(answer.checkpoints.begin(), answer.checkpoints.end(),
                                  [&path](const Checkpoint& one) { return one.path == path; });
  return known != answer.checkpoints.end() ? Result<Checkpoint>(*known) : look(path, false);
}

/// Nobody wrote to it since that was found.
bool CheckpointSurvey::is_untouched(const CheckpointManifest& then) {
  return std::all_of(then.files.begin(), then.files.end(), [&](const ManifestFile& file) {
    const auto now = disk_.info(cat(then.path, "/", file.path));
    return now.ok() && now->changed == file.changed && now->size == file.bytes;
  });
}

/// AReaL resumes from its slot, whichever export is broken. After the onset of a trouble only an older one will do.
bool CheckpointSurvey::resumes_from_slot(const std::string& slot, const Checkpoint& broken, CheckpointsAnswer& answer) {
  const auto looked = known_or_looked_at(slot, answer);
  if (!looked.ok() || !is_sound(*looked) || looked->resumable == "no") return false;
  if (broken.tainted && (looked->step == kNoStep || looked->step >= broken.step)) return false;
  answer.resume_from = *looked;
  return true;
}

/// What was saved with it into other trees of its run. Only trees whose names say what they are: folders beside each
/// other may as well be of different runs.
std::vector<Checkpoint> CheckpointSurvey::parts_of(const FoundCheckpoint& one) {
  const std::string tree = folder_of(one.path), above = folder_of(tree);
  std::vector<Checkpoint> out;
  if (!is_tree_name(basename(tree)) || one.step == kNoStep) return out;
  const auto names = disk_.list(above);
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    // prime-rl's orchestrator saves below run_NAME.
    const std::string other = name.starts_with("run_") ? cat(above, "/", name, "/checkpoints") : cat(above, "/", name);
    if (other == tree || (!is_tree_name(name) && !name.starts_with("run_"))) continue;
    for (const FoundCheckpoint& part : checkpoints_beside(disk_, cat(other, "/", basename(one.path)))) {
      if (part.step != one.step) continue;
      if (auto looked = look(part.path, false); looked.ok()) out.push_back(std::move(*looked));
    }
  }
  return out;
}

/// What differs from an earlier manifest never replaces it.
void CheckpointSurvey::remember(const CheckpointVerdict& verdict, const CheckpointManifest* earlier, Checkpoint& out) {
  if (!may_be_remembered(verdict, earlier)) return;
  const auto saved = save_manifest(disk_, home_, manifest_of(verdict, now_));
  if (saved.ok()) {
    out.manifest = manifest_path(home_, verdict.path);
  } else {
    out.notes.push_back(cat("its checksums could not be kept: ", saved.error().what));
  }
}

}  // namespace mw
