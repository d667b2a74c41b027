// One file of a run: follows its bytes, recognises what they are, and puts the events they hold. The same object serves
// replay (read to the end, once) and attach (poll again and again).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "platform/tail.h"
#include "read/books/knowledge_base.h"
#include "read/console_copy.h"
#include "read/discover.h"
#include "read/files/plain_stream.h"
#include "read/files/sniff.h"
#include "read/files/sqlite_store.h"
#include "read/interpret/interpreter.h"
#include "read/interpret/recogniser.h"
#include "read/known_rows.h"
#include "read/lines/template_miner.h"

namespace mw {

/// What the sources of one run share.
struct RunShared {
  explicit RunShared(const KnowledgeBase& known) : knowledge(known), recogniser(known.book()) {}
  const KnowledgeBase& knowledge;
  Recogniser recogniser;
  std::optional<std::string>
      keeper_nonce;              ///< of the keeper whose lines are believed; unset: of the first in each file
  std::optional<TimeZone> zone;  ///< of clocks without one; unset: UTC, or what a live log shows (`live`)
  bool live = false;             ///< the files are being written
  bool read_once = false;        ///< and no journal has what was read of them: their beginnings may be looked at first
  ConsoleCopy console;           ///< that metric files carry inside
  ArmChoice arms;                ///< of an experiment, that write into one file
  std::string piece;             ///< what is being read just now; one for all, as each would keep a megabyte
};

class SourceReader {
 public:
  static constexpr size_t kPiece = size_t{1} << 20;  ///< bytes of one read

  SourceReader(Disk& disk, const FoundFile& file, uint32_t number, RunShared& shared, EventSink& sink);
  ~SourceReader();

  /// Emits every change of dialect from here on (ReadAs). Those in `recorded` are in the journal already and are
  /// followed again until resume_recognition().
  void emit_dialects(std::vector<Interpreter::Switch> recorded);
  void resume_recognition();

  /// Opens all parts while their names are those that were found: a log may be rotated any time.
  Result<void> open_parts();
  /// Reads up to about `budget` bytes and puts what they say. Returns the bytes read; 0: nothing new.
  Result<size_t> poll(size_t budget);
  /// A rotated part cannot be read: reading goes on without it. False when it is the file itself that cannot.
  bool skip_part();
  /// A traceback that is read so far waits for the line after it; preview() puts it as if none came.
  bool holds_trace() const;
  void preview(EventSink& sink) const;
  /// Puts it for good: whoever wrote it has ended.
  void end_trace();
  /// Its last traceback, behind which nothing stands, is taken for a tool's because of where its program lies: whoever
  /// writes the file may have ended of it. The line where it begins; 0: there is none.
  uint64_t doubted_trace() const;
  /// Whoever wrote it has ended by an error: that traceback is put as the program's own.
  void writer_failed();
  /// No more will come. Puts SourceEnded.
  void finish();

  /// Looks at the beginning (and, of text, the end) for signs of the framework and decides what the file is. The
  /// error of a file that cannot be read; it is taken for an empty one.
  Result<void> look();
  /// What look() took the file for.
  FileKind looked_like() const { return looked_like_; }
  const std::string& path() const { return file_.path; }
  uint32_t number() const { return number_; }
  int64_t bytes() const { return static_cast<int64_t>(read_); }
  int64_t lines() const;
  /// Its last line, of a text log.
  std::string last_text() const;
  /// Bytes in its files, as they are called now, that were not read.
  int64_t unread();
  /// True when the oldest content at hand begins with these bytes (by their hash and number). An error: not to be said
  /// now, as it cannot be read.
  Result<bool> begins_like(uint64_t head_hash, int64_t head_bytes);
  bool readable() const { return kind_known_ && speaks_; }
  bool finished() const { return finished_; }

 private:
  class Records;
  class Text;
  class Notebook;
  class Turned;
  class Stage;
  void open_as(FileKind kind);
  void open_turned(FileKind kind, std::string_view first);
  void take(std::string_view plain);
  Result<size_t> poll_part(Tail& tail, size_t budget);
  void begin_anew(const Tail& tail);
  bool was_copied_away(const Tail& tail);
  void read_copy(const Tail& tail);
  bool is_kept(const Tail& tail);
  void find_missed_parts(const Tail& tail);
  void note_read(const FileInfo& part);
  void note_head();
  void open_plain(const Tail& tail);
  void problem(std::string_view name, std::string_view detail);
  Result<size_t> poll_sqlite();
  void close_stage(bool last);

  Disk& disk_;
  FoundFile file_;
  uint32_t number_;
  RunShared& shared_;
  EventSink& sink_;
  std::deque<Tail> parts_;  // rotated parts, oldest first, then the file itself
  FileKind kind_ = FileKind::kEmpty, looked_like_ = FileKind::kEmpty;
  bool emits_dialects_ = false;
  std::vector<Interpreter::Switch> recorded_dialects_;
  bool kind_known_ = false, speaks_ = false, opened_ = false, finished_ = false;
  std::unique_ptr<PlainStream> plain_;  ///< of a file that is not plain
  std::string pending_;                 // first bytes, until the kind can be recognised by them
  uint64_t read_ = 0;
  std::string head_;           // the first bytes of the present content, at most kHeadBytes
  bool part_over_ = false;     // the part that is being read is at its end
  bool missed_parts_ = false;  // the name was given to a new file: parts may have come and gone in between
  std::map<std::pair<uint64_t, uint64_t>, Time> read_parts_;  // by device and inode, as it was last changed
  bool head_closed_ = false;  // no more bytes of the part that it begins with will come, or it is long enough
  int64_t earlier_lines_ = 0;
  std::unique_ptr<KnownRows> rows_;  // of a document, in a live watch
  std::unique_ptr<Stage> stage_;
  SqliteSince since_;
  std::string& piece_ = shared_.piece;
};

}  // namespace mw
