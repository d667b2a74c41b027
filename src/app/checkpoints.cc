#include "app/checkpoints.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>

#include "act/supervise/run_files.h"
#include "app/checkpoint_survey.h"
#include "app/config/settings.h"
#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "core/resume_advice.h"
#include "core/shipments.h"
#include "read/recorder.h"
#include "sense/checkpoints/find.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/quarantine.h"
#include "sense/checkpoints/recover_slot.h"
#include "sense/checkpoints/roots.h"
#include "sense/checkpoints/tensor_diff.h"

namespace mw {
namespace {

using Checkpoint = CheckpointsAnswer::Checkpoint;

constexpr size_t kManyLooks = 64;  // checkpoints, from which on several threads look at them

Checkpoint looked_at(CheckpointSurvey& survey, const FoundCheckpoint& one) {
  auto checkpoint = survey.look(one.path);
  if (checkpoint.ok()) return std::move(*checkpoint);
  Checkpoint lost;  // it went meanwhile, or is not to be listed
  lost.path = one.path;
  lost.step = one.step;
  lost.state = "unknown";
  lost.resumable = "unknown";
  lost.notes.push_back(checkpoint.error().what);
  return lost;
}

/// Each by itself; what is found is the same, and in the same order, however many look.
void look_at_all(Disk& disk, CheckpointSurvey& survey, const CheckpointsRequest& request, Time now,
                 const std::vector<FoundCheckpoint>& found, CheckpointsAnswer& answer) {
  std::vector<Checkpoint>& out = answer.checkpoints;
  out.resize(found.size());
  std::mutex counting;
  size_t next = 0;
  const auto work = [&](CheckpointSurvey& own) {
    for (;;) {
      size_t mine = 0;
      {
        const std::lock_guard<std::mutex> lock(counting);
        if (next == found.size()) return;
        mine = next++;
        if (request.counted) request.counted(mine, found.size());
      }
      out[mine] = looked_at(own, found[mine]);
    }
  };
  const int threads =
      request.deep || found.size() < kManyLooks ? 1 : survey_threads();  // a deep one has threads itself
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) {
    others.emplace_back([&] {
      CheckpointSurvey own(disk, request, now);
      work(own);
    });
  }
  work(survey);
  for (std::thread& other : others) other.join();
}

/// What a framework's pointer names, where a person asks for the pointer; else the path itself.
Result<std::string> named_by(Disk& disk, const std::string& asked) {
  if (asked.empty())
    return Error{Error::Code::kInvalid, "a path is empty", "Name a checkpoint, or a folder with some."};
  const std::string path = behind_link(disk, plain_path(asked));
  if (step_of_name(basename(path)) != kNoStep) return path;  // no pointer; a run's may be thousands
  for (const CheckpointPointer& pointer : pointers_beside(disk, path)) {
    if (pointer.path != path) continue;
    const auto beside = checkpoints_beside(disk, cat(folder_of(path), "/step_", std::max<int64_t>(0, pointer.step)));
    for (const FoundCheckpoint& one : beside) {
      if (one.step == pointer.step) return one.path;
    }
    const std::string says = pointer.leads_nowhere  ? std::string("is a link that leads nowhere")
                             : pointer.is_folder    ? std::string("is a folder, and its trainer reads a file there")
                             : pointer.unread       ? std::string("may not be read here")
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

Result<CheckpointsAnswer> looked_at(Disk& disk, CheckpointSurvey& survey, const CheckpointsRequest& request, Time now,
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
  look_at_all(disk, survey, request, now, all, answer);
  return answer;
}

}  // namespace

Result<CheckpointsAnswer> checkpoints_at(Disk& disk, const CheckpointsRequest& request,
                                         const std::vector<std::string>& paths, Time now) {
  CheckpointSurvey survey(disk, request, now);
  auto answer = looked_at(disk, survey, request, now, paths);
  if (answer.ok()) survey.find_resume(*answer);
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
    if (!is_deleted_by_log(seen) && disk.info(seen.path).ok()) paths.push_back(seen.path);
  }
  CheckpointSurvey survey(disk, request, now);
  auto answer = looked_at(disk, survey, request, now, paths);
  if (!answer.ok()) return answer;
  answer->run = basename(run_folder);
  const auto advice = resume_advice(*state);
  const bool ships = spec.ok() && !spec->store.empty();
  std::multimap<std::string_view, Checkpoint*> by_path;
  for (Checkpoint& one : answer->checkpoints) by_path.emplace(one.path, &one);
  for (const Shipment& shipment : ships ? shipments(*state) : std::vector<Shipment>()) {
    for (auto [at, end] = by_path.equal_range(shipment.path); at != end; ++at) {
      Checkpoint& one = *at->second;
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
  survey.find_resume(*answer);
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
