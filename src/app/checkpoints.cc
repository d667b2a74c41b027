#include "app/checkpoints.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "act/supervise/run_files.h"
#include "app/config/settings.h"
#include "app/pointer_notes.h"
#include "base/text.h"
#include "core/resume_advice.h"
#include "core/shipments.h"
#include "platform/paths.h"
#include "platform/real/posix_disk.h"
#include "platform/system.h"
#include "read/recorder.h"
#include "sense/checkpoints/deep_read.h"
#include "sense/checkpoints/find.h"
#include "sense/checkpoints/open_files.h"
#include "sense/checkpoints/quarantine.h"
#include "sense/checkpoints/recover_slot.h"
#include "sense/checkpoints/roots.h"
#include "sense/checkpoints/tensor_diff.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using Checkpoint = CheckpointsAnswer::Checkpoint;
using State = CheckpointVerdict::State;

constexpr size_t kOlder = 64;           // checkpoints beside a broken one that are looked at
constexpr std::ptrdiff_t kNearest = 2;  // checkpoints before and after one, with which times and samples are compared
constexpr std::string_view kStructural = "structural", kSuspect = "suspect", kCorrupt = "corrupt";

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

/// One way to write a path: what is remembered of a checkpoint is found by it.
std::string plain_path(const std::string& path) { return absolute_path(path, absolute_path(std::string("."))); }

/// Half of the processors, four at most: a training may go on beside it, and a disk gives no more.
int deep_threads() {
  const int all = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(all / 2, std::clamp(all, 1, 2), 4);
}

class Looking {
 public:
  Looking(Disk& disk, const CheckpointsRequest& request, Time now)
      : disk_(disk), request_(request), now_(now), home_(home_of(request.home)) {}

  Result<Checkpoint> look(const std::string& path, bool deep) {
    const auto began = std::chrono::steady_clock::now();
    const auto earlier = load_manifest(disk_, home_, path);
    std::vector<CheckpointManifest> others;
    if (deep) others = manifests_beside(disk_, home_, path);
    VerifyOptions options;
    options.deep = deep;
    options.threads = deep_threads();
    options.now = now_;
    options.earlier = earlier.ok() && mw::is_sound(*earlier) ? &*earlier : nullptr;
    for (const CheckpointManifest& other : others) options.others.push_back(&other);
    options.beside = nearest_in(beside(path), path, kNearest);
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
    note_pointers(disk_, out);
    const auto info = disk_.info(path);
    if (out.step == kNoStep && info.ok() && info->kind == FileInfo::Kind::kFile)
      out.step = step_of_file(basename(path));
    if (deep) remember(*verdict, earlier.ok() ? &*earlier : nullptr, out);
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return out;
  }

  /// The newest one before `broken`, beside it, from which its trainer could resume; else the newest whole one. What
  /// was looked at for the answer is not looked at again: it may have been read deeper, or be tainted. `newer`: the
  /// newest of all, if `broken` is an older one; nullptr: it is not.
  void find_older(const Checkpoint& broken, const Checkpoint* newer, CheckpointsAnswer& answer) {
    const std::string slot = recover_slot_of(disk_, broken.path);
    if (!slot.empty() && resumes_from_slot(slot, broken, answer)) return;
    // What lacks a file says nothing of what was saved after it; what was trained on NaN does.
    const bool of_itself = broken.state != kSuspect && !broken.tainted;
    if (newer != nullptr && of_itself && is_sound(*newer) && newer->resumable != "no") {
      if (offer({newer->path, newer->step}, *newer, answer)) return;
    }
    auto beside = checkpoints_beside(disk_, broken.path);
    if (beside.empty() && step_of_file(basename(broken.path)) != kNoStep) beside = files_beside(broken.path);
    const bool slot_is_broken = beside.empty();  // its exports are written by saves of their own
    if (slot_is_broken) beside = exports_of(disk_, broken.path);
    std::reverse(beside.begin(), beside.end());
    size_t looked = 0;
    for (const FoundCheckpoint& one : beside) {
      if (one.path == broken.path || (broken.step != kNoStep && one.step >= broken.step && !slot_is_broken)) continue;
      if (++looked > kOlder) return;
      const auto older = known_or_looked_at(one.path, answer);
      if (!older.ok() || !is_sound(*older)) continue;
      const bool resumable = older->resumable != "no";
      if (!resumable && !answer.resume_from.path.empty()) continue;
      if (offer(one, *older, answer) && resumable) return;
    }
  }

 private:
  /// As what to resume from. False: of a step that lies in several trees all of them must be sound, and one is not.
  bool offer(const FoundCheckpoint& found, const Checkpoint& one, CheckpointsAnswer& answer) {
    auto parts = parts_of(found);
    if (std::any_of(parts.begin(), parts.end(), [](const Checkpoint& part) { return part.state != "whole"; }))
      return false;
    answer.resume_from = one;
    answer.resume_with = std::move(parts);
    return true;
  }

  /// checkpoints_beside(), once for each folder: of a list of thousands each would look at all others.
  const std::vector<FoundCheckpoint>& beside(const std::string& path) {
    const auto [known, anew] = beside_.try_emplace(folder_of(path));
    if (anew) known->second = checkpoints_beside(disk_, cat(folder_of(path), "/step_0"));
    return known->second;
  }

  /// Of a checkpoint that is a file: those in its folder.
  std::vector<FoundCheckpoint> files_beside(const std::string& path) {
    const auto names = disk_.list(folder_of(path));
    return names.ok() ? checkpoint_files_in(disk_, folder_of(path), *names) : std::vector<FoundCheckpoint>();
  }

  Result<Checkpoint> known_or_looked_at(const std::string& path, const CheckpointsAnswer& answer) {
    const auto known = std::find_if(answer.checkpoints.begin(), answer.checkpoints.end(),
                                    [&path](const Checkpoint& one) { return one.path == path; });
    return known != answer.checkpoints.end() ? Result<Checkpoint>(*known) : look(path, false);
  }

  /// What was found when all of its bytes were read holds while nobody writes to it.
  static void recall(Checkpoint& out) {
    if (out.state != "whole" || (out.verified_state != kSuspect && out.verified_state != kCorrupt)) return;
    out.state = out.verified_state;
    out.problems.insert(out.problems.begin(), {"recorded", "content", "",
                                               cat("all of it was read at ", format_utc(out.verified_at), " and found ",
                                                   out.verified_state, ": --deep says why"),
                                               true});
    ++out.problems_in_all;
  }

  /// Nobody wrote to it since that was found.
  bool is_untouched(const CheckpointManifest& then) {
    return std::all_of(then.files.begin(), then.files.end(), [&](const ManifestFile& file) {
      const auto now = disk_.info(cat(then.path, "/", file.path));
      return now.ok() && now->changed == file.changed && now->size == file.bytes;
    });
  }

  static bool is_sound(const Checkpoint& one) {
    const bool not_sane = one.depth == kStructural &&  // by its numbers, or its checksums
                          (one.verified_state == kSuspect || one.verified_state == kCorrupt);
    return one.state == "whole" && !one.tainted && !not_sane;
  }

  /// AReaL resumes from its slot, whichever export is broken. After the onset of a trouble only an older one will do.
  bool resumes_from_slot(const std::string& slot, const Checkpoint& broken, CheckpointsAnswer& answer) {
    const auto looked = known_or_looked_at(slot, answer);
    if (!looked.ok() || !is_sound(*looked) || looked->resumable == "no") return false;
    if (broken.tainted && (looked->step == kNoStep || looked->step >= broken.step)) return false;
    answer.resume_from = *looked;
    return true;
  }

  /// What was saved with it into other trees of its run. Only trees whose names say what they are: folders beside each
  /// other may as well be of different runs.
  std::vector<Checkpoint> parts_of(const FoundCheckpoint& one) {
    const std::string tree = folder_of(one.path), above = folder_of(tree);
    std::vector<Checkpoint> out;
    if (!is_tree_name(basename(tree)) || one.step == kNoStep) return out;
    const auto names = disk_.list(above);
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
      // prime-rl's orchestrator saves below run_NAME.
      const std::string other =
          name.starts_with("run_") ? cat(above, "/", name, "/checkpoints") : cat(above, "/", name);
      if (other == tree || (!is_tree_name(name) && !name.starts_with("run_"))) continue;
      for (const FoundCheckpoint& part : checkpoints_beside(disk_, cat(other, "/", basename(one.path)))) {
        if (part.step != one.step) continue;
        if (auto looked = look(part.path, false); looked.ok()) out.push_back(std::move(*looked));
      }
    }
    return out;
  }

  /// What differs from an earlier manifest never replaces it.
  void remember(const CheckpointVerdict& verdict, const CheckpointManifest* earlier, Checkpoint& out) {
    if (!may_be_remembered(verdict, earlier)) return;
    const auto saved = save_manifest(disk_, home_, manifest_of(verdict, now_));
    if (saved.ok()) {
      out.manifest = manifest_path(home_, verdict.path);
    } else {
      out.notes.push_back(cat("its checksums could not be kept: ", saved.error().what));
    }
  }

  Disk& disk_;
  const CheckpointsRequest& request_;
  Time now_;
  std::string home_;
  std::map<std::string, std::vector<FoundCheckpoint>> beside_;  // by folder
  std::unique_ptr<System> system_ = make_posix_system();
};

void look_at_all(Looking& looking, const std::vector<FoundCheckpoint>& found, const CheckpointsRequest& request,
                 CheckpointsAnswer& answer) {
  for (const FoundCheckpoint& one : found) {
    auto checkpoint = looking.look(one.path, request.deep);
    if (!checkpoint.ok()) {  // it went meanwhile, or is not to be listed
      Checkpoint lost;
      lost.path = one.path;
      lost.step = one.step;
      lost.state = "unknown";
      lost.resumable = "unknown";
      lost.notes.push_back(checkpoint.error().what);
      answer.checkpoints.push_back(std::move(lost));
      continue;
    }
    answer.checkpoints.push_back(std::move(*checkpoint));
  }
}

/// Where to go back to from the newest that is not whole, or tainted.
void find_resume(Looking& looking, CheckpointsAnswer& answer) {
  answer.resume_from = {};
  answer.resume_with.clear();
  const Checkpoint* newer = nullptr;
  for (auto one = answer.checkpoints.rbegin(); one != answer.checkpoints.rend(); ++one) {
    const bool good = one->state == "whole" && !one->tainted;
    if (good && newer == nullptr) newer = &*one;
    if (good || one->state == "foreign") continue;
    return looking.find_older(*one, newer, answer);
  }
}

/// What a framework's pointer names, where a person asks for the pointer; else the path itself.
Result<std::string> named_by(Disk& disk, const std::string& asked) {
  if (asked.empty())
    return Error{Error::Code::kInvalid, "a path is empty", "Name a checkpoint, or a folder with some."};
  const std::string path = behind_link(disk, plain_path(asked));
  for (const CheckpointPointer& pointer : pointers_beside(disk, path)) {
    if (pointer.path != path) continue;
    const auto beside = checkpoints_beside(disk, cat(folder_of(path), "/step_", std::max<int64_t>(0, pointer.step)));
    for (const FoundCheckpoint& one : beside) {
      if (one.step == pointer.step) return one.path;
    }
    const std::string says = pointer.leads_nowhere  ? std::string("is a link that leads nowhere")
                             : pointer.text.empty() ? std::string("is empty")
                             : is_zeros(pointer)    ? std::string("holds nothing but zeros")
                                                    : cat("says \"", clip(pointer.text, 100), "\", which is not there");
    return Error{Error::Code::kNotFound, cat(path, " names no checkpoint: it ", says), "A resume by it finds nothing."};
  }
  return path;
}

Error not_there(Disk& disk, const std::string& path, const Error& error) {
  const auto beside = disk.list(folder_of(path));
  const bool named = beside.ok() && std::find(beside->begin(), beside->end(), basename(path)) != beside->end();
  if (error.code != Error::Code::kNotFound || !named) return error;
  return {Error::Code::kNotFound, cat(path, " is a link that leads nowhere"), "A resume by it finds nothing."};
}

Result<CheckpointsAnswer> looked_at(Disk& disk, Looking& looking, const CheckpointsRequest& request,
                                    const std::vector<std::string>& paths) {
  std::vector<FoundCheckpoint> all;
  std::set<std::string> seen;
  for (const std::string& path : paths) {
    const auto place = named_by(disk, path);
    if (!place.ok()) return place.error();
    const std::string slot = is_part_of_slot(*place) ? recover_slot_of(disk, *place) : "";
    auto found = slot.empty() ? find_checkpoints(disk, *place)
                              : Result<std::vector<FoundCheckpoint>>(std::vector<FoundCheckpoint>{{slot, kNoStep}});
    if (!found.ok()) return not_there(disk, *place, found.error());
    for (FoundCheckpoint& one : *found) {
      if (seen.insert(one.path).second) all.push_back(std::move(one));
    }
  }
  CheckpointsAnswer answer;
  look_at_all(looking, all, request, answer);
  return answer;
}

}  // namespace

Result<CheckpointsAnswer> checkpoints_at(Disk& disk, const CheckpointsRequest& request,
                                         const std::vector<std::string>& paths, Time now) {
  Looking looking(disk, request, now);
  auto answer = looked_at(disk, looking, request, paths);
  if (answer.ok()) find_resume(looking, *answer);
  return answer;
}

Result<CheckpointsAnswer> checkpoints_of_run(Disk& disk, const KnowledgeBase& knowledge, const std::string& run_folder,
                                             const CheckpointsRequest& request, Time now) {
  const auto state = read_recorded(disk, run_folder);
  if (!state.ok()) return state.error();
  const auto spec = load_run_spec(disk, run_folder);
  const auto config = spec.ok() && !spec->config.empty() ? load_config(disk, spec->config) : Config::parse("", "");
  const CheckpointLayout layout =
      knowledge.checkpoints_of(state->saver(), config.ok() ? config->text("checkpoints.pattern") : "");
  const auto roots =
      checkpoint_roots(disk, *state, layout, spec.ok() ? spec->checkpoints : std::vector<std::string>(),
                       spec.ok() ? spec->folder : "", spec.ok() ? spec->command : std::vector<std::string>());
  if (!roots.ok()) return roots.error();
  std::vector<std::string> paths;
  for (const std::string& root : *roots) {
    const auto steps = layout.names_files() ? checkpoint_steps(disk, root, layout)
                                            : Result<std::vector<int64_t>>(std::vector<int64_t>());
    for (const int64_t step : steps.ok() ? *steps : std::vector<int64_t>())
      paths.push_back(cat(root, "/", with_step(layout.folder, step)));
    if (!layout.names_files()) paths.push_back(root);
  }
  for (const auto& [moment, seen] : state->checkpoint_scans) {  // also of a trainer whose layout is not known
    if (disk.info(seen.path).ok()) paths.push_back(seen.path);
  }
  Looking looking(disk, request, now);
  auto answer = looked_at(disk, looking, request, paths);
  if (!answer.ok()) return answer;
  answer->run = basename(run_folder);
  const auto advice = resume_advice(*state);
  const bool ships = spec.ok() && !spec->store.empty();
  for (const Shipment& shipment : ships ? shipments(*state) : std::vector<Shipment>()) {
    for (Checkpoint& one : answer->checkpoints) {
      if (one.path != shipment.path) continue;
      one.shipped = word_of(shipment.how);
      one.shipped_at = shipment.at;
      one.store = spec->store;
    }
  }
  for (Checkpoint& one : answer->checkpoints) {
    const auto* const seen = one.step == kNoStep ? last_scan_of(*state, one.path) : nullptr;
    if (seen != nullptr) one.step = seen->second.step;  // as its log says
    one.tainted =
        advice && std::find(advice->suspect.begin(), advice->suspect.end(), one.step) != advice->suspect.end();
  }
  find_resume(looking, *answer);
  say_how_to_resume(knowledge, *answer);
  return answer;
}

Result<TensorsAnswer> tensors_of(Disk& disk, const std::string& before, const std::string& after,
                                 const std::function<void(int64_t, int64_t)>& progress) {
  auto diff = diff_tensors(disk, before, after, progress);
  if (!diff.ok()) return diff.error();
  TensorsAnswer out;
  out.paths[0] = before;
  out.paths[1] = after;
  out.unread = std::move(diff->unread);
  out.notes = std::move(diff->notes);
  for (const TensorDifference& one : diff->tensors) {
    TensorsAnswer::Tensor tensor;
    tensor.name = one.name;
    for (size_t side = 0; side < 2; ++side) {
      if (!one.there[side]) continue;
      tensor.dtype[side] = name_of(one.dtype[side]);
      for (const int64_t size : one.shape[side]) tensor.shape[side] += cat(tensor.shape[side].empty() ? "" : "x", size);
      if (tensor.shape[side].empty()) tensor.shape[side] = "1";
      tensor.norm[side] = one.figures[side].norm();
      tensor.not_finite[side] = one.figures[side].not_finite;
      out.not_finite[side] += one.figures[side].not_finite > 0 ? 1 : 0;
    }
    tensor.compared = one.compared;
    tensor.numbers = one.change.numbers;
    tensor.changed = one.change.changed;
    tensor.change = one.change.norm();
    tensor.largest = one.change.largest;
    const bool both = one.there[0] && one.there[1];
    if (!both) ++out.only[one.there[0] ? 0 : 1];
    if (both && !one.compared) ++out.reshaped;
    if (both && one.compared) ++(one.change.changed > 0 ? out.changed : out.same);
    out.tensors.push_back(std::move(tensor));
  }
  return out;
}

}  // namespace mw
