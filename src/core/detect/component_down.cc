// A component (an engine, a server, Ray) is dead, stopped or does not do its work while the trainer goes on.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/text.h"
#include "core/components.h"
#include "core/detect/detector.h"
#include "core/detect/support/host.h"
#include "core/detect/tools/track.h"

namespace mw::detect {
namespace {

using Health = event::ComponentSaw::Health;
using Trouble = ComponentState::Trouble;

constexpr Knob kComplaints{"complaints", 3, "lines",
                           "An engine that was shut down leaves a refused request or two behind", "own"};
constexpr Knob kBefore{"before", 3, "steps", "The run complains at once, and an end is known a moment later", "own"};
constexpr Knob kKnobs[] = {kComplaints, kBefore};
constexpr size_t kEvidenceKept = 4;                     // other components that failed with it
constexpr Duration kReadApart = Duration::seconds(20);  // two readings of the machine of one moment

/// What shows that the run needs what is in trouble.
struct Proof {
  Moment moment;      ///< when it was known
  std::string words;  ///< "" when what was seen of the component says it all
  Where where;        ///< of the words
  const SignatureState* complaint = nullptr;
  bool weak = false;  ///< one of several was lost; nothing shows yet that the run needs it
};

/// ":8000" of "127.0.0.1:8000".
std::string_view port_of(const std::string& address) {
  const size_t colon = address.rfind(':');
  return colon == std::string::npos ? std::string_view() : std::string_view(address).substr(colon);
}

/// Is it of the time since the trouble began? Files may have no clock, so it goes by order and by steps.
bool since(const Trouble& trouble, const SignatureState::Match& match) {
  if (match.order > trouble.order) return true;
  const bool steps_known = match.moment.step != kNoStep && trouble.began.step != kNoStep;
  return steps_known && match.moment.step > 0 &&
         static_cast<double>(trouble.began.step - match.moment.step) <= kBefore.value;
}

/// The run's own files complain of a server since then: once at its very address, or often.
std::optional<Proof> complaint(const State& state, const Knowledge& knowledge, const Trouble& trouble) {
  const std::string_view port = port_of(trouble.saw.address);
  std::vector<std::pair<const SignatureState*, const SignatureState::Match*>> found;
  for (const SignatureState& seen : state.signatures) {
    const Signature* signature = knowledge.find(seen.id);
    if (seen.sample || signature == nullptr || !speaks_of_servers(*signature)) continue;
    for (const SignatureState::Match& match : seen.matches) {
      if (match.moment.attempt != trouble.began.attempt || !since(trouble, match)) continue;
      if (!state.by_host(match.moment.where)) found.emplace_back(&seen, &match);
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.second->order < b.second->order; });
  for (size_t i = 0; i < found.size(); ++i) {
    const bool named = !port.empty() && contains(found[i].second->text, port);
    if (!named && static_cast<double>(i + 1) < kComplaints.value) continue;
    // What came before is proof from when the trouble is known.
    const bool later = found[i].second->order > trouble.order;
    return Proof{later ? found[i].second->moment : trouble.began, found[i].second->text, found[i].second->moment.where,
                 found[i].first};
  }
  return std::nullopt;
}

/// How many steps in a row the reward must lie on its floor: more than it did before without trouble. While others of
/// its kind serve, and on a floor below 0, which nothing but the reward itself shows, one is not enough.
size_t steps_needed(const FloorStreak& floor, bool others) {
  return std::max<size_t>(others || !floor.at_zero() ? 2 : 1, floor.longest_before() + 1);
}

/// The reward of steps that came after it lies on its floor, and did not before. Attempt by attempt, as each source
/// reports it: a later attempt that trains those steps again takes nothing back.
std::optional<Proof> floor_reached(const State& state, const Trouble& trouble, bool others) {
  const Series* reward = reward_series(state);
  if (trouble.began.step == kNoStep || reward == nullptr) return std::nullopt;
  for (const Series& series : state.series) {
    if (series.signal != reward->signal || series.raw != reward->raw) continue;
    FloorStreak floor;
    size_t since = 0;  // how many of the floor's steps came later
    for (const Point& point : series.points()) {
      if (point.attempt != trouble.began.attempt || !std::isfinite(point.value)) continue;
      floor.see(point.value);
      if (point.step <= trouble.began.step) continue;
      since = std::min(since + 1, floor.steps());
      if (floor.left() && since >= steps_needed(floor, others)) {
        return Proof{moment_of(point), cat("reward ", point.value, " at step ", point.step), point.where, nullptr};
      }
    }
  }
  return std::nullopt;
}

/// The kernel killed a process for want of memory about when this one was gone: who was its parent has taken note of
/// its end, and did not say how it was.
bool killed_for_memory(const State& state, const Trouble& trouble) {
  if (!trouble.began.at.known()) return false;
  for (const Series* const kills : host_series(state, "host.oom_kills")) {
    const auto& points = kills->points();
    for (size_t i = 1; i < points.size(); ++i) {
      const int64_t apart = points[i].at.ns - trouble.began.at.ns;
      if (points[i].value > points[i - 1].value && points[i].at.known() && std::abs(apart) <= kReadApart.ns)
        return true;
    }
  }
  return false;
}

/// One of several engines failed, or was killed, and the others go on.
bool lost_one_of_several(const State& state, const ComponentState& component, const Trouble& trouble) {
  if (&trouble != &component.troubles.back() || trouble.ended || !others_serve(state, component)) return false;
  const Health now = component.last.health;
  return now == Health::kDead || (now == Health::kGone && killed_for_memory(state, trouble));
}

bool plan_done(const State& state, const Moment& at) {
  const int64_t total =
      state.attempts[at.attempt].total_steps > 0 ? state.attempts[at.attempt].total_steps : state.total_steps;
  return total > 0 && at.step != kNoStep && at.step + 1 >= total;
}

std::optional<Proof> proof_of(const State& state, const Knowledge& knowledge, const ComponentState& component,
                              const Trouble& trouble) {
  if (trouble.began.attempt >= state.attempts.size()) return std::nullopt;
  if (trouble.certain) return Proof{*trouble.certain, "", {}, nullptr};
  if (trouble.saw.kind != "engine" || plan_done(state, trouble.began)) return std::nullopt;
  if (trouble.saw.health == Health::kFrozen) return std::nullopt;
  if (auto heard = complaint(state, knowledge, trouble)) return heard;
  if (auto fell = floor_reached(state, trouble, others_serve(state, component))) return fell;
  if (lost_one_of_several(state, component, trouble)) return Proof{component.since, "", {}, nullptr, true};
  return std::nullopt;
}

std::string_view kind_for(const event::ComponentSaw& saw) {
  if (saw.health == Health::kFrozen) return "stall";
  if (saw.kind == "engine") return "engine-dead";
  if (saw.kind == "tools" || saw.kind == "rewards") return "environment-fault";
  return "worker-lost";
}

std::string_view cause_for(const event::ComponentSaw& saw) {
  if (saw.health == Health::kFrozen) return "process-stopped";
  if (saw.kind == "engine") {
    return saw.health == Health::kHalfDead || saw.health == Health::kSilent ? "vllm-engine-dead" : "vllm-silent-death";
  }
  if (saw.kind == "tools" || saw.kind == "rewards") return "env-server-crash-empty-outputs";
  return "worker-exited";
}

struct Case {
  const Trouble* trouble;
  Proof proof;
};

Finding finding_of(const State& state, const Knowledge& knowledge, const Case& one) {
  const event::ComponentSaw& saw = one.trouble->saw;
  Finding finding;
  finding.kind = kind_for(saw);
  finding.detector = "component-down";
  // Whether the run needs an unknown process is unknown, too: a helper may fail, and a slow evaluation come next. If
  // the run needs it, the run stalls, and that is reported by itself.
  const bool grave = saw.kind != "tools" && saw.kind != "rewards" && saw.kind != "other";
  finding.severity = grave && !one.proof.weak ? Severity::kCritical : Severity::kWarning;
  finding.onset = one.trouble->began;
  finding.detected = one.proof.moment;
  finding.summary = one.proof.weak ? cat(saw.text, "; others of its kind go on") : saw.text;
  finding.evidence.push_back({one.trouble->began.where, saw.text, "", kNoStep, 0});
  Proof heard = one.proof;
  if (heard.words.empty()) heard = complaint(state, knowledge, *one.trouble).value_or(heard);
  if (!heard.words.empty()) finding.evidence.push_back({heard.where, clip(heard.words, 300), "", kNoStep, 0});
  const bool complains = heard.complaint != nullptr;
  if (complains) finding.suggests.push_back({heard.complaint->id, 0.6, cat("said since: ", clip(heard.words, 160))});
  const double seen = saw.health == Health::kFrozen ? 0.9 : 0.5;  // a process's state leaves no doubt
  finding.suggests.push_back({std::string(cause_for(saw)), complains ? 0.35 : seen, saw.text});
  if (one.trouble->ended) {
    finding.resolved = true;
    finding.resolved_at = *one.trouble->ended;
  }
  return finding;
}

/// It should have answered by now, and never did: what is declared may be wrong.
Finding never_answered_finding(const ComponentState& component) {
  const event::ComponentSaw& saw = component.last;
  Finding finding;
  finding.kind = "environment-fault";
  finding.detector = "component-down";
  finding.severity = Severity::kWarning;
  finding.onset = finding.detected = component.since;
  finding.summary = cat(saw.component, " never answered, and nothing else shows that the run needs it: is its address ",
                        "right? ", saw.text);
  finding.evidence.push_back({component.since.where, saw.text, "", kNoStep, 0});
  finding.suggests.push_back({"component-never-answered", 0.6, saw.text});
  return finding;
}

/// What falls together in one attempt is one chain; the first leads.
void judge(const State& state, const Knowledge& knowledge, std::vector<Finding>& out) {
  std::vector<Case> cases;
  for (const ComponentState& component : state.components) {
    for (const Trouble& trouble : component.troubles) {
      if (auto proof = proof_of(state, knowledge, component, trouble)) cases.push_back({&trouble, std::move(*proof)});
    }
  }
  std::sort(cases.begin(), cases.end(),
            [](const Case& a, const Case& b) { return a.trouble->order < b.trouble->order; });
  for (const ComponentState& component : state.components) {
    if (never_answered(component.last) && component.since.attempt < state.attempts.size())
      out.push_back(never_answered_finding(component));
  }
  const size_t begin = out.size();
  for (const Case& one : cases) {
    const auto same = std::find_if(out.begin() + static_cast<ptrdiff_t>(begin), out.end(), [&one](const Finding& f) {
      return f.kind == kind_for(one.trouble->saw) && f.onset.attempt == one.trouble->began.attempt &&
             (!f.resolved || !one.trouble->ended || f.resolved_at.at >= one.trouble->began.at);
    });
    if (same == out.end()) {
      out.push_back(finding_of(state, knowledge, one));
      continue;
    }
    if (!one.proof.weak && same->severity < Severity::kCritical) *same = finding_of(state, knowledge, one);
    same->resolved = same->resolved && one.trouble->ended.has_value();
    if (same->evidence.size() < kEvidenceKept) {
      same->evidence.push_back({one.trouble->began.where, one.trouble->saw.text, "", kNoStep, 0});
    }
  }
}

}  // namespace

extern const Detector component_down;
const Detector component_down{
    "component-down",
    "A process of the run that it needs (an engine, a server, Ray) is dead, stopped or does not do its work, as the "
    "live watch sees it.",
    {"engine-dead", "stall", "worker-lost", "environment-fault"},
    kKnobs,
    judge};

}  // namespace mw::detect
