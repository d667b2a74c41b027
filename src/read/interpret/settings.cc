// Settings of a run under the names that midwatch uses (docs/words.md).
#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "read/interpret/interpreter.h"

namespace mw {
namespace {

constexpr size_t kSettingsLimit = 2000;  // settings that are kept

struct Setting {
  std::string_view canonical;
  std::string_view name;  // a whole key, or its end after a '/' or '.'
};
constexpr std::array<Setting, 47> kSettings = {{
    {"algorithm", "algorithm"},
    {"algorithm", "adv_estimator"},
    {"algorithm", "advantage_estimator"},
    {"algorithm", "loss_type"},
    {"algorithm", "importance_sampling_level"},
    {"algorithm", "policy_loss_type"},
    {"algorithm", "loss_mode"},
    {"model", "model"},
    {"model", "model_name"},
    {"model", "model_name_or_path"},
    {"model", "_name_or_path"},
    {"model", "pretrain"},
    {"total_steps", "total_steps"},
    {"total_steps", "total_training_steps"},
    {"total_steps", "max_steps"},
    {"total_steps", "max_train_steps"},
    {"total_steps", "num_train_steps"},
    {"epochs", "num_train_epochs"},
    {"epochs", "total_epochs"},
    {"epochs", "epochs"},
    {"batch_size", "batch_size"},
    {"batch_size", "train_batch_size"},
    {"batch_size", "per_device_train_batch_size"},
    {"batch_size", "rollout_batch_size"},
    {"lr", "lr"},
    {"lr", "learning_rate"},
    {"num_generations", "num_generations"},
    {"num_generations", "n_samples_per_prompt"},
    {"num_generations", "group_size"},
    {"num_generations", "rollout_n"},
    {"num_generations", "actor_rollout_ref.rollout.n"},
    {"logging_steps", "logging_steps"},
    {"save_steps", "save_steps"},
    {"save_steps", "save_freq"},
    {"save_steps", "ckpt_interval"},
    {"max_response_length", "max_response_length"},
    {"max_response_length", "max_completion_length"},
    {"max_response_length", "max_new_tokens"},
    {"max_response_length", "max_generate_length"},
    {"max_response_length", "generate_max_len"},
    {"max_response_length", "response_length"},
    {"save_folder", "output_dir"},
    {"save_folder", "default_local_dir"},
    {"save_folder", "ckpt_path"},
    {"kl_coef", "kl_loss_coef"},
    {"kl_coef", "beta"},
    {"seed", "seed"},
}};

std::string_view canonical_setting(std::string_view key) {
  if (key.starts_with("summary/")) return {};  // the last value that W&B keeps of each figure
  const size_t cut = key.find_last_of("/.");
  const std::string_view last = cut == std::string_view::npos ? key : key.substr(cut + 1);
  for (const Setting& setting : kSettings) {
    if (setting.name == key || setting.name == last) return setting.canonical;
  }
  return {};
}

/// A word of a shell's trace without its quotes.
std::string_view bare(std::string_view word) {
  while (!word.empty() && (word.front() == '\'' || word.front() == '"')) word.remove_prefix(1);
  while (!word.empty() && (word.back() == '\'' || word.back() == '"')) word.remove_suffix(1);
  return word;
}

/// Of a run that has several models: is the setting that of another one than the one that is trained?
bool of_other_model(std::string_view key) {
  return contains(key, "critic") || contains(key, "reward") || key.starts_with("ref.") || contains(key, ".ref.") ||
         contains(key, "draft");
}

/// verl's name of a loss that changes nothing: the algorithm is what estimates the advantages.
bool is_plain_loss(std::string_view key, std::string_view value) {
  return key.ends_with("loss_mode") && value == "vanilla";
}

std::string_view meaning_of(std::string_view key) {
  return key.ends_with("model.path") || key.ends_with("model_path") ? std::string_view("model")
                                                                    : canonical_setting(key);
}

}  // namespace

// "+ python3 -m verl.trainer.main_ppo data.train_batch_size=8 …", "+ deepspeed train.py --learning_rate 1e-6 …": what
// a script under `set -x` starts. Of several settings with one meaning the first counts.
void Interpreter::configure_by_command(const LogLine& line) {
  static constexpr std::array<std::string_view, 6> kStarters{"python",     "uv run",      "torchrun",
                                                             "deepspeed ", "accelerate ", "ray job submit"};
  constexpr size_t kProgram = 200;  // bytes within which the program stands
  const std::string_view head = line.text.substr(0, kProgram);
  const bool starts = std::any_of(kStarters.begin(), kStarters.end(),
                                  [head](std::string_view program) { return contains(head, program); });
  if (!starts || head.starts_with("+ echo") || head.starts_with("+ export")) return;
  std::string_view rest = line.text.substr(2), option;
  std::vector<std::string_view> known;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view word = bare(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (word.empty()) continue;
    const size_t equals = word.find('=');
    std::string_view key = option, value = word;
    option = {};
    if (equals != std::string_view::npos) {
      key = word.substr(0, equals);
      value = bare(word.substr(equals + 1));
    } else if (word.starts_with("--")) {
      option = word;
      continue;
    }
    while (key.starts_with('-') || key.starts_with('+')) key.remove_prefix(1);
    const std::string_view meaning = meaning_of(key);
    if (meaning.empty() || value.empty() || of_other_model(key) || is_plain_loss(key, value)) continue;
    if (std::find(known.begin(), known.end(), meaning) != known.end()) continue;
    known.push_back(meaning);
    configure(meaning, value, where(line.number), line.at);
  }
}

void Interpreter::configure(std::string_view key, std::string_view value, Where where, Time at) {
  configure_clean(key, redacted_setting(key, clean_.take(trim(value), kSettingBytes)), where, at);
}

void Interpreter::configure_clean(std::string_view key, std::string&& text, Where where, Time at) {
  const std::string_view canonical = is_plain_loss(key, text) ? std::string_view() : canonical_setting(key);
  records_.configured(key, text);
  if (canonical == "logging_steps") {
    if (const auto stride = parse_double(trim(text)); stride && *stride >= 1 && *stride < 1e6) {
      records_.set_stride(static_cast<int64_t>(*stride));
    }
  }
  const std::string name(canonical.empty() ? key.substr(0, kSettingBytes) : canonical);
  const auto known = configured_.find(name);
  if (known == configured_.end()) {
    if (configured_.size() >= kSettingsLimit) return;
    configured_.emplace(name, text);
  } else if (known->second == text || where.line == 0) {
    return;  // of several settings with one meaning the first counts
  } else {
    known->second = text;
  }
  sink_.put({at, where, event::Configured{name, std::move(text)}});
}

}  // namespace mw
