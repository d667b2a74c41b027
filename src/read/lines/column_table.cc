#include "read/lines/column_table.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"

namespace mw {
namespace {

constexpr double kStepLimit = 1e9;

/// A head's cell as the name that a trainer logs under.
std::string name_of(std::string_view cell) {
  while (!cell.empty() && (cell.front() == '*' || cell.front() == '`')) cell.remove_prefix(1);
  while (!cell.empty() && (cell.back() == '*' || cell.back() == '`')) cell.remove_suffix(1);
  const std::string folded = to_lower(trim(cell));
  if (folded == "training loss" || folded == "train loss") return "loss";
  if (folded == "validation loss" || folded == "eval loss") return "eval_loss";
  std::string name;
  for (const char c : trim(cell)) {
    if (c == '/' && !name.empty() && name.back() == ' ') name.pop_back();
    if (c == ' ' && !name.empty() && name.back() == '/') continue;  // "completions / mean_length"
    name.push_back(c);
  }
  return name;
}

bool counts_steps(std::string_view cell) {
  static constexpr std::array<std::string_view, 6> kWords = {"step",      "steps",  "global_step",
                                                             "iteration", "update", "training step"};
  const std::string name = to_lower(name_of(cell));
  return std::find(kWords.begin(), kWords.end(), name) != kWords.end();
}

}  // namespace

std::vector<std::string_view> ColumnTable::cells(std::string_view text, char between) const {
  std::vector<std::string_view> out;
  text = trim(text);
  if (between == '|') {
    if (text.starts_with('|')) text.remove_prefix(1);
    if (text.ends_with('|')) text.remove_suffix(1);
  }
  while (out.size() <= kColumnsLimit) {
    const size_t end = between == ' ' ? text.find("  ") : text.find(between);
    out.push_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) break;
    text = between == ' ' ? trim(text.substr(end)) : text.substr(end + 1);
  }
  return out;
}

bool ColumnTable::head(std::string_view text, const std::function<bool(std::string_view)>& known) {
  if (text.ends_with('\\')) return false;  // pandas shows a wide frame so, whose rows have their number before them
  for (const char between : {'|', '\t', ',', ';', ' '}) {
    const std::vector<std::string_view> all = cells(text, between);
    const bool of_writer = all.size() == 2 && all[1] == "Training Loss";  // where a trainer reports nothing else
    if ((all.size() < kColumnsLeast && !of_writer) || all.size() > kColumnsLimit) continue;
    const auto counting = std::find_if(all.begin(), all.end(), counts_steps);
    if (counting == all.end()) continue;
    std::vector<std::string> names;
    size_t measured = 0;
    double number = 0;
    if (std::any_of(all.begin(), all.end(), [&](std::string_view cell) { return metric_number(cell, &number); }))
      continue;
    for (const std::string_view cell : all) {
      names.push_back(name_of(cell));
      measured += known(names.back()) ? 1 : 0;
    }
    if (measured < kColumnsLeast - 1 && !of_writer) continue;
    names_ = std::move(names);
    step_at_ = static_cast<size_t>(counting - all.begin());
    between_ = between;
    foreign_ = 0;
    return true;
  }
  return false;
}

ColumnTable::Took ColumnTable::take(std::string_view text, const std::function<bool(std::string_view)>& known,
                                    MetricLine& out, int64_t* step) {
  if (text.size() > kLineLimit) return Took::kNo;
  const std::string_view bare = trim(text);
  if (between_ == 0) {
    // A head has one of the words that count steps in it, and "te" with it; most lines have none, and are not split.
    const bool may =
        bare.size() > 8 && bare.find('=') == std::string_view::npos && contains_folded(bare, "te") &&
        (contains_folded(bare, "step") || contains_folded(bare, "iteration") || contains_folded(bare, "update"));
    return may && head(bare, known) ? Took::kHead : Took::kNo;
  }
  if (is_table_frame(bare)) return Took::kHead;
  std::vector<std::string_view> row = cells(bare, between_);
  if (row.size() != names_.size() && between_ == '\t') row = cells(bare, ' ');
  double number = 0;
  const bool numbered = row.size() == names_.size() && metric_number(row[step_at_], &number) && number >= 0 &&
                        number < kStepLimit && std::floor(number) == number;
  if (!numbered) {
    if (++foreign_ > kBetweenLimit || bare.empty()) between_ = 0;
    return Took::kNo;
  }
  foreign_ = 0;
  out.clear();
  *step = static_cast<int64_t>(number);
  for (size_t i = 0; i < row.size(); ++i) {
    if (i != step_at_ && metric_number(row[i], &number)) out.add(names_[i], number);  // "No Log" where there is none
  }
  return out.numbers().empty() ? Took::kHead : Took::kRow;
}

}  // namespace mw
