#include "sim/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/numbers.h"
#include "base/text.h"

namespace mw::sim {
namespace {

constexpr int64_t kClearRewind = 7;  // steps after a checkpoint: fewer cannot be distinguished from disorder
constexpr size_t kConsole = 0, kMetrics = 1, kEngine = 2;

std::string number(double value) { return std::isfinite(value) ? format_double(std::round(value * 1e4) / 1e4) : "nan"; }

/// "2026-01-15 08:00:00,123".
std::string local(Time at) {
  std::string text = format_utc(at);
  text.pop_back();
  if (text.size() == 19) text += ".000";
  text[10] = ' ';
  text[19] = ',';
  return text.substr(0, 23);
}

RunFile::Flush manner(Prng& prng) {
  return static_cast<RunFile::Flush>(prng.below(static_cast<uint64_t>(RunFile::Flush::kCount)));
}

}  // namespace

Trainer::Trainer(uint64_t seed, FakeDisk& disk, Time start)
    : prng_(seed ^ 0x7a11e7ULL),
      scenario_(static_cast<Scenario>(prng_.below(static_cast<uint64_t>(Scenario::kCount)))),
      dialect_(static_cast<Dialect>(prng_.below(static_cast<uint64_t>(Dialect::kCount)))),
      now_(start),
      step_time_(Duration::seconds(20 + prng_.unit() * 60)),
      until_step_(step_time_) {
  total_ = 24 + static_cast<int64_t>(prng_.below(30));
  trouble_at_ = 8 + static_cast<int64_t>(prng_.below(static_cast<uint64_t>(total_ - 10)));
  checkpoint_every_ = 9 + static_cast<int64_t>(prng_.below(5));
  has_metrics_ = prng_.chance(0.6);
  rotates_ = prng_.chance(0.25);
  copies_ = !rotates_ && prng_.chance(0.2);
  overwrites_ = !rotates_ && !copies_ && prng_.chance(0.3);
  for (const char* name : {"/run/train.log", "/run/metrics.jsonl", "/run/engine.log"}) {
    files_.emplace_back(disk, name, Prng(prng_.next()), manner(prng_));
  }
  begin();
}

std::string_view Trainer::dialect() const {
  switch (dialect_) {
    case Dialect::kVerl:
      return "verl";
    case Dialect::kTrl:
      return "trl";
    case Dialect::kOpenRlhf:
      return "openrlhf";
    case Dialect::kUnknown:
    case Dialect::kCount:
      break;
  }
  return "custom";
}

bool Trainer::rewrote() const {
  return std::any_of(files_.begin(), files_.end(), [](const RunFile& file) { return file.rewritten(); });
}

std::string Trainer::stamp() const { return local(now_); }

void Trainer::say(std::string_view text) {
  std::string line;
  if (dialect_ == Dialect::kVerl) line = "(TaskRunner pid=3977) ";
  if (dialect_ == Dialect::kOpenRlhf) line = cat("(PPOTrainer pid=5201) ", stamp(), " INFO ppo_trainer.py:101 -- ");
  if (dialect_ == Dialect::kUnknown) line = cat(stamp(), " INFO ");
  files_[kConsole].line(line.append(text));
}

void Trainer::engine(std::string_view text) {
  files_[kEngine].line(cat("INFO ", stamp().substr(5, 14), " [loggers.py:118] ", text));
}

void Trainer::begin() {
  ++starts_;
  if (dialect_ == Dialect::kVerl) say(cat("Total training steps: ", total_));
  if (dialect_ == Dialect::kOpenRlhf) say("openrlhf.trainer.ppo_trainer: the training begins");
  if (dialect_ == Dialect::kUnknown) say(cat("starting training: total_steps=", total_));
  if (dialect_ == Dialect::kTrl) say("trl.trainer.grpo_trainer: the training begins");
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

void Trainer::say_figures(double reward, double loss, double kl) {
  const std::string r = number(reward), l = number(loss), k = number(kl), e = number(entropy_);
  switch (dialect_) {
    case Dialect::kVerl:
      return say(cat("step:", step_, " - critic/score/mean:", r, " - actor/pg_loss:", l, " - actor/entropy:", e,
                     " - actor/ppo_kl:", k, " - timing_s/step:", number(step_time_.seconds())));
    case Dialect::kTrl:
      say(cat("{'loss': ", l, ", 'reward': ", r, ", 'entropy': ", e, ", 'kl': ", k,
              ", 'epoch': ", number(static_cast<double>(step_) / static_cast<double>(total_)), "}"));
      return say(cat("\r", 100 * step_ / total_, "%|##        | ", step_, "/", total_, " [00:10<00:20,  1.00s/it]"));
    case Dialect::kOpenRlhf:
      return say(cat("✨ Global step ", step_, ": {'policy_loss': ", l, ", 'reward': ", r, ", 'entropy_loss': ", e,
                     ", 'ppo_kl': ", k, "}"));
    case Dialect::kUnknown:
    case Dialect::kCount:
      return say(cat("step=", step_, " reward=", r, " loss=", l, " entropy=", e, " kl=", k));
  }
}

void Trainer::say_row(double reward, double loss, double kl) {
  const bool verl = dialect_ == Dialect::kVerl;
  std::string row = verl ? cat("{\"step\": ", step_, ", \"data\": {\"critic/score/mean\": ")
                         : cat("{\"step\": ", step_, ", \"reward\": ");
  row +=
      cat(number(reward), verl ? ", \"actor/pg_loss\": " : ", \"loss\": ", std::isfinite(loss) ? number(loss) : "NaN");
  row += cat(verl ? ", \"actor/entropy\": " : ", \"entropy\": ", number(entropy_));
  files_[kMetrics].line(cat(row, verl ? ", \"actor/ppo_kl\": " : ", \"kl\": ", number(kl), verl ? "}}" : "}"));
}

void Trainer::measure(double reward) {
  double loss = 0.1 + 0.02 * (prng_.unit() - 0.5);
  if (scenario_ == Scenario::kNotANumber && troubled_) loss = std::numeric_limits<double>::quiet_NaN();
  entropy_ *= scenario_ == Scenario::kEntropyFalls && troubled_ ? 0.6 : 0.995;
  const double kl = 0.001 * static_cast<double>(step_) + 0.001 * prng_.unit();
  say_figures(reward, loss, kl);
  if (has_metrics_) say_row(reward, loss, kl);
}

void Trainer::say_saved() {
  const std::string where = cat("/ckpts/global_step_", step_);
  if (dialect_ == Dialect::kTrl) return say(cat("Saving model checkpoint to /ckpts/checkpoint-", step_));
  say(dialect_ == Dialect::kOpenRlhf ? cat("Checkpoint: global_step", step_, " is ready now!")
                                     : cat("Saving checkpoint to: ", where));
}

/// What cron does to logs meanwhile.
void Trainer::keep_house() {
  if (!prng_.chance(0.1)) return;
  RunFile& file = files_[prng_.chance(0.7) ? kConsole : kEngine];
  if (rotates_) file.rotate();
  if (copies_) file.copy_and_truncate();
}

void Trainer::one_step() {
  ++step_;
  const bool clear = scenario_ != Scenario::kRestarts || step_ - last_checkpoint_ > kClearRewind;
  if (step_ >= trouble_at_ && clear && !troubled_) {
    trouble();
    if (done_) return;
  }
  const double learnt = 0.1 + 0.5 * static_cast<double>(step_) / static_cast<double>(total_);
  measure(engine_dead_ ? 0 : learnt + 0.05 * (prng_.unit() - 0.5));
  if (!engine_dead_ && prng_.chance(0.3)) {
    engine(cat("Engine 000: Avg prompt throughput: ", 100 + prng_.below(50), ".0 tokens/s, Avg generation throughput: ",
               900 + prng_.below(300), ".5 tokens/s, Running: ", prng_.below(64),
               " reqs, Waiting: 0 reqs, GPU KV cache usage: 37.5%, Prefix cache hit rate: 12.0%"));
  }
  if (prng_.chance(0.1)) say(cat("WARNING: a request took ", 30 + prng_.below(60), " s"));
  if (step_ % checkpoint_every_ == 0) {
    say_saved();
    last_checkpoint_ = step_;
  }
  keep_house();
  if (step_ < total_) return;
  if (dialect_ == Dialect::kTrl) say("{'train_runtime': 4000.5, 'train_loss': 0.001, 'epoch': 1.0}");
  say("Training completed");
  for (RunFile& file : files_) file.flush();
  done_ = true;
}

void Trainer::crash() {
  say("Traceback (most recent call last):");
  say("  File \"/app/train.py\", line 310, in fit");
  say("    torch.save(state, path)");
  say("OSError: [Errno 28] No space left on device: '/ckpts/tmp'");
  for (RunFile& file : files_) file.flush();
}

void Trainer::restart(int64_t from) {
  now_ = now_ + Duration::seconds(300 + static_cast<double>(prng_.below(600)));
  if (overwrites_) {
    const bool fresh = prng_.chance(0.5);
    for (RunFile& file : files_) file.begin_anew(fresh);
  }
  begin();
  if (from > 0) say(cat("Resuming from checkpoint: /ckpts/global_step_", from));
  step_ = from + 1;
}

void Trainer::trouble() {
  troubled_ = true;
  switch (scenario_) {
    case Scenario::kEngineDies:
      files_[kEngine].line(
          cat("ERROR ", stamp().substr(5, 14), " [core.py:398] EngineCore encountered a fatal error."));
      engine_dead_ = true;
      break;
    case Scenario::kCrashes:
      crash();
      done_ = true;
      break;
    case Scenario::kRestarts:
    case Scenario::kStartsOver:
      crash();
      restart(scenario_ == Scenario::kRestarts ? last_checkpoint_ : 0);
      break;
    case Scenario::kDiesSilently:  // killed: what its buffers hold is lost
      for (RunFile& file : files_) file.lose();
      done_ = true;
      break;
    case Scenario::kStalls:
      done_ = true;
      break;
    default:
      break;
  }
}

}  // namespace mw::sim
