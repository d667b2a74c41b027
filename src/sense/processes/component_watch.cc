#include "sense/processes/component_watch.h"

#include <algorithm>

#include "base/text.h"
#include "core/detect/support/pause.h"
#include "sense/processes/addresses.h"

namespace mw {
namespace {

const std::string kSource = "host:components";
/// Servers write a line for each question into their logs, and nobody asked us to ask.
constexpr Duration kFoundEvery = Duration::seconds(30);

/// The attempt that runs has done what it planned, or said how it ended.
bool is_over(const State& state) {
  if (state.attempts.empty()) return false;
  const AttemptState& last = state.attempts.back();
  const int64_t total = last.total_steps > 0 ? last.total_steps : state.total_steps;
  return last.ended.has_value() || (total > 0 && last.last_step != kNoStep && last.last_step + 1 >= total);
}

/// It worked once, by what an earlier midwatch saw, too.
bool worked(const State& state, const std::string& name) {
  return std::any_of(state.components.begin(), state.components.end(), [&name](const ComponentState& part) {
    return part.last.component == name &&
           (part.last.health == event::ComponentSaw::Health::kWell || !part.troubles.empty());
  });
}

}  // namespace

ComponentWatch::ComponentWatch(Clock& clock, const Knowledge& knowledge, Scope scope)
    : clock_(clock), scope_(std::move(scope)), tree_(*scope_.system, scope_.hold), wait_(clock, waiting(knowledge)) {
  for (components::Target& target : scope_.declared) {
    if (asked_.size() >= kAsked) break;
    asked_.push_back(std::make_unique<Asked>());
    asked_.back()->target = std::move(target);
  }
}

/// Those that midwatch starts itself are waited for by whoever starts them.
ServerWait::Scope ComponentWatch::waiting(const Knowledge& knowledge) {
  std::vector<components::Target> foreign;
  for (const components::Target& target : scope_.declared) {
    if (scope_.process_of(target.name) < 0) foreign.push_back(target);
  }
  return {scope_.http, knowledge, std::move(foreign), [this](int64_t port) { return tree_.elsewhere(port); },
          scope_.say};
}

components::Run ComponentWatch::run_of(const State& state) const {
  const RunProcesses run = scope_.processes();
  return {run.keeper, run.command, detect::is_paused(state), is_over(state)};
}

/// Another attempt: its servers start with it, and those of the one before are no more.
void ComponentWatch::begin_anew(Duration now) {
  std::erase_if(asked_, [](const auto& one) { return !one->target.declared && !one->call.busy(); });
  for (const auto& one : asked_) {
    one->judge.begin_anew();
    one->stale = one->call.started();  // an answer that has come and was not taken yet, too
    one->due = now;
  }
}

/// Engines of the run's own processes are asked where they listen: for their health and their counters, nothing that
/// costs them.
void ComponentWatch::find_servers(Duration now) {
  const auto places = tree_.places();
  const auto is_known = [this](const std::string& address) {
    const std::string port = address.substr(address.rfind(':'));
    return std::any_of(asked_.begin(), asked_.end(), [&](const auto& one) {
      const std::string& known = one->target.address;
      return known.size() >= port.size() && known.compare(known.size() - port.size(), port.size(), port) == 0;
    });
  };
  std::erase_if(asked_, [&places](const auto& one) {
    if (one->target.declared || one->call.busy()) return false;
    return std::none_of(places.begin(), places.end(),
                        [&one](const auto& place) { return place.pid == one->target.pid; });
  });
  for (const auto& place : places) {
    if (place.kind != "engine" || asked_.size() >= kAsked || is_known(place.address)) continue;
    asked_.push_back(std::make_unique<Asked>());
    components::Target& target = asked_.back()->target;
    target.name = place.component;
    target.kind = place.kind;
    target.address = cat("http://", place.address);
    target.pid = place.pid;
    target.every = kFoundEvery;
    asked_.back()->due = now;
  }
}

/// A server that midwatch supervises is asked anew when it was restarted, whether or not an attempt runs. False: it is
/// not such a server.
bool ComponentWatch::follow_life(Asked& one, Duration now) const {
  const int64_t process = one.target.declared ? scope_.process_of(one.target.name) : -1;
  if (process < 0) return false;
  if (std::exchange(one.target.pid, process) != process) {
    one.judge = {};
    one.stale = one.call.started();  // an answer that has come and was not taken yet, too
    one.due = now;
  }
  return true;
}

/// What an engine counts of its work, by the ledger's rules of what is worth a line.
void ComponentWatch::note_figures(Asked& one, const components::EngineFigures& figures, Duration now,
                                  EventWriter& writer) {
  std::vector<Reading> readings;
  const auto note = [&](std::string_view signal, const std::optional<double>& value) {
    if (value) ledger_.note(signal, one.target.name, *value, now, readings);
  };
  note("engine.running", figures.running);
  note("engine.waiting", figures.waiting);
  note("engine.kv_usage", figures.cache);
  if (figures.generated) note("engine.tokens", one.tokens.take(*figures.generated, now));
  if (!readings.empty()) writer.observed(kSource, event::Measured{kNoStep, false, std::move(readings)});
}

void ComponentWatch::take(const State& state, Asked& one, const components::Answer& answer, bool idle, Duration now,
                          EventWriter& writer) {
  if (worked(state, one.target.name)) one.judge.worked();
  if (auto news = one.judge.take(one.target, answer, rhythm_, now, idle)) {
    // It answers from now on: whether it is the run's own server is seen by who listens there.
    if (one.target.declared && news->health == event::ComponentSaw::Health::kWell && !idle)
      tree_.answered(components::port_of(one.target.address));
    writer.observed(kSource, std::move(*news));
  }
  if (idle || state.attempts.empty()) {
    one.tokens = {};
    return;
  }
  note_figures(one, answer.figures, now, writer);
  const int64_t step = state.attempts.back().last_step;
  const auto figures = one.same.take(answer, state.attempts.size(), step);
  if (!figures) return;
  writer.observed(kSource, event::Measured{step,
                                           false,
                                           {{"engine.same_answer", one.target.name, figures->same},
                                            {"engine.answer_changes", one.target.name, figures->changes}}});
}

void ComponentWatch::ask_servers(const State& state, bool idle, Duration now, EventWriter& writer) {
  for (const auto& one : asked_) {
    const bool ours = follow_life(*one, now);
    const bool wait = ours ? one->target.pid == 0 : idle;
    if (one->target.address.empty()) continue;
    if (auto answer = one->call.take()) {
      take(state, *one, *answer, wait || std::exchange(one->stale, false), now, writer);
    }
    if (wait || one->call.started() || now < one->due) continue;
    one->due = {now.ns + one->target.every.ns};
    one->call.start([http = scope_.http, target = one->target] { return components::ask(*http, target); });
  }
}

std::optional<Duration> ComponentWatch::turn(const State& state, bool, EventWriter& writer) {
  const Duration now = clock_.steady();
  if (!state.attempts.empty()) rhythm_.saw(state.attempts.size(), state.attempts.back().last_step, now);
  if (now >= due_) {
    due_ = {now.ns + components::TreeWatch::kQuick.ns};
    const components::Run run = run_of(state);
    if (std::exchange(keeper_, run.keeper) != run.keeper) begin_anew(now);
    for (event::ComponentSaw& saw : tree_.poll(run, rhythm_, now)) writer.observed(kSource, std::move(saw));
    find_servers(now);
    ask_servers(state, run.keeper == 0 || run.paused || run.over, now, writer);
  }
  return Duration{std::max<int64_t>(0, due_.ns - now.ns)};
}

}  // namespace mw
