// Jupyter notebooks: what their cells put out, in order, as the text that a console would have shown. A notebook is one
// JSON document (nbformat 4, or 3 with its worksheets); what is read of it are streams, texts, tables of HTML and
// errors.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mw {

/// Bytes of one notebook; it is kept until its last bracket has come, so this bounds the memory.
constexpr size_t kNotebookLimit = size_t{64} << 20;

/// Is this the head of a notebook? `path` may be empty.
bool is_notebook(std::string_view head, std::string_view path);

/// Fed in pieces of any size. What comes behind the document is left out.
class NotebookReader {
 public:
  using Sink = std::function<void(std::string_view text)>;  ///< whole lines

  /// kLimit: it is too long; kInvalid: it is garbled, and what was read up to there was handed over.
  Result<void> feed(std::string_view bytes, const Sink& sink);
  /// No more will come: kTruncated when the document has not ended, and what was read up to there was handed over.
  Result<void> finish(const Sink& sink);
  /// Where the lines that were handed over, the last ones with them, stand in the notebook's own file, as an editor
  /// shows it: for each its number there, 1-based. Empty where that is not known: the file is not written with one
  /// string per line.
  const std::vector<uint32_t>& file_lines() const { return file_lines_; }

 private:
  /// Hands over what was read; false: it is garbled or cut.
  bool read_out(const Sink& sink);

  std::string pending_;
  std::vector<uint32_t> file_lines_;
  size_t depth_ = 0;
  bool in_string_ = false, escaped_ = false, over_ = false;
};

/// Appends HTML as text to `out`: a line for each row of a table with " | " between its cells, and for each other
/// block. Styles, scripts and comments are left out; the line of a progress bar comes last.
void append_html_text(std::string_view html, std::string& out);

}  // namespace mw
