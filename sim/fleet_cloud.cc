#include "sim/fleet_cloud.h"

#include <algorithm>

#include "base/text.h"

namespace mw::sim {
namespace {

using Call = Turn::Call;

constexpr int64_t kLag = 2;  // minutes that a listing may be behind

Error lost() { return {Error::Code::kInterrupted, "no answer came", ""}; }

}  // namespace

CloudMachine& Cloud::make(const std::string& label, const std::string& host) {
  auto machine = std::make_unique<CloudMachine>();
  machine->id = cat("i-", machines.size() + 1);
  machine->label = label;
  machine->host = host;
  const auto soon = [&](int64_t most) { return static_cast<int64_t>(dice.below(static_cast<uint64_t>(most) + 1)); };
  machine->created = now;
  machine->listed = now + (calm ? 0 : soon(kLag));
  machine->boots = now + 1 + soon(15);
  if (!calm) {
    const int64_t later = machine->boots + soon(240);
    switch (restless && dice.chance(0.6) ? 0 : dice.below(9)) {
      case 0:
      case 1:
        machine->vanishes = later;
        if (restless || dice.chance(0.6)) {  // announced: a capacity block's end, or two minutes ahead
          machine->announced = later;
          machine->notice = later - 2 - (dice.chance(0.5) ? 0 : soon(40));
          machine->obeys_notice = dice.chance(0.8);
          if (!machine->obeys_notice && dice.chance(0.5)) machine->vanishes = INT64_MAX;  // it was withdrawn
        }
        break;
      case 2:
        machine->outbid = later;
        break;
      case 3:
      case 4:
        machine->cut = later;
        machine->mended = later + 1 + soon(12);
        break;
      case 5:
        machine->cut = later;
        machine->mended = dice.chance(0.5) ? INT64_MAX : later + 20 + soon(120);
        break;
      case 6:
        machine->unfit = dice.chance(0.5);
        if (!machine->unfit) machine->boots = INT64_MAX;  // it never starts
        break;
      default:
        break;
    }
  }
  machines.push_back(std::move(machine));
  return *machines.back();
}

double Cloud::cost() const {
  double sum = 0;
  for (const auto& one : machines) {
    const int64_t until = std::min(one->ended, now);
    sum += price * static_cast<double>(std::max<int64_t>(0, until - one->created)) / 60;
  }
  return sum;
}

Turn::Call Turn::next() {
  const uint64_t call = calls++;
  if (how == How::kWell || call < at) return Call::kGoes;
  if (how == How::kDies) return Call::kLost;
  if (call > at) return Call::kGoes;
  if (how == How::kSleeps) {
    slept = true;
    sleep();
    return Call::kGoes;
  }
  return how == How::kLosesRequest ? Call::kLost : Call::kLostAfter;
}

Result<PutOutcome> TurnStore::put(const std::string& key, const Content& content, const PutCondition& condition) {
  const Call call = turn_.next();
  if (call == Call::kLost) return lost();
  auto done = store_.put(key, content, condition);
  return call == Call::kGoes ? std::move(done) : Result<PutOutcome>(lost());
}

Result<ObjectInfo> TurnStore::head(const std::string& key) {
  return turn_.next() == Call::kGoes ? store_.head(key) : Result<ObjectInfo>(lost());
}

Result<void> TurnStore::get(const std::string& key, uint64_t offset, int64_t size, const ByteSink& sink) {
  return turn_.next() == Call::kGoes ? store_.get(key, offset, size, sink) : Result<void>(lost());
}

Result<ObjectPage> TurnStore::list(const std::string& prefix, const std::string& from) {
  return turn_.next() == Call::kGoes ? store_.list(prefix, from) : Result<ObjectPage>(lost());
}

Result<void> TurnStore::remove(const std::string& key) {
  const Call call = turn_.next();
  if (call == Call::kLost) return lost();
  auto done = store_.remove(key);
  return call == Call::kGoes ? std::move(done) : Result<void>(lost());
}

Result<std::vector<fleet::Offer>> CloudProvider::search(const fleet::MachineWants&) {
  if (turn_.next() != Call::kGoes) return lost();
  std::vector<fleet::Offer> out;
  if (!cloud_.calm && cloud_.dice.chance(0.1)) return out;  // nothing to be had
  for (int i = 0; i < 4; ++i) {
    fleet::Offer offer;
    offer.id = cat("offer-", i);
    offer.host = cat("host-", cloud_.dice.below(12));
    offer.provider = name_;
    offer.price = cloud_.price + (i == 3 ? 100 : 0);
    out.push_back(std::move(offer));
  }
  return out;
}

Result<fleet::Instance> CloudProvider::create(const fleet::Offer& offer, const fleet::Order& order) {
  const Call call = turn_.next();
  if (call == Call::kLost) return lost();
  cloud_.before_create(order.label);
  const uint64_t dice = cloud_.calm ? 9 : cloud_.dice.below(10);
  if (dice == 0) return Error{Error::Code::kFull, "somebody else took it", ""};
  if (dice == 1) return lost();  // it was not carried out, and nobody knows
  CloudMachine& machine = cloud_.make(order.label, offer.host);
  if (dice == 2) {  // no answer came, and it appears later
    machine.created += static_cast<int64_t>(cloud_.dice.below(3));
    machine.listed = std::max(machine.listed, machine.created);
    machine.boots = std::max(machine.boots, machine.created);
    return lost();
  }
  if (call == Call::kLostAfter) return lost();
  fleet::Instance out;
  out.id = machine.id;
  out.label = machine.label;
  out.host = machine.host;
  out.price = cloud_.price;
  return out;
}

Result<fleet::Listing> CloudProvider::list() {
  if (turn_.next() != Call::kGoes || (!cloud_.calm && cloud_.dice.chance(0.05))) return lost();
  fleet::Listing out;
  out.whole = cloud_.calm || !cloud_.part_dice.chance(0.05);
  for (const auto& one : cloud_.machines) {
    if (!out.whole && cloud_.part_dice.chance(0.7)) continue;  // it says that it left something out
    const bool late =
        !cloud_.calm && one->ended <= cloud_.now && cloud_.now < one->ended + kLag && cloud_.dice.chance(0.5);
    const bool over = one->ended <= cloud_.now && !late;
    // Some providers still list what ended for a while, and say so.
    const bool listed_over = over && cloud_.now < one->ended + kLag && one->id.back() % 2 == 0;
    if (one->listed > cloud_.now || (over && !listed_over)) continue;
    fleet::Instance instance;
    instance.id = one->id;
    instance.label = one->label;
    instance.host = one->host;
    instance.price = cloud_.price;
    instance.state = listed_over                 ? fleet::InstanceState::kGone
                     : cloud_.now >= one->outbid ? fleet::InstanceState::kStopped
                     : cloud_.now >= one->boots  ? fleet::InstanceState::kRunning
                                                 : fleet::InstanceState::kProvisioning;
    out.push_back(std::move(instance));
  }
  return out;
}

Result<void> CloudProvider::destroy(const fleet::Instance& instance) {
  const Call call = turn_.next();
  if (call == Call::kLost || (!cloud_.calm && cloud_.dice.chance(0.1))) return lost();
  for (const auto& one : cloud_.machines) {
    if (one->id == instance.id) cloud_.end(*one);
  }
  if (call != Call::kGoes) return lost();
  return {};
}

}  // namespace mw::sim
