// A GPU that held a model is empty while others go on: whoever ran there died without a word.
#include <algorithm>

#include "base/text.h"
#include "core/detect/support/host.h"

namespace mw::detect {
namespace {

constexpr Knob kHeld{"held", 0.1, "of its memory", "A model, not a context", "own"};
constexpr Knob kHeldFor{"held_for", 300, "s", "It was in use, not just tried", "own"};
constexpr Knob kEmpty{"empty", 100e6, "bytes", "Not even a CUDA context is left; an engine that sleeps keeps its own",
                      "report prime-rl-beautifulsoup-runs: \"GPU 0 showed 0 MiB memory\""};
constexpr Knob kLasts{"lasts", 120, "s", "An engine that is started again takes hold of its GPU within a minute",
                      "own"};
constexpr Knob kKnobs[] = {kHeld, kHeldFor, kEmpty, kLasts};

constexpr std::string_view kUsed = "gpu.memory.used";

double size_of(const State& state, const Series& gpu) {
  return host_value(state, "gpu.memory.size", gpu.raw, state.last_at).value_or(0);
}

/// How long it had held a model up to `at`, in seconds.
double held_before(const Series& gpu, double least, Time at) {
  double seconds = 0;
  const std::vector<Point>& points = gpu.points();
  for (size_t i = 0; i < points.size() && points[i].at < at; ++i) {
    const Time until = i + 1 < points.size() ? std::min(points[i + 1].at, at) : at;
    if (points[i].value >= least) seconds += (until - points[i].at).seconds();
  }
  return seconds;
}

bool others_go_on(const State& state, const Series& gpu, Time at) {
  for (const Series* other : host_series(state, kUsed)) {
    const auto used = host_value(state, kUsed, other->raw, at);
    const double size = size_of(state, *other);
    if (other->raw != gpu.raw && used && size > 0 && *used >= kHeld.value * size) return true;
  }
  return false;
}

/// The attempt was over by then, which empties GPUs one after the other.
bool over(const State& state, const Point& point, Time at) {
  if (point.attempt >= state.attempts.size()) return true;
  const AttemptState& attempt = state.attempts[point.attempt];
  return attempt.ended && (!attempt.ended_at.at.known() || attempt.ended_at.at <= at);
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  for (const Series* gpu : host_series(state, kUsed)) {
    const double size = size_of(state, *gpu);
    if (size <= 0) continue;
    EpisodeRule rule;
    rule.bad = [&](const Point& p) {
      return p.value < kEmpty.value && held_before(*gpu, kHeld.value * size, p.at) >= kHeldFor.value;
    };
    rule.good = [](const Point& p) { return p.value >= kEmpty.value; };
    rule.persist = Duration::seconds(kLasts.value);
    for (const Episode& episode : episodes(state, *gpu, rule)) {
      if (over(state, episode.first, episode.detected) || !others_go_on(state, *gpu, episode.detected)) continue;
      const bool steps = std::any_of(state.anchors.begin(), state.anchors.end(), [&](const auto& anchor) {
        return anchor.first > episode.first.at && anchor.first <= episode.detected;
      });
      Finding finding = host_finding(
          state, "gpu-empty", "engine-dead", steps ? Severity::kWarning : Severity::kCritical, episode, *gpu,
          cat("GPU ", gpu->raw, " holds ", format_bytes(episode.first.value), " since then, after ",
              format_duration(Duration::seconds(held_before(*gpu, kHeld.value * size, episode.first.at))),
              " with a model, while other GPUs go on: the process that ran there is gone"));
      finding.suggests.push_back({"gpu-zero-memory-dead-server", 0.75, "no process has memory on it"});
      out.push_back(std::move(finding));
    }
  }
}

}  // namespace

extern const Detector gpu_empty;
const Detector gpu_empty{
    "gpu-empty", "A GPU that held a model is empty while others go on.", {"engine-dead"}, kKnobs, judge};

}  // namespace mw::detect
