#include "daemon/resume.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "checkpoints/set_aside.h"
#include "daemon/go_back.h"
#include "platform/durable.h"

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

/// Checkpoints that the run's files told of, older than `suspect`; the last one, too, where it has no step. Of trainers
/// that only say when they begin to save, those after which another step was trained.
std::set<int64_t> said_saved(const State& state, int64_t suspect, Place* last) {
  std::set<int64_t> steps;
  const bool says_end = std::any_of(state.checkpoints.begin(), state.checkpoints.end(),
                                    [](const auto& one) { return one.second.complete; });
  for (const auto& [moment, saved] : state.checkpoints) {
    const bool went_on =
        moment.attempt < state.attempts.size() && state.attempts[moment.attempt].last_step > saved.step;
    if (!saved.complete && (says_end || saved.step == kNoStep || !went_on)) continue;
    if (saved.step == kNoStep) {
      last->any = last->any || suspect == kNoStep;
      continue;
    }
    if (suspect != kNoStep && saved.step >= suspect) continue;
    steps.insert(saved.step);
    if (last->step == kNoStep || saved.step >= last->step) *last = {saved.step, saved.path, "", true};
  }
  return steps;
}

int64_t pointed_at(Disk& disk, const std::string& root, const CheckpointLayout& layout) {
  if (layout.pointer.empty()) return kNoStep;
  const auto text = read_small(disk, cat(root, "/", layout.pointer));
  return text.ok() ? step_in(layout.pointer_text, trim(*text)).value_or(kNoStep) : kNoStep;
}

/// The newest whole checkpoint in `root`; kNoStep: none.
int64_t newest_in(Disk& disk, const std::string& root, const CheckpointLayout& layout, const std::set<int64_t>& said,
                  int64_t suspect) {
  const auto steps = checkpoint_steps(disk, root, layout);
  if (!steps.ok()) return kNoStep;
  const int64_t pointed = pointed_at(disk, root, layout);
  int64_t whole = kNoStep, highest = kNoStep;
  for (const int64_t step : *steps) {
    if (suspect != kNoStep && step >= suspect) continue;
    highest = step;
    // Older ones than this run's own are those of a run before it.
    if (said.count(step) != 0 || step <= pointed || (!said.empty() && step < *said.begin())) whole = step;
  }
  const bool told = pointed != kNoStep || !said.empty();
  return whole != kNoStep || told ? whole : highest;
}

Place choose(Disk& disk, const State& state, const CheckpointLayout& layout, const Charge& charge, int64_t suspect) {
  Place last;
  const std::set<int64_t> said = said_saved(state, suspect, &last);
  for (const std::string& root : checkpoint_roots(disk, state, layout, charge)) {
    const int64_t step = newest_in(disk, root, layout, said, suspect);
    if (step != kNoStep) return {step, cat(root, "/", with_step(layout.folder, step)), root, true};
  }
  if (!last.path.empty()) {
    if (last.path.front() != '/') last.path = cat(charge.folder, "/", last.path);
    last.root = folder_of(last.path);
    if (!disk.info(last.path).ok()) last.path = last.root = "";
  }
  return last;
}

const std::vector<std::string>* words_for(const CheckpointLayout& layout, const Charge& charge) {
  if (!charge.resume.empty()) return &charge.resume;
  for (const ResumeWords& one : layout.resume) {
    const bool fits = one.when.empty() || std::any_of(charge.command.begin(), charge.command.end(),
                                                      [&one](const auto& word) { return contains(word, one.when); });
    if (fits) return &one.words;
  }
  return nullptr;
}

constexpr std::string_view kHint =
    "Say it in midwatch.toml, under [run], such as resume = [\"--resume_from_checkpoint\", \"{path}\"].";

}  // namespace

bool asks_to_resume(const std::vector<std::string>& command) {
  return std::any_of(command.begin(), command.end(), [](const auto& word) { return contains(word, kResumeWord); });
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

Result<Resume> plan_resume(Disk& disk, const State& state, const CheckpointLayout& layout, const Charge& charge,
                           int64_t suspect) {
  const Place place = choose(disk, state, layout, charge, suspect);
  if (!place.any) return Resume();
  const std::vector<std::string>* words = words_for(layout, charge);
  if (words == nullptr) {
    return Error{Error::Code::kUnsupported,
                 cat("the command has {resume}, and how ",
                     state.framework == "custom" ? "this trainer" : state.framework, " is told to resume is not known"),
                 std::string(kHint)};
  }
  Resume resume{place.step, place.path, {}};
  for (const std::string& word : *words) {
    const bool lacks = (contains(word, "{path}") && place.path.empty()) ||
                       (contains(word, "{root}") && place.root.empty()) ||
                       (contains(word, "{step}") && place.step == kNoStep);
    if (lacks) {
      return Error{
          Error::Code::kNotFound,
          cat("the trainer is told to resume by ", word, ", and the run's files do not tell where its checkpoint is"),
          "Give --checkpoints DIR, or checkpoints of [run] in midwatch.toml."};
    }
    resume.words.push_back(
        replaced(replaced(replaced(word, "{path}", place.path), "{root}", place.root), "{step}", cat(place.step)));
  }
  return resume;
}

void plan_next(Disk& disk, const State& state, const CheckpointLayout& layout, const Charge& charge,
               Judgement& judgement) {
  if (!judgement.decision.restart || !asks_to_resume(charge.command)) return;
  auto planned = plan_resume(disk, state, layout, charge, judgement.back.from);
  if (planned.ok()) {
    judgement.resume = std::move(*planned);
    return;
  }
  judgement.decision.restart = false;
  judgement.decision.why = cat(judgement.decision.why, " But ", planned.error().what, ". ", planned.error().hint);
}

std::optional<std::string> resume_trouble(Disk& disk, const State& state, const CheckpointLayout& layout,
                                          const Charge& charge, const Resume& told) {
  if (state.attempts.empty()) return std::nullopt;
  const AttemptState& attempt = state.attempts.back();
  const bool was_told = told.step != kNoStep && !told.words.empty();
  if (was_told && attempt.resumed_at != kNoStep && attempt.resumed_at != told.step) {
    return cat("it was told to resume from step ", told.step, " and resumed from step ", attempt.resumed_at);
  }
  if (attempt.last_checkpoint == kNoStep) return std::nullopt;
  const auto planned = plan_resume(disk, state, layout, charge, kNoStep);
  if (planned.ok()) return "";
  return cat(planned.error().what, "; the next restart would end the run. ", planned.error().hint);
}

}  // namespace mw
