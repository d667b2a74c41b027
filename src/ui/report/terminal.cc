#include "ui/report/terminal.h"

#include <algorithm>

#include "base/text.h"
#include "ui/view/overview.h"
#include "ui/view/plot.h"

namespace mw {
namespace {

constexpr size_t kCausesShown = 3;
constexpr size_t kEvidenceShown = 4;
constexpr size_t kLineShown = 160;  // bytes of a quoted log line
constexpr size_t kTemplatesShown = 8;
constexpr size_t kMetricsShown = 40;

class Painter {
 public:
  explicit Painter(const Console& console) : on_(console.colour) {}
  std::string bold(std::string_view text) const { return paint("1", text); }
  std::string dim(std::string_view text) const { return paint("2", text); }
  std::string red(std::string_view text) const { return paint("1;31", text); }
  std::string yellow(std::string_view text) const { return paint("1;33", text); }
  std::string green(std::string_view text) const { return paint("1;32", text); }
  std::string cyan(std::string_view text) const { return paint("36", text); }
  std::string of(Severity severity, std::string_view text) const {
    return severity == Severity::kCritical ? red(text) : severity == Severity::kWarning ? yellow(text) : dim(text);
  }

 private:
  std::string paint(std::string_view code, std::string_view text) const {
    return on_ ? cat("\x1b[", code, "m", text, "\x1b[0m") : std::string(text);
  }
  bool on_;
};

/// Characters, not bytes: pads `text` with spaces to `width` cells.
std::string pad(std::string text, size_t width, bool right = false) {
  size_t cells = 0;
  for (const char c : text) cells += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
  const std::string fill(cells < width ? width - cells : 0, ' ');
  return right ? fill + text : text + fill;
}

void heading(std::string& out, const Painter& paint, std::string_view text) {
  out += cat("\n", paint.bold(text), "\n");
}

void status(std::string& out, const Painter& paint, const State& state) {
  const StatusLine line = status_line(state);
  const std::string word = line.mood == StatusLine::Mood::kBad    ? paint.red(line.word)
                           : line.mood == StatusLine::Mood::kGood ? paint.green(line.word)
                                                                  : paint.yellow(line.word);
  out += cat(word, "  ", escape_terminal(line.rest), "\n");
  std::string facts = cat(state.framework, state.version.empty() ? "" : " ", escape_terminal(state.version), " (",
                          format_short(state.framework_confidence * 100, 3), " % sure)");
  if (const auto algorithm = state.config.find("algorithm"); algorithm != state.config.end()) {
    facts += cat(" · ", escape_terminal(algorithm->second));
  }
  if (const auto model = state.config.find("model"); model != state.config.end()) {
    facts += cat(" · ", escape_terminal(clip(model->second, 80)));
  }
  if (state.first_at.known()) {
    facts += cat(" · ", format_utc(state.first_at), " to ", format_utc(state.last_at), " (",
                 format_duration(state.last_at - state.first_at), ")");
  }
  if (const double pace = seconds_per_step(state); pace > 0) {
    facts += cat(" · ", format_duration(Duration::seconds(pace)), " per step");
  }
  out += paint.dim(facts) + "\n";
}

void one_incident(std::string& out, const Painter& paint, const State& state, const Incident& incident) {
  out += cat(
      paint.of(incident.severity, cat("#", incident.id, " ", incident.kind)), "  ",
      paint.dim(cat(severity_name(incident.severity), ", since ", escape_terminal(describe(state, incident.onset)))),
      "\n   ", escape_terminal(incident.summary), "\n");
  size_t shown = 0;
  for (const Evidence& e : incident.evidence) {
    if (++shown > kEvidenceShown) break;
    const std::string place = describe(state, e.where);
    if (!e.signal.empty()) {
      out += cat("   ", paint.dim(e.step == kNoStep ? "" : cat("step ", e.step, "  ")), escape_terminal(e.signal),
                 " = ", e.value, e.text.empty() ? "" : "  ", escape_terminal(clip(e.text, kLineShown)), "\n");
    } else {
      out += cat("   ", paint.dim(escape_terminal(place)), "  ", escape_terminal(clip(e.text, kLineShown)), "\n");
    }
  }
  for (size_t i = 0; i < incident.causes.size() && i < kCausesShown; ++i) {
    const RankedCause& cause = incident.causes[i];
    out += cat(
        "   ", i == 0 ? "cause " : "   or ", paint.cyan(cause.id), " (", format_short(cause.score * 100, 2), " %)",
        cause.reasons_for.empty() ? "" : cat(": ", escape_terminal(clip(cause.reasons_for.front(), kLineShown))), "\n");
  }
  if (!incident.causes.empty() && !incident.causes.front().fix.empty()) {
    out += cat("   fix   ", escape_terminal(incident.causes.front().fix), "\n");
  }
  if (!incident.followed_by.empty()) {
    out += "   followed by";
    for (const uint32_t id : incident.followed_by) out += cat(" #", id);
    out += "\n";
  }
}

void incidents(std::string& out, const Painter& paint, const State& state) {
  if (state.incidents.empty()) {
    out += cat("\n", paint.green("No incident."), " ",
               paint.dim("Nothing in these files points to trouble; what they do not show was not seen."), "\n");
    return;
  }
  heading(out, paint, "Incidents");
  for (const Incident& incident : state.incidents) {
    if (incident.severity != Severity::kInfo) one_incident(out, paint, state, incident);
  }
  for (const Incident& incident : state.incidents) {
    if (incident.severity != Severity::kInfo) continue;
    out += paint.dim(cat("#", incident.id, " ", incident.kind, " (info), ",
                         escape_terminal(describe(state, incident.onset)), ": ", escape_terminal(incident.summary))) +
           "\n";
  }
}

void curves(std::string& out, const Painter& paint, const State& state, const Console& console) {
  static constexpr std::string_view kMain[] = {"reward.mean", "entropy",         "kl.ref",
                                               "grad_norm",   "response.length", "loss.total"};
  const size_t width = console.width > 60 ? static_cast<size_t>(std::min(console.width, 140)) - 14 : 46;
  size_t drawn = 0;
  for (const std::string_view name : kMain) {
    const Series* series = state.find(name);
    if (series == nullptr || series->points().size() < 4 || drawn >= 2 || !console.unicode) continue;
    if (drawn == 0) heading(out, paint, "Curves");
    out += cat("  ", paint.bold(name), "  ",
               paint.dim(cat("steps ", series->points().front().step, " to ", series->points().back().step)), "\n");
    for (const std::string& line : braille_plot(series->points(), width, 4)) out += paint.cyan(line) + "\n";
    ++drawn;
  }
}

void metrics(std::string& out, const Painter& paint, const State& state, const Console& console) {
  const std::vector<MetricLine> lines = canonical_metrics(state, {});
  if (lines.empty()) return;
  heading(out, paint, "Signals");
  const bool wide = console.width >= 100 || !console.out_is_terminal;
  out += paint.dim(cat("  ", pad("signal", 26), pad("first", 11, true), pad("last", 11, true), pad("min", 11, true),
                       pad("max", 11, true), "    ", wide ? "over the steps" : "", "\n"));
  size_t shown = 0;
  for (const MetricLine& line : lines) {
    if (++shown > kMetricsShown) {
      out += paint.dim(cat("  … and ", lines.size() - kMetricsShown, " more (--json has all)\n"));
      break;
    }
    out += cat("  ", pad(clip(escape_terminal(line.name), 25), 26), pad(format_short(line.first), 11, true),
               pad(format_short(line.last), 11, true), pad(format_short(line.min), 11, true),
               pad(format_short(line.max), 11, true), "  ", pad(std::string(trend_arrow(line.trend)), 2),
               wide ? sparkline(line.points, 32, console.unicode) : "", "\n");
  }
  const std::vector<MetricLine> evals = evaluations(state, {});
  for (size_t i = 0; i < evals.size() && i < 12; ++i) {
    out += cat("  ", pad(clip(escape_terminal("eval " + evals[i].name), 25), 26),
               pad(format_short(evals[i].first), 11, true), pad(format_short(evals[i].last), 11, true),
               pad(format_short(evals[i].min), 11, true), pad(format_short(evals[i].max), 11, true), "  ",
               trend_arrow(evals[i].trend), "\n");
  }
}

void time_and_tools(std::string& out, const Painter& paint, const State& state) {
  const std::vector<TimeShare> split = time_split(state, {});
  if (!split.empty()) {
    heading(out, paint, "Where a step's time goes");
    for (const TimeShare& part : split) {
      const auto bars = static_cast<size_t>(part.share * 40 + 0.5);
      std::string bar;
      for (size_t i = 0; i < bars; ++i) bar += "█";
      out += cat("  ", pad(part.phase, 10), pad(format_duration(Duration::seconds(part.seconds_per_step)), 10, true),
                 pad(cat(format_short(part.share * 100, 3), " %"), 8, true), "  ", paint.cyan(bar), "\n");
    }
    if (const std::string bound = bound_by(split); !bound.empty()) out += cat("  The run is bound by ", bound, ".\n");
  }
  if (!state.tools.empty()) {
    heading(out, paint, "Tools");
    for (const auto& [name, tool] : state.tools) {
      out += cat("  ", pad(clip(escape_terminal(name), 29), 30), pad(cat(tool.calls), 8, true), " calls, ",
                 tool.model_errors, " model errors, ", tool.environment_errors, " environment errors, ", tool.timeouts,
                 " timeouts");
      if (tool.timed > 0) {
        out += cat(", mean ", format_duration(Duration::seconds(tool.seconds_sum / static_cast<double>(tool.timed))),
                   ", longest ", format_duration(Duration::seconds(tool.seconds_max)));
      }
      out += "\n";
    }
  }
  for (const auto& [rule, judged] : state.formats) {
    const uint64_t all = judged.passed + judged.failed;
    out += cat("  format ", pad(clip(escape_terminal(rule), 39), 40), judged.failed, " failed",
               judged.passed > 0 ? cat(" of ", all) : "", "\n");
  }
}

void warnings(std::string& out, const Painter& paint, const State& state) {
  std::vector<const TemplateState*> order;
  for (const TemplateState& t : state.templates) order.push_back(&t);
  std::stable_sort(order.begin(), order.end(), [](const TemplateState* a, const TemplateState* b) {
    return a->level != b->level ? a->level > b->level : a->count > b->count;
  });
  if (order.empty()) return;
  heading(out, paint, "Warnings and errors in the logs");
  for (size_t i = 0; i < order.size() && i < kTemplatesShown; ++i) {
    const bool error = order[i]->level != event::Logged::Level::kWarning;
    out += cat("  ", pad(cat(order[i]->count, "×"), 7, true), " ", error ? paint.red("error") : paint.yellow("warn "),
               " ", escape_terminal(clip(order[i]->text, kLineShown)), "\n");
  }
  if (order.size() > kTemplatesShown)
    out += paint.dim(cat("  … and ", order.size() - kTemplatesShown, " more kinds\n"));
}

}  // namespace

std::string terminal_report(const Replayed& replayed, const Console& console) {
  const State& state = replayed.state;
  const Painter paint(console);
  std::string out;
  status(out, paint, state);
  incidents(out, paint, state);
  curves(out, paint, state, console);
  metrics(out, paint, state, console);
  time_and_tools(out, paint, state);
  warnings(out, paint, state);
  out += paint.dim(cat("\nread ", replayed.input.files, " files, ",
                       format_bytes(static_cast<double>(replayed.input.bytes)), ", ", replayed.input.lines,
                       " lines in ", format_duration(Duration::seconds(replayed.input.seconds)), "\n"));
  return out;
}

std::string terminal_incident(const State& state, const Incident& incident, const Console& console) {
  const Painter paint(console);
  std::string out;
  one_incident(out, paint, state, incident);
  return out;
}

}  // namespace mw
