#include "practice/options.h"

#include <cstdio>
#include <string_view>

#include "base/numbers.h"

namespace practice {
namespace {

constexpr const char* kUsage =
    "practice_run --speak areal|verl|trl|openrlhf|skyrl|prime-rl --out DIR|- [--steps N] [--kill-engine-at STEP] "
    "[--seed N]\n"
    "             [--checkpoints DIR] [--save-every N] [--keep-last N] [--eval-every N] [--pace SECONDS]\n"
    "             [--engine http://127.0.0.1:PORT] [--request-timeout SECONDS] [--tools http://127.0.0.1:PORT]\n"
    "             [--when-engine-dies usual|zero|crash|hang|retry] [--mismatch yes|no] [--fault "
    "NAME[@STEP][:always]]…\n"
    "             [--sinks jsonl,tfevents,wandb] [--sinks-folder DIR] [--resume auto|requested] [a framework's own "
    "arguments]\n"
    "Trains a small policy for real and logs in the shape of a framework. With --out - it logs to standard\n"
    "output, by the clock on the wall. With --checkpoints it resumes from the newest one, to the very weights\n"
    "that it would have come to without the break; with --resume requested only when an argument of a framework says "
    "so\n"
    "(trainer.resume_from_path=…, --resume_from_checkpoint …, --resume.step N, recover.mode=on, …).\n"
    "Faults, in attempts that did not resume (with :always in all): nan, bad-lr, leaky-rubric, save-fails, sigbus,\n"
    "metadata-only, pointer-stays, keep-all, reward-crash, fd-leak, stale-weights, clock-jump, silent.\n";

/// "http://127.0.0.1:8000"; other machines are not for practice.
bool take_port(std::string_view url, int& port) {
  constexpr std::string_view kLocal = "http://127.0.0.1:";
  if (url.substr(0, kLocal.size()) != kLocal) return false;
  const auto number = mw::parse_int(url.substr(kLocal.size()));
  if (!number || *number < 1 || *number > 65535) return false;
  port = static_cast<int>(*number);
  return true;
}

bool take_text(const std::string& name, const char* value, Options& options) {
  if (name == "--speak") {
    options.speak = value;
  } else if (name == "--out") {
    options.live = std::string_view(value) == "-";
    options.out = options.live ? "" : value;
  } else if (name == "--checkpoints") {
    options.checkpoints = value;
  } else if (name == "--resume") {
    options.resume_on_request = std::string_view(value) == "requested";
  } else if (name == "--when-engine-dies") {
    options.when_engine_dies = value;
  } else if (name == "--sinks") {
    options.sinks = value;
  } else if (name == "--sinks-folder") {
    options.sinks_folder = value;
  } else if (name == "--mismatch") {
    options.mismatch = std::string_view(value) == "yes";
  } else if (name == "--fault") {
    const auto fault = parse_fault(value);
    if (fault) options.faults.add(*fault);
    return fault.has_value();
  } else if (name == "--engine") {
    return take_port(value, options.engine_port);
  } else if (name == "--tools") {
    return take_port(value, options.tools_port);
  } else if (name == "--request-timeout" && mw::parse_double(value)) {
    options.request_timeout = *mw::parse_double(value);
  } else if (name == "--pace" && mw::parse_double(value)) {
    options.pace = *mw::parse_double(value);
  } else {
    return false;
  }
  return true;
}

bool take_count(const std::string& name, int64_t value, Options& options) {
  if (name == "--save-every" && value > 0) {
    options.save_every = value;
  } else if (name == "--eval-every" && value > 0) {
    options.eval_every = value;
  } else if (name == "--keep-last" && value >= 0) {
    options.keep_last = value;
  } else if (name == "--steps" && value > 0) {
    options.steps = value;
  } else if (name == "--kill-engine-at") {
    options.kill_engine_at = value;
  } else if (name == "--seed") {
    options.seed = static_cast<uint64_t>(value);
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv) {
  Options options;
  std::vector<std::string> words(argv + 1, argv + argc);
  options.resume = take_resume_words(words);
  bool fits = words.size() % 2 == 0;
  for (size_t i = 0; fits && i + 1 < words.size(); i += 2) {
    const auto number = mw::parse_int(words[i + 1]);
    fits = take_text(words[i], words[i + 1].c_str(), options) || (number && take_count(words[i], *number, options));
  }
  if (fits) return options;
  std::fputs(kUsage, stderr);
  return std::nullopt;
}

}  // namespace practice
