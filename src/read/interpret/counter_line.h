// Lines of no known shape that say how far the work between two steps has come: "finished 37/128 trajectories",
// "Rollouts: 37 of 128 done".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace mw {

struct CountedLine {
  std::string what;  ///< the words before the figures, else those behind them, with # for numbers among them
  int64_t done = 0, total = 0;
};
/// What the line counts; nullopt where it holds no "N/M" or "N of M" that stands by itself, N at most M, or counts the
/// tries of something.
std::optional<CountedLine> counted_in(std::string_view text);

/// Which of them say news: a line counts once another one of the same words and the same total has said another number.
class CounterLines {
 public:
  /// Does it say another number than the last one of its words? Long counts say so at every two-hundredth of them.
  bool moves(const std::string& what, int64_t done, int64_t total);

 private:
  static constexpr size_t kLimit = 256;  // different ones that are kept
  struct Known {
    int64_t done = 0, total = 0;
  };
  std::map<std::string, Known> known_;
};

}  // namespace mw
