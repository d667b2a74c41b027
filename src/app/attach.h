// The loop of `midwatch attach`: reads, records, judges and waits for news, until it is asked to stop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/requests.h"
#include "core/event_writer.h"
#include "core/task.h"
#include "platform/doors.h"
#include "read/books/knowledge_base.h"
#include "read/recorder.h"
#include "read/run_reader.h"

namespace mw {

/// One life of a watch. It owns nothing of the world: whoever ends the process at any point, and makes another loop
/// over the same doors, goes on where this one was.
class AttachLoop final : private EventWriter {
 public:
  /// Continues the record of the run, or begins one. `files`: the disk through which the run's own files are read
  /// (nullptr: as all others); it outlives the loop. Errors: another watch holds it, nothing there to read.
  static Result<std::unique_ptr<AttachLoop>> open(const Doors& doors, const KnowledgeBase& knowledge,
                                                  const AttachRequest& request, Disk* files = nullptr);
  /// `task` goes beside it from the next turn on; it outlives the loop.
  void accompany(Task& task) { tasks_.push_back(&task); }
  /// Reads what is new, records and judges it, or waits when nothing is. False when the watch is over: it was asked to
  /// stop, or nothing came for as long as was asked.
  bool turn();
  /// `make_room`: what to do when the journal's disk is full; it says whether that made room, and may be empty. `say`
  /// receives one sentence when the journal takes nothing, and one when it does again.
  void when_full(std::function<bool()> make_room, std::function<void(const std::string& sentence)> say) {
    make_room_ = std::move(make_room);
    say_ = std::move(say);
  }
  /// Where the run is recorded.
  const std::string& folder() const { return recorder_->folder(); }
  /// Makes the record durable and returns what was seen. Ends the loop.
  std::unique_ptr<Replayed> take();

 private:
  AttachLoop(const Doors& doors, const KnowledgeBase& knowledge, const AttachRequest& request,
             std::unique_ptr<Recorder> recorder, Disk& files);
  Result<uint32_t> intend(event::Intended intent) override;
  void acted(event::Acted outcome) override;
  Result<void> note(event::Note words, Time at) override;
  using EventWriter::record;
  Result<void> record(SupervisionEvent event, Time at) override;
  Result<void> sync() override { return recorder_->sync(); }
  bool held_up() const override { return !kept_; }
  void changed(event::Changed&& what) override { put({{}, {}, std::move(what)}); }
  void observed(const std::string& source, event::Measured&& figures) override;
  void observed(const std::string& source, event::Matched&& match) override;
  void observed(const std::string& source, event::SourceProblem&& problem) override;
  void observed(const std::string& source, event::ComponentSaw&& saw) override;
  void ended(const std::string& source, event::Ended&& end) override;
  void observed(const std::string& source, event::CheckpointSeen&& seen) override;
  void observed(const std::string& source, event::CheckpointRead&& read) override;
  void observed(const std::string& source, event::PointerSeen&& seen) override;
  void observed(const std::string& source, event::SavesAs&& names) override;
  void read_also(const std::vector<std::string>& paths) override;
  Duration silence() const override { return since(last_news_); }
  void judge() override { reader_.tick(doors_.clock.now()); }
  void put(Event event);
  void wait(Duration longest);
  std::optional<Duration> tasks(bool quiet);
  bool tasks_are_due() const;
  void stop_requested();
  void say_left_out();
  void notice_a_gap();
  std::optional<Duration> preview();
  void watch_folders();
  void keep();
  void report_trouble(const Result<void>& kept);
  void finish();
  Duration since(Duration then) const { return Duration{doors_.clock.steady().ns - then.ns}; }

  Doors doors_;
  AttachRequest request_;
  std::vector<Task*> tasks_;
  std::function<bool()> make_room_;
  std::function<void(const std::string&)> say_;
  std::unique_ptr<Recorder> recorder_;
  RunReader reader_;
  Duration began_, last_news_, last_scan_, last_tick_, last_preview_;  // by the steady clock
  Duration busy_since_;     // likewise: since when there is news turn after turn, or the tasks had theirs
  Duration back_by_;        // when the loop is to be back from its wait at the latest
  Duration refused_since_;  // since when the journal takes nothing, where `kept_` is false
  bool busy_ = false;       // the last turn brought news
  int stops_ = 0;           // SIGINT and SIGTERM that came
  bool unsaid_ = false;     // there was news since the last preview
  bool stopped_ = false;
  Time held_up_from_;     // by the calendar, as `refused_since_`
  bool kept_ = true;      // the last flush went well
  bool held_up_ = false;  // so much waits in memory that nothing more is read
  bool trouble_said_ = false;
  bool cut_short_ = false;  // it ended while nothing more was read
  std::string trouble_;
};

/// A whole life: open, turn after turn, take.
Result<std::unique_ptr<Replayed>> attach_run(const Doors& doors, const KnowledgeBase& knowledge,
                                             const AttachRequest& request);

}  // namespace mw
