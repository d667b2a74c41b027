// Which names stand where in the rows of a file: the rows of a run mostly have the same names in the same places, and
// what was found out of a name need not be looked up again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mw {

class RowNames {
 public:
  static constexpr size_t kPlacesLimit = 4096;  ///< places that are remembered

  /// True when `name` is what stood at this place before; else it is remembered. Places are asked for in order.
  bool known(size_t place, std::string_view name) {
    if (place < names_.size()) {
      if (names_[place] == name) return true;
      names_[place].assign(name);
    } else if (place == names_.size() && place < kPlacesLimit) {
      names_.emplace_back(name);
    }
    return false;
  }
  void forget() { names_.clear(); }

 private:
  std::vector<std::string> names_;
};

}  // namespace mw
