// Who may act on a run, and what was rented for it: the one object of the store that every change goes through, by
// compare-and-swap (fleet/epoch.json, docs/formats/store.md). A controller changes it before it acts, so that whoever
// comes after a crash knows what may have been done.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace mw::fleet {

/// A machine that was rented, or of which that is not known yet. Times are by the store's clock.
struct Rental {
  int64_t epoch = 0;           ///< in which it may train
  std::string nonce;           ///< 16 hexadecimal digits that no other rental has; the machine knows itself by it
  std::string provider, host;  ///< by name; the host as the provider names it, "" where it does not
  std::string instance;        ///< the provider's id; "": not known (yet)
  double price = 0;            ///< an hour
  Time asked;                  ///< when the intent was written
  Time there;            ///< when it was first known to be there: a controller may sleep between intent and request
  Time turn;             ///< of one that was rented as a successor: when it took its predecessor's place
  Time began;            ///< when it was first seen to train
  Time gone;             ///< when the provider no longer had it; unknown: it may be there
  bool failed = false;   ///< it never trained, or was unfit: its host has failed once
  bool refused = false;  ///< the provider refused it: there never was a machine, and no limit counts it
  std::string end;       ///< why it was given up

  /// From when on it counts as there, which its provider may not list at once.
  Time since() const { return there.known() ? there : asked; }
  /// From when on it has time to begin.
  Time may_begin() const { return turn.known() ? turn : since(); }
};

struct Control {
  enum class Phase {
    kStopped,  ///< no machine is wanted
    kIdle,     ///< one is wanted and none is there
    kRenting,  ///< the intent to rent current() was written; whether it is there is not known
    kRented,   ///< current() is there
    kEnding,   ///< current() may no longer train, and is to be given back
  };
  int64_t epoch =
      0;  ///< who may train; never falls. A successor has a higher one, which comes into force with its turn
  int64_t serial = 0;  ///< raised by every change
  std::string owner;   ///< who made the last change
  Phase phase = Phase::kStopped;
  std::string after;            ///< of kEnding: "again" (rent another one), or the outcome in which the run rests
  std::string outcome;          ///< of kStopped: "" (nobody launched it), "finished", "failed", "stopped", "limit"
  std::string why;              ///< the last change, in words
  int64_t misses = 0;           ///< rentals in a row that never trained
  Time missed;                  ///< the last of them
  Phase next = Phase::kIdle;    ///< of the successor, as `phase` is of the current one; kIdle: there is none
  std::vector<Rental> rentals;  ///< in the order of their epochs; at most two of them are not known to be gone

  /// The rental that may be there, and that trains when it may; nullptr: there is none.
  const Rental* current() const;
  Rental* current();
  /// What was rented to take its place, before it is gone; nullptr: there is none.
  const Rental* successor() const;
  Rental* successor();
};

/// A person launched it; nullopt: it has a machine, or is getting one. Where several in a row did not begin, the next
/// one is tried at once then.
std::optional<Control> launched(Control control);
/// A person wants its machine given back, and none taken; nullopt: there is none, or it is being given back for good.
std::optional<Control> stopped(Control control);
/// Its machine may no longer train, and is to be given back; `after` as of Control::after. Its successor goes on,
/// unless the run ends with it.
void end_epoch(Control& control, std::string_view after);
/// How many machines were rented, or may have been: what was refused is not among them. `since`: asked for after it.
int64_t rents_of(const Control& control, Time since = {});
/// The newest intent was refused by the provider, and not for lack of room: a person must change something first.
bool was_refused(const Control& control);
/// A new intent to rent, with an epoch that nobody has had: of the current machine where there is none, else of its
/// successor. The result stands in `control`.
Rental& add_intent(Control& control, Rental rental);
/// It is known that the current machine, or its successor, is not there (any more). A successor takes its
/// predecessor's place.
void forget_current(Control& control, Time now, const std::string& why, bool failed);
void forget_successor(Control& control, Time now, const std::string& why, bool failed);
/// As these, of the newest intent, which the provider refused: nothing was rented.
void forget_refused(Control& control, Time now, const std::string& why, bool failed);

/// What one rental has cost up to `now`, in the provider's currency; one that is not known to be gone costs on.
double cost_of(const Rental& rental, Time now);
/// What all rentals have cost up to `now`; one of which it is not known counts as there from its intent on.
double cost_of(const Control& control, Time now);
/// May the machine of this rental train? The epoch is the newest one, and it is its own.
bool may_train(const Control& control, int64_t epoch, std::string_view nonce);
/// Is the machine of this rental to wait for its turn?
bool may_wait(const Control& control, int64_t epoch, std::string_view nonce);
/// Can a machine of this rental never train again? Once that is so it stays so: whoever read it an hour ago is right.
bool is_over(const Control& control, int64_t epoch, std::string_view nonce);

std::string_view word_of(Control::Phase phase);
std::string control_json(const Control& control);
/// kInvalid: it is none.
Result<Control> parse_control(std::string_view json);

/// What an instance is called at its provider: "midwatch-NAME-ID-EPOCH-NONCE". ID (8 hexadecimal digits) tells apart
/// runs of one name that live in different stores.
struct Label {
  std::string name, id;
  int64_t epoch = 0;
  std::string nonce;
};
std::string label_text(const Label& label);
std::optional<Label> parse_label(std::string_view text);

}  // namespace mw::fleet
