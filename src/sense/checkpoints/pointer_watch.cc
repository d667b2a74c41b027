#include "sense/checkpoints/pointer_watch.h"

#include <algorithm>

#include "base/checksum.h"
#include "base/text.h"
#include "sense/checkpoints/quarantine.h"

namespace mw {
namespace {

constexpr size_t kNames = 1000;     // in a folder of checkpoints
constexpr size_t kTextShown = 100;  // bytes of what stands in the file

/// Of the things in a folder themselves; what happens deeper within a checkpoint shows in its scan.
uint64_t state_of(Disk& disk, const std::string& root) {
  const auto names = disk.list(root);
  uint64_t state = fnv1a("");
  size_t seen = 0;
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    if (++seen > kNames) break;
    const auto info = disk.info(cat(root, "/", name));
    if (info.ok()) state = fnv1a(cat(name, " ", info->inode, " ", info->size, " ", info->changed.ns, "\n"), state);
  }
  return state;
}

std::string what_is_wrong(const PointerScan& scan, const std::set<int64_t>& broken) {
  if (scan.text.empty()) return "it is empty";
  if (scan.dangles && scan.step != kNoStep) return cat("it names step ", scan.step, ", which is not there");
  if (scan.empty) return cat("it names step ", scan.step, ", which is an empty folder");
  if (scan.dangles) return cat("it says \"", clip(scan.text, kTextShown), "\", which is not there");
  if (broken.count(scan.step) != 0) return cat("it names step ", scan.step, ", which is not whole");
  return "";
}

}  // namespace

PointerScan scan_pointer(Disk& disk, const std::string& root, const CheckpointLayout& layout) {
  PointerScan scan;
  const auto text = ask_pointer(disk, root, layout);
  if (!text.ok() || !*text) return scan;
  scan.known = true;
  scan.text = **text;
  scan.step = step_in(layout.pointer_text, scan.text).value_or(kNoStep);
  scan.dangles = pointer_dangles(disk, root, layout);
  if (!scan.dangles && scan.step != kNoStep) {
    const auto names = disk.list(cat(root, "/", with_step(layout.folder, scan.step)));
    scan.empty = names.ok() && names->empty();
  }
  if (scan.dangles || scan.empty) scan.folder = state_of(disk, root);
  return scan;
}

bool PointerWatch::doubted(const std::string& root) const {
  const auto known = kept_.find(root);
  return known != kept_.end() && !known->second.wrong.empty();
}

std::optional<event::PointerSeen> PointerWatch::judge(const std::string& root, const CheckpointLayout& layout,
                                                      const PointerScan& scan, const Facts& facts) {
  if (!scan.known) return std::nullopt;
  Kept& kept = kept_[root];
  event::PointerSeen seen;
  seen.path = cat(root, "/", layout.pointer);
  seen.step = scan.step;
  if (!facts.whole.empty()) {
    seen.whole = *facts.whole.rbegin();
    seen.whole_path = cat(root, "/", with_step(layout.folder, seen.whole));
  }
  const std::string wrong = what_is_wrong(scan, facts.broken);
  if (wrong.empty()) {
    const bool was = kept.reported;
    kept = {};
    return was ? std::optional(seen) : std::nullopt;
  }
  const bool anew = kept.wrong != wrong || kept.text != scan.text;
  if (anew) {
    kept.wrong = wrong;
    kept.text = scan.text;
    kept.newest_before = seen.whole;
  }
  const bool went_back = facts.run_step != kNoStep && facts.run_step < kept.still_from;  // another attempt
  if (anew || facts.saving || went_back || kept.folder != scan.folder || kept.newest != seen.whole) {
    kept.folder = scan.folder;
    kept.newest = seen.whole;
    kept.still_since = facts.now;
    kept.still_from = facts.run_step;
  }
  if (kept.still_from == kNoStep) kept.still_from = facts.run_step;
  if (kept.reported || seen.whole == kNoStep || facts.run_step == kNoStep) return std::nullopt;
  const auto still_for = [&](Duration least) { return facts.now.ns - kept.still_since.ns >= least.ns; };
  const bool goes_on = facts.run_step - kept.still_from >= kSteps;
  const bool saved_since = seen.whole > kept.newest_before;
  if (!goes_on || !still_for(saved_since ? kPatience : kLong)) return std::nullopt;
  kept.reported = true;
  seen.right = false;
  seen.what = wrong;
  return seen;
}

}  // namespace mw
