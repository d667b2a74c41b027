// All files of one run, read as one: discovery, recognition, and every event in order into one state, and into the
// journal when there is one.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/advance.h"
#include "core/input_figures.h"
#include "core/step_axis.h"
#include "platform/clock.h"
#include "read/event_door.h"
#include "read/recorder.h"
#include "read/source_reader.h"

namespace mw {

class RunReader final : public EventSink {
 public:
  /// Of a live watch: reading and interpreting in one turn end after so long, so that signals and tasks have
  /// theirs. (A piece of kPieceBytes takes some 10 ms at the most.)
  static constexpr Duration kTurnTime = Duration::millis(50);
  static constexpr size_t kPieceBytes = size_t{256} << 10;
  /// Likewise: after a judgement that took so long, the next waits three times as long, so that judging takes a quarter
  /// of a core at the most however many lines call for it, and what calls for one is judged within four times its cost.
  static constexpr int64_t kRestPerJudgement = 3;

  /// `recorder` may be nullptr (replay). `decided` (may be empty) is called with every decision once it is recorded.
  /// With a `clock` it is a live watch, which shares its time out; without, it judges whatever it costs.
  RunReader(Disk& disk, const KnowledgeBase& knowledge, Judge when, Recorder* recorder,
            std::function<void(const State&, const Event&)> decided, Clock* clock = nullptr);

  /// Only lines of a keeper with this nonce ("": with none) are believed; before open(). Else the nonce
  /// is that of the first one.
  void trust_keeper(std::string nonce) { shared_.keeper_nonce = std::move(nonce); }
  /// Of several arms of an experiment in one file only that one is read; before open().
  void choose_arm(ArmChoice choice) { shared_.arms = std::move(choice); }
  /// Files whose steps are counted otherwise than those of the run; before open().
  void set_axes(StepAxes axes) { axes_ = std::move(axes); }
  /// Those that were found, once all is read: two or more, or none.
  std::vector<std::string> arms() const {
    return shared_.arms.differ ? std::vector<std::string>() : shared_.arms.found;
  }
  /// `heard` (may be empty) is called with every event that was read, once it is folded.
  void hear(std::function<void(const State&, const Event&)> heard) { heard_by_ = std::move(heard); }
  /// The zone of clocks that name none, as TimeZone::parse() has it; before open(). "": UTC, or in a live watch what
  /// the files show. kInvalid.
  Result<void> set_zone(const std::string& name);
  /// Finds the files and recognises the framework. Errors: nothing there, nothing known in it.
  Result<void> open(const std::vector<std::string>& paths, const std::string& framework);
  /// Looks for files of the run that were not there before; true when there are new ones.
  bool look_again();
  /// Reads these files and folders of the run, too.
  void read_also(const std::vector<std::string>& paths);
  /// Reads every file to its present end and ends it; `progress` is called between pieces.
  void read_all(const std::function<void(int64_t, int64_t)>& progress);
  /// Reads a bounded piece of every file, or of as many as there is time for; returns the bytes read (0: nothing new
  /// anywhere).
  size_t turn();
  /// All that was in the files when they were found, or at the last catch_up(), is read.
  bool caught_up() const { return behind_.empty(); }
  /// What is in the files now is old.
  void catch_up();
  /// What was read calls for a judgement, which had to wait.
  bool owes_judgement() const { return unjudged_.has_value(); }
  /// For so long; 0: no more.
  Duration judgement_in() const;
  void judge_when_due();
  /// A traceback waits for the line after it.
  bool holds_trace() const;
  /// Emits it as provisional events (after event::Ticked): it may be the end of the run.
  void preview(Time now);
  /// Judges what was read from a journal: the watch that wrote it may have died before it did.
  void judge_again();
  /// Time went by without news.
  void tick(Time now);
  /// Says that nothing more will come, and judges. `now`: the end of a watch, which another one may continue.
  void close(Time now = {});

  /// What the machine shows, from a source that is no file; `source` is its name.
  void observe(const std::string& source, Event event);

  void put(Event&& event) override;
  State& state() { return state_; }
  InputFigures figures() const;
  std::vector<std::string>& notes() { return notes_; }
  bool partial() const { return partial_; }
  /// Those in folders, which were left unread as other files lay there; none in a live watch.
  const std::vector<std::string>& notebooks() const { return notebooks_; }
  /// All that was read is text in which there is nothing that a run says: no figure, no event, no clock.
  bool says_nothing() const;
  std::vector<std::string> left_out() const;  ///< files of earlier runs, which a live watch does not read
  std::vector<std::string> watched() const;   ///< files and folders whose changes matter

 private:
  void leave_out_older_runs(std::vector<FoundFile>& files);
  void pass_over(const std::vector<FoundFile>& files);
  Result<void> add_source(const FoundFile& file);
  std::vector<std::string> parts_in_journal(const FoundFile& file);
  uint32_t number_of(const std::string& path);
  Result<void> reattach(SourceReader& source);
  bool known_already(const Event& event) const;
  bool has_quoted_clock(const Event& event) const;
  bool skipped(const Event& event);
  bool is_keepers_end(const Event& event) const;
  void end_other_files(const event::Ended& end);
  void believe_last_traces();
  void note_problem(uint32_t source, const event::SourceProblem& problem);
  void report_problems();
  void begin_another(const Event& event);
  void say_framework();
  void publish_decisions();
  template <typename Do>
  void judge_once(Do&& read);
  size_t turn_of(SourceReader& source, size_t most, Duration until);
  bool may_judge() const { return clock_ == nullptr || clock_->steady() >= next_judgement_; }
  Duration steady() const { return clock_ == nullptr ? Duration{} : clock_->steady(); }
  void judged_since(Duration began);
  bool logs_speak();

  Disk& disk_;
  const KnowledgeBase& knowledge_;
  Judge when_;
  Recorder* recorder_;
  std::function<void(const State&, const Event&)> on_decision_;
  Clock* clock_;
  Duration next_judgement_;             // by its steady time, not before
  size_t next_source_ = 0;              // whose turn it is: the one before used all the time there was
  std::map<uint32_t, int64_t> behind_;  // by source number: bytes up to which it is to be caught up with
  RunShared shared_;
  EventDoor door_;
  State state_;
  JudgeMemory memory_;  // of the judgements of state_
  std::vector<std::string> paths_, notebooks_;
  std::vector<std::unique_ptr<SourceReader>> sources_;
  std::set<std::string> known_paths_;
  std::set<std::pair<uint64_t, uint64_t>> known_files_;  // device and inode: a rotated log keeps its own
  std::map<uint32_t, int64_t> heard_;                    // by source number: lines at the last tick
  StepAxes axes_;
  std::map<uint32_t, uint64_t> skip_;          // by source number: events that the journal has already
  std::map<std::string, uint32_t> observers_;  // numbers of the sources that are no files
  Time written_last_;                          // when the newest of the sources was written to
  std::map<std::string, Time> left_out_;       // by path: of an earlier run, as long as it was written last then
  std::set<uint32_t> beside_;                  // sources of a live watch whose steps may be another run's
  uint32_t next_number_ = 0;                   // of a source that the journal does not know
  std::vector<Event> decided_;
  bool together_ = false;  // what comes now is judged together
  struct Unjudged {
    Time at;
    Where where;
    Time received;
  };
  std::optional<Unjudged> unjudged_;  // the last of it that matters
  std::vector<std::string> notes_;
  uint64_t said_version_ = ~uint64_t{0};
  std::string said_framework_;
  struct Unread {
    std::string what;
    bool in_all = false;  ///< it counts all places
    bool tail = false;    ///< nothing is wrong but that the end is missing
  };
  std::map<uint32_t, Unread> unread_;  ///< by source: what of it could not be read
  bool partial_ = false;
  std::optional<Error> denied_;  ///< of a named file that may not be read
  int64_t total_bytes_ = 0;
  std::function<void(const State&, const Event&)> heard_by_;
};

}  // namespace mw
