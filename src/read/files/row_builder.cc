#include "read/files/row_builder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/json.h"
#include "base/numbers.h"
#include "base/secrets.h"
#include "base/text.h"
#include "read/lines/step_name.h"

namespace mw {
namespace {

constexpr size_t kBlock = size_t{64} << 10;  // bytes per block of kept text
constexpr size_t kPropertyLimit = 5000;      // settings from one JSON value

// Best first: the names that trainers and their loggers give to the optimizer step.
constexpr std::array<std::string_view, 25> kStepKeys = {"step",
                                                        "_step",
                                                        "global_step",
                                                        "trainer/global_step",
                                                        "train/global_step",
                                                        "training/global_step",
                                                        "training_step",
                                                        "train_step",
                                                        "trainer/step",
                                                        "train/step",
                                                        "training/step",
                                                        "progress/step",
                                                        "current_step",
                                                        "global_steps",
                                                        "optimizer_step",
                                                        "iteration",
                                                        "train/iteration",
                                                        "training/iteration",
                                                        "iter",
                                                        "global_iteration",
                                                        "rollout_step",
                                                        "rollout/step",
                                                        "steps",
                                                        "current_steps",
                                                        "n_steps"};

constexpr std::array<std::string_view, 12> kTimeKeys = {"_timestamp", "timestamp",  "time",      "wall_time",
                                                        "wall time",  "walltime",   "unix_time", "datetime",
                                                        "date",       "created_at", "logged_at", "ts"};

template <size_t N>
int rank_in(const std::array<std::string_view, N>& names, std::string_view key) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == key) return static_cast<int>(i);
  }
  return -1;
}

int time_key_rank(std::string_view key) {
  if (key.size() > 10 || key.empty()) return -1;
  const char first = key.front(), last = key.back();  // most names begin or end with other letters
  if (last != 'e' && last != 'p' && last != 't' && last != 's') return -1;
  if (first != '_' && first != 't' && first != 'w' && first != 'u' && first != 'd' && first != 'c' && first != 'l') {
    return -1;
  }
  return rank_in(kTimeKeys, key);
}

/// A row in the long form has one figure's name and its value, beside a step and times: {"step": 3, "tag": "loss",
/// "value": 0.5}. Of such a row, where its figure's name stands among the texts; -1: it is none.
std::ptrdiff_t name_of_value(std::span<const RowNumber> numbers, std::span<const RowText> texts) {
  constexpr size_t kMostNumbers = 6, kMostTexts = 6, kLongest = 120;
  static constexpr std::array<std::string_view, 7> kNames = {"name", "tag",         "metric", "metric_name",
                                                             "key",  "scalar_name", "series"};
  if (numbers.size() > kMostNumbers || texts.empty() || texts.size() > kMostTexts) return -1;
  size_t values = 0;
  for (const RowNumber& number : numbers) {
    values += number.key == "value" ? 1 : 0;
    const bool beside = step_key_rank(number.key) >= 0 || time_key_rank(number.key) >= 0 || number.key == "epoch";
    if (number.key != "value" && !beside) return -1;
  }
  const auto names = [](const RowText& text) {
    return rank_in(kNames, text.key) >= 0 && !text.value.empty() && text.value.size() <= kLongest &&
           !contains(text.value, "\n") && step_key_rank(text.value) < 0;
  };
  const auto found = std::find_if(texts.begin(), texts.end(), names);
  return values == 1 && found != texts.end() ? found - texts.begin() : -1;
}

/// `plain`: a number, or true, or false, which is secret only where its name says so.
void put_as(RecordSink& sink, std::string_view key, std::string_view value, bool plain) {
  // The name is what gives most secrets away ("api_key"), and it may be one itself.
  const std::string_view name = key.substr(0, kTextLimit);
  if (!find_secrets(name).empty()) return;
  if (sink.names_only()) return sink.property(name, {});
  if (plain && !names_secret(name)) return sink.property(name, value);
  sink.property(name, clip(redacted_setting(name, value.substr(0, kTextLimit + kRedactMargin)), kTextLimit));
}

class PropertyLeaves : public JsonLeaves {
 public:
  PropertyLeaves(RecordSink& sink, std::string_view prefix) : sink_(sink), prefix_(prefix) {}
  void number(std::string_view path, double value) override { put(path, format_double(value), true); }
  void string(std::string_view path, std::string_view value) override { put(path, value, false); }
  void boolean(std::string_view path, bool value) override { put(path, value ? "true" : "false", true); }

 private:
  void put(std::string_view path, std::string_view value, bool plain) {
    if (++count_ > kPropertyLimit) return;
    put_as(sink_, path.empty() ? std::string(prefix_) : cat(prefix_, '/', path), value, plain);
  }
  RecordSink& sink_;
  std::string_view prefix_;
  size_t count_ = 0;
};

}  // namespace

void RowBuilder::clear() {
  numbers_.clear();
  texts_.clear();
  if (blocks_.size() > 1) blocks_.resize(1);
  if (!blocks_.empty() && blocks_[0].size > kBlock) blocks_.clear();
  used_ = 0;
}

bool RowBuilder::add_non_finite(std::string_view key, std::string_view value) {
  const char first = static_cast<char>(value[value[0] == '-' || value[0] == '+' ? 1 : 0] | 32);
  if (first != 'n' && first != 'i') return false;
  const auto number = parse_double(value);
  if (number) add_number(key, *number);
  return number.has_value();
}

char* RowBuilder::room(size_t size) {
  if (blocks_.empty() || blocks_.back().size - used_ < size) {
    const size_t bytes = size > kBlock ? size : kBlock;
    blocks_.push_back({std::make_unique_for_overwrite<char[]>(bytes), bytes});
    used_ = 0;
  }
  char* const at = blocks_.back().bytes.get() + used_;
  used_ += size;
  return at;
}

std::string_view RowBuilder::keep(std::string_view text) {
  if (text.empty()) return {};
  char* const at = room(text.size());
  std::memcpy(at, text.data(), text.size());
  return {at, text.size()};
}

std::string_view RowBuilder::keep_joined(std::string_view first, std::string_view second) {
  char* const at = room(first.size() + 1 + second.size());
  if (!first.empty()) std::memcpy(at, first.data(), first.size());
  at[first.size()] = '/';
  if (!second.empty()) std::memcpy(at + first.size() + 1, second.data(), second.size());
  return {at, first.size() + 1 + second.size()};
}

void RowBuilder::hand_over(RecordSink& sink, uint64_t number, int64_t step, Time at, bool of_machine) {
  if (const std::ptrdiff_t name = name_of_value(numbers_, texts_); name >= 0) {
    const auto value =
        std::find_if(numbers_.begin(), numbers_.end(), [](const auto& one) { return one.key == "value"; });
    value->key = texts_[static_cast<size_t>(name)].value;
    texts_.erase(texts_.begin() + name);
  }
  if (!empty()) sink.row(Row{number, step, at, numbers_, texts_, of_machine});
  clear();
}

int step_key_rank(std::string_view key) {
  if (key.size() < 4 || key.size() > 64) return -1;
  static constexpr std::array<std::string_view, 9> kEnds = {"step", "teps", "tion", "iter", "date",
                                                            "ates", "Step", "STEP", "Iter"};
  std::array<char, 4> end{};  // compared as a word: this is asked of every name of every record
  key.copy(end.data(), end.size(), key.size() - end.size());
  const bool ends_so = std::any_of(kEnds.begin(), kEnds.end(), [&end](std::string_view one) {
    return std::memcmp(end.data(), one.data(), end.size()) == 0;
  });
  if (!ends_so) return -1;  // as most do not
  const int rank = rank_in(kStepKeys, key);
  if (rank >= 0) return rank;
  if (counts_updates(key)) return static_cast<int>(kStepKeys.size()) + 1;
  // "system/step", "metrics/global_step": somebody's step counter; but "time/step" and "timing_s/step" are seconds.
  const size_t slash = key.rfind('/');
  if (slash == std::string_view::npos || key.substr(0, 3) == "tim" || key.substr(0, 4) == "perf") return -1;
  const std::string_view name = key.substr(slash + 1);
  const bool usual = name == "step" || name == "global_step" || name == "iteration";
  return usual ? static_cast<int>(kStepKeys.size()) : -1;
}

int64_t step_from_number(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (!(std::fabs(value) <= kExact) || value != std::floor(value)) return kNoStep;
  return static_cast<int64_t>(value);
}

Time time_from_epoch(double value) {
  constexpr double kFrom = 978307200.0, kTo = 3976214400.0;  // 2001-01-01 and 2096-01-01 in s
  double per_second = 1;
  for (int scale = 0; scale < 4; ++scale, per_second *= 1e3) {
    if (value >= kFrom * per_second && value < kTo * per_second) {
      return Time{static_cast<int64_t>(value * (1e9 / per_second))};
    }
  }
  return {};
}

/// Beside the number of an episode "steps" is its length.
bool is_length_of_episode(std::string_view key, std::span<const RowNumber> numbers) {
  if (!may_be_length(key)) return false;
  return std::any_of(numbers.begin(), numbers.end(), [](const RowNumber& one) { return names_episode(one.key); });
}

StepAndTime find_step_and_time(std::span<const RowNumber> numbers, std::span<const RowText> texts) {
  StepAndTime found;
  int best_step = -1, best_time = -1;
  const auto better = [](int rank, int best) { return rank >= 0 && (best < 0 || rank < best); };
  for (const RowNumber& number : numbers) {
    if (const int rank = step_key_rank(number.key); better(rank, best_step)) {
      const int64_t step = step_from_number(number.value);
      if (step != kNoStep && !is_length_of_episode(number.key, numbers)) found.step = step, best_step = rank;
    }
    if (const int rank = time_key_rank(number.key); better(rank, best_time)) {
      const Time at = time_from_epoch(number.value);
      if (at.known()) found.at = at, best_time = rank;
    }
  }
  for (const RowText& text : texts) {
    if (const int rank = step_key_rank(text.key); better(rank, best_step)) {
      if (const auto step = parse_int(trim(text.value))) found.step = *step, best_step = rank;
    }
    if (const int rank = time_key_rank(text.key); better(rank, best_time)) {
      if (const auto at = parse_time(trim(text.value))) found.at = *at, best_time = rank;
    }
  }
  return found;
}

void put_property(RecordSink& sink, std::string_view key, std::string_view value) { put_as(sink, key, value, false); }

void put_json_properties(RecordSink& sink, std::string_view prefix, std::string_view json) {
  PropertyLeaves leaves(sink, prefix);
  const std::string_view text = trim(json);
  const bool json_like = !text.empty() && (text[0] == '{' || text[0] == '[' || text[0] == '"' || text[0] == '-' ||
                                           (text[0] >= '0' && text[0] <= '9') || text == "true" || text == "false" ||
                                           text == "NaN" || text == "Infinity" || text == "null");
  if (!json_like) {
    if (!text.empty()) put_property(sink, prefix, text);
    return;
  }
  for_each_leaf(text, leaves);
}

void ProblemCounter::report(RecordSink& sink, std::string_view detail, uint64_t number) {
  ++count_;
  if ((count_ & (count_ - 1)) != 0) return;
  if (count_ == 1) {
    sink.problem(name_, detail, number);
  } else {
    sink.problem(name_, cat(detail, " (", count_, " so far)"), number);
  }
}

}  // namespace mw
