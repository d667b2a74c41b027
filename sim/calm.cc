#include "sim/calm.h"

#include <algorithm>
#include <cmath>

#include "app/attach.h"
#include "base/numbers.h"
#include "base/text.h"
#include "core/supervise/breaker.h"
#include "platform/clock.h"
#include "platform/fake/fake_disk.h"
#include "sim/doors.h"
#include "sim/run_files.h"

namespace mw::sim {
namespace {

constexpr Time kStart{1'768'464'000'000'000'000};  // 2026-01-15 08:00:00 UTC
constexpr double kHours = 10;

/// Of mean 0 and deviation 1, near enough.
double normal(Prng& dice) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += dice.unit();
  return sum;
}

std::string figure(double value) { return format_double(std::round(value * 1e5) / 1e5); }

/// What a healthy trainer says of a step. The levels, drifts and spreads are those of healthy runs: reward that climbs
/// with noise of a few hundredths, entropy that falls slowly, a KL with rare spikes, gradients with a heavy tail, steps
/// whose times differ by a third, an evaluation or a save of several steps' time now and then.
class CalmTrainer {
 public:
  enum class Dialect { kVerl, kOpenRlhf, kTrl, kUnknown, kCount };

  CalmTrainer(uint64_t seed, FakeDisk& disk)
      : dice_(seed * 6364136223846793005ULL + 11),
        dialect_(static_cast<Dialect>(dice_.below(static_cast<uint64_t>(Dialect::kCount)))),
        console_(disk, "/run/train.log", Prng(dice_.next()), RunFile::Flush::kLines),
        step_s_(20 + 100 * dice_.unit()),
        start_(0.1 + 0.3 * dice_.unit()),
        gain_(0.1 + 0.4 * dice_.unit()),
        noise_(0.01 + 0.03 * dice_.unit()),
        entropy_(0.3 + 0.5 * dice_.unit()) {
    total_ = static_cast<int64_t>(kHours * 3600 / step_s_);
    eval_every_ = 10 + static_cast<int64_t>(dice_.below(40));
    save_every_ = 10 + static_cast<int64_t>(dice_.below(40));
    if (dialect_ == Dialect::kVerl) say(cat("Total training steps: ", total_));
    if (dialect_ == Dialect::kOpenRlhf) say("openrlhf.trainer.ppo_trainer: the training begins");
    if (dialect_ == Dialect::kTrl) say("trl.trainer.grpo_trainer: the training begins");
    if (dialect_ == Dialect::kUnknown) say(cat("starting training: total_steps=", total_));
    left_s_ = 200;  // models are loaded
  }

  void pass(Duration time) {
    double seconds = time.seconds();
    while (!over_ && left_s_ <= seconds) {
      seconds -= left_s_;
      now_ = now_ + Duration::seconds(left_s_);
      one_step();
    }
    now_ = now_ + Duration::seconds(seconds);
    left_s_ -= seconds;
  }
  bool over() const { return over_; }
  int64_t step() const { return step_; }
  bool wrote() {
    const bool any = console_.written();
    console_.forget_news();
    return any;
  }

 private:
  std::string stamp() const { return format_utc(now_).substr(0, 19); }

  void say(std::string_view text) {
    std::string line;
    if (dialect_ == Dialect::kVerl) line = "(TaskRunner pid=3977) ";
    if (dialect_ == Dialect::kOpenRlhf) line = cat("(PPOTrainer pid=5201) ", stamp(), " INFO ppo_trainer.py:101 -- ");
    if (dialect_ == Dialect::kUnknown) line = cat(stamp(), " INFO ");
    console_.line(line.append(text));
  }

  void one_step() {
    ++step_;
    const double done = static_cast<double>(step_) / static_cast<double>(total_);
    const double reward = std::clamp(start_ + gain_ * (1 - std::exp(-3 * done)) + noise_ * normal(dice_), 0.0, 1.0);
    entropy_ *= 1 - 0.3 / static_cast<double>(total_);
    took_s_ = step_s_ * std::exp(0.25 * normal(dice_));
    figures(reward, done);
    small_troubles();
    if (step_ % eval_every_ == 0) evaluate(reward);
    if (step_ % save_every_ == 0) save();
    if (step_ >= total_) finish();
    left_s_ = took_s_;
  }

  void figures(double reward, double done) {
    const double kl = 0.0005 + 0.02 * done * (0.8 + 0.4 * dice_.unit()) + (dice_.chance(0.01) ? 0.02 : 0);
    const double gradient = 0.3 * std::exp(0.35 * normal(dice_)) * (dice_.chance(0.005) ? 4 : 1);
    const double loss = 0.02 * normal(dice_), length = 600 + 250 * done + 40 * normal(dice_);
    const double clipped = std::clamp(0.01 + 0.005 * normal(dice_), 0.0, 1.0);
    const std::string e = figure(entropy_ + 0.01 * normal(dice_));
    switch (dialect_) {
      case Dialect::kVerl:
        return say(cat("step:", step_, " - critic/score/mean:", figure(reward),
                       " - critic/rewards/mean:", figure(reward), " - actor/pg_loss:", figure(loss),
                       " - actor/entropy:", e, " - actor/ppo_kl:", figure(kl), " - actor/pg_clipfrac:", figure(clipped),
                       " - actor/grad_norm:", figure(gradient), " - response_length/mean:", figure(length),
                       " - response_length/clip_ratio:", figure(clipped), " - timing_s/step:", figure(took_s_)));
      case Dialect::kTrl:
        return say(cat("{'loss': ", figure(loss), ", 'grad_norm': ", figure(gradient), ", 'reward': ", figure(reward),
                       ", 'reward_std': ", figure(0.2 + 0.02 * normal(dice_)), ", 'entropy': ", e, ", 'kl': ",
                       figure(kl), ", 'completions/mean_length': ", figure(length), ", 'epoch': ", figure(done), "}"));
      case Dialect::kOpenRlhf:
        return say(cat("✨ Global step ", step_, ": {'policy_loss': ", figure(loss), ", 'reward': ", figure(reward),
                       ", 'entropy_loss': ", e, ", 'ppo_kl': ", figure(kl), ", 'response_length': ", figure(length),
                       ", 'actor_grad_norm': ", figure(gradient), "}"));
      case Dialect::kUnknown:
      case Dialect::kCount:
        return say(cat("step=", step_, " reward=", figure(reward), " loss=", figure(loss), " entropy=", e,
                       " kl=", figure(kl), " grad_norm=", figure(gradient)));
    }
  }

  /// That a request is slow, tried again or answered with rubbish is everyday life.
  void small_troubles() {
    if (dice_.chance(0.08)) say(cat("WARNING: a request took ", 30 + dice_.below(60), " s"));
    if (dice_.chance(0.03)) say("WARNING: tool call timed out after 30 s, retrying (1/3)");
    if (dice_.chance(0.02))
      say("WARNING: failed to parse the answer as JSON: Expecting value: line 1 column 1 (char 0)");
    if (dice_.chance(0.01)) took_s_ += step_s_ * 3 * dice_.unit();  // one prompt was long
  }

  void evaluate(double reward) {
    took_s_ += step_s_ * (2 + 4 * dice_.unit());
    const std::string score = figure(std::clamp(reward + 0.02 * normal(dice_), 0.0, 1.0));
    if (dialect_ == Dialect::kVerl) say(cat("step:", step_, " - val-core/task/acc/mean@1:", score));
    if (dialect_ == Dialect::kTrl) say(cat("{'eval_reward': ", score, ", 'epoch': 0.5}"));
    if (dialect_ == Dialect::kUnknown) say(cat("evaluation step=", step_, " eval_accuracy=", score));
  }

  void save() {
    took_s_ += 30 + 200 * dice_.unit();
    const std::string where = cat("/ckpts/global_step_", step_);
    if (dialect_ == Dialect::kTrl) return say(cat("Saving model checkpoint to /ckpts/checkpoint-", step_));
    say(dialect_ == Dialect::kOpenRlhf ? cat("Checkpoint: global_step", step_, " is ready now!")
                                       : cat("Saving checkpoint to: ", where));
  }

  void finish() {
    if (dialect_ == Dialect::kTrl) say("{'train_runtime': 36000.5, 'train_loss': 0.001, 'epoch': 1.0}");
    say("Training completed");
    console_.flush();
    over_ = true;
  }

  Prng dice_;
  Dialect dialect_;
  RunFile console_;
  Time now_ = kStart;
  double step_s_, start_, gain_, noise_, entropy_, took_s_ = 0, left_s_ = 0;
  int64_t step_ = 0, total_ = 0, eval_every_ = 0, save_every_ = 0;
  bool over_ = false;
};

/// Looks at the state whenever the watch does.
class Inspector final : public Task {
 public:
  std::optional<Duration> turn(const State& state, bool, EventWriter&) override {
    if (const Incident* incident = breaker(state).incident; incident != nullptr) note("the breaker trips: ", *incident);
    for (const Incident& incident : state.incidents) {
      if (incident.severity == Severity::kCritical) note("critical: ", incident);
    }
    return Duration::seconds(60);
  }
  std::vector<std::string> alarms;

 private:
  void note(std::string_view what, const Incident& incident) {
    const std::string text = cat(what, incident.kind, " at step ", incident.onset.step, ": ", incident.summary);
    if (std::find(alarms.begin(), alarms.end(), text) == alarms.end() && alarms.size() < 20) alarms.push_back(text);
  }
};

}  // namespace

CalmVerdict run_calm_seed(uint64_t seed, const KnowledgeBase& knowledge) {
  FakeDisk disk(seed);
  FakeClock clock(kStart);
  SimLocks locks;
  CalmTrainer trainer(seed, disk);
  SimWatch watch([&](Duration longest) {
    clock.pass(longest);
    disk.set_time(clock.now());
    trainer.pass(longest);
    return trainer.wrote() ? Watch::Woke::kChange : Watch::Woke::kTimeout;
  });
  AttachRequest request;
  request.paths = {"/run"};
  request.home = "/watch";
  request.poll_s = 30;
  request.exit_after_idle_s = 7200;
  CalmVerdict verdict;
  auto loop = AttachLoop::open({disk, clock, watch, locks}, knowledge, request);
  if (!loop.ok()) {
    verdict.alarms.push_back(loop.error().what);
    return verdict;
  }
  Inspector inspector;
  (*loop)->accompany(inspector);
  while (!trainer.over() && (*loop)->turn()) {
  }
  for (int i = 0; i < 20; ++i) (void)(*loop)->turn();
  const auto seen = (*loop)->take();
  verdict.alarms = std::move(inspector.alarms);
  for (const Incident& incident : seen->state.incidents) {
    if (incident.severity != Severity::kWarning) continue;
    verdict.warnings.push_back(cat(incident.kind, " at step ", incident.onset.step, ": ", incident.summary));
  }
  verdict.hours = (clock.now() - kStart).seconds() / 3600;
  verdict.steps = trainer.step();
  if (seen->state.attempts.empty() || seen->state.attempts.back().last_step != trainer.step()) {
    verdict.alarms.push_back("the watch did not see all steps");
  }
  return verdict;
}

}  // namespace mw::sim
