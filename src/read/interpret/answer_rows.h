// Rows of which each is of one answer to one prompt, and of no step.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "read/lines/row.h"

namespace mw {

/// What single answers earn says how hard their prompts are: a curve of them falls with the first hard one. Their means
/// over many answers are figures of the run.
class AnswerRows {
 public:
  static constexpr size_t kBlock = 32;  ///< answers whose means make one record

  /// It names its prompt or task, says how long the answer is or what it was, and no step, round or epoch.
  static bool is_answer(const Row& row);
  /// Adds the row's numbers; true where there are enough for a record.
  bool add(const Row& row);
  /// Enough for a record that ends a file: half as many.
  bool enough_to_end() const { return rows_ >= kBlock / 2; }
  /// The means, and a new beginning. The names live as long as this.
  std::vector<RowNumber> take();

 private:
  static constexpr size_t kNameLimit = 512;  // different names; those beyond are left out
  struct Sum {
    double sum = 0;
    size_t count = 0;
  };
  size_t rows_ = 0;
  std::unordered_map<std::string, Sum> sums_;
  std::vector<const std::string*> order_;
};

}  // namespace mw
