#include "core/rate_plan.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace mw {
namespace {

constexpr size_t kLeast = 8;         // points that fall
constexpr double kFall = 0.01;       // of the highest rate: less may be rounding
constexpr double kLineError = 0.01;  // of the fall that is seen
constexpr double kCosineError = 0.05;
constexpr double kFlatTop = 0.995;  // of the highest rate: where a cosine falls too slowly to say anything

using Pairs = std::vector<std::pair<double, double>>;  // step, value

/// Where the straight line from the first to the last point reaches `level`; nullopt: a point lies off it.
std::optional<double> reaches(const Pairs& points, double level, double error) {
  if (points.size() < kLeast) return std::nullopt;
  const auto [first_step, first] = points.front();
  const auto [last_step, last] = points.back();
  const double slope = (last - first) / (last_step - first_step);
  if (slope == 0 || (level - last) / slope < 0) return std::nullopt;
  for (const auto& [step, value] : points) {
    if (std::abs(value - (first + slope * (step - first_step))) > error * std::abs(last - first)) return std::nullopt;
  }
  return last_step + (level - last) / slope;
}

}  // namespace

std::optional<int64_t> planned_by_rate(const std::vector<Point>& points, uint16_t attempt) {
  Pairs rates;
  for (const Point& point : points) {
    if (point.attempt != attempt || point.step == kNoStep || !std::isfinite(point.value) || point.value <= 0) continue;
    const auto step = static_cast<double>(point.step);
    if (!rates.empty() && step <= rates.back().first) return std::nullopt;
    rates.emplace_back(step, point.value);
  }
  if (rates.size() < kLeast) return std::nullopt;
  // What lies before the last highest one is a warm-up.
  auto top = std::max_element(rates.rbegin(), rates.rend(), [](const auto& a, const auto& b) {
               return a.second < b.second;
             }).base();
  const double peak = (--top)->second;
  rates.erase(rates.begin(), top);
  const bool falls =
      std::is_sorted(rates.begin(), rates.end(), [](const auto& a, const auto& b) { return a.second > b.second; }) &&
      rates.back().second < (1 - kFall) * peak;
  if (!falls) return std::nullopt;
  auto end = reaches(rates, 0, kLineError);
  if (!end) {
    Pairs angles;
    for (const auto& [step, rate] : rates) {
      if (rate < kFlatTop * peak) angles.emplace_back(step, std::acos(2 * rate / peak - 1));
    }
    end = reaches(angles, std::numbers::pi, kCosineError);
  }
  if (!end || *end > 1e12) return std::nullopt;
  return static_cast<int64_t>(std::llround(*end));
}

}  // namespace mw
