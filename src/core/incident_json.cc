#include "core/incident_json.h"

#include <cmath>

#include "base/numbers.h"
#include "base/text.h"
#include "core/collected.h"

namespace mw {
namespace {

void write_step(JsonWriter& out, int64_t step) {
  out.key("step");
  if (step == kNoStep) {
    out.null();
  } else {
    out.integer(step);
  }
}

void write_where(JsonWriter& out, const Where& where, const State& state) {
  out.key("source");
  if (where.source < state.sources.size() && !state.sources[where.source].path.empty()) {
    out.string(state.sources[where.source].path);
  } else {
    out.null();
  }
  out.key("source_number").integer(where.source);
  out.key("line");
  if (where.line == 0) {
    out.null();
  } else {
    out.integer(static_cast<int64_t>(where.line));
  }
}

void write_moment(JsonWriter& out, const Moment& moment, const State& state) {
  out.begin_object();
  write_step(out, moment.step);
  out.key("time");
  if (moment.at.known()) {
    out.string(format_utc(moment.at));
    out.key("time_ns").string(std::to_string(moment.at.ns));
  } else {
    out.null();
  }
  write_where(out, moment.where, state);
  out.key("attempt").integer(moment.attempt + 1);
  out.end_object();
}

void write_texts(JsonWriter& out, const std::vector<std::string>& texts) {
  out.begin_array();
  for (const std::string& text : texts) out.string(text);
  out.end_array();
}

void write_evidence(JsonWriter& out, const Evidence& evidence, const State& state) {
  out.begin_object();
  if (!evidence.signal.empty()) {
    out.key("signal").string(evidence.signal);
    write_step(out, evidence.step);
    out.key("value");
    if (std::isfinite(evidence.value)) {
      out.number(evidence.value);
    } else {
      out.string(format_double(evidence.value));
    }
  }
  if (evidence.signal.empty() || !evidence.text.empty()) out.key("text").string(evidence.text);
  write_where(out, evidence.where, state);
  out.end_object();
}

void write_cause(JsonWriter& out, const RankedCause& cause) {
  out.begin_object();
  out.key("id").string(cause.id);
  out.key("title").string(cause.title);
  out.key("score").number(cause.score);
  out.key("for");
  write_texts(out, cause.reasons_for);
  out.key("against");
  write_texts(out, cause.reasons_against);
  out.key("check").string(cause.check);
  out.key("fix").string(cause.fix);
  out.end_object();
}

Where read_where(const Json& json) {
  Where where;
  where.source = static_cast<uint32_t>(json.integer_or("source_number", 0));
  where.line = static_cast<uint64_t>(json.integer_or("line", 0));
  return where;
}

Moment read_moment(const Json* json) {
  Moment moment;
  if (json == nullptr || !json->is_object()) return moment;
  moment.step = json->integer_or("step", kNoStep);
  moment.at.ns = parse_int(json->string_or("time_ns", "0")).value_or(0);
  moment.where = read_where(*json);
  moment.attempt = static_cast<uint16_t>(std::max<int64_t>(json->integer_or("attempt", 1), 1) - 1);
  return moment;
}

std::vector<std::string> read_texts(const Json* json) {
  std::vector<std::string> out;
  if (json == nullptr) return out;
  for (const Json& item : json->items()) out.push_back(item.string());
  return out;
}

Evidence read_evidence(const Json& json) {
  Evidence evidence;
  evidence.signal = json.string_or("signal", "");
  evidence.step = json.integer_or("step", kNoStep);
  if (const Json* value = json.find("value")) {
    evidence.value = value->is_string() ? parse_double(value->string()).value_or(0) : value->number();
  }
  evidence.text = json.string_or("text", "");
  evidence.where = read_where(json);
  return evidence;
}

RankedCause read_cause(const Json& json) {
  RankedCause cause;
  cause.id = json.string_or("id", "");
  cause.title = json.string_or("title", "");
  cause.score = json.number_or("score", 0);
  cause.reasons_for = read_texts(json.find("for"));
  cause.reasons_against = read_texts(json.find("against"));
  cause.check = json.string_or("check", "");
  cause.fix = json.string_or("fix", "");
  return cause;
}

/// What the run's processes did when it was seen.
void write_processes(JsonWriter& out, const Incident& incident, const State& state) {
  const auto actions = collected(state, incident.id);
  if (actions.empty()) return;
  out.key("processes").begin_array();
  for (const ActionState* action : actions) {
    out.begin_object().key("process").string(action->intent.target).key("text").string(action->outcome);
    out.key("done").boolean(action->done).key("time").string(format_utc(action->at)).end_object();
  }
  out.end_array();
}

void write_alone(JsonWriter& out, const Incident& incident, const State& state) {
  out.key("id").integer(incident.id);
  out.key("kind").string(incident.kind);
  out.key("severity").string(severity_name(incident.severity));
  out.key("open").boolean(incident.open);
  out.key("onset");
  write_moment(out, incident.onset, state);
  if (incident.latest.attempt != incident.onset.attempt) {
    out.key("latest");
    write_moment(out, incident.latest, state);
  }
  out.key("detected");
  write_moment(out, incident.detected, state);
  out.key("summary").string(incident.summary);
  out.key("evidence").begin_array();
  for (const Evidence& evidence : incident.evidence) write_evidence(out, evidence, state);
  out.end_array();
  out.key("causes").begin_array();
  for (const RankedCause& cause : incident.causes) write_cause(out, cause);
  out.end_array();
  out.key("reaction").string(incident.reaction);
  out.key("followed_by").begin_array();
  for (const uint32_t id : incident.followed_by) out.integer(id);
  out.end_array();
}

}  // namespace

std::string cause_text(const RankedCause& cause, std::string_view said) {
  const std::string name = cause_name(cause);
  if (name == cause.id || said.find(name) != std::string_view::npos) return cat(cause.id, " (", likelihood(cause), ")");
  return cat(name, " (", cause.id, ", ", likelihood(cause), ")");
}

void write_incident(JsonWriter& out, const Incident& incident, const State& state) {
  out.begin_object();
  write_alone(out, incident, state);
  write_processes(out, incident, state);
  out.end_object();
}

std::string shown_incident_json(const Incident& incident, const State& state) {
  std::string text;
  JsonWriter out(text);
  write_incident(out, incident, state);
  return text;
}

std::string incident_json(const Incident& incident, const State& state) {
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  write_alone(out, incident, state);
  out.end_object();
  return text;
}

std::optional<Incident> incident_from_json(std::string_view json, const State&) {
  const Result<Json> parsed = Json::parse(json);
  if (!parsed.ok() || !parsed->is_object()) return std::nullopt;
  Incident incident;
  incident.id = static_cast<uint32_t>(parsed->integer_or("id", 0));
  incident.kind = parsed->string_or("kind", "");
  const std::string severity = parsed->string_or("severity", "warning");
  incident.severity = severity == "critical" ? Severity::kCritical
                      : severity == "info"   ? Severity::kInfo
                                             : Severity::kWarning;
  const Json* open = parsed->find("open");
  incident.open = open == nullptr || open->boolean();
  incident.onset = read_moment(parsed->find("onset"));
  const Json* latest = parsed->find("latest");
  incident.latest = latest == nullptr ? incident.onset : read_moment(latest);
  incident.detected = read_moment(parsed->find("detected"));
  incident.summary = parsed->string_or("summary", "");
  if (const Json* list = parsed->find("evidence")) {
    for (const Json& item : list->items()) incident.evidence.push_back(read_evidence(item));
  }
  if (const Json* list = parsed->find("causes")) {
    for (const Json& item : list->items()) incident.causes.push_back(read_cause(item));
  }
  incident.reaction = parsed->string_or("reaction", "");
  if (const Json* list = parsed->find("followed_by")) {
    for (const Json& item : list->items()) incident.followed_by.push_back(static_cast<uint32_t>(item.integer()));
  }
  return incident;
}

}  // namespace mw
