#include "core/detect/support/mixture.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "core/detect/support/objective_changed.h"
#include "core/evaluation_name.h"

namespace mw::detect {
namespace {

constexpr size_t kWidth = 10;      // points of a figure on either side
constexpr size_t kFamilies = 256;  // names with one word left out
constexpr size_t kParts = 64;      // of one of them
constexpr size_t kNamed = 3;       // parts that a sentence names
constexpr double kBeyond = 0.1;    // of their range: a mean of other records than those of the parts

/// Two parts of one mean are called alike but for one word.
using Families = std::map<std::string, std::vector<const Series*>, std::less<>>;

bool is_level(std::string_view name) {
  constexpr std::array<std::string_view, 10> kNot = {"std",   "min", "max",    "count",  "length",
                                                     "token", "num", "weight", "format", "penalty"};
  return std::none_of(kNot.begin(), kNot.end(), [name](std::string_view word) { return contains_folded(name, word); });
}

std::string_view name_of(const Series& series) { return series.raw.empty() ? series.signal : series.raw; }

bool is_part(const Series& series, const Series& whole) {
  const std::string_view name = name_of(series);
  if (name == name_of(whole) || !is_level(name)) return false;
  return series.signal.starts_with("reward.component.") || evaluation_sense(name) == EvaluationSense::kHigher;
}

void add_to_families(const Series& series, Families& families) {
  constexpr std::string_view kBetween = "/._-:";
  const std::string_view name = name_of(series);
  for (size_t begin = 0; begin < name.size();) {
    const size_t end = std::min(name.find_first_of(kBetween, begin), name.size());
    const std::string family = cat(name.substr(0, begin), "*", name.substr(end));
    auto known = families.find(family);
    if (known == families.end() && families.size() < kFamilies) known = families.try_emplace(family).first;
    if (known != families.end() && known->second.size() < kParts) known->second.push_back(&series);
    begin = end + 1;
  }
}

/// Of parts that all hold, between what least and most the mean can be.
struct Held {
  double least_before = 0, most_before = 0, least_after = 0, most_after = 0;
  size_t parts = 0;
};

std::optional<Held> all_held(const std::vector<const Series*>& parts, const Point& onset, const Point& now) {
  Held held;
  for (const Series* part : parts) {
    const auto shift = shift_of(part, onset, now, kWidth);
    if (!shift) continue;  // sampled in the one time and not in the other
    if (shift->after < shift->before - kHolds.value * std::abs(shift->before)) return std::nullopt;
    const bool first = held.parts++ == 0;
    held.least_before = first ? shift->before : std::min(held.least_before, shift->before);
    held.most_before = first ? shift->before : std::max(held.most_before, shift->before);
    held.least_after = first ? shift->after : std::min(held.least_after, shift->after);
    held.most_after = first ? shift->after : std::max(held.most_after, shift->after);
  }
  return held.parts < 2 ? std::nullopt : std::optional(held);
}

bool lies_within(double value, double least, double most) {
  const double more = kBeyond * (most - least);
  return value >= least - more && value <= most + more;
}

std::string names_of(const std::vector<const Series*>& parts) {
  std::string names;
  for (size_t i = 0; i < std::min(parts.size(), kNamed); ++i)
    names += cat(i == 0 ? "" : ", ", clip(name_of(*parts[i]), 60));
  return parts.size() > kNamed ? cat(names, " and ", parts.size() - kNamed, " more") : names;
}

}  // namespace

std::string mixture_changed(const State& state, const Track& track, size_t onset) {
  if (onset == 0 || onset >= track.size() || track.series == nullptr) return "";
  Families families;
  for (const Series& series : state.series) {
    if (is_part(series, *track.series)) add_to_families(series, families);
  }
  const Point &from = track.points[onset], &now = track.points.back();
  const auto mean = shift_of(track.series, from, now, kWidth);
  if (!mean) return "";
  for (const auto& [family, parts] : families) {
    if (parts.size() < 2) continue;
    const auto held = all_held(parts, from, now);
    if (!held || !lies_within(mean->before, held->least_before, held->most_before)) continue;
    if (!lies_within(mean->after, held->least_after, held->most_after)) continue;
    return cat("each of ", names_of(parts), " held meanwhile: it is their shares in the mean that changed");
  }
  return "";
}

}  // namespace mw::detect
