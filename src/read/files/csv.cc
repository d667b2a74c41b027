#include "read/files/csv.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "read/files/written_figures.h"
#include "read/lines/metric_line.h"

namespace mw {
namespace {

constexpr size_t kColumnLimit = 20'000;

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// The separator that occurs most often in the header, outside quotes.
char find_separator(std::string_view header) {
  size_t commas = 0, semicolons = 0, tabs = 0;
  bool quoted = false;
  for (const char c : header) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    commas += c == ',';
    semicolons += c == ';';
    tabs += c == '\t';
  }
  if (tabs > commas && tabs >= semicolons) return '\t';
  return semicolons > commas ? ';' : ',';
}

/// What Monitor calls r, l and t: its return, its length, and the seconds since the first one began.
std::string_view episode_name(std::string_view key) {
  if (key == "r") return "episode_reward";
  if (key == "l") return "episode_length";
  return key == "t" ? "time" : key;
}

constexpr std::string_view kOfRun = " - ";  // in an export of W&B, between a run's name and its figure's

bool is_twin(std::string_view key) { return ends_with(key, "__MIN") || ends_with(key, "__MAX"); }

/// "RUN" of "RUN - train/reward"; "" where no run is named.
std::string_view run_before(std::string_view key) {
  const size_t dash = key.rfind(kOfRun);
  return dash == std::string_view::npos ? std::string_view() : key.substr(0, dash);
}

/// The runs of an export by W&B, in order. Columns of several that have no twins are of another writer's.
std::vector<std::string> runs_of(const std::vector<std::string>& cells) {
  std::vector<std::string> runs;
  bool twins = false;
  for (const std::string& cell : cells) {
    const std::string_view run = run_before(trim(cell));
    twins = twins || is_twin(trim(cell));
    if (!run.empty() && std::find(runs.begin(), runs.end(), run) == runs.end()) runs.emplace_back(run);
  }
  if (runs.size() > 1 && !twins) runs.clear();
  return runs;
}

/// The names, or of long ones what each of them does not share with the others.
std::vector<std::string> distinct_parts(const std::vector<std::string>& names) {
  constexpr size_t kLong = 40;
  if (std::all_of(names.begin(), names.end(), [](const std::string& name) { return name.size() <= kLong; }))
    return names;
  const std::string& first = names.front();
  size_t front = first.size(), back = first.size();
  for (const std::string& name : names) {
    const auto differ = std::mismatch(first.begin(), first.end(), name.begin(), name.end()).first;
    front = std::min(front, static_cast<size_t>(differ - first.begin()));
    const auto ends = std::mismatch(first.rbegin(), first.rend(), name.rbegin(), name.rend()).first;
    back = std::min(back, static_cast<size_t>(ends - first.rbegin()));
  }
  constexpr std::string_view kBetween = "/ :-";  // words stay whole
  while (front > 0 && !contains(kBetween, first.substr(front - 1, 1))) --front;
  while (back > 0 && !contains(kBetween, first.substr(first.size() - back, 1))) --back;
  std::vector<std::string> parts;
  for (const std::string& name : names) {
    const size_t shared = std::min(back, name.size() - front);
    parts.push_back(name.substr(front, std::min(kLong, name.size() - front - shared)));
  }
  return parts;
}

}  // namespace

void CsvDecoder::feed(std::string_view bytes, RecordSink& sink) {
  while (!bytes.empty()) bytes.remove_prefix(take(bytes, sink));
}

size_t CsvDecoder::take(std::string_view bytes, RecordSink& sink) {
  const size_t line_end = bytes.find('\n');
  std::string_view piece = bytes.substr(0, line_end == std::string_view::npos ? line_end : line_end + 1);
  const size_t room = kCsvRecordLimit - std::min(kCsvRecordLimit, pending_.size());
  if (line_ > record_line_ && piece.size() > room) {
    pending_.append(piece.substr(0, room));
    offset_ += room;
    read_again(sink);
    return room;
  }
  note_quotes(piece);
  offset_ += piece.size();
  const size_t taken = piece.size();
  const bool whole = line_end != std::string_view::npos;
  line_ += whole;
  const bool goes_on = in_quotes_ && !overlong_ && piece.size() <= room;
  if (whole && !goes_on) piece.remove_suffix(1);
  overlong_ = overlong_ || piece.size() > room;
  if (!overlong_) pending_.append(piece);
  if (whole && !goes_on) {
    in_quotes_ = false;  // of a line that is too long
    consumed_ = offset_;
    end_record(sink);
  }
  return taken;
}

void CsvDecoder::note_quotes(std::string_view piece) {
  for (size_t i = piece.find('"'); i != std::string_view::npos; i = piece.find('"', i + 1)) {
    if (in_quotes_) {
      in_quotes_ = false;
      after_closed_ = offset_ + i + 1;
      continue;
    }
    const bool doubled = after_closed_ == offset_ + i;
    in_quotes_ = doubled || begins_cell(piece.substr(0, i));
  }
}

/// Whether nothing but blanks stands between the last separator and the end of `piece`, which follows `pending_`.
bool CsvDecoder::begins_cell(std::string_view piece) const {
  for (const std::string_view text : {piece, std::string_view(pending_)}) {
    const size_t last = text.find_last_not_of(' ');
    if (last == std::string_view::npos) continue;
    return has_header_ ? text[last] == separator_ : text[last] == ',' || text[last] == ';' || text[last] == '\t';
  }
  return true;
}

void CsvDecoder::read_again(RecordSink& sink) {
  const std::string text = std::exchange(pending_, {});
  const size_t line_end = text.find('\n');
  open_quote_.report(sink, "a quote opens and does not end: the line was left out", record_line_);
  consumed_ += line_end + 1;
  offset_ = consumed_;
  line_ = ++record_line_;
  in_quotes_ = false;
  const bool before = std::exchange(doubtful_, true);
  feed(std::string_view(text).substr(line_end + 1), sink);
  doubtful_ = before;
}

void CsvDecoder::end_record(RecordSink& sink) {
  if (overlong_) {
    too_long_.report(sink, "a record of more than 1 MiB was left out", record_line_);
  } else {
    record(pending_, sink);
  }
  pending_.clear();
  overlong_ = false;
  record_line_ = line_;
}

void CsvDecoder::finish(RecordSink& sink) {
  while (in_quotes_ && line_ > record_line_) read_again(sink);
  if (pending_.empty() && !overlong_) return;
  // Without its line end the last record may have lost digits or cells; as many cells as the header has are whole
  // enough in a file that a program closed, and fewer are not.
  if (overlong_ || in_quotes_) {
    sink.problem("torn-tail", "the last record is incomplete", record_line_);
  } else {
    split(pending_, cells_);
    if (has_header_ && cells_.size() < columns_.size()) {
      sink.problem("torn-tail", "the last record has fewer cells than the header", record_line_);
    } else {
      end_record(sink);
      consumed_ = offset_;
    }
  }
  pending_.clear();
}

void CsvDecoder::split(std::string_view text, std::vector<std::string>& cells) const {
  cells.clear();
  cells.emplace_back();
  bool quoted = false;
  for (size_t i = 0; i < text.size() && cells.size() <= kColumnLimit; ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        cells.back().push_back(c);
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        cells.back().push_back('"');
        ++i;
      } else {
        quoted = false;
      }
    } else if (c == '"' && trim(cells.back()).empty()) {
      quoted = true;
      cells.back().clear();
    } else if (c == separator_) {
      cells.emplace_back();
    } else {
      cells.back().push_back(c);
    }
  }
}

bool CsvDecoder::is_like_the_rows() const {
  if (cells_.size() != columns_.size()) return false;
  bool numbers = false;
  for (size_t i = 0; i < cells_.size(); ++i) {
    const bool number = parse_double(trim(cells_[i])).has_value();
    if (columns_[i].number && !number && !trim(cells_[i]).empty()) return false;
    numbers = numbers || (number && columns_[i].number);
  }
  return numbers;
}

void CsvDecoder::header(std::string_view text) {
  has_header_ = true;
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  if (text.starts_with("# ")) text.remove_prefix(2);  // as numpy.savetxt() writes it
  separator_ = find_separator(text);
  split(text, cells_);
  const std::vector<std::string> runs = runs_of(cells_);
  for (const std::string& cell : cells_) {
    std::string_view key = trim(cell);
    const bool twin = is_twin(key);
    const auto run = std::find(runs.begin(), runs.end(), run_before(key));
    Column column;
    if (run != runs.end()) key.remove_prefix(run->size() + kOfRun.size());
    if (run != runs.end() && runs.size() > 1) column.run = static_cast<size_t>(run - runs.begin());
    if (of_episodes_) key = episode_name(key);
    if (!twin) column.key = key.empty() ? cat("column_", columns_.size() + 1) : std::string(key);
    column.known = to_lower(column.key);
    columns_.push_back(std::move(column));
  }
  if (runs.size() > 1) runs_ = distinct_parts(runs);
}

/// The first line is a record of the columns whose names are known.
bool CsvDecoder::lacks_header(std::string_view text) {
  if (names_.empty() || !is_row_of_numbers(text)) return false;
  split(text, cells_);
  if (cells_.size() != names_.size()) return false;
  has_header_ = true;
  for (std::string& name : names_) columns_.push_back({name, name});
  return true;
}

/// The number that a cell holds. Where cells are parted by semicolons the comma is mostly the decimal's.
std::optional<double> CsvDecoder::number_in(std::string_view cell) {
  if (const auto number = parse_double(cell)) {
    points_ = points_ || cell.find('.') != std::string_view::npos;
    return number;
  }
  const size_t comma = cell.find(',');
  if (comma == std::string_view::npos || cell.find(',', comma + 1) != std::string_view::npos) return std::nullopt;
  const bool sure = is_decimal_comma(cell);
  commas_ = commas_ || sure;
  if (!sure && (points_ || (separator_ != ';' && !commas_))) return std::nullopt;
  std::string plain(cell);
  plain[comma] = '.';
  return parse_double(plain);
}

void CsvDecoder::record(std::string_view text, RecordSink& sink) {
  if (trim(text).empty()) return;
  if (!has_header_ && text.starts_with("#{")) {
    of_episodes_ = contains(text, "\"t_start\"");
    return;
  }
  if (!has_header_ && !lacks_header(text)) return header(text);
  split(text, cells_);
  if (doubtful_ && !is_like_the_rows()) return;
  if (cells_.size() == 1 && columns_.size() > 2 && !parse_double(trim(text))) {  // printed among the rows
    return sink.text(text.substr(0, text.find_last_not_of('\r') + 1), record_line_, {});
  }
  if (cells_.size() > columns_.size() && !trim(cells_[columns_.size()]).empty()) {
    return not_a_record_.report(sink, cat("more cells than the header has: ", clip(text, 160)), record_line_);
  }
  if (runs_.empty()) return hand_over_row(std::nullopt, sink);
  for (size_t run = 0; run < runs_.size(); ++run) hand_over_row(run, sink);
}

/// "45%", "12.3s", and not "1,204", which may be either.
bool has_unit(std::string_view cell) {
  const char last = cell.back();
  return last == '%' || (last >= 'a' && last <= 'z') || (last >= 'A' && last <= 'Z');
}

void CsvDecoder::add_cell(size_t i, RowBuilder& known) {
  const std::string_view cell = trim(cells_[i]);
  Column& column = columns_[i];
  if (cell.empty() || column.key.empty()) return;
  if (const auto number = number_in(cell)) {
    column.number = true;
    row_.add_number(column.key, *number);
    known.add_number(column.known, *number);
  } else if (cell == "True" || cell == "true" || cell == "False" || cell == "false") {
    row_.add_number(column.key, cell[0] == 'T' || cell[0] == 't' ? 1 : 0);
  } else if (const auto figure = has_unit(cell) ? figure_in(column.key, cell) : std::nullopt) {
    row_.numbers().push_back(*figure);
    known.numbers().push_back({column.known, figure->value, figure->whole, figure->is_time});
  } else {
    row_.add_text(column.key, cell);
    known.add_text(column.known, cell);
  }
}

/// What the record says of one of several runs, or of the only one.
void CsvDecoder::hand_over_row(std::optional<size_t> run, RecordSink& sink) {
  RowBuilder known;  // the same values under lower-case names
  size_t own = 0;
  const size_t count = std::min(cells_.size(), columns_.size());
  for (size_t i = 0; i < count; ++i) {
    if (columns_[i].run && columns_[i].run != run) continue;
    if (columns_[i].run && !columns_[i].key.empty() && !trim(cells_[i]).empty()) ++own;
    add_cell(i, known);
  }
  if (run && own == 0) return row_.clear();
  if (run) row_.add_text("arm", runs_[*run]);
  const StepAndTime found = find_step_and_time(known.numbers(), known.texts());
  const int64_t episode = of_episodes_ ? ++episodes_ : kNoStep;
  row_.hand_over(sink, record_line_, found.step != kNoStep ? found.step : episode, found.at);
}

bool is_row_of_numbers(std::string_view line) {
  const std::vector<std::string_view> cells = mw::split(trim(line), find_separator(line));
  return cells.size() > 1 && std::all_of(cells.begin(), cells.end(),
                                         [](std::string_view cell) { return parse_double(trim(cell)).has_value(); });
}

std::vector<std::string> names_without_header(std::string_view path) {
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  constexpr std::string_view kShape = "log_0000-00-00 00:00:00";
  bool fits = name.size() > kShape.size() && name.ends_with(".csv");
  for (size_t i = 0; i < kShape.size() && fits; ++i) {
    fits = kShape[i] == '0' ? name[i] >= '0' && name[i] <= '9' : name[i] == kShape[i];
  }
  return fits ? std::vector<std::string>{"step", "loss", "eval_distance", "eval_accuracy"} : std::vector<std::string>();
}

}  // namespace mw
