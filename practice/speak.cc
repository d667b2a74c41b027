#include "practice/speak.h"

#include <unistd.h>

#include <cinttypes>
#include <cmath>
#include <cstdarg>

#include "base/numbers.h"
#include "base/text.h"
#include "practice/speak_log.h"

namespace practice {

LogFile::LogFile(const std::string& folder, const std::string& name)
    : file_(!folder.empty()       ? std::fopen((folder + "/" + name).c_str(), "w")
            : name == "train.log" ? fdopen(dup(STDOUT_FILENO), "w")
                                  : nullptr) {}

LogFile::~LogFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void LogFile::line(const char* form, ...) {
  if (file_ == nullptr) return;
  va_list values;
  va_start(values, form);
  std::vfprintf(file_, form, values);
  va_end(values);
  std::fputc('\n', file_);
  std::fflush(file_);
}

std::string iso(const Clock& clock, char joint, char point) {
  std::string text = mw::format_utc(clock.now());
  text.pop_back();
  if (text.size() == 19) text += ".000";
  text[10] = joint;
  text[19] = point;
  return text;
}

std::string json_number(double value) {
  return std::isnan(value)   ? "NaN"
         : std::isinf(value) ? (value > 0 ? "Infinity" : "-Infinity")
                             : mw::format_double(value);
}

namespace {

/// "20260115-08:00:00.123", "01-15 08:00:00".

std::string compact(const Clock& clock) {
  const std::string t = iso(clock, ' ', '.');
  return t.substr(0, 4) + t.substr(5, 2) + t.substr(8, 2) + "-" + t.substr(11);
}
std::string month_day(const Clock& clock) { return iso(clock, ' ', '.').substr(5, 14); }

// ---- AReaL: epoch/step lines and grids of statistics; a dead engine scores zero -------------------------------------

class AReaL final : public Speaker {
 public:
  AReaL(const std::string& folder, Clock& clock) : log_(folder, "train.log"), clock_(clock) {}

  void begin(int64_t total, int, int) override {
    total_ = total;
    info("LocalLauncher",
         "LocalLauncher: experiment_name=practice-grpo, trial_name=trial0, fileroot=/tmp/practice, run_id=0, "
         "is_recover_run=False");
    info("LocalScheduler", "LLM inference server launched at: AREAL_LLM_SERVER_ADDRS=127.0.0.1:30417");
    info("SGLangEngine", "Servers are all ready!");
  }
  void step(const StepFigures& f) override {
    info("StatsLogger", mw::cat("Epoch 1/1 Step ", f.step, "/", total_, " Train step ", f.step, "/", total_, " done."));
    info("StatsLogger", "Stats (1/1):");
    info("StatsLogger", "");
    std::vector<std::pair<const char*, double>> cells = {{"ppo_actor/task_reward/avg", f.reward_mean},
                                                         {"ppo_actor/task_reward/min", f.reward_min},
                                                         {"ppo_actor/task_reward/max", f.reward_max},
                                                         {"ppo_actor/final_reward/avg", f.reward_mean},
                                                         {"ppo_actor/seq_len/avg", f.length_mean},
                                                         {"ppo_actor/seq_len/min", f.length_min},
                                                         {"ppo_actor/seq_len/max", f.length_max},
                                                         {"ppo_actor/no_eos_ratios/avg", f.cut_rate},
                                                         {"ppo_actor/advantages/avg", 0},
                                                         {"ppo_actor/advantages/min", f.advantage_min},
                                                         {"ppo_actor/advantages/max", f.advantage_max},
                                                         {"ppo_actor/update/entropy/avg", f.entropy},
                                                         {"ppo_actor/update/grad_norm", f.grad_norm},
                                                         {"ppo_actor/update/lr", f.lr},
                                                         {"ppo_actor/update/clip_ratio/avg", f.clip_frac},
                                                         {"ppo_actor/update/approx_kl/avg", f.kl},
                                                         {"ppo_actor/update/importance_weight/avg", f.ratio_mean},
                                                         {"ppo_actor/update/actor_loss/avg", f.loss},
                                                         {"ppo_actor/update/update_successful", 1},
                                                         {"timeperf/rollout", f.s_rollout},
                                                         {"timeperf/train_step", f.s_train},
                                                         {"timeperf/update_weights", f.s_sync},
                                                         {"rollout/reward", f.reward_mean},
                                                         {"timeperf/compute_advantage", 0.01}};
    if (f.mismatch_known) {
      cells.insert(cells.end(), {{"ppo_actor/update/behave_approx_kl/avg", f.mismatch_kl},
                                 {"ppo_actor/update/behave_imp_weight/avg", 1 + f.mismatch_kl}});
    }
    log_.line(
        "╒══════════════════════════════════════════╤════════════╤══════════════════════════════════════════╤══════════"
        "══╕");
    for (size_t i = 0; i + 1 < cells.size(); i += 2) {
      log_.line("│ %-40s │ %10.4e │ %-40s │ %10.4e │", cells[i].first, cells[i].second, cells[i + 1].first,
                cells[i + 1].second);
    }
    log_.line(
        "╘══════════════════════════════════════════╧════════════╧══════════════════════════════════════════╧══════════"
        "══╛");
  }
  void evaluated(int64_t, const Evaluation& e) override {
    info("StatsLogger", mw::cat("eval-rollout/reward: ", e.pass1));
  }
  void resumed(int64_t step, const std::string&) override {
    info("Recover", mw::cat("Recovering from StepInfo(epoch=0, epoch_step=", step, ", global_step=", step,
                            ", steps_per_epoch=", total_, ")"));
  }
  void saved(int64_t step, const std::string& path) override {
    const std::string place = path.empty() ? mw::cat("/tmp/practice/checkpoints/globalstep", step) : path;
    info("Saver", mw::cat("Saved recover checkpoint to ", place, "/recover_checkpoint (with_optim=True)"));
  }
  bool engine_died(int64_t) override {
    const std::string at = address.empty() ? "127.0.0.1:30417" : address;
    const std::string why = !trouble.empty() ? trouble
                                             : "ClientConnectorError: Cannot connect to host 127.0.0.1:30417 "
                                               "ssl:default [Connect call failed ('127.0.0.1', 30417)]";
    // A launcher logs the servers that it started itself.
    if (deaths_++ == 0 && address.empty())
      error("LocalLauncher", mw::cat("SGLang server ", at, " exits, returncode=-9"));
    for (int attempt = 1; attempt <= 3; ++attempt) {
      warning("RemoteInfEngine",
              mw::cat("HTTP request to ", at, "/generate failed with ", why, " (attempt ", attempt, "/3)"));
    }
    error("WorkflowExecutor", mw::cat("Workflow execution failed: Failed after 3 retries each. Endpoint: /generate. "
                                      "Last error: ",
                                      why.substr(0, why.find(':')), "()"));
    return true;
  }
  void note(const std::string& text) override { info("Workflow", text); }
  void waiting_for_engine(double seconds) override {
    info("RemoteInfEngine", mw::cat("Waiting for server ready at ", address, " (", static_cast<int>(seconds), "s)..."));
  }
  void raised(int64_t, const std::vector<std::string>& traceback) override {
    log_.line("Traceback (most recent call last):");
    for (const std::string& line : traceback) log_.line("%s", line.c_str());
  }
  void finished() override {
    info("StatsLogger", mw::cat("Training completes! Total time elapsed ", (clock_.now() - start_).seconds(), "."));
  }

 private:
  void say(const char* level, const char* colour, std::string_view name, std::string_view text) {
    const std::string line =
        mw::cat("\x1b[", colour, "m", compact(clock_), " ", name, " ", level, ": ", text, "\x1b[0m");
    log_.line("%s", line.c_str());
  }
  void info(std::string_view name, std::string_view text) { say("INFO", "92", name, text); }
  void warning(std::string_view name, std::string_view text) { say("WARNING", "33", name, text); }
  void error(std::string_view name, std::string_view text) { say("ERROR", "31", name, text); }
  LogFile log_;
  Clock& clock_;
  mw::Time start_ = clock_.now();
  int64_t total_ = 0;
  int deaths_ = 0;
};

// ---- verl: one long line a step behind a Ray prefix; a dead engine ends the run
// --------------------------------------

class Verl final : public Speaker {
 public:
  Verl(const std::string& folder, Clock& clock)
      : log_(folder, "train.log"), rows_(folder, "metrics.jsonl"), clock_(clock) {}

  void begin(int64_t total, int, int) override {
    log_.line("%s,000\tINFO worker.py:1907 -- Started a local Ray instance.",
              iso(clock_, ' ', ',').substr(0, 19).c_str());
    task("Total training steps: " + std::to_string(total));
    log_.line("(WorkerDict pid=4123) INFO %s [__init__.py:38] Available plugins for group vllm.general_plugins:",
              month_day(clock_).c_str());
  }
  void step(const StepFigures& f) override {
    std::vector<std::pair<const char*, double>> cells = {{"actor/entropy", f.entropy},
                                                         {"actor/pg_loss", f.loss},
                                                         {"actor/ppo_kl", f.kl},
                                                         {"actor/pg_clipfrac", f.clip_frac},
                                                         {"actor/grad_norm", f.grad_norm},
                                                         {"actor/lr", f.lr},
                                                         {"critic/score/mean", f.reward_mean},
                                                         {"critic/score/max", f.reward_max},
                                                         {"critic/score/min", f.reward_min},
                                                         {"critic/rewards/mean", f.reward_mean},
                                                         {"critic/advantages/max", f.advantage_max},
                                                         {"critic/advantages/min", f.advantage_min},
                                                         {"response_length/mean", f.length_mean},
                                                         {"response_length/max", f.length_max},
                                                         {"response_length/min", f.length_min},
                                                         {"response_length/clip_ratio", f.cut_rate},
                                                         {"timing_s/gen", f.s_rollout},
                                                         {"timing_s/reward", f.s_reward},
                                                         {"timing_s/update_actor", f.s_train},
                                                         {"timing_s/step", f.s_step},
                                                         {"perf/throughput", f.tokens / f.s_step}};
    if (f.mismatch_known) {
      cells.insert(cells.end(),
                   {{"rollout_corr/kl", f.mismatch_kl}, {"training/rollout_probs_diff_mean", f.logp_diff}});
    }
    std::string text = mw::cat("step:", f.step), row = mw::cat("{\"step\": ", f.step, ", \"data\": {");
    for (size_t i = 0; i < cells.size(); ++i) {
      text += mw::cat(" - ", cells[i].first, ":", mw::format_double(cells[i].second));
      row += mw::cat(i == 0 ? "\"" : ", \"", cells[i].first, "\": ", json_number(cells[i].second));
    }
    task(text);
    rows_.line("%s}}", row.c_str());
  }
  void evaluated(int64_t step, const Evaluation& e) override {
    task(mw::cat("step:", step, " - val-core/practice/acc/mean@1:", mw::format_double(e.pass1)));
  }
  void resumed(int64_t step, const std::string& path) override {
    task(mw::cat("Load from checkpoint folder: ", path));
    task(mw::cat("Setting global step to ", step));
    task(mw::cat("Resuming from ", path));
  }
  void saved(int64_t step, const std::string& path) override {
    if (path.empty()) {
      task(mw::cat("Saving checkpoint to: /tmp/practice/ckpts/global_step_", step));
    } else {
      task("local_global_step_folder: " + path);
      task(mw::cat("Update latest_checkpointed_iteration.txt to step ", step));
    }
  }
  bool engine_died(int64_t) override {
    const std::string when = month_day(clock_);
    log_.line("(WorkerDict pid=4123) ERROR %s [core.py:398] EngineCore encountered a fatal error.", when.c_str());
    log_.line("(TaskRunner pid=3977) Traceback (most recent call last):");
    log_.line(
        "(TaskRunner pid=3977)   File \"/opt/venv/lib/python3.11/site-packages/verl/trainer/ppo/ray_trainer.py\", line "
        "1002, in fit");
    log_.line("(TaskRunner pid=3977)     gen_batch_output = self.actor_rollout_wg.generate_sequences(gen_batch)");
    log_.line(
        "(TaskRunner pid=3977)   File \"/opt/venv/lib/python3.11/site-packages/vllm/v1/engine/core_client.py\", line "
        "612, in get_output");
    log_.line("(TaskRunner pid=3977)     raise self._format_exception(outputs) from None");
    log_.line(
        "(TaskRunner pid=3977) vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack "
        "trace (above) for the root cause.");
    return false;
  }
  void requests_failed(int64_t) override {
    const std::string when = month_day(clock_), at = address.empty() ? "127.0.0.1:41213" : address;
    const std::string why = !trouble.empty() ? trouble
                                             : "ClientConnectorError: Cannot connect to host 127.0.0.1:41213 "
                                               "ssl:default [Connect call failed ('127.0.0.1', 41213)]";
    log_.line(
        "(AgentLoopWorker pid=4290) WARNING %s [agent_loop.py:311] request to %s failed, taking an "
        "empty response: aiohttp.client_exceptions.%s",
        when.c_str(), at.c_str(), why.c_str());
  }
  void note(const std::string& text) override { task(text); }
  void waiting_for_engine(double seconds) override {
    task(mw::cat("Waiting for the rollout server at ", address, " (", static_cast<int>(seconds), " s)"));
  }
  void raised(int64_t, const std::vector<std::string>& traceback) override {
    task("Traceback (most recent call last):");
    for (const std::string& line : traceback) task(line);
  }
  void finished() override { task("Final validation metrics: None"); }

 private:
  void task(const std::string& text) { log_.line("(TaskRunner pid=3977) %s", text.c_str()); }
  LogFile log_, rows_;
  Clock& clock_;
};

// ---- TRL: Python dicts between progress bars; a dead engine raises
// ---------------------------------------------------

class Trl final : public Speaker {
 public:
  Trl(const std::string& folder, Clock& clock) : log_(folder, "train.log"), clock_(clock) {}

  void begin(int64_t total, int, int) override {
    total_ = total;
    log_.line(
        "[2026-01-15 08:00:00,000] [INFO] [real_accelerator.py:254:get_accelerator] Setting ds_accelerator to cuda "
        "(auto detect)");
    bar(0);
  }
  void step(const StepFigures& f) override {
    bar(f.step);
    log_.line(
        "{'loss': %.4f, 'grad_norm': %.8f, 'learning_rate': %.3e, 'num_tokens': %.1f, 'completions/mean_length': %.4f, "
        "'completions/min_length': %.1f, 'completions/max_length': %.1f, 'completions/clipped_ratio': %.4f, "
        "'completions/mean_terminated_length': %.4f, 'rewards/format_reward/mean': %.4f, "
        "'rewards/accuracy_reward/mean': %.4f, 'reward': %.6f, 'reward_std': %.6f, 'frac_reward_zero_std': %.4f, "
        "'kl': %.8f, 'entropy': %.6f, 'clip_ratio/region_mean': %.6f, 'epoch': %.3f}",
        f.loss, f.grad_norm, f.lr, tokens_ += f.tokens, f.length_mean, f.length_min, f.length_max, f.cut_rate,
        f.terminated_length, 0.2 * f.format_rate, 0.8 * f.correct_rate, f.reward_mean, f.reward_std, f.zero_std_groups,
        f.kl, f.entropy, f.clip_frac, static_cast<double>(f.step) / static_cast<double>(total_));
  }
  void evaluated(int64_t, const Evaluation& e) override {
    log_.line("{'eval_reward': %.4f, 'eval_loss': 0.0, 'epoch': 1.0}", e.pass1);
  }
  void resumed(int64_t step, const std::string&) override {
    log_.line("  Continuing training from global step %" PRId64, step);
  }
  void saved(int64_t step, const std::string& path) override {
    const std::string place = path.empty() ? mw::cat("/tmp/practice/out/checkpoint-", step) : path;
    log_.line("Saving model checkpoint to %s", place.c_str());
  }
  bool engine_died(int64_t) override {
    log_.line("Traceback (most recent call last):");
    log_.line("  File \"/opt/venv/lib/python3.11/site-packages/trl/trainer/grpo_trainer.py\", line 1211, in _generate");
    log_.line("    completion_ids = self.vllm_client.generate(prompts=prompts)");
    log_.line("  File \"/opt/venv/lib/python3.11/site-packages/requests/adapters.py\", line 700, in send");
    log_.line("    raise ConnectionError(e, request=request)");
    log_.line(
        "requests.exceptions.ConnectionError: HTTPConnectionPool(host='127.0.0.1', port=8000): Max retries exceeded "
        "with url: "
        "/generate/ (Caused by NewConnectionError('Failed to establish a new connection: [Errno 111] Connection "
        "refused'))");
    return false;
  }
  void raised(int64_t, const std::vector<std::string>& traceback) override {
    log_.line("Traceback (most recent call last):");
    for (const std::string& line : traceback) log_.line("%s", line.c_str());
  }
  void note(const std::string& text) override { log_.line("%s", text.c_str()); }
  void waiting_for_engine(double) override {
    log_.line("Server is not up yet. Retrying in 2.0 seconds... (http://%s)", address.c_str());
  }
  void finished() override {
    log_.line(
        "{'train_runtime': %.4f, 'train_samples_per_second': 2.1, 'train_steps_per_second': 0.02, 'train_loss': 0.001, "
        "'epoch': 1.0}",
        (clock_.now() - start_).seconds());
  }

 private:
  void bar(int64_t done) {
    log_.line("\r%3d%%|%-10s| %" PRId64 "/%" PRId64 " [00:00<00:00,  1.00s/it]", static_cast<int>(100 * done / total_),
              "███", done, total_);
  }
  LogFile log_;
  Clock& clock_;
  mw::Time start_ = clock_.now();
  int64_t total_ = 1;
  double tokens_ = 0;
};

// ---- OpenRLHF: a dict a step, with the counter in words
// --------------------------------------------------------------

class OpenRlhf final : public Speaker {
 public:
  OpenRlhf(const std::string& folder, Clock& clock) : log_(folder, "train.log"), clock_(clock) {}
  void begin(int64_t, int, int) override { say("openrlhf.trainer.ppo_trainer: PPO training begins"); }
  void step(const StepFigures& f) override {
    log_.line("(PPOTrainer pid=5201) %s INFO ppo_trainer.py:288 -- ✨ Global step %" PRId64
              ": {'policy_loss': %.8f, 'actor_lr': %.3e, "
              "'ppo_clip_ratio': %.6f, 'ppo_kl': %.8f, 'entropy_loss': %.6f, 'actor_grad_norm': %.6f, 'reward': %.6f, "
              "'return': %.6f, "
              "'response_length': %.4f, 'total_length': %.4f, 'truncated': %.4f, 'group_reward_std': %.6f, "
              "'timing/make_experience': %.3f, 'timing/ppo_train': %.3f, 'timing/broadcast': %.3f, "
              "'timing/step_total': %.3f}",
              iso(clock_, ' ', ',').c_str(), f.step, f.loss, f.lr, f.clip_frac, f.kl, f.entropy, f.grad_norm,
              f.reward_mean, f.reward_mean, f.length_mean, f.length_mean + 4, f.cut_rate, f.reward_std, f.s_rollout,
              f.s_train, f.s_sync, f.s_step);
  }
  void evaluated(int64_t, const Evaluation& e) override {
    say(mw::cat("Evaluation completed in 1s: eval_practice_pass1: ", e.pass1));
  }
  void resumed(int64_t step, const std::string& path) override {
    say(mw::cat("Loading the checkpoint: ", path, ", checkpoint_states: {'episode': 0, 'global_step': ", step, "}"));
  }
  void saved(int64_t step, const std::string&) override {
    say(mw::cat("[Torch] Checkpoint global_step", step, " is ready now!"));  // as DeepSpeed under it says
  }
  bool engine_died(int64_t) override {
    say("ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.");
    return false;
  }
  void raised(int64_t, const std::vector<std::string>& traceback) override {
    log_.line("(PPOTrainer pid=5201) Traceback (most recent call last):");
    for (const std::string& line : traceback) log_.line("(PPOTrainer pid=5201) %s", line.c_str());
  }
  void note(const std::string& text) override { say(text); }
  void waiting_for_engine(double seconds) override {
    say(mw::cat("Waiting for the vLLM engine at ", address, " for ", static_cast<int>(seconds), " s"));
  }
  void finished() override { say("Training finished"); }

 private:
  void say(const std::string& text) {
    log_.line("(PPOTrainer pid=5201) %s INFO ppo_trainer.py:101 -- %s", iso(clock_, ' ', ',').c_str(), text.c_str());
  }
  LogFile log_;
  Clock& clock_;
};

}  // namespace

std::unique_ptr<Speaker> make_speaker(std::string_view speak, const std::string& folder, Clock& clock) {
  if (speak == "areal") return std::make_unique<AReaL>(folder, clock);
  if (speak == "verl") return std::make_unique<Verl>(folder, clock);
  if (speak == "trl") return std::make_unique<Trl>(folder, clock);
  if (speak == "skyrl") return make_skyrl(folder, clock);
  if (speak == "prime-rl") return make_prime_rl(folder, clock);
  if (speak == "openrlhf") return std::make_unique<OpenRlhf>(folder, clock);
  return nullptr;
}

}  // namespace practice
