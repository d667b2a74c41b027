// "reward=0,9105 loss=0,01430": figures of a program that writes decimals with a comma.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mw {

/// One per source: whether a comma between digits is a decimal's or a thousand's is often shown by other lines alone.
class DecimalCommas {
 public:
  /// Whether a name is commonly given to something that training measures.
  using Measures = std::function<bool(std::string_view)>;

  /// Writes the line into `out` with its numbers as other readers expect them: a point before decimals, nothing between
  /// thousands, and "?" for a figure of training that may be read in both ways. False: nothing had to be changed.
  bool read(std::string_view text, const Measures& measures, std::string& out);
  /// A record had a figure with a decimal point.
  void saw_point() { points_ = true; }
  bool knows_points() const { return points_; }

 private:
  struct Number {
    size_t begin = 0, end = 0;
    bool decimal = false;    ///< its comma cannot stand before thousands
    bool thousands = false;  ///< its commas can
    bool measured = false;   ///< the name before it is that of something that training measures
  };
  void collect(std::string_view text, const Measures& measures);
  bool speaks_in_commas(std::string_view text, const Measures& measures) const;

  std::vector<Number> numbers_;  // of the line that is read
  bool points_ = false, commas_ = false;
};

}  // namespace mw
