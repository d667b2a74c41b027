#include "ui/view/plot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/numbers.h"

namespace mw {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Where each point lies, 0..1: by its step where all steps are known and in order, else one after the other.
std::vector<double> places(const std::vector<Point>& points) {
  std::vector<double> at(points.size());
  bool ordered = points.front().step != kNoStep;
  for (size_t i = 1; i < points.size(); ++i) ordered = ordered && points[i].step >= points[i - 1].step;
  const auto first = static_cast<double>(points.front().step);
  const double span = static_cast<double>(points.back().step) - first;
  const auto last = static_cast<double>(std::max<size_t>(2, points.size()) - 1);
  for (size_t i = 0; i < points.size(); ++i) {
    at[i] = ordered && span > 0 ? (static_cast<double>(points[i].step) - first) / span : static_cast<double>(i) / last;
  }
  return at;
}

/// The cell of each point, of `cells` equal stretches.
std::vector<size_t> cells_of(const std::vector<Point>& points, size_t cells) {
  std::vector<size_t> out;
  for (const double at : places(points))
    out.push_back(std::min(cells - 1, static_cast<size_t>(at * static_cast<double>(cells))));
  return out;
}

/// Means over `cells` equal stretches; NaN where a stretch holds nothing finite, the value before where it holds
/// nothing.
std::vector<double> resample(const std::vector<Point>& points, size_t cells) {
  const std::vector<size_t> of = cells_of(points, cells);
  std::vector<double> sums(cells, 0), finite(cells, 0), all(cells, 0);
  for (size_t i = 0; i < points.size(); ++i) {
    all[of[i]] += 1;
    if (!std::isfinite(points[i].value)) continue;
    sums[of[i]] += points[i].value;
    finite[of[i]] += 1;
  }
  for (size_t c = 0; c < cells; ++c) {
    sums[c] = finite[c] > 0 ? sums[c] / finite[c] : all[c] > 0 || c == 0 ? kNone : sums[c - 1];
  }
  return sums;
}

void range_of(const std::vector<double>& values, double* least, double* most) {
  *least = std::numeric_limits<double>::infinity();
  *most = -std::numeric_limits<double>::infinity();
  for (const double v : values) {
    if (std::isnan(v)) continue;
    *least = std::min(*least, v);
    *most = std::max(*most, v);
  }
}

/// By cell: the point that lies farthest outside the range of the means, where it lies there by more than half of that
/// range; NaN elsewhere. A mean hides what a step or two did alone. Points that scatter everywhere are noise, and none
/// of them is given.
std::vector<double> outliers(const std::vector<Point>& points, const std::vector<double>& means) {
  constexpr size_t kRare = 8;  // at most one cell of so many
  double least = 0, most = 0;
  range_of(means, &least, &most);
  const double beyond = (most - least) / 2;
  std::vector<double> out(means.size(), kNone);
  const std::vector<size_t> of = cells_of(points, means.size());
  const auto outside = [&](double v) { return std::max(v - most, least - v); };
  for (size_t i = 0; i < points.size(); ++i) {
    const double v = points[i].value;
    if (!std::isfinite(v) || !(outside(v) > beyond)) continue;
    if (double& kept = out[of[i]]; std::isnan(kept) || outside(v) > outside(kept)) kept = v;
  }
  const auto some = std::count_if(out.begin(), out.end(), [](double v) { return !std::isnan(v); });
  return static_cast<size_t>(some) * kRare <= out.size() ? out : std::vector<double>(out.size(), kNone);
}

void append_point(std::string& out, unsigned code) {
  out.push_back(static_cast<char>(0xe0 | (code >> 12)));
  out.push_back(static_cast<char>(0x80 | ((code >> 6) & 0x3f)));
  out.push_back(static_cast<char>(0x80 | (code & 0x3f)));
}

}  // namespace

std::string sparkline(const std::vector<Point>& points, size_t width, bool unicode) {
  if (points.empty() || width == 0) return "";
  const std::vector<double> cells = resample(points, std::min(width, points.size()));
  double least = 0, most = 0;
  range_of(cells, &least, &most);
  std::string out;
  for (const double v : cells) {
    if (std::isnan(v)) {
      out += unicode ? "×" : "x";
      continue;
    }
    const double share = most > least ? (v - least) / (most - least) : 0.5;
    const int level = std::clamp(static_cast<int>(share * 8), 0, 7);
    if (unicode) {
      append_point(out, 0x2581U + static_cast<unsigned>(level));
    } else {
      out.push_back("_.-~=+*#"[level]);
    }
  }
  return out;
}

std::vector<std::string> braille_plot(const std::vector<Point>& points, size_t width, size_t height) {
  if (points.empty() || width == 0 || height == 0) return {};
  const size_t columns = width * 2, rows = height * 4;
  const std::vector<double> values = resample(points, std::min(columns, points.size()));
  const std::vector<double> spikes = outliers(points, values);
  double least = 0, most = 0, lowest = 0, highest = 0;
  range_of(values, &least, &most);
  range_of(spikes, &lowest, &highest);
  if (!(least <= most)) return {};
  least = std::min(least, lowest);
  most = std::max(most, highest);
  std::vector<unsigned> cells(width * height, 0);
  const auto row_of = [&](double v) {
    // In halves, as the range of two doubles need not be one.
    const double share = most > least ? (v / 2 - least / 2) / (most / 2 - least / 2) : 0.5;
    return std::lround((1 - share) * static_cast<double>(rows - 1));
  };
  static constexpr unsigned kDots[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  long previous = -1;
  for (size_t x = 0; x < columns; ++x) {
    const size_t i = std::min(values.size() - 1, x * values.size() / columns);
    if (std::isnan(values[i])) {
      previous = -1;
      continue;
    }
    const long y = row_of(values[i]);
    const long spike = std::isnan(spikes[i]) ? y : row_of(spikes[i]);
    const long from = std::min({y, previous < 0 ? y : previous, spike});
    const long to = std::max({y, previous < 0 ? y : previous, spike});
    for (long row = from; row <= to; ++row) {
      cells[static_cast<size_t>(row / 4) * width + x / 2] |= kDots[row % 4][x % 2];
    }
    previous = y;
  }
  std::vector<std::string> lines;
  for (size_t row = 0; row < height; ++row) {
    std::string label = row == 0 ? format_short(most, 3) : row + 1 == height ? format_short(least, 3) : "";
    label.insert(0, label.size() < 9 ? 9 - label.size() : 0, ' ');
    std::string line = label + " ┤";
    for (size_t x = 0; x < width; ++x) append_point(line, 0x2800U + cells[row * width + x]);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace mw
