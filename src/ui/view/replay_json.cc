#include "ui/view/replay_json.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/json.h"
#include "base/text.h"
#include "core/changes.h"
#include "core/incident_json.h"
#include "core/plan_bar.h"
#include "core/resume_advice.h"
#include "core/signal.h"
#include "core/written_span.h"
#include "ui/view/expected_end.h"
#include "ui/view/overview.h"
#include "ui/view/pace.h"
#include "ui/view/phase_series.h"
#include "ui/view/rollout_times.h"
#include "ui/view/tool_times.h"

namespace mw {
namespace {

constexpr size_t kTemplateText = 500;  // bytes of a quoted line
constexpr size_t kCheckpointsShown = 200;
constexpr size_t kTemplatesShown = 100;

void time_or_null(JsonWriter& out, std::string_view key, Time at) {
  out.key(key);
  if (at.known()) {
    out.string(format_utc(at));
  } else {
    out.null();
  }
}

void step_or_null(JsonWriter& out, std::string_view key, int64_t step) {
  out.key(key);
  if (step == kNoStep) {
    out.null();
  } else {
    out.integer(step);
  }
}

void source_and_line(JsonWriter& out, const State& state, Where where) {
  if (where.line == 0) return;
  if (where.source < state.sources.size()) out.key("source").string(state.sources[where.source].path);
  out.key("line").integer(static_cast<int64_t>(where.line));
}

void moment(JsonWriter& out, const State& state, std::string_view key, const Moment& m) {
  out.key(key).begin_object();
  step_or_null(out, "step", m.step);
  time_or_null(out, "time", m.at);
  source_and_line(out, state, m.where);
  if (m.attempt != 0) out.key("attempt").integer(m.attempt);
  out.end_object();
}

void strings(JsonWriter& out, std::string_view key, const std::vector<std::string>& items) {
  out.key(key).begin_array();
  for (const std::string& item : items) out.string(item);
  out.end_array();
}

void attempts(JsonWriter& out, const State& state) {
  out.key("attempt_list").begin_array();
  for (const AttemptState& a : state.attempts) {
    out.begin_object().key("why").string(a.why);
    moment(out, state, "began", a.began);
    step_or_null(out, "first_step", a.first_step);
    step_or_null(out, "last_step", a.last_step);
    step_or_null(out, "resumed_at", a.resumed_at);
    out.key("end");
    if (a.ended) {
      out.string(a.ended->text);
    } else {
      out.null();
    }
    out.end_object();
  }
  out.end_array();
}

/// Times of single rollouts; no key where the run does not say.
void rollouts(JsonWriter& out, const State& state) {
  const RolloutTimes times = rollout_times(state, {});
  if (times.empty()) return;
  const auto number = [&out](std::string_view key, double value) {
    if (!std::isnan(value)) out.key(key).number(value);
  };
  const auto row = [&](std::string_view key, const RolloutTimes::Row& r) {
    if (!r.known()) return;
    out.key(key).begin_object();
    number("mean", r.mean);
    number("p90", r.p90);
    number("slowest", r.slowest);
    number("slowest_of_all", r.slowest_of_all);
    out.end_object();
  };
  out.key("rollouts").begin_object();
  row("whole", times.whole);
  row("generation", times.generation);
  row("tools", times.tools);
  row("score", times.score);
  if (times.ranks.known()) {
    out.key("ranks").begin_object();
    number("fastest", times.ranks.mean);
    number("slowest", times.ranks.slowest);
    out.end_object();
  }
  number("waited_for_slowest", times.waited);
  if (times.split > 0) {
    out.key("steps").integer(static_cast<int64_t>(times.split));
    out.key("slowest_in_tools").integer(static_cast<int64_t>(times.held_by_tools));
    out.key("slowest_in_score").integer(static_cast<int64_t>(times.held_by_score));
  }
  number("slowest_length", times.slowest_length);
  out.end_object();
}

/// Where the time goes and when it will be over, as far as the run's files say.
void timing(JsonWriter& out, const State& state) {
  const std::vector<TimeShare> split = time_split(state, {});
  out.key("timing").begin_object().key("seconds_per_step");
  if (const double pace = seconds_per_step(state); pace > 0) {
    out.number(pace);
  } else {
    out.null();
  }
  const ExpectedEnd end = expected_end(state);
  time_or_null(out, "expected_end", end.middle());
  time_or_null(out, "expected_end_earliest", end.earliest);
  time_or_null(out, "expected_end_latest", end.latest);
  out.key("split").begin_array();
  for (const TimeShare& part : split) {
    out.begin_object().key("phase").string(part.phase).key("seconds_per_step").number(part.seconds_per_step);
    out.key("share").number(part.share);
    if (part.beside) out.key("beside").boolean(true);
    out.end_object();
  }
  out.end_array().key("bound_by");
  if (const std::string bound = bound_by(split); !bound.empty()) {
    out.string(bound);
  } else {
    out.null();
  }
  rollouts(out, state);
  out.end_object();
}

void run(JsonWriter& out, const State& state) {
  const State::Span steps = state.steps();
  out.key("run").begin_object();
  out.key("framework").string(state.framework);
  out.key("framework_confidence").number(std::round(state.framework_confidence * 1000) / 1000);
  if (!state.version.empty()) out.key("framework_version").string(state.version);
  out.key("verdict").string(state.verdict);
  out.key("attempts").integer(static_cast<int64_t>(state.attempts.size()));
  time_or_null(out, "started", written_since(state));
  time_or_null(out, "ended", written_until(state));
  out.key("steps").begin_object();
  step_or_null(out, "first", steps.first);
  step_or_null(out, "last", last_step_known(state));
  out.key("count").integer(steps.count);
  if (steps.counted) out.key("counted").boolean(true);
  if (state.total_steps > 0) out.key("planned").integer(state.total_steps);
  out.end_object();
  attempts(out, state);
  out.key("config").begin_object();
  for (const auto& [key, value] : state.config) out.key(key).string(value);
  out.end_object().end_object();
}

struct Shown {
  const Series* series;
  std::vector<std::string> raw;
};

void one_signal(JsonWriter& out, const Shown& shown, std::string_view unit) {
  const Series& s = *shown.series;
  out.begin_object();
  strings(out, "raw", shown.raw);
  out.key("n").integer(static_cast<int64_t>(s.count())).key("first").number(s.first()).key("last").number(s.last());
  out.key("min").number(s.min()).key("max").number(s.max()).key("mean").number(s.mean());
  if (s.non_finite() > 0) out.key("non_finite").integer(static_cast<int64_t>(s.non_finite()));
  out.key("trend");
  if (const Trend trend = trend_of(s.points()); trend != Trend::kUnknown) {
    out.string(trend_word(trend));
  } else {
    out.null();
  }
  out.key("unit").string(unit).end_object();
}

void signals(JsonWriter& out, const State& state) {
  std::map<std::string, Shown> shown;
  const auto phases = phase_series(state);
  for (const auto& [name, series] : phases) {
    if (known_from_its_first(state, name)) shown.try_emplace(name, Shown{&series, {}});
  }
  for (const Series& s : state.series) {
    if (s.empty() || s.signal.empty()) continue;
    const auto [at, fresh] = shown.try_emplace(s.signal, Shown{state.find(s.signal), {}});
    auto& raw = at->second.raw;
    if (std::find(raw.begin(), raw.end(), s.raw) == raw.end()) raw.push_back(s.raw);
  }
  out.key("signals").begin_object();
  for (const auto& [name, item] : shown) {
    if (item.series == nullptr) continue;
    const SignalRow* row = find_signal(name);
    out.key(name);
    one_signal(out, item, row != nullptr ? row->unit : "1");
  }
  out.end_object().key("other_metrics").begin_object();
  std::map<std::string, const Series*> raw_only;
  for (const Series* s : state.shown()) {
    if (s->signal.empty() && !s->empty()) raw_only.try_emplace(s->raw, s);
  }
  for (const auto& [name, series] : raw_only) {
    out.key(name);
    one_signal(out, Shown{series, {name}}, "");
  }
  out.end_object().key("evaluations").begin_object();
  for (const Series* s : state.shown(true)) {
    if (s->empty()) continue;
    out.key(s->raw);
    one_signal(out, Shown{s, {s->raw}}, "1");
  }
  out.end_object();
}

void tools_and_formats(JsonWriter& out, const State& state) {
  out.key("tools").begin_object();
  for (const auto& [name, tool] : state.tools) {
    out.key(name).begin_object();
    out.key("calls").integer(static_cast<int64_t>(tool.calls)).key("ok").integer(static_cast<int64_t>(tool.ok));
    out.key("model_errors").integer(static_cast<int64_t>(tool.model_errors));
    out.key("environment_errors").integer(static_cast<int64_t>(tool.environment_errors));
    out.key("timeouts").integer(static_cast<int64_t>(tool.timeouts));
    if (tool.timed > 0) {
      out.key("seconds_mean").number(tool.seconds_sum / static_cast<double>(tool.timed));
      out.key("seconds_max").number(tool.seconds_max);
      out.key("slow").integer(static_cast<int64_t>(tool.slow));
      out.key("seconds_median").number(time_quantile(tool, 0.5)).key("seconds_p95").number(time_quantile(tool, 0.95));
    }
    out.key("errors").begin_object();
    for (const auto& [type, count] : tool.errors) out.key(type).integer(static_cast<int64_t>(count));
    out.end_object().end_object();
  }
  out.end_object().key("formats").begin_object();
  for (const auto& [rule, judged] : state.formats) {
    out.key(rule).begin_object();
    out.key("passed").integer(static_cast<int64_t>(judged.passed));
    out.key("failed").integer(static_cast<int64_t>(judged.failed)).end_object();
  }
  out.end_object().key("phases").begin_object();
  for (const auto& [name, phase] : state.phases) {
    out.key(name).begin_object().key("times").integer(static_cast<int64_t>(phase.times));
    out.key("seconds")
        .number(phase.seconds_sum)
        .key("seconds_last")
        .number(phase.seconds_last)
        .key("seconds_max")
        .number(phase.seconds_max)
        .end_object();
  }
  out.end_object();
}

std::string_view level_name(event::Logged::Level level) {
  switch (level) {
    case event::Logged::Level::kWarning:
      return "warning";
    case event::Logged::Level::kError:
      return "error";
    case event::Logged::Level::kFatal:
      return "fatal";
  }
  return "warning";
}

void history(JsonWriter& out, const State& state) {
  if (!state.changes.empty()) {
    out.key("changes").begin_array();
    for (const event::Changed& change : state.changes) put_change(out, change);
    out.end_array();
  }
  out.key("checkpoints").begin_array();
  const size_t skip = state.checkpoints.size() > kCheckpointsShown ? state.checkpoints.size() - kCheckpointsShown : 0;
  for (size_t i = skip; i < state.checkpoints.size(); ++i) {
    const auto& [when, saved] = state.checkpoints[i];
    out.begin_object();
    step_or_null(out, "step", saved.step != kNoStep ? saved.step : when.step);  // as the advice to resume has it
    time_or_null(out, "time", when.at);
    out.key("path").string(saved.path).key("complete").boolean(saved.complete);
    out.end_object();
  }
  out.end_array().key("weight_syncs").begin_object().key("count").integer(static_cast<int64_t>(state.weight_syncs));
  moment(out, state, "last", state.last_sync);
  out.end_object().key("log_templates").begin_array();
  std::vector<const TemplateState*> order;
  for (const TemplateState& t : state.templates) order.push_back(&t);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->count > b->count; });
  for (size_t i = 0; i < order.size() && i < kTemplatesShown; ++i) {
    const TemplateState& t = *order[i];
    out.begin_object().key("level").string(level_name(t.level)).key("text").string(clip(t.text, kTemplateText));
    out.key("count").integer(static_cast<int64_t>(t.count));
    moment(out, state, "first", t.first);
    moment(out, state, "last", t.last);
    out.end_object();
  }
  out.end_array().key("sources").begin_array();
  for (const SourceState& s : state.sources) {
    out.begin_object().key("path").string(s.path).key("kind").string(s.kind);
    out.key("bytes").integer(s.bytes).key("lines").integer(s.lines).key("torn").boolean(s.torn);
    step_or_null(out, "first_step", s.first_step);
    step_or_null(out, "last_step", s.last_step);
    time_or_null(out, "last_time", s.last_at);
    out.key("zone_named").boolean(!s.clock_lacks.zone).key("date_named").boolean(!s.clock_lacks.date);
    strings(out, "problems", s.problems);
    out.end_object();
  }
  out.end_array();
}

void put_advice(JsonWriter& out, const ResumeAdvice& advice) {
  out.key("resume").begin_object();
  step_or_null(out, "step", advice.step);
  out.key("path").string(advice.path).key("whole").boolean(advice.whole).key("done").boolean(advice.done);
  step_or_null(out, "onset", advice.onset);
  out.key("turn").string(advice.turn);
  step_or_null(out, "turned", advice.turned);
  step_or_null(out, "last", advice.last);
  out.key("suspect").begin_array();
  for (const int64_t step : advice.suspect) out.integer(step);
  out.end_array().key("text").string(to_sentence(advice)).end_object();
}

}  // namespace

std::string replay_json(const State& state, const InputFigures& input, const std::vector<std::string>& notes) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("schema").string("midwatch.replay/1");
  run(out, state);
  const StatusLine status = status_line(state);
  out.key("status").begin_object().key("word").string(status.word).key("text").string(status.rest).end_object();
  if (const auto advice = resume_advice(state)) put_advice(out, *advice);
  signals(out, state);
  out.key("incidents").begin_array();
  for (const Incident& i : state.incidents) write_incident(out, i, state);
  out.end_array();
  tools_and_formats(out, state);
  timing(out, state);
  history(out, state);
  out.key("input").begin_object().key("files").integer(input.files).key("bytes").integer(input.bytes);
  out.key("lines").integer(input.lines).key("seconds").number(input.seconds).end_object();
  if (!notes.empty()) strings(out, "notes", notes);
  out.end_object();
  text.push_back('\n');
  return text;
}

std::string replays_json(const std::vector<FolderRun>& runs) {
  std::string out;
  JsonWriter writer(out);
  writer.begin_object().key("schema").string("midwatch.replays/1").key("runs").begin_array();
  for (const FolderRun& run : runs) {
    writer.begin_object().key("paths").begin_array();
    for (const std::string& path : run.paths) writer.string(path);
    std::string one = replay_json(run.replayed.state, run.replayed.input, run.replayed.notes);
    if (!one.empty() && one.back() == '\n') one.pop_back();
    writer.end_array().key("replay").raw(one).end_object();
  }
  writer.end_array().end_object();
  return out + "\n";
}

}  // namespace mw
