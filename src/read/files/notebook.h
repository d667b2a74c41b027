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
#include "read/files/json_nesting.h"

namespace mw {

/// Bytes of one notebook; it is kept until its last bracket has come, so this bounds the memory.
constexpr size_t kNotebookLimit = size_t{64} << 20;

/// Is this the head of a notebook? `path` may be empty.
bool is_notebook(std::string_view head, std::string_view path);

/// One of code that has run or put something out.
struct CellRun {
  int64_t count = 0;             ///< Jupyter's number of its last run; 0: not kept
  uint64_t first = 0, last = 0;  ///< lines of its output, among all that are handed over (1-based); 0: it has none
  bool failed = false;           ///< its output ends with an error
  bool trains = false;           ///< its code calls a trainer
  bool imports = false;          ///< it failed at a line that imports something
};

/// The error with which a cell ended.
struct CellError {
  uint64_t first = 0, last = 0;  ///< lines, as above
  std::string exception;         ///< its class
  std::string message;
  bool imports = false;  ///< the cell's line that raised it imports something
};

/// Fed in pieces of any size. What comes behind the document is left out.
class NotebookReader {
 public:
  using Sink = std::function<void(std::string_view text)>;  ///< whole lines, all of one cell

  /// kLimit: it is too long; kInvalid: it is garbled, and what was read up to there was handed over.
  Result<void> feed(std::string_view bytes, const Sink& sink);
  /// No more will come: kTruncated when the document has not ended, and what was read up to there was handed over.
  Result<void> finish(const Sink& sink);
  /// Where the lines that were handed over, the last ones with them, stand in the notebook's own file, as an editor
  /// shows it: for each its number there, 1-based. Empty where that is not known: the file is not written with one
  /// string per line.
  const std::vector<uint32_t>& file_lines() const { return file_lines_; }
  /// Those read so far, in the order of the file.
  const std::vector<CellRun>& cells() const { return found_.cells; }
  /// The cell that put out a line (1-based) of those handed over; null: none is known.
  const CellRun* cell_at(uint64_t line) const;
  /// Does such a line belong to the error with which its cell ended? It is no text that a model or a tool wrote,
  /// whatever it says.
  bool in_error(uint64_t line) const;
  const std::vector<CellError>& errors() const { return found_.errors; }

  /// What is known of the cells so far.
  struct Cells {
    std::vector<CellRun> cells;
    std::vector<CellError> errors;  ///< in the order of their lines
  };

 private:
  /// Hands over what was read; false: it is garbled or cut.
  bool read_out(const Sink& sink);

  std::string pending_;
  std::vector<uint32_t> file_lines_;
  Cells found_;
  JsonNesting nesting_;
  bool over_ = false;
};

/// Appends HTML as text to `out`: a line for each row of a table with " | " between its cells, and for each other
/// block. Styles, scripts and comments are left out; the line of a progress bar comes last.
void append_html_text(std::string_view html, std::string& out);

}  // namespace mw
