// SkyRL: loguru lines, phases that begin and end, a dict of figures that names no step.
#include <cinttypes>
#include <vector>

#include "base/numbers.h"
#include "base/text.h"
#include "practice/speak_log.h"

namespace practice {
namespace {

constexpr int kDictDigits = 8;  // of a value, as Python rounds it there

class SkyRl final : public Speaker {
 public:
  SkyRl(const std::string& folder, Clock& clock) : log_(folder, "train.log"), clock_(clock) {}

  void begin(int64_t total, int, int group_size) override {
    samples_ = group_size;
    say("skyrl.train.utils.tracking:setup:31", "trainer.project_name=practice trainer.logger=console");
    say("skyrl.train.trainer:build_models:402", "init policy/ref/critic models done");
    say("skyrl.train.trainer:train:201", mw::cat("Total steps: ", total));
    say("skyrl.train.trainer:init_weight_sync_state:560",
        "Initialized weight sync state for policy model and inference engines.");
  }
  void generating(int64_t) override {
    begin_phase("step");
    begin_phase("generate");
  }
  void step(const StepFigures& f) override {
    end_phase("generate", f.s_rollout);
    say("skyrl.train.trainer:postprocess_generator_output:655",
        mw::cat("reward/avg_pass_at_", samples_, ": ", f.correct_rate > 0 ? 1 - f.zero_std_groups : 0,
                ", reward/avg_raw_reward: ", f.reward_mean, ", reward/mean_positive_reward: ", f.reward_mean));
    phase("fwd_logprobs_values_reward", 0.1 * f.s_train);
    phase("compute_advantages_and_returns", f.s_reward);
    say("skyrl.train.trainer:compute_advantages_and_returns:790",
        mw::cat("avg_final_rewards: ", f.reward_mean, ", avg_response_length: ", f.length_mean));
    phase("train_critic_and_policy", 0.9 * f.s_train);
    const std::vector<std::pair<const char*, double>> cells = {
        {"final_loss", f.loss},        {"policy_loss", f.loss},
        {"policy_entropy", f.entropy}, {"response_length", f.length_mean},
        {"policy_lr", f.lr},           {"loss_metrics/clip_ratio", f.clip_frac},
        {"policy_kl", f.kl},           {"grad_norm", f.grad_norm}};
    for (size_t i = 0; i < cells.size(); ++i) {
      dict_ += mw::cat(i == 0 ? "{'" : ", '", cells[i].first, "': ", mw::format_short(cells[i].second, kDictDigits));
    }
    dict_ += "}";
    s_sync_ = f.s_sync;
    s_step_ = f.s_step;
  }
  void saved(int64_t step, const std::string& path) override {
    const std::string place = path.empty() ? mw::cat("/root/ckpts/global_step_", step) : path;
    begin_phase("save_checkpoints");
    say("skyrl.train.trainer:save_checkpoints:1201", mw::cat("Saved trainer state to ", place, "/trainer_state.pt"));
    say("skyrl.train.trainer:save_checkpoints:1214",
        mw::cat("Successfully saved checkpoint for global_step_", step, " to: ", place));
    end_phase("save_checkpoints", 1.5);
  }
  void step_over(int64_t) override {
    phase("sync_weights", s_sync_);
    say("skyrl.train.trainer:train:330", dict_);
    end_phase("step", s_step_);
    dict_.clear();
  }
  void evaluated(int64_t step, const Evaluation& e) override {
    begin_phase("eval");
    say("skyrl.train.evaluate:evaluate:122", mw::cat("Dumped aggregated eval metrics to /root/exports/global_step_",
                                                     step, "_evals/aggregated_results.jsonl"));
    say("skyrl.train.evaluate:evaluate:130",
        mw::cat("{'eval/all/avg_score': ", mw::format_short(e.pass1, kDictDigits),
                ", 'eval/all/pass_at_8': ", mw::format_short(e.pass8, kDictDigits), "}"));
    end_phase("eval", 2);
  }
  void resumed(int64_t step, const std::string& path) override {
    say("skyrl.train.trainer:load_checkpoints:1302", mw::cat("Loading checkpoint from: ", path));
    say("skyrl.train.trainer:load_checkpoints:1340", mw::cat("Resuming from global_step: ", step));
    say("skyrl.train.trainer:load_checkpoints:1388",
        mw::cat("Successfully loaded complete checkpoint state from global_step_", step));
  }
  /// An agent loop catches what its engine's client raises and goes on with an empty answer.
  bool engine_died(int64_t) override {
    const std::string why = trouble.empty() ? "openai.APIConnectionError: Connection error." : trouble;
    for (int i = 0; i < 3; ++i)
      say_at("WARNING ", "skyrl_agent.agents.base:run:188", mw::cat("Error calling LLM: ", why));
    return true;
  }
  void raised(int64_t step, const std::vector<std::string>& traceback) override {
    const std::string& last = traceback.back();
    say_at("ERROR   ", "skyrl.train.utils.tracking:log_exception:140",
           mw::cat("Training failed at step ", step, " with ", last.substr(0, last.find(':')), ":"));
    log_.line("Traceback (most recent call last):");
    for (const std::string& line : traceback) log_.line("%s", line.c_str());
  }
  void note(const std::string& text) override { say("skyrl_agent.tools.calculator:call:40", text); }
  void waiting_for_engine(double seconds) override {
    say("skyrl.backends.skyrl_train.inference_servers.common:wait:88",
        mw::cat("Waiting for server ", address, " to become healthy (", static_cast<int>(seconds), "s)"));
  }
  void finished() override { say("skyrl.train.trainer:train:370", "Training done!"); }

 private:
  void say_at(const char* level, const char* place, const std::string& text) {
    log_.line("(skyrl_entrypoint pid=3310) %s | %s | %s - %s", iso(clock_, ' ', '.').c_str(), level, place,
              text.c_str());
  }
  void say(const char* place, const std::string& text) { say_at("INFO    ", place, text); }
  void begin_phase(const char* name) { say("skyrl.train.utils.utils:__enter__:51", mw::cat("Started: '", name, "'")); }
  void end_phase(const char* name, double seconds) {
    char cost[32];
    std::snprintf(cost, sizeof cost, "%.2f", seconds);
    say("skyrl.train.utils.utils:__exit__:57", mw::cat("Finished: '", name, "', time cost: ", cost, "s"));
  }
  void phase(const char* name, double seconds) {
    begin_phase(name);
    end_phase(name, seconds);
  }
  LogFile log_;
  Clock& clock_;
  int samples_ = 1;
  double s_sync_ = 0, s_step_ = 0;
  std::string dict_;
};

}  // namespace

std::unique_ptr<Speaker> make_skyrl(const std::string& folder, Clock& clock) {
  return std::make_unique<SkyRl>(folder, clock);
}

}  // namespace practice
