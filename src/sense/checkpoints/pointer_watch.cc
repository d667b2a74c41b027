#include "sense/checkpoints/pointer_watch.h"

#include <algorithm>
#include <utility>

#include "base/checksum.h"
#include "base/text.h"
#include "core/pointer_words.h"
#include "sense/checkpoints/quarantine.h"

namespace mw {
namespace {

constexpr size_t kNames = 1000;     // in a folder of checkpoints
constexpr size_t kTextShown = 100;  // bytes of what stands in the file
constexpr std::string_view kBehind = "it is behind";

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

}  // namespace

PointerScan scan_pointer(Disk& disk, const std::string& root, const CheckpointLayout& layout) {
  PointerScan scan;
  if (layout.pointer.empty()) return scan;
  const auto text = ask_pointer(disk, root, layout);
  const auto names = disk.list(root);  // before the first save it is not there either
  scan.missing = text.ok() && !*text && (names.ok() || names.error().code == Error::Code::kNotFound);
  if (!text.ok() || !*text) return scan;
  scan.known = true;
  scan.text = **text;
  scan.step = step_in(layout.pointer_text, scan.text).value_or(kNoStep);
  scan.dangles = pointer_dangles(disk, root, layout);
  if (!scan.dangles && scan.step != kNoStep) {
    const auto inside = disk.list(cat(root, "/", with_step(layout.folder, scan.step)));
    scan.empty = inside.ok() && inside->empty();
  }
  if (scan.dangles || scan.empty) scan.folder = state_of(disk, root);
  return scan;
}

bool PointerWatch::doubted(const std::string& root) const {
  const auto known = kept_.find(root);
  return known != kept_.end() && !known->second.wrong.empty();
}

size_t PointerWatch::Kept::saved(Duration since, int64_t above) const {
  return static_cast<size_t>(std::count_if(whole.begin(), whole.end(), [&](const auto& one) {
    return one.second.ns > since.ns && (above == kNoStep || one.first > above);
  }));
}

/// What is there now, and since when.
void PointerWatch::meet(Kept& kept, const PointerScan& scan, const Facts& facts) {
  // Another attempt goes on from an earlier step: what it left behind does not count as saved since.
  const bool went_back = facts.run_step != kNoStep && facts.run_step < kept.still_from;
  if (went_back) {
    kept.text_since = kept.wrong_since = kept.still_since = facts.now;
    kept.wrong_from = kept.still_from = facts.run_step;
  }
  const Duration now = kept.met ? facts.now : Duration{};
  for (const int64_t step : facts.whole) kept.whole.try_emplace(step, now);
  if (kept.whole.size() > kNames)
    std::erase_if(kept.whole, [&facts](const auto& one) { return facts.whole.count(one.first) == 0; });
  if (!kept.met || kept.text != scan.text) kept.text_since = facts.now;
  kept.met = true;
  kept.text = scan.text;
  kept.step = scan.step;
  kept.was_there = kept.was_there || scan.known;
}

std::string PointerWatch::what_is_wrong(const Kept& kept, const PointerScan& scan, const Facts& facts) const {
  if (scan.missing) return kept.was_there || !facts.elsewhere ? std::string(kPointerMissing) : "";
  if (scan.text.empty()) return "it is empty";
  if (scan.dangles && scan.step != kNoStep) return cat("it names step ", scan.step, ", which is not there");
  if (scan.empty) return cat("it names step ", scan.step, ", which is an empty folder");
  if (scan.dangles) return cat("it says \"", clip(scan.text, kTextShown), "\", which is not there");
  if (facts.broken.count(scan.step) != 0) return cat("it names step ", scan.step, ", which is not whole");
  if (scan.step == kNoStep || facts.whole.empty() || *facts.whole.rbegin() <= scan.step) return "";
  const bool stays = kept.reported && kept.reported_step == scan.step;
  return stays || kept.saved(kept.text_since, scan.step) >= kLag ? std::string(kBehind) : "";
}

/// Whatever the framework's order of writing, it would have been set right by now.
bool PointerWatch::is_settled(const Kept& kept, const Facts& facts) const {
  const bool behind = kept.wrong == kBehind, never = kept.wrong == kPointerMissing && !kept.was_there;
  const size_t saved = behind  ? kept.saved(kept.text_since, kept.step)
                       : never ? kept.saved({}, kNoStep)
                               : kept.saved(kept.wrong_since, kNoStep);
  const auto passed = [&facts](Duration since, int64_t from, Duration least) {
    return facts.now.ns - since.ns >= least.ns && facts.run_step - from >= kSteps;
  };
  if (saved >= kMany && passed(kept.wrong_since, kept.wrong_from, kPatience)) return true;
  if (never && saved < kLag) return false;
  return passed(kept.still_since, kept.still_from, saved > 0 ? kPatience : kLong);
}

std::optional<event::PointerSeen> PointerWatch::judge(const std::string& root, const CheckpointLayout& layout,
                                                      const PointerScan& scan, const Facts& facts) {
  if (!scan.known && !scan.missing) return std::nullopt;
  Kept& kept = kept_[root];
  meet(kept, scan, facts);
  event::PointerSeen seen;
  seen.path = cat(root, "/", layout.pointer);
  seen.step = scan.step;
  if (!facts.whole.empty()) {
    seen.whole = *facts.whole.rbegin();
    seen.whole_path = cat(root, "/", with_step(layout.folder, seen.whole));
  }
  const std::string wrong = what_is_wrong(kept, scan, facts);
  const bool anew = kept.wrong != wrong;
  kept.wrong = wrong;
  if (anew) {
    kept.wrong_since = facts.now;
    kept.wrong_from = facts.run_step;
  }
  if (wrong.empty()) return std::exchange(kept.reported, false) ? std::optional(seen) : std::nullopt;
  if (anew || facts.saving || kept.folder != scan.folder || kept.newest != seen.whole) {
    kept.folder = scan.folder;
    kept.newest = seen.whole;
    kept.still_since = facts.now;
    kept.still_from = facts.run_step;
  }
  for (int64_t* from : {&kept.wrong_from, &kept.still_from}) {
    if (*from == kNoStep) *from = facts.run_step;
  }
  if (kept.reported || seen.whole == kNoStep || facts.run_step == kNoStep || !is_settled(kept, facts))
    return std::nullopt;
  kept.reported = true;
  kept.reported_step = scan.step;
  seen.right = false;
  seen.what = wrong == kBehind ? pointer_behind(seen.step, seen.whole) : wrong;
  return seen;
}

}  // namespace mw
