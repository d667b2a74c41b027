#include "read/interpret/counter_line.h"

#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kNone = std::string_view::npos;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// What joins figures to a date, a path, a ratio or a decimal.
bool joins(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("/.,:-_+~%").find(c) != kNone;
}

/// The figures that end before `end`; empty when none stand there by themselves.
std::string_view figures_before(std::string_view text, size_t end) {
  size_t begin = end;
  while (begin > 0 && is_digit(text[begin - 1])) --begin;
  const bool apart = begin == 0 || !joins(text[begin - 1]);
  return apart ? text.substr(begin, end - begin) : std::string_view();
}

std::string_view figures_from(std::string_view text, size_t begin) {
  size_t end = begin;
  while (end < text.size() && is_digit(text[end])) ++end;
  const bool last = end == text.size() || !joins(text[end]);
  const bool stop = !last && std::string_view(".,:").find(text[end]) != kNone &&
                    (end + 1 == text.size() || text[end + 1] == ' ');  // the end of a sentence
  return last || stop ? text.substr(begin, end - begin) : std::string_view();
}

/// "step 31: rollouts" and "step 32: rollouts" are the same words.
std::string without_numbers(std::string_view words) {
  constexpr size_t kLimit = 200;
  std::string plain;
  for (const char c : words.substr(0, kLimit)) {
    if (!is_digit(c)) plain.push_back(c);
    if (is_digit(c) && !plain.ends_with('#')) plain.push_back('#');
  }
  return plain;
}

std::optional<CountedLine> counted_at(std::string_view text, size_t at, size_t width) {
  const std::string_view done = figures_before(text, at), total = figures_from(text, at + width);
  if (done.empty() || total.empty() || done.size() > 12 || total.size() > 12) return std::nullopt;
  const auto n = parse_int(done), all = parse_int(total);
  if (!n || !all || *all <= 1 || *n > *all) return std::nullopt;
  const auto words = [](std::string_view part) {
    while (!part.empty() && std::string_view(" :=([|-#").find(part.back()) != kNone) part.remove_suffix(1);
    return trim(part);
  };
  std::string_view what = words(text.substr(0, static_cast<size_t>(done.data() - text.data())));
  if (what.empty()) what = words(text.substr(at + width + total.size(), 80));
  return what.empty() ? std::nullopt : std::optional(CountedLine{without_numbers(what), *n, *all});
}

/// A try that failed brings nobody further.
bool counts_tries(std::string_view text) {
  static constexpr std::array<std::string_view, 5> kWords = {"retry", "retri", "attempt", "tries", "try "};
  return std::any_of(kWords.begin(), kWords.end(),
                     [text](std::string_view word) { return contains_folded(text, word); });
}

}  // namespace

std::optional<CountedLine> counted_in(std::string_view text) {
  static constexpr std::array<std::string_view, 3> kBetween = {"/", " of ", " out of "};
  for (const std::string_view between : kBetween) {
    for (size_t at = text.find(between); at != kNone; at = text.find(between, at + 1)) {
      const auto counted = counted_at(text, at, between.size());
      if (counted) return counts_tries(text) ? std::nullopt : counted;
    }
  }
  return std::nullopt;
}

bool CounterLines::moves(const std::string& what, int64_t done, int64_t total) {
  auto found = known_.find(what);
  if (found == known_.end()) {
    if (known_.size() < kLimit) known_.emplace(what, Known{done, total});
    return false;
  }
  Known& known = found->second;
  const bool same = known.total == total;
  const int64_t grain = std::max<int64_t>(1, total / 200);
  if (same && done != total && done >= known.done && done / grain == known.done / grain) return false;
  if (same && done == known.done) return false;
  known = {done, total};
  return same;
}

}  // namespace mw
