#include <doctest/doctest.h>

#include <algorithm>

#include "base/text.h"
#include "core/fleet/control.h"
#include "core/fleet/decide.h"
#include "core/fleet/fleet_spec.h"
#include "core/fleet/heartbeat.h"
#include "core/fleet/verdict.h"

namespace mw::fleet {
namespace {

using Kind = Verdict::Kind;
using What = Move::What;

constexpr std::string_view kSpec = R"(
name = "gsm8k-8b"
store = "/mnt/share/gsm8k"
start = "midwatch onstart --from /mnt/share/gsm8k -- bash train.sh"
environment = ["WANDB_API_KEY"]
[machine]
gpu = "H100"
count = 2
disk = "200GB"
[limits]
price_per_hour = 6
spend = 100
[patience]
silence = "15m"
[[provider]]
kind = "local"
folder = "/srv/midwatch"
)";

const Time kNow = Time::from_seconds(1'700'000'000);
Time ago(double minutes) { return kNow + Duration::seconds(-60 * minutes); }

FleetSpec spec() { return *parse_fleet_spec(kSpec, "run.toml"); }

/// A run whose machine was rented three hours ago and trains.
Control training() {
  Control control;
  control.epoch = 3;
  control.serial = 9;
  control.phase = Control::Phase::kRented;
  Rental rental;
  rental.epoch = 3;
  rental.nonce = "0123456789abcdef";
  rental.provider = "local";
  rental.host = "here";
  rental.instance = "i-1";
  rental.price = 2;
  rental.asked = ago(180);
  rental.began = ago(170);
  control.rentals = {rental};
  return control;
}

Witnesses heard(double minutes, Heartbeat::Phase phase, std::optional<InstanceState> provider) {
  Witnesses seen;
  seen.now = kNow;
  seen.beat.emplace();
  seen.beat->epoch = 3;
  seen.beat->machine = "0123456789abcdef";
  seen.beat->phase = phase;
  seen.beat->step = 40;
  seen.beat_changed = ago(minutes);
  seen.provider = provider;
  return seen;
}

std::string error_of(std::string_view from, std::string_view to) {
  std::string text(kSpec);
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  const auto parsed = parse_fleet_spec(text, "run.toml");
  return parsed.ok() ? "" : parsed.error().what;
}

TEST_CASE("a specification is read, and what is wrong with it is said with its line") {
  const auto read = parse_fleet_spec(kSpec, "run.toml");
  REQUIRE(read.ok());
  CHECK(read->wants.disk == 200'000'000'000);
  CHECK(read->patience.silence == Duration::seconds(900));
  CHECK(read->limits.rents_per_hour == 3);
  CHECK(read->providers.at(0).values.at("folder") == "/srv/midwatch");
  CHECK(error_of("count = 2", "coumt = 2").find("run.toml:8") != std::string::npos);
  CHECK(error_of("spend = 100", "") != "");
  CHECK(error_of("name = \"gsm8k-8b\"", "name = \"GSM 8k\"") != "");
  CHECK(error_of("[\"WANDB_API_KEY\"]", "[\"WANDB_API_KEY=abc\"]") != "");
  CHECK(error_of("count = 2", "count = -2") != "");
  CHECK(error_of("silence = \"15m\"", "silence = \"soon\"") != "");
}

TEST_CASE("a secret in a specification is refused, as it would come into the store") {
  const std::string key = cat("hf_", std::string(34, 'q'));
  CHECK(error_of("bash train.sh", cat("env HF_TOKEN=", key, " bash train.sh")).find("secret in line") !=
        std::string::npos);
  // Names of variables are none, however many stand in a row; a secret that stands among them is one.
  const std::string names = "\"WANDB_API_KEY\", \"AWS_ACCESS_KEY_ID\", 'AWS_SECRET_ACCESS_KEY'";
  CHECK(error_of("[\"WANDB_API_KEY\"]", cat("[", names, "]")) == "");
  CHECK(error_of("[\"WANDB_API_KEY\"]", cat("[", names, ", \"", key, "\"]")).find("secret") != std::string::npos);
}

TEST_CASE("the control of a run survives being written and read, and nonsense is refused") {
  Control control = training();
  control.misses = 2;
  control.missed = ago(30);
  control.why = "it trains";
  const std::string text = control_json(control);
  const auto read = parse_control(text);
  REQUIRE(read.ok());
  CHECK(control_json(*read) == text);
  const auto changed = [&](std::string_view from, std::string_view to) {
    std::string other = text;
    const size_t at = other.find(from);
    REQUIRE(at != std::string::npos);
    other.replace(at, from.size(), to);
    return parse_control(other).ok();
  };
  CHECK_FALSE(changed("\"phase\":\"rented\"", "\"phase\":\"lost\""));
  CHECK_FALSE(changed("\"phase\":\"rented\"", "\"phase\":\"idle\""));  // a machine is there
  CHECK_FALSE(changed("\"price\":2", "\"price\":-2"));
  CHECK_FALSE(changed("0123456789abcdef", "0123"));
}

TEST_CASE("a person launches what rests, and stops what lives: its epoch is over at once") {
  Control control;
  const auto begun = launched(control);
  REQUIRE(begun.has_value());
  CHECK(begun->phase == Control::Phase::kIdle);
  CHECK_FALSE(launched(*begun).has_value());
  CHECK(stopped(*begun)->outcome == "stopped");
  CHECK(stopped(*begun)->phase == Control::Phase::kStopped);
  CHECK_FALSE(stopped(control).has_value());
  const auto ended = stopped(training());
  REQUIRE(ended.has_value());
  CHECK(ended->epoch == 4);
  CHECK(ended->phase == Control::Phase::kEnding);
  CHECK_FALSE(may_train(*ended, 3, "0123456789abcdef"));
  CHECK_FALSE(stopped(*ended).has_value());
  Control again = *ended;
  again.after = "again";
  CHECK(stopped(again)->after == "stopped");
}

TEST_CASE("a label names its run exactly: one that begins alike is another one") {
  const auto label = parse_label(label_text({"x-v4-resilient", "0badcafe", 12, "0123456789abcdef"}));
  REQUIRE(label.has_value());
  CHECK(label->name == "x-v4-resilient");
  CHECK(label->epoch == 12);
  for (const char* wrong : {"x-v4", "midwatch-x", "midwatch-x-0badcafe-012-0123456789abcdef",
                            "midwatch-x-0badcafe-12-0123456789abcdeg", "midwatch--0badcafe-12-0123456789abcdef"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_label(wrong).has_value());
  }
}

TEST_CASE("a machine may train in its own epoch, and in no other") {
  Control control = training();
  CHECK(may_train(control, 3, "0123456789abcdef"));
  CHECK_FALSE(may_train(control, 2, "0123456789abcdef"));
  CHECK_FALSE(may_train(control, 3, "0123456789abcde0"));
  control.phase = Control::Phase::kEnding;
  control.epoch = 4;
  CHECK_FALSE(may_train(control, 3, "0123456789abcdef"));
}

TEST_CASE("silence alone waits; silence and a provider that says gone act at once; a machine that beats is let be") {
  const Patience patience;
  const Control control = training();
  const auto at = [&](double minutes, std::optional<InstanceState> provider) {
    return judge(patience, control, heard(minutes, Heartbeat::Phase::kTraining, provider));
  };
  CHECK(at(1, InstanceState::kRunning).kind == Kind::kHealthy);
  CHECK(at(1, InstanceState::kGone).kind == Kind::kHealthy);
  CHECK(at(1, std::nullopt).kind == Kind::kHealthy);
  CHECK(at(10, InstanceState::kRunning).kind == Kind::kUnknown);
  CHECK_FALSE(at(10, std::nullopt).replace);
  CHECK(at(10, InstanceState::kLost).kind == Kind::kUnknown);  // the provider does not hear it either: no proof
  CHECK(at(10, InstanceState::kGone).replace);
  CHECK(at(10, InstanceState::kStopped).replace);
  // That it is stopped its provider says itself; that it is gone may only mean that a list left it out.
  CHECK(at(2.5, InstanceState::kStopped).replace);
  CHECK(at(2.5, InstanceState::kGone).kind == Kind::kHealthy);
  CHECK(at(1.9, InstanceState::kStopped).kind == Kind::kHealthy);
  CHECK(at(16, InstanceState::kRunning).replace);
  CHECK(at(16, std::nullopt).replace);
  CHECK(at(16, InstanceState::kRunning).kind == Kind::kLost);
}

TEST_CASE("what a machine says of its own end counts at once, and a run that failed rents no other machine") {
  const Patience patience;
  const Control control = training();
  const auto at = [&](Heartbeat::Phase phase) {
    return judge(patience, control, heard(60, phase, InstanceState::kRunning));
  };
  CHECK(at(Heartbeat::Phase::kFinished).kind == Kind::kFinished);
  CHECK_FALSE(at(Heartbeat::Phase::kFinished).replace);
  CHECK(at(Heartbeat::Phase::kFailed).kind == Kind::kFailed);
  CHECK_FALSE(at(Heartbeat::Phase::kFailed).replace);
  CHECK(at(Heartbeat::Phase::kPreempted).replace);
  CHECK(at(Heartbeat::Phase::kUnfit).kind == Kind::kUnfit);
  CHECK(at(Heartbeat::Phase::kUnfit).replace);
  Witnesses ended = heard(60, Heartbeat::Phase::kFinished, InstanceState::kRunning);
  ended.beat->reason = "It ended by itself, with exit status 0.";
  CHECK(judge(patience, control, ended).reasons.front() ==
        "the machine says that the run is finished: It ended by itself, with exit status 0");
  const Verdict stalled = judge(patience, control, heard(1, Heartbeat::Phase::kStalled, InstanceState::kRunning));
  CHECK(stalled.kind == Kind::kStalled);
  CHECK_FALSE(stalled.replace);
}

TEST_CASE("a machine that was just rented has time to begin, and a provider time to list it") {
  const Patience patience;
  Control control = training();
  Rental& rental = control.rentals.back();
  rental.began = {};
  Witnesses seen;
  seen.now = kNow;
  const auto at = [&](double minutes, InstanceState state) {
    rental.asked = ago(minutes);
    seen.provider = state;
    return judge(patience, control, seen);
  };
  CHECK(at(4, InstanceState::kGone).kind == Kind::kStarting);
  CHECK_FALSE(at(4, InstanceState::kGone).replace);
  CHECK(at(6, InstanceState::kGone).replace);
  CHECK(at(29, InstanceState::kProvisioning).kind == Kind::kStarting);
  CHECK(at(31, InstanceState::kProvisioning).kind == Kind::kUnfit);
  rental.asked = ago(31);
  CHECK(judge(patience, control, heard(1, Heartbeat::Phase::kStarting, InstanceState::kRunning)).replace);
  rental.began = ago(20);  // it has trained: a long load after a restart there is no reason
  CHECK_FALSE(judge(patience, control, heard(1, Heartbeat::Phase::kStarting, InstanceState::kRunning)).replace);
}

TEST_CASE("W&B without a step for 141 minutes ends nothing while heartbeats come, and says so") {
  Witnesses seen = heard(0.5, Heartbeat::Phase::kTraining, InstanceState::kRunning);
  seen.wandb = WandbWord{"crashed", 98, Duration::seconds(141 * 60), Duration::seconds(9000)};
  const Verdict verdict = judge({}, training(), seen);
  CHECK(verdict.kind == Kind::kHealthy);
  CHECK_FALSE(verdict.replace);
  CHECK(verdict.reasons.back() == "W&B says crashed, last step 98, logged 2h 21m ago");
  CHECK(decide(spec(), training(), verdict, seen, {}, 0).what == What::kNothing);
  seen.wandb.reset();
  seen.wandb_silent = "no such host";
  CHECK(judge({}, training(), seen).reasons.back() == "W&B was not heard: no such host");
}

TEST_CASE(
    "W&B's \"running\" outweighs neither a provider that says gone nor the silence of a machine that nobody hears") {
  const WandbWord running{"running", 98, Duration::seconds(30), Duration::seconds(20)};
  Witnesses gone = heard(6, Heartbeat::Phase::kTraining, InstanceState::kGone);
  gone.wandb = running;
  CHECK(judge({}, training(), gone).kind == Kind::kLost);
  CHECK(judge({}, training(), gone).replace);
  Witnesses unheard = heard(16, Heartbeat::Phase::kTraining, std::nullopt);
  unheard.wandb = running;
  CHECK(judge({}, training(), unheard).replace);
  // Nor where it has not heard of the run for a while itself.
  Witnesses stale = heard(16, Heartbeat::Phase::kTraining, InstanceState::kRunning);
  stale.wandb = WandbWord{"running", 98, Duration::seconds(30), Duration::seconds(240)};
  CHECK(judge({}, training(), stale).replace);
}

TEST_CASE("a machine whose midwatch died and that trains on, as its provider and W&B say, is not given up by silence") {
  Witnesses seen = heard(16, Heartbeat::Phase::kTraining, InstanceState::kRunning);
  seen.wandb = WandbWord{"running", 98, Duration::seconds(30), Duration::seconds(20)};
  const Verdict verdict = judge({}, training(), seen);
  CHECK(verdict.kind == Kind::kUnknown);
  CHECK_FALSE(verdict.replace);
  const Move move = decide(spec(), training(), verdict, seen, {}, 0);
  CHECK(move.what == What::kWait);
  CHECK(move.person);
}

TEST_CASE("a GPU of another spelling is the one that was asked for, and another one is not") {
  for (const char* name :
       {"H100 SXM", "NVIDIA H100 80GB HBM3 H100 SXM", "H100_80GB", "gpu_1x_h100_sxm5 H100 (80 GB SXM5)"}) {
    CAPTURE(name);
    CHECK(gpu_fits("H100", name));
  }
  CHECK(gpu_fits("", "anything"));
  CHECK(gpu_fits("RTX_4090", "RTX 4090"));
  CHECK_FALSE(gpu_fits("L4", "L40S"));
  CHECK_FALSE(gpu_fits("H100", "A100 SXM4"));
  CHECK_FALSE(gpu_fits("H100 SXM", "H100 PCIE"));
}

TEST_CASE("every verdict names its witnesses") {
  const Verdict verdict =
      judge(Patience(), training(), heard(16, Heartbeat::Phase::kTraining, InstanceState::kRunning));
  std::string all;
  for (const std::string& reason : verdict.reasons) all += reason + "\n";
  CHECK(contains(all, "last heartbeat came 16"));
  CHECK(contains(all, "the provider says running"));
}

Move next(const Control& control, const Witnesses& seen, const Holding& holding, size_t strays = 0) {
  const FleetSpec plan = spec();
  return decide(plan, control, judge(plan.patience, control, seen), seen, holding, strays);
}

TEST_CASE("an intent whose fate is not known is settled by the provider's list, not by another intent") {
  Control control = training();
  control.phase = Control::Phase::kRenting;
  control.rentals.back().instance.clear();
  control.rentals.back().asked = ago(1);
  Witnesses seen;
  seen.now = kNow;
  Holding none;
  none.heard = true;
  Holding there = none;
  there.instance = "i-7";
  there.state = InstanceState::kProvisioning;
  CHECK(next(control, seen, there).what == What::kTake);
  CHECK(next(control, seen, none).what == What::kWait);
  CHECK(next(control, seen, Holding()).what == What::kWait);
  control.rentals.back().asked = ago(6);
  CHECK(next(control, seen, none).what == What::kForget);
  CHECK(next(control, seen, Holding()).what == What::kWait);
}

TEST_CASE("nothing is rented before the old machine is gone, beside a stray one, or without a word of the provider") {
  Control control = training();
  control.phase = Control::Phase::kEnding;
  control.epoch = 4;
  control.after = "again";
  const Witnesses seen = heard(20, Heartbeat::Phase::kTraining, InstanceState::kRunning);
  Holding there;
  there.heard = true;
  there.instance = "i-1";
  there.state = InstanceState::kRunning;
  CHECK(next(control, seen, there).what == What::kDestroy);
  CHECK(next(control, seen, Holding()).what == What::kWait);
  there.state = InstanceState::kGone;
  CHECK(next(control, seen, there).what == What::kForget);
  Holding silent;
  silent.heard = silent.unreachable = true;
  CHECK(next(control, seen, silent).what == What::kForget);
  control.rentals.back().gone = kNow;
  control.phase = Control::Phase::kIdle;
  CHECK(next(control, seen, Holding()).what == What::kRent);
  CHECK(next(control, seen, Holding(), 1).what == What::kWait);
}

TEST_CASE("limits are hard: per hour, in number, in money, before and while a machine is there") {
  FleetSpec plan = spec();
  Control control = training();
  Holding there;
  there.heard = true;
  there.instance = "i-1";
  there.state = InstanceState::kRunning;
  Witnesses seen = heard(1, Heartbeat::Phase::kTraining, InstanceState::kRunning);
  CHECK(cost_of(control, kNow) == doctest::Approx(6));
  plan.limits.spend = 6.6;
  CHECK(decide(plan, control, judge(plan.patience, control, seen), seen, there, 0).what == What::kNothing);
  plan.limits.spend = 6.4;  // a quarter of an hour costs 0.5
  const Move move = decide(plan, control, judge(plan.patience, control, seen), seen, there, 0);
  CHECK(move.what == What::kFence);
  CHECK(move.after == "limit");
  plan.limits.spend = 100;
  control.rentals.back().price = 7;
  CHECK(decide(plan, control, judge(plan.patience, control, seen), seen, there, 0).what == What::kFence);
  control.rentals.back().price = 2;
  control.rentals.back().gone = ago(1);
  control.phase = Control::Phase::kIdle;
  bool person = false;
  CHECK(forbidden(plan, control, kNow, person).empty());
  plan.limits.rents = 1;
  CHECK_FALSE(forbidden(plan, control, kNow, person).empty());
  CHECK(person);
  plan.limits.rents = 20;
  plan.limits.rents_per_hour = 1;
  CHECK(forbidden(plan, control, kNow, person).empty());
  control.rentals.back().asked = ago(59);
  CHECK_FALSE(forbidden(plan, control, kNow, person).empty());
  CHECK_FALSE(person);
  plan.limits.rents_per_hour = 3;
  control.misses = 4;
  control.missed = ago(3);
  CHECK_FALSE(forbidden(plan, control, kNow, person).empty());  // 4 minutes
  CHECK(person);
  control.misses = 3;
  control.missed = kNow;
  CHECK_FALSE(forbidden(plan, control, kNow, person).empty());
  CHECK_FALSE(person);
  control.missed = ago(5);
  CHECK(forbidden(plan, control, kNow, person).empty());
}

TEST_CASE("offers: the cheapest that does, within what is left, of no host that failed twice") {
  const FleetSpec plan = spec();
  Control control;
  const auto offer = [](std::string id, double price, int64_t count, std::string host, double reliability) {
    Offer out;
    out.id = std::move(id);
    out.provider = "local";
    out.host = std::move(host);
    out.price = price;
    out.count = count;
    out.gpu = "H100";
    out.reliability = reliability;
    return out;
  };
  std::vector<std::string> notes;
  const std::vector<Offer> all = {offer("dear", 7, 2, "a", 1), offer("small", 1, 1, "b", 1),
                                  offer("same", 3, 2, "c", 0.9), offer("best", 3, 2, "d", 0.99),
                                  offer("cheap", 2, 2, "e", 0.9)};
  auto good = ranked(plan, control, kNow, all, notes);
  REQUIRE(good.size() == 3);
  CHECK(good[0].id == "cheap");
  CHECK(good[1].id == "best");
  CHECK(notes.empty());
  for (int64_t epoch = 1; epoch <= 2; ++epoch) {
    Rental rental;
    rental.epoch = epoch;
    rental.provider = "local";
    rental.host = "e";
    rental.failed = true;
    rental.asked = rental.gone = ago(100);
    control.rentals.push_back(rental);
  }
  good = ranked(plan, control, kNow, all, notes);
  REQUIRE_FALSE(good.empty());
  CHECK(good[0].id == "best");
  CHECK(ranked(plan, control, kNow, {all[0], all[1]}, notes).empty());
  CHECK_FALSE(notes.empty());
}

TEST_CASE("a finished run is not given back before its last checkpoint is in the store; a failed one is kept a while") {
  const Control control = training();
  Holding there;
  there.heard = true;
  there.instance = "i-1";
  there.state = InstanceState::kRunning;
  Witnesses seen = heard(1, Heartbeat::Phase::kFinished, InstanceState::kRunning);
  seen.beat->saved = 40;
  seen.beat->shipped = 20;
  CHECK(next(control, seen, there).what == What::kWait);
  CHECK(next(control, seen, there).person);
  seen.beat->shipped = 40;
  CHECK(next(control, seen, there).after == "finished");
  seen = heard(29, Heartbeat::Phase::kFailed, InstanceState::kRunning);
  CHECK(next(control, seen, there).what == What::kWait);
  seen = heard(31, Heartbeat::Phase::kFailed, InstanceState::kRunning);
  CHECK(next(control, seen, there).after == "failed");
}

TEST_CASE("a heartbeat survives being written and read, and nonsense is refused") {
  Heartbeat beat;
  beat.epoch = 3;
  beat.machine = "0123456789abcdef";
  beat.phase = Heartbeat::Phase::kPreempted;
  beat.step = 0;
  beat.reason = "a \"reason\"";
  const auto read = parse_heartbeat(heartbeat_json(beat));
  REQUIRE(read.ok());
  CHECK(heartbeat_json(*read) == heartbeat_json(beat));
  CHECK(read->saved == kNoStep);
  CHECK_FALSE(parse_heartbeat("{}").ok());
  beat.every = Duration::seconds(0);
  CHECK_FALSE(parse_heartbeat(heartbeat_json(beat)).ok());
}

}  // namespace
}  // namespace mw::fleet
