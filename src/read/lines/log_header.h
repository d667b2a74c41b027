// What stands before a log line's message: who wrote it, when, how serious it is. Used by LineReader only.
#pragma once

#include <optional>
#include <string_view>

#include "read/lines/log_line.h"
#include "read/lines/log_time.h"

namespace mw {

/// Takes a line's header off, piece by piece, into a LogLine. Each piece is one that a launcher, a container runtime or
/// a logging library is known to write; text that only looks similar stays in the message.
class LogHeader {
 public:
  /// `clocks`: whether a clock alone begins the lines of this file, whatever follows it.
  LogHeader(LogLine& line, const BareClocks& clocks) : line_(line), clocks_(clocks) {}
  /// What is left of `text` when its header has been taken off. The message keeps its own indentation.
  std::string_view take(std::string_view text);
  /// As take(), for the part of a line that only wraps it (before a progress bar's '\r').
  void take_wrapping(std::string_view text);
  /// The best stamp met: one with a date before one without, the outermost first.
  const std::optional<Stamp>& stamp() const { return stamp_; }
  /// The clock alone that the line begins with, whether it was taken for one or not.
  const BareClocks::Begin& bare_clock() const { return bare_; }
  /// The date of the stamp stands where by custom the month comes first: "04/03/2026 09:08:11 - INFO - name - ".
  bool month_first() const { return month_first_; }
  /// True when `text` begins with something that only a header begins with: a time stamp, a level, a process name.
  static bool begins(std::string_view text);

 private:
  bool step();
  void finish();
  bool take_host();
  bool take_process();
  bool take_named_process(std::string_view inner, size_t used);
  bool take_bracket();
  bool take_rank(std::string_view inner, size_t used);
  bool take_bracket_stamp(std::string_view inner, size_t used);
  bool take_bracket_level(std::string_view inner, size_t used);
  bool take_bracket_name(std::string_view inner, size_t used);
  bool take_stamp();
  bool is_time(const Stamp& stamp, std::string_view after);
  bool take_glog();
  bool take_syslog();
  bool take_level();
  bool take_logger_before_level();
  bool take_source();
  bool plain_logger(std::string_view token, std::string_view after) const;
  void note_stamp(const Stamp& stamp);
  void note_logger(std::string_view name);
  void drop(size_t bytes) { rest_.remove_prefix(bytes < rest_.size() ? bytes : rest_.size()); }

  LogLine& line_;
  const BareClocks& clocks_;
  BareClocks::Begin bare_;
  bool month_first_ = false;
  std::string_view rest_;
  std::optional<Stamp> stamp_;
  bool taken_ = false;   // anything was taken off
  bool record_ = false;  // a logging library's stamp or level was met, not only what containers and Ray put before it
  bool dashed_ = false;  // a dash stands before what is left: "... - INFO - name - message"
  bool padded_ = false;  // the last piece brought its own separator: a space that follows is the message's
  int stamps_ = 0;
  int sources_ = 0;
};

/// The level that a message without a header shows by its first words ("error: ...", "/a/b.py:12: FutureWarning: ...").
Level level_in_words(std::string_view text, RareBytes rare);

}  // namespace mw
