// Scores that a trainer prints answer by answer: their means become figures of the step that ends after them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "read/lines/row.h"

namespace mw {

class ScoreSums {
 public:
  static constexpr size_t kNameLimit = 32;    ///< different names
  static constexpr size_t kListLimit = 4096;  ///< scores of one list

  /// `scores` is a number, or a list of them: "0.5", "[0.0, 1.0]". What is neither is left out.
  void add(std::string_view name, std::string_view scores);
  bool empty() const { return sums_.empty(); }
  /// The names live as long as nothing is added or cleared.
  std::vector<RowNumber> means() const;
  void clear() { sums_.clear(); }

 private:
  struct Sum {
    double sum = 0;
    size_t count = 0;
  };
  std::map<std::string, Sum, std::less<>> sums_;
};

}  // namespace mw
