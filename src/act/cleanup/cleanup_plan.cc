#include "act/cleanup/cleanup_plan.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "act/cleanup/cleanup_roots.h"
#include "act/cleanup/core_dumps.h"
#include "act/cleanup/explain_others.h"
#include "act/cleanup/linked_checkpoints.h"
#include "act/cleanup/persons_file.h"
#include "act/cleanup/quarantine_wait.h"
#include "act/cleanup/read_in_full.h"
#include "act/cleanup/stale_resources.h"
#include "act/cleanup/trainers_best.h"
#include "act/cleanup/training_trees.h"
#include "act/cleanup/unfinished_removals.h"
#include "base/text.h"
#include "platform/durable.h"
#include "platform/paths.h"
#include "platform/uses.h"
#include "sense/checkpoints/quarantine.h"
#include "sense/checkpoints/scan.h"

namespace mw {
namespace {

using How = event::CheckpointSeen::How;

constexpr size_t kScanned = 128;  // checkpoints of one folder, the newest
constexpr std::string_view kOld = kOldCheckpoints, kBroken = kBrokenCheckpoints;
constexpr Duration kStill = Duration::seconds(600);  // for which nobody has touched a broken one

class Planner {
 public:
  Planner(Disk& disk, const CleanupDoors& doors, const CleanupScope& scope, const CleanupSettings& settings)
      : disk_(disk), doors_(doors), scope_(scope), settings_(settings), facts_(scope.facts) {}

  /// Where the run saves is not known, so no checkpoint goes.
  void roots_unknown(const Error& error) {
    silent(error);
    plan_.unsure = true;
  }

  CleanupPlan plan() {
    for (const std::string& word : settings_.what) {
      if (word == kCoreDumps) {
        plan_core_dumps(disk_, scope_, plan_);
      } else if (word == kSharedMemory || word == kRaySessions) {
        plan_stale_resources(disk_, doors_, scope_, word, settings_.shared, plan_);
      } else if (scope_.layout.known()) {
        for (const std::string& root : roots()) unfinished(root, word);
        if (word == kOld) note_what_no_rule_removes(disk_, scope_, settings_.keep_last, plan_);
        if (word == kUnfinished || !answers()) continue;
        for (const std::string& root : roots()) checkpoints(root, word);
      }
    }
    return std::move(plan_);
  }

 private:
  std::vector<std::string> roots() const {
    std::vector<std::string> found;
    for (const std::string& root : scope_.roots) {
      if (check_root(root).ok()) found.push_back(root);
    }
    return found;
  }

  /// Does the disk say of all roots what lies there? Of trees that belong together one alone says too little.
  bool answers() {
    for (const std::string& root : roots()) {
      (void)scans(root);
      const auto pointer = ask_pointer(disk_, root, scope_.layout);
      if (!pointer.ok()) silent(pointer.error());
      if (pointer.ok() && *pointer) pointed_[root] = step_in(scope_.layout.pointer_text, **pointer);
    }
    find_links();
    return !silent_;
  }

  void silent(const Error& error) {
    if (!std::exchange(silent_, true))
      plan_.notes.push_back(cat("No checkpoint goes while the disk does not answer: ", error.what));
  }

  /// What an earlier one left in the middle.
  void unfinished(const std::string& root, const std::string& word) {
    UnfinishedRemovals found = unfinished_removals(disk_, root, scope_.removals, word);
    plan_.unsure = plan_.unsure || found.unsure;
    for (CleanupItem& item : found.items) {
      if (unfinished_.insert(cat(item.root, "/", item.name)).second) plan_.items.push_back(std::move(item));
    }
  }

  /// What the scans of the run's own checkpoints in one folder found, by step.
  const std::map<int64_t, CheckpointScan>& scans(const std::string& root) {
    const auto known = scans_.find(root);
    if (known != scans_.end()) return known->second;
    auto& found = scans_[root];
    auto steps = checkpoint_steps(disk_, root, scope_.layout);
    if (!steps.ok() && steps.error().code != Error::Code::kNotFound) silent(steps.error());
    if (!steps.ok()) return found;
    const size_t skip = steps->size() > kScanned ? steps->size() - kScanned : 0;
    std::optional<CheckpointScan> before;
    for (size_t i = skip; i < steps->size(); ++i) {
      const auto whose = whose_is(disk_, scope_.own, root, scope_.layout, (*steps)[i]);
      if (!whose.ok()) silent(whose.error());
      if (!whose.ok() || *whose != Whose::kOwn) continue;
      const auto ahead = is_ahead(disk_, scope_.own, root, scope_.layout, *steps, (*steps)[i]);
      if (!ahead.ok()) silent(ahead.error());
      plan_.waits = plan_.waits || (ahead.ok() && *ahead);
      if (!ahead.ok() || *ahead) continue;
      const std::string folder = cat(root, "/", with_step(scope_.layout.folder, (*steps)[i]));
      CheckpointScan scan =
          scan_checkpoint(disk_, folder, step_of_number(scope_.layout, (*steps)[i]), before ? &*before : nullptr);
      found[(*steps)[i]] = scan;
      if (scan.seen.how == How::kWhole) before = std::move(scan);
    }
    return found;
  }

  /// Of what was written while both lived nobody knows whose it is.
  void say_who_else_saves(const std::string& root) {
    const Ownership::Other* other = scope_.own.lived_beside(plain_path(root));
    const auto steps = checkpoint_steps(disk_, root, scope_.layout);
    if (other == nullptr || !steps.ok() || steps->empty()) return;
    note(cat("Run ", other->name, " saves in ", root,
             ", too: what was written there while both lived stays, as nobody knows whose it is"));
  }

  /// Weights and optimizers may lie in trees of their own, which have steps in common: is what the others have of this
  /// step whole? A tree that holds every such step holds this one, too.
  bool paired(const std::string& root, int64_t step) {
    const auto& all = scans(root);
    const std::vector<std::string> together = trainings_.with(root, roots());
    return std::all_of(together.begin(), together.end(), [&](const std::string& other) {
      if (other == root) return true;
      const auto& beside = scans(other);
      const bool any =
          std::any_of(all.begin(), all.end(), [&](const auto& one) { return beside.count(one.first) != 0; });
      const auto same = beside.find(step);
      return !any || (same != beside.end() && same->second.seen.how == How::kWhole);
    });
  }

  const std::map<std::string, Use>& used(const std::string& root) {
    const auto [known, anew] = used_.try_emplace(root);
    if (anew) known->second = used_or_named_below(doors_.system, root, ::getpid());
    return known->second;
  }

  /// What holds it in one of the trees of that training, a process, a link or the trainer's pointer, one clause: what
  /// belongs to it in the others stays, too. "": nothing. Links in those that `goes` hold nothing.
  std::string held_by(const std::string& of, int64_t step, const std::set<int64_t>& goes) {
    const std::string name = with_step(scope_.layout.folder, step);
    for (const std::string& root : trainings_.with(of, roots())) {
      const auto scan = scans(root).find(step);
      if (scan != scans(root).end() && (!scan->second.there || scan->second.partial)) {
        note(cat("Not all of ", root, "/", name, " can be read: it stays, and what belongs to it"));
        return "not all of it can be read";
      }
      if (const auto use = used(root).find(name); use != used(root).end())
        return use->second.pid == 0 ? "it is in use" : cat("process ", use->second.pid, " ", use->second.how);
      if (pointed_[root] == step) return cat("the trainer's pointer, ", scope_.layout.pointer, ", names it");
      if (best_of_trainer(root) == name) return "the trainer calls it its best one";
    }
    if (const std::string& link = links_.link_to(step, goes); !link.empty()) return cat("a link leads to it, ", link);
    return facts_.sending.count(step) != 0 ? "it is being shipped" : "";
  }

  void checkpoints(const std::string& root, const std::string& word) {
    const auto& all = scans(root);
    if (word == kOld) say_who_else_saves(root);
    if (word == kOld && settings_.explain) explain_others(disk_, scope_, root, plan_);
    std::vector<int64_t> whole;  // the newest first
    for (auto one = all.rbegin(); one != all.rend(); ++one) {
      if (one->second.seen.how == How::kWhole && paired(root, one->first)) whole.push_back(one->first);
    }
    if (whole.empty()) return;  // also where nothing is proven to be this run's
    std::set<int64_t> goes;
    const auto put = [&](int64_t step, std::string why) {
      if (step == whole.front()) return;
      const auto one = all.find(step);
      const std::string name = with_step(scope_.layout.folder, step);
      const auto info = disk_.info(cat(root, "/", name));
      if (!info.ok() || !held_by(root, step, goes).empty()) return;
      if (const std::string file = put_there(step); !file.empty()) {
        why = cat("a person put ", file, " into it");
        plan_.left.push_back({word, root, name, one->second.seen.bytes, std::move(why), {}});
        return;
      }
      CleanupItem item{word, root, name, one->second.seen.bytes, std::move(why), identity_of(*info)};
      item.beside = scope_.layout.takes_any_folder;
      item.grounds = grounds(root, whole, goes);
      item.grounds->layout = scope_.layout;
      item.grounds->roots = trainings_.with(root, roots());
      item.grounds->number = step;
      item.grounds->state = one->second.state;
      plan_.items.push_back(std::move(item));
    };
    if ((word == kBroken || word == kOld) && !may_go_by_rules()) return;
    if (word == kBroken) {
      for (const auto& [step, scan] : all) {
        if (scan.seen.how == How::kBroken && step < whole.front() && is_left(scan, all.at(whole.front())) &&
            is_proven(root, step)) {
          put(step, cat(checkpoint_called(scope_.layout, step), " is broken: ", scan.seen.what));
        }
      }
    } else if (word == kQuarantine) {
      for (const OwnFolder& place : quarantine_places(root)) quarantined(root, place, whole);
    } else if (word == kOld) {
      std::map<int64_t, std::string> why;
      for (const RetentionVerdict& one : judge_old(root, all)) {
        if (one.goes) why[one.step] = one.why;
        if (one.goes) goes.insert(one.step);
      }
      for (const int64_t step : links_.in_order(goes))
        put(step, cat(checkpoint_called(scope_.layout, step), ": ", why[step]));
    }
  }

  /// By the rules, with what there is to say of those that stay.
  std::vector<RetentionVerdict> judge_old(const std::string& root, const std::map<int64_t, CheckpointScan>& all) {
    add_reads_by_hand(disk_, folder_of(folder_of(scope_.run_folder)), all, facts_);
    auto verdicts = retention(root, all);
    const bool any = std::any_of(verdicts.begin(), verdicts.end(), [](const auto& one) { return one.goes; });
    if (any && ask_store()) verdicts = retention(root, all);
    for (const RetentionVerdict& one : verdicts) {
      plan_.waits = plan_.waits || one.no_value;
      if (one.no_value) note(cat("No old checkpoint goes: ", one.why));
      if (one.goes || !settings_.explain) continue;
      plan_.left.push_back({std::string(kOld),
                            root,
                            with_step(scope_.layout.folder, one.step),
                            all.at(one.step).seen.bytes,
                            one.why,
                            {}});
      plan_.left.back().advised = one.advised;
    }
    if (settings_.explain) note(what_was_read(root, verdicts, all, facts_));
    return verdicts;
  }

  /// The path of a person's file in what has that number, in whichever of the trees; "": there is none.
  const std::string& put_there(int64_t step) {
    const auto known = put_there_.find(step);
    if (known != put_there_.end()) return known->second;
    std::string& file = put_there_[step];
    const auto folder = [this](const std::string& root, int64_t of) {
      return cat(root, "/", with_step(scope_.layout.folder, of));
    };
    for (const std::string& root : roots()) {
      if (scans(root).count(step) == 0 || !file.empty()) continue;
      std::vector<std::pair<std::string, int64_t>> others;
      for (const auto& [other, scan] : scans(root))
        if (other != step) others.emplace_back(folder(root, other), other);
      const std::string found = persons_file(disk_, folder(root, step), step, others);
      if (!found.empty()) file = cat(folder(root, step), "/", found);
    }
    return file;
  }

  /// Nobody is at it: nothing of it was touched since a newer one was whole, or for a while.
  bool is_left(const CheckpointScan& broken, const CheckpointScan& newer) const {
    if (never_was_whole(broken, newer)) return true;
    const Time touched = std::max(broken.touched, broken.newest);
    return scope_.now.ns - touched.ns > kStill.ns;
  }

  /// The whole ones that stay for certain, in all trees that belong together: none that `goes`.
  CleanupGrounds grounds(const std::string& root, const std::vector<int64_t>& whole, const std::set<int64_t>& goes) {
    CleanupGrounds out;
    const size_t last = static_cast<size_t>(std::max<int64_t>(1, settings_.keep_last));
    size_t sound = 0;
    for (size_t i = 0; i < whole.size() && (i < last || sound < last); ++i) {
      const bool fine = spoiled(root, whole[i]).empty();
      if ((i >= last && !fine) || goes.count(whole[i]) != 0) continue;
      sound += fine ? 1 : 0;
      for (const std::string& one : trainings_.with(root, roots())) {
        const auto scan = scans(one).find(whole[i]);
        if (scan == scans(one).end() || (one != root && scan->second.seen.how != How::kWhole)) continue;
        out.counted.push_back({cat(one, "/", with_step(scope_.layout.folder, whole[i])),
                               step_of_number(scope_.layout, whole[i]), scan->second.state});
      }
    }
    return out;
  }

  /// Whose a file is shows in its times alone, and numbers that count saves say nothing of the steps beside which they
  /// stand: another run's, a person's copy and a dump of samples would go with the run's own.
  bool may_go_by_rules() {
    const bool counted = scope_.layout.counts_saves;
    if (!counted && !scope_.layout.names_files()) return true;
    note(cat("None of the checkpoints ", scope_.layout.folder, " goes by a rule: ",
             counted ? "their numbers count saves and are no steps"
                     : "they are files, of which nothing proves that this run wrote them",
             ". Remove old ones by hand"));
    return false;
  }

  /// Steps that midwatch deleted there.
  const std::set<int64_t>& removed_in(const std::string& root) {
    const auto known = removed_.find(root);
    if (known != removed_.end()) return known->second;
    std::set<int64_t>& steps = removed_[root];
    const std::string below = cat(root, "/");
    for (auto one = scope_.removals.lower_bound(below); one != scope_.removals.end() && one->starts_with(below);
         ++one) {
      const auto step = step_in(scope_.layout.folder, std::string_view(*one).substr(below.size()));
      if (step) steps.insert(*step);
    }
    return steps;
  }

  /// By more than its times, which another trainer's checkpoints have, too.
  bool is_proven(const std::string& root, int64_t step) {
    auto known = steps_.find(root);
    if (known == steps_.end()) {
      auto steps = checkpoint_steps(disk_, root, scope_.layout);
      known = steps_.emplace(root, steps.ok() ? std::move(*steps) : std::vector<int64_t>()).first;
    }
    if (may_go_by_rule(scope_.own, known->second, removed_in(root), step)) return true;
    const std::set<int64_t>& logged = scope_.own.logged;
    if (!logged.empty() && step > *logged.rbegin()) return false;  // its log may name it yet
    note(cat("Some of the checkpoints in ", root, " go by no rule: nothing proves that this run wrote them, as ",
             scope_.own.logged.empty()
                 ? "its log names none and they do not lie evenly, as if another trainer saved there, too"
                 : "its log names others"));
    return false;
  }

  void note(const std::string& words) {
    if (!words.empty() && std::count(plan_.notes.begin(), plan_.notes.end(), words) == 0) plan_.notes.push_back(words);
  }

  const std::string& best_of_trainer(const std::string& root) {
    const auto known = best_.find(root);
    if (known != best_.end()) return known->second;
    std::string& best = best_[root];
    for (auto one = scans(root).rbegin(); one != scans(root).rend() && best.empty(); ++one)
      best = trainers_best(disk_, cat(root, "/", with_step(scope_.layout.folder, one->first)));
    return best;
  }

  void find_links() {
    std::vector<std::string> there;
    std::map<std::string, int64_t> numbers;
    for (const std::string& root : roots()) {
      const auto real = doors_.system.real(root);
      if (real.ok() || real.error().code != Error::Code::kNotFound) there.push_back(root);  // an error comes again
      for (const auto& [step, scan] : scans(root))
        numbers[cat(root, "/", with_step(scope_.layout.folder, step))] = step;
    }
    const auto found = links_into(disk_, doors_.system, there, scope_.roots);
    if (!found.ok()) return silent(found.error());
    links_ = LinkedCheckpoints(*found, numbers);
  }

  /// Somebody may have removed from the store what was shipped. True: less is there than was known.
  bool ask_store() {
    if (!scope_.in_store || !facts_.any_shipped() || std::exchange(asked_, true)) return false;
    const auto there = scope_.in_store();
    if (!there.ok()) {
      plan_.notes.push_back(
          cat("What was shipped counts as it was recorded, as the store cannot be asked: ", there.error().what));
      return false;
    }
    const auto [forgotten, gone] = facts_.lose_shipped(*there);
    if (gone > 0)
      plan_.notes.push_back(cat(gone, gone == 1 ? " checkpoint" : " checkpoints", " that had been shipped ",
                                gone == 1 ? "is" : "are", " not in the store any more, or not whole"));
    return forgotten > 0;
  }

  /// Why no run should go on from it; "": nothing speaks against it.
  std::string spoiled(const std::string& root, int64_t step) {
    const std::string why = trainings_.is_earlier(root) ? facts_.found_unsound(step) : facts_.spoiled(step);
    const auto scan = scans(root).find(step);
    if (!why.empty() || scan == scans(root).end() || scan->second.seen.lacks.empty()) return why;
    return lacks_sentence(scan->second.seen);
  }

  std::vector<RetentionVerdict> retention(const std::string& root, const std::map<int64_t, CheckpointScan>& all) {
    std::vector<RetainedCheckpoint> known;
    std::set<int64_t> own;
    const std::set<int64_t>& shipped = trainings_.shipped(root);
    const bool goes_on = !trainings_.is_earlier(root);
    for (const auto& [step, scan] : all) own.insert(step);
    for (const auto& [step, scan] : all) {
      RetainedCheckpoint one{step};
      one.own = is_proven(root, step);
      one.whole = scan.seen.how == How::kWhole;
      one.paired = paired(root, step);
      one.use = held_by(root, step, own);
      one.in_use = !one.use.empty();
      one.shipped = shipped.count(step) != 0;
      if (goes_on) one.score = facts_.score_at(step);
      one.spoiled = spoiled(root, step);
      one.read = facts_.sane.count(step) != 0;
      if (goes_on && step == facts_.advised)
        one.advised = cat("a resume would begin from it", facts_.trouble.empty() ? "" : cat(", as ", facts_.trouble));
      known.push_back(one);
    }
    if (goes_on) keep_before_turn(facts_, known);
    for (const int64_t step : shipped) {
      if (all.count(step) != 0) continue;
      RetainedCheckpoint one{step, false};
      one.shipped = true;
      one.spoiled = spoiled(root, step);
      if (goes_on) one.score = facts_.score_at(step);
      known.push_back(one);
    }
    const RetentionRules rules{settings_.keep_last, settings_.keep_every, settings_.keep_best, facts_.known,
                               facts_.doubt};
    return keep_what_stays_needs(root, std::move(known), rules);
  }

  /// Files and folders of those that stay may be links into another one, which then stays, too.
  std::vector<RetentionVerdict> keep_what_stays_needs(const std::string& root, std::vector<RetainedCheckpoint> known,
                                                      const RetentionRules& rules) {
    for (;;) {
      std::vector<RetentionVerdict> verdicts = decide_retention(known, rules, facts_.has_store);
      std::set<int64_t> goes;
      for (const RetentionVerdict& one : verdicts)
        if (one.goes) goes.insert(one.step);
      bool kept = false;
      for (RetainedCheckpoint& one : known) {
        if (one.local && goes.count(one.step) != 0) one.use = held_by(root, one.step, goes);
        kept = kept || one.in_use != !one.use.empty();
        one.in_use = !one.use.empty();
      }
      if (!kept) return verdicts;
    }
  }

  void quarantined(const std::string& root, const OwnFolder& place, const std::vector<int64_t>& whole) {
    const auto labels = disk_.list(place.path());
    for (const std::string& label : labels.ok() ? *labels : std::vector<std::string>()) {
      const std::string path = cat(place.path(), "/", label), name = cat(place.name, "/", label);
      const auto info = disk_.info(path);
      if (!info.ok()) continue;
      auto manifest = find_manifest(disk_, path, scope_.run_folder);
      const bool own = manifest.ok() && real_path(manifest->run_folder) == real_path(scope_.run_folder);
      if (!own) continue;  // another run's
      manifest->root = root;
      const int64_t bytes = scan_checkpoint(disk_, path, kNoStep, nullptr).seen.bytes;
      const std::string waits =
          scope_.asks == CleanupFor::kPerson
              ? ""
              : why_it_waits(disk_, *manifest, scope_.layout, whole.front(), scans(root).at(whole.front()), scope_.now,
                             scope_.asks == CleanupFor::kSpace);
      if (waits.empty()) {
        plan_.items.push_back({std::string(kQuarantine), place.base, name, bytes,
                               cat("quarantined before the attempt after ", label), identity_of(*info),
                               grounds(root, whole, {})});
        continue;
      }
      plan_.left.push_back({std::string(kQuarantine), place.base, name, bytes, waits, {}});
      note(cat("Of what midwatch quarantined ", path, " does not go by itself yet: ", waits,
               "; midwatch cleanup --run ", basename(scope_.run_folder), " --what quarantine removes it now"));
    }
  }

  Disk& disk_;
  const CleanupDoors& doors_;
  const CleanupScope& scope_;
  const CleanupSettings& settings_;
  RetentionFacts facts_;  // as the store says, once it was asked
  const TrainingTrees trainings_{facts_};
  bool asked_ = false;
  bool silent_ = false;  // the disk did not answer
  std::set<std::string> unfinished_;
  std::map<std::string, std::map<int64_t, CheckpointScan>> scans_;  // by folder
  std::map<std::string, std::optional<int64_t>> pointed_;           // likewise, by the trainer's pointer
  std::map<std::string, std::string> best_;                         // by folder, a name
  std::map<std::string, std::map<std::string, Use>> used_;          // likewise, by name
  std::map<std::string, std::vector<int64_t>> steps_;               // likewise, of all checkpoints there
  std::map<std::string, std::set<int64_t>> removed_;                // likewise, of those that midwatch deleted
  std::map<int64_t, std::string> put_there_;                        // by step, a path
  LinkedCheckpoints links_{{}, {}};
  CleanupPlan plan_;
};

}  // namespace

CleanupPlan plan_cleanup(Disk& disk, const CleanupDoors& doors, const CleanupScope& scope,
                         const CleanupSettings& settings) {
  CleanupScope all = scope;
  const auto known = add_roots_below(disk, all);
  Planner planner(disk, doors, all, settings);
  if (!known.ok()) planner.roots_unknown(known.error());
  return planner.plan();
}

}  // namespace mw
