// prime-rl: a step line of the orchestrator and one of the trainer, a clock without a date, metrics.jsonl in which what
// is not finite is missing.
#include <fcntl.h>
#include <sys/stat.h>

#include <cinttypes>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "practice/speak_log.h"

namespace practice {
namespace {

constexpr int kEmptyBatches = 10;  // in a row; then it gives up

class PrimeRl final : public Speaker {
 public:
  PrimeRl(const std::string& folder, Clock& clock)
      : folder_(folder), log_(folder, "train.log"), rows_(folder, "metrics.jsonl"), clock_(clock) {}
  ~PrimeRl() override {
    // Its lines carry no date: readers take it from the file, which must then be as old as it says.
    const int64_t now = clock_.now().ns;
    const timespec at{now / 1'000'000'000, now % 1'000'000'000}, times[2] = {at, at};
    if (!folder_.empty()) utimensat(AT_FDCWD, (folder_ + "/train.log").c_str(), times, 0);
  }
  PrimeRl(const PrimeRl&) = delete;
  PrimeRl& operator=(const PrimeRl&) = delete;

  void begin(int64_t total, int groups, int group_size) override {
    samples_ = groups * group_size;
    say("INFO", "Starting orchestrator (algorithm: grpo)");
    say("INFO", mw::cat("Starting training loop (max_steps=", total, ")"));
  }
  void generating(int64_t) override {
    if (!address.empty() && !stated_ready_) say("INFO", "Policy inference pool ready");
    stated_ready_ = true;
  }
  void step(const StepFigures& f) override {
    char text[512];
    std::snprintf(text, sizeof text,
                  "Step %" PRId64
                  " | %6.1fs | Reward %.4f | Trainable %d/%d (%.1f%%) | Turns 1.0 | Branches 1.0 | Max "
                  "Off-Policy 0 | Error %.1f%% | Cancelled 0.0%% | Truncation %.1f%%",
                  f.step, f.s_step, f.reward_mean, static_cast<int>((1 - f.zero_std_groups) * samples_), samples_,
                  100 * (1 - f.zero_std_groups), errors_, 100 * f.cut_rate);
    say("SUCCESS", text);
    std::snprintf(text, sizeof text,
                  "Step %" PRId64
                  " | %6.1fs | Loss %.4f | Entropy %.4f | Mismatch KL %.4f | Grad. Norm %.4f | LR %.2e | "
                  "Throughput %.0f tokens/s | MFU 31.2%% | Peak Mem. 61.3 GiB",
                  f.step, f.s_step, f.loss, f.entropy, f.mismatch_kl, f.grad_norm, f.lr, f.tokens / f.s_step);
    say("SUCCESS", text);
    row(f.step, {{"reward/all/mean", f.reward_mean},
                 {"is_truncated/all/mean", f.cut_rate},
                 {"seq_len/all/mean", f.length_mean + 3}});
    row(f.step, {{"loss/mean", f.loss},
                 {"entropy/all/mean", f.entropy},
                 {"mismatch_kl/all/mean", f.mismatch_kl},
                 {"optim/grad_norm", f.grad_norm},
                 {"optim/lr", f.lr},
                 {"time/step", f.s_step},
                 {"time/wait_for_batch", f.s_rollout},
                 {"time/broadcast_weights", f.s_sync}});
    errors_ = 0;
  }
  void evaluated(int64_t step, const Evaluation& e) override {
    char text[200];
    std::snprintf(text, sizeof text,
                  "Evaluated practice (Step %" PRId64 ") | Policy v%" PRId64
                  " |    2.1s | Reward %.4f | Turns 1.0 | Branches 1.0 | Error 0.0%% | Truncation 0.0%%",
                  step, step, e.pass1);
    say("SUCCESS", text);
    row(step, {{"eval/practice/all/reward/mean", e.pass1}, {"eval/practice/all/pass@8", e.pass8}});
  }
  void resumed(int64_t step, const std::string&) override {
    say("INFO", mw::cat("Resuming training from checkpoint step ", step));
  }
  void saved(int64_t step, const std::string&) override { say("INFO", mw::cat("Saving checkpoint at step ", step)); }
  /// Failed rollouts are left out, never scored; after so many empty batches it gives up.
  bool engine_died(int64_t step) override {
    for (int batch = 1; batch <= kEmptyBatches; ++batch) {
      say("WARNING",
          mw::cat("Episode task failed in group ", batch, " (practice): APIConnectionError('Connection error.')"));
      say("WARNING", mw::cat("Step ", step, ": empty train batch after ", samples_,
                             " finalized episodes (consecutive empty "
                             "batches: ",
                             batch, "/", kEmptyBatches, ")"));
    }
    raised(step, {"  File \"/workspace/prime-rl/src/prime_rl/orchestrator/orchestrator.py\", line 611, in run",
                  "RuntimeError: 10 consecutive empty train batches — check algorithm credit and task difficulty."});
    return false;
  }
  void requests_failed(int64_t) override {
    say("WARNING", "Episode task failed in group 1 (practice): APIConnectionError('Connection error.')");
    errors_ = 100;
  }
  void raised(int64_t, const std::vector<std::string>& traceback) override {
    say("ERROR", "Fatal error in train");
    log_.line("Traceback (most recent call last):");
    for (const std::string& line : traceback) log_.line("%s", line.c_str());
  }
  void note(const std::string& text) override { say("INFO", text); }
  void waiting_for_engine(double seconds) override {
    say("WARNING", mw::cat("Inference server was not reached after ", static_cast<int>(seconds),
                           " seconds (Error: All connection attempts failed) on http://", address, "/health"));
  }
  void finished() override {
    say("SUCCESS", "RL trainer finished!");
    say("SUCCESS", "Orchestrator finished.");
  }

 private:
  void say(const char* level, const std::string& text) {
    log_.line("%s %7s %s", iso(clock_, ' ', '.').substr(11, 8).c_str(), level, text.c_str());
  }
  void row(int64_t step, const std::vector<std::pair<const char*, double>>& cells) {
    std::string text = mw::cat("{\"step\": ", step, ", \"time\": ", json_number(clock_.now().seconds()));
    std::string missing;
    for (const auto& [name, value] : cells) {
      if (std::isfinite(value)) {
        text += mw::cat(", \"", name, "\": ", json_number(value));
      } else {
        missing += mw::cat(missing.empty() ? "" : ", ", name);
      }
    }
    rows_.line("%s}", text.c_str());
    if (!missing.empty()) say("WARNING", mw::cat("Dropping non-finite value(s) from metrics.jsonl: ", missing));
  }
  std::string folder_;
  LogFile log_, rows_;
  Clock& clock_;
  int samples_ = 0;
  double errors_ = 0;  // per cent
  bool stated_ready_ = false;
};

}  // namespace

std::unique_ptr<Speaker> make_prime_rl(const std::string& folder, Clock& clock) {
  return std::make_unique<PrimeRl>(folder, clock);
}

}  // namespace practice
