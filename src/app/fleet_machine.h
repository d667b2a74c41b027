// The machine's own side of a rented run: who it is, by its environment, and how it says so to its store.
#pragma once

#include <memory>
#include <optional>

#include "act/fleet/beat.h"
#include "app/harbour.h"
#include "base/result.h"
#include "platform/disk.h"

namespace mw {

/// nullopt: nobody rented this machine, or this is a run within another one's, which beats itself.
Result<std::optional<fleet::MachineIdentity>> own_identity();

Result<std::unique_ptr<Harbour>> harbour_of(Disk& disk, const fleet::MachineIdentity& identity);

/// A heartbeat that says who the machine is and nothing of the run yet.
fleet::Heartbeat about_machine(const fleet::MachineIdentity& identity);

/// Puts it to the store, and asks who may act.
Result<fleet::Standing> send_beat(Disk& disk, const fleet::MachineIdentity& identity, fleet::Heartbeat beat);

/// The run here was notified that the machine is taken away: kept on this machine's own disk, so that whatever its
/// start script says after that, the store hears of it.
void note_taken_away(Disk& disk, const fleet::MachineIdentity& identity, const std::string& why);
/// A machine that begins (again) is not taken away.
void forget_taken_away(Disk& disk, const fleet::MachineIdentity& identity);
/// Why, as it was noted; nothing where it was not.
std::optional<std::string> noted_taken_away(Disk& disk, const fleet::MachineIdentity& identity);

}  // namespace mw
