#include "sim/trainer.h"

#include <cmath>
#include <limits>

#include "base/text.h"

namespace mw::sim {
namespace {

constexpr int64_t kClearRewind = 7;
constexpr uint32_t kConsole = 0, kMetrics = 1, kEngine = 2;

double rounded(double value) { return std::round(value * 1000) / 1000; }

}  // namespace

Event World::opened(uint32_t source) const {
  return {{}, {source, 0}, event::SourceOpened{source, files[source].path, files[source].kind, 0}};
}

Event World::ended(uint32_t source) const {
  const auto lines = static_cast<int64_t>(files[source].lines.size());
  return {{}, {source, static_cast<uint64_t>(lines)}, event::SourceEnded{lines * 100, lines, false, "the last line"}};
}

std::vector<Event> World::as_replay() const {
  std::vector<Event> all;
  for (uint32_t source = 0; source < files.size(); ++source) {
    all.push_back(opened(source));
    all.insert(all.end(), files[source].lines.begin(), files[source].lines.end());
    all.push_back(ended(source));
  }
  all.push_back({{}, {}, event::Closed{true}});
  return all;
}

Knowledge sim_knowledge() {
  Knowledge knowledge;
  const auto add = [&](const char* id, const char* kind, Role role, bool fatal) {
    Signature signature;
    signature.id = id;
    signature.layer = "vllm";
    signature.frameworks = {"any"};
    signature.role = role;
    signature.kind = kind;
    signature.severity = Severity::kCritical;
    signature.symptom = "the simulated one";
    signature.fatal = fatal;
    knowledge.by_id[id] = knowledge.signatures.size();
    knowledge.signatures.push_back(std::move(signature));
  };
  add("sim-engine-died", "engine-dead", Role::kRoot, false);
  add("sim-disk-full", "disk-full", Role::kRoot, true);
  add("sim-actor-died", "worker-lost", Role::kCascade, true);
  add("sim-noise", "network", Role::kBenign, false);
  return knowledge;
}

Trainer::Trainer(uint64_t seed, World& world, Time start)
    : prng_(seed ^ 0x7a11e7ULL),
      world_(world),
      story_(static_cast<Story>(prng_.below(static_cast<uint64_t>(Story::kCount)))),
      now_(start),
      step_time_(Duration::seconds(20 + prng_.unit() * 60)),
      until_step_(step_time_) {
  total_ = 24 + static_cast<int64_t>(prng_.below(30));
  trouble_at_ = 8 + static_cast<int64_t>(prng_.below(static_cast<uint64_t>(total_ - 10)));
  checkpoint_every_ = 9 + static_cast<int64_t>(prng_.below(5));
  has_metrics_ = prng_.chance(0.7);
  metrics_timed_ = prng_.chance(0.6);
  console_timed_ = prng_.chance(0.8);
  banner_ = prng_.chance(0.7);
  world_.files.push_back({"run/train.log", "text", {}});
  world_.files.push_back({"run/metrics.jsonl", "jsonl", {}});
  world_.files.push_back({"run/engine.log", "text", {}});
  console(event::Recognised{"simtrainer", "1.0", 0.9});
  if (banner_) console(event::AttemptBegan{"launch"});
  console(event::Configured{"algorithm", "grpo"});
  console(event::Planned{total_});
}

void Trainer::put(uint32_t source, decltype(Event::body) body, bool timed) {
  auto& lines = world_.files[source].lines;
  lines.push_back({timed ? now_ : Time{}, {source, lines.size() + 1}, std::move(body)});
}
void Trainer::console(decltype(Event::body) body) { put(kConsole, std::move(body), console_timed_); }
void Trainer::metrics(decltype(Event::body) body) {
  if (has_metrics_) put(kMetrics, std::move(body), metrics_timed_);
}

void Trainer::pass(Duration time) {
  while (!done_ && until_step_ <= time) {
    time.ns -= until_step_.ns;
    now_ = now_ + until_step_;
    until_step_ = Duration{step_time_.ns + static_cast<int64_t>(prng_.below(2'000'000'000))};
    one_step();
  }
  if (done_) return;
  now_ = now_ + time;
  until_step_.ns -= time.ns;
}

void Trainer::measure(double reward) {
  const double noise = 0.02 * (prng_.unit() - 0.5);
  double loss = 0.1 + noise;
  if (story_ == Story::kNotANumber && troubled_) loss = std::numeric_limits<double>::quiet_NaN();
  entropy_ *= story_ == Story::kEntropyFalls && troubled_ ? 0.6 : 0.995;
  const double kl = 0.001 * static_cast<double>(step_) + 0.001 * prng_.unit();
  event::Measured record{step_, false, {}};
  record.readings = {{"reward.mean", "reward", reward},
                     {"loss", "loss", loss},
                     {"entropy", "entropy", entropy_},
                     {"kl", "kl", kl},
                     {"", "queue", static_cast<double>(prng_.below(100))}};
  metrics(record);
  for (Reading& reading : record.readings) reading.value = rounded(reading.value);
  record.readings.pop_back();
  console(std::move(record));
}

void Trainer::one_step() {
  ++step_;
  // A restart close after a checkpoint cannot be told from disorder in files without clock and banner.
  const bool clear = story_ != Story::kRestarts || step_ - last_checkpoint_ > kClearRewind;
  if (step_ >= trouble_at_ && clear && !troubled_) {
    trouble();
    if (done_) return;
  }
  console(event::StepBegan{step_});
  console(event::PhaseEnded{"rollout", step_time_.seconds() * 0.7, step_});
  const double learnt = 0.1 + 0.5 * static_cast<double>(step_) / static_cast<double>(total_);
  measure(engine_dead_ ? 0 : learnt + 0.05 * (prng_.unit() - 0.5));
  if (prng_.chance(0.3)) put(kEngine, event::Matched{"sim-noise", "a harmless warning", 1, false}, true);
  if (prng_.chance(0.2)) console(event::ToolCalled{"search", prng_.unit(), event::ToolCalled::Outcome::kOk, ""});
  if (prng_.chance(0.1)) {
    console(event::Logged{event::Logged::Level::kWarning, static_cast<uint32_t>(prng_.below(5)), "took <*> s", 1});
  }
  if (step_ % checkpoint_every_ == 0) {
    console(event::CheckpointSaved{step_, cat("ckpt/", step_), true});
    last_checkpoint_ = step_;
  }
  if (step_ % 10 == 0) metrics(event::Measured{step_, true, {{"eval.reward", "val/reward", learnt}}});
  if (step_ < total_) return;
  console(event::Ended{event::Ended::How::kComplete, 0, "training complete"});
  done_ = true;
}

void Trainer::restart(int64_t from) {
  now_ = now_ + Duration::seconds(300 + static_cast<double>(prng_.below(600)));
  console(event::AttemptBegan{"launch"});
  if (from > 0) console(event::Resumed{from, cat("ckpt/", from)});
  console(event::Planned{total_});
  step_ = from + 1;
}

void Trainer::trouble() {
  troubled_ = true;
  switch (story_) {
    case Story::kEngineDies:
      put(kEngine, event::Matched{"sim-engine-died", "engine core died", 1, false}, true);
      engine_dead_ = true;
      break;
    case Story::kCrashes:
    case Story::kRestarts:
    case Story::kStartsOver:
      console(event::Matched{"sim-disk-full", "No space left on device", 1, false});
      console(event::TraceSeen{"OSError", "No space left on device", "trainer.py:10 in save",
                               world_.files[kConsole].lines.size() + 9, false, false});
      console(event::Matched{"sim-actor-died", "the actor died", 1, false});
      if (story_ == Story::kCrashes) {
        console(event::Ended{event::Ended::How::kFailed, 1, "exit status 1"});
        done_ = true;
      } else {
        restart(story_ == Story::kRestarts ? last_checkpoint_ : 0);
      }
      break;
    case Story::kDiesSilently:
    case Story::kStalls:
      done_ = true;
      break;
    default:
      break;
  }
}

}  // namespace mw::sim
