#include "ui/cli/fleet_text.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "ui/cli/help_text.h"

namespace mw {
namespace {

using Control = fleet::Control;

std::string row(std::string_view name, std::string_view text, const Console& console) {
  std::string line(name);
  line.insert(0, 2, ' ');
  line.resize(std::max<size_t>(line.size(), 14), ' ');
  return fit_help(cat(line, escape_terminal(text), "\n"), static_cast<size_t>(std::max(40, console.width)));
}

std::string machine_text(const fleet::Rental* rental) {
  if (rental == nullptr) return "";
  return cat(rental->instance.empty() ? "not known yet" : rental->instance, " of ", rental->provider,
             rental->host.empty() ? "" : cat(", host ", rental->host), ", epoch ", rental->epoch, ", ", rental->price,
             " an hour, since ", format_utc(rental->asked).substr(0, 19), "Z");
}

void step_in(JsonWriter& json, std::string_view key, int64_t step) {
  json.key(key);
  step == kNoStep ? json.null() : json.integer(step);
}

void rentals_json(JsonWriter& json, const Control& control) {
  json.key("rentals").begin_array();
  for (const fleet::Rental& one : control.rentals) {
    json.begin_object().key("epoch").integer(one.epoch).key("provider").string(one.provider);
    json.key("host").string(one.host).key("instance").string(one.instance).key("price").number(one.price);
    json.key("asked").string(format_utc(one.asked)).key("began").string(format_utc(one.began));
    json.key("gone").string(format_utc(one.gone)).key("failed").boolean(one.failed);
    json.key("refused").boolean(one.refused).key("end").string(one.end).end_object();
  }
  json.end_array();
}

void legs_json(JsonWriter& json, const FleetAnswer& answer) {
  json.key("machines").begin_array();
  for (const fleet::Leg& leg : answer.legs) {
    json.begin_object().key("epoch").integer(leg.rental.epoch).key("provider").string(leg.rental.provider);
    json.key("host").string(leg.rental.host).key("cost").number(leg.cost);
    json.key("first_attempt").integer(leg.first_attempt).key("attempts").integer(leg.attempts);
    step_in(json, "from", leg.last ? leg.last->beat.from : kNoStep);
    step_in(json, "step", leg.last ? leg.last->beat.step : kNoStep);
    step_in(json, "shipped", leg.last ? leg.last->beat.shipped : kNoStep);
    step_in(json, "redone", leg.redone < 0 ? kNoStep : leg.redone);
    json.key("run").string(leg.last ? leg.last->beat.run : "").key("end").string(leg.rental.end).end_object();
  }
  json.end_array();
}

void texts_json(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.key(key).begin_array();
  for (const std::string& text : texts) json.string(text);
  json.end_array();
}

void found_json(JsonWriter& json, const FleetAnswer& answer) {
  json.key("offers").begin_array();
  for (const fleet::Offer& one : answer.offers) {
    json.begin_object().key("id").string(one.id).key("provider").string(one.provider).key("host").string(one.host);
    json.key("price").number(one.price).key("gpu").string(one.gpu).key("count").integer(one.count);
    json.key("region").string(one.region).end_object();
  }
  json.end_array().key("orphans").begin_array();
  for (const FleetAnswer::Orphan& one : answer.orphans) {
    json.begin_object().key("provider").string(one.provider).key("instance").string(one.instance);
    json.key("label").string(one.label).key("run").string(one.run).key("state").string(one.state);
    json.key("ours").boolean(one.ours).end_object();
  }
  json.end_array();
  if (!answer.preview.empty()) json.key("preview").string(answer.preview);
  json.key("environment").begin_object();
  for (const auto& [name, value] : answer.environment) json.key(name).string(value);
  json.end_object();
}

std::string leg_text(const fleet::Leg& leg, const std::string& now) {
  const fleet::Rental& rental = leg.rental;
  const std::string& where = rental.host.empty() ? rental.instance : rental.host;
  std::string out = cat(
      rental.provider, where.empty() ? "" : cat(" ", where), ", ", format_utc(rental.asked).substr(0, 19), "Z to ",
      rental.gone.known() ? cat(format_utc(rental.gone).substr(0, 19), "Z") : now, ", cost ", format_money(leg.cost));
  if (!leg.last)
    return cat(out, "; it never said a word: what its start printed says why",
               rental.end.empty() ? "" : cat("; ended: ", rental.end));
  const fleet::Heartbeat& beat = leg.last->beat;
  if (leg.attempts > 0) {
    out += cat(leg.attempts == 1 ? "; attempt " : "; attempts ", leg.first_attempt,
               leg.attempts == 1 ? "" : cat(" to ", leg.first_attempt + leg.attempts - 1));
  }
  if (beat.from >= 0) out += beat.from == 0 ? std::string(", from scratch") : cat(", from step ", beat.from);
  if (beat.step != kNoStep) out += cat(", last seen at step ", beat.step);
  if (beat.shipped != kNoStep) out += cat(", shipped step ", beat.shipped);
  if (leg.redone > 0) out += cat("; ", leg.redone, leg.redone == 1 ? " step" : " steps", " done again by the next");
  if (leg.redone == 0) out += "; no step was lost";
  return cat(out, rental.end.empty() ? "" : cat("; ended: ", rental.end));
}

}  // namespace

std::string fleet_word(const FleetAnswer& answer) {
  if (!answer.trouble.empty()) return "unreadable";
  if (!answer.managed) return "ships only";
  if (answer.control.phase == Control::Phase::kStopped) {
    return answer.control.outcome.empty() ? "not launched" : answer.control.outcome;
  }
  if (answer.control.phase == Control::Phase::kRented) return std::string(word_of(answer.verdict.kind));
  return answer.control.phase == Control::Phase::kIdle     ? "without a machine"
         : answer.control.phase == Control::Phase::kEnding ? "giving a machine back"
                                                           : "renting";
}

std::string fleet_text(const FleetAnswer& answer, const Console& console) {
  std::string word = fleet_word(answer);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c); });
  std::string out = cat(escape_terminal(answer.run), ": ", escape_terminal(word), "\n");
  for (size_t i = 0; i < answer.verdict.reasons.size(); ++i) {
    out += row(i == 0 ? "because" : "", answer.verdict.reasons[i], console);
  }
  if (answer.control.phase != Control::Phase::kRented && !answer.control.why.empty()) {
    out += row("since", answer.control.why, console);
  }
  if (!answer.waits.empty()) out += row("waits", answer.waits, console);
  if (answer.person) out += row("", "A person must look at it.", console);
  const std::string machine = machine_text(answer.control.current()), next = machine_text(answer.control.successor());
  if (!machine.empty()) out += row("machine", machine, console);
  if (!next.empty()) {
    const bool ending = answer.control.next == Control::Phase::kEnding;
    out +=
        row("next", cat(next, ending ? "; it is being given back" : "; it waits until the machine is gone"), console);
  }
  const int64_t machines = fleet::rents_of(answer.control);
  out += row("cost",
             cat(format_money(answer.cost), " of ", format_money(answer.limit), ", ", machines,
                 machines == 1 ? " machine so far" : " machines so far"),
             console);
  out += row("checkpoint",
             answer.newest == kNoStep
                 ? "none in the store"
                 : cat("step ", answer.newest, ", verified, since ", format_utc(answer.pushed).substr(0, 19), "Z"),
             console);
  for (size_t i = 0; i < answer.legs.size(); ++i) {
    out += row(cat("machine ", i + 1), leg_text(answer.legs[i], "now"), console);
  }
  for (const std::string& one : answer.done) out += row("did", one, console);
  for (const auto& [name, value] : answer.environment) out += row("set", cat(name, "=", value), console);
  for (const std::string& one : answer.notes) out += row("note", one, console);
  return out;
}

std::string fleet_json(const FleetAnswer& answer) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("schema").string("midwatch.fleet/1").key("run").string(answer.run);
    json.key("store").string(answer.store).key("id").string(answer.id).key("epoch").integer(answer.control.epoch);
    json.key("phase").string(word_of(answer.control.phase)).key("next");
    answer.control.successor() == nullptr ? json.null() : json.string(word_of(answer.control.next));
    json.key("outcome").string(answer.control.outcome);
    json.key("verdict").string(word_of(answer.verdict.kind));
    texts_json(json, "reasons", answer.verdict.reasons);
    json.key("why").string(answer.control.why).key("waits").string(answer.waits);
    json.key("person").boolean(answer.person).key("cost").number(answer.cost).key("limit").number(answer.limit);
    step_in(json, "newest_checkpoint", answer.newest);
    json.key("step");
    answer.seen.beat&& answer.seen.beat->step != kNoStep ? json.integer(answer.seen.beat->step) : json.null();
    rentals_json(json, answer.control);
    legs_json(json, answer);
    texts_json(json, "done", answer.done);
    texts_json(json, "notes", answer.notes);
    json.key("all_seen").boolean(answer.all_seen);
    found_json(json, answer);
    json.end_object();
  }
  return out + "\n";
}

std::string fleet_offers_text(const FleetAnswer& answer, const Console& console) {
  std::string out;
  for (const fleet::Offer& one : answer.offers) {
    out += row(one.provider,
               cat(format_money(one.price), " an hour  ", one.id, one.host.empty() ? "" : cat("  host ", one.host),
                   one.gpu.empty() ? "" : cat("  ", one.count, " x ", one.gpu),
                   one.region.empty() ? "" : cat("  ", one.region)),
               console);
  }
  if (answer.offers.empty()) out += "There is no machine that may be rented now.\n";
  for (const std::string& one : answer.notes) out += row("note", one, console);
  return out;
}

std::string fleet_orphans_text(const FleetAnswer& answer, const Console& console) {
  std::string out;
  for (const FleetAnswer::Orphan& one : answer.orphans) {
    out += row(one.provider,
               cat(one.instance, "  ", one.state, "  run ", one.run,
                   one.ours ? ": of this run, its epoch is over; the next check gives it back"
                            : ": of another run, or of a store that is gone; this run never touches it"),
               console);
  }
  if (answer.orphans.empty()) {
    out += answer.all_seen ? "Nothing is rented that belongs to no run.\n"
                           : "Not all that is rented could be seen; nothing of what was belongs to no run.\n";
  }
  for (const std::string& one : answer.notes) out += row("note", one, console);
  return out;
}

}  // namespace mw
