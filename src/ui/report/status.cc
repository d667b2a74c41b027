#include "ui/report/status.h"

#include <algorithm>

#include "base/json.h"
#include "base/secrets.h"
#include "base/text.h"
#include "core/changes.h"
#include "core/checkpoint_trust.h"
#include "core/collected.h"
#include "core/components.h"
#include "core/cost.h"
#include "core/entropy_forecast.h"
#include "core/event_fields.h"
#include "core/incident_json.h"
#include "core/notes.h"
#include "core/save_forecast.h"
#include "core/save_interval.h"
#include "core/shipments.h"
#include "core/supervise/decide_component.h"
#include "ui/report/paint.h"
#include "ui/report/terminal.h"
#include "ui/view/actions.h"
#include "ui/view/expected_end.h"
#include "ui/view/lost_time.h"
#include "ui/view/overview.h"
#include "ui/view/run_now.h"
#include "ui/view/run_record.h"

namespace mw {
namespace {

using Phase = RunStatus::Phase;

constexpr double kHour = 3600;         // seconds
constexpr size_t kLabel = 12;          // cells of a line's head
constexpr size_t kLines = 3;           // terminal lines of one item
constexpr size_t kActionsShown = 6;    // the last ones
constexpr size_t kNotesShown = 4;      // likewise
constexpr size_t kChangesShown = 6;    // the first ones
constexpr size_t kWhyBytes = 160;      // of a reason
constexpr size_t kActionsInJson = 50;  // likewise
constexpr std::string_view kMain[] = {"reward.mean", "entropy",         "kl.ref",    "grad_norm",
                                      "loss.total",  "response.length", "time.step", "throughput.tokens"};

/// A short head for what the report says in full.
std::string_view now_label(const NowLine& now) {
  if (now.what == "Phase") return "phase";
  if (now.what == "Next step") return "next step";
  if (now.what == "Next save") return "next save";
  if (now.what == "Next evaluation") return "next eval";
  if (now.what == "Entropy") return "entropy";
  return now.what == "A crash would cost" ? "at risk" : "advice";
}

std::string ago(Time then, Time now) {
  if (!then.known()) return "never";
  return now <= then ? "just now" : cat(format_duration(now - then), " ago");
}

std::string command_text(const RunStatus& status) {
  std::string text;
  for (const std::string& word : redact_words(status.command)) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string who_watches(const State& state, const RunStatus& status) {
  if (status.watcher_stopped) return cat("NOBODY: ", stopped_watcher(status.watcher));
  if (status.watcher != 0) return cat("midwatch process ", status.watcher);
  if (status.supervised && status.phase == Phase::kOver) return "nobody: the run is over";
  if (status.elsewhere) return "a midwatch on another machine or in another container, if it still lives";
  if (was_left(state, status))
    return "NOBODY: whatever becomes of it would not be noticed. midwatch attach watches it again";
  if (!status.supervised) return "nobody now";
  const bool runs = status.pid != 0 && status.phase != Phase::kPaused;
  return cat("NOBODY: ", runs ? "the command goes on, but nothing would be noticed. " : "",
             "Reattach: midwatch run --reattach ", status.name);
}

std::string attempt_text(const Supervision& known, const RunStatus& status) {
  std::string text = cat(status.attempt);
  const bool for_component = known.pause && known.pause_by == kByComponent;
  switch (status.phase) {
    case Phase::kStarting:
      return text + ", is being started";
    case Phase::kPaused:
    case Phase::kRunning:
      return cat(text, ", process ", status.pid, ", for ", format_duration(status.now - status.began),
                 status.phase == Phase::kPaused
                     ? status.asks == "break" ? ", paused: midwatch approve ends it, midwatch resume continues it"
                       : for_component
                           ? ", paused while a component that it needs is restarted (midwatch resume continues it now)"
                           : ", paused (midwatch resume continues it)"
                 : status.asks == "break" ? ", not paused: midwatch approve ends it"
                                          : "");
    case Phase::kEnded:
      return text + (is_watched_here(status) ? ", has ended and is being judged"
                                             : ", has ended; nobody was there to judge it");
    case Phase::kWaiting:
      return cat(text, " has ended. ", status.why, " Attempt ", status.attempt + 1, " begins ",
                 status.asks == "restart"  ? "when somebody types midwatch approve"
                 : for_component           ? "when the component that it needs answers"
                 : known.pause             ? "after midwatch resume: the run is paused"
                 : status.due > status.now ? "in " + format_duration(status.due - status.now)
                                           : "now");
    case Phase::kOver:
      return status.attempt == 0 ? cat("none began. ", status.why) : cat(text, " was the last. ", status.why);
    case Phase::kUnknown:
      break;
  }
  return text;
}

/// Of a run that is over and was to end, by whom; "" of another.
std::string requested_by(const State& state, const RunStatus& status) {
  if (status.phase != Phase::kOver || !state.supervision.stop) return "";
  const auto& requests = state.supervision.requests;
  const auto last = std::find_if(requests.rbegin(), requests.rend(), [](const Supervision::Request& request) {
    return request.what == "stop" || request.what == "kill";
  });
  if (last == requests.rend() || !given_up(state.supervision).empty()) return "";  // the reason stands there
  return cat(" Requested by ", last->who == kByMidwatch ? "a signal to midwatch (Ctrl-C, SIGTERM)" : last->who, ".");
}

/// Of a run that somebody else started.
std::string process_text(const RunStatus& status) {
  if (status.pid == 0) return status.why;
  std::string may;
  for (const std::string& one : status.allow) may += (may.empty() ? ", midwatch may " : " and ") + one;
  return cat(status.pid, status.phase == Phase::kPaused ? ", paused" : "",
             may.empty() ? ", is left alone" : may + " it");
}

/// The last ones; what processes were seen to do stands with its incident.
std::vector<const ActionState*> actions_shown(const State& state) {
  std::vector<const ActionState*> shown;
  for (size_t i = state.actions.size(); i-- > 0 && shown.size() < kActionsShown;) {
    if (state.actions[i].intent.action != kCollectEvidence) shown.push_back(&state.actions[i]);
  }
  std::reverse(shown.begin(), shown.end());
  return shown;
}

/// "reward.mean 0.41 ↗ · entropy 1.2 →": the last values of what matters most.
std::string figures(const State& state) {
  std::string text;
  for (const SignalLine& line : canonical_metrics(state, {})) {
    for (const std::string_view name : kMain) {
      if (line.name != name) continue;
      const std::string_view arrow = trend_arrow(line.trend);
      text += cat(text.empty() ? "" : " · ", line.name, " ", format_value(line.last, line.unit),
                  arrow.empty() ? "" : " ", arrow);
    }
  }
  return text;
}

const std::pair<Moment, event::CheckpointSaved>* last_checkpoint(const State& state) {
  const std::pair<Moment, event::CheckpointSaved>* last = nullptr;
  const int64_t furthest = furthest_saved(state);  // another trainer may save there, too
  for (size_t i = state.checkpoints.size(); i-- > 0;) {
    const auto& one = state.checkpoints[i];
    if (!one.second.complete) continue;
    if (last != nullptr && one.first.attempt != last->first.attempt) break;
    const bool beyond = furthest != kNoStep && one.second.step > furthest && state.by_host(one.first.where);
    if (!beyond && (last == nullptr || one.second.step > last->second.step)) last = &one;
    if (last != nullptr && !state.by_host(last->first.where))
      break;  // those that are found on the disk are found in any order
  }
  return last;
}

std::string checkpoint_text(const State& state, Time now) {
  const auto* last = last_checkpoint(state);
  if (last == nullptr) return "";
  const auto& [moment, saved] = *last;
  const int64_t step = state.attempts.empty() ? kNoStep : state.attempts.back().last_step;
  const int64_t behind = saved.step != kNoStep && step >= saved.step ? step - saved.step : 0;
  return cat(saved.step == kNoStep ? "" : cat("step ", saved.step),
             behind > 0 ? cat(", ", behind, behind == 1 ? " step ago" : " steps ago") : "",
             moment.at.known() ? cat(", ", ago(moment.at, now)) : "", saved.path.empty() ? "" : ", " + saved.path);
}

/// Where the newest checkpoints are: what is shipped, what is on its way, and why not.
std::string shipped_text(const State& state, const RunStatus& status) {
  if (status.store.empty()) return "";
  const auto last = last_shipped(state);
  std::string text = !last ? cat("nothing yet, to ", status.store)
                           : cat("step ", last->step, ", ", ago(last->at, status.now), ", to ", status.store);
  for (const Shipment& one : shipments(state)) {
    if (one.how == Shipment::How::kShipped || (last && one.step < last->step && one.how != Shipment::How::kSending))
      continue;
    text +=
        cat("; step ", one.step, " ", word_of(one.how),
            one.how == Shipment::How::kFailed && !one.text.empty() ? cat(" (", clip(one.text, kWhyBytes), ")") : "");
  }
  return text;
}

/// How old what the trainer last wrote is, and its last step.
std::string ages_text(const State& state, const RunStatus& status) {
  const int64_t step = state.attempts.empty() ? kNoStep : state.attempts.back().last_step;
  // Files that were named relative to another folder cannot be asked from here.
  const std::string written = status.output.known() ? cat("last written ", ago(status.output, status.now), ", ") : "";
  if (step == kNoStep) return written + "no step yet";
  if (status.stepped.known()) return cat(written, "step ", step, " seen ", ago(status.stepped, status.now));
  return written.substr(0, written.find(','));
}

/// The components of the attempt that runs; of a run that is over those that were in trouble, as the others ended with
/// it.
std::vector<const ComponentState*> components_shown(const State& state, const RunStatus& status) {
  std::vector<const ComponentState*> shown;
  for (const ComponentState& component : state.components) {
    if (component.since.attempt + 1U != state.attempts.size()) continue;
    if (status.phase != Phase::kOver || in_trouble(component.last.health)) shown.push_back(&component);
  }
  return shown;
}

std::string component_text(const ComponentState& component, Time now) {
  const bool well = component.last.health == event::ComponentSaw::Health::kWell;
  return cat(component.last.component, ", ", component.last.kind,
             component.last.address.empty() ? "" : " at " + component.last.address, ": ",
             enum_name(component.last.health), " since ", ago(component.since.at, now),
             well ? "" : ". " + component.last.text);
}

/// Tags, and the last notes and lessons of people.
template <typename Line>
void add_words(const State& state, const Line& line) {
  std::string tags;
  for (const std::string& tag : tags_of(state)) tags += cat(tags.empty() ? "" : ", ", tag);
  line("  tags        ", tags);
  std::vector<PersonsNote> notes = notes_of(state);
  std::erase_if(notes, [](const PersonsNote& note) { return note.kind == kTag || note.kind == kUntag; });
  for (size_t i = notes.size() > kNotesShown ? notes.size() - kNotesShown : 0; i < notes.size(); ++i) {
    const PersonsNote& note = notes[i];
    line(note.kind == kLesson ? "  lesson      " : "  note        ",
         cat(when(note.moment.at), note.moment.step == kNoStep ? "" : cat(", step ", note.moment.step), ", ", note.who,
             ": ", note.text));
  }
}

/// The first word where the run's files cannot know it: paused, between attempts, watched by nobody.
std::string status_word(const State& state, const RunStatus& status) {
  // What follows is what was recorded before nobody watched any more.
  if (should_be_watched(status) && status.phase == Phase::kEnded) return "ENDED, AND NOBODY WATCHED; BEFORE THAT  ";
  const bool paused = status.phase == Phase::kPaused || (status.phase == Phase::kWaiting && state.supervision.pause);
  if (should_be_watched(status) || was_left(state, status)) return paused ? "NOT WATCHED, PAUSED  " : "NOT WATCHED  ";
  return paused ? "PAUSED  " : status.phase == Phase::kWaiting ? "WAITING TO RESTART  " : "";
}

}  // namespace

std::string_view phase_word(const RunStatus& status) {
  if (!status.supervised && !status.adopted) return "read-only";
  switch (status.phase) {
    case Phase::kStarting:
      return "starting";
    case Phase::kRunning:
      return "running";
    case Phase::kPaused:
      return "paused";
    case Phase::kEnded:
      return "ended";
    case Phase::kWaiting:
      return "waiting";
    case Phase::kOver:
      return "over";
    case Phase::kUnknown:
      break;
  }
  return "unknown";
}

std::string terminal_run_status(const State& state, const RunStatus& status, const Console& console) {
  const Painter paint(console);
  std::string out = paint.yellow(status_word(state, status)) + terminal_status(state, console) + "\n";
  const auto line = [&](std::string_view head, const std::string& text, Painter::Colour colour = nullptr) {
    if (!text.empty()) out += paint.hanging(head, text, kLines, colour, &Painter::dim);
  };
  line("  run         ",
       cat(status.name, status.supervised || !status.allow.empty() ? "" : ", read only", " (", status.folder, ")"));
  line("  command     ", command_text(status));
  if (status.supervised && status.attempt > 0)
    line("  attempt     ", cat(attempt_text(state.supervision, status), requested_by(state, status)));
  if (status.adopted) line("  process     ", process_text(status));
  const bool alone = should_be_watched(status) || was_left(state, status);
  line("  watched by  ", who_watches(state, status), alone ? &Painter::red : nullptr);
  line("  output      ", ages_text(state, status));
  line("  cost        ", cost_text(run_seconds(state), cost_per_hour(state)));
  line("  lost        ", lost_time_text(record_of(state)));
  line("  figures     ", figures(state));
  const auto next = save_forecast(state);
  for (const NowLine& now : run_now(state, status.now)) {
    if (next && now.what == "Next save") continue;  // the forecast below says more
    line(cat("  ", pad(now_label(now), kLabel)), now.text);
  }
  std::string others;
  for (const std::string& name : status.others) others += cat(others.empty() ? "" : ", ", name);
  line("  also live   ", others.empty() ? "" : cat(others, " (midwatch status --run NAME)"), &Painter::yellow);
  line("  checkpoint  ", checkpoint_text(state, status.now));
  const auto shipped = shipments(state);
  const bool fails = std::any_of(shipped.begin(), shipped.end(),
                                 [](const Shipment& one) { return one.how == Shipment::How::kFailed; });
  line("  next save   ", save_forecast_text(next), next && !next->fits() ? &Painter::red : nullptr);
  const std::string change = save_change(state, status.save_setting);
  line("  saves       ", cat(save_advice(state), change.empty() ? "" : "; ", change));
  line("  shipped     ", shipped_text(state, status), fails ? &Painter::yellow : nullptr);
  for (const ComponentState* component : components_shown(state, status)) {
    const bool trouble = in_trouble(component->last.health);
    line("  component   ", component_text(*component, status.now), trouble ? &Painter::red : nullptr);
  }
  for (const Incident& incident : state.incidents) {
    if (!incident.open || incident.severity == Severity::kInfo) continue;
    line("  incident    ",
         cat("#", incident.id, " ", incident.kind, ", ", severity_name(incident.severity), ", since ",
             describe(state, incident.onset), " (midwatch why ", incident.id, ")"),
         incident.severity == Severity::kCritical ? &Painter::red : &Painter::yellow);
    for (const ActionState* snapshot : collected(state, incident.id)) line("  process     ", collected_line(*snapshot));
  }
  const auto changes = last_changes(state);
  for (size_t i = 0; i < changes.size() && i < kChangesShown; ++i) {
    line("  changed     ", cat("for attempt ", changes[i]->attempt, ": ", change_text(*changes[i])));
  }
  if (changes.size() > kChangesShown) {
    line("  changed     ", cat("and ", changes.size() - kChangesShown, " more: midwatch report"));
  }
  for (const ActionState* action : actions_shown(state)) line("  done        ", action_text(*action));
  add_words(state, line);
  return out;
}

namespace {

void put_time(JsonWriter& json, std::string_view key, Time at) {
  json.key(key);
  at.known() ? json.string(format_utc(at)) : json.null();
}

void put_step(JsonWriter& json, std::string_view key, int64_t step) {
  json.key(key);
  step == kNoStep ? json.null() : json.integer(step);
}

void put_components(JsonWriter& json, const State& state, const RunStatus& status) {
  json.key("components").begin_array();
  for (const ComponentState* component : components_shown(state, status)) {
    const event::ComponentSaw& saw = component->last;
    json.begin_object().key("name").string(saw.component).key("kind").string(saw.kind);
    json.key("health").string(enum_name(saw.health)).key("text").string(saw.text);
    json.key("address").string(saw.address).key("pid").integer(saw.pid);
    put_time(json, "since", component->since.at);
    json.end_object();
  }
  json.end_array();
}

void put_actions(JsonWriter& json, const State& state) {
  json.key("actions").begin_array();
  const size_t from = state.actions.size() > kActionsInJson ? state.actions.size() - kActionsInJson : 0;
  for (size_t i = from; i < state.actions.size(); ++i) {
    const ActionState& action = state.actions[i];
    json.begin_object().key("id").integer(action.intent.id).key("action").string(action.intent.action);
    json.key("target").string(action.intent.target).key("incident").integer(action.intent.incident);
    json.key("why").string(action.intent.why);
    put_time(json, "at", action.at);
    json.key("done").boolean(action.done).key("ok").boolean(action.ok).key("outcome").string(action.outcome);
    json.end_object();
  }
  json.end_array().key("notes").begin_array();
  for (const PersonsNote& note : notes_of(state)) {
    json.begin_object().key("who").string(note.who).key("kind").string(note.kind).key("text").string(note.text);
    put_time(json, "at", note.moment.at);
    put_step(json, "step", note.moment.step);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

namespace {

void put_shipments(JsonWriter& json, const State& state, const RunStatus& status) {
  json.key("store").string(status.store);
  const auto last = last_shipped(state);
  put_step(json, "last_shipped", last ? last->step : kNoStep);
  put_time(json, "last_shipped_at", last ? last->at : Time());
  json.key("shipments").begin_array();
  const auto all = shipments(state);
  for (size_t i = all.size() > kActionsInJson ? all.size() - kActionsInJson : 0; i < all.size(); ++i) {
    json.begin_object().key("step").integer(all[i].step).key("path").string(all[i].path);
    json.key("state").string(word_of(all[i].how));
    put_time(json, "at", all[i].at);
    json.key("text").string(all[i].text).end_object();
  }
  json.end_array();
}

void put_saves(JsonWriter& json, const State& state, const RunStatus& status) {
  json.key("save_change").string(save_change(state, status.save_setting)).key("next_save");
  const auto next = save_forecast(state);
  if (!next) {
    json.null();
    return;
  }
  json.begin_object().key("step").integer(next->step);
  const auto put = [&](std::string_view key, double value) {
    json.key(key);
    value > 0 ? json.number(value) : json.null();
  };
  put("in_s", next->in_s);
  put("takes_s", next->takes_s);
  put("bytes", next->bytes);
  json.key("disk").string(next->disk);
  put("free", next->free);
  put("shared_bytes", next->shared);
  put("shared_free", next->shared_free);
  json.key("fits").boolean(next->fits()).end_object();
}

void put_entropy(JsonWriter& json, const State& state) {
  json.key("entropy_end");
  const auto next = forecast_entropy(state);
  if (!next) {
    json.null();
    return;
  }
  json.begin_object().key("step").integer(next->step);
  json.key("floor").number(next->floor).key("level").number(next->level).key("reward");
  const auto law = entropy_law(state);
  law ? json.number(law->reward_at(next->floor)) : json.null();
  json.end_object();
}

}  // namespace

std::string status_json(const State& state, const RunStatus& status) {
  std::string out;
  JsonWriter json(out);
  const StatusLine headline = status_line(state);
  json.begin_object().key("schema").string("midwatch.status/1").key("run").string(status.name);
  json.key("folder").string(status.folder).key("supervised").boolean(status.supervised);
  json.key("held").boolean(status.supervised);  // its name until 0.1
  json.key("phase").string(phase_word(status)).key("command").begin_array();
  for (const std::string& word : redact_words(status.command)) json.string(word);
  json.end_array().key("allow").begin_array();
  for (const std::string& word : status.allow) json.string(word);
  json.end_array()
      .key("asks")
      .string(status.asks)
      .key("attempt")
      .integer(status.attempt)
      .key("pid")
      .integer(status.pid);
  put_time(json, "began", status.began);
  put_time(json, "next_attempt", status.due);
  json.key("decision").string(status.why).key("watcher").integer(status.watcher);
  json.key("watched").boolean(is_watched_here(status) || status.elsewhere);
  put_time(json, "heard", status.heard);
  put_time(json, "output_at", status.output);
  put_time(json, "step_at", status.stepped);
  json.key("verdict").string(state.verdict).key("status").string(headline.word + ": " + headline.rest);
  json.key("resume").string(headline.resume);
  put_step(json, "step", state.attempts.empty() ? kNoStep : state.attempts.back().last_step);
  json.key("total_steps");
  state.total_steps > 0 ? json.integer(state.total_steps) : json.null();
  const ExpectedEnd end = expected_end(state);
  put_time(json, "expected_end", end.middle());
  put_time(json, "expected_end_earliest", end.earliest);
  put_time(json, "expected_end_latest", end.latest);
  if (const double price = cost_per_hour(state); price > 0) {
    const double seconds = run_seconds(state);
    json.key("cost_per_hour").number(price).key("cost");
    seconds > 0 ? json.number(seconds / kHour * price) : json.null();
  }
  const auto* checkpoint = last_checkpoint(state);
  put_step(json, "last_checkpoint", checkpoint == nullptr ? kNoStep : checkpoint->second.step);
  put_saves(json, state, status);
  put_entropy(json, state);
  json.key("figures").begin_object();
  for (const SignalLine& line : canonical_metrics(state, {})) json.key(line.name).number(line.last);
  json.end_object().key("incidents").begin_array();
  for (const Incident& incident : state.incidents) {
    if (incident.open) json.raw(shown_incident_json(incident, state));
  }
  json.end_array();
  if (!status.store.empty()) put_shipments(json, state, status);
  put_components(json, state, status);
  put_actions(json, state);
  json.key("changes").begin_array();
  for (const event::Changed* change : last_changes(state)) put_change(json, *change);
  json.end_array().end_object();
  return out + "\n";
}

}  // namespace mw
