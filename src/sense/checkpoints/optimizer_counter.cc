#include "sense/checkpoints/optimizer_counter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>

#include "base/one_of.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr double kMostSteps = 1e15;

template <typename Number>
Number number_in(std::string_view bytes) {
  Number out{};
  std::memcpy(&out, bytes.data(), sizeof out);
  return out;
}

}  // namespace

bool is_step_counter(std::string_view path) {
  const auto keys = split(path, '.');
  if (keys.size() < 3 || keys.back() != "step") return false;
  return std::any_of(keys.begin(), keys.end() - 1, [](std::string_view key) {
    return key == "state" || key == "param_groups" || key.ends_with("optimizer_state");
  });
}

bool is_trainer_counter(std::string_view path) {
  constexpr std::array<std::string_view, 5> kNames = {"global_steps", "global_step", "iteration", "last_epoch",
                                                      "num_steps"};
  if (path == "step" || path == "progress.step") return true;  // of an optimizer's parameters there are many
  const size_t dot = path.rfind('.');
  return is_one_of(path.substr(dot == std::string_view::npos ? 0 : dot + 1), kNames);
}

void keep_lowest(std::vector<OptimizerCounter>& counters) {
  const auto place = [](const OptimizerCounter& one) { return std::hash<std::string>()(one.name); };
  std::sort(counters.begin(), counters.end(),
            [&place](const OptimizerCounter& a, const OptimizerCounter& b) { return place(a) < place(b); });
  if (counters.size() > kOptimizerCounters) counters.resize(kOptimizerCounters);
}

std::optional<int64_t> whole_number(double value) {
  if (!(value >= 0) || value > kMostSteps || value != std::floor(value)) return std::nullopt;
  return static_cast<int64_t>(value);
}

std::optional<int64_t> whole_number(Dtype dtype, std::string_view bytes) {
  if (bytes.size() != size_of(dtype)) return std::nullopt;
  switch (dtype) {
    case Dtype::kF64:
      return whole_number(number_in<double>(bytes));
    case Dtype::kF32:
      return whole_number(static_cast<double>(number_in<float>(bytes)));
    case Dtype::kI64:
      return whole_number(static_cast<double>(number_in<int64_t>(bytes)));
    case Dtype::kI32:
      return whole_number(static_cast<double>(number_in<int32_t>(bytes)));
    default:
      return std::nullopt;
  }
}

std::optional<int64_t> steps_counted(const OptimizerCounter& counter, ReadFile& file) {
  if (counter.value) return counter.value;
  std::string bytes;
  if (!file.read_at(counter.at, size_of(counter.dtype), bytes).ok()) return std::nullopt;
  return whole_number(counter.dtype, bytes);
}

}  // namespace mw
