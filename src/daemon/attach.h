// The loop of `midwatch attach`: reads, records, judges and waits for news, until it is told to stop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/doors.h"
#include "daemon/language.h"
#include "daemon/notebook.h"
#include "daemon/recorder.h"
#include "daemon/run_reader.h"
#include "ui/cli/verb.h"

namespace mw {

/// What goes on beside a watch, turn by turn, on the same thread.
class Companion {
 public:
  virtual ~Companion() = default;
  /// Does what is due; `quiet` says that nothing in the run's files is unread. Returns how long the loop may wait at
  /// most; unset when the watch is over.
  virtual std::optional<Duration> turn(const State& state, bool quiet, Notebook& notebook) = 0;
  /// The watch is over, and nothing more will be read. Whatever is still to be done is done now, within seconds.
  virtual void over(const State&, Notebook&) {}
  /// SIGINT or SIGTERM came. True: leave it to me, I shall end the watch.
  virtual bool told_to_stop() { return false; }
};

/// One life of a watch. It owns nothing of the world: whoever ends the process at any point, and makes another loop
/// over the same doors, goes on where this one was.
class AttachLoop final : private Notebook {
 public:
  /// Takes up what was recorded of the run, or begins a record. Errors: another watch holds it, nothing there to read.
  static Result<std::unique_ptr<AttachLoop>> open(const Doors& doors, const Language& language,
                                                  const AttachRequest& request);
  /// `companion` goes beside it from the next turn on; it outlives the loop.
  void accompany(Companion& companion) { companions_.push_back(&companion); }
  /// Reads what is new, records and judges it, or waits when nothing is. False when the watch is over: it was told to
  /// stop, or nothing came for as long as was asked.
  bool turn();
  /// What to do when the journal's disk is full; it says whether that made room.
  void when_full(std::function<bool()> make_room) { make_room_ = std::move(make_room); }
  /// Where the run is recorded.
  const std::string& folder() const { return recorder_->folder(); }
  /// Makes the record durable and tells what was seen. Ends the loop.
  std::unique_ptr<Replayed> take();

 private:
  AttachLoop(const Doors& doors, const Language& language, const AttachRequest& request,
             std::unique_ptr<Recorder> recorder);
  Result<uint32_t> intend(event::Intended intent) override;
  void acted(event::Acted outcome) override;
  Result<void> told(event::Told words, Time at) override;
  void changed(event::Changed&& what) override { put({{}, {}, std::move(what)}); }
  void observed(const std::string& source, event::Measured&& figures) override;
  void observed(const std::string& source, event::Matched&& match) override;
  void observed(const std::string& source, event::SourceProblem&& problem) override;
  void observed(const std::string& source, event::ComponentSaw&& saw) override;
  void ended(const std::string& source, event::Ended&& end) override;
  void observed(const std::string& source, event::CheckpointSeen&& seen) override;
  Duration silence() const override { return since(last_news_); }
  void judge() override { reader_.tick(doors_.clock.now()); }
  void put(Event event);
  void wait(Duration longest);
  std::optional<Duration> companions(bool quiet);
  bool companions_are_due() const;
  void told_to_stop();
  void notice_a_gap();
  std::optional<Duration> preview();
  void look_around();
  void keep();
  void finish();
  Duration since(Duration then) const { return Duration{doors_.clock.steady().ns - then.ns}; }

  Doors doors_;
  AttachRequest request_;
  std::vector<Companion*> companions_;
  std::function<bool()> make_room_;
  std::unique_ptr<Recorder> recorder_;
  RunReader reader_;
  Duration began_, last_news_, last_look_, last_tick_, last_preview_;  // by the steady clock
  Duration busy_since_;     // likewise: since when there is news turn after turn, or the companions had theirs
  Duration back_by_;        // when the loop is to be back from its wait at the latest
  Duration refused_since_;  // since when the journal takes nothing, where `kept_` is false
  bool busy_ = false;       // the last turn brought news
  int stops_ = 0;           // SIGINT and SIGTERM that came
  bool unsaid_ = false;     // there was news since the last preview
  bool stopped_ = false;
  bool kept_ = true;        // the last flush went well
  bool cut_short_ = false;  // it ended while nothing could be kept, so that something may be unread
  std::string trouble_;
};

/// A whole life: open, turn after turn, take.
Result<std::unique_ptr<Replayed>> attach_run(const Doors& doors, const Language& language,
                                             const AttachRequest& request);

}  // namespace mw
