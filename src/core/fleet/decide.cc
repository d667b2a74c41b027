#include "core/fleet/decide.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "base/text.h"

namespace mw::fleet {
namespace {

using What = Move::What;
using Phase = Control::Phase;
using Kind = Verdict::Kind;

constexpr int64_t kHostFailures = 2;
constexpr int64_t kMissesForPerson = 4;  // machines in a row that did not begin: one more is not likely to
constexpr Duration kHour = Duration::seconds(3600);
constexpr Duration kLongestBackoff = Duration::seconds(1800);

double hours(Duration time) { return time.seconds() / 3600; }

/// After the first miss at once, then 1, 2, 4 … minutes.
Duration backoff(int64_t misses) {
  if (misses < 2) return {};
  const Duration wait = Duration::seconds(60.0 * static_cast<double>(int64_t{1} << std::min<int64_t>(misses - 2, 10)));
  return std::min(wait, kLongestBackoff);
}

Move wait(std::string why, bool person = false) {
  Move move;
  move.what = What::kWait;
  move.why = std::move(why);
  move.person = person;
  return move;
}

Move fence(std::string_view after, std::string why, bool failed = false) {
  Move move;
  move.what = What::kFence;
  move.after = after;
  move.why = std::move(why);
  move.failed = failed;
  return move;
}

Move simple(What what, std::string why, bool failed = false) {
  Move move;
  move.what = what;
  move.why = std::move(why);
  move.failed = failed;
  return move;
}

std::string joined(const std::vector<std::string>& reasons) {
  std::string out;
  for (const std::string& reason : reasons) out += cat(out.empty() ? "" : "; ", reason);
  return out;
}

/// Runs of letters and digits, in lower case.
std::set<std::string> words_of(std::string_view text) {
  std::set<std::string> out;
  std::string word;
  for (const char c : cat(to_lower(text), " ")) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      word += c;
    } else if (!word.empty()) {
      out.insert(std::exchange(word, ""));
    }
  }
  return out;
}

/// What the machines that may be there cost in an hour.
double price_now(const Control& control) {
  double price = 0;
  for (const Rental* const one : {control.current(), control.successor()}) price += one == nullptr ? 0 : one->price;
  return price;
}

bool spent(const FleetSpec& spec, const Control& control, Time now) {
  const double price = price_now(control);
  return price > 0 && cost_of(control, now) + price * hours(spec.limits.reserve) > spec.limits.spend;
}

Move decide_rented(const FleetSpec& spec, const Control& control, const Verdict& verdict, const Witnesses& seen) {
  const Rental& rental = *control.current();
  if (rental.price > spec.limits.price_per_hour) {
    return fence("again", cat("it costs ", rental.price, " an hour, and ", spec.limits.price_per_hour, " is the limit"),
                 true);
  }
  if (spent(spec, control, seen.now)) return fence("limit", cat("the limit of ", spec.limits.spend, " is reached"));
  const std::string why = joined(verdict.reasons);
  switch (verdict.kind) {
    case Kind::kFinished:
      if (seen.beat && seen.beat->saved > seen.beat->shipped) {
        return wait(cat("it is finished, and its checkpoint of step ", seen.beat->saved, " is not in the store"), true);
      }
      return fence("finished", why);
    case Kind::kFailed:
      if (seen.now - seen.beat_changed > spec.patience.keep_failed) return fence("failed", why);
      return wait(cat("the run failed on a machine that lives, which is kept for a while: ", why), true);
    case Kind::kStalled:
      return wait(cat("the run stalls on a machine that lives: ", why), true);
    case Kind::kUnknown:
      return wait(why, verdict.person);
    default:
      break;
  }
  if (verdict.replace) {
    const bool failed = verdict.kind == Kind::kUnfit || !rental.began.known();
    Move move = fence("again", why, failed && verdict.kind != Kind::kPreempted);
    move.by_age = verdict.by_age;
    move.by_silence = verdict.by_silence;
    return move;
  }
  if (verdict.kind == Kind::kHealthy && !rental.began.known()) return simple(What::kBegan, "it trains");
  return {};
}

Move decide_ending(const FleetSpec& spec, const Control& control, const Witnesses& seen, const Holding& holding) {
  const Rental& rental = *control.current();
  if (holding.there()) return simple(What::kDestroy, control.why);
  if (!holding.heard) return wait(cat("the provider must say that the machine is gone: ", seen.provider_says));
  // Its epoch is over: it ends itself as soon as it reaches the store, and without that it ships nothing.
  if (holding.unreachable)
    return simple(What::kForget, "its host does not answer, and its epoch is over", rental.failed);
  // Not listed yet is not gone.
  if (!holding.ended && seen.now - rental.since() <= spec.patience.settle) {
    return wait("the provider does not list the machine, which may only be too new");
  }
  return simple(What::kForget, "the provider has it no more", rental.failed);
}

/// It has not said a word for half of the time that a machine has to begin: many of those never do.
bool says_nothing(const FleetSpec& spec, const Control& control, const Witnesses& seen) {
  return control.phase == Phase::kRented && !seen.beat && !control.current()->began.known() &&
         2 * (seen.now - control.current()->since()).ns > spec.patience.start.ns;
}

/// Why the machine is about to end, as far as that is known before it is given up; "": nothing says so.
std::string about_to_end(const FleetSpec& spec, const Control& control, const Verdict& verdict, const Witnesses& seen) {
  if (control.phase == Phase::kEnding && control.after == "again") return "it is being given back";
  if (says_nothing(spec, control, seen)) return "it has said nothing for half of its time to begin";
  const bool trains =
      verdict.kind == Kind::kHealthy || verdict.kind == Kind::kStalled || verdict.kind == Kind::kUnknown;
  if (control.phase != Phase::kRented || !trains || !seen.beat || !control.current()->began.known()) return "";
  const Duration age = seen.now - seen.beat_changed;
  if (seen.beat->leaves && seen.beat->leaves->ns - age.ns <= spec.limits.ahead.ns) return "notice of its end was given";
  if (seen.provider == InstanceState::kStopped) return "its provider says that it is stopped";
  if (seen.provider == InstanceState::kGone && age > seen.beat->every) {
    return "a heartbeat is missing, and its provider does not list it";
  }
  return "";
}

/// Does the machine go on after all? That there is no sign of its end is not enough: of one that was stopped the
/// provider may say nothing for a check, or list it no more, while its last heartbeat is young. What it says of its own
/// end is.
bool goes_on(const FleetSpec& spec, const Control& control, const Verdict& verdict, const Witnesses& seen) {
  if (verdict.kind == Kind::kFailed || verdict.kind == Kind::kFinished) return true;
  const bool lives =
      verdict.kind == Kind::kStarting || verdict.kind == Kind::kHealthy || verdict.kind == Kind::kStalled;
  const bool listed = seen.provider == InstanceState::kRunning || seen.provider == InstanceState::kProvisioning;
  return lives && listed && about_to_end(spec, control, verdict, seen).empty();
}

/// Why the successor is not to be kept; "": it is. `failed`: that speaks against its host.
std::string unwanted(const FleetSpec& spec, const Control& control, const Verdict& verdict, const Witnesses& seen,
                     const Successor& next, bool& failed) {
  const Rental& rental = *control.successor();
  const Duration age = seen.now - rental.since();
  failed = false;
  if (spent(spec, control, seen.now)) return cat("the limit of ", spec.limits.spend, " is reached");
  if (rental.price > spec.limits.price_per_hour) return failed = true, cat("it costs ", rental.price, " an hour");
  if (next.beat && next.beat->phase == Heartbeat::Phase::kUnfit) return failed = true, "it says that it is not fit";
  if (control.next == Phase::kRented && next.holding.heard && !next.holding.there() && age > spec.patience.settle) {
    return failed = true, "its provider lists it no more";
  }
  if (!next.beat && age > spec.patience.start) return failed = true, "it did not begin in time";
  if (control.phase != Phase::kRented) return "";
  if (goes_on(spec, control, verdict, seen)) return "the machine that it was to follow goes on";
  return age.ns > 2 * spec.limits.ahead.ns ? "the machine that it was to follow is still there" : "";
}

Move for_successor(Move move) {
  move.ahead = true;
  return move;
}

Move decide_successor(const FleetSpec& spec, const Control& control, const Verdict& verdict, const Witnesses& seen,
                      const Successor& next) {
  const Rental& rental = *control.successor();
  const bool listed_late = !next.holding.ended && seen.now - rental.since() <= spec.patience.settle;
  if (control.next == Phase::kEnding) {
    if (next.holding.there()) return simple(What::kDestroy, rental.end);
    if (next.holding.unreachable) return simple(What::kForget, "its host does not answer", rental.failed);
    if (!next.holding.heard || listed_late) return wait("the provider must say that the successor is gone");
    return simple(What::kForget, "the provider has it no more", rental.failed);
  }
  bool failed = false;
  if (const std::string why = unwanted(spec, control, verdict, seen, next, failed); !why.empty()) {
    return fence("", why, failed);
  }
  if (control.next != Phase::kRenting) return {};
  if (next.holding.there()) return simple(What::kTake, "the provider has it");
  if (!next.holding.heard || listed_late) return wait("the provider must say whether it rented a successor out");
  return simple(What::kForget, "the provider never had it", true);
}

/// One that was given back because its machine went on is not rented again for that same machine. What was refused was
/// none: another offer may do.
bool had_successor(const Control& control) {
  const int64_t epoch = control.current()->epoch;
  return control.phase == Phase::kRented &&
         std::any_of(control.rentals.begin(), control.rentals.end(),
                     [epoch](const Rental& one) { return one.epoch > epoch && !one.refused; });
}

/// Until fewer than `rents_per_hour` machines were rented within an hour.
Duration until_one_more(const FleetSpec& spec, const Control& control, Time now) {
  std::vector<Time> asked;
  for (const Rental& one : control.rentals) {
    if (!one.refused) asked.push_back(one.asked);
  }
  std::sort(asked.begin(), asked.end(), std::greater<>());
  const Time oldest = asked.at(static_cast<size_t>(spec.limits.rents_per_hour) - 1);
  return (oldest + kHour) - now;
}

}  // namespace

Move decide_ahead(const FleetSpec& spec, const Control& control, const Verdict& verdict, const Witnesses& seen,
                  const Successor& next, size_t strays) {
  if (control.current() == nullptr) return {};
  // Of two that were to begin the one that did is taken.
  const bool waits = next.beat && next.beat->phase == Heartbeat::Phase::kWaiting && control.next == Phase::kRented;
  if (waits && says_nothing(spec, control, seen)) {
    return fence("again", "it has said nothing since it was rented, and the one that was rented after it is there",
                 true);
  }
  if (control.successor() != nullptr) return for_successor(decide_successor(spec, control, verdict, seen, next));
  if (spec.limits.ahead.ns <= 0 || strays > 0 || control.phase == Phase::kRenting || had_successor(control)) return {};
  const std::string why = about_to_end(spec, control, verdict, seen);
  bool person = false;
  if (why.empty() || spent(spec, control, seen.now) || !forbidden(spec, control, seen.now, person).empty()) return {};
  return for_successor(simple(What::kRent, why));
}

bool gpu_fits(std::string_view wanted, std::string_view has) {
  const std::set<std::string> there = words_of(has);
  const std::set<std::string> needed = words_of(wanted);
  return std::includes(there.begin(), there.end(), needed.begin(), needed.end());
}

bool failed_twice(const Control& control, const Offer& offer) {
  const auto failures = std::count_if(control.rentals.begin(), control.rentals.end(), [&](const Rental& rental) {
    return rental.failed && rental.provider == offer.provider && rental.host == offer.host && !offer.host.empty();
  });
  return failures >= kHostFailures;
}

std::string forbidden(const FleetSpec& spec, const Control& control, Time now, bool& person) {
  person = true;
  if (rents_of(control) >= std::min(spec.limits.rents, kMostRents)) {
    return cat("it was rented for ", rents_of(control), " times, which is the limit");
  }
  if (cost_of(control, now) >= spec.limits.spend && spec.limits.spend > 0) {
    return cat("the limit of ", spec.limits.spend, " is reached");
  }
  person = was_refused(control);
  const int64_t lately = rents_of(control, Time{now.ns - kHour.ns});
  if (lately >= spec.limits.rents_per_hour) {
    return cat(lately, " machines were rented within an hour, which is the limit; the next one may be in ",
               format_duration(until_one_more(spec, control, now)));
  }
  const Duration since = now - control.missed, pause = backoff(control.misses);
  if (control.misses > 0 && since < pause) {
    person = person || control.misses >= kMissesForPerson;
    return cat(control.misses, " in a row were refused or did not begin; the next one is tried in ",
               format_duration({pause.ns - since.ns}));
  }
  return "";
}

Move decide(const FleetSpec& spec, const Control& control, const Verdict& verdict, const Witnesses& seen,
            const Holding& holding, size_t strays) {
  const Rental* const rental = control.current();
  switch (control.phase) {
    case Phase::kStopped:
      return {};
    case Phase::kIdle: {
      if (strays > 0) return wait("an older machine of this run must be gone first");
      bool person = false;
      const std::string limit = forbidden(spec, control, seen.now, person);
      return limit.empty() ? simple(What::kRent, control.why) : wait(limit, person);
    }
    case Phase::kRenting:
      if (holding.there()) return simple(What::kTake, "the provider has it");
      if (!holding.heard) return wait(cat("the provider must say whether it rented one out: ", seen.provider_says));
      if (!holding.ended && seen.now - rental->asked <= spec.patience.settle) {
        return wait("the provider does not list yet what was asked for");
      }
      return simple(What::kForget, "the provider never had it", true);
    case Phase::kRented:
      return decide_rented(spec, control, verdict, seen);
    case Phase::kEnding:
      return decide_ending(spec, control, seen, holding);
  }
  return {};
}

std::vector<Offer> ranked(const FleetSpec& spec, const Control& control, Time now, std::vector<Offer> offers,
                          std::vector<std::string>& notes) {
  const double left = spec.limits.spend - cost_of(control, now) - price_now(control) * hours(spec.limits.reserve);
  const MachineWants& wants = spec.wants;
  int64_t small = 0, dear = 0, failed = 0;
  std::vector<Offer> out;
  if (offers.empty()) notes.emplace_back("it offers none now; a host of one's own is taken, or does not answer");
  for (Offer& one : offers) {
    const auto lacks = [](int64_t has, int64_t needs) { return has > 0 && has < needs; };
    const bool elsewhere = !wants.regions.empty() && !one.region.empty() &&
                           std::find(wants.regions.begin(), wants.regions.end(), one.region) == wants.regions.end();
    const bool other_gpu = !one.gpu.empty() && !gpu_fits(wants.gpu, one.gpu);
    if (lacks(one.count, wants.count) || lacks(one.gpu_memory, wants.gpu_memory) || lacks(one.disk, wants.disk) ||
        elsewhere || other_gpu || (one.reliability >= 0 && one.reliability < wants.reliability)) {
      ++small;
    } else if (!(one.price >= 0) || one.price > spec.limits.price_per_hour ||
               one.price * hours(spec.limits.reserve) > left) {
      ++dear;
    } else if (failed_twice(control, one)) {
      ++failed;
    } else {
      out.push_back(std::move(one));
    }
  }
  std::sort(out.begin(), out.end(), [](const Offer& a, const Offer& b) {
    if (a.price != b.price) return a.price < b.price;
    if (a.reliability != b.reliability) return a.reliability > b.reliability;
    return a.id < b.id;
  });
  if (out.empty() && !offers.empty()) {
    notes.push_back(cat(offers.size(), " offers: ", small, " are not what is wanted, ", dear, " cost too much, ",
                        failed, " are of hosts that failed twice"));
  }
  return out;
}

}  // namespace mw::fleet
