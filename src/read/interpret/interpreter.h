// Understands what a trainer says: lines and metric rows of one source become events.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/event.h"
#include "core/knowledge.h"
#include "read/books/dialect_book.h"
#include "read/books/signature_book.h"
#include "read/interpret/answer_judge.h"
#include "read/interpret/answer_rows.h"
#include "read/interpret/arms.h"
#include "read/interpret/cell_tables.h"
#include "read/interpret/counter_line.h"
#include "read/interpret/first_lines.h"
#include "read/interpret/generic.h"
#include "read/interpret/leading_rank.h"
#include "read/interpret/loop_again.h"
#include "read/interpret/recogniser.h"
#include "read/interpret/records.h"
#include "read/interpret/score_sums.h"
#include "read/interpret/start_banner.h"
#include "read/lines/bar_values.h"
#include "read/lines/clean_line.h"
#include "read/lines/column_table.h"
#include "read/lines/log_line.h"
#include "read/lines/metric_line.h"
#include "read/lines/open_brackets.h"
#include "read/lines/row.h"
#include "read/lines/template_miner.h"
#include "read/lines/traceback.h"

namespace mw {

/// Which signature a pattern of the process's one pattern set belongs to; `weak` ones decide nothing alone.
struct SignaturePattern {
  uint32_t signature = 0;  ///< index into Knowledge::signatures
  bool weak = false;
};

class Fields;

/// What each pattern id of the process's one pattern set stands for: a line shape or sign of a dialect, or a signature.
struct PatternIndex {
  const DialectBook* book = nullptr;
  uint32_t dialect_first = 0;  ///< number of the first of book->patterns()
  const Knowledge* knowledge = nullptr;
  uint32_t signature_first = 0;
  std::span<const SignaturePattern> signatures;  ///< pattern signature_first + i
  const SignatureBook* failures = nullptr;       ///< when given, its `unless` expressions are heeded
  const KnownSecrets* known = nullptr;           ///< when given, values that no event may hold
  const PatternSet* patterns = nullptr;          ///< when given, a part of a line is matched by itself
};

/// One per source. What is shared between the sources of a run (whose trainer it is, log templates) is given to it.
class Interpreter {
 public:
  static constexpr size_t kStreamLimit = 64;          ///< streams (pid, rank) whose tracebacks are put together at once
  static constexpr size_t kPendingBytes = 256 << 10;  ///< of a record that goes over several lines
  static constexpr size_t kTableLines = 400;          ///< of one table
  static constexpr int kForeignLines = 40;            ///< in a row inside a boxed table: an answer
  static constexpr size_t kSampleLines = 200;         ///< of a rollout sample without an end
  static constexpr uint64_t kTraceLines = 400;        ///< lines of others after which an open traceback is over
  static constexpr int kToolsPrograms = 3;        ///< programs in temporary folders that a log outlived are a sandbox's
  static constexpr uint64_t kExcerptLines = 200;  ///< a source of no more lines may be an excerpt: read in full
  static constexpr int kAfterException = 6;       ///< lines that may follow an excerpt's last exception
  static constexpr size_t kCodeLines = 200;       ///< of the code that a tool ran
  static constexpr uint64_t kCodeReach = 1000;    ///< lines, others' too, within which they stand
  static constexpr size_t kToolNames = 256;       ///< functions that such code was named by
  static constexpr size_t kSettingBytes = 200;    ///< of a setting's value
  static constexpr size_t kWeakReach = 200;       ///< lines from a strong match within which a weak one counts

  Interpreter(const PatternIndex& pattern_index, Recogniser& recogniser, TemplateMiner& miner, EventSink& sink,
              uint32_t source);
  ~Interpreter();

  /// A line and the patterns that hit it. `at` is its time when the file itself says so. Returns how many of the next
  /// lines it wants whatever they hold.
  size_t line(std::string_view raw, uint64_t number, std::span<const uint32_t> hits, Time at = {});
  /// What stood in front of the lines that come, as far as it is known: it decides with them what is secret. Both must
  /// live as long as the lines are read.
  /// `keys`: false when may_hold_key() is known to be false of both.
  void behind(std::string_view earlier, std::string_view before, bool keys) { clean_.behind(earlier, before, keys); }
  /// A metric record of a structured file; one that `failed` has an error in place of its figures.
  void row(const Row& row, bool failed = false);
  /// A setting or fact of the run ("config/trainer/lr" = "1e-6").
  void property(std::string_view key, std::string_view value);
  /// The last traceback, behind which nothing stands, is taken for a tool's because of where its program lies: whoever
  /// writes this log may have ended of it. The line where it begins; 0: there is none.
  uint64_t doubted_trace() const;
  /// Whoever writes this log has ended by an error: that traceback is put as the program's own.
  void writer_failed();
  /// The file says that the run ended with this exit code.
  void ended(int64_t code, Time at);
  /// Tracebacks wait for the line after their last one, which may be long in coming (attach).
  bool holds_trace() const;
  /// Emits provisional events: what open tracebacks would give if nothing more came. They come again when whole.
  void preview(EventSink& sink) const;
  /// No more will come (or has come for a while): emits what is pending.
  void finish();
  /// True while nobody's dialect speaks (or the one that does has shown no record yet), so that every line has to be
  /// looked at.
  bool wants_all_lines() const;
  /// When `line`, read after all others, says that it was written; unknown when it does not say.
  Time time_of(std::string_view line) { return reader_.read(line, number_).at; }
  /// From now on each change of the dialect that the source is read in is emitted (ReadAs), so that a watch that starts
  /// again comes to the same events. The changes in `recorded` are in the journal already: they are followed again, in
  /// place of what is recognised now, until resume_recognition().
  struct Switch {
    uint64_t line = 0;    ///< the first line that is read so
    std::string dialect;  ///< its id; "" is nobody's
  };
  void emit_dialects(std::vector<Switch> recorded);
  void resume_recognition() { following_ = false; }
  void set_date_hint(Time date) { reader_.set_date_hint(date); }
  /// Of a file that is read once: what its beginning shows of its lines.
  void expect(std::string_view head) {
    reader_.expect_labels(head);
    reader_.expect_dates(head);
  }
  void set_zone(const TimeZone& zone) { reader_.set_zone(zone); }
  /// The file has a record of each step beside these lines.
  void beside_rows() { beside_rows_ = true; }
  /// Lines of midwatch's keeper count only with this nonce in them ("": with none); what else looks like one is the
  /// trainer's own. Without this call, the nonce is that of the first such line.
  void trust_keeper(std::string nonce) { keeper_ = std::move(nonce); }
  /// Of several arms of an experiment, only the one that was chosen is read; those that are found are noted there.
  void choose_arm(ArmChoice* choice) { arms_.choose(choice); }
  /// The source is the output of a notebook's cells: a traceback of IPython's that ends it is that of its last cell,
  /// and not that of a tool which runs a model's code.
  void read_cells() {
    of_cells_ = true;
    columns_.read_cells();
  }

 private:
  struct Stream;
  struct CodeRun;
  struct Pending {  // a record that goes over several lines
    enum class Kind : uint8_t { kNone, kDict, kTable };
    Kind kind = Kind::kNone;
    std::string text;
    std::optional<OpenBrackets> brackets;  // of a dict that may be an answer's
    size_t lines = 0;
    bool rows = false;                              // a table's first row came
    bool drawn = false;                             // its rows have cells
    bool unknown = false;                           // of an unknown trainer: to be judged when it is whole
    bool logged = false;                            // a logger writes its rows: they have its clock and level
    bool boxed = false;                             // it is drawn as a box whose bottom has not come
    int foreign = 0;                                // lines in a row that others printed into the box
    int64_t step = kNoStep, format_step = kNoStep;  // see Record
    StepPolicy policy = StepPolicy::kCurrent;
    bool eval = false;
    bool stale = false;  // see Record
    std::string prefix;
    uint64_t number = 0;
    Time at;
    int64_t pid = -1;
  };
  struct Sighting {                  // of a signature
    uint64_t seen = 0, emitted = 0;  // counted as "[repeated Nx]" says
    uint64_t times = 0;
    uint64_t number = 0;  // of its last line
  };

  struct Message {  // warnings and errors of one template
    uint64_t seen = 0, emitted = 0;
    event::Logged::Level level = event::Logged::Level::kWarning;  // of the last one, as are line and time
    uint64_t number = 0;
    Time at;
  };

  /// A traceback that is taken for a tool's because of where its program lies, unless the log ends with it.
  struct TemporaryTrace {
    event::TraceSeen trace;
    uint64_t number = 0;
    Time at;
    bool fileless = false;                                  ///< its innermost frame lies in no file
    bool cell = false;                                      ///< IPython printed it
    bool program = false;                                   ///< it ended the process that raised it
    int lines_after = 0;                                    ///< but for those of what a failed run leaves
    std::vector<std::pair<uint32_t, std::string>> matches;  ///< signatures in it
  };
  struct LastException {  // an exception's line outside any traceback
    std::string text;
    uint64_t number = 0;
    Time at;
    int lines_after = 0;
  };

  // interpreter.cc
  size_t segment(std::string_view raw, std::span<const uint32_t> hits, Time at);
  void follow_speaker();
  void note_clock(Time at);
  /// A line of no traceback: with it the log may begin again.
  void heed_first_lines(const LogLine& line);
  void speak_as(std::optional<size_t> dialect);
  /// A whole traceback that a logger wrote into one line.
  bool feed_folded_trace(const LogLine& line, bool sample);
  bool feed_trace(const LogLine& line, bool sample);
  void note_last_exception(const LogLine& line, bool other);
  void went_on(const LogLine& line);
  void end_whole_traces(const LogLine& line);
  void emit_temporary_program(bool fileless);
  void drop_temporary_program();
  void follow_temporary_program(Stream& stream, const event::TraceSeen& trace);
  bool fileless_ends_the_log() const;
  void emit_last_exception();
  void trace_done(Stream& stream, event::TraceSeen trace);
  static void judge_trace(const Stream& stream, event::TraceSeen& trace);
  void end_stale_traces();
  void end_trace(Stream& stream, bool at_end = false);
  static bool is_typed(std::string_view text);
  void signatures(const LogLine& line, std::span<const uint32_t> hits, bool sample, Stream* trace);
  void matched(uint32_t signature, const std::string& text, uint64_t number, uint64_t count, bool sample, Time at);
  void log_message(const LogLine& line);
  void count(const LogLine& line);
  uint32_t template_of(std::string_view text);
  void emit_message(uint32_t pattern, Message& message);
  bool shapes(const LogLine& line, std::span<const uint32_t> hits, bool sample, bool* quiet);
  enum class Turn : uint8_t { kSpeaker, kOthers, kLayers };
  bool shapes_of(const LogLine& line, std::span<const uint32_t> hits, bool sample, Turn turn, bool* quiet);
  bool is_keepers(size_t dialect, std::string_view text);
  bool speaks_now(size_t dialect, const Shape& shape, bool sample, Turn turn) const;
  bool opens_sample(const LogLine& line, std::span<const uint32_t> hits);
  bool quoted_by_trace(const LogLine& line, const Shape& shape) const;
  bool sample_state(const LogLine& line);
  bool ends_sample(const LogLine& line) const;
  size_t wanted() const;
  bool wanted_as_record() const;
  bool trainer_known() const;
  bool says_nothing(const LogLine& line, std::span<const uint32_t> hits) const;
  /// Lines are wanted, whatever they hold, as the log may begin again with them.
  bool heeds_starts() const { return first_lines_.reads() || banner_.reads(); }

  // interpreter_code.cc
  void begin_code(event::ToolCalled body, const Fields& fields, const LogLine& line);
  void read_code(std::string_view raw, uint64_t number);
  void code_done();

  // interpreter_make.cc
  void make(size_t dialect, const Shape& shape, const Fields& fields, const LogLine& line, std::string_view text,
            size_t match_end);
  void make_record(const Shape& shape, const Fields& fields, const LogLine& line, std::string_view text,
                   size_t match_end);
  void make_readings(const Shape& shape, const Fields& fields, const LogLine& line);
  void add_rollout(const LogLine& line);
  void make_scores(const Fields& fields);
  void end_scores(int64_t step, uint64_t number, Time at);
  void make_simple(const Shape& shape, const Fields& fields, const LogLine& line);
  void make_ended(const Fields& fields, const LogLine& line);
  void make_progress(const Fields& fields, const LogLine& line);
  void count_document(std::string_view key, std::string_view value);
  size_t behind_bar(const LogLine& line);
  void bar_before_text(LogLine& line, std::span<const uint32_t> hits);
  bool is_other_loop(const event::Progressed& bar);
  bool trains_in_other_loop(const MetricLine& metrics) const;
  void follow_other_loop(const Pending& as);
  void plan(const Fields& fields, const LogLine& line);
  void make_tool(const Fields& fields, const LogLine& line);
  void make_format(const Fields& fields, const LogLine& line);
  void make_configured(const Fields& fields, const LogLine& line);
  void begin_sample(const Fields& fields, const LogLine& line);
  bool pending_takes(const LogLine& line);
  void begin_table_with(const MetricLine& row, const LogLine& line);
  bool pending_dict_takes(const LogLine& line);
  void pending_done();
  void add_record(const MetricLine& metrics, const Pending& as);
  void make_checkpoint(const Fields& fields, int64_t step, const LogLine& line);
  void checkpoint_gone(int64_t step, std::string_view path, std::string_view why, const LogLine& line);
  void finish_save(const MetricLine& metrics, const Pending& as);
  bool of_wanted_arm(std::string_view text);
  bool of_other_arm(std::string_view arm, int64_t step, std::span<const RowNumber> numbers, uint64_t number, Time at);
  bool settings_of(const Row& row);  ///< whether it is a record of settings
  void step_in_text(const Row& row, Record& record);
  void emit_answers();
  void add_broken(std::string_view body, const LogLine& line);
  bool record_row(const Row& all, bool held_out, bool failed = false);
  void record_answers(uint64_t number, Time at);
  void configure(std::string_view key, std::string_view value, Where where, Time at);
  /// The same, of a text from which secrets have been taken.
  void configure_clean(std::string_view key, std::string&& text, Where where, Time at);
  void configure_by_command(const LogLine& line);
  Where where(uint64_t number) const { return {source_, number}; }
  void note_heading(const LogLine& line, int64_t step);
  bool make_generic(const LogLine& line);
  bool make_generic_record(const GenericReader::Found& found, bool unnamed, const LogLine& line);
  bool reads_named_dict(const LogLine& line);
  bool make_save(const LogLine& line);
  bool make_resume(const LogLine& line);
  bool make_columns(const LogLine& line);
  bool is_row_of_training(const LogLine& line, int64_t step);
  void begin_attempt(std::string_view why, const LogLine& line);
  bool begin_block(const LogLine& line);
  template <typename Body>
  void put(Body body, uint64_t number, Time at) {
    sink_.put({at, where(number), std::move(body)});
  }

  const PatternIndex& index_;
  Recogniser& recogniser_;
  TemplateMiner& miner_;
  EventSink& sink_;
  uint32_t source_;

  LineReader reader_;
  event::ClockLacks lacks_;  // as it was emitted
  bool dated_ = false;       // a line had a clock
  CleanLine clean_;
  LastException last_exception_;
  std::optional<TemporaryTrace> last_temporary_;
  int temporary_outlived_ = 0;        // such programs whose end the log went on after
  std::vector<uint32_t> piece_hits_;  // scratch
  ScoreSums scores_;                  // of the step that is being done
  MetricLine metrics_;
  BarValues bar_;
  MetricLine table_;  // rows of the pending table
  Records records_;
  AnswerJudge answers_;
  AnswerRows answer_rows_;
  GenericReader generic_;
  ColumnTable columns_;
  LeadingRank ranks_;
  Arms arms_;
  FirstLines first_lines_;
  StartBanner banner_;
  LoopAgain loop_;
  std::optional<size_t> speaker_;
  uint64_t recognised_version_ = ~uint64_t{0};
  bool emits_dialects_ = false, following_ = false;
  std::vector<Switch> recorded_dialects_;
  size_t recorded_next_ = 0;
  Pending pending_;
  std::unique_ptr<CodeRun> code_;                  // a tool's call whose code is being read
  std::set<std::string, std::less<>> tool_names_;  // that were taken from code
  std::map<int64_t, std::unique_ptr<Stream>> streams_;
  size_t open_traces_ = 0;    // streams with a traceback in progress
  uint64_t stale_check_ = 0;  // line at which to look for tracebacks that nobody goes on with
  std::map<uint32_t, Sighting> sightings_;
  struct Said {  // a message, by the hash of its text, and its template as of a version of the miner
    uint64_t hash = 0, version = 0;
    uint32_t pattern = 0;
  };
  std::vector<Said> said_;                               // by the end of the hash; empty while there was no message
  std::map<uint32_t, Message> messages_;                 // by the number of their template
  std::map<std::string, uint64_t, std::less<>> strong_;  // layer -> line of its last strong match
  std::map<std::string, std::pair<int64_t, int64_t>, std::less<>> bars_;
  CounterLines counters_;
  std::string bar_title_, bar_what_;  // of the last bar, as it was written and as it is emitted
  std::map<std::string, std::string, std::less<>> configured_;
  int64_t document_done_ = 0, document_total_ = 0;  // steps, as a document of the trainer's state says
  event::CheckpointSaved begun_save_;               // without a step: none that the record of its step will finish
  std::string save_ends_with_;                      // the figure whose record does, or "true": any record of its step
  bool saves_go_on_ = false;                        // behind the record of their step, in the background
  int64_t steps_total_ = 0;                         // of the run, as planned
  struct OtherLoop {                                // the last bar, if it is not that of the steps
    int64_t total = 0, done = 0, first = 0;         // the first that it showed to be done, none left out
  };
  OtherLoop other_;
  bool steps_complete_ = false;
  bool prepared_ = false;  // by the loop of the last bar that was full
  uint64_t number_ = 0;
  uint64_t ignored_until_ = 0;  // a traceback that begins before this line was ignored by the interpreter of Python

  size_t sample_lines_ = 0;  // left of the sample that we are in; 0: in none
  int64_t sample_pid_ = -1;
  bool sample_stamped_ = false;                  // its first line had a time stamp
  bool announced_ = false;                       // a phase, and no record came since
  bool sample_began_ = false;                    // on this line
  bool samples_end_ = false;                     // a word ended one of them: the next ones end by it, too
  bool bar_made_ = false, record_made_ = false;  // the line's progress bar, its metric record became an event
  uint64_t placeless_line_ = 0;                  // of the last record that nobody's dialect knows and that says no step
  bool closes_steps_ = false;                    // figures stand above the line that says which step is done
  int64_t closed_step_ = kNoStep, step_stride_ = 1;  // the last step that such a line named, and from one to the next
  bool beside_rows_ = false;
  std::optional<std::string> keeper_;  // the nonce in its lines, once it is known
  static constexpr std::string_view kOwnLine = "=== midwatch: ", kOwnReport = "=== midwatch: report";
  bool attempt_over_ = false;  // its last line said that the attempt has ended
  bool own_report_ = false;    // then midwatch's own report began
  bool helper_log_ = false;    // the source is the log of a helper, not the run's
  bool of_cells_ = false;      // the source is a notebook
  CellTables cell_tables_;     // which it shows
  bool own_record_ = false;    // the recognised trainer has printed one as its dialect knows them
  bool own_loop_ = false;      // or a record came that no dialect knows
  std::vector<std::string_view> captures_;
};

}  // namespace mw
