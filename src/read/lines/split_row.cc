#include "read/lines/split_row.h"

#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr std::array<std::string_view, 5> kHeldOut = {"val", "valid", "validation", "eval", "test"};
constexpr size_t kDecimals = 3;

}  // namespace

std::optional<SplitRow> read_split_row(std::string_view text) {
  constexpr size_t kBytes = 48;
  if (text.empty() || text.size() > kBytes || text[0] < '0' || text[0] > '9') return std::nullopt;
  const size_t first = text.find(' '), last = text.rfind(' ');
  if (first == std::string_view::npos || first == last) return std::nullopt;
  const std::string_view word = text.substr(first + 1, last - first - 1), number = text.substr(last + 1);
  const bool held_out = std::find(kHeldOut.begin(), kHeldOut.end(), word) != kHeldOut.end();
  if (!held_out && word != "train") return std::nullopt;
  const size_t point = number.find('.');
  const bool exact = point != std::string_view::npos && number.size() - point > kDecimals;
  const auto step = parse_int(text.substr(0, first));
  const auto loss = parse_double(number);
  const bool no_number = number == "nan" || number == "inf" || number == "-inf";
  if (!step || *step < 0 || !loss || !(exact || no_number)) return std::nullopt;
  return SplitRow{*step, held_out, *loss};
}

}  // namespace mw
