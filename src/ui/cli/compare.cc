// midwatch compare A B: two runs, or two attempts of one, side by side by step.
#include "ui/view/compare.h"

#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "core/signal.h"
#include "ui/cli/verb.h"
#include "ui/view/overview.h"
#include "ui/view/plot.h"

namespace mw {
namespace {

void declare(ArgSpec& spec) {
  spec.positional("a", "a run: file or directory; append #2 for its second attempt", false, true);
  spec.positional("b", "the other run", false, true);
  spec.flag("json", "print JSON, schema midwatch.compare/1");
  spec.flag("all", "also metrics that no dialect maps");
}

Result<std::unique_ptr<Replayed>> take(const std::string& given, Services& services) {
  const size_t mark = given.rfind('#');
  const auto attempt = mark == std::string::npos ? std::nullopt : parse_int(std::string_view(given).substr(mark + 1));
  ReplayRequest request;
  request.paths = {attempt ? given.substr(0, mark) : given};
  auto told = services.replay(request);
  if (!told.ok() || !attempt) return told;
  const size_t attempts = (*told)->state.attempts.size();
  if (*attempt < 1 || static_cast<size_t>(*attempt) > attempts) {
    return Error{Error::Code::kInvalid, cat(request.paths[0], " has ", attempts, " attempts; there is no #", *attempt),
                 ""};
  }
  (*told)->state = attempt_of((*told)->state, static_cast<size_t>(*attempt));
  return told;
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

std::string cell(std::string text, size_t width, bool right) {
  size_t cells = 0;
  for (const char ch : text) cells += (static_cast<unsigned char>(ch) & 0xc0) != 0x80 ? 1 : 0;
  const std::string fill(cells < width ? width - cells : 0, ' ');
  return right ? fill + text : text + fill;
}

std::string table(const Comparison& c, const State& a, const State& b, bool all, const Console& console) {
  std::string out = cat("A  ", status_line(a).word, "  ", escape_terminal(status_line(a).rest), "\nB  ",
                        status_line(b).word, "  ", escape_terminal(status_line(b).rest), "\n");
  if (!c.settings.empty()) out += "\nSettings that differ\n";
  for (const ComparedSetting& s : c.settings) {
    out += cat("  ", cell(escape_terminal(clip(s.key, 40)), 42, false), escape_terminal(clip(s.a, 40)), "  |  ",
               escape_terminal(clip(s.b, 40)), "\n");
  }
  out +=
      cat("\n", cell("Signal", 30, false), cell("mean A", 11, true), cell("mean B", 11, true), cell("change", 10, true),
          cell("last A", 11, true), cell("last B", 11, true), cell("differ from", 13, true), "  A, B over the steps\n");
  for (const ComparedMetric& m : c.metrics) {
    if (!all && find_signal(m.name) == nullptr) continue;
    const double change = m.a_mean != 0 ? (m.b_mean - m.a_mean) / std::fabs(m.a_mean) : std::nan("");
    out += cat(
        cell(escape_terminal(clip(m.name, 28)), 30, false), cell(format_short(m.a_mean), 11, true),
        cell(format_short(m.b_mean), 11, true),
        cell(std::isfinite(change) ? cat(change >= 0 ? "+" : "", format_short(change * 100, 3), " %") : "", 10, true),
        cell(format_short(m.a_last), 11, true), cell(format_short(m.b_last), 11, true),
        cell(m.first_difference == kNoStep ? (m.common_steps > 0 ? "same" : "no common")
                                           : cat("step ", m.first_difference),
             13, true),
        "  ", sparkline(m.a, 12, console.unicode), "  ", sparkline(m.b, 12, console.unicode), "\n");
  }
  return out;
}

Exit run(const Args& args, Services& services, const Console& console) {
  auto a = take(args.get("a"), services);
  if (!a.ok()) return report_error(console, a.error());
  auto b = take(args.get("b"), services);
  if (!b.ok()) return report_error(console, b.error());
  const Comparison c = compare((*a)->state, (*b)->state);
  console.out(args.has("json") ? json(c, (*a)->state, (*b)->state)
                               : table(c, (*a)->state, (*b)->state, args.has("all"), console));
  return (*a)->partial || (*b)->partial ? Exit::kPartial : Exit::kOk;
}

}  // namespace

namespace verbs {
extern const Verb compare;
const Verb compare = {"compare",
                      "Two runs, or two attempts of one, side by side by step",
                      "  midwatch compare runs/a runs/b\n"
                      "  midwatch compare train.log#1 train.log#2     the first attempt with the second\n",
                      declare,
                      run,
                      false};
}  // namespace verbs

}  // namespace mw
