#include "core/fleet/control.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"
#include "core/fleet/fleet_spec.h"

namespace mw::fleet {
namespace {

using Phase = Control::Phase;

constexpr std::array<std::string_view, 5> kPhases = {"stopped", "idle", "renting", "rented", "ending"};
constexpr std::string_view kLabel = "midwatch-";
constexpr size_t kText = 300;  // bytes of a text in words
constexpr size_t kIdDigits = 8, kNonceDigits = 16;

bool is_hex(std::string_view text, size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Time time_in(const Json& json, std::string_view key) { return parse_time(json.string_or(key, "")).value_or(Time{}); }

Error wrong(std::string_view what) { return {Error::Code::kInvalid, cat("epoch.json is wrong: ", what), ""}; }

Result<Rental> parse_rental(const Json& json) {
  Rental out;
  out.epoch = json.integer_or("epoch", -1);
  out.nonce = json.string_or("nonce", "");
  out.provider = clip(json.string_or("provider", ""), kText);
  out.host = clip(json.string_or("host", ""), kText);
  out.instance = clip(json.string_or("instance", ""), kText);
  out.price = json.number_or("price", -1);
  out.asked = time_in(json, "asked");
  out.there = time_in(json, "there");
  out.turn = time_in(json, "turn");
  out.began = time_in(json, "began");
  out.gone = time_in(json, "gone");
  out.failed = json.boolean_or("failed", false);
  out.refused = json.boolean_or("refused", false);
  out.end = clip(json.string_or("end", ""), kText);
  if (out.epoch < 0 || !is_hex(out.nonce, kNonceDigits) || !(out.price >= 0) || !out.asked.known()) {
    return wrong("a rental has no epoch, nonce, price or time");
  }
  return out;
}

void write_rental(JsonWriter& json, const Rental& one) {
  json.begin_object().key("epoch").integer(one.epoch).key("nonce").string(one.nonce);
  json.key("provider").string(one.provider).key("host").string(one.host).key("instance").string(one.instance);
  json.key("price").number(one.price).key("asked").string(format_utc(one.asked));
  if (one.there.known()) json.key("there").string(format_utc(one.there));
  if (one.turn.known()) json.key("turn").string(format_utc(one.turn));
  json.key("began").string(format_utc(one.began)).key("gone").string(format_utc(one.gone));
  json.key("failed").boolean(one.failed);
  if (one.refused) json.key("refused").boolean(true);
  json.key("end").string(one.end).end_object();
}

constexpr size_t kMostLiving = 2;     // rentals that are not known to be gone
constexpr int64_t kMostRefused = 20;  // of those that were refused

/// The `n`-th rental that is not known to be gone; the number of rentals: there is none.
size_t living(const std::vector<Rental>& rentals, size_t n) {
  size_t at = 0;
  for (; at < rentals.size(); ++at) {
    if (!rentals[at].gone.known() && n-- == 0) break;
  }
  return at;
}

Rental* at_or_null(std::vector<Rental>& rentals, size_t at) { return at < rentals.size() ? &rentals[at] : nullptr; }
const Rental* at_or_null(const std::vector<Rental>& rentals, size_t at) {
  return at < rentals.size() ? &rentals[at] : nullptr;
}

/// One that nobody has had.
int64_t new_epoch(const Control& control) {
  return std::max(control.epoch, control.rentals.empty() ? 0 : control.rentals.back().epoch) + 1;
}

void is_gone(Rental& rental, Time now, const std::string& why, bool failed) {
  rental.failed = rental.failed || failed;
  rental.gone = std::max(now, rental.asked);
  if (rental.end.empty()) rental.end = why;
}

/// Refused ones cost nothing and are asked for without an end, so that only the last ones stay: they say which hosts
/// refused twice, and why nothing is had. The journal has all.
void drop_refused(Control& control) {
  auto dropped =
      std::count_if(control.rentals.begin(), control.rentals.end(), [](const Rental& one) { return one.refused; }) -
      kMostRefused;
  const auto is_old = [&dropped](const Rental& one) { return one.refused && dropped-- > 0; };
  std::vector<Rental> kept;
  for (Rental& one : control.rentals) {
    if (!is_old(one)) kept.push_back(std::move(one));
  }
  control.rentals = std::move(kept);
}

void end_successor(Control& control) {
  control.next = Phase::kEnding;
  if (std::string& end = control.successor()->end; end.empty()) end = "the run is over, and needs no next machine";
}

bool is_this(const Rental* rental, int64_t epoch, std::string_view nonce) {
  return rental != nullptr && rental->epoch == epoch && rental->nonce == nonce;
}

Result<void> check_phases(const Control& control) {
  const Phase phase = control.phase;
  const bool wants_one = phase == Phase::kRenting || phase == Phase::kRented || phase == Phase::kEnding;
  if (wants_one != (control.current() != nullptr)) return wrong("its phase and its rentals differ");
  if ((control.next != Phase::kIdle) != (control.successor() != nullptr)) return wrong("its successor is not known");
  if (control.successor() != nullptr && control.successor()->epoch < control.epoch && control.next != Phase::kEnding) {
    return wrong("its successor has no turn any more");
  }
  if (living(control.rentals, kMostLiving) != control.rentals.size()) return wrong("it has too many machines at once");
  return {};
}

}  // namespace

const Rental* Control::current() const { return at_or_null(rentals, living(rentals, 0)); }
Rental* Control::current() { return at_or_null(rentals, living(rentals, 0)); }
const Rental* Control::successor() const { return at_or_null(rentals, living(rentals, 1)); }
Rental* Control::successor() { return at_or_null(rentals, living(rentals, 1)); }

std::optional<Control> launched(Control control) {
  const bool holds_back = control.phase == Phase::kIdle && control.misses > 0;
  if (control.phase != Phase::kStopped && !holds_back) return std::nullopt;
  control.phase = Phase::kIdle;
  control.outcome = "";
  control.misses = 0;
  control.why = "a person launched it";
  return control;
}

std::optional<Control> stopped(Control control) {
  if (control.phase == Phase::kStopped || (control.phase == Phase::kEnding && control.after != "again")) {
    return std::nullopt;
  }
  control.why = "a person stopped it";
  if (control.phase == Phase::kIdle) {
    control.phase = Phase::kStopped;
    control.outcome = "stopped";
  } else if (control.phase == Phase::kEnding) {
    control.after = "stopped";
    if (control.successor() != nullptr) end_successor(control);
  } else {
    end_epoch(control, "stopped");
  }
  return control;
}

void end_epoch(Control& control, std::string_view after) {
  const Rental* const successor = control.successor();
  const bool goes_on = successor != nullptr && control.next != Phase::kEnding && after == "again";
  if (successor != nullptr && !goes_on) end_successor(control);
  control.epoch = goes_on ? successor->epoch : new_epoch(control);
  control.phase = Phase::kEnding;
  control.after = after;
}

int64_t rents_of(const Control& control, Time since) {
  return std::count_if(control.rentals.begin(), control.rentals.end(),
                       [since](const Rental& one) { return !one.refused && one.asked > since; });
}

bool was_refused(const Control& control) {
  return !control.rentals.empty() && control.rentals.back().refused && control.rentals.back().failed;
}

Rental& add_intent(Control& control, Rental rental) {
  drop_refused(control);
  rental.epoch = new_epoch(control);
  if (control.current() == nullptr) {
    control.epoch = rental.epoch;
    control.phase = Phase::kRenting;
  } else {
    control.next = Phase::kRenting;
  }
  control.rentals.push_back(std::move(rental));
  return control.rentals.back();
}

void forget_current(Control& control, Time now, const std::string& why, bool failed) {
  Rental& rental = *control.current();
  const bool ending = control.phase == Phase::kEnding;
  const bool again = !ending || control.after == "again";
  is_gone(rental, now, why, failed);
  if (!rental.began.known() && again) ++control.misses, control.missed = now;
  if (again) control.why = rental.end;
  if (Rental* const successor = control.current(); successor != nullptr) {
    control.phase = std::exchange(control.next, Phase::kIdle);
    if (control.phase == Phase::kEnding) {
      control.epoch = new_epoch(control);
      control.after = again ? "again" : control.after;
    } else {
      control.epoch = successor->epoch;
      control.after = "";
      successor->turn = std::max(now, successor->asked);
    }
    return;
  }
  if (!ending) control.epoch = new_epoch(control);  // should it come all the same, its epoch is over
  control.phase = again ? Phase::kIdle : Phase::kStopped;
  control.outcome = again ? "" : control.after;
  control.after = "";
}

void forget_successor(Control& control, Time now, const std::string& why, bool failed) {
  is_gone(*control.successor(), now, why, failed);
  control.next = Phase::kIdle;
  if (failed) ++control.misses, control.missed = now;
}

void forget_refused(Control& control, Time now, const std::string& why, bool failed) {
  const int64_t epoch = control.rentals.back().epoch;
  control.successor() != nullptr ? forget_successor(control, now, why, failed)
                                 : forget_current(control, now, why, failed);
  const auto refused = std::find_if(control.rentals.begin(), control.rentals.end(),
                                    [epoch](const Rental& one) { return one.epoch == epoch; });
  refused->refused = true;
}

double cost_of(const Rental& rental, Time now) {
  const Time until = rental.gone.known() ? rental.gone : std::max(now, rental.asked);
  return rental.price * std::max(0.0, (until - rental.asked).seconds()) / 3600;
}

double cost_of(const Control& control, Time now) {
  double sum = 0;
  for (const Rental& one : control.rentals) sum += cost_of(one, now);
  return sum;
}

bool may_train(const Control& control, int64_t epoch, std::string_view nonce) {
  const bool there = control.phase == Phase::kRenting || control.phase == Phase::kRented;
  return there && control.epoch == epoch && is_this(control.current(), epoch, nonce);
}

bool may_wait(const Control& control, int64_t epoch, std::string_view nonce) {
  return control.next != Phase::kEnding && is_this(control.successor(), epoch, nonce);
}

bool is_over(const Control& control, int64_t epoch, std::string_view nonce) {
  const auto known = std::find_if(control.rentals.begin(), control.rentals.end(),
                                  [nonce](const Rental& one) { return one.nonce == nonce; });
  return known == control.rentals.end() ? epoch < control.epoch : known->gone.known();
}

std::string_view word_of(Phase phase) { return kPhases.at(static_cast<size_t>(phase)); }

std::string control_json(const Control& control) {
  std::string body;
  {
    JsonWriter json(body);
    json.begin_object().key("epoch").integer(control.epoch).key("serial").integer(control.serial);
    json.key("owner").string(control.owner).key("phase").string(word_of(control.phase));
    json.key("after").string(control.after).key("outcome").string(control.outcome).key("why").string(control.why);
    json.key("misses").integer(control.misses).key("missed").string(format_utc(control.missed));
    if (control.next != Phase::kIdle) json.key("next").string(word_of(control.next));
    json.key("rentals").begin_array();
    for (const Rental& one : control.rentals) write_rental(json, one);
    json.end_array().end_object();
  }
  return body;
}

Result<Control> parse_control(std::string_view text) {
  const auto json = Json::parse(text);
  if (!json.ok()) return json.error();
  Control out;
  out.epoch = json->integer_or("epoch", -1);
  out.serial = json->integer_or("serial", -1);
  out.owner = clip(json->string_or("owner", ""), kText);
  const auto* const phase = std::find(kPhases.begin(), kPhases.end(), json->string_or("phase", ""));
  if (out.epoch < 0 || out.serial < 0 || phase == kPhases.end()) return wrong("it has no epoch, serial or phase");
  out.phase = static_cast<Phase>(phase - kPhases.begin());
  const auto* const next = std::find(kPhases.begin(), kPhases.end(), json->string_or("next", "idle"));
  out.next = static_cast<Phase>(next - kPhases.begin());
  if (next == kPhases.end() || out.next == Phase::kStopped) return wrong("its successor is in no phase");
  out.after = clip(json->string_or("after", ""), kText);
  out.outcome = clip(json->string_or("outcome", ""), kText);
  out.why = clip(json->string_or("why", ""), kText);
  out.misses = json->integer_or("misses", 0);
  out.missed = time_in(*json, "missed");
  const Json* const rentals = json->find("rentals");
  if (rentals == nullptr || !rentals->is_array() || rentals->items().size() > kMostRents + kMostRefused + 1) {
    return wrong("it has no rentals, or too many");
  }
  for (const Json& one : rentals->items()) {
    auto rental = parse_rental(one);
    if (!rental.ok()) return rental.error();
    if (!out.rentals.empty() && rental->epoch <= out.rentals.back().epoch) return wrong("its rentals are not in order");
    out.rentals.push_back(std::move(*rental));
  }
  MW_TRY(check_phases(out));
  return out;
}

std::string label_text(const Label& label) {
  return cat(kLabel, label.name, "-", label.id, "-", label.epoch, "-", label.nonce);
}

std::optional<Label> parse_label(std::string_view text) {
  if (!text.starts_with(kLabel)) return std::nullopt;
  text.remove_prefix(kLabel.size());
  Label out;
  std::array<std::string_view, 3> words;  // the last ones: a name may have dashes of its own
  for (size_t i = words.size(); i-- > 0;) {
    const size_t dash = text.rfind('-');
    if (dash == std::string_view::npos) return std::nullopt;
    words.at(i) = text.substr(dash + 1);
    text = text.substr(0, dash);
  }
  const auto epoch = parse_int(words[1]);
  if (text.empty() || !is_hex(words[0], kIdDigits) || !epoch || *epoch < 0 || std::to_string(*epoch) != words[1] ||
      !is_hex(words[2], kNonceDigits)) {
    return std::nullopt;
  }
  out.name = text;
  out.id = words[0];
  out.epoch = *epoch;
  out.nonce = words[2];
  return out;
}

}  // namespace mw::fleet
