#include "act/supervise/rollback_plan.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "act/fleet/shell_word.h"
#include "base/checksum.h"
#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "core/resume_advice.h"
#include "core/trainings.h"
#include "platform/durable.h"
#include "platform/paths.h"
#include "sense/checkpoints/parts.h"
#include "sense/checkpoints/roots.h"
#include "sense/checkpoints/scan.h"

namespace mw {
namespace {

using How = event::CheckpointSeen::How;

constexpr int64_t kLead = 16;  // steps that one part of a trainer may be ahead of another

/// "checkpoints of step 5, 10".
std::string listed(const CheckpointLayout& layout, const std::vector<int64_t>& numbers) {
  std::string text;
  for (const int64_t one : numbers) {
    text += text.empty() ? "" : ", ";
    text += layout.counts_saves ? with_step(layout.folder, one) : cat(one);
  }
  return cat("checkpoints ", layout.counts_saves ? "" : "of step ", text);
}

/// Before the next attempt begins: where a link leads now, and of one that leads to nothing how to mend it.
std::string said_of(const CheckpointLayout& layout, const Quarantined::Link& link, const Quarantined& done) {
  if (link.trouble.empty() && !link.to.empty())
    return cat("; the link ", link.path, ", which led to ", link.before, ", is moved with it");
  if (!link.through.empty())
    return cat("; the link ", link.path, ", which leads to ", link.before, ", leads to ",
               number_called(layout, done.kept), " through it");
  if (link.trouble.empty()) return cat("; the link ", link.path, " leads to ", link.after, " now");
  const std::string path = fleet::shell_word(link.path);
  return cat("; THE LINK ", link.path, " LEADS TO NOTHING NOW (it led to ", link.before, "; ", link.trouble, "): ",
             link.mend.empty() ? cat("rm ", path, " removes it")
                               : cat("ln -sfn ", fleet::shell_word(link.mend), " ", path, " leads it to ",
                                     number_called(layout, done.kept)));
}

/// The checkpoints of one folder, before and after the step of the rollback.
struct Sorted {
  std::set<int64_t> own;                    ///< of this run, older
  std::set<int64_t> older;                  ///< all of those, whosever
  std::set<int64_t> left;                   ///< newer ones that are not proven to be this run's
  std::vector<QuarantinePlan::Item> items;  ///< newer ones that are
};

/// What became of the pointer: "; PATH said 50 and says 40 now".
std::string said_of_pointer(const Quarantined& done) {
  if (done.pointer.empty()) return "";
  const std::string before = done.pointer_missed           ? "was missing"
                             : done.pointer_before.empty() ? "was empty"
                                                           : cat("said ", clip(done.pointer_before, 100));
  return done.pointer_after ? cat("; ", done.pointer, " ", before, " and says ", *done.pointer_after, " now")
                            : cat("; ", done.pointer, ", which ", before, ", is out of the way");
}

class RootPlan {
 public:
  RootPlan(Disk& disk, const RollbackScope& scope, const std::string& root, int64_t from)
      : disk_(disk), scope_(scope), root_(root), from_(from) {}

  Result<void> make() {
    MW_TRY(sort());
    plan.root = root_;
    plan.label = scope_.label;
    plan.items = sorted_.items;
    plan.keep = sorted_.own.empty() ? kNoStep : *sorted_.own.rbegin();
    if (!scope_.layout.pointer.empty()) {
      MW_TRY(by_pointer());
    } else if (!scope_.resume_given) {
      by_number();
    }
    // Where nothing of it was ever whole, nothing is given up that a person would want to go on from.
    const bool any = std::any_of(plan.items.begin(), plan.items.end(), [this](const QuarantinePlan::Item& item) {
      const bool half = scope_.way && scope_.way->halves.count(item.step) != 0;
      return !half && !is_broken(item.step);
    });
    const bool had = scope_.had_whole && !plan.items.empty();
    if ((any || had) && plan.keep == kNoStep) from_nothing = true;
    if (trouble.empty() && !scope_.resume_given) unproven();
    return {};
  }

  QuarantinePlan plan;
  bool from_nothing = false;
  std::string trouble;

 private:
  Result<void> sort() {
    const auto steps = checkpoint_steps(disk_, root_, scope_.layout);
    if (!steps.ok()) return steps.error();
    for (const int64_t step : *steps) {
      const auto whose = whose_is(disk_, scope_.own, root_, scope_.layout, step);
      if (!whose.ok()) return whose.error();
      const bool own = *whose == Whose::kOwn;
      const auto left_at_exit = is_left_at_exit(step, *whose);
      if (!left_at_exit.ok()) return left_at_exit.error();
      if (step < from_) {
        sorted_.older.insert(step);
        if ((own || scope_.own.resumed.count(step) != 0) && !is_broken(step)) sorted_.own.insert(step);
      } else if ((!own && !*left_at_exit) || is_written(step)) {
        sorted_.left.insert(step);
      } else {
        const auto info = disk_.info(cat(root_, "/", with_step(scope_.layout.folder, step)));
        if (!info.ok()) return info.error();
        sorted_.items.push_back({step, {info->device, info->inode}});
      }
    }
    return {};
  }

  /// Some parts of a trainer save once more at any exit, between two saves and ahead of what was trained (prime-rl's
  /// orchestrator): what no weights came to, right behind the last save, is the run's by its times and its folder
  /// alone.
  Result<bool> is_left_at_exit(int64_t step, Whose by_itself) {
    const Ownership& of = scope_.own;
    int64_t reached = kNoStep;
    for (const Ownership::Range& range : of.steps) reached = std::max(reached, range.highest);
    const bool near = step >= from_ && by_itself == Whose::kUnknown && !of.logged.empty() &&
                      step > *of.logged.rbegin() && step <= reached + kLead;
    if (!near || !is_broken(step)) return false;
    const CheckpointScan scan =
        scan_checkpoint(disk_, cat(root_, "/", with_step(scope_.layout.folder, step)), step, nullptr);
    if (!scan.there || scan.partial || !scan.weights.empty() || !scan.settings_only) return false;
    Ownership named = of;
    named.logged.insert(step);
    const auto whose = whose_is(disk_, named, root_, scope_.layout, step);
    return whose.ok() ? Result<bool>(*whose == Whose::kOwn) : Result<bool>(whose.error());
  }

  /// Somebody writes it just now, after this run's attempt has ended.
  bool is_written(int64_t step) const {
    return scope_.way && !scope_.way->written.empty() &&
           scope_.way->written.count(cat(real_path(root_), "/", with_step(scope_.layout.folder, step))) != 0;
  }

  bool is_broken(int64_t step) const {
    if (!scope_.way) return false;
    const std::string folder = cat(root_, "/", with_step(scope_.layout.folder, step));
    return std::any_of(scope_.way->seen.begin(), scope_.way->seen.end(),
                       [&folder](const auto& seen) { return seen.path == folder && seen.how == How::kBroken; });
  }

  Result<void> by_pointer() {
    const auto asked = ask_pointer(disk_, root_, scope_.layout);
    if (!asked.ok()) return asked.error();
    const auto& text = *asked;
    if (!text) {
      const bool lost = scope_.way && scope_.way->pointerless.count(root_) != 0;
      plan.set_pointer = lost && plan.keep != kNoStep && !scope_.resume_given;
      return {};
    }
    const auto named = step_in(scope_.layout.pointer_text, *text);
    const bool dangles = pointer_dangles(disk_, root_, scope_.layout);
    if (named && *named < from_ && sorted_.own.count(*named) == 0) {
      const std::vector<std::string> here{root_};
      const auto anothers =
          anothers_in_the_way(disk_, {scope_.own, scope_.layout, here, scope_.way, scope_.resume_given, scope_.label});
      if (!anothers.ok()) return anothers.error();
      trouble = *anothers;
    }
    if (named && sorted_.left.count(*named) != 0) {
      if (!scope_.resume_given) not_ours(*named, cat("the pointer of ", root_, " names"));
      return {};
    }
    if (set_misled(*text)) return {};
    if (!dangles && (!named || *named < from_)) return {};
    // Of a folder in which there is nothing of this run's the pointer is not this run's either.
    plan.set_pointer = !sorted_.items.empty() || plan.keep != kNoStep;
    return {};
  }

  /// It names what is broken and stays where it is: it is to name what is kept.
  bool set_misled(const std::string& text) {
    if (!scope_.way) return false;
    const auto misled = scope_.way->misled.find(root_);
    if (misled == scope_.way->misled.end() || misled->second != text) return false;
    if (scope_.resume_given) return true;
    if (plan.keep == kNoStep) {
      trouble = cat("the pointer of ", root_, " names what is broken, and no other checkpoint there is proven to be ",
                    "this run's own");
      return true;
    }
    plan.set_pointer = true;
    plan.misled = text;
    return true;
  }

  /// The framework takes the highest number.
  void by_number() {
    if (!sorted_.left.empty())
      return not_ours(*sorted_.left.rbegin(), cat("the trainer would resume in ", root_, " from"));
    if (sorted_.items.empty() || sorted_.older.empty()) return;
    const int64_t next = *sorted_.older.rbegin();
    if (sorted_.own.count(next) == 0) not_ours(next, cat("without them the trainer would resume in ", root_, " from"));
  }

  /// The last whole one is there, and may not be pointed at: with the pointer out of the way the trainer would begin
  /// from nothing, and save over it.
  void unproven() {
    const int64_t kept = scope_.way ? scope_.way->kept : kNoStep;
    if (!plan.set_pointer || plan.keep != kNoStep || sorted_.older.count(kept) == 0 || is_broken(kept)) return;
    trouble = cat(checkpoint_called(scope_.layout, kept), " in ", root_,
                  " is whole and not proven to be this run's own, and without it the trainer would begin from nothing");
  }

  void not_ours(int64_t step, const std::string& what) {
    trouble = cat(what, " ", checkpoint_called(scope_.layout, step), ", which is ",
                  is_broken(step) ? "broken" : "not proven to be this run's own");
  }

  Disk& disk_;
  const RollbackScope& scope_;
  const std::string& root_;
  int64_t from_;
  Sorted sorted_;
};

/// "" where all roles of the run would resume from one step once that is done; else what speaks against it.
std::string roles_apart(Disk& disk, const RollbackScope& scope, const std::vector<QuarantinePlan>& plans) {
  const auto plan_of = [&plans](const std::string& root) {
    return std::find_if(plans.begin(), plans.end(), [&root](const auto& one) { return one.root == root; });
  };
  const auto steps_of = [&](const std::string& root) {
    const auto steps = checkpoint_steps(disk, root, scope.layout);
    return steps.ok() ? *steps : std::vector<int64_t>();
  };
  for (const QuarantinePlan& plan : plans) {
    const std::string other = other_role_of(plan.root);
    const auto beside = plan_of(other);
    const bool known = std::find(scope.roots.begin(), scope.roots.end(), other) != scope.roots.end();
    if (!plan.set_pointer || !known) continue;
    const auto text = read_pointer(disk, other, scope.layout);
    const auto named = text ? step_in(scope.layout.pointer_text, *text) : std::nullopt;
    const int64_t then = beside != plans.end() && beside->set_pointer ? beside->keep : named.value_or(plan.keep);
    if (then == plan.keep) continue;
    if (is_left_behind(other, steps_of(other), steps_of(plan.root))) continue;
    const auto said = [](int64_t step) {
      return step == kNoStep ? std::string("from nothing") : cat("from step ", step);
    };
    return cat(basename(plan.root), " would resume ", said(plan.keep), " and ", basename(other), " ", said(then));
  }
  return "";
}

}  // namespace

Result<std::string> anothers_in_the_way(Disk& disk, const RollbackScope& scope) {
  const CheckpointLayout& layout = scope.layout;
  if (scope.resume_given || !layout.known() || layout.counts_saves) return std::string();
  for (const std::string& root : scope.roots) {
    const auto steps = checkpoint_steps(disk, root, layout);
    if (!steps.ok()) return steps.error();
    std::optional<int64_t> next;
    if (layout.pointer.empty()) {
      if (!steps->empty()) next = *std::max_element(steps->begin(), steps->end());
    } else {
      const auto asked = ask_pointer(disk, root, layout);
      if (!asked.ok()) return asked.error();
      if (*asked) next = step_in(layout.pointer_text, **asked);
    }
    if (!next || !is_anothers(scope.own, *next)) continue;
    const std::string name = with_step(layout.folder, *next);
    const auto info = disk.info(cat(root, "/", name));
    if (!info.ok() && is_silent(info.error())) return info.error();
    if (!info.ok() || scope.own.snapshot.had(plain_path(root), name, {info->device, info->inode})) continue;
    const auto whose = whose_is(disk, scope.own, root, layout, *next);
    if (!whose.ok()) return whose.error();
    if (*whose == Whose::kOwn) continue;
    return cat(layout.pointer.empty() ? "the trainer would resume in " : "the pointer of ", root,
               layout.pointer.empty() ? " from " : " names ", checkpoint_called(layout, *next),
               ", which this run's log does not name among its saves: another run saves there, too");
  }
  return std::string();
}

Result<RollbackPlan> plan_rollback(Disk& disk, const RollbackScope& scope, Rollback back) {
  RollbackPlan out;
  out.back = std::move(back);
  out.back.plans.clear();
  if (out.back.from == kNoStep) {
    auto anothers = anothers_in_the_way(disk, scope);
    if (!anothers.ok()) return anothers.error();
    out.trouble = std::move(*anothers);
    return out;
  }
  out.from = number_called(scope.layout, out.back.from);
  for (const std::string& root : scope.roots) {
    RootPlan one(disk, scope, root, out.back.from);
    MW_TRY(one.make());
    if (out.trouble.empty()) out.trouble = one.trouble;
    out.from_nothing = out.from_nothing || one.from_nothing;
    if (one.plan.items.empty() && !one.plan.set_pointer) continue;
    out.back.plans.push_back(std::move(one.plan));
    out.back.roots.push_back(root);
  }
  if (out.trouble.empty()) out.trouble = roles_apart(disk, scope, out.back.plans);
  if (!out.trouble.empty()) out.back.plans.clear();
  return out;
}

bool had_whole(const State& state, const std::optional<LastWhole>& way) {
  const EarlierTrainings earlier(state);
  const auto of_earlier = [&earlier](size_t by, int64_t, const std::string& path) { return earlier.has(by, path); };
  if (left_whole(state, state.attempts.size(), kNoStep, of_earlier)) return true;
  const bool found = std::any_of(state.checkpoint_scans.begin(), state.checkpoint_scans.end(), [&](const auto& scan) {
    const auto& [moment, seen] = scan;
    return seen.how == How::kWhole && seen.lacks.empty() && !earlier.has(moment.attempt, seen.path);
  });
  std::set<int64_t> broken;
  for (const event::CheckpointSeen& seen : way ? way->seen : std::vector<event::CheckpointSeen>()) {
    if (seen.how == How::kBroken) broken.insert(seen.step);
  }
  // A trainer that deletes the old one does so once the new one is done.
  return found || std::any_of(state.checkpoints.begin(), state.checkpoints.end(), [&](const auto& saved) {
           const auto& [moment, one] = saved;
           return one.step != kNoStep && broken.count(one.step) == 0 && !earlier.has(moment.attempt, one.path) &&
                  trained_past(state, moment, one.step);
         });
}

std::string quarantine_label(const std::string& run_folder, int attempt, Time began) {
  char id[17];
  std::snprintf(id, sizeof id, "%016llx", static_cast<unsigned long long>(fnv1a(cat(run_folder, " ", began.ns))));
  return cat("attempt-", attempt, "-of-", clip(basename(run_folder), 100), "-", std::string_view(id, 8));
}

bool may_roll_back(const RollbackPlan& plan, const RunSpec& spec) {
  if (!plan.trouble.empty()) return false;
  return !plan.from_nothing || spec.from_scratch || spec.restarting == Mode::kAsk;
}

void guard_rollback(const RollbackPlan& plan, const RunSpec& spec, Judgement& judgement) {
  RestartDecision& decision = judgement.decision;
  if (!decision.restart) return;
  if (!plan.trouble.empty()) {
    decision.restart = false;
    decision.why = cat(decision.why, " But ", plan.trouble, ": a person must look.");
  } else if (plan.from_nothing && !spec.from_scratch) {
    const std::string what = cat(decision.why, " No checkpoint of this run from before ", plan.from,
                                 " is left to resume from: it would begin from nothing.");
    if (spec.restarting == Mode::kAsk) {
      judgement.asks = true;
      decision.why = what;
    } else {
      decision.restart = false;
      decision.why = cat(what, " That is for a person to say (--from-scratch allows it).");
    }
  }
}

QuarantineManifest quarantine_note(const std::string& run_folder, int attempt, Time at, const std::string& why) {
  QuarantineManifest of;
  of.run_folder = run_folder;
  of.attempt = attempt;
  of.at = at;
  of.why = why;
  return of;
}

std::string said_of_exposed(const Quarantined& done) {
  if (done.exposed.empty()) return "";
  return cat(", WHERE THE TRAINER TAKES THAT FOLDER FOR A CHECKPOINT AND MAY DELETE IT (not beside it, as ",
             done.exposed, "): copy elsewhere what you want to keep");
}

Result<std::string> roll_back(Disk& disk, const CheckpointLayout& layout, const Rollback& back,
                              const QuarantineManifest& of, const KeepManifest& elsewhere) {
  std::string text;
  bool moved = false;
  for (const QuarantinePlan& plan : back.plans) {
    const auto done = quarantine(disk, layout, plan, of, elsewhere);
    if (!done.ok()) return done.error();
    moved = moved || !done->moved.empty() || plan.set_pointer;
    text += text.empty() ? "" : "; ";
    text += done->moved.empty()
                ? cat(plan.root, ": no checkpoint is moved")
                : cat("moved the ", listed(layout, done->moved), " to ", done->folder, said_of_exposed(*done));
    text += said_of_pointer(*done);
    text += done->kept == kNoStep
                ? "; none is left to resume from: the trainer begins anew, or ends where it insists on one"
                : cat("; ", number_called(layout, done->kept), " is the newest now");
    for (const Quarantined::Link& link : done->links) text += said_of(layout, link, *done);
    if (!done->manifest.empty()) text += cat("; that disk is full, and the manifest lies in ", done->manifest);
  }
  return moved ? cat(text, "; midwatch restore --run ", basename(of.run_folder), " puts it back") : text;
}

bool may_pass(const Error& error) {
  return error.code == Error::Code::kIo || error.code == Error::Code::kFull || error.code == Error::Code::kInterrupted;
}

Rollback rollback_from(int64_t suspect, const std::optional<LastWhole>& way) {
  Rollback back;
  const bool broken = way && way->from != kNoStep;
  if (suspect != kNoStep) {
    back.from = suspect;
    back.why = "They were saved after the data had turned to poison.";
  }
  if (broken && (back.from == kNoStep || way->from < back.from)) back.from = way->from;
  if (broken) back.why += cat(back.why.empty() ? "" : " Also: ", way->why, ".");
  return back;
}

}  // namespace mw
