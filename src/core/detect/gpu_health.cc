// A GPU does not answer any more, counts memory errors that it could not correct, or is slowed down by heat or its
// power supply.
#include "base/text.h"
#include "core/detect/support/host.h"

namespace mw::detect {
namespace {

constexpr Knob kLost{"lost", 20, "s", "Two looks: a driver that is asked while it resets may fail once", "own"};
constexpr Knob kSlowed{"slowed", 0.5, "of the time", "Brief slowdowns at the start of a burst are normal", "own"};
constexpr Knob kSlowedFor{"slowed_for", 300, "s", "Long enough to show in the step time", "own"};
constexpr Knob kKnobs[] = {kLost, kSlowed, kSlowedFor};

constexpr std::string_view kName = "gpu-health", kKind = "gpu-fault", kDriver = "driver";

void judge_lost(const State& state, std::vector<Finding>& out) {
  for (const Series* lost : host_series(state, "gpu.lost")) {
    EpisodeRule rule;
    rule.bad = [](const Point& p) { return p.value > 0; };
    rule.good = [](const Point& p) { return p.value <= 0; };
    rule.persist = Duration::seconds(kLost.value);
    rule.low = false;
    for (const Episode& episode : episodes(state, *lost, rule)) {
      const bool driver = lost->raw == kDriver;
      Finding finding = host_finding(state, kName, kKind, Severity::kCritical, episode, *lost,
                                     driver ? std::string("The GPU driver does not answer any more")
                                            : cat("GPU ", lost->raw, " does not answer any more"));
      finding.suggests.push_back({"xid-79-fallen-off-bus", driver ? 0.4 : 0.6, "it answered before"});
      finding.suggests.push_back({"gpu-is-lost-nvidia-smi", 0.5, "the driver's own answer"});
      out.push_back(std::move(finding));
    }
  }
}

/// Errors from before the watch are nobody's news.
void judge_errors(const State& state, std::vector<Finding>& out) {
  for (const Series* errors : host_series(state, "gpu.ecc")) {
    const double before = errors->points().front().value;
    EpisodeRule rule;
    rule.bad = [before](const Point& p) { return p.value > before; };
    rule.good = [before](const Point& p) { return p.value <= before; };
    rule.low = false;
    for (const Episode& episode : episodes(state, *errors, rule)) {
      Finding finding = host_finding(state, kName, kKind, Severity::kWarning, episode, *errors,
                                     cat("GPU ", errors->raw, " has met ", episode.first.value - before,
                                         " memory errors that it could not correct"));
      finding.suggests.push_back({"cuda-ecc-uncorrectable", 0.7, "by the GPU's own count"});
      finding.suggests.push_back({"xid-48-double-bit-ecc", 0.5, "by the GPU's own count"});
      out.push_back(std::move(finding));
    }
  }
}

void judge_slowed(const State& state, std::vector<Finding>& out) {
  for (const Series* slowed : host_series(state, "gpu.slowed")) {
    EpisodeRule rule;
    rule.bad = [](const Point& p) { return p.value >= kSlowed.value; };
    rule.good = [](const Point& p) { return p.value < kSlowed.value; };
    rule.persist = Duration::seconds(kSlowedFor.value);
    rule.low = false;
    for (const Episode& episode : episodes(state, *slowed, rule)) {
      std::string text = cat("GPU ", slowed->raw, " is slowed down by heat or its power supply");
      if (const auto heat = host_value(state, "gpu.temperature", slowed->raw, episode.detected)) {
        text += cat(", at ", format_short(*heat, 3), " °C");
      }
      Finding finding = host_finding(state, kName, kKind, Severity::kWarning, episode, *slowed, std::move(text));
      finding.suggests.push_back({"gpu-thermal-power-brake", 0.8, "by the driver's own reasons for the clock"});
      out.push_back(std::move(finding));
    }
  }
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  judge_lost(state, out);
  judge_errors(state, out);
  judge_slowed(state, out);
}

}  // namespace

extern const Detector gpu_health;
const Detector gpu_health{"gpu-health",
                          "A GPU is lost, counts uncorrected memory errors, or is slowed down by heat or power.",
                          {"gpu-fault"},
                          kKnobs,
                          judge};

}  // namespace mw::detect
