// The machine's own side of a rented run: who it is, by its environment, and how it says so to its store.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "act/fleet/beat.h"
#include "app/harbour.h"
#include "base/result.h"
#include "platform/clock.h"
#include "platform/disk.h"

namespace mw {

/// Why a machine goes that got SIGTERM.
constexpr std::string_view kGotSigterm = "midwatch got SIGTERM";

/// nullopt: nobody rented this machine, or this is a run within another one's, which beats itself.
Result<std::optional<fleet::MachineIdentity>> own_identity();

Result<std::unique_ptr<Harbour>> harbour_of(Disk& disk, const fleet::MachineIdentity& identity);

/// A heartbeat that says who the machine is and nothing of the run yet.
fleet::Heartbeat about_machine(const fleet::MachineIdentity& identity);

/// Puts it to the store, and asks who may act.
Result<fleet::Standing> send_beat(Disk& disk, const fleet::MachineIdentity& identity, fleet::Heartbeat beat);

/// The last heartbeat of this machine, so that nobody need wait for the silence: tried until the store has it, or until
/// `until` by the clock that only goes forward. `older_out`: is an earlier heartbeat still on its way? It may be
/// written over this one, which is then said once more after it.
void send_last(Clock& clock, const std::shared_ptr<Disk>& disk, const fleet::MachineIdentity& identity,
               const fleet::Heartbeat& beat, Duration until, const std::function<bool()>& older_out);

/// The run here was notified that the machine is taken away: kept on this machine's own disk, so that whatever its
/// start script says after that, the store hears of it.
void note_taken_away(Disk& disk, const fleet::MachineIdentity& identity, const std::string& why);
/// Does that on SIGTERM, on a thread of its own, for which a moment is waited: the loop, and the disk of the home, may
/// hang. Unset where nobody rented this machine.
std::function<void(int signal)> note_of_taken_away();
/// A machine that begins (again) is not taken away.
void forget_taken_away(Disk& disk, const fleet::MachineIdentity& identity);
/// Why, as it was noted; nothing where it was not.
std::optional<std::string> noted_taken_away(Disk& disk, const fleet::MachineIdentity& identity);

}  // namespace mw
