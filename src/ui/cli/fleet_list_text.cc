// All runs of a store or of several specifications: one line each.
#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "ui/cli/fleet_text.h"
#include "ui/cli/help_text.h"
#include "ui/view/layout.h"

namespace mw {
namespace {

constexpr size_t kRun = 22, kState = 13, kStep = 7, kMachine = 14,
                 kCost = 7;  // cells; what is left is the checkpoint's

std::string age(Time then, Time now) {
  return !then.known() ? "" : now <= then ? ", now" : cat(", ", format_duration(now - then), " ago");
}

std::string machine_of(const FleetAnswer& run) {
  const fleet::Rental* const rental = run.control.current();
  if (rental == nullptr) return "-";
  // Of a host of one's own the instance is "HOST/LABEL".
  return rental->host.empty() ? rental->instance.empty() ? rental->provider : rental->instance : rental->host;
}

/// In one word where the columns have no room for more.
std::string state_of(const FleetAnswer& run) {
  const std::string word = fleet_word(run);
  return word == "without a machine" ? "no machine" : word == "giving a machine back" ? "giving back" : word;
}

int64_t step_of(const FleetAnswer& run) { return run.seen.beat ? run.seen.beat->step : kNoStep; }

/// What a person must know of it beside the columns; "": nothing.
std::string attention_of(const FleetAnswer& run) {
  if (!run.trouble.empty()) return run.trouble;
  if (!run.waits.empty()) return cat(run.person ? "a person must look: " : "waits: ", run.waits);
  return run.person ? cat("a person must look: ", run.control.why) : "";
}

std::string line(std::string_view run, std::string_view state, std::string_view step, std::string_view machine,
                 std::string_view cost, std::string_view checkpoint, size_t width) {
  const std::string text = cat(column(run, kRun), " ", column(state, kState), " ", column(step, kStep, true), " ",
                               column(machine, kMachine), " ", column(cost, kCost, true), " ", checkpoint);
  return cat(fit(text, width), "\n");
}

}  // namespace

std::string fleet_list_text(const FleetAnswer& answer, const Console& console) {
  const auto width = static_cast<size_t>(std::max(80, console.width));
  std::string out = line("RUN", "STATE", "STEP", "MACHINE", "COST", "CHECKPOINT", width), below;
  for (const FleetAnswer& run : answer.runs) {
    const int64_t step = step_of(run);
    const std::string name = escape_terminal(run.run);
    out += line(name, state_of(run), step == kNoStep ? "-" : std::to_string(step), escape_terminal(machine_of(run)),
                run.managed && run.trouble.empty() ? format_money(run.cost) : "-",
                run.newest == kNoStep ? "-" : cat(run.newest, age(run.pushed, run.seen.now)), width);
    const std::string attention = attention_of(run);
    if (!attention.empty()) below += fit_help(cat("  ", name, ": ", escape_terminal(attention), "\n"), width);
  }
  return out + below;
}

std::string fleet_list_json(const FleetAnswer& answer) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("schema").string("midwatch.fleet-list/1").key("person").boolean(answer.person);
    json.key("runs").begin_array();
    for (const FleetAnswer& run : answer.runs) {
      json.begin_object().key("run").string(run.run).key("store").string(run.store);
      json.key("state").string(fleet_word(run)).key("person").boolean(run.person).key("waits").string(run.waits);
      json.key("trouble").string(run.trouble).key("machine").string(machine_of(run)).key("step");
      step_of(run) == kNoStep ? json.null() : json.integer(step_of(run));
      json.key("cost").number(run.cost).key("limit").number(run.limit);
      json.key("machines").integer(fleet::rents_of(run.control)).key("newest_checkpoint");
      run.newest == kNoStep ? json.null() : json.integer(run.newest);
      json.key("checkpoint_at");
      run.pushed.known() ? json.string(format_utc(run.pushed)) : json.null();
      json.key("checkpoint_age_s");
      run.pushed.known() ? json.number(std::max(0.0, (run.seen.now - run.pushed).seconds())) : json.null();
      json.end_object();
    }
    json.end_array().end_object();
  }
  return out + "\n";
}

}  // namespace mw
