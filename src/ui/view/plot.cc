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

/// Means over `cells` equal stretches; NaN where a stretch holds nothing finite, the value before where it holds
/// nothing.
std::vector<double> resample(const std::vector<Point>& points, size_t cells) {
  const std::vector<double> at = places(points);
  std::vector<double> sums(cells, 0), finite(cells, 0), all(cells, 0);
  for (size_t i = 0; i < points.size(); ++i) {
    const size_t cell = std::min(cells - 1, static_cast<size_t>(at[i] * static_cast<double>(cells)));
    all[cell] += 1;
    if (!std::isfinite(points[i].value)) continue;
    sums[cell] += points[i].value;
    finite[cell] += 1;
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
  double least = 0, most = 0;
  range_of(values, &least, &most);
  if (!(least <= most)) return {};
  std::vector<unsigned> cells(width * height, 0);
  static constexpr unsigned kDots[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  long previous = -1;
  for (size_t x = 0; x < columns; ++x) {
    const double v = values[std::min(values.size() - 1, x * values.size() / columns)];
    if (std::isnan(v)) {
      previous = -1;
      continue;
    }
    const double share = most > least ? (v - least) / (most - least) : 0.5;
    const long y = std::lround((1 - share) * static_cast<double>(rows - 1));
    const long from = previous < 0 ? y : std::min(y, previous), to = previous < 0 ? y : std::max(y, previous);
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
