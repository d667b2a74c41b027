#include "sense/checkpoints/last_whole.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "sense/checkpoints/parts.h"
#include "sense/checkpoints/quarantine.h"
#include "sense/checkpoints/scan.h"

namespace mw {
namespace {

using How = event::CheckpointSeen::How;

constexpr size_t kScans = 64;  // checkpoints that are scanned at most
constexpr size_t kBefore = 8;  // older ones among which one with weights is looked for

/// One of which no more is known than that nothing was wrong with it.
CheckpointScan whole_and_gone() {
  CheckpointScan scan;
  scan.there = scan.verified = true;
  scan.seen.how = How::kWhole;
  return scan;
}

class Search {
 public:
  Search(Disk& disk, const std::vector<std::string>& roots, const CheckpointLayout& layout, int64_t before,
         const std::set<std::string>& skip, const EarlierFindings& earlier,
         const std::function<bool(const std::string&)>& is_written)
      : disk_(disk), roots_(roots), layout_(layout), earlier_(earlier), is_written_(is_written) {
    for (const std::string& root : roots) {
      const auto steps = checkpoint_steps(disk, root, layout);
      for (const int64_t step : steps.ok() ? *steps : std::vector<int64_t>()) {
        const bool skipped = skip.count(cat(root, "/", with_step(layout.folder, step))) != 0;
        if (before != kNoStep && step >= before) {
          if (!skipped) tainted_[root].insert(step);
          continue;
        }
        if (skipped) {
          skipped_.insert(step);
          continue;
        }
        steps_[root].insert(step);
        all_.insert(step);
      }
    }
    find_roles();
  }

  LastWhole find() {
    LastWhole found = look();
    // Where nothing proves that a trainer would take it (an export, say) a missing pointer is none that was lost.
    const bool proven = std::all_of(found.pointerless.begin(), found.pointerless.end(), [&](const std::string& root) {
      return found.kept != kNoStep && scan(root, found.kept, nullptr).resumable;
    });
    if (proven) return found;
    takes_missing_ = false;
    found_ = {};
    found_.seen = std::move(found.seen);
    found_.written = std::move(found.written);
    cut_.clear();
    further_ = kNoStep;
    return look();
  }

 private:
  LastWhole look() {
    if (all_.empty()) return {};
    bool dangling = false;
    std::optional<int64_t> newest = *all_.rbegin();
    if (!layout_.pointer.empty()) {
      newest = named(&dangling);
      if (!newest && !dangling) return {};  // no pointer, or one that is not of a step
    }
    const bool named_there = newest && all_.count(*newest) > 0;
    if (named_there && good(*newest)) {
      found_.kept = *newest;
      if (further_ == kNoStep && cut_.empty()) return std::move(found_);
      const auto next = all_.upper_bound(*newest);
      found_.from = next == all_.end() ? *newest + 1 : *next;
      if (found_.why.empty())
        found_.why = further_ == kNoStep ? cat("the pointer in ", cut_, wrong_pointer(cut_))
                                         : cat("each role is resumed by its own pointer, and one is led to step ",
                                               further_, " and another to step ", *newest);
      return std::move(found_);
    }
    for (auto step = all_.rbegin(); step != all_.rend(); ++step) {
      if (scans_.size() >= kScans) return {};  // so many broken ones are no work for a machine
      // Not what the trainer itself calls saved, yet.
      if (named_there && *step > *newest && !is_done(*step)) continue;
      if (!good(*step)) continue;
      found_.kept = *step;
      break;
    }
    if (named_there && found_.kept > *newest) {
      for (const auto& [root, text] : texts_) {
        if (step_in(layout_.pointer_text, text) != found_.kept) found_.misled[root] = text;
      }
    }
    const auto next = found_.kept == kNoStep ? all_.begin() : all_.upper_bound(found_.kept);
    found_.from = next == all_.end() ? found_.kept + 1 : *next;
    const std::string lost = found_.pointerless.empty() ? "" : *found_.pointerless.begin();
    if (found_.why.empty()) found_.why = cat("the pointer to the newest checkpoint", wrong_pointer(lost));
    return std::move(found_);
  }

  /// All of it is there, as far as its files prove it, and nothing shows that the run went back behind it.
  bool is_done(int64_t step) {
    if (earlier_.left_behind.count(step) != 0 || !good(step)) return false;
    return std::all_of(steps_.begin(), steps_.end(), [&](const auto& one) {
      if (one.second.count(step) == 0) return true;
      const CheckpointScan& now = scan(one.first, step, nullptr);
      return now.seen.how == How::kWhole && now.resumable;
    });
  }

  /// Under a name that is no step's: what is broken in it; "": nothing, or it does not lie there.
  std::string broken_by_name(const std::string& root, const std::string& name) {
    if (contains(name, "/") || name.starts_with(".")) return "";
    const std::string folder = cat(root, "/", name);
    const CheckpointScan now = scan_checkpoint(disk_, folder, kNoStep, nullptr);
    const bool broken = now.there && now.seen.how == How::kBroken && !(is_written_ && is_written_(folder));
    return broken ? cat("the pointer in ", root, " names ", clip(sanitize_utf8(name), 100),
                        ", which is not to be resumed from: ", now.seen.what)
                  : "";
  }

  std::string_view wrong_pointer(const std::string& root) const {
    return found_.pointerless.count(root) != 0 ? " is missing" : " names none that is there";
  }

  /// Which of the folders hold what a resume takes together. A critic's that the run left behind is none of them.
  void find_roles() {
    std::map<std::string, std::set<int64_t>> ever = tainted_;
    for (const auto& [root, steps] : steps_) ever[root].insert(steps.begin(), steps.end());
    for (const auto& [root, steps] : ever) {
      const auto other = ever.find(other_role_of(root));
      if (other == ever.end()) continue;
      const auto later = std::distance(other->second.upper_bound(*steps.rbegin()), other->second.end());
      if (is_left_behind(root, later)) left_behind_.insert(root);
      roles_[root] = other->first;
    }
    for (const std::string& root : left_behind_) {
      roles_.erase(roles_[root]);
      roles_.erase(root);
    }
  }

  /// The step that the pointers name; the lowest, where they differ.
  std::optional<int64_t> named(bool* dangling) {
    std::optional<int64_t> lowest;
    int64_t furthest = kNoStep;
    std::vector<std::string> without;
    bool any = false;
    for (const std::string& root : roots_) {
      if (left_behind_.count(root) != 0) continue;
      const auto asked = ask_pointer(disk_, root, layout_);
      const auto text = asked.ok() ? *asked : std::nullopt;
      any = any || !asked.ok() || text;
      if (takes_missing_ && asked.ok() && !text && steps_.count(root) != 0) without.push_back(root);
      if (!text) continue;
      texts_[root] = *text;
      const auto step = step_in(layout_.pointer_text, *text);
      if (step && (!lowest || *step < *lowest)) lowest = step;
      if (step && roles_.count(root) != 0) furthest = std::max(furthest, *step);
      if (step) continue;
      if (!text->empty() && !pointer_dangles(disk_, root, layout_)) {
        const std::string broken = broken_by_name(root, *text);
        if (broken.empty()) return std::nullopt;
        found_.misled[root] = *text;
        if (found_.why.empty()) found_.why = broken;
      }
      *dangling = true;
      if (roles_.count(root) != 0) cut_ = root;
    }
    for (const std::string& root : without) {
      if (any && roles_.count(root) == 0) continue;  // exports, say: the pointer lies elsewhere
      found_.pointerless.insert(root);
      *dangling = true;
      if (roles_.count(root) != 0) cut_ = root;
    }
    if (lowest && skipped_.count(*lowest) != 0 && all_.count(*lowest) == 0) {
      *dangling = false;
      return std::nullopt;
    }
    if (lowest && all_.count(*lowest) == 0) *dangling = true;
    if (lowest && furthest > *lowest) further_ = furthest;
    return lowest;
  }

  /// Of a step that only one of two roles has: the other's folder, and that; else "".
  std::string half_of(int64_t step) const {
    const auto has = [&](const std::string& root) {
      const auto known = steps_.find(root);
      return known != steps_.end() && known->second.count(step) != 0;
    };
    for (const auto& [root, other] : roles_) {
      if (has(other) && !has(root)) return cat(root, " has none of that step, and a resume takes both roles");
    }
    return "";
  }

  bool good(int64_t step) {
    if (const std::string half = half_of(step); !half.empty()) {
      found_.halves.insert(step);
      if (found_.why.empty()) found_.why = cat(checkpoint_called(layout_, step), " is not to be resumed from: ", half);
      return false;
    }
    for (const auto& [root, steps] : steps_) {
      const auto place = steps.find(step);
      if (place == steps.end()) continue;
      const CheckpointScan& one = scan(root, step, before(root, steps, place));
      if (written_.count(one.seen.path) != 0) found_.writing = one.seen.path;
      const std::string what = one.seen.how == How::kBroken ? one.seen.what
                               : !one.seen.lacks.empty()    ? event::lacks_sentence(one.seen)
                                                            : unsound(one);
      if (what.empty()) continue;
      if (found_.why.empty()) found_.why = cat(checkpoint_called(layout_, step), " is not to be resumed from: ", what);
      return false;
    }
    return true;
  }

  /// What reading all of its bytes found wrong; "": nothing, or it is another save.
  std::string unsound(const CheckpointScan& now) const {
    const auto read = earlier_.unsound.find(now.seen.path);
    return read != earlier_.unsound.end() && read->second.tree_state == now.state ? read->second.what : "";
  }

  /// The nearest older one that has weights, if one of the last few does; else one that was quarantined.
  const CheckpointScan* before(const std::string& root, const std::set<int64_t>& steps,
                               std::set<int64_t>::const_iterator place) {
    const int64_t step = *place;
    for (size_t i = 0; i < kBefore && place != steps.begin(); ++i) {
      const CheckpointScan& older = scan(root, *--place, nullptr);
      if (older.seen.how != How::kBroken && !older.weights.empty()) return &older;
    }
    const CheckpointScan* other = quarantined(root);
    other = other != nullptr || !scan(root, step, nullptr).weights.empty() ? other : newer(root);
    return other == nullptr && earlier_.whole_in.count(root) != 0 ? &gone_ : other;
  }

  /// Of a save with nothing but settings also a later one shows what is not in it.
  const CheckpointScan* newer(const std::string& root) {
    std::set<int64_t> all = tainted_[root];
    all.insert(steps_[root].begin(), steps_[root].end());
    size_t scans = 0;
    for (const int64_t step : all) {
      if (scans++ >= kBefore) break;
      const CheckpointScan& one = scan(root, step, nullptr);
      if (one.there && one.seen.how != How::kBroken && !one.weights.empty()) return &one;
    }
    return nullptr;
  }

  /// What a whole checkpoint of this folder has shows in a tainted one, too, where a rollback left no other.
  const CheckpointScan* quarantined(const std::string& root) {
    const auto [known, anew] = quarantined_.try_emplace(root);
    if (anew) known->second = scan_quarantined(root);
    return known->second ? &*known->second : nullptr;
  }
  std::optional<CheckpointScan> scan_quarantined(const std::string& root) {
    size_t scans = 0;
    for (const OwnFolder& folder : quarantine_places(root)) {
      const auto labels = disk_.list(folder.path());
      for (const std::string& label : labels.ok() ? *labels : std::vector<std::string>()) {
        const std::string place = cat(folder.path(), "/", label);
        const auto steps = checkpoint_steps(disk_, place, layout_);
        for (const int64_t step : steps.ok() ? *steps : std::vector<int64_t>()) {
          if (scans++ >= kBefore) return std::nullopt;
          CheckpointScan one = scan_checkpoint(disk_, cat(place, "/", with_step(layout_.folder, step)),
                                               step_of_number(layout_, step), nullptr);
          if (one.there && one.seen.how != How::kBroken && !one.weights.empty()) return one;
        }
      }
    }
    return std::nullopt;
  }

  const CheckpointScan& scan(const std::string& root, int64_t step, const CheckpointScan* before) {
    const std::string folder = cat(root, "/", with_step(layout_.folder, step));
    const auto known = scans_.find(folder);
    if (known != scans_.end() && (before == nullptr || compared_.count(folder) > 0)) return known->second;
    const bool anew = known == scans_.end();
    VerifyOptions how;
    how.attempts = earlier_.attempts;
    const auto look = [&] {
      return scan_checkpoint(disk_, folder, step_of_number(layout_, step), before, nullptr, how);
    };
    CheckpointScan& fresh = scans_[folder] = look();
    if (before != nullptr) compared_.insert(folder);
    if (fresh.there && fresh.seen.how == How::kBroken && is_written_) {
      if (is_written_(folder)) {
        written_.insert(folder);
        fresh.seen.how = How::kUnknown;
      } else {  // its writer may have closed it in between
        fresh = look();
      }
    }
    if (anew && written_.count(folder) == 0) found_.seen.push_back(fresh.seen);
    for (event::CheckpointSeen& seen : found_.seen) {
      if (seen.path == folder) seen = fresh.seen;
    }
    return fresh;
  }

  Disk& disk_;
  const std::vector<std::string>& roots_;
  const CheckpointLayout& layout_;
  const EarlierFindings& earlier_;
  const std::function<bool(const std::string&)>& is_written_;
  std::set<std::string> written_;                     // of those that were scanned
  std::map<std::string, std::set<int64_t>> steps_;    // by root
  std::map<std::string, std::set<int64_t>> tainted_;  // likewise: those that do not count
  std::set<int64_t> all_, skipped_;
  std::map<std::string, std::string> roles_;     // by the folder of each role, that of the other
  std::set<std::string> left_behind_;            // of critics that are trained no more
  std::string cut_;                              // the folder of a role whose pointer names nothing
  std::map<std::string, std::string> texts_;     // what each pointer says, by root
  bool takes_missing_ = true;                    // a missing pointer for one that was lost
  int64_t further_ = kNoStep;                    // what one role's pointer names, and another's an earlier step
  std::map<std::string, CheckpointScan> scans_;  // by folder
  std::set<std::string> compared_;               // with the one before
  std::map<std::string, std::optional<CheckpointScan>> quarantined_;  // by root: one that has weights
  const CheckpointScan gone_ = whole_and_gone();
  LastWhole found_;
};

}  // namespace

LastWhole find_last_whole(Disk& disk, const std::vector<std::string>& roots, const CheckpointLayout& layout,
                          int64_t before, const std::set<std::string>& skip, const EarlierFindings& earlier,
                          const std::function<bool(const std::string& path)>& is_written) {
  return Search(disk, roots, layout, before, skip, earlier, is_written).find();
}

}  // namespace mw
