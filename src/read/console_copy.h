// A W&B file holds the console of its process. Where a log beside it has the same lines, they are read once.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_set>

namespace mw {

/// A first look at a run's files says whether the console inside is to be read.
class ConsoleCopy {
 public:
  /// Longer logs are taken for the console: what they have in common with it may lie anywhere.
  static constexpr uint64_t kWhole = 64 << 10;

  /// A text file beside, of `size` bytes, begins with `head`.
  void text(std::string_view head, uint64_t size);
  /// A line of a console at the beginning of a file that holds one.
  void console(std::string_view line);
  /// Is no text a copy of it? A note or a list of packages beside is none: it has not one line of the console.
  bool is_read() const;

 private:
  static constexpr size_t kLineLeast = 12;  // bytes: shorter ones are alike by chance
  static constexpr size_t kLines = 4096;    // of the console that are compared

  bool texts_ = false, long_text_ = false, copied_ = false;
  std::unordered_set<uint64_t> in_texts_, in_console_;  // hashes of lines
};

}  // namespace mw
