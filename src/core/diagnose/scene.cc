#include "core/diagnose/scene.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace mw::diagnose {
namespace {

constexpr Duration kThatTime = Duration::seconds(120);  // within which another file's word is of the same failure

/// What was said of calls that found no server, time and again, from about where the incident began; else nothing.
std::vector<std::string_view> failed_calls(const Scene& scene) {
  constexpr std::array<std::string_view, 2> kFailures{"connection-refused", "api-connection-error-all-rollouts"};
  constexpr size_t kOften = 5;
  const Moment& onset = scene.incident.onset;
  for (const std::string_view id : kFailures) {
    const SignatureState* failed = scene.state.signature(id);
    if (onset.step == kNoStep || failed == nullptr || failed->sample) continue;
    std::vector<std::string_view> near;
    for (const SignatureState::Match& match : failed->matches) {
      const Moment& said = match.moment;
      if (said.attempt == onset.attempt && said.step != kNoStep && said.step + kNearSteps >= onset.step)
        near.push_back(match.text);
    }
    if (near.size() >= kOften) return near;
  }
  return {};
}

}  // namespace

bool Scene::says(std::string_view lower) const {
  return std::any_of(incident.evidence.begin(), incident.evidence.end(),
                     [&](const Evidence& evidence) { return contains_folded(evidence.text, lower); });
}

bool Scene::named(std::string_view cause) const {
  return std::any_of(suggestions.begin(), suggestions.end(),
                     [&](const Suggestion& suggestion) { return suggestion.cause == cause; });
}

bool Scene::seen(std::string_view signature) const {
  const SignatureState* state_of = state.signature(signature);
  if (state_of == nullptr || state_of->sample) return false;
  return std::any_of(state_of->matches.begin(), state_of->matches.end(), [this](const SignatureState::Match& match) {
    const Time said = match.moment.at, onset = incident.onset.at;
    const bool elsewhere = match.moment.where.source != incident.onset.where.source;
    const bool then = said.known() && onset.known() && std::max(said, onset) - std::min(said, onset) <= kThatTime;
    return (elsewhere && then) || match.moment.attempt == incident.onset.attempt;
  });
}

bool Scene::cut_off_since() const {
  const int64_t first = state.steps().first;
  return std::any_of(all.begin(), all.end(), [&](const Incident& other) {
    return other.kind == "truncation" && other.severity > Severity::kInfo && other.open &&
           other.onset.attempt == incident.onset.attempt && first != kNoStep && other.onset.step > first + kNearSteps &&
           other.onset.step < incident.onset.step;
  });
}

bool Scene::unreachable() const { return !failed_calls(*this).empty(); }

const detect::Service* Scene::unreachable_service() const {
  const std::vector<std::string_view> calls = failed_calls(*this);
  std::vector<std::pair<const detect::Service*, size_t>> named;
  for (const std::string_view call : calls) {
    const detect::Service* const service = detect::service_of(call);
    if (service == nullptr || service->word.empty()) continue;  // any other address may be an engine's
    auto known = std::find_if(named.begin(), named.end(), [&](const auto& one) { return one.first == service; });
    if (known == named.end()) known = named.insert(known, {service, 0});
    ++known->second;
  }
  const auto most =
      std::max_element(named.begin(), named.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == named.end() || 2 * most->second <= calls.size() ? nullptr : most->first;
}

bool Scene::still_answers() const {
  constexpr double kAsLong = 0.5;  // a policy that is rewarded by nothing may write less, too
  constexpr size_t kRecords = 3;   // a record may be of answers that were given before
  const auto before = levels_of("response.length");
  const Series* const series = state.find("response.length");
  if (!before || before->second <= 0) return false;
  std::vector<double> since;
  for (const Point& point : series->points()) {
    if (point.attempt == incident.onset.attempt && point.step >= incident.onset.step) since.push_back(point.value);
  }
  const auto as_long = [&](double value) { return value >= kAsLong * before->second; };
  return since.size() >= kRecords && std::all_of(since.begin(), since.end(), as_long);
}

bool Scene::shorter_since() const {
  return std::any_of(all.begin(), all.end(), [&](const Incident& other) {
    return other.kind == "length-collapse" && other.severity > Severity::kInfo &&
           other.onset.attempt == incident.onset.attempt && other.onset.step != kNoStep &&
           (other.onset.step <= incident.onset.step || had_shrunk());
  });
}

bool Scene::dissolved() const {
  const int64_t first = state.steps().first;
  return std::any_of(all.begin(), all.end(), [&](const Incident& other) {
    if (other.kind != "entropy-explosion" || other.onset.attempt != incident.onset.attempt) return false;
    if (other.onset.step == kNoStep || incident.onset.step == kNoStep || first == kNoStep) return true;
    return other.onset.step <= incident.onset.step && other.onset.step - first >= kNearSteps;
  });
}

std::optional<std::pair<double, double>> Scene::levels_of(std::string_view signal) const {
  constexpr size_t kRecords = 10;  // of a level
  const Series* series = state.find(signal);
  if (series == nullptr || incident.onset.step == kNoStep) return std::nullopt;
  std::vector<double> values;
  for (const Point& point : series->points()) {
    if (point.attempt == incident.onset.attempt && point.step < incident.onset.step) values.push_back(point.value);
  }
  if (values.size() < 2 * kRecords) return std::nullopt;
  const auto middle_of = [](std::vector<double> some) {
    const auto middle = some.begin() + static_cast<std::ptrdiff_t>(some.size() / 2);
    std::nth_element(some.begin(), middle, some.end());
    return *middle;
  };
  const auto records = static_cast<std::ptrdiff_t>(kRecords);
  return std::pair(middle_of({values.begin(), values.begin() + records}),
                   middle_of({values.end() - records, values.end()}));
}

bool Scene::had_shrunk() const {
  constexpr double kShrunk = 0.25;  // more than answers vary from one batch to the next
  const auto length = levels_of("response.length"), reward = levels_of("reward.mean");
  return length && reward && length->second <= (1 - kShrunk) * length->first && reward->second <= reward->first;
}

bool Scene::preceded_by(std::string_view kind, int64_t steps) const {
  return std::any_of(all.begin(), all.end(), [&](const Incident& other) {
    if (other.kind != kind || other.onset.attempt != incident.onset.attempt) return false;
    if (other.onset.step != kNoStep && incident.onset.step != kNoStep) {
      return other.onset.step <= incident.onset.step && incident.onset.step - other.onset.step <= steps;
    }
    return true;
  });
}

}  // namespace mw::diagnose
