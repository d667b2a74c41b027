#include "read/files/notebook.h"

#include <optional>

#include "base/json.h"
#include "base/text.h"
#include "read/files/json_value.h"

namespace mw {
namespace {

/// What one output of a cell holds, and hands over when the next one begins.
class Outputs : public JsonLeaves {
 public:
  explicit Outputs(const NotebookReader::Sink& sink) : sink_(sink) {}

  void number(std::string_view, double) override {}
  void string(std::string_view path, std::string_view value) override {
    const auto [output, name] = parts_of(path);
    if (output.empty()) return;
    if (output != output_) {
      hand_over();
      output_ = output;
    }
    // Before nbformat 4 the texts stand beside the output's kind, and "text" is that of a stream or of a value.
    if (name == "text") {
      text_.append(value);
    } else if (name == "data/text/plain") {
      plain_.append(value);
    } else if (name == "data/text/html" || name == "html") {
      html_.append(value);
    } else if (name == "traceback") {
      trace_.append(value).append("\n");
    } else if (name == "ename") {
      error_ = value;
    } else if (name == "evalue") {
      error_.append(": ").append(value);
    }
  }
  /// Only the outputs of cells: their code, their attachments and the notebook's own facts are left out.
  bool enter_array(std::string_view path) override {
    const std::string_view below = in_sheet(path);
    return (below == "cells" || below.starts_with("cells/") || path.starts_with("worksheets")) &&
           !path.ends_with("/source") && !path.ends_with("/input");
  }

  void hand_over() {
    // A table says more than the text in its place, which may be "<Figure size 640x480 with 1 Axes>".
    const bool table = contains(html_, "<t"), plain = !table && !plain_.empty() && !plain_.starts_with('<');
    std::string shown = table ? std::string() : std::move(text_);
    if (plain) shown.append(plain_);
    if (!plain) append_html_text(html_, shown);
    shown.append(trace_.empty() ? error_ : trace_);
    if (!shown.empty() && shown.back() != '\n') shown.push_back('\n');
    if (!shown.empty()) sink_(shown);
    text_.clear();
    plain_.clear();
    html_.clear();
    trace_.clear();
    error_.clear();
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

  const NotebookReader::Sink& sink_;
  std::string output_, text_, plain_, html_, trace_, error_;
};

}  // namespace

bool is_notebook(std::string_view head, std::string_view path) {
  const size_t begin = skip_json_space(head, 0);
  if (begin >= head.size() || head[begin] != '{') return false;
  const size_t key = skip_json_space(head, begin + 1);
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
  const size_t begin = std::min(pending_.find('{'), pending_.size());
  Outputs outputs(sink);
  const bool whole = for_each_leaf(std::string_view(pending_).substr(begin), outputs);
  outputs.hand_over();
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
