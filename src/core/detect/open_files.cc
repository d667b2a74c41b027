// A process of the run has nearly used up its limit of open files.
#include "base/text.h"
#include "core/detect/support/host.h"

namespace mw::detect {
namespace {

constexpr Knob kShare{"share", 0.9, "of the limit", "Sockets of one more rollout batch may be the rest", "own"};
constexpr Knob kLasts{"lasts", 30, "s", "One look is a burst", "own"};
constexpr Knob kRelief{"relief", 0.8, "of the limit", "Below this it is over", "own"};
constexpr Knob kKnobs[] = {kShare, kLasts, kRelief};

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  for (const Series* files : host_series(state, "process.files")) {
    EpisodeRule rule;
    rule.bad = [](const Point& p) { return p.value >= kShare.value; };
    rule.good = [](const Point& p) { return p.value < kRelief.value; };
    rule.persist = Duration::seconds(kLasts.value);
    rule.low = false;
    for (const Episode& episode : episodes(state, *files, rule)) {
      Finding finding = host_finding(state, "open-files", "resource-limit", Severity::kWarning, episode, *files,
                                     cat(files->raw, " has ", format_short(episode.worst * 100, 3),
                                         " % of the files open that its limit (ulimit -n) allows"));
      finding.suggests.push_back({"emfile-too-many-open-files", 0.7, "counted in /proc/PID/fd"});
      out.push_back(std::move(finding));
    }
  }
}

}  // namespace

extern const Detector open_files;
const Detector open_files{"open-files",
                          "A process of the run has nearly used up its limit of open files.",
                          {"resource-limit"},
                          kKnobs,
                          judge};

}  // namespace mw::detect
