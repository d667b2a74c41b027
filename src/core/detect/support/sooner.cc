#include "core/detect/support/sooner.h"

#include <algorithm>

#include "core/components.h"
#include "core/detect/support/pause.h"
#include "core/detect/support/work.h"

namespace mw::detect {
namespace {

constexpr double kStepsLeast = 5;  // of this attempt: the first ones load, compile and evaluate

/// The planned end is known and not near: what follows the last step takes as long as it takes.
bool is_amid_its_plan(const State& state, const AttemptState& attempt) {
  const int64_t total = attempt.total_steps > 0 ? attempt.total_steps : state.total_steps;
  return total > 0 && attempt.last_step + 2 < total;
}

/// An engine that does not work now and always did in this attempt: one that is put to sleep in each step is no
/// witness.
const ComponentState::Trouble* engine_trouble(const State& state, size_t attempt) {
  for (const ComponentState& component : state.components) {
    if (component.last.kind != "engine" || component.troubles.empty()) continue;
    const auto here = std::count_if(component.troubles.begin(), component.troubles.end(),
                                    [attempt](const auto& trouble) { return trouble.began.attempt == attempt; });
    const ComponentState::Trouble& last = component.troubles.back();
    if (here == 1 && !last.ended && last.began.attempt == attempt && !others_serve(state, component)) return &last;
  }
  return nullptr;
}

/// Who agrees, and since when that is known.
std::optional<Sooner> second_witness(const State& state, const AttemptState& attempt, Time since, Time now) {
  const Work work = work_at(state, attempt.began.at, since, now);
  if (work.does == Work::Does::kNothing && work.before >= kWorked.value) {
    return Sooner{work.from, "its processes do next to nothing"};
  }
  if (work.does == Work::Does::kSpins) return Sooner{work.from, std::string(kSpinsInWords)};
  const ComponentState::Trouble* trouble = engine_trouble(state, state.attempts.size() - 1);
  if (trouble != nullptr) return Sooner{trouble->began.at, "its engine does no work"};
  return std::nullopt;
}

}  // namespace

double witnessed_patience(double usual, double longest) {
  return std::max({kWitnessLeast.value, kWitnessPeriods.value * usual, kWitnessLongest.value * longest});
}

std::optional<Sooner> stalls_sooner(const State& state, const Rhythm& rhythm, Time since) {
  const AttemptState& attempt = state.attempts.back();
  const Time now = state.ticks.back().at;
  const double quiet = std::min(standstill(state).quiet, (now - since).seconds());
  if (quiet < kWitnessLeast.value) return {};  // most ticks
  const Rhythm watched = rhythm_by_ticks(state, kStepsLeast);
  const bool regular = static_cast<double>(rhythm.gaps) >= kRegular.value && watched.known();
  if (!regular || !is_amid_its_plan(state, attempt) ||
      announced_phase(state, state.attempts.size() - 1, now) != nullptr)
    return {};
  const double usual = std::max({rhythm.usual, rhythm.lately, watched.usual});
  const double longest = std::max(rhythm.longest, watched.longest);
  const double least = witnessed_patience(usual, longest);
  if (quiet < least) return {};
  auto witness = second_witness(state, attempt, since, now);
  if (!witness) return {};
  witness->from = std::max(witness->from, now + Duration::seconds(least - quiet));
  return witness->from <= now ? witness : std::nullopt;
}

std::optional<Sooner> has_rested_since(const State& state, Time at) {
  if (state.attempts.empty() || state.anchors.empty() || state.ticks.empty() || state.closed) return {};
  const Standstill watched = standstill(state);
  if (!watched.since.known() || is_paused(state)) return {};
  const auto rests = stalls_sooner(state, rhythm_of(state, state.anchors.back().first, kStepsLeast),
                                   std::max(watched.since, last_set_going(state)));
  return rests && rests->from <= at ? rests : std::nullopt;
}

}  // namespace mw::detect
