#include "read/files/notebook.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "read/files/cell_code.h"
#include "read/files/json_value.h"
#include "read/files/notebook_cell.h"
#include "read/lines/ipython_trace.h"
#include "read/lines/log_line.h"

namespace mw {
namespace {

constexpr char kPlace = '\x01';  // around the line at which a string begins, in front of it

/// Does a colon follow the string that ends before `at`? Then it is a key.
bool is_key(std::string_view text, size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t')) ++at;
  return at < text.size() && text[at] == ':';
}

size_t string_end(std::string_view text, size_t begin) {
  size_t end = begin + 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  return std::min(end, text.size());
}

/// The notebook's JSON with its line in front of each string, so that what reads the values learns where they stand;
/// "" where the file is not written with one string per line.
std::string with_places(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  uint32_t line = 1;
  size_t strings = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    line += text[i] == '\n' ? 1 : 0;
    out.push_back(text[i]);
    if (text[i] != '"') continue;
    const size_t end = string_end(text, i);
    if (end < text.size() && !is_key(text, end + 1)) {
      out.append(cat("\\u0001", line, "\\u0001"));
      ++strings;
    }
    out.append(text.substr(i + 1, end - i));
    i = end;
  }
  return strings > line ? std::string() : out;
}

/// Cuts the next line off `rest`, with its end.
std::string_view next_line(std::string_view& rest) {
  const std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
  rest.remove_prefix(line.size());
  return line;
}

/// The rows of a table, each at the line of the file on which its first cell stands.
void append_rows(const NotebookPiece& html, NotebookPiece& shown) {
  constexpr size_t kReach = 8192;  // bytes of HTML from one row to the next
  std::string rows;
  append_html_text(html.text, rows);
  const std::string stepped = with_steps_of_epochs(rows);
  size_t at = 0, line = 0;
  for (std::string_view rest = rows, with_steps = stepped; !rest.empty();) {
    const std::string_view row = next_line(rest);
    const std::string cell = cat(">", trim(row.substr(0, row.find(" | "))), "<");
    const size_t found = std::string_view(html.text).substr(at, kReach).find(cell);
    if (cell.size() > 2 && found != std::string_view::npos) {
      for (const size_t end = at + found + 1; at < end; ++at) line += html.text[at] == '\n' ? 1 : 0;
    }
    shown.append(next_line(with_steps), html.lines[std::min(line, html.lines.size() - 1)]);
  }
}

/// VS Code puts links around the line numbers of a traceback: "----> <a href='vscode-notebook-cell:...'>5</a> train()".
std::string without_links(std::string_view text) {
  constexpr std::string_view kBegin = "<a href='vscode-notebook-cell", kEnd = "</a>";
  std::string out;
  for (size_t link = text.find(kBegin); link != std::string_view::npos; link = text.find(kBegin)) {
    const size_t shown = text.find('>', link), end = text.find(kEnd, link);
    if (shown == std::string_view::npos || end == std::string_view::npos || shown > end) break;
    out.append(text.substr(0, link)).append(text.substr(shown + 1, end - shown - 1));
    text.remove_prefix(end + kEnd.size());
  }
  return out.append(text);
}

/// Is the line of the cell at which it failed one that imports something? `trace` is IPython's.
bool fails_in_import(std::string_view trace) {
  while (!trace.empty()) {
    const size_t end = std::min(trace.find('\n'), trace.size());
    std::string plain;
    const IpythonLine line = ipython_line(strip_ansi(trace.substr(0, end), plain));
    if (line.kind == IpythonLine::Kind::kArrow)
      return line.code.starts_with("import ") || (line.code.starts_with("from ") && contains(line.code, " import "));
    trace.remove_prefix(std::min(end + 1, trace.size()));
  }
  return false;
}

/// What one output of a cell holds, and hands over with the cell's others when the next cell begins.
class Outputs : public JsonLeaves {
 public:
  Outputs(const NotebookReader::Sink& sink, bool placed, std::vector<uint32_t>& lines, NotebookReader::Cells& found)
      : sink_(sink), placed_(placed), lines_(lines), found_(found) {}

  void number(std::string_view path, double value) override {
    const Place place = place_of(path);
    const bool counts = place.output.empty() && (place.name == "execution_count" || place.name == "prompt_number");
    if (place.cell.empty()) return;
    enter(place);
    if (counts && value >= 1 && value < 1e9) run_.count = static_cast<int64_t>(value);
  }
  void string(std::string_view path, std::string_view value) override {
    uint32_t line = 0;
    if (const size_t end = value.find(kPlace, 1); placed_ && value.starts_with(kPlace) && end != value.npos) {
      line = static_cast<uint32_t>(parse_int(value.substr(1, end - 1)).value_or(0));
      value.remove_prefix(end + 1);
    }
    const Place place = place_of(path);
    if (place.cell.empty()) return;
    enter(place);
    if (place.output.empty()) {
      take_code(place.name, value);
    } else {
      take(place.name, value, line);
    }
  }
  /// Only what cells put out and their code: their attachments and the notebook's own facts are left out.
  bool enter_array(std::string_view path) override {
    const std::string_view below = in_sheet(path);
    return below == "cells" || below.starts_with("cells/") || path.starts_with("worksheets");
  }

  void end_output() {
    // A table says more than the text in its place, which may be "<Figure size 640x480 with 1 Axes>".
    const bool table = contains(html_.text, "<t");
    const bool plain = !table && !plain_.text.empty() && !plain_.text.starts_with('<');
    const bool displays = table || !plain_.text.empty() || !html_.text.empty();
    NotebookPiece shown = table ? NotebookPiece() : std::move(text_);
    if (plain) shown.append(plain_);
    if (!plain && !html_.text.empty()) {
      append_rows(html_, shown);
    }
    const bool error = !trace_.text.empty() || !error_.text.empty();
    shown.append(trace_.text.empty() ? error_ : trace_);
    if (!shown.text.empty() && shown.text.back() != '\n') shown.text.push_back('\n');
    if (displays) went_on();
    if (!error) behind_error_ += shown.lines.size();
    if (error) {
      if (behind_error_ > kBehindError) went_on();
      behind_error_ = 0;
      errors_.push_back({{0, 0, name_, std::string(trim(value_)), fails_in_import(trace_.text)}, shown.text});
    }
    cell_.add(std::move(shown));
    text_ = plain_ = html_ = trace_ = error_ = {};
    name_.clear();
    value_.clear();
  }

  /// No more of the cell will come.
  void close_cell() {
    end_output();
    if (behind_error_ > kBehindError) went_on();
    const NotebookPiece shown = cell_.take();
    for (const uint32_t line : shown.lines) {
      if (placed_) lines_.push_back(lines_.empty() ? line : std::max(line, lines_.back()));
    }
    note_errors(shown.text);
    run_.trains = code_trains(code_);
    if (!shown.lines.empty()) {
      run_.first = handed_ + 1;
      run_.last = handed_ + shown.lines.size();
    }
    handed_ += shown.lines.size();
    if ((run_.count > 0 || run_.first > 0) && found_.cells.size() < kCellLimit) found_.cells.push_back(run_);
    if (!shown.text.empty()) sink_(shown.text);
    run_ = {};
    errors_.clear();
    code_.clear();
    behind_error_ = 0;
  }

 private:
  static constexpr size_t kBehindError = 10;  // lines: what a hook or a logger says when the cell has failed
  static constexpr size_t kCodeLimit = 64 << 10;
  static constexpr size_t kCellLimit = 5000;
  static constexpr size_t kErrorLimit = 1000;  // of all cells: each is looked for in them

  struct Shown {  // an error and its text
    CellError error;
    std::string text;
  };
  struct Place {
    std::string_view cell, output, name;  // "cells/3", "0" of its outputs; the name without its number in a list
  };

  /// What nbformat 3 puts in front of its cells, "worksheets/0/", is taken off.
  static std::string_view in_sheet(std::string_view path) {
    constexpr std::string_view kSheets = "worksheets/";
    const size_t end = path.starts_with(kSheets) ? path.find('/', kSheets.size()) : std::string_view::npos;
    return end == std::string_view::npos ? path : path.substr(end + 1);
  }

  /// "cells/3/outputs/0/data/text/html/12" is output "0" of "cells/3" and "data/text/html"; no cell where it is none's.
  static Place place_of(std::string_view path) {
    constexpr std::string_view kCells = "cells/", kOutputs = "/outputs/";
    const std::string_view below = in_sheet(path);
    if (!below.starts_with(kCells)) return {};
    const size_t cell = path.find('/', path.size() - below.size() + kCells.size());
    if (cell == std::string_view::npos) return {};
    Place place{path.substr(0, cell), {}, path.substr(cell + 1)};
    if (path.substr(cell).starts_with(kOutputs)) {
      const size_t begin = cell + kOutputs.size(), end = path.find('/', begin);
      if (end == std::string_view::npos) return {};
      place.output = path.substr(begin, end - begin);
      place.name = path.substr(end + 1);
    }
    const size_t last = place.name.rfind('/');
    if (last != std::string_view::npos && parse_int(place.name.substr(last + 1)))
      place.name = place.name.substr(0, last);
    return place;
  }

  void enter(const Place& place) {
    if (place.cell != cell_path_) {
      close_cell();
      cell_path_ = place.cell;
      output_.clear();
    }
    if (place.output.empty() || place.output == output_) return;
    end_output();
    output_ = place.output;
  }

  /// More was put out behind an error than those say whose cell has ended: it was a hook's, or only shown. A cell that
  /// Python could not read has not run at all, and what came then was of a thread in the background.
  void went_on() {
    std::erase_if(errors_, [](const Shown& shown) {
      const CellError& error = shown.error;
      return error.exception != "SyntaxError" && error.exception != "IndentationError";
    });
  }

  /// Where the errors stand among the lines of the cell, in the order in which it shows them.
  void note_errors(std::string_view text) {
    size_t at = 0;
    uint64_t line = handed_ + 1;
    for (Shown& shown : errors_) {
      const size_t found = text.find(shown.text, at);
      if (found == std::string_view::npos || found_.errors.size() >= kErrorLimit) continue;
      line += static_cast<uint64_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                               text.begin() + static_cast<std::ptrdiff_t>(found), '\n'));
      at = found + shown.text.size();
      shown.error.first = line;
      line += static_cast<uint64_t>(std::count(shown.text.begin(), shown.text.end(), '\n'));
      shown.error.last = line - 1;
      run_.failed = true;
      run_.imports = shown.error.imports;
      found_.errors.push_back(std::move(shown.error));
    }
  }

  void take_code(std::string_view name, std::string_view value) {
    if ((name == "source" || name == "input") && code_.size() + value.size() < kCodeLimit) code_.append(value);
  }

  void take(std::string_view name, std::string_view value, uint32_t line) {
    // Before nbformat 4 the texts stand beside the output's kind, and "text" is that of a stream or of a value.
    if (name == "text") {
      text_.append(value, line);
    } else if (name == "data/text/plain") {
      plain_.append(value, line);
    } else if (name == "data/text/html" || name == "html") {
      html_.append(value, line);
    } else if (name == "traceback") {
      trace_.append(contains(value, "<a href='vscode") ? without_links(value) : std::string(value), line);
      trace_.append("\n", line);
    } else if (name == "ename") {
      name_ = value;
      error_ = {};
      error_.append(value, line);
    } else if (name == "evalue") {
      value_ = value;
      error_.append(": ", line);
      error_.append(value, line);
    }
  }

  const NotebookReader::Sink& sink_;
  bool placed_;
  std::vector<uint32_t>& lines_;
  NotebookReader::Cells& found_;
  std::string cell_path_, output_;
  NotebookPiece text_, plain_, html_, trace_, error_;
  NotebookCell cell_;
  CellRun run_;
  std::string code_;
  std::string name_, value_;   // of the error
  std::vector<Shown> errors_;  // of the cell, with which it may have ended
  size_t behind_error_ = 0;    // lines of other outputs since the last of them
  uint64_t handed_ = 0;        // lines
};

}  // namespace

bool is_notebook(std::string_view head, std::string_view path) {
  const size_t begin = skip_json_space(head, 0);
  if (begin >= head.size() || head[begin] != '{') return false;
  const size_t key = skip_json_space(head, begin + 1);
  // Kaggle writes the metadata first, with the states of all widgets: the cells come far behind.
  const bool metadata = key < head.size() && head.substr(key).starts_with("\"metadata\"") &&
                        (contains(head, "\"kernelspec\"") || contains(head, "\"language_info\""));
  if (metadata) return true;
  if (path.ends_with(".ipynb")) {
    return contains(head, "\"cells\"") || contains(head, "\"nbformat\"") || contains(head, "\"worksheets\"");
  }
  return key < head.size() && head.substr(key).starts_with("\"cells\"") && contains(head, "\"cell_type\"");
}

Result<void> NotebookReader::feed(std::string_view bytes, const Sink& sink) {
  if (over_) return {};
  size_t end = std::string_view::npos;
  for (size_t i = 0; i < bytes.size() && end == std::string_view::npos; ++i) {
    if (nesting_.closes(bytes[i])) end = i + 1;
  }
  const std::string_view piece = bytes.substr(0, end);
  if (pending_.size() + piece.size() > kNotebookLimit) {
    over_ = true;
    pending_ = std::string();
    return Error{Error::Code::kLimit, "the notebook has more than 64 MiB and is left out", {}};
  }
  pending_.append(piece);
  if (end == std::string_view::npos) return {};
  if (!read_out(sink)) return Error{Error::Code::kInvalid, "the notebook's JSON is garbled", {}};
  return {};
}

bool NotebookReader::read_out(const Sink& sink) {
  over_ = true;
  const std::string placed = with_places(pending_);
  const std::string_view text = placed.empty() ? std::string_view(pending_) : placed;
  Outputs outputs(sink, !placed.empty(), file_lines_, found_);
  const bool whole = for_each_leaf(text.substr(std::min(text.find('{'), text.size())), outputs);
  outputs.close_cell();
  pending_ = std::string();
  return whole;
}

const CellRun* NotebookReader::cell_at(uint64_t line) const {
  for (auto cell = found_.cells.rbegin(); cell != found_.cells.rend(); ++cell) {  // what is asked for came last
    if (cell->first == 0 || cell->first > line) continue;
    return line <= cell->last ? &*cell : nullptr;
  }
  return nullptr;
}

bool NotebookReader::in_error(uint64_t line) const {
  const auto behind = std::upper_bound(found_.errors.begin(), found_.errors.end(), line,
                                       [](uint64_t one, const auto& error) { return one < error.first; });
  return behind != found_.errors.begin() && line <= std::prev(behind)->last;
}

Result<void> NotebookReader::finish(const Sink& sink) {
  if (over_ || trim(pending_).empty()) return {};
  read_out(sink);
  return Error{
      Error::Code::kTruncated, "the notebook's JSON does not end; what its cells put out until there was read", {}};
}

}  // namespace mw
