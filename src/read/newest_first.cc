#include "read/newest_first.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/numbers.h"
#include "base/text.h"
#include "read/files/jsonl.h"
#include "read/files/row_builder.h"
#include "read/lines/log_time.h"

namespace mw {
namespace {

constexpr size_t kLeastFalls = 8;     // fewer lines out of order are those of several writers
constexpr size_t kFallsForEach = 20;  // a rise among so many falls is one line that came late

/// Places in time, line by line: which way they go.
class Direction {
 public:
  void add(int64_t place) {
    if (last_) place<*last_ ? ++falls_ : place>* last_ ? ++rises_ : 0;
    last_ = place;
  }
  bool falls() const { return falls_ >= kLeastFalls && rises_ * kFallsForEach <= falls_; }
  /// Whether it can be found to fall once `more` other places came, at most.
  bool may_fall(size_t more) const { return rises_ * kFallsForEach <= falls_ + more; }

 private:
  std::optional<int64_t> last_;
  size_t falls_ = 0, rises_ = 0;
};

/// Takes the next line off, without its end. `whole`: a line that has no end may go on behind the text.
std::optional<std::string_view> take_line(std::string_view& text, bool whole) {
  if (text.empty()) return std::nullopt;
  const size_t end = text.find('\n');
  if (end == std::string_view::npos && !whole) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// The moment that a log's line begins with, in brackets or not; of clocks alone and dates without a year nothing: they
/// begin anew.
std::optional<int64_t> place_of_line(std::string_view line) {
  const size_t begin = line.find_first_not_of(" [(\"");
  if (begin > 2) return std::nullopt;  // npos is, too
  const auto stamp = read_stamp(line.substr(begin));
  if (!stamp || stamp->kind != Stamp::Kind::kFull) return std::nullopt;
  return stamp->at.ns;
}

std::optional<int64_t> place_of_row(RowBuilder& row) {
  const StepAndTime found = find_step_and_time(row.numbers(), row.texts());
  if (found.step != kNoStep) return found.step;
  return found.at.known() ? std::optional(found.at.ns) : std::nullopt;
}

/// A table's cells, as far as no quotes stand around them.
std::vector<std::string_view> cells_of(std::string_view line, char separator) {
  std::vector<std::string_view> cells;
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find(separator, begin), line.size());
    cells.push_back(trim(line.substr(begin, end - begin)));
    begin = end + 1;
  }
  return cells;
}

/// Of a table: its steps, or else its times.
bool table_falls(std::string_view head) {
  const auto heading = take_line(head, false);
  if (!heading) return false;
  const char separator = heading->find('\t') != std::string_view::npos ? '\t' : ',';
  const std::vector<std::string_view> names = cells_of(*heading, separator);
  Direction direction;
  while (const auto line = take_line(head, false)) {
    const std::vector<std::string_view> cells = cells_of(*line, separator);
    if (!direction.may_fall(1 + head.size() / names.size())) return false;  // a cell has its separator at least
    if (cells.size() != names.size()) continue;
    RowBuilder row;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (const auto number = parse_double(cells[i])) {
        row.add_number(names[i], *number);
      } else {
        row.add_text(names[i], cells[i]);
      }
    }
    if (const auto place = place_of_row(row)) direction.add(*place);
  }
  return direction.falls();
}

/// Does a cell between quotes go over several lines?
bool breaks_lines(std::string_view table) {
  while (const auto line = take_line(table, true)) {
    if (std::count(line->begin(), line->end(), '"') % 2 != 0) return true;
  }
  return false;
}

}  // namespace

bool is_newest_first(FileKind kind, std::string_view head) {
  if (kind == FileKind::kCsv) return table_falls(head);
  if (kind != FileKind::kText && kind != FileKind::kJsonLines) return false;
  Direction direction;
  RowBuilder row;
  constexpr size_t kLeastBytes = 8;  // of a line that says a moment or a step
  while (const auto line = take_line(head, false)) {
    if (!direction.may_fall(1 + head.size() / kLeastBytes)) return false;
    std::optional<int64_t> place;
    if (kind == FileKind::kText) {
      place = place_of_line(*line);
    } else if (row.clear(); read_json_record(trim(*line), row)) {
      place = place_of_row(row);
    }
    if (place) direction.add(*place);
  }
  return direction.falls();
}

std::string oldest_first(FileKind kind, std::string_view whole) {
  if (kind == FileKind::kCsv && breaks_lines(whole)) return std::string(whole);
  std::string out;
  out.reserve(whole.size() + 1);
  const auto put = [&out](std::string_view line) { out.append(line).push_back('\n'); };
  if (kind == FileKind::kCsv) {
    if (const auto heading = take_line(whole, true)) put(*heading);
  }
  std::vector<std::string_view> lines;
  while (const auto line = take_line(whole, true)) lines.push_back(*line);
  std::for_each(lines.rbegin(), lines.rend(), put);
  return out;
}

}  // namespace mw
