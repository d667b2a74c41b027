#include "read/lines/column_table.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"

namespace mw {
namespace {

constexpr double kStepLimit = 1e9;
constexpr std::string_view kTrainersLoss = "Training Loss";  // as transformers heads its column in a notebook

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
  static_assert(std::all_of(kWords.begin(), kWords.end(),
                            [](std::string_view word) { return word.find("te") != std::string_view::npos; }));
  if (!contains_folded(cell, "te")) return false;  // which each of them has
  const std::string name = to_lower(name_of(cell));
  return std::find(kWords.begin(), kWords.end(), name) != kWords.end();
}

/// Between cells that are words of a width which the longest of them fill: any space.
constexpr char kAnySpace = 'w';

std::vector<std::string_view> words(std::string_view text, size_t most) {
  std::vector<std::string_view> out;
  for (text = trim(text); !text.empty() && out.size() <= most; text = trim(text)) {
    const size_t end = std::min(text.find_first_of(" \t"), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

}  // namespace

std::vector<std::string_view> ColumnTable::cells(std::string_view text, char between) const {
  if (between == kAnySpace) return words(text, kColumnsLimit);
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
  const bool spaced = contains(text, "  ");
  for (const char between : {'|', '\t', ',', ';', ' ', kAnySpace}) {
    const bool stands = between == ' ' || between == kAnySpace ? spaced : text.find(between) != std::string_view::npos;
    if (!stands) continue;
    const std::vector<std::string_view> all = cells(text, between);
    const bool of_writer = all.size() == 2 && all[1] == kTrainersLoss;  // where a trainer reports nothing else
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
    // A sentence has words that measure nothing.
    const bool wide = counting == all.begin() && 2 * measured >= all.size() - 1;
    if (between == kAnySpace && !wide) continue;
    const bool of_trainer = std::find(all.begin(), all.end(), kTrainersLoss) != all.end();
    open_ = Head{between, static_cast<size_t>(counting - all.begin()), std::move(names), 0, -1, of_trainer};
    ++tables_;
    foreign_ = 0;
    return true;
  }
  return false;
}

/// Whether `text` is a row of a table. `goes_on`: it has to be one behind those that came.
bool ColumnTable::row(Head& of, std::string_view text, bool goes_on, MetricLine& out, int64_t* step) const {
  if (of.between == 0 || text.find(of.between == kAnySpace ? ' ' : of.between) == std::string_view::npos) return false;
  std::vector<std::string_view> all = cells(text, of.between);
  if (all.size() != of.names.size() && of.between == '\t') all = cells(text, ' ');
  double number = 0;
  const bool numbered = all.size() == of.names.size() && metric_number(all[of.step_at], &number) && number >= 0 &&
                        number < kStepLimit && std::floor(number) == number;
  if (!numbered || (goes_on && number <= of.last)) return false;
  of.last = number;
  of.rows = std::min(of.rows + 1, kRowsKept);
  out.clear();
  *step = static_cast<int64_t>(number);
  for (size_t i = 0; i < all.size(); ++i) {
    const bool percent = all[i].ends_with('%');
    if (percent) all[i].remove_suffix(1);
    if (i != of.step_at && metric_number(all[i], &number))
      out.add(of.names[i], number, percent ? 100 : 1);  // "No Log" where there is none
  }
  return true;
}

/// Something else stands below the open table. One that had rows goes on behind it.
void ColumnTable::interrupted() {
  if (open_.rows >= kRowsKept || (of_cells_ && open_.rows > 0)) left_ = std::move(open_);
  open_ = Head();
}

ColumnTable::Took ColumnTable::take(std::string_view text, const std::function<bool(std::string_view)>& known,
                                    MetricLine& out, int64_t* step) {
  if (text.size() > kLineLimit) return Took::kNo;
  const std::string_view bare = trim(text);
  const auto took = [&out] { return out.numbers().empty() ? Took::kHead : Took::kRow; };
  // A head has one of the words that count steps in it, and "te" with it; most lines have none, and are not split.
  const bool may =
      bare.size() > 8 && bare.find('=') == std::string_view::npos && contains_folded(bare, "te") &&
      (contains_folded(bare, "step") || contains_folded(bare, "iteration") || contains_folded(bare, "update"));
  if (open_.between != 0) {
    const bool ruled = open_.between != ',' && open_.between != ';' && (open_.rows > 0 || foreign_ == 0);
    if (ruled && is_table_frame(bare)) return Took::kHead;
    if (row(open_, bare, false, out, step)) return foreign_ = 0, took();
    if (may && open_.rows > 0 && head(bare, known)) return Took::kHead;
    if (++foreign_ > kBetweenLimit || bare.empty()) interrupted();
    return Took::kNo;
  }
  if (left_.between != 0 && row(left_, bare, true, out, step)) {
    open_ = std::move(left_);
    left_ = Head();
    foreign_ = 0;
    return took();
  }
  return may && head(bare, known) ? Took::kHead : Took::kNo;
}

}  // namespace mw
