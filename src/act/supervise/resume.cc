#include "act/supervise/resume.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "core/resume_advice.h"
#include "core/trainings.h"
#include "platform/durable.h"
#include "sense/checkpoints/earlier_roots.h"
#include "sense/checkpoints/quarantine.h"
#include "sense/checkpoints/roots.h"

namespace mw {
namespace {

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

/// For a POSIX shell.
std::string quoted(const std::string& word) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           contains("_-./=:@%+,", {&c, 1});
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  return cat("'", replaced(word, "'", "'\\''"), "'");
}

/// Where to resume from.
struct Place {
  int64_t step = kNoStep;
  std::string path, root;
  bool any = false;  ///< there is something to resume from, wherever it is
};

/// The longest way between two of those up to `furthest`, or from the beginning to the first.
int64_t said_interval(const std::map<int64_t, std::string>& said, int64_t furthest) {
  int64_t widest = 0, before = 0;
  for (const auto& [step, path] : said) {
    if (step > furthest) break;
    widest = std::max(widest, step - std::exchange(before, step));
  }
  return widest;
}

/// A line may quote another run's log (a model's answer): where others are within the steps that were trained, those
/// far beyond are none of this run's.
void drop_quoted(const State& state, std::map<int64_t, std::string>& said) {
  constexpr int64_t kNotLogged = 2;  // steps, at a save
  int64_t furthest = kNoStep;
  for (const AttemptState& attempt : state.attempts) furthest = std::max(furthest, attempt.last_step);
  if (furthest == kNoStep || said.empty() || said.begin()->first > furthest + kNotLogged) return;
  const int64_t widest = said_interval(said, furthest + kNotLogged);
  said.erase(said.upper_bound(furthest + kNotLogged + widest), said.end());
}

/// Checkpoints that the run's files reported, older than `suspect`: the path of each, by step; `stepless`: there are
/// some without a step, too. Of trainers that only say when they begin to save, those after which another step was
/// trained.
std::map<int64_t, std::string> said_saved(const State& state, const EarlierTrainings& earlier, int64_t suspect,
                                          bool* stepless) {
  std::map<int64_t, std::string> paths;
  const bool says_end = std::any_of(state.checkpoints.begin(), state.checkpoints.end(),
                                    [](const auto& one) { return one.second.complete; });
  for (const auto& [moment, saved] : state.checkpoints) {
    if (earlier.has(moment.attempt, saved.path)) continue;
    if (!saved.complete && (says_end || saved.step == kNoStep || !trained_past(state, moment, saved.step))) continue;
    if (saved.step == kNoStep) {
      *stepless = *stepless || suspect == kNoStep;
      continue;
    }
    if (suspect == kNoStep || saved.step < suspect) paths[saved.step] = saved.path;
  }
  drop_quoted(state, paths);
  return paths;
}

/// The newest of those, by its word alone where its folder is not of this machine. One that is no longer where it was
/// does not count: it was quarantined, or deleted.
Place newest_said(Disk& disk, const std::map<int64_t, std::string>& said, const std::string& folder) {
  for (auto one = said.rbegin(); one != said.rend(); ++one) {
    const auto& [step, named] = *one;
    const std::string path = named.starts_with("/") ? named : cat(folder, "/", named), root = folder_of(path);
    if (!named.empty() && disk.info(path).ok()) return {step, path, root, true};
    const bool is_place = contains(named, "/") && disk.info(root).ok();  // else its folder is not known
    if (!is_place) return {step, "", "", true};
  }
  return {};
}

int64_t pointed_at(Disk& disk, const std::string& root, const CheckpointLayout& layout) {
  if (layout.pointer.empty()) return kNoStep;
  const auto text = read_small(disk, cat(root, "/", layout.pointer));
  return text.ok() ? step_in(layout.pointer_text, trim(*text)).value_or(kNoStep) : kNoStep;
}

/// The newest whole checkpoint in `root`; kNoStep: none.
Result<int64_t> newest_in(Disk& disk, const std::string& root, const CheckpointLayout& layout,
                          const std::map<int64_t, std::string>& said, int64_t suspect, const Ownership* own) {
  const auto steps = checkpoint_steps(disk, root, layout);
  if (!steps.ok()) return steps.error();
  const int64_t pointed = pointed_at(disk, root, layout);
  // What the trainer does not point at it has not finished, and it would begin from nothing itself.
  if (said.empty() && !layout.pointer.empty() && !disk.info(cat(root, "/", layout.pointer)).ok()) return kNoStep;
  int64_t whole = kNoStep, highest = kNoStep;
  for (const int64_t step : *steps) {
    if (suspect != kNoStep && step >= suspect) continue;
    if (own != nullptr && own->resumed.count(step) == 0) {
      const auto whose = whose_is(disk, *own, root, layout, step);
      if (!whose.ok()) return whose.error();
      if (*whose == Whose::kForeign) continue;
      if (*whose != Whose::kOwn && is_anothers(*own, step)) continue;
    }
    highest = step;
    // Older ones than this run's own are those of a run before it.
    if (said.count(step) != 0 || step <= pointed || (!said.empty() && step < said.begin()->first)) whole = step;
  }
  const bool reported = pointed != kNoStep || !said.empty();
  return whole != kNoStep || reported ? whole : highest;
}

Result<Place> choose(Disk& disk, const State& state, const CheckpointLayout& layout, const RunSpec& spec,
                     int64_t suspect, const Ownership* own) {
  bool stepless = false;
  // Where numbers count saves, what the log says of steps is of no use: the disk decides.
  const EarlierTrainings earlier(state);
  const auto said =
      layout.counts_saves ? std::map<int64_t, std::string>() : said_saved(state, earlier, suspect, &stepless);
  auto roots = checkpoint_roots(disk, state, layout, spec.checkpoints, spec.folder, spec.command);
  if (!roots.ok()) return roots.error();
  const auto elsewhere = [own](const std::string& root) { return own != nullptr && !own->may_save_in(root); };
  MW_TRY(drop_earlier_roots(disk, state, layout, *roots));
  if (roots->empty() && own != nullptr) roots->assign(own->by_saves.begin(), own->by_saves.end());
  // Beside the run's own folder lie those of others, where one above them was declared.
  if (!std::all_of(roots->begin(), roots->end(), elsewhere)) std::erase_if(*roots, elsewhere);
  for (const std::string& root : *roots) {
    const auto step = newest_in(disk, root, layout, said, suspect, own);
    if (!step.ok()) return step.error();
    if (*step != kNoStep)
      return Place{step_of_number(layout, *step), cat(root, "/", with_step(layout.folder, *step)), root, true};
  }
  Place newest = newest_said(disk, said, spec.folder);
  newest.any = newest.any || stepless;
  return newest;
}

const std::vector<std::string>* words_for(const CheckpointLayout& layout, const RunSpec& spec) {
  if (!spec.resume.empty()) return &spec.resume;
  for (const ResumeWords& one : layout.resume) {
    const bool fits = one.when.empty() || std::any_of(spec.command.begin(), spec.command.end(),
                                                      [&one](const auto& word) { return contains(word, one.when); });
    if (fits) return &one.words;
  }
  return nullptr;
}

constexpr std::string_view kHint =
    "Say it in midwatch.toml, under [run], such as resume = [\"--resume_from_checkpoint\", \"{path}\"].";

}  // namespace

std::string with_place(std::string_view word, std::string_view path, std::string_view root, int64_t step) {
  return replaced(replaced(replaced(std::string(word), "{path}", path), "{root}", root), "{step}", cat(step));
}

bool asks_to_resume(const std::vector<std::string>& command) {
  return std::any_of(command.begin(), command.end(), [](const auto& word) { return contains(word, kResumeWord); });
}

bool names_checkpoint(const CheckpointLayout& layout, const RunSpec& spec) {
  if (!asks_to_resume(spec.command)) return false;
  const std::vector<std::string>* words = words_for(layout, spec);
  return words == nullptr || std::any_of(words->begin(), words->end(), [](const std::string& word) {
           return contains(word, "{path}") || contains(word, "{step}");
         });
}

std::vector<std::string> with_resume(const std::vector<std::string>& command, const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += cat(line.empty() ? "" : " ", quoted(word));
  std::vector<std::string> out;
  for (const std::string& word : command) {
    if (word == kResumeWord) {
      out.insert(out.end(), words.begin(), words.end());
    } else {
      out.push_back(replaced(word, kResumeWord, line));
    }
  }
  return out;
}

Result<Resume> plan_resume(Disk& disk, const State& state, const CheckpointLayout& layout, const RunSpec& spec,
                           int64_t suspect, const Ownership* own) {
  const auto chosen = choose(disk, state, layout, spec, suspect, own);
  if (!chosen.ok()) return chosen.error();
  const Place& place = *chosen;
  if (!place.any) return Resume();
  const std::vector<std::string>* words = words_for(layout, spec);
  if (words == nullptr) {
    return Error{Error::Code::kUnsupported,
                 cat("the command has {resume}, and the arguments with which ",
                     state.framework == "custom" ? "this trainer" : state.framework, " resumes are not known"),
                 std::string(kHint)};
  }
  Resume resume{place.step, place.path, {}};
  for (const std::string& word : *words) {
    const bool lacks = (contains(word, "{path}") && place.path.empty()) ||
                       (contains(word, "{root}") && place.root.empty()) ||
                       (contains(word, "{step}") && place.step == kNoStep);
    if (lacks) {
      return Error{Error::Code::kNotFound,
                   cat("the trainer resumes by ", word, ", and the run's files do not show where its checkpoint is"),
                   "Give --checkpoints DIR, or checkpoints of [run] in midwatch.toml."};
    }
    resume.words.push_back(with_place(word, place.path, place.root, place.step));
  }
  return resume;
}

Result<void> plan_next(Disk& disk, const State& state, const CheckpointLayout& layout, const RunSpec& spec,
                       const Ownership& own, Judgement& judgement) {
  if (!judgement.decision.restart || !asks_to_resume(spec.command)) return {};
  auto planned = plan_resume(disk, state, layout, spec, judgement.back.from, &own);
  if (planned.ok()) {
    judgement.resume = std::move(*planned);
    return {};
  }
  if (is_silent(planned.error())) return planned.error();
  judgement.decision.restart = false;
  judgement.decision.why = cat(judgement.decision.why, " But ", planned.error().what, ". ", planned.error().hint);
  return {};
}

std::optional<std::string> resume_trouble(Disk& disk, const State& state, const CheckpointLayout& layout,
                                          const RunSpec& spec, const Resume& planned) {
  if (state.attempts.empty()) return std::nullopt;
  const AttemptState& attempt = state.attempts.back();
  const bool was_given = planned.step != kNoStep && !planned.words.empty();
  if (was_given && attempt.resumed_at != kNoStep && attempt.resumed_at != planned.step) {
    return cat("it was to resume from step ", planned.step, " and resumed from step ", attempt.resumed_at);
  }
  if (attempt.last_checkpoint == kNoStep) return std::nullopt;
  const auto next = plan_resume(disk, state, layout, spec, kNoStep);
  if (next.ok()) return "";
  if (is_silent(next.error())) return std::nullopt;
  return cat(next.error().what, "; the next restart would end the run. ", next.error().hint);
}

}  // namespace mw
