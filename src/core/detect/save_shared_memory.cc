// The next save will not fit into /dev/shm, through which the trainer passes its tensors to the processes that write.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "core/detect/support/host.h"
#include "core/detect/support/saves.h"

namespace mw::detect {
namespace {

constexpr std::string_view kShared = "/dev/shm";

constexpr Knob kMargin{"margin", 1.02, "x", "Free space must be above what the last two saves both took", "own"};
constexpr Knob kShare{"share", kSharedBySaves, "of /dev/shm", "Less is what data loaders take, not the save", "own"};
constexpr Knob kPart{"part", 0.5, "of the steps between saves",
                     "A save may go on behind the trainer's back, and free its segments with some delay", "own"};
constexpr Knob kSteps{"steps", 2, "steps", "In a row, at whose end there is too little", "own"};
constexpr Knob kKnobs[] = {kMargin, kShare, kPart, kSteps};

struct Place {
  Time at;
  int64_t step = kNoStep;
};

Moment moment_of(const Place& place, const Series& free, uint16_t attempt) {
  Moment moment{place.step, place.at, free.points().front().where, attempt, true};
  moment.where.line = 0;  // the clock shows it, no record does
  moment.by_clock = true;
  return moment;
}

/// The first steps between two saves at whose ends there is too little; empty when there is enough.
std::vector<Place> too_little(const State& state, const SaveWindow& save, int64_t from_step, Time until, double bound) {
  std::vector<Place> places;
  auto anchor = std::lower_bound(state.anchors.begin(), state.anchors.end(), save.ended,
                                 [](const std::pair<Time, int64_t>& one, Time value) { return one.first < value; });
  for (; anchor != state.anchors.end() && anchor->first < until; ++anchor) {
    if (anchor->second < from_step || (!places.empty() && anchor->second == places.back().step)) continue;
    const auto free = host_value(state, "disk.free", kShared, anchor->first);
    if (!free || *free >= bound) {
      places.clear();
    } else {
      places.push_back({anchor->first, anchor->second});
    }
    if (static_cast<double>(places.size()) >= kSteps.value) return places;
  }
  return {};
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  const Series* const series = host_series(state, "disk.free", kShared);
  const auto size = host_value(state, "disk.size", kShared, state.last_at);
  if (series == nullptr || !size || *size <= 0) return;
  const std::vector<SaveWindow> saves = save_windows(state);
  for (size_t i = 1; i < saves.size(); ++i) {
    const int64_t gap = saves[i].step - saves[i - 1].step;
    const double need = shared_needed(saves, i);
    if (saves[i].attempt != saves[i - 1].attempt || gap <= 0 || need < kShare.value * *size) continue;
    const bool another = i + 1 < saves.size();
    const Time until = another ? saves[i + 1].began : state.last_at + Duration::seconds(1);
    const int64_t from = saves[i].step + static_cast<int64_t>(std::ceil(kPart.value * static_cast<double>(gap)));
    const auto places = too_little(state, saves[i], from, until, kMargin.value * need);
    if (places.empty()) continue;
    const double free = host_value(state, "disk.free", kShared, places.back().at).value_or(0);
    Finding finding;
    finding.kind = "shm-exhausted";
    finding.detector = "save-shared-memory";
    finding.onset = moment_of(places.front(), *series, saves[i].attempt);
    finding.detected = moment_of(places.back(), *series, saves[i].attempt);
    finding.summary = cat("The save at step ", saves[i].step + gap, " will not fit into /dev/shm: it needs about ",
                          format_bytes(need), " there, as the last two did, and ", format_bytes(free), " of ",
                          format_bytes(*size), " are free; what is written beyond that dies with SIGBUS");
    finding.suggests.push_back({"shm-stale-segments", 0.6, "each save leaves less free than the one before"});
    finding.suggests.push_back({"shm-exhausted-torch", 0.5, "by what the last saves took of it"});
    finding.resolved = another;  // it went well all the same: it uses what is there, and will again
    if (another) finding.resolved_at = moment_of({saves[i + 1].ended, saves[i + 1].step}, *series, saves[i].attempt);
    out.push_back(std::move(finding));
    if (another) return;
  }
}

}  // namespace

extern const Detector save_shared_memory;
const Detector save_shared_memory{"save-shared-memory",
                                  "The next save will not fit into /dev/shm, by what the last ones took of it.",
                                  {"shm-exhausted"},
                                  kKnobs,
                                  judge};

}  // namespace mw::detect
