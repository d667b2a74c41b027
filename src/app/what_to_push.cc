#include "app/what_to_push.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include "base/numbers.h"
#include "base/text.h"
#include "platform/paths.h"
#include "platform/real/posix_disk.h"
#include "sense/checkpoints/deep_read.h"
#include "sense/checkpoints/find.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/manifest.h"
#include "sense/checkpoints/recover_slot.h"
#include "sense/checkpoints/scan.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

constexpr std::ptrdiff_t kNearest = 2;  // checkpoints before and after one, with which it is compared
constexpr size_t kLooked = 64;          // that are looked at for one from which a resume has all

/// The digits that a name ends in.
std::string_view digits_at_end(std::string_view name) {
  const size_t last = name.find_last_not_of("0123456789");
  return last == std::string_view::npos ? name : name.substr(last + 1);
}

/// Of a folder, by its name.
NamedStep name_of(const KnowledgeBase& knowledge, std::string_view folder) {
  const std::string_view name = basename(folder);
  NamedStep out;
  std::set<std::string> frameworks;
  for (const Dialect& dialect : knowledge.book().dialects()) {
    if (dialect.checkpoints.counts_saves) continue;
    const auto step = dialect.checkpoints.known() ? step_in(dialect.checkpoints.folder, name) : std::nullopt;
    if (!step) continue;
    out.step = *step;
    out.layout = dialect.checkpoints.folder;
    frameworks.insert(dialect.framework);
  }
  // Several write the same names: then its files say which one it was.
  if (frameworks.size() == 1) out.framework = *frameworks.begin();
  out.may_be.assign(frameworks.begin(), frameworks.end());
  if (out.step == kNoStep) out.step = step_of_name(name);  // Lightning's folders, of no dialect
  if (out.step != kNoStep) return out;
  const std::string_view digits = digits_at_end(name);
  const auto number = digits.size() <= 12 ? parse_int(digits) : std::nullopt;
  if (number && digits.size() < name.size()) out.step = *number;
  return out;
}

using Steps = std::vector<std::pair<int64_t, std::string>>;

/// Folders of steps, as a framework names them, among `names`; with `step` those of that step, whatever they are
/// called.
Steps steps_below(Disk& disk, const KnowledgeBase& knowledge, const std::string& path,
                  const std::vector<std::string>& names, int64_t step) {
  Steps below;
  for (const std::string& name : names) {
    const NamedStep named = name_of(knowledge, name);
    const bool wanted = step == kNoStep ? !named.layout.empty() || step_of_name(name) != kNoStep : named.step == step;
    const auto info = wanted && named.step != kNoStep ? disk.info(cat(path, "/", name)) : Result<FileInfo>(FileInfo{});
    if (info.ok() && info->kind == FileInfo::Kind::kFolder) below.emplace_back(named.step, name);
  }
  std::sort(below.rbegin(), below.rend());
  return below;
}

/// Is it the folder of several checkpoints, or of one that has such folders in it (DeepSpeed's inside transformers')?
/// What lies in it says so: a name that ends in a number may be an experiment's.
bool holds_several(const std::string& path, const NamedStep& own, const std::vector<std::string>& names,
                   const Steps& below) {
  if (below.empty()) return false;
  const bool files = is_checkpoint_by_names(names);
  const bool named = !own.layout.empty() || step_of_name(basename(path)) != kNoStep;
  if (named) return below.size() > 1 && !files;
  return !files || below.size() > 1 || below.front().first != own.step;
}

/// Without folders of steps that are called as files of weights are ("epoch=0-step=10.ckpt").
std::vector<std::string> without_steps(std::vector<std::string> names, const Steps& steps) {
  std::erase_if(names, [&steps](const std::string& name) {
    return name.ends_with(".ckpt") &&
           std::any_of(steps.begin(), steps.end(), [&name](const auto& one) { return one.second == name; });
  });
  return names;
}

/// A name that no framework gives, such as "ckpt5" and "epoch_12": it says of what it is one, and which.
std::optional<int64_t> own_number(std::string_view name) {
  constexpr std::array<std::string_view, 6> kWords = {"ckpt", "check", "step", "iter", "epoch", "save"};
  const std::string lower = to_lower(name);
  if (std::none_of(kWords.begin(), kWords.end(), [&](std::string_view word) { return contains(lower, word); }))
    return std::nullopt;
  return parse_int(digits_at_end(name));
}

/// Where checkpoints of several steps lie deeper in it, it is not one of them.
Result<void> check_below(Disk& disk, const std::string& path, const std::vector<std::string>& names) {
  if (step_of_name(basename(path)) != kNoStep || is_checkpoint_by_names(names)) return {};
  const auto found = find_checkpoints(disk, path);
  if (!found.ok()) return found.error();
  std::set<int64_t> steps, numbers;
  for (const FoundCheckpoint& one : *found) {
    if (one.step != kNoStep) steps.insert(one.step);
    const auto number = one.step == kNoStep ? own_number(basename(one.path)) : std::nullopt;
    if (number) numbers.insert(*number);
  }
  if (steps.size() < 2 && numbers.size() < 2) return {};
  const bool named = steps.size() >= 2;  // as a framework does
  return Error{Error::Code::kInvalid,
               cat("checkpoints of ", named ? steps.size() : numbers.size(), " steps lie in ", path),
               named ? cat("Name the folder that holds them: ", folder_of(found->back().path), ".")
                     : cat("Name one of them, and its step: ", found->back().path, " --step N.")};
}

/// Found suspect or corrupt when all of its bytes were read, and nobody wrote to it since.
bool was_found_bad(Disk& disk, const std::string& folder) {
  const auto then = load_manifest(disk, home_of(""), folder);
  if (!then.ok() || (then->verdict != "suspect" && then->verdict != "corrupt")) return false;
  return std::all_of(then->files.begin(), then->files.end(), [&](const ManifestFile& file) {
    const auto now = disk.info(cat(folder, "/", file.path));
    return now.ok() && now->changed == file.changed && now->size == file.bytes;
  });
}

/// As `verify` has it: beside those next to it.
VerifyOptions beside_others(Disk& disk, const std::string& path) {
  VerifyOptions how;
  how.beside = nearest_beside(disk, path, kNearest);
  return how;
}

/// What its trainer does not find in it, though it is whole; "": nothing, or nobody knows.
std::string lacks_for_resume(const CheckpointVerdict& verdict) {
  return verdict.state == CheckpointVerdict::State::kWhole ? lacks_of(verdict) : "";
}

bool is_resumable_for(const CheckpointVerdict& verdict, std::string_view framework) {
  return verdict.state == CheckpointVerdict::State::kWhole && verdict.framework == framework &&
         verdict.resumable == CheckpointVerdict::Resumable::kYes;
}

/// What is meant, and what was found in it; nothing where it was not looked at yet.
struct Chosen {
  PushTarget target;
  std::optional<CheckpointVerdict> verdict;
  bool is_best = false;  ///< it is the one to take of those beside it
};

/// Why one is not taken of which nothing is known to be broken.
std::string passed_over(const Chosen& one) {
  const std::string step = cat("step ", one.target.named.step, " was passed over: ");
  if (!one.verdict) return cat(step, "it could not be read");
  const bool unseen = one.verdict->state == CheckpointVerdict::State::kUnknown;  // what is missing may be there
  for (const CheckpointProblem& problem : one.verdict->problems) {
    if (!problem.breaks || (unseen && problem.trouble != Trouble::kUnreadable)) continue;
    return cat(step, problem.path, problem.path.empty() ? "" : ": ", problem.what);
  }
  const auto& notes = one.verdict->notes;
  const auto why = std::find_if(notes.begin(), notes.end(),
                                [](const std::string& note) { return contains(note, "not all of it could be seen"); });
  return cat(step, why != notes.end() ? *why : "nothing proves that it is whole");
}

/// The newest that its files prove to be whole and from which a resume has all; where there is none, the newest that is
/// whole; else the newest that is not broken. `request.suspect`: what `verify --deep` found, and what it lacks, do not
/// count.
Result<Chosen> newest_of(Disk& disk, const KnowledgeBase& knowledge, const std::string& path, const Steps& below,
                         const PushRequest& request) {
  using State = CheckpointVerdict::State;
  const bool suspect = request.suspect, is_best = request.step == kNoStep;
  std::optional<Chosen> unknown, lacking;
  size_t looked = 0;
  for (const auto& [step, name] : below) {
    if (lacking && ++looked > kLooked) break;
    std::optional<CheckpointVerdict> verdict;
    const std::string folder = cat(path, "/", name);
    const VerifyOptions how = beside_others(disk, folder);
    const CheckpointScan scan = scan_checkpoint(disk, folder, step, nullptr, &verdict, how);
    const bool wrong = verdict && (verdict->state == State::kCorrupt || verdict->state == State::kPartial);
    const bool foreign = verdict && verdict->state == State::kForeign;
    const bool known = wrong && (!verdict->framework.empty() || !verdict->layouts.empty());
    const bool other =
        wrong && !known && scan.may_hold_weights && verdict->problems.front().trouble == Trouble::kMetadataOnly;
    const bool broken = scan.seen.how == event::CheckpointSeen::How::kBroken || (wrong && !other) || foreign ||
                        (!suspect && was_found_bad(disk, folder));
    if (broken && below.size() > 1) continue;
    const bool whole = verdict && verdict->state == State::kWhole;
    Chosen one{{folder, name_of(knowledge, name), how.beside, {}}, std::move(verdict), is_best};
    if (lacking) {
      if (!one.verdict || !is_resumable_for(*one.verdict, lacking->verdict->framework)) continue;
      one.target.notes.push_back(cat("step ", lacking->target.named.step,
                                     " was passed over: nothing can resume from it, as it lacks ",
                                     lacks_of(*lacking->verdict)));
      return one;
    }
    if (whole && !suspect && !lacks_of(*one.verdict).empty()) {
      lacking = std::move(one);
    } else if (broken || whole) {
      if (unknown) one.target.notes.push_back(passed_over(*unknown));
      return one;
    } else if (!unknown) {
      unknown = std::move(one);
    }
  }
  if (lacking) return std::move(*lacking);
  if (unknown) return std::move(*unknown);
  return Error{Error::Code::kInvalid, cat("every checkpoint in ", path, " is broken"), ""};
}

/// The last one before it from which the same trainer could resume; "": there is none.
std::string resumable_before(Disk& disk, const std::string& path, std::string_view framework) {
  const std::vector<FoundCheckpoint> all = checkpoints_beside(disk, path);
  auto one =
      std::find_if(all.rbegin(), all.rend(), [&path](const FoundCheckpoint& found) { return found.path == path; });
  for (size_t looked = 0; one != all.rend() && ++one != all.rend() && looked < kLooked; ++looked) {
    const auto verdict = verify_checkpoint(disk, one->path, {});
    if (verdict.ok() && is_resumable_for(*verdict, framework) && !was_found_bad(disk, one->path)) return one->path;
  }
  return "";
}

/// A checkpoint that is a file. `verdict`: of it, where it was looked at.
Result<Chosen> file_of_step(const std::string& path, int64_t step, std::optional<CheckpointVerdict> verdict) {
  if (step == kNoStep) {
    return Error{Error::Code::kInvalid, cat("which step ", escape_terminal(path), " is cannot be seen from its name"),
                 "Say --step N."};
  }
  NamedStep named;
  named.step = step;
  return Chosen{{path, std::move(named), {}, {}}, std::move(verdict)};
}

/// Its verdict says the step that its files say, whatever it is called ("restored2", "epoch=2.ckpt").
Chosen looked_at(Disk& disk, const std::string& path) {
  const VerifyOptions how = beside_others(disk, path);
  auto verdict = verify_checkpoint(disk, path, how);
  Chosen out{{path, {}, how.beside, {}}, std::nullopt};
  if (verdict.ok()) out.verdict = std::move(*verdict);
  return out;
}

/// Of a folder in which each file is a checkpoint of its own: the newest that is not broken, or that of `step`.
Result<Chosen> newest_file(Disk& disk, const std::vector<FoundCheckpoint>& files, const std::string& folder,
                           int64_t step) {
  size_t numbered = 0;
  for (auto one = files.rbegin(); one != files.rend(); ++one) {
    if (one->step == kNoStep) continue;
    auto verdict = verify_checkpoint(disk, one->path, {});
    const int64_t own = verdict.ok() && verdict->step != kNoStep ? verdict->step : one->step;
    if (step != kNoStep && own != step) continue;
    ++numbered;
    const bool broken = verdict.ok() && (verdict->state == CheckpointVerdict::State::kPartial ||
                                         verdict->state == CheckpointVerdict::State::kCorrupt);
    if (!broken || step != kNoStep)  // the push says what breaks it
      return file_of_step(one->path, own, verdict.ok() ? std::optional(std::move(*verdict)) : std::nullopt);
  }
  if (step != kNoStep)
    return Error{Error::Code::kNotFound, cat("there is no checkpoint of step ", step, " in ", folder), ""};
  return numbered > 0 ? Error{Error::Code::kInvalid, cat("every checkpoint in ", folder, " is broken"), ""}
                      : Error{Error::Code::kInvalid, cat("no name in ", folder, " says a step"),
                              cat("Name one of them, and its step: ", files.back().path, " --step N.")};
}

/// What to type where a folder's only checkpoint may be a file in it, which says its step.
std::string one_file_in(const std::vector<std::string>& names, const std::string& folder) {
  std::string only;
  for (const std::string& name : names) {
    if (step_of_file(name) == kNoStep) continue;
    if (!only.empty()) return "Say --step N.";
    only = name;
  }
  if (only.empty()) return "Say --step N.";
  return cat("Say --step ", step_of_file(only), ", or push the file alone: ", folder, "/", only, ".");
}

/// AReaL's one place to resume from: its trial's name says nothing of the step, as it is written over at every save.
/// Unset: `path` holds none, and is no part of one.
Result<std::optional<Chosen>> slot_at(Disk& disk, const std::string& path, const std::vector<std::string>& names,
                                      int64_t step) {
  std::vector<std::string> slots;
  if (is_part_of_slot(path)) slots.push_back(recover_slot_of(disk, path));
  if (is_recover_slot(disk, path)) slots = {path};
  for (size_t i = 0; i < names.size() && slots.empty(); ++i) {
    if (is_recover_slot(disk, cat(path, "/", names[i]))) slots.push_back(cat(path, "/", names[i]));
  }
  if (slots.empty() || slots.front().empty()) return std::optional<Chosen>();
  const std::string& slot = slots.front();
  const auto others = std::count_if(names.begin(), names.end(), [&](const std::string& name) {
    return slot != path && is_recover_slot(disk, cat(path, "/", name));
  });
  if (others > 1)
    return Error{Error::Code::kInvalid, cat("several trials lie in ", path), cat("Name one of them: ", slot, ".")};
  NamedStep named;
  named.step = step_of_slot(disk, slot);
  named.framework = "areal";
  if (named.step == kNoStep) {
    return Error{Error::Code::kInvalid,
                 cat("which step ", slot, " is cannot be read from its recover_info/step_info.json"),
                 "midwatch checkpoint verify says what is wrong with it."};
  }
  if (step != kNoStep && step != named.step)
    return Error{Error::Code::kNotFound,
                 cat(slot, " is of step ", named.step, ", and no training resumes from another"), ""};
  return std::optional(Chosen{{slot, std::move(named), {}, {}}, std::nullopt});
}

/// Which folder or file is meant, and which step it is.
Result<Chosen> choose(Disk& disk, const KnowledgeBase& knowledge, const PushRequest& request) {
  std::string path = absolute_path(request.path);
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  path = behind_link(disk, path);
  if (const auto info = disk.info(path); info.ok() && info->kind == FileInfo::Kind::kFile) {
    if (request.step != kNoStep) return file_of_step(path, request.step, std::nullopt);
    Chosen file = looked_at(disk, path);
    const bool says = file.verdict && file.verdict->step != kNoStep;
    const int64_t step = says ? file.verdict->step : step_of_file(basename(path));
    return file_of_step(path, step, std::move(file.verdict));
  }
  const auto all = disk.list(path);
  if (!all.ok()) return all.error();
  auto slot = slot_at(disk, path, *all, request.step);
  if (!slot.ok()) return slot.error();
  if (*slot) return std::move(**slot);
  NamedStep own = name_of(knowledge, path);
  const Steps steps = steps_below(disk, knowledge, path, *all, kNoStep);
  const std::vector<std::string> names = without_steps(*all, steps);
  const bool several = holds_several(path, own, names, steps);
  const Steps below = steps_below(disk, knowledge, path, *all, request.step);
  if ((several || own.step == kNoStep) && !below.empty()) return newest_of(disk, knowledge, path, below, request);
  if (several)
    return Error{Error::Code::kNotFound, cat("there is no checkpoint of step ", request.step, " in ", path), ""};
  if (sanitize_utf8(basename(path)) != basename(path))
    return Error{Error::Code::kInvalid, cat("the name of ", escape_terminal(path), " is not UTF-8"), "Rename it."};
  const auto files = checkpoint_files_in(disk, path, names);
  const bool named = !own.layout.empty() || step_of_name(basename(path)) != kNoStep;
  if (!named && !files.empty()) return newest_file(disk, files, path, request.step);
  MW_TRY(check_below(disk, path, names));
  Chosen out = looked_at(disk, path);
  if (!named && out.verdict && out.verdict->step != kNoStep) own.step = out.verdict->step;
  if (request.step != kNoStep) own.step = request.step;
  if (own.step == kNoStep) {
    return Error{Error::Code::kInvalid, cat("which step ", path, " is cannot be seen from its name"),
                 one_file_in(names, path)};
  }
  out.target.named = std::move(own);
  return out;
}

/// The checkpoint of which `path` is a part, as NeMo-RL's step_20/policy is one of step_20; "": it is none. `verdict`:
/// of `path`.
std::string whole_of(Disk& disk, const KnowledgeBase& knowledge, const std::string& path,
                     const CheckpointVerdict& verdict) {
  constexpr int kAbove = 4;  // folders: step_20/policy/weights/iter_0000000/mp_rank_00
  std::string folder = path;
  for (int i = 0; i < kAbove && folder_of(folder) != folder; ++i) {
    folder = folder_of(folder);
    if (step_of_name(basename(folder)) == kNoStep) continue;
    const auto names = disk.list(folder);
    const auto above = verify_checkpoint(disk, folder, {});
    if (!names.ok() || !above.ok() || steps_below(disk, knowledge, folder, *names, kNoStep).size() > 1) continue;
    // A stage of a training may be called step_1, and have its checkpoints below.
    const bool own_step = step_of_name(basename(path)) != kNoStep;
    const bool part = above->framework.empty()
                          ? i == 0 && !own_step && verdict.framework.empty() && !above->layouts.empty()
                          : !own_step || above->framework != verdict.framework;
    if (part) return folder;
  }
  return "";
}

/// Nobody begins from such a one where there is a better one.
Result<void> check_use(Disk& disk, const PushRequest& request, Chosen& chosen) {
  const CheckpointVerdict& verdict = *chosen.verdict;
  const std::string& path = chosen.target.path;
  if (verdict.state == CheckpointVerdict::State::kSuspect && !request.suspect) {
    const CheckpointProblem& first = verdict.problems.front();
    return Error{Error::Code::kInvalid,
                 cat("the checkpoint is suspect: ", first.path, first.path.empty() ? "" : ": ", first.what),
                 cat("midwatch checkpoint verify ", path, " says more. Push an earlier one, or say --allow-suspect.")};
  }
  const std::string lacks = lacks_for_resume(verdict);
  if (lacks.empty()) return {};
  const bool alone = chosen.is_best || request.suspect;
  const std::string before = alone ? "" : resumable_before(disk, path, verdict.framework);
  if (!before.empty()) {
    return Error{Error::Code::kInvalid,
                 cat("nothing can resume from ", path, ": it lacks ", lacks, ", and ", basename(before), " has all"),
                 cat("Push ", before, ", or say --allow-suspect.")};
  }
  chosen.target.notes.push_back(cat("its trainer cannot resume from it: it lacks ", lacks));
  return {};
}

}  // namespace

Result<PushTarget> what_to_push(Disk& disk, const KnowledgeBase& knowledge, const PushRequest& request) {
  auto chosen = choose(disk, knowledge, request);
  if (!chosen.ok()) return chosen.error();
  PushTarget& target = chosen->target;
  if (!chosen->verdict) chosen->verdict = looked_at(disk, target.path).verdict;
  if (!chosen->verdict) return std::move(target);  // the push says it
  if (std::string whole = whole_of(disk, knowledge, target.path, *chosen->verdict); !whole.empty()) {
    return Error{Error::Code::kInvalid,
                 cat(target.path, " is a part of the checkpoint ", whole, ", and none to resume from by itself"),
                 cat("Push the whole: ", whole, ".")};
  }
  if (chosen->verdict->state == CheckpointVerdict::State::kForeign) {
    return Error{Error::Code::kInvalid, cat(target.path, " is no checkpoint: no weights are in it"),
                 "midwatch checkpoint list DIR shows which folders are."};
  }
  MW_TRY(check_use(disk, request, *chosen));
  return std::move(target);
}

}  // namespace mw
