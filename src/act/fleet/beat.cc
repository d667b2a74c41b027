#include "act/fleet/beat.h"

#include <algorithm>

#include "base/numbers.h"
#include "base/text.h"
#include "base/units.h"

namespace mw::fleet {
namespace {

constexpr int64_t kMostEpochs = 1'000'000;

/// Error: the store knows nothing of such a machine (yet).
Result<Standing> standing_of(const Control& control, const Heartbeat& beat) {
  if (may_train(control, beat.epoch, beat.machine)) return Standing::kMine;
  if (may_wait(control, beat.epoch, beat.machine)) return Standing::kWaits;
  const bool known = std::any_of(control.rentals.begin(), control.rentals.end(),
                                 [&](const Rental& one) { return one.nonce == beat.machine; });
  if (known || control.epoch >= beat.epoch) return Standing::kFenced;
  return Error{Error::Code::kIo, "the store does not know this machine's epoch", ""};
}

}  // namespace

Result<std::optional<MachineIdentity>> machine_identity(
    const std::function<std::optional<std::string>(const std::string&)>& variable) {
  const auto nonce = variable(kMachineVariable);
  if (!nonce || nonce->empty()) return std::optional<MachineIdentity>();
  MachineIdentity out;
  out.nonce = *nonce;
  out.store = variable(kStoreVariable).value_or("");
  out.endpoint = variable(kEndpointVariable).value_or("");
  out.region = variable(kRegionVariable).value_or("");
  const auto epoch = parse_int(variable(kEpochVariable).value_or(""));
  if (out.store.empty() || !epoch || *epoch < 0 || *epoch > kMostEpochs || !is_plain_path(out.nonce) ||
      contains(out.nonce, "/")) {
    return Error{Error::Code::kInvalid,
                 cat(kStoreVariable, ", ", kEpochVariable, " and ", kMachineVariable, " do not fit"),
                 "They are set together, by whoever rents the machine."};
  }
  out.epoch = *epoch;
  if (const auto every = variable(kEveryVariable)) {
    const auto time = parse_duration(*every);
    if (!time.ok()) return Error{Error::Code::kInvalid, cat(kEveryVariable, ": ", time.error().what), ""};
    out.every = std::max(*time, Duration::millis(100));
  }
  return std::optional<MachineIdentity>(std::move(out));
}

std::pair<int64_t, int64_t> pointer_epochs(int64_t epoch) {
  constexpr int kPushes = 20;  // bits: a million pushes of one machine
  return {epoch << kPushes, (epoch + 1) << kPushes};
}

Result<Standing> beat(FleetStore& store, ObjectStore& objects, const std::string& prefix, Heartbeat beat) {
  const auto held = store.control();
  Result<Standing> standing = Standing::kMine;
  if (!held.ok()) {
    standing = held.error();
  } else {
    standing = standing_of(held->control.value_or(Control{}), beat);
  }
  if (standing.ok() && *standing == Standing::kFenced) beat.phase = Heartbeat::Phase::kFenced;
  if (standing.ok() && *standing == Standing::kWaits && beat.phase == Heartbeat::Phase::kStarting) {
    beat.phase = Heartbeat::Phase::kWaiting;
  }
  const auto put = put_heartbeat(objects, prefix, beat);
  if (standing.ok() && *standing == Standing::kFenced) return standing;
  if (!put.ok()) return put.error();
  return standing;
}

}  // namespace mw::fleet
