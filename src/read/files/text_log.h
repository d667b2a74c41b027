// A text log: blocks of bytes become lines, the lines that matter go to the interpreter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/event.h"
#include "read/interpret/interpreter.h"
#include "read/lines/terminal_wrap.h"
#include "read/match/pattern_set.h"

namespace mw {

/// Feeds one text file, in pieces of any size, through the pattern set. Lines that no pattern hits and that the
/// interpreter did not ask for are only counted. Any bytes will do: broken UTF-8 and binary junk are lines, too.
class TextLog : private HitListener {
 public:
  static constexpr size_t kLineLimit = 1U << 20;    ///< bytes of a line that are looked at
  static constexpr size_t kPieceBytes = 64U << 10;  ///< of an unfinished line beyond which its '\r' pieces are read

  TextLog(const PatternSet& patterns, Interpreter& interpreter, EventSink& sink, uint32_t source)
      : patterns_(patterns), interpreter_(interpreter), sink_(sink), source_(source) {}

  /// Of a file that is read once: its beginning, which may show that a terminal broke its lines.
  void expect(std::string_view head);
  /// Goes on in the middle of a file: `bytes` and `lines` as consumed() and lines() had them.
  void resume(uint64_t bytes, uint64_t lines);
  /// The next bytes of the file, in order.
  void feed(std::string_view bytes);
  /// What stands after the last '\r' of an unfinished line can wait, what stands before it is said now (attach).
  void flush_pieces();
  /// No more lines of a traceback that was begun will come.
  void end_trace();
  /// No more bytes will come: the last line may lack its end.
  void finish();

  /// Bytes from the start of the file up to which everything has been handed over.
  uint64_t consumed() const { return consumed_; }
  /// Whole lines up to there.
  uint64_t lines() const { return lines_; }
  /// The last line that was not blank, for the reader (at most 400 bytes, secrets removed).
  std::string last_text() const;
  /// The file did not end with a line end.
  bool torn() const { return torn_; }

 private:
  size_t hit(std::string_view line, size_t offset, size_t line_index, std::span<const uint32_t> ids) override;
  void block(std::string_view bytes);
  void scan(std::string_view bytes);
  void scan_joined(const std::string& whole, uint64_t last);
  std::optional<std::string> unwrapped(std::string_view bytes);
  void hold(std::string_view rest);
  void too_long();
  void remember(std::string_view bytes);
  void keep_context(std::string_view bytes);

  const PatternSet& patterns_;
  Interpreter& interpreter_;
  EventSink& sink_;
  uint32_t source_;
  std::string carry_;      // an unfinished line
  bool skipping_ = false;  // the rest of a line that is too long
  bool reported_long_ = false;
  bool wrapped_ = false;                    // a line of it was wrapped
  std::optional<UnwrapTerminal> terminal_;  // where a terminal broke the lines
  bool joined_ = false;                     // the block is of lines that were put together
  uint64_t last_joined_ = 0;
  bool torn_ = false;
  uint64_t consumed_ = 0;
  uint64_t lines_ = 0;       // whole lines handed over
  uint64_t want_until_ = 0;  // number of the last line that the interpreter wants whatever it holds
  std::string last_;
  std::string context_;                     // the end of what was read before the block
  bool keys_ = false, block_keys_ = false;  // may_hold_key() of context_, of it or the block
};

}  // namespace mw
