#include "read/files/notebook_cell.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr std::string_view kStepHead = "Step | ", kEpochHead = "Epoch | ", kBarsEpoch = ", Epoch ";
constexpr int64_t kNone = -1;
constexpr size_t kStatedLeast = 2;  // lines below a table that say steps which it has, too

struct Line {
  std::string_view text;  // with its end
  uint32_t at = 0;        // in the file
  int64_t step = kNone;   // of a table's row, or as the line says
};

/// Cuts the next line off `rest`, with its end.
std::string_view next_line(std::string_view& rest) {
  const std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
  rest.remove_prefix(line.size());
  return line;
}

/// The whole number that `text` begins with, and `behind` what follows it.
std::optional<int64_t> leading_number(std::string_view text, std::string_view* behind) {
  constexpr size_t kDigits = 12;
  const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  *behind = text.substr(end);
  return end == 0 || end > kDigits ? std::nullopt : parse_int(text.substr(0, end));
}

/// The step of a row "10 | 0.5".
int64_t step_of_row(std::string_view row) {
  std::string_view behind;
  const auto step = leading_number(row, &behind);
  return step && behind.starts_with(" |") ? *step : kNone;
}

/// The step of "Step 10 | reward: 0.5", "[step=10] …".
int64_t stated_step(std::string_view text) {
  constexpr std::string_view kWord = "step";
  const size_t begin = text.find_first_not_of(" [(");
  if (begin == std::string_view::npos || to_lower(text.substr(begin, kWord.size())) != kWord) return kNone;
  text.remove_prefix(begin + kWord.size());
  text.remove_prefix(std::min(text.find_first_not_of(" :=#"), text.size()));
  std::string_view behind;
  return leading_number(text, &behind).value_or(kNone);
}

template <typename StepOf>
void add_lines(const NotebookPiece& piece, StepOf step_of, std::vector<Line>& out) {
  size_t number = 0;
  for (std::string_view rest = piece.text; !rest.empty(); ++number) {
    const std::string_view text = next_line(rest);
    const uint32_t at = piece.lines.empty() ? 0 : piece.lines[std::min(number, piece.lines.size() - 1)];
    out.push_back({text, at, step_of(text)});
  }
}

/// Of the lines below a table, those that say a step which the table has, each behind the one before; the steps of the
/// others are forgotten. How many there are.
size_t keep_steps_of(const std::vector<Line>& table, std::vector<Line>& below) {
  std::vector<int64_t> steps;
  for (const Line& row : table) {
    if (row.step != kNone) steps.push_back(row.step);
  }
  std::sort(steps.begin(), steps.end());
  size_t stated = 0;
  int64_t last = kNone;
  for (Line& line : below) {
    const bool fits = line.step >= last && std::binary_search(steps.begin(), steps.end(), line.step);
    line.step = fits ? line.step : kNone;
    last = std::max(last, line.step);
    stated += fits ? 1 : 0;
  }
  return stated;
}

/// A table, pieces[0], and what was printed below it. Where that says steps of the table, each row comes in front of
/// the line of its step, and what is left of the table behind the last such line.
void append_merged(std::span<const NotebookPiece> pieces, NotebookPiece& out) {
  std::vector<Line> table, below;
  if (pieces.size() > 1) {
    add_lines(pieces[0], step_of_row, table);
    for (const NotebookPiece& piece : pieces.subspan(1)) add_lines(piece, stated_step, below);
  }
  size_t stated = keep_steps_of(table, below);
  if (stated < kStatedLeast) {
    for (const NotebookPiece& piece : pieces) out.append(piece);
    return;
  }
  size_t next = 0;
  const auto rows_up_to = [&](int64_t step) {
    for (; next < table.size() && (step == kNone || table[next].step <= step); ++next)
      out.append(table[next].text, table[next].at);
  };
  for (const Line& line : below) {
    if (line.step != kNone) rows_up_to(line.step);
    out.append(line.text, line.at);
    if (line.step != kNone && --stated == 0) rows_up_to(kNone);
  }
}

bool is_table(const NotebookPiece& piece) { return piece.text.starts_with(kStepHead); }

/// The head and the rows of a table, without the bar below them.
std::string_view rows_of(const NotebookPiece& table) {
  std::string_view rest = table.text;
  next_line(rest);
  while (!rest.empty() && step_of_row(rest) != kNone) next_line(rest);
  return std::string_view(table.text).substr(0, table.text.size() - rest.size());
}

/// What a bar of transformers says: "[939/1000 3:13:43 < 10:00, 0.1 it/s, Epoch 3/17]".
struct EpochBar {
  int64_t done = 0, total = 0;
  int64_t epoch = 0, epochs = 0;  ///< the number of the epoch that it is in, and of all
};

std::optional<EpochBar> epoch_bar(std::string_view bar) {
  const size_t slash = bar.find('/'), epoch = bar.rfind(kBarsEpoch), of = bar.rfind('/');
  if (!bar.starts_with('[') || slash == std::string_view::npos || epoch == std::string_view::npos || of < epoch)
    return std::nullopt;
  std::string_view behind;
  const auto done = leading_number(bar.substr(1), &behind), total = leading_number(bar.substr(slash + 1), &behind);
  const auto now = leading_number(bar.substr(epoch + kBarsEpoch.size()), &behind);
  const auto epochs = leading_number(bar.substr(of + 1), &behind);
  if (!done || !total || !now || !epochs || *epochs <= 0 || !behind.starts_with(']')) return std::nullopt;
  return EpochBar{*done, *total, *now, *epochs};
}

/// How many steps an epoch has, 0 where the bar does not say so. Where a limit on steps ends the last epoch early it
/// has more than total/epochs and fewer than total/(epochs - 1), and the epoch that the bar is in bounds it likewise.
double steps_of_epoch(const EpochBar& bar) {
  constexpr double kNear = 1.1;
  const auto total = static_cast<double>(bar.total), done = static_cast<double>(bar.done);
  const auto epochs = static_cast<double>(bar.epochs), now = static_cast<double>(bar.epoch);
  if (bar.total % bar.epochs == 0) return total / epochs;
  const double least = std::max(total / epochs, done / (now + 1));
  const double most = std::min(total / (epochs - 1), now > 0 ? done / now : INFINITY);
  return most <= kNear * least && least <= kNear * most ? (least + most) / 2 : 0;
}

}  // namespace

void NotebookPiece::append(std::string_view value, uint32_t line) {
  for (const char c : value) {
    if (text.empty() || text.back() == '\n') lines.push_back(line);
    text.push_back(c);
  }
}

void NotebookPiece::append(const NotebookPiece& other) {
  const bool within = !text.empty() && text.back() != '\n' && !other.lines.empty();
  text.append(other.text);
  lines.insert(lines.end(), other.lines.begin() + (within ? 1 : 0), other.lines.end());
}

std::string with_steps_of_epochs(std::string_view shown) {
  std::string out;
  const size_t bar = shown.starts_with(kEpochHead) ? shown.rfind("\n[") : std::string_view::npos;
  const auto said = bar == std::string_view::npos ? std::nullopt : epoch_bar(trim(shown.substr(bar + 1)));
  const double steps = said ? steps_of_epoch(*said) : 0;
  if (!(steps >= 1)) return out = shown;
  int64_t before = kNone;
  for (std::string_view rest = shown; !rest.empty();) {
    const std::string_view line = next_line(rest);
    const int64_t epoch = step_of_row(line);
    // An epoch that ends just below its whole number is shown as the one before it.
    if (before == kNone && epoch != kNone) before = epoch == 0 ? 1 : 0;
    if (line.starts_with(kEpochHead)) {
      out.append(kStepHead);
    } else if (epoch != kNone && epoch < INT32_MAX) {
      const auto step = static_cast<int64_t>(static_cast<double>(epoch + before) * steps);
      out.append(cat(std::min(step, std::max(said->done, said->total)), " | "));
    }
    out.append(line);
  }
  return out;
}

void NotebookCell::add(NotebookPiece&& piece) {
  if (!piece.text.empty()) pieces_.push_back(std::move(piece));
}

/// A display that was closed and opened again shows the table once more, with the rows that came since: those go on
/// behind what was printed in between.
void NotebookCell::drop_shown_before() {
  std::string last;
  for (NotebookPiece& piece : pieces_) {
    if (!is_table(piece)) continue;
    const std::string rows(rows_of(piece));
    if (!last.empty() && last.size() < rows.size() && rows.starts_with(last)) {
      piece.text.erase(0, last.size());
      const auto gone = std::count(last.begin(), last.end(), '\n');
      piece.lines.erase(piece.lines.begin(),
                        piece.lines.begin() + std::min<std::ptrdiff_t>(gone, std::ssize(piece.lines)));
    }
    last = rows;
  }
}

NotebookPiece NotebookCell::take() {
  drop_shown_before();
  NotebookPiece out;
  const std::span<const NotebookPiece> all = pieces_;
  for (size_t begin = 0; begin < all.size();) {
    size_t end = begin + 1;
    if (is_table(all[begin])) {
      while (end < all.size() && !is_table(all[end])) ++end;
    }
    append_merged(all.subspan(begin, end - begin), out);
    begin = end;
  }
  pieces_.clear();
  return out;
}

}  // namespace mw
