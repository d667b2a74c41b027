// Lines that seem to hold the reward and are read as no record: what a run logs and nobody judges has to be said.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace mw {

/// One per source.
class UnreadReward {
 public:
  /// A line that was read as no record. True once: lines of its shape came so often that they are no chance.
  bool saw(std::string_view text);

 private:
  static constexpr size_t kShapes = 16;                  ///< that are counted
  static constexpr uint32_t kOften = 20;                 ///< lines of one shape
  std::map<std::string, uint32_t, std::less<>> shapes_;  ///< beginnings without digits, and how often
  bool reported_ = false;
};

}  // namespace mw
