#include "sense/checkpoints/strange_names.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "core/state.h"
#include "sense/checkpoints/beside.h"
#include "sense/checkpoints/find.h"
#include "sense/checkpoints/open_files.h"
#include "sense/checkpoints/ownership.h"
#include "sense/checkpoints/quarantine.h"
#include "sense/checkpoints/roots.h"
#include "sense/checkpoints/verify.h"
#include "sense/checkpoints/writers.h"

namespace mw {
namespace {

constexpr size_t kFolders = 200;  // that are looked at
constexpr size_t kVerified = 3;   // checkpoints of one folder, the newest
constexpr int64_t kRest = 1000;   // times what it cost: a thousandth of a core
// The first save is the one to see: later ones are only waited for where none is found.
constexpr Duration kYoung = Duration::seconds(600), kOften = Duration::seconds(3);
constexpr Duration kTellsSteps = Duration::seconds(10);
constexpr Duration kSoon = Duration::millis(200);  // while a call is out

/// The usual pattern that a name has; "" where none.
std::string_view pattern_of(std::string_view name) {
  constexpr std::array<std::string_view, 15> kPatterns = {
      "checkpoint_{step}", "checkpoint-{step}", "checkpoint{step}", "ckpt_{step}",  "ckpt-{step}",
      "ckpt{step}",        "step_{step}",       "step-{step}",      "step{step}",   "global_step_{step}",
      "global_step{step}", "iter_{step}",       "epoch_{step}",     "epoch-{step}", "iter_{step:07}"};
  for (const std::string_view pattern : kPatterns) {
    if (step_in(pattern, name)) return pattern;
  }
  return "";
}

/// The folder's own names and, where a framework keeps its weights one folder deeper (actor, policy), theirs, with
/// their paths below it; empty where there is nothing of a checkpoint in either.
std::vector<std::string> checkpoint_names(Disk& disk, const std::string& path) {
  const auto names = disk.list(path);
  if (!names.ok()) return {};
  if (is_checkpoint_by_names(*names)) return *names;
  for (const std::string_view part : {"actor", "policy"}) {
    if (std::find(names->begin(), names->end(), part) == names->end()) continue;
    const auto below = disk.list(cat(path, "/", part));
    if (!below.ok() || !is_checkpoint_by_names(*below)) continue;
    std::vector<std::string> found;
    for (const std::string& name : *below) found.push_back(cat(part, "/", name));
    return found;
  }
  return {};
}

}  // namespace

std::optional<StrangeNames> find_strange_names(Disk& disk, const std::vector<std::string>& roots,
                                               const CheckpointLayout& layout, Time since) {
  std::map<std::string_view, StrangeNames> found;
  size_t looked_at = 0;
  bool known = false;
  const auto look = [&](const std::string& folder, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      known = known || (layout.known() && step_in(layout.folder, name).has_value());
      const std::string_view pattern = pattern_of(name);
      if (known || pattern.empty() || ++looked_at > kFolders) continue;
      const std::string path = cat(folder, "/", name);
      const std::vector<std::string> inside = checkpoint_names(disk, path);
      const bool fresh = std::any_of(inside.begin(), inside.end(), [&](const std::string& file) {
        const auto info = disk.info(cat(path, "/", file));
        return info.ok() && info->kind == FileInfo::Kind::kFile && info->changed >= since;
      });
      if (fresh) found.emplace(pattern, StrangeNames{folder, std::string(pattern), name});
    }
  };
  for (const std::string& root : roots) {
    const auto names = disk.list(root);
    if (!names.ok()) continue;
    look(root, *names);
    for (const std::string& name : *names) {
      if (name.starts_with(".") || !pattern_of(name).empty() || ++looked_at > kFolders) continue;
      const auto below = disk.list(cat(root, "/", name));
      if (below.ok()) look(cat(root, "/", name), *below);
    }
  }
  if (known || found.size() != 1) return std::nullopt;
  return found.begin()->second;
}

std::string find_counted(Disk& disk, const std::vector<std::string>& roots, const Saver& saver,
                         const CheckpointLayout& own, Time since) {
  for (const std::string& root : roots) {
    if (!saver.layout.below.empty() && basename(root) != saver.layout.below) continue;
    const auto numbers = checkpoint_steps(disk, root, saver.layout);
    const auto others =
        own.known() ? checkpoint_steps(disk, root, own) : Result<std::vector<int64_t>>(std::vector<int64_t>());
    if (!numbers.ok() || numbers->empty() || !others.ok() || !others->empty()) continue;
    const auto gap = [](int64_t a, int64_t b) { return b - a != 1; };  // steps have those, counts have none
    if (std::adjacent_find(numbers->begin(), numbers->end(), gap) != numbers->end()) continue;
    size_t looked = 0;
    for (auto number = numbers->rbegin(); number != numbers->rend() && looked < kVerified; ++number, ++looked) {
      const auto verdict = verify_checkpoint(disk, cat(root, "/", with_step(saver.layout.folder, *number)), {});
      if (verdict.ok() && verdict->framework == saver.framework && verdict->newest >= since) return root;
    }
  }
  return "";
}

namespace {

/// Declared folders, and those of the framework's own name in them.
std::vector<std::string> places_of(const std::vector<std::string>& declared, const Saver& saver) {
  std::vector<std::string> places;
  for (const std::string& folder : declared) {
    places.push_back(plain_path(folder));
    if (!saver.layout.below.empty()) places.push_back(plain_path(cat(folder, "/", saver.layout.below)));
  }
  return places;
}

/// It may be a first save of such a framework, of which too little is written to know it.
bool may_be_begun(Disk& disk, const StrangeNames& names, const std::vector<Saver>& savers) {
  return std::any_of(savers.begin(), savers.end(), [&](const Saver& saver) {
    if (names.pattern != saver.layout.folder || basename(names.folder) != saver.layout.below) return false;
    const auto numbers = checkpoint_steps(disk, names.folder, saver.layout);
    return numbers.ok() && numbers->size() < 2;
  });
}

/// Where processes of the run work, and saved since it began: it may be another run's that was started there.
std::vector<std::string> beside(Disk& disk, System& system, const std::vector<int64_t>& pids, const Saver& saver) {
  std::set<std::string> roots;
  for (const auto& [path, saved] : saved_beside(disk, system, pids, saver.layout)) roots.insert(folder_of(path));
  return {roots.begin(), roots.end()};
}

}  // namespace

std::vector<NamedFiles> find_named_files(Disk& disk, const std::set<std::string>& folders) {
  std::vector<NamedFiles> out;
  for (const std::string& folder : folders) {
    const auto names = disk.list(folder);
    const auto files = names.ok() ? checkpoint_files_in(disk, folder, *names) : std::vector<FoundCheckpoint>();
    NamedFiles one;
    std::vector<std::string> numbered;
    for (const FoundCheckpoint& file : files) {
      const auto info = file.step == kNoStep ? Result<FileInfo>(Error{}) : disk.info(file.path);
      if (!info.ok()) continue;
      numbered.emplace_back(basename(file.path));
      one.saved[file.path] = {file.step, info->changed};
    }
    one.folder = folder;
    one.pattern = pattern_of_files(numbered);
    if (!one.pattern.empty()) out.push_back(std::move(one));
  }
  return out;
}

namespace {

/// Where files that are checkpoints may lie: declared folders and those in them, and where the run's files say, or
/// show, that it saved one.
std::set<std::string> folders_of_files(Disk& disk, const StrangeNamesScope& scope, const std::set<std::string>& said) {
  std::set<std::string> folders = said;
  for (const std::string& root : scope.roots) {
    const std::string plain = plain_path(root);
    folders.insert(plain);
    const auto names = disk.list(plain);
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
      if (!name.starts_with(".") && folders.size() < kFolders) folders.insert(cat(plain, "/", name));
    }
  }
  return folders;
}

/// Folders of files that the run said it saved.
std::set<std::string> said_in(const State& state, const std::string& folder) {
  std::set<std::string> out;
  for (const auto& [moment, saved] : state.checkpoints) {
    if (step_of_file(basename(saved.path)) == kNoStep || out.size() >= kFolders) continue;
    out.insert(folder_of(plain_path(saved.path.starts_with("/") ? saved.path : cat(folder, "/", saved.path))));
  }
  return out;
}

/// Folders in which one of these processes has a file open to write just now that may be a checkpoint.
std::set<std::string> writing_in(System& system, const std::vector<int64_t>& pids) {
  std::set<std::string> folders;
  for (const int64_t pid : pids) {
    for_each_open(system, cat(pid), [&folders](const std::string& path, const auto& to_write) {
      if (step_of_file(basename(path)) != kNoStep && path.starts_with("/") && to_write())
        folders.insert(folder_of(path));
    });
  }
  return folders;
}

}  // namespace

void StrangeNamesTask::say(const std::string& words, EventWriter& writer) {
  scope_.say(words);
  (void)writer.note({"midwatch", clip(words, kTextLimit)}, clock_.now()).ok();
}

void StrangeNamesTask::learn(const std::string& saver, const std::string& folder, EventWriter& writer) {
  learnt_ = true;
  writer.observed(std::string(kScanSource), event::SavesAs{saver, folder});
}

void StrangeNamesTask::take(const Answer& answer, const State& state, EventWriter& writer) {
  written_.insert(answer.written.begin(), answer.written.end());
  writing_.insert(answer.writing.begin(), answer.writing.end());
  if (!answer.saver.empty()) {
    learn(answer.saver, answer.root, writer);
    return scope_.say(cat("checkpoints in ", answer.root, " are ", answer.saver,
                          "'s: their numbers count saves and are no steps. They are watched from now on"));
  }
  // The names say steps, and each was made when the run had just reached its own. Within the first seconds a count of
  // saves may be as near to the steps.
  for (const NamedFiles& files : answer.files) {
    const bool late = std::any_of(files.saved.begin(), files.saved.end(),
                                  [this](const auto& one) { return one.second.changed - since_ >= kTellsSteps; });
    if (!late || steps_.folder_of(files.saved) != files.folder) continue;
    if (std::exchange(said_files_, true)) break;
    say(cat("files named ", files.pattern, " in ", files.folder,
            " may be checkpoints: a restart does not pass over a broken one of them. If they are, say pattern = \"",
            files.pattern, "\" of [checkpoints] in midwatch.toml"),
        writer);
  }
  const CheckpointLayout expected = scope_.layout(state.framework);
  if (answer.strange && !said_ && answer.strange->strange_to(expected)) {
    said_ = true;
    const StrangeNames& names = *answer.strange;
    say(cat("checkpoints in ", names.folder, " have names such as ", names.example,
            expected.known() ? cat(" and not ", expected.folder, ", as is expected of ",
                                   state.framework.empty() ? "this run" : state.framework)
                             : ", which no framework is known by",
            ": a restart does not pass over a broken one of them, and none is removed by a rule. Say pattern = \"",
            names.pattern, "\" of [checkpoints] in midwatch.toml"),
        writer);
  }
  // Of one that is being written now it is seen soon who does.
  if (!answer.beside.empty() && answer.beside == beside_ && !said_beside_) {
    said_beside_ = true;
    say(cat("checkpoints in ", answer.beside,
            " appeared since the run began, and no process of it was seen to write them: a restart does not pass over "
            "a broken one of them. If they are this run's, start it with --checkpoints ",
            answer.beside),
        writer);
  }
  if (answer.searched_beside) beside_ = answer.beside;
}

void StrangeNamesTask::look_for_savers(const Question& question, Answer& answer) {
  const StrangeNamesScope& scope = question.scope;
  for (const Saver& saver : scope.savers) {
    std::vector<std::string> places = places_of(scope.roots, saver);
    Writers own;
    answer.written = written_now(*scope.system, question.pids, saver.layout);
    for (const std::string& folder : answer.written) own.own.insert(folder_of(folder));
    for (const std::string& folder : question.written) places.push_back(folder_of(folder));
    if (!own.own.empty()) note_writers(*scope.disk, scope.run_folder, own);
    if (!question.search && !question.near) continue;
    answer.root = find_counted(*scope.disk, places, saver, question.own, question.since);
    if (!answer.root.empty()) {
      answer.saver = saver.framework;
      return;
    }
    if (!question.near) continue;
    answer.beside = find_counted(*scope.disk, beside(*scope.disk, *scope.system, question.pids, saver), saver,
                                 question.own, question.since);
  }
}

StrangeNamesTask::Answer StrangeNamesTask::answer_to(const Question& question) {
  const StrangeNamesScope& scope = question.scope;
  Answer answer;
  answer.searched_beside = question.near;
  look_for_savers(question, answer);
  if (!answer.saver.empty()) return answer;
  if (question.files) {
    answer.writing = writing_in(*scope.system, question.pids);
    if (question.search)
      answer.files = find_named_files(*scope.disk, folders_of_files(*scope.disk, scope, question.said));
  }
  if (!question.strange) return answer;
  answer.strange = find_strange_names(*scope.disk, scope.roots, question.own, question.since);
  if (answer.strange && may_be_begun(*scope.disk, *answer.strange, scope.savers)) answer.strange.reset();
  return answer;
}

void StrangeNamesTask::ask(const State& state) {
  const auto due = [now = clock_.steady()](Duration& last, Duration period) {
    if (last.ns != 0 && now.ns - last.ns < period.ns) return false;
    last = now;
    return true;
  };
  Question question{scope_, scope_.layout(state.framework), scope_.members(), since_};
  question.search = due(searched_, kPeriod);
  question.near = !said_beside_ && due(searched_beside_, kBeside);
  question.strange = !said_ && question.search;
  question.files = !said_files_ && !question.own.known();
  question.written = written_;
  question.said = said_in(state, scope_.folder);
  question.said.insert(writing_.begin(), writing_.end());
  call_.start([question = std::move(question)] {
    const Duration began = thread_cpu_time();
    Answer answer = answer_to(question);
    answer.cost = {thread_cpu_time().ns - began.ns};
    return answer;
  });
}

std::optional<Duration> StrangeNamesTask::turn(const State& state, bool, EventWriter& writer) {
  if (!state.attempts.empty()) steps_.at(clock_.now(), state.attempts.back().last_step);
  if (auto answer = call_.take()) {
    const Duration longest = clock_.now() - since_ < kYoung ? kOften : kBeside;
    next_ = {clock_.steady().ns + std::clamp(answer->cost.ns * kRest, kWriters.ns, longest.ns)};
    if (!learnt_ && state.saves_as.empty()) take(*answer, state, writer);
  }
  // What it saves by its framework's own names is known.
  const bool known =
      learnt_ || !state.saves_as.empty() || (!state.checkpoint_scans.empty() && scope_.layout(state.framework).known());
  if (state.attempts.empty() || known) return kPeriod;
  if (!call_.started() && clock_.steady() >= next_) ask(state);
  return call_.started() ? kSoon : kWriters;
}

}  // namespace mw
