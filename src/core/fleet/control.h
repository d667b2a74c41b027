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
  Time began;                  ///< when it was first seen to train
  Time gone;                   ///< when the provider no longer had it; unknown: it may be there
  bool failed = false;         ///< it never trained, or was unfit: its host has failed once
  std::string end;             ///< why it was given up
};

struct Control {
  enum class Phase {
    kStopped,  ///< no machine is wanted
    kIdle,     ///< one is wanted and none is there
    kRenting,  ///< the intent to rent rentals.back() was written; whether it is there is not known
    kRented,   ///< rentals.back() is there
    kEnding,   ///< rentals.back() may no longer train, and is to be given back
  };
  int64_t epoch = 0;   ///< raised by every intent to rent and to end
  int64_t serial = 0;  ///< raised by every change
  std::string owner;   ///< who made the last change
  Phase phase = Phase::kStopped;
  std::string after;    ///< of kEnding: "again" (rent another one), or the outcome in which the run rests
  std::string outcome;  ///< of kStopped: "" (nobody launched it), "finished", "failed", "stopped", "limit"
  std::string why;      ///< the last change, in words
  int64_t misses = 0;   ///< rentals in a row that never trained
  Time missed;          ///< the last of them
  std::vector<Rental> rentals;

  /// The rental that may be there; nullptr: there is none.
  const Rental* current() const;
  Rental* current();
};

/// A person launched it; nullopt: it has a machine, or is getting one.
std::optional<Control> launched(Control control);
/// A person wants its machine given back, and none taken; nullopt: there is none, or it is being given back for good.
std::optional<Control> stopped(Control control);
/// Its machine may no longer train, and is to be given back; `after` as of Control::after.
void end_epoch(Control& control, std::string_view after);

/// What one rental has cost up to `now`, in the provider's currency; one that is not known to be gone costs on.
double cost_of(const Rental& rental, Time now);
/// What all rentals have cost up to `now`; one of which it is not known counts as there from its intent on.
double cost_of(const Control& control, Time now);
/// May the machine of this rental train? The epoch is the newest one, and it is its own.
bool may_train(const Control& control, int64_t epoch, std::string_view nonce);

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
