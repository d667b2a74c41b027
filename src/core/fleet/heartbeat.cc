#include "core/fleet/heartbeat.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/text.h"

namespace mw::fleet {
namespace {

using Phase = Heartbeat::Phase;
constexpr std::array<std::string_view, 11> kPhases = {"starting", "training",  "stalled", "failed",
                                                      "finished", "preempted", "unfit",   "fenced",
                                                      "stopped",  "receiving", "waiting"};
constexpr size_t kText = 500;                      // bytes
constexpr double kLongestReceiving = 30 * 86'400;  // seconds that are believed
constexpr double kLongestNotice = 30 * 86'400;     // the same

}  // namespace

std::string_view word_of(Phase phase) { return kPhases.at(static_cast<size_t>(phase)); }

std::string heartbeat_json(const Heartbeat& beat) {
  std::string body;
  {
    JsonWriter json(body);
    const auto step = [&](std::string_view key, int64_t value) {
      if (value != kNoStep) json.key(key).integer(value);
    };
    json.begin_object().key("epoch").integer(beat.epoch).key("machine").string(beat.machine);
    json.key("instance").string(beat.instance).key("boot").string(beat.boot).key("host").string(beat.host);
    json.key("attempt").integer(beat.attempt).key("phase").string(word_of(beat.phase));
    json.key("run").string(beat.run);
    step("step", beat.step);
    step("from", beat.from);
    step("saved", beat.saved);
    step("shipped", beat.shipped);
    if (beat.total > 0) json.key("received").integer(beat.received).key("total").integer(beat.total);
    if (beat.receiving.ns > 0) json.key("receiving_s").number(beat.receiving.seconds());
    json.key("health").string(beat.health).key("reason").string(beat.reason);
    if (beat.leaves) json.key("leaves_s").number(beat.leaves->seconds());
    if (!beat.wandb.empty()) json.key("wandb").string(beat.wandb);
    json.key("every_s").number(beat.every.seconds()).key("at").string(format_utc(beat.at)).end_object();
  }
  return body;
}

Result<Heartbeat> parse_heartbeat(std::string_view text) {
  const auto json = Json::parse(text);
  if (!json.ok()) return json.error();
  const auto word = [&](std::string_view key) { return clip(json->string_or(key, ""), kText); };
  Heartbeat out;
  out.epoch = json->integer_or("epoch", -1);
  out.machine = word("machine");
  const auto* const phase = std::find(kPhases.begin(), kPhases.end(), word("phase"));
  const double every = json->number_or("every_s", 60);
  if (out.epoch < 0 || out.machine.empty() || phase == kPhases.end() || !(every > 0 && every <= 86'400)) {
    return Error{Error::Code::kInvalid, "a heartbeat has no epoch, machine or phase", ""};
  }
  out.phase = static_cast<Phase>(phase - kPhases.begin());
  out.every = Duration::seconds(every);
  out.instance = word("instance");
  out.boot = word("boot");
  out.host = word("host");
  out.attempt = json->integer_or("attempt", 0);
  out.run = word("run");
  out.from = json->integer_or("from", kNoStep);
  out.received = std::max<int64_t>(0, json->integer_or("received", 0));
  out.total = std::max<int64_t>(0, json->integer_or("total", 0));
  const double receiving = json->number_or("receiving_s", 0);
  out.receiving = Duration::seconds(receiving > 0 ? std::min(receiving, kLongestReceiving) : 0);
  const double leaves = json->number_or("leaves_s", -1);
  if (leaves >= 0 && leaves <= kLongestNotice) out.leaves = Duration::seconds(leaves);
  out.step = json->integer_or("step", kNoStep);
  out.saved = json->integer_or("saved", kNoStep);
  out.shipped = json->integer_or("shipped", kNoStep);
  out.health = word("health");
  out.reason = word("reason");
  out.wandb = word("wandb");
  out.at = parse_time(word("at")).value_or(Time{});
  return out;
}

}  // namespace mw::fleet
