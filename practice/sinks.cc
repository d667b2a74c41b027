#include "practice/sinks.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>

#include "base/text.h"
#include "practice/speak_log.h"
#include "read/files/testing/encode.h"

namespace practice {
namespace {

using mw::cat;

/// A file that grows.
class Growing {
 public:
  Growing(const std::string& path, bool anew)
      : file_(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (anew ? O_TRUNC : O_APPEND), 0644)) {}
  ~Growing() {
    if (file_ >= 0) close(file_);
  }
  Growing(const Growing&) = delete;
  Growing& operator=(const Growing&) = delete;
  void add(std::string_view bytes) {
    while (file_ >= 0 && !bytes.empty()) {
      const ssize_t put = write(file_, bytes.data(), bytes.size());
      if (put <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(put));
    }
  }

 private:
  int file_;
};

class Jsonl final : public Sink {
 public:
  explicit Jsonl(const std::string& path) : file_(path, false) {}
  void put(int64_t step, mw::Time at, const Figures& figures) override {
    std::string row = cat("{\"step\": ", step, ", \"timestamp\": ", json_number(at.seconds()));
    for (const auto& [name, value] : figures) row += cat(", \"", name, "\": ", json_number(value));
    file_.add(row + "}\n");
  }

 private:
  Growing file_;
};

class Events final : public Sink {
 public:
  Events(const std::string& path, mw::Time start) : file_(path, true), events_(start.seconds()) {}
  void put(int64_t step, mw::Time at, const Figures& figures) override {
    for (const auto& [name, value] : figures) {
      events_.event(step, at.seconds(), {mw::encode::Tfevents::simple(name, static_cast<float>(value))});
    }
    file_.add(std::string_view(events_.bytes()).substr(written_));
    written_ = events_.bytes().size();
  }

 private:
  Growing file_;
  mw::encode::Tfevents events_;
  size_t written_ = 0;
};

class WandbFile final : public Sink {
 public:
  WandbFile(const std::string& path, mw::Time start) : file_(path, true), start_(start) {
    run_.run("practice", "practice-grpo", {}, start.ns / 1'000'000);
    flush();
  }
  void put(int64_t step, mw::Time at, const Figures& figures) override {
    mw::encode::Values values;
    for (const auto& [name, value] : figures) {
      values.emplace_back(name, std::isfinite(value) ? json_number(value) : cat("\"", json_number(value), "\""));
    }
    run_.history(step, at.seconds(), values);
    flush();
  }
  void finished(mw::Time at) override {
    run_.exit(0, static_cast<int>((at - start_).seconds()));
    flush();
  }

 private:
  void flush() {
    file_.add(std::string_view(run_.bytes()).substr(written_));
    written_ = run_.bytes().size();
  }
  Growing file_;
  mw::Time start_;
  mw::encode::Wandb run_;
  size_t written_ = 0;
};

Sink::Figures skyrl_figures(const StepFigures& f) {
  return {{"reward/avg_raw_reward", f.reward_mean},
          {"loss/avg_final_rewards", f.reward_mean},
          {"policy/final_loss", f.loss},
          {"policy/policy_loss", f.loss},
          {"policy/policy_entropy", f.entropy},
          {"policy/raw_grad_norm", f.grad_norm},
          {"policy/policy_lr", f.lr},
          {"policy/ppo_clip_ratio", f.clip_frac},
          {"policy/rollout_train_logprobs_abs_diff_mean", f.logp_diff},
          {"generate/avg_num_tokens", f.length_mean},
          {"generate/max_num_tokens", f.length_max},
          {"generate/min_num_tokens", f.length_min},
          {"timing/generate", f.s_rollout},
          {"timing/train_critic_and_policy", f.s_train},
          {"timing/sync_weights", f.s_sync},
          {"timing/step", f.s_step}};
}

/// As people add them to OpenRLHF's own; others take these names, too.
Sink::Figures common_figures(const StepFigures& f) {
  return {{"train/policy_loss", f.loss},
          {"train/actor_grad_norm", f.grad_norm},
          {"train/actor_lr", f.lr},
          {"train/advantage_std", f.advantage_std},
          {"train/advantage_max", f.advantage_max},
          {"train/advantage_min", f.advantage_min},
          {"train/entropy_loss", f.entropy},
          {"train/entropy_p10", f.entropy_p10},
          {"train/entropy_p90", f.entropy_p90},
          {"train/reward", f.reward_mean},
          {"train/reward_std", f.reward_std},
          {"train/reward_min", f.reward_min},
          {"train/reward_max", f.reward_max},
          {"train/reward_p90", f.reward_p90},
          {"train/correctness", f.correct_rate},
          {"train/reasoning_quality", f.rubric_rate},
          {"train/high_reward_but_wrong", f.high_but_wrong},
          {"train/ppo_kl", f.kl},
          {"train/ppo_clip_ratio", f.clip_frac},
          {"train/has_answer", f.format_rate},
          {"train/response_length", f.length_mean},
          {"train/truncated", f.cut_rate}};
}

Sink::Figures prime_rl_figures(const StepFigures& f) {
  return {{"reward/all/mean", f.reward_mean},
          {"is_truncated/all/mean", f.cut_rate},
          {"seq_len/all/mean", f.length_mean + 3},
          {"loss/mean", f.loss},
          {"entropy/all/mean", f.entropy},
          {"mismatch_kl/all/mean", f.mismatch_kl},
          {"optim/grad_norm", f.grad_norm},
          {"optim/lr", f.lr},
          {"time/step", f.s_step},
          {"time/wait_for_batch", f.s_rollout},
          {"time/broadcast_weights", f.s_sync}};
}

Sink::Figures verl_figures(const StepFigures& f) {
  return {{"actor/entropy", f.entropy},
          {"actor/pg_loss", f.loss},
          {"actor/ppo_kl", f.kl},
          {"actor/pg_clipfrac", f.clip_frac},
          {"actor/grad_norm", f.grad_norm},
          {"actor/lr", f.lr},
          {"critic/score/mean", f.reward_mean},
          {"critic/rewards/mean", f.reward_mean},
          {"critic/advantages/max", f.advantage_max},
          {"critic/advantages/min", f.advantage_min},
          {"response_length/mean", f.length_mean},
          {"response_length/clip_ratio", f.cut_rate},
          {"timing_s/gen", f.s_rollout},
          {"timing_s/update_actor", f.s_train},
          {"timing_s/step", f.s_step}};
}

}  // namespace

Sink::Figures dashboard_figures(std::string_view speak, const StepFigures& f) {
  return speak == "skyrl"      ? skyrl_figures(f)
         : speak == "prime-rl" ? prime_rl_figures(f)
         : speak == "verl"     ? verl_figures(f)
                               : common_figures(f);
}

Sink::Figures dashboard_figures(std::string_view speak, const Evaluation& e) {
  if (speak == "skyrl") return {{"eval/all/avg_score", e.pass1}, {"eval/all/pass_at_8", e.pass8}};
  if (speak == "prime-rl") return {{"eval/practice/all/reward/mean", e.pass1}, {"eval/practice/all/pass@8", e.pass8}};
  if (speak == "verl")
    return {{"val-core/practice/acc/mean@1", e.pass1}, {"val-core/practice/acc/best@8/mean", e.pass8}};
  return {{"eval/eval_pass1", e.pass1}, {"eval/eval_pass8", e.pass8}};
}

bool open_sinks(std::string_view kinds, const std::string& folder, mw::Time start,
                std::vector<std::unique_ptr<Sink>>& sinks) {
  mkdir(folder.c_str(), 0755);
  std::string stamp;  // "20260115_080000"
  for (const char c : mw::format_utc(start).substr(0, 19))
    stamp += c == 'T' ? "_" : c == '-' || c == ':' ? "" : std::string(1, c);
  for (const std::string_view kind : mw::split(kinds, ',')) {
    if (kind == "jsonl") {
      sinks.push_back(std::make_unique<Jsonl>(folder + "/training_metrics.jsonl"));
    } else if (kind == "tfevents") {
      mkdir((folder + "/tensorboard").c_str(), 0755);
      sinks.push_back(std::make_unique<Events>(
          cat(folder, "/tensorboard/events.out.tfevents.", start.ns / 1'000'000'000, ".practice"), start));
    } else if (kind == "wandb") {
      const std::string run = cat(folder, "/wandb/run-", stamp, "-practice");
      mkdir((folder + "/wandb").c_str(), 0755);
      mkdir(run.c_str(), 0755);
      sinks.push_back(std::make_unique<WandbFile>(run + "/run-practice.wandb", start));
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace practice
