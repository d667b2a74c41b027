// What programs that are not written in Python print when they die: Rust, Go, Java, .NET, Node.js, Julia, and Python's
// own interpreter when it is killed by a signal (faulthandler).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/event.h"

namespace mw {

/// Feed it the message part of every line. What only looks like the first line of such a text ("ERROR: …", "panic: …")
/// counts once the line that follows it in that language was read.
class CrashTextReader {
 public:
  /// False where the line begins none for sure, at the cost of a few bytes.
  static bool may_begin(std::string_view text);
  /// True when the line, or the end of what went before it, made one whole: take() has it, and feed the line again if
  /// again() says so.
  bool feed(std::string_view text, uint64_t number);
  bool again() const { return again_; }
  event::TraceSeen take();
  /// The file ended, or the attempt did: what there is, if that is enough.
  std::optional<event::TraceSeen> flush();
  bool open() const { return kind_ != Kind::kNone; }
  uint64_t first_line() const { return first_; }

 private:
  enum class Kind : uint8_t { kNone, kRust, kGo, kJvm, kNode, kJulia, kFault };
  void begin(Kind kind, uint64_t number, std::string_view exception, std::string_view message);
  void head(std::string_view text, uint64_t number);
  bool done(bool again = false);
  void drop() { kind_ = Kind::kNone; }
  bool feed_rust(std::string_view text);
  bool feed_go(std::string_view text);
  bool feed_jvm(std::string_view text, uint64_t number);
  bool feed_node(std::string_view text);
  bool feed_julia(std::string_view text);
  bool feed_fault(std::string_view text);

  Kind kind_ = Kind::kNone;
  bool again_ = false;
  bool sure_ = false;  ///< the line was read that only such a text has
  int lines_ = 0;      ///< behind the head
  uint64_t first_ = 0, number_ = 0;
  event::TraceSeen trace_;
};

}  // namespace mw
