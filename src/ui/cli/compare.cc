// midwatch compare A B: two runs, or two attempts of one, side by side by step.
#include "ui/view/compare.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "core/signal.h"
#include "ui/cli/take_run.h"
#include "ui/cli/verb.h"
#include "ui/report/paint.h"
#include "ui/view/overview.h"
#include "ui/view/plot.h"

namespace mw {
namespace {

void declare(ArgSpec& spec) {
  spec.positional("a", "a run: file or directory, or the name of a recorded one; append #2 for its second attempt",
                  false, true);
  spec.positional("b", "the other run", false, true);
  spec.flag("json", "print JSON, schema midwatch.compare/1");
  spec.option("signal", "NAME", "step by step for this signal (default: the reward); may be repeated");
  spec.option("rows", "N", "rows of the table step by step; 0: none", "8");
  spec.flag("all", "also metrics that no dialect maps");
}

/// Files, or where none is called so a recorded run.
Result<std::unique_ptr<Replayed>> take_named(const std::string& name, Services& services) {
  ReplayRequest request;
  request.paths = {name};
  return recorded_instead(replay_known(request, services), name, "", services);
}

struct Side {
  std::unique_ptr<Replayed> run;
  std::string attempt;  ///< "attempt 1 of 2", where one was named
  const State& state() const { return run->state; }
};

Result<Side> take(const std::string& given, Services& services) {
  const size_t mark = given.rfind('#');
  const auto attempt = mark == std::string::npos ? std::nullopt : parse_int(std::string_view(given).substr(mark + 1));
  const std::string name = attempt ? given.substr(0, mark) : given;
  auto replayed = take_named(name, services);
  if (!replayed.ok()) return replayed.error();
  if (!attempt) return Side{std::move(*replayed), ""};
  const size_t attempts = (*replayed)->state.attempts.size();
  if (*attempt < 1 || static_cast<size_t>(*attempt) > attempts) {
    return Error{Error::Code::kInvalid,
                 cat(name, " has ", attempts, attempts == 1 ? " attempt" : " attempts", "; there is no #", *attempt),
                 ""};
  }
  (*replayed)->state = attempt_of((*replayed)->state, static_cast<size_t>(*attempt));
  return Side{std::move(*replayed), cat("attempt ", *attempt, " of ", attempts)};
}

std::string json(const Comparison& c, const State& a, const State& b) {
  std::string out;
  JsonWriter w(out);
  w.begin_object().key("schema").string("midwatch.compare/1");
  for (const auto& [name, state] : {std::pair{"a", &a}, std::pair{"b", &b}}) {
    w.key(name).begin_object().key("framework").string(state->framework).key("verdict").string(state->verdict);
    w.key("steps")
        .integer(state->steps().count)
        .key("incidents")
        .integer(static_cast<int64_t>(state->incidents.size()));
    w.end_object();
  }
  w.key("settings").begin_array();
  for (const ComparedSetting& s : c.settings) {
    w.begin_object().key("key").string(s.key).key("a").string(s.a).key("b").string(s.b).end_object();
  }
  w.end_array().key("metrics").begin_array();
  for (const ComparedMetric& m : c.metrics) {
    w.begin_object().key("name").string(m.name).key("unit").string(m.unit).key("common_steps").integer(m.common_steps);
    w.key("a_mean").number(m.a_mean).key("b_mean").number(m.b_mean).key("a_last").number(m.a_last);
    w.key("b_last").number(m.b_last).key("first_difference_step");
    if (m.first_difference == kNoStep) {
      w.null();
    } else {
      w.integer(m.first_difference);
    }
    w.end_object();
  }
  w.end_array().end_object();
  return out + "\n";
}

constexpr size_t kNumber = 11;  // cells of a number, a space before it included
constexpr size_t kSettingsShown = 40;
constexpr double kManyTimes = 10;

std::string settings(const Comparison& c, const Painter& paint) {
  if (c.settings.empty()) return "";
  std::string out = paint.heading("Settings that differ");
  const size_t width = (paint.width() - 6) / 3;
  for (size_t i = 0; i < c.settings.size() && i < kSettingsShown; ++i) {
    const ComparedSetting& s = c.settings[i];
    out += cat("  ", column(escape_terminal(s.key), width), "  ", column(escape_terminal(s.a), width), "  ",
               fit(escape_terminal(s.b), width), "\n");
  }
  if (c.settings.size() > kSettingsShown) out += cat("  … and ", c.settings.size() - kSettingsShown, " more\n");
  return out;
}

/// "+12.5 %", to a tenth; "" when there is nothing to compare with.
std::string change_text(double change) {
  if (!std::isfinite(change)) return "";
  const double tenths = std::round(change * 1000) / 10;
  return cat(tenths > 0 ? "+" : "", tenths == 0 ? "0" : format_short(tenths, std::fabs(tenths) >= 100 ? 4 : 3), " %");
}

/// What the means are over.
std::string means_text(const Comparison& c) {
  const auto apart = [](const ComparedMetric& m) { return m.common_steps == 0; };
  if (std::all_of(c.metrics.begin(), c.metrics.end(), apart)) {
    return "No step is in both: means are over all the steps of each, and no change is given.";
  }
  const bool some = std::any_of(c.metrics.begin(), c.metrics.end(), apart);
  return cat("Means are over the steps that both have",
             some ? ", of a signal with none in common over all of each." : ".");
}

/// In per cent; as it is, of a figure that takes both signs and of one that grew from next to nothing; "" where the
/// means are over different steps.
std::string change_of(const ComparedMetric& m) {
  const double change = m.b_mean - m.a_mean;
  if (m.common_steps == 0 || !std::isfinite(change)) return "";
  if (m.takes_both_signs || (m.a_mean != 0 && std::fabs(change / m.a_mean) >= kManyTimes))
    return cat(change > 0 ? "+" : "", format_value(change, m.unit));
  return change_text(m.a_mean != 0 ? change / std::fabs(m.a_mean) : std::nan(""));
}

/// Columns from left to right as long as there is room: means, change, last values, where they part, both curves.
std::string metric_rows(const Comparison& c, bool all, const Painter& paint, bool unicode) {
  const size_t name = std::clamp<size_t>(paint.width() - std::min(paint.width(), 2 + 5 * kNumber), 10, 28);
  const size_t numbers = std::min<size_t>(6, (paint.width() - name - 2) / kNumber);
  const size_t left = paint.width() - 2 - name - numbers * kNumber;
  const size_t curve = numbers == 6 && left >= 12 ? std::min<size_t>(16, (left - 4) / 2) : 0;
  static constexpr std::string_view kHeads[] = {"mean A", "mean B", "change", "last A", "last B", "part at"};
  std::string head = cat("  ", pad("signal", name));
  for (size_t i = 0; i < numbers; ++i) head += pad(kHeads[i], kNumber, true);
  std::string out = cat("\n", paint.dim(means_text(c)), "\n",
                        paint.dim(head + (curve > 0 ? "  " + pad("A", curve) + "  B" : "")), "\n");
  for (const ComparedMetric& m : c.metrics) {
    if (!all && find_signal(m.name) == nullptr) continue;
    const std::string cells[] = {format_value(m.a_mean, m.unit),
                                 format_value(m.b_mean, m.unit),
                                 change_of(m),
                                 format_value(m.a_last, m.unit),
                                 format_value(m.b_last, m.unit),
                                 m.first_difference != kNoStep ? cat("step ", m.first_difference)
                                 : m.common_steps > 0          ? "same"
                                                               : "no common"};
    out += cat("  ", column(escape_terminal(m.name), name));
    for (size_t i = 0; i < numbers; ++i) out += pad(fit(cells[i], kNumber - 1), kNumber, true);
    if (curve > 0) out += cat("  ", pad(sparkline(m.a, curve, unicode), curve), "  ", sparkline(m.b, curve, unicode));
    out += "\n";
  }
  return out;
}

/// The signals that are wanted, else the reward: each with both values, row by row.
std::string step_rows(const Comparison& c, std::vector<std::string> wanted, size_t rows, const Painter& paint) {
  if (wanted.empty()) wanted = {"reward.mean"};
  std::string out;
  for (const std::string& name : wanted) {
    const auto metric =
        std::find_if(c.metrics.begin(), c.metrics.end(), [&](const ComparedMetric& m) { return m.name == name; });
    if (metric == c.metrics.end() || rows == 0) continue;
    const std::vector<ComparedStep> steps = side_by_side(*metric, std::max<size_t>(rows, 2));
    if (steps.empty()) continue;
    out += paint.heading(cat("Step by step: ", escape_terminal(name)));
    out += paint.dim(cat("  ", pad("step", kNumber, true), pad("A", kNumber, true), pad("B", kNumber, true),
                         pad("B - A", kNumber, true))) +
           "\n";
    for (const ComparedStep& row : steps) {
      out +=
          cat("  ", pad(std::to_string(row.step), kNumber, true), pad(format_value(row.a, metric->unit), kNumber, true),
              pad(format_value(row.b, metric->unit), kNumber, true),
              pad(format_value(row.b - row.a, metric->unit), kNumber, true),
              row.step == metric->first_difference ? "  they part" : "", "\n");
    }
  }
  return out;
}

std::string table(const Comparison& c, const Side& a, const Side& b, const Args& args, size_t rows,
                  const Console& console) {
  const Painter paint(console);
  std::string out;
  for (const auto& [name, side] : {std::pair{"A  ", &a}, std::pair{"B  ", &b}}) {
    const StatusLine line = status_line(side->state());
    const std::string attempt = side->attempt.empty() ? "" : cat(side->attempt, line.rest.empty() ? "" : ", ");
    out += paint.hanging(name, cat(line.word, "  ", attempt, line.rest), 4, nullptr, &Painter::bold);
  }
  out += settings(c, paint);
  if (c.metrics.empty()) return out + "\nNo metric is in both.\n";
  return out + metric_rows(c, args.has("all"), paint, console.unicode) + step_rows(c, args.list("signal"), rows, paint);
}

Exit run(const Args& args, Services& services, const Console& console) {
  auto a = take(args.get("a"), services);
  if (!a.ok()) return report_error(console, a.error());
  auto b = take(args.get("b"), services);
  if (!b.ok()) return report_error(console, b.error());
  const auto rows = parse_int(args.get("rows"));
  if (!rows || *rows < 0 || *rows > 100'000)
    return report_error(console, {Error::Code::kInvalid, "--rows is a number from 0 up", ""});
  const Comparison c = compare(a->state(), b->state());
  for (const std::string& name : args.list("signal")) {
    const bool common =
        std::any_of(c.metrics.begin(), c.metrics.end(), [&name](const auto& m) { return m.name == name; });
    if (common) continue;
    return report_error(console, {Error::Code::kInvalid, cat("no signal called ", name, " is in both runs"),
                                  "Without --signal the table names those that are; --all also the trainers' own."});
  }
  console.out(args.has("json") ? json(c, a->state(), b->state())
                               : table(c, *a, *b, args, static_cast<size_t>(*rows), console));
  return a->run->partial || b->run->partial ? Exit::kPartial : Exit::kOk;
}

}  // namespace

namespace verbs {
extern const Verb compare;
const Verb compare = {"compare",
                      "Two runs, or two attempts of one, side by side by step",
                      "  midwatch compare runs/a runs/b\n"
                      "  midwatch compare runs/a runs/b --signal entropy --signal kl.ref --rows 20\n"
                      "  midwatch compare train.log#1 train.log#2     the first attempt with the second\n",
                      declare,
                      run,
                      false};
}  // namespace verbs

}  // namespace mw
