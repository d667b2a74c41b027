#include "app/pointer_notes.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/numbers.h"
#include "base/text.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/parts.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using Checkpoint = CheckpointsAnswer::Checkpoint;

/// What a pointer names that is not there, or is no checkpoint.
std::string said_by(const CheckpointPointer& pointer) {
  if (pointer.step != kNoStep) return cat("names step ", pointer.step, ", which is not there");
  const bool dots = pointer.text == "." || contains(pointer.text, "..");
  return cat("says \"", clip(pointer.text, 100), "\", which is ", dots ? "no checkpoint beside it" : "not there");
}

/// Its trainer reads a number from it (Python's int()), and it says a name.
bool is_no_number(const CheckpointPointer& pointer) {
  const std::string_view name = basename(pointer.path);
  return pointer.step != kNoStep && name != "latest" && !parse_int(pointer.text);
}

/// Of a run that saves into several trees: the newest step that all of them have; kNoStep where there is one tree.
int64_t newest_in_all(Disk& disk, const std::string& checkpoint, std::string* others) {
  const std::string tree = folder_of(checkpoint);
  if (!is_tree_name(basename(tree)) || basename(tree).empty()) return kNoStep;
  std::vector<int64_t> steps;
  for (const FoundCheckpoint& one : checkpoints_beside(disk, checkpoint)) steps.push_back(one.step);
  const auto names = disk.list(folder_of(tree));
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    if (!is_tree_name(name) || name == basename(tree)) continue;
    const auto there = checkpoints_beside(disk, cat(folder_of(tree), "/", name, "/", basename(checkpoint)));
    if (there.empty()) continue;
    *others += cat(others->empty() ? "" : ", ", name);
    std::erase_if(steps, [&](int64_t step) {
      return std::none_of(there.begin(), there.end(), [step](const FoundCheckpoint& one) { return one.step == step; });
    });
  }
  return others->empty() || steps.empty() ? kNoStep : steps.back();
}

/// They are in the order of their steps.
bool has_step(const std::vector<FoundCheckpoint>& all, int64_t step) {
  const auto place = std::lower_bound(all.begin(), all.end(), step,
                                      [](const FoundCheckpoint& one, int64_t value) { return one.step < value; });
  return place != all.end() && place->step == step;
}

/// `nothing`: it names none that is there.
void note_pointer(Disk& disk, const CheckpointPointer& pointer, bool nothing, Checkpoint& out) {
  const std::string_view name = basename(pointer.path);
  if (pointer.leads_nowhere) {
    out.notes.push_back(cat(name, " is a link that leads nowhere: a resume by it finds nothing"));
  } else if (pointer.is_folder) {
    out.notes.push_back(cat(name, " is a folder, and its trainer reads a file there: a resume fails on it"));
  } else if (pointer.text.empty()) {
    out.notes.push_back(cat(name, " is empty: it was being written when its trainer ended, and a resume fails on it"));
  } else if (is_zeros(pointer)) {
    out.notes.push_back(
        cat(name, " holds nothing but zeros: its bytes never reached the disk, and a resume fails on it"));
  } else if (nothing) {
    std::string others;
    const int64_t step = newest_in_all(disk, out.path, &others);
    out.notes.push_back(cat(name, " ", said_by(pointer), ": a resume finds nothing",
                            step == kNoStep ? ""
                                            : cat("; step ", step, " is the newest that lies in ",
                                                  basename(folder_of(out.path)), " and in ", others)));
  } else if (is_no_number(pointer)) {
    out.notes.push_back(cat(name, " says \"", clip(pointer.text, 100),
                            "\", and its trainer reads a number there: a "
                            "resume fails on it; write ",
                            pointer.step, " into it"));
  } else if (pointer.step == out.step && out.state != "whole") {
    out.notes.push_back(cat(name,
                            " names this one: a resume would take it, unless you write another step into it or name "
                            "the checkpoint to the trainer"));
  } else if (pointer.step < out.step && out.state == "whole") {
    out.notes.push_back(cat(name, " still names step ", pointer.step, ": a resume would take that one, and do ",
                            out.step - pointer.step, out.step - pointer.step == 1 ? " step" : " steps", " again"));
  }
}

}  // namespace

bool is_tree_name(std::string_view name) {
  constexpr std::array<std::string_view, 10> kTrees = {"checkpoints", "weights",      "optimizer",  "optimizers",
                                                       "trainer",     "orchestrator", "dataloader", "critic",
                                                       "_actor",      "_critic"};
  return std::find(kTrees.begin(), kTrees.end(), name) != kTrees.end();
}

CheckpointNeighbours neighbours_in(Disk& disk, const std::string& folder) {
  const std::string any = cat(folder == "/" ? "" : folder, "/step_0");
  return {checkpoints_beside(disk, any), pointers_beside(disk, any)};
}

void note_pointers(Disk& disk, const CheckpointNeighbours& beside, Checkpoint& out) {
  if (out.step == kNoStep) return;
  const bool named = step_of_name(basename(out.path)) != kNoStep;
  const bool newest = named && !beside.checkpoints.empty() && beside.checkpoints.back().path == out.path;
  for (const CheckpointPointer& pointer : beside.pointers) {
    if (pointer.unread) {
      if (newest)
        out.notes.push_back(cat(basename(pointer.path), " may not be read here: which step it names is not known"));
      continue;
    }
    const bool there = named && has_step(beside.checkpoints, pointer.step);
    const bool nothing = pointer.leads_nowhere || pointer.text.empty() ||
                         (pointer.step != kNoStep ? !there : !names_something(disk, pointer));
    const bool unread = is_no_number(pointer);
    out.unnamed = out.unnamed || ((nothing || unread) && newest);
    const bool cut = pointer.text.empty() && !pointer.leads_nowhere && !pointer.is_folder;
    if (cut || (nothing || unread ? newest : pointer.step != kNoStep)) note_pointer(disk, pointer, nothing, out);
  }
  const std::string_view own = pointer_of(out.framework);
  if (!beside.pointers.empty() || own.empty() || !newest || out.resumable != "yes") return;
  out.notes.push_back(cat(own, " is not beside it: ", out.framework,
                          " finds no checkpoint by itself then; write the step into it, or name the checkpoint to it"));
}

std::string other_role_of(std::string_view tree) {
  return tree == "_actor" ? "_critic" : tree == "_critic" ? "_actor" : "";
}

void note_other_role(const CheckpointNeighbours& own, const CheckpointNeighbours& other, Time now, Checkpoint& out) {
  const auto& mine = own.checkpoints;
  const auto& theirs = other.checkpoints;
  if (out.step == kNoStep || out.state != "whole" || theirs.empty() || has_step(theirs, out.step)) return;
  const auto later = std::count_if(mine.begin(), mine.end(),
                                   [&](const FoundCheckpoint& one) { return one.step > theirs.back().step; });
  const std::string root = folder_of(theirs.back().path);
  const std::string_view missing = basename(root);
  const bool newest = !mine.empty() && mine.back().path == out.path;
  if (is_left_behind(root, later) || (newest && now - out.newest < kStillWriting)) return;
  out.resumable = "no";
  out.lacks.emplace_back(kOtherRole);
  if (!newest) return;
  const auto both =
      std::find_if(mine.rbegin(), mine.rend(), [&](const FoundCheckpoint& one) { return has_step(theirs, one.step); });
  out.notes.push_back(cat(missing, " has no step ", out.step, ", its newest is ", theirs.back().step,
                          ": a resume takes each role by itself, and both would be of different steps",
                          both == mine.rend() ? "" : cat("; step ", both->step, " is the newest that both have")));
}

}  // namespace mw
