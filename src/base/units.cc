#include "base/units.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/numbers.h"
#include "base/text.h"

namespace mw {
namespace {

struct Unit {
  std::string_view name;
  double size;
};

// Seconds in a unit, the largest first.
constexpr std::array kTimes = {Unit{"d", 86400}, Unit{"h", 3600}, Unit{"m", 60}, Unit{"s", 1}, Unit{"ms", 0.001}};
constexpr std::array kSizes = {Unit{"TiB", 1024.0 * 1024 * 1024 * 1024},
                               Unit{"GiB", 1024.0 * 1024 * 1024},
                               Unit{"MiB", 1024.0 * 1024},
                               Unit{"KiB", 1024},
                               Unit{"TB", 1e12},
                               Unit{"GB", 1e9},
                               Unit{"MB", 1e6},
                               Unit{"KB", 1e3},
                               Unit{"B", 1}};
constexpr double kMostSeconds = 1e9;  // 31 years; nanoseconds of it fit
constexpr double kMostBytes = 1e18;

constexpr std::string_view kTimeHint = "Write a number with ms, s, m, h or d: \"30s\", \"1h 30m\".";
constexpr std::string_view kSizeHint =
    "Write a number with B, KB, MB, GB, TB or KiB, MiB, GiB, TiB: \"10GB\", \"5GiB\".";

Error wrong(std::string what, std::string_view hint) {
  return {Error::Code::kInvalid, std::move(what), std::string(hint)};
}

std::string quoted(std::string_view text) { return cat("\"", clip(sanitize_utf8(text), 60), "\""); }

/// The sum of "number unit" pairs.
Result<double> parse_units(std::string_view text, std::span<const Unit> units, std::string_view noun,
                           std::string_view hint) {
  std::string_view rest = trim(text);
  if (rest.empty()) return wrong(cat("an empty text is not a ", noun), hint);
  double sum = 0;
  while (!rest.empty()) {
    size_t used = 0;
    const auto number = parse_double_prefix(rest, &used);
    if (!number || !std::isfinite(*number) || *number < 0) return wrong(cat(quoted(text), " is not a ", noun), hint);
    rest = trim(rest.substr(used));
    size_t letters = 0;
    while (letters < rest.size() && ((rest[letters] | 0x20) >= 'a' && (rest[letters] | 0x20) <= 'z')) ++letters;
    const std::string_view name = rest.substr(0, letters);
    if (name.empty()) return wrong(cat(quoted(text), " has no unit"), hint);
    const auto* unit =
        std::find_if(units.begin().base(), units.end().base(), [&](const Unit& u) { return u.name == name; });
    if (unit == units.end().base()) return wrong(cat(quoted(name), " is not a unit of a ", noun), hint);
    sum += *number * unit->size;
    rest = trim(rest.substr(letters));
  }
  return sum;
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  const auto seconds = parse_units(text, kTimes, "duration", kTimeHint);
  if (!seconds.ok()) return seconds.error();
  if (*seconds > kMostSeconds) return wrong(cat(quoted(text), " is too long"), kTimeHint);
  return Duration{std::llround(*seconds * 1e9)};
}

std::string duration_text(Duration duration) {
  if (duration.ns == 0) return "0s";
  int64_t left = duration.ns;
  std::string out;
  for (const Unit& unit : kTimes) {
    const auto size = std::llround(unit.size * 1e9);
    const int64_t count = left / size;
    if (count == 0) continue;
    out += cat(out.empty() ? "" : " ", count, unit.name);
    left -= count * size;
  }
  return out.empty() ? cat(format_double(duration.seconds() * 1e3), "ms") : out;
}

Result<int64_t> parse_size(std::string_view text) {
  const auto bytes = parse_units(text, kSizes, "size", kSizeHint);
  if (!bytes.ok()) return bytes.error();
  if (*bytes > kMostBytes) return wrong(cat(quoted(text), " is too large"), kSizeHint);
  return std::llround(*bytes);
}

std::string size_text(int64_t bytes) {
  std::string best = cat(bytes, "B");
  for (const Unit& unit : kSizes) {
    const auto size = static_cast<int64_t>(unit.size);
    std::string text = cat(bytes / size, unit.name);
    if (bytes != 0 && bytes % size == 0 && text.size() < best.size()) best = std::move(text);
  }
  return best;
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  constexpr size_t kLongestWord = 64;  // compared at all
  if (word.empty() || word.size() > kLongestWord) return {};
  std::string_view best;
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string_view other : known) {
    if (other.empty() || other.size() > kLongestWord) continue;
    // Levenshtein's distance, row by row.
    std::vector<size_t> row(other.size() + 1);
    for (size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= word.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j < row.size(); ++j) {
        const size_t above = row[j];
        const bool same = word[i - 1] == other[j - 1] || (word[i - 1] == '-' && other[j - 1] == '_');
        row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (same ? 0 : 1)});
        diagonal = above;
      }
    }
    const bool part = word.size() > 3 && (contains(other, word) || contains(word, other));
    const size_t distance = part ? std::min<size_t>(row.back(), 2) : row.back();
    if (distance >= best_distance) continue;
    best = other;
    best_distance = distance;
  }
  return best;
}

}  // namespace mw
