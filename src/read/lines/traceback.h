// Python tracebacks, put together from their lines, whatever prefix each line carries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/event.h"

namespace mw {

/// Feed it the message part of every line of one stream (pid, rank) in order; it wakes at "Traceback (most recent call
/// last):" (and at a SyntaxError's bare 'File "x.py", line 3'). An excerpt may have lost that head: frames without it
/// count once an exception's line has followed them, or where nothing follows them at all (flush with `at_end`). Only
/// the first lines of a file may have lost or gained indentation with it.
///
/// Whether an exception ends the matter or only a link of a chain is known from what follows it. So kDone mostly comes
/// with the first line that is no longer the traceback's: then take().last_line is smaller than that line's number, and
/// the line is still the caller's to read. After a pause (attach) or at the end of the file, flush().
///
/// An assertion without words of its own is reported with what it asserts, as the traceback shows it.
///
/// Of Ray's re-raised errors ("ray.exceptions.RayTaskError(KeyError): ray::f() (pid=1)", followed by the remote frames)
/// the remote exception counts; of an exception group the first leaf. What PyTorch re-raises ("Caught KeyError in
/// DataLoader worker process 0.") is a link of a chain, which the "Original Traceback" below it ends.
///
/// IPython's (read/lines/ipython_trace.h) are read as well. Whether it is the program's own or that of a tool which
/// runs it shows in its frames: a sample, unless one of them lies in what trains.
class TracebackReader {
 public:
  static constexpr uint64_t kLinesLimit = 4000;  ///< lines of one traceback; beyond it the attempt is given up
  static constexpr int kForeignLimit = 8;        ///< lines of others in a row that may cut into one
  static constexpr uint64_t kCutHead = 2;        ///< lines of a file in which a copy that begins within one shows it

  enum class Took { kNo, kYes, kDone };
  /// kYes: the line belongs to a traceback in progress; kDone: one is finished, take() has it (see above); kNo: nothing
  /// to do with one.
  Took feed(std::string_view message, uint64_t number);
  /// The finished one; its first line is first_line().
  event::TraceSeen take();
  /// The file ended (`at_end`), or another stream cut in: what there is so far, if that is enough to be called a
  /// traceback.
  std::optional<event::TraceSeen> flush(bool at_end = false);
  /// Where the traceback that take() or flush() gives out (or the one in progress) begins.
  uint64_t first_line() const { return ready_ ? ready_first_ : given_first_ != 0 ? given_first_ : first_line_; }
  /// The one that take() or flush() gave out is taken for a tool's only because its program lies in a folder for what
  /// is temporary. Whoever ends right behind it was that program.
  bool temporary_program() const { return temporary_program_; }
  /// Likewise because its innermost frame is code that lies in no file ("<string>", "<stdin>"): the answer of a model
  /// that a tool runs, or what a person gave to python -c.
  bool fileless_program() const { return fileless_program_; }
  /// Its outermost frame is a module's: it ended the process that raised it. One that a logger wrote begins with the
  /// function that caught it.
  bool ended_a_program() const { return module_entry_; }
  /// IPython printed the one that temporary_program() speaks of.
  bool cell_program() const { return cell_program_; }
  bool open() const { return state_ != State::kIdle; }
  /// The line that was fed last is source that the traceback shows: what stands in it is not what happened.
  bool took_source() const { return took_source_; }
  /// An exception was read; the next line shows whether the traceback ends with it.
  bool may_be_whole() const { return state_ == State::kException; }

 private:
  enum class State : uint8_t { kIdle, kFrames, kException };
  void begin(uint64_t number);
  Took wake(std::string_view message, std::string_view bare, bool headed, uint64_t number);
  Took feed_frames(std::string_view message, std::string_view bare, uint64_t number);
  Took feed_after(std::string_view message, std::string_view bare, uint64_t number);
  bool take_exception(std::string_view line, uint64_t number);
  void take_frame(std::string_view line, uint64_t number);
  bool take_ipython(std::string_view message, uint64_t number);
  void finish(bool handled);

  State state_ = State::kIdle;
  bool group_ = false;   // inside an exception group's margin
  bool remote_ = false;  // the exception is Ray's wrapper: the remote frames may follow
  bool took_source_ = false;
  bool ipython_ = false;  // IPython's
  bool syntax_ = false;   // began with a bare File line: only a SyntaxError makes it one
  bool temporary_program_ = false, cell_program_ = false;
  bool fileless_program_ = false;
  bool scratch_entry_ = true;  // its outermost frame lies in no program's file
  bool module_entry_ = false;  // and is a module's
  bool training_ = false;      // a frame of it is the training loop
  bool headless_ = false;      // began with a frame: only an exception makes it one
  bool ready_ = false;
  int frames_ = 0;
  bool flat_ = false;  // an excerpt that has lost all indentation: a frame's source line looks like another's
  size_t margin_ = 0;  // blanks that the excerpt has before each line of it
  int foreign_ = 0;    // lines of others in a row
  int blanks_ = 0;     // empty lines since the exception
  uint64_t first_line_ = 0, ready_first_ = 0, given_first_ = 0;
  std::string own_frame_;  // the innermost that lies in no library
  std::string code_;       // the source line under the innermost frame; "": not shown
  event::TraceSeen trace_, finished_;
};

/// True when `line` is what a traceback ends with ("ValueError: bad value"), the class's name being that of an error.
bool is_exception_line(std::string_view line);

/// True when a frame lies in a program's or a package's file rather than in text that a model or a tool wrote
/// ("<string>", "<stdin>", "/tmp/tmpab12.py", "Cell In[3]"). `frame` as in TraceSeen ("file:line in function") or as in
/// a traceback's own line.
bool frame_is_infrastructure(std::string_view frame);

}  // namespace mw
