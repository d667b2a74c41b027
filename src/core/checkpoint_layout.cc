#include "core/checkpoint_layout.h"

#include <algorithm>
#include <iterator>

#include "base/numbers.h"
#include "base/text.h"
#include "core/event.h"

namespace mw {
namespace {

constexpr std::string_view kOpen = "{step";
constexpr int64_t kWidest = 18;  // digits that a step is padded to

struct Pattern {
  std::string_view before, after;
  size_t width = 0;  ///< digits at least
};

std::optional<Pattern> parse(std::string_view text) {
  const size_t open = text.find(kOpen);
  if (open == std::string_view::npos) return std::nullopt;
  const size_t close = text.find('}', open);
  if (close == std::string_view::npos || text.find(kOpen, close) != std::string_view::npos) return std::nullopt;
  Pattern pattern{text.substr(0, open), text.substr(close + 1), 0};
  std::string_view inside = text.substr(open + kOpen.size(), close - open - kOpen.size());
  if (inside.empty()) return pattern;
  if (inside.front() != ':') return std::nullopt;
  const auto width = parse_int(inside.substr(1));
  if (!width || *width < 1 || *width > kWidest) return std::nullopt;
  pattern.width = static_cast<size_t>(*width);
  return pattern;
}

bool ends_as_file(std::string_view text) {
  const std::string pattern = to_lower(text);
  constexpr std::string_view kEndings[] = {".pt", ".pth", ".bin", ".safetensors"};
  return std::any_of(std::begin(kEndings), std::end(kEndings),
                     [&pattern](std::string_view ending) { return pattern.ends_with(ending); });
}

}  // namespace

bool CheckpointLayout::names_files() const { return ends_as_file(folder) || folder.ends_with(".ckpt"); }

bool CheckpointLayout::names_folders() const { return !ends_as_file(folder); }

std::string with_step(std::string_view pattern, int64_t step) {
  const auto parsed = parse(pattern);
  if (!parsed) return std::string(pattern);
  std::string digits = cat(step);
  if (digits.size() < parsed->width) digits.insert(0, parsed->width - digits.size(), '0');
  return cat(parsed->before, digits, parsed->after);
}

std::optional<int64_t> step_in(std::string_view pattern, std::string_view name) {
  const auto parsed = parse(pattern);
  if (!parsed || name.size() <= parsed->before.size() + parsed->after.size()) return std::nullopt;
  if (!name.starts_with(parsed->before) || !name.ends_with(parsed->after)) return std::nullopt;
  const auto step =
      parse_int(name.substr(parsed->before.size(), name.size() - parsed->before.size() - parsed->after.size()));
  if (!step || *step < 0 || with_step(pattern, *step) != name) return std::nullopt;
  return step;
}

std::string number_called(const CheckpointLayout& layout, int64_t number) {
  return layout.counts_saves ? with_step(layout.folder, number) : cat("step ", number);
}

std::string checkpoint_called(const CheckpointLayout& layout, int64_t number) {
  return cat("the checkpoint ", layout.counts_saves ? "" : "of ", number_called(layout, number));
}

int64_t step_of_number(const CheckpointLayout& layout, int64_t number) {
  return layout.counts_saves ? kNoStep : number;
}

bool is_step_pattern(std::string_view pattern) {
  return parse(pattern).has_value() && pattern.find('/') == std::string_view::npos && !pattern.starts_with(".");
}

}  // namespace mw
