// What one cell of a notebook put out, in the order in which it happened: the table that a trainer shows is drawn anew
// in its place at each record, while what the program prints meanwhile stands below it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mw {

/// Text of an output, and for each of its lines where that stands in the file.
struct NotebookPiece {
  void append(std::string_view value, uint32_t line);
  void append(const NotebookPiece& other);

  std::string text;
  std::vector<uint32_t> lines;
};

/// "Epoch | Training Loss | …" with "[939/939 3:13:43, Epoch 3/3]" below it becomes a table of steps, where the bar
/// says how many an epoch has; to a few in a hundred where a limit on steps ends the last epoch early. Other text stays
/// as it is. Each line stays a line.
std::string with_steps_of_epochs(std::string_view shown);

/// One cell's outputs.
class NotebookCell {
 public:
  void add(NotebookPiece&& piece);
  /// All of it, in order; the cell is empty then.
  NotebookPiece take();

 private:
  void drop_shown_before();

  std::vector<NotebookPiece> pieces_;
};

}  // namespace mw
