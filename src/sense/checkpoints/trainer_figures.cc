#include "sense/checkpoints/trainer_figures.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/one_of.h"
#include "base/text.h"

namespace mw {
namespace {

/// Parts of a trainer's state, and of models that carry metrics with them.
bool is_part_of_trainer(std::string_view segment) {
  constexpr std::array<std::string_view, 10> kParts = {"callbacks",     "callback_states", "metrics",   "metric",
                                                       "loops",         "history",         "scheduler", "lr_scheduler",
                                                       "lr_schedulers", "early_stopping"};
  return is_one_of(segment, kParts);
}

std::string_view last_segment(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

/// The key of the outermost dict below which a tensor lies; "" of one that is itself a value of that dict. Keys may
/// have dots in them, as those of a model's own dict do.
std::string_view part_of_file(std::string_view name, const std::set<std::string>& keys) {
  for (size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
    if (keys.count(std::string(name.substr(0, dot))) != 0) return name.substr(0, dot);
  }
  return "";
}

bool is_matrix(const TensorPlace& tensor) {
  const auto wide = std::count_if(tensor.shape.begin(), tensor.shape.end(), [](int64_t size) { return size > 1; });
  return tensor.shape.size() >= 2 && wide > 0;
}

}  // namespace

bool is_trainer_figure(std::string_view name, uint64_t numbers) {
  if (numbers != 1) return false;
  const std::string_view last = last_segment(name);
  if (last.starts_with("best_") || last == "best" || last == "kth_value") return true;
  const auto segments = split(name, '.');
  return std::any_of(segments.begin(), segments.end(),
                     [](std::string_view segment) { return is_part_of_trainer(segment); });
}

void mark_trainer_figures(FileDirectory& directory) {
  const auto numbers_of = [](const ByteRange& range) {
    const size_t size = size_of(range.dtype);
    return size == 0 ? 0 : range.bytes / size;
  };
  for (ByteRange& range : directory.ranges)
    range.figure = has_point(range.dtype) && is_trainer_figure(range.name, numbers_of(range));
  // Whose outermost dict is not known has no parts.
  if (directory.keys.empty()) return;
  std::set<std::string_view> with_matrix;
  for (const TensorPlace& tensor : directory.tensors) {
    if (has_point(tensor.dtype) && is_matrix(tensor)) with_matrix.insert(part_of_file(tensor.name, directory.keys));
  }
  const bool has_model = std::any_of(with_matrix.begin(), with_matrix.end(),
                                     [](std::string_view part) { return !is_part_of_trainer(part); });
  if (!has_model) return;
  // What several tensors share is a figure where all of them are.
  std::map<uint64_t, bool> figures;  // by the place of their storage
  const auto storage_of = [&directory](uint64_t at) {
    auto after = std::upper_bound(directory.ranges.begin(), directory.ranges.end(), at,
                                  [](uint64_t place, const ByteRange& range) { return place < range.at; });
    return after == directory.ranges.begin() ? directory.ranges.end() : std::prev(after);
  };
  for (const TensorPlace& tensor : directory.tensors) {
    const auto range = storage_of(tensor.at);
    if (range == directory.ranges.end() || !has_point(range->dtype)) continue;
    const std::string_view part = part_of_file(tensor.name, directory.keys);
    // An average of the weights may be a callback's.
    const bool trainers = is_part_of_trainer(part) && !(part.starts_with("callback") && is_matrix(tensor));
    const bool figure = trainers || (numbers_of(*range) == 1 && with_matrix.count(part) == 0);
    const auto [known, fresh] = figures.emplace(range->at, figure);
    if (!fresh) known->second = known->second && figure;
  }
  for (ByteRange& range : directory.ranges) {
    const auto found = figures.find(range.at);
    range.figure = range.figure || (found != figures.end() && found->second && has_point(range.dtype));
  }
}

bool may_be_infinite(std::string_view name, const TensorFigures& figures) {
  if (contains(name, "mask") || contains(name, "alibi")) return true;
  if (figures.nan > 0) return false;
  if (contains(name, "causal") || contains(name, "attn_bias") || contains(name, "attention_bias")) return true;
  // The bounds of an observer that saw nothing yet.
  constexpr std::array<std::string_view, 4> kBounds = {"min_val", "max_val", "running_min", "running_max"};
  if (figures.not_finite == figures.numbers) return is_one_of(last_segment(name), kBounds);
  // Zeros, and infinities in a quarter of it or more: added to scores, it shuts some of them out. No training makes it.
  return figures.squares == 0 && figures.numbers > 1 && figures.not_finite >= figures.numbers / 4;
}

std::string not_finite_in(std::string_view name, const TensorFigures& figures) {
  return cat(figures.not_finite, " of the ", figures.numbers, " numbers of ", name, " are ",
             figures.nan == 0                    ? "infinite"
             : figures.nan == figures.not_finite ? "NaN"
                                                 : "NaN or infinite");
}

}  // namespace mw
