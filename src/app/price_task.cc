#include "app/price_task.h"

#include "core/cost.h"

namespace mw {
namespace {

constexpr Duration kPatience = Duration::seconds(3600);  // it changes when midwatch is started with another one only

}  // namespace

std::optional<Duration> PriceTask::turn(const State& state, bool, EventWriter& writer) {
  if (!state.attempts.empty() && cost_per_hour(state) != price_)
    writer.observed("host:price", event::Measured{kNoStep, false, {{"", std::string(kCostPerHour), price_}}});
  return kPatience;
}

}  // namespace mw
