#include "read/files/notebook.h"

#include <optional>

#include "base/json.h"
#include "base/text.h"
#include "read/files/json_value.h"
#include "read/files/notebook_cell.h"

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

/// What the outputs of a cell hold, and hands it over when the next cell begins.
class Outputs : public JsonLeaves {
 public:
  Outputs(const NotebookReader::Sink& sink, bool placed, std::vector<uint32_t>& lines)
      : sink_(sink), placed_(placed), lines_(lines) {}

  void number(std::string_view, double) override {}
  void string(std::string_view path, std::string_view value) override {
    uint32_t line = 0;
    if (const size_t end = value.find(kPlace, 1); placed_ && value.starts_with(kPlace) && end != value.npos) {
      line = static_cast<uint32_t>(parse_int(value.substr(1, end - 1)).value_or(0));
      value.remove_prefix(end + 1);
    }
    const auto [output, name] = parts_of(path);
    if (output.empty()) return;
    if (output != output_) {
      end_output();
      if (cell_of(output) != cell_of(output_)) hand_over();
      output_ = output;
    }
    // Before nbformat 4 the texts stand beside the output's kind, and "text" is that of a stream or of a value.
    if (name == "text") {
      text_.append(value, line);
    } else if (name == "data/text/plain") {
      plain_.append(value, line);
    } else if (name == "data/text/html" || name == "html") {
      html_.append(value, line);
    } else if (name == "traceback") {
      trace_.append(value, line);
      trace_.append("\n", line);
    } else if (name == "ename") {
      error_ = {};
      error_.append(value, line);
    } else if (name == "evalue") {
      error_.append(": ", line);
      error_.append(value, line);
    }
  }
  /// Only the outputs of cells: their code, their attachments and the notebook's own facts are left out.
  bool enter_array(std::string_view path) override {
    const std::string_view below = in_sheet(path);
    return (below == "cells" || below.starts_with("cells/") || path.starts_with("worksheets")) &&
           !path.ends_with("/source") && !path.ends_with("/input");
  }

  /// All that is not handed over yet.
  void finish() {
    end_output();
    hand_over();
  }

 private:
  /// What nbformat 3 puts in front of its cells, "worksheets/0/", is taken off.
  static std::string_view in_sheet(std::string_view path) {
    constexpr std::string_view kSheets = "worksheets/";
    const size_t end = path.starts_with(kSheets) ? path.find('/', kSheets.size()) : std::string_view::npos;
    return end == std::string_view::npos ? path : path.substr(end + 1);
  }

  /// "cells/3/outputs/0/data/text/html/12" is "cells/3/outputs/0" and "data/text/html"; empty where it is none.
  static std::pair<std::string_view, std::string_view> parts_of(std::string_view path) {
    constexpr std::string_view kCells = "cells/", kOutputs = "/outputs/";
    const std::string_view below = in_sheet(path);
    if (!below.starts_with(kCells)) return {};
    const size_t cell = path.find('/', path.size() - below.size() + kCells.size());
    if (cell == std::string_view::npos || !path.substr(cell).starts_with(kOutputs)) return {};
    const size_t end = path.find('/', cell + kOutputs.size());
    if (end == std::string_view::npos) return {};
    std::string_view name = path.substr(end + 1);
    const size_t last = name.rfind('/');
    if (last != std::string_view::npos && parse_int(name.substr(last + 1))) name = name.substr(0, last);
    return {path.substr(0, end), name};
  }

  static std::string_view cell_of(std::string_view output) { return output.substr(0, output.rfind("/outputs/")); }

  void end_output() {
    // A table says more than the text in its place, which may be "<Figure size 640x480 with 1 Axes>".
    const bool table = contains(html_.text, "<t");
    const bool plain = !table && !plain_.text.empty() && !plain_.text.starts_with('<');
    NotebookPiece shown = table ? NotebookPiece() : std::move(text_);
    if (plain) shown.append(plain_);
    if (!plain && !html_.text.empty()) {
      append_rows(html_, shown);
    }
    shown.append(trace_.text.empty() ? error_ : trace_);
    if (!shown.text.empty() && shown.text.back() != '\n') shown.text.push_back('\n');
    cell_.add(std::move(shown));
    text_ = plain_ = html_ = trace_ = error_ = {};
  }

  void hand_over() {
    const NotebookPiece shown = cell_.take();
    for (const uint32_t line : shown.lines) {
      if (placed_) lines_.push_back(lines_.empty() ? line : std::max(line, lines_.back()));
    }
    if (!shown.text.empty()) sink_(shown.text);
  }

  const NotebookReader::Sink& sink_;
  NotebookCell cell_;
  bool placed_;
  std::vector<uint32_t>& lines_;
  std::string output_;
  NotebookPiece text_, plain_, html_, trace_, error_;
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
    const char c = bytes[i];
    if (in_string_) {
      in_string_ = escaped_ || c != '"';
      escaped_ = !escaped_ && c == '\\';
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if ((c == '}' || c == ']') && depth_ > 0 && --depth_ == 0) {
      end = i + 1;
    }
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
  Outputs outputs(sink, !placed.empty(), file_lines_);
  const bool whole = for_each_leaf(text.substr(std::min(text.find('{'), text.size())), outputs);
  outputs.finish();
  pending_ = std::string();
  return whole;
}

Result<void> NotebookReader::finish(const Sink& sink) {
  if (over_ || trim(pending_).empty()) return {};
  read_out(sink);
  return Error{
      Error::Code::kTruncated, "the notebook's JSON does not end; what its cells put out until there was read", {}};
}

}  // namespace mw
