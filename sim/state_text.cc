#include "sim/state_text.h"

#include <algorithm>

#include "base/numbers.h"
#include "base/text.h"
#include "core/event_codec.h"
#include "core/incident_json.h"

namespace mw::sim {
namespace {

class Writer {
 public:
  std::string text;

  template <typename... Pieces>
  void line(const Pieces&... pieces) {
    text += cat(pieces...);
    text.push_back('\n');
  }
  static std::string of(const Moment& m) {
    return cat("[", m.step, " ", m.at.ns, " ", m.where.source, ":", m.where.line, " a", m.attempt, "]");
  }
  template <typename Body>
  static std::string of(const Body& body) {
    std::string json;
    encode_event({{}, {}, body}, json);
    return json;
  }

  void series(std::string_view what, const std::vector<Series>& all) {
    for (const Series& one : all) {
      line(what, " ", one.signal, " ", one.raw, " ", one.source, " n=", one.count(), " bad=", one.non_finite(),
           " first=", format_double(one.first()), " last=", format_double(one.last()),
           " min=", format_double(one.min()), " max=", format_double(one.max()), " mean=", format_double(one.mean()));
      for (const Point& p : one.points()) {
        line("  ", p.step, " ", format_double(p.value), " ", p.at.ns, " ", p.where.source, ":", p.where.line, " a",
             p.attempt);
      }
    }
  }
};

void write_run(Writer& out, const State& s) {
  out.line(s.framework, " ", s.saves_as, " ", s.saves_in, " ", s.version, " ", format_double(s.framework_confidence),
           " events=", s.events, " order=", s.order, " ", s.first_at.ns, "..", s.last_at.ns,
           " dropped=", s.series_dropped, " phase=", s.current_phase, " since=", Writer::of(s.phase_began),
           " syncs=", s.weight_syncs, " ", Writer::of(s.last_sync), " total=", s.total_steps,
           " closed=", s.closed ? 1 : 0, " verdict=", s.verdict);
  for (const auto& [key, value] : s.config) out.line("config ", key, "=", value);
  for (const SourceState& source : s.sources) {
    out.line("source ", source.path, " ", source.kind, " ", source.bytes, " ", source.lines, " ", source.ended ? 1 : 0,
             source.torn ? 1 : 0, " ", source.last_text, " steps=", source.first_step, "..", source.last_step, "/",
             source.steps.count(), " ", source.first_at.ns, "..", source.last_at.ns, " end=", source.end_at.ns,
             " line=", source.last_line, " attempt=", source.attempt, " step=", source.step, " ", source.joins ? 1 : 0,
             source.shown ? 1 : 0, source.two_counters ? 1 : 0);
    for (const std::string& problem : source.problems) out.line("  problem ", problem);
  }
  for (const AttemptState& a : s.attempts) {
    out.line("attempt ", a.why, " ", Writer::of(a.began), " ", Writer::of(a.last), " ", a.first_step, "..", a.last_step,
             " resumed=", a.resumed_at, " total=", a.total_steps, " ckpt=", a.last_checkpoint,
             " shown=", a.shown ? 1 : 0, " ended=", a.ended ? Writer::of(*a.ended) : "no", " ", Writer::of(a.ended_at));
  }
}

void write_trouble(Writer& out, const State& s) {
  for (const SignatureState& one : s.signatures) {
    out.line("signature ", one.id, " ", Writer::of(one.first), " ", Writer::of(one.last), " n=", one.count, " ",
             one.text, " ", one.sample ? 1 : 0);
    for (const auto& match : one.matches) out.line("  ", Writer::of(match.moment), " ", match.order, " ", match.text);
  }
  for (const TraceState& one : s.traces) {
    out.line("trace ", Writer::of(one.moment), " ", one.order, " ", Writer::of(one.trace));
  }
  for (const ProvisionalEvent& one : s.provisional) {
    out.line("provisional ", one.where.source, " ", one.where.line, " ", one.signature, " ", one.count);
  }
  for (const TemplateState& one : s.templates) {
    out.line("template ", static_cast<int>(one.level), " ", one.text, " ", one.count, " ", Writer::of(one.first), " ",
             Writer::of(one.last));
  }
}

void write_work(Writer& out, const State& s) {
  for (const auto& [name, tool] : s.tools) {
    out.line("tool ", name, " ", tool.calls, " ", tool.ok, " ", tool.model_errors, " ", tool.environment_errors, " ",
             tool.timeouts, " ", format_double(tool.seconds_sum), " ", format_double(tool.seconds_max), " ", tool.timed,
             " every ", tool.every);
    for (const float seconds : tool.times) out.line("  ", format_double(seconds));
    for (const auto& [error, count] : tool.errors) out.line("  ", error, " ", count);
  }
  for (const auto& [name, format] : s.formats) out.line("format ", name, " ", Writer::of(format));
  for (const State::LongPhase& phase : s.long_phases) {
    out.line("long ", phase.from.ns, " to ", phase.until.ns, " step=", phase.step, " attempt=", phase.attempt,
             phase.evaluates ? " evaluates" : "");
  }
  for (const auto& [name, phase] : s.phases) {
    out.line("phase ", name, " ", phase.times, " ", format_double(phase.seconds_sum), " ",
             format_double(phase.seconds_min), " ", format_double(phase.seconds_max), " ",
             format_double(phase.seconds_last));
    for (const Point& end : phase.ends) out.line("  ", end.step, " ", format_double(end.value));
  }
  for (const auto& [name, counter] : s.counters)
    out.line("counter ", name, " ", counter.done, " ", counter.total, " ", counter.began.ns, " ", counter.moved.ns, " ",
             counter.attempt);
  for (const auto& [name, progress] : s.progress) out.line("progress ", name, " ", Writer::of(progress));
  for (const auto& [moment, saved] : s.checkpoints) out.line("saved ", Writer::of(moment), " ", Writer::of(saved));
  for (const auto& [moment, seen] : s.checkpoint_scans) out.line("scan ", Writer::of(moment), " ", Writer::of(seen));
  for (const auto& [at, step] : s.anchors) out.line("anchor ", at.ns, " ", step);
}

}  // namespace

std::string state_text(const State& state) {
  Writer out;
  write_run(out, state);
  out.series("series", state.series);
  out.series("host", state.host);
  out.series("eval", state.eval);
  write_trouble(out, state);
  write_work(out, state);
  out.line("last incident ", state.last_incident);
  for (const Incident& incident : state.incidents) out.line("incident ", incident_json(incident, state));
  return std::move(out.text);
}

std::string incidents_text(const std::vector<Incident>& incidents) {
  std::vector<std::string> lines;
  lines.reserve(incidents.size());
  for (const Incident& one : incidents) {
    lines.push_back(cat(one.kind, " ", severity_name(one.severity), " onset ", Writer::of(one.onset), " detected ",
                        Writer::of(one.detected), one.open ? " open: " : " closed: ", one.summary, "\n"));
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

}  // namespace mw::sim
