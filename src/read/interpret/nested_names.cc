#include "read/interpret/nested_names.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kLeast = 2;  // figures that training measures: one alone may be of anything

/// Objects that say of their figures whose or of what they are.
bool tells_apart(std::string_view folder) {
  static constexpr std::array<std::string_view, 18> kWords = {
      "eval",   "val",   "test", "critic", "ref",   "teacher",  "reward", "tim",    "perf",
      "system", "debug", "aux",  "env",    "judge", "baseline", "best",   "config", "target"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return contains_folded(folder, word); });
}

std::string_view folder_in(std::string_view key) {
  const size_t slash = key.rfind('/');
  return slash == std::string_view::npos || slash == 0 ? std::string_view() : key.substr(0, slash);
}

}  // namespace

bool read_nested_names(std::span<const RowNumber> numbers, const DialectBook& book, GenericReader& generic,
                       std::vector<RowNumber>& out) {
  std::map<std::string_view, std::vector<size_t>> by_folder;  // of figures that would be known without it
  for (size_t i = 0; i < numbers.size(); ++i) {
    const std::string_view key = numbers[i].key, folder = folder_in(key);
    if (folder.empty() || generic.measures(key) || !generic.measures(key.substr(folder.size() + 1))) continue;
    if (!tells_apart(folder)) by_folder[folder].push_back(i);
  }
  if (by_folder.empty()) return false;
  const auto most = std::max_element(by_folder.begin(), by_folder.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (most == by_folder.end() || most->second.size() < kLeast) return false;
  const size_t several = static_cast<size_t>(std::count_if(
      by_folder.begin(), by_folder.end(), [&](const auto& one) { return one.second.size() == most->second.size(); }));
  if (several > 1) return false;  // one for each policy, or for each task
  std::set<std::string> known;    // signals that have a name of their own
  for (const RowNumber& one : numbers) known.insert(book.generic_meaning(one.key).signal);
  out.assign(numbers.begin(), numbers.end());
  for (RowNumber& one : out) {
    if (folder_in(one.key) != most->first || !book.generic_meaning(one.key).signal.empty()) continue;
    const std::string_view bare = one.key.substr(most->first.size() + 1);
    if (known.count(book.generic_meaning(bare).signal) == 0) one.key = bare;
  }
  return true;
}

}  // namespace mw
