#include "practice/trainer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/json.h"
#include "base/text.h"
#include "practice/checkpoint.h"
#include "practice/http.h"

namespace practice {
namespace {

using mw::cat;

constexpr int kToolTries = 3;
constexpr double kToolSeconds = 5;  // that a tool is given to answer
constexpr useconds_t kWaitMicroseconds = 200'000;
constexpr int64_t kWaitTurns = 50;  // between two lines about waiting

LearnSettings settings_of(const Options& options) {
  return {options.groups, options.group_size, options.updates, options.lr, options.clip, options.max_norm};
}

timespec steady() {
  timespec at{};
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at;
}

double seconds_since(const timespec& began) {
  const timespec now = steady();
  return static_cast<double>(now.tv_sec - began.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec - began.tv_nsec);
}

/// What is left of the step's pace is slept away.
void rest(const timespec& began, double pace) {
  const double spent = seconds_since(began);
  if (pace > spent) usleep(static_cast<useconds_t>((pace - spent) * 1e6));
}

std::string os_error(int number, const std::string& path) {
  return cat("OSError: [Errno ", number, "] ", std::strerror(number), ": '", path, "'");
}

/// What is written to where standard output and error go now goes nowhere from here on (the speaker's log is a copy of
/// standard output, or a file of its own), as where a log was moved away under its writer.
void go_silent() {
  constexpr int kDescriptors = 64;
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  struct stat out {};
  const bool known = fstat(STDOUT_FILENO, &out) == 0;
  for (int fd = STDOUT_FILENO; fd < kDescriptors; ++fd) {
    struct stat here {};
    if (fd == nowhere || fstat(fd, &here) != 0) continue;
    const bool log = S_ISREG(here.st_mode) || (known && here.st_dev == out.st_dev && here.st_ino == out.st_ino);
    if (log || fd == STDERR_FILENO) dup2(nowhere, fd);
  }
}

}  // namespace

Trainer::Trainer(const Options& options)
    : options_(options),
      checkpoints_(checkpoint_folder(options.speak, options.checkpoints)),
      faults_(options.faults),
      learner_(options.seed, settings_of(options)),
      engine_(options.engine_port == 0 ? std::unique_ptr<Engine>(std::make_unique<ForkedEngine>(options.seed))
                                       : std::make_unique<RemoteEngine>(options.engine_port, options.request_timeout)),
      dice_(options.seed * 977),
      clock_(options.live ? Clock::live() : Clock(*mw::parse_time("2026-01-15 08:00:00"))),
      speaker_(make_speaker(options.speak, options.out, clock_)) {}

/// Of all that is drawn in a step, where the run may be resumed; else 0, and the dice just go on.
uint64_t Trainer::seed_of(int64_t step) const {
  return options_.checkpoints.empty() ? 0 : options_.seed * 1'000'003 + static_cast<uint64_t>(step) * 2 + 1;
}

/// The engine is dead. Does the training go on, on empty answers?
bool Trainer::after_death(int64_t step) {
  if (options_.when_engine_dies == "usual") return speaker_->engine_died(step);
  if (options_.when_engine_dies == "crash") return speaker_->engine_died(step), false;
  while (options_.when_engine_dies == "hang") pause();  // as a client without a time-out waits
  speaker_->requests_failed(step);
  return true;
}

/// What frameworks that go on take for an answer: an empty response for every sample, which scores zero.
std::vector<Sample> Trainer::empty_answers(const std::vector<Question>& questions) const {
  std::vector<Sample> empty(questions.size() * static_cast<size_t>(options_.group_size));
  for (size_t i = 0; i < empty.size(); ++i) {
    empty[i].question = questions[i / static_cast<size_t>(options_.group_size)];
    empty[i].tokens = {kEnd};
    double entropy = 0;
    empty[i].log_probs = learner_.policy().score(empty[i], &entropy);
    empty[i].entropy = entropy;
  }
  return empty;
}

std::vector<Sample> Trainer::rollout(int64_t step, bool* go_on) {
  std::vector<Question> questions;
  questions.reserve(static_cast<size_t>(options_.groups));
  for (int i = 0; i < options_.groups; ++i) questions.push_back(draw_question(dice_));
  do {
    // A server may have been started anew, with the weights it was built with.
    if (!engine_alive_) engine_alive_ = engine_->load(learner_.policy().weights(), step - 1);
    if (engine_alive_) {
      auto samples = engine_->generate(questions, options_.group_size, 1.0, seed_of(step));
      if (samples) return *samples;
      engine_alive_ = false;
    }
    if (options_.when_engine_dies == "retry") usleep(kWaitMicroseconds);
  } while (options_.when_engine_dies == "retry");
  speaker_->trouble = engine_->problem();
  *go_on = after_death(step);
  return empty_answers(questions);
}

/// False when the reward function raised.
bool Trainer::reward(std::vector<Sample>& samples, int64_t step) {
  if (faults_.at(Fault::kRewardCrash, step)) {
    if (!mw::Json::parse(text_of(samples.front())).ok()) {
      speaker_->raised(step, {"  File \"/workspace/practice/reward.py\", line 41, in compute_score",
                              "    verdict = json.loads(answer)",
                              "  File \"/usr/lib/python3.11/json/__init__.py\", line 346, in loads",
                              "    return _default_decoder.decode(s)",
                              "  File \"/usr/lib/python3.11/json/decoder.py\", line 355, in raw_decode",
                              "    raise JSONDecodeError(\"Expecting value\", s, err.value) from None",
                              "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"});
      return false;
    }
  }
  const int leak = faults_.from(Fault::kFdLeak, step) ? faults_.leak_files() : 0;
  if (leak != 0) {
    speaker_->raised(step, {"  File \"/workspace/practice/reward.py\", line 28, in compute_score",
                            "    with open(RUBRIC) as file:", os_error(leak, "/workspace/practice/rubric.json")});
    return false;
  }
  for (Sample& s : samples) grade(s, faults_.from(Fault::kLeakyRubric, step));
  if (options_.tools_port != 0) ask_tools(samples);
  return true;
}

/// The calculator checks each question; a group whose check fails three times is scored zero, as people's own code
/// does.
void Trainer::ask_tools(std::vector<Sample>& samples) {
  for (size_t from = 0; from < samples.size(); from += static_cast<size_t>(options_.group_size)) {
    const Question& q = samples[from].question;
    const std::string body = cat("{\"a\": ", q.a, ", \"b\": ", q.b, ", \"minus\": ", q.minus ? "true" : "false", "}");
    const timespec began = steady();
    HttpReply reply;
    for (int turn = 0; turn < kToolTries && reply.body.empty(); ++turn) {
      reply = http_ask(options_.tools_port, {"POST", "/calculate", body}, kToolSeconds);
      if (reply.status != 200) reply.body.clear();
    }
    char took[64];
    std::snprintf(took, sizeof took, "env.step done in %.3fs", seconds_since(began));
    const auto json = mw::Json::parse(reply.body);
    if (reply.status == 200 && json.ok() && json->integer_or("result", -1) == q.answer()) {
      speaker_->note(took);
      continue;
    }
    speaker_->note(
        cat("Tool execution failed for calculator: ", reply.problem == "timeout" ? "TimeoutError" : "ServerError",
            " after ", kToolTries, " attempts"));
    for (size_t i = from; i < from + static_cast<size_t>(options_.group_size); ++i) samples[i].reward = 0;
  }
}

/// The step to go on from (0: from the beginning); nullopt when the checkpoint is broken.
std::optional<int64_t> Trainer::resume() {
  if (options_.checkpoints.empty() || (options_.resume_on_request && !options_.resume.requested)) return 0;
  std::string problem;
  auto found = load_checkpoint(checkpoints_, options_.resume.step, &problem);
  if (!problem.empty()) {
    std::fprintf(stderr, "RuntimeError: cannot load the checkpoint in %s: %s\n", options_.checkpoints.c_str(),
                 problem.c_str());
    return std::nullopt;
  }
  if (!found) return 0;
  learner_.restore(*found);
  resumed_ = true;
  faults_.spare_resumed();
  speaker_->resumed(found->step, checkpoint_place(checkpoints_, found->step));
  return found->step;
}

bool Trainer::save(int64_t step) {
  if (options_.checkpoints.empty()) return speaker_->saved(step, ""), true;
  const std::string place = checkpoint_place(checkpoints_, step);
  CheckpointFolder folder = checkpoints_;
  if (faults_.from(Fault::kPointerStays, step)) folder.pointer.clear();
  const Checkpoint whole = learner_.checkpoint(step);
  int trouble = 0;
  if (faults_.from(Fault::kMetadataOnly, step)) {
    trouble = save_metadata(folder, whole);
  } else {
    if (faults_.at(Fault::kSaveFails, step) && !fill_disk(options_.checkpoints)) {
      std::fprintf(stderr, "practice_run: the file system of %s is too large to be filled\n", place.c_str());
    }
    if (faults_.at(Fault::kSigbus, step)) write_past_memory(options_.checkpoints);
    trouble = save_checkpoint(folder, whole);
  }
  if (trouble != 0) {
    speaker_->raised(step, {"  File \"/workspace/practice/train.py\", line 212, in save_checkpoint",
                            "    torch.save(state, path)", os_error(trouble, place)});
    return false;
  }
  speaker_->saved(step, place);
  if (options_.keep_last > 0 && !faults_.from(Fault::kKeepAll, step)) {
    remove_checkpoint(checkpoints_, step - options_.keep_last * options_.save_every);
  }
  return true;
}

void Trainer::sync(int64_t step) {
  // A trainer that thinks that it sent its weights does not ask.
  if (faults_.from(Fault::kStaleWeights, step)) return;
  if (engine_alive_) engine_alive_ = engine_->load(learner_.policy().weights(), step);
}

bool Trainer::open_dashboards() {
  const std::string folder = !options_.sinks_folder.empty() ? options_.sinks_folder
                             : options_.out.empty()         ? "."
                                                            : options_.out;
  if (options_.sinks.empty() || open_sinks(options_.sinks, folder, clock_.now(), sinks_)) return true;
  std::fprintf(stderr, "practice_run: unknown among --sinks %s\n", options_.sinks.c_str());
  return false;
}

template <typename Result>
void Trainer::to_dashboards(int64_t step, const Result& result) {
  for (const auto& sink : sinks_) sink->put(step, clock_.now(), dashboard_figures(options_.speak, result));
}

/// A server of its own may come up later than the trainer, which then waits and says so now and then.
void Trainer::await_engine() {
  auto* remote = dynamic_cast<RemoteEngine*>(engine_.get());
  if (remote == nullptr) return;
  speaker_->address = cat("127.0.0.1:", options_.engine_port);
  for (int64_t turn = 0; !remote->healthy(); ++turn) {
    if (turn % kWaitTurns == 0) speaker_->waiting_for_engine(static_cast<double>(turn) * 1e-6 * kWaitMicroseconds);
    usleep(kWaitMicroseconds);
  }
}

/// False: the training is over.
bool Trainer::step(int64_t number) {
  if (const uint64_t seed = seed_of(number); seed != 0) dice_ = mw::Prng(seed);
  if (number == options_.kill_engine_at && !resumed_) engine_->kill();  // a second attempt may live
  if (faults_.at(Fault::kSilent, number)) go_silent();
  if (faults_.at(Fault::kClockJump, number)) clock_.jump(-kClockJumpSeconds);
  if (faults_.at(Fault::kBadLr, number)) learner_.set_lr(options_.lr * kBadLrFactor);
  StepFigures f;
  f.step = number;
  f.mismatch_known = options_.mismatch;
  bool go_on = true;
  timespec began = steady();
  speaker_->generating(number);
  std::vector<Sample> samples = rollout(number, &go_on);
  const double s_rollout = seconds_since(began);
  began = steady();
  if (!go_on || !reward(samples, number)) return false;
  const double s_reward = seconds_since(began);
  describe(samples, f);
  std::vector<double> advantage = learner_.advantages(samples, f);
  if (faults_.at(Fault::kNan, number)) {
    const volatile double nothing = 0;
    advantage.front() = nothing / nothing;
  }
  learner_.learn(samples, advantage, f);
  const double s_learn = seconds_since(began) - s_reward;
  f.s_rollout = engine_alive_ ? 20 + f.tokens / 60 + dice_.unit() * 3 : 4 + dice_.unit();
  f.s_train = 9 + dice_.unit(), f.s_reward = 0.4 + dice_.unit() * 0.1, f.s_sync = 1.5 + dice_.unit() * 0.2;
  // Where a tool is asked, what it takes is what matters.
  if (options_.tools_port != 0) f.s_reward = s_reward, f.s_rollout = s_rollout, f.s_train = s_learn, f.s_sync = 0.01;
  f.s_step = f.s_rollout + f.s_train + f.s_reward + f.s_sync;
  clock_.pass(f.s_step);
  sync(number);
  speaker_->step(f);
  to_dashboards(number, f);
  if (number % options_.save_every == 0 && !save(number)) return false;
  speaker_->step_over(number);
  if (number % options_.eval_every == 0) {
    const Evaluation result = learner_.evaluate();
    speaker_->evaluated(number, result);
    to_dashboards(number, result);
  }
  return true;
}

int Trainer::train() {
  if (speaker_ == nullptr) {
    std::fprintf(stderr, "practice_run: unknown --speak %s\n", options_.speak.c_str());
    return 2;
  }
  if (!open_dashboards()) return 2;
  speaker_->begin(options_.steps, options_.groups, options_.group_size);
  learner_.warm_up(dice_);
  const auto resumed = resume();
  if (!resumed) return 1;
  await_engine();
  clock_.pass(41);
  engine_alive_ = engine_->load(learner_.policy().weights(), 0);
  for (int64_t number = *resumed + 1; number <= options_.steps; ++number) {
    const timespec began = steady();
    if (!step(number)) return 1;
    rest(began, options_.pace);
  }
  speaker_->finished();
  for (const auto& sink : sinks_) sink->finished(clock_.now());
  return 0;
}

}  // namespace practice
