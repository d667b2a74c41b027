#include "daemon/attach.h"

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "daemon/recorder.h"
#include "daemon/run_reader.h"
#include "platform/watch.h"

namespace mw {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLookAgainS = 2;  // seconds between looks for new files where nothing was told
constexpr double kTickS = 10;      // seconds without news after which time itself is news

double since(Clock::time_point then) { return std::chrono::duration<double>(Clock::now() - then).count(); }

Time wall_now() {
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
              .count()};
}

class AttachLoop {
 public:
  AttachLoop(const AttachRequest& request, RunReader& reader, Recorder& recorder, Watch& watch)
      : request_(request), reader_(reader), recorder_(recorder), watch_(watch) {}

  void go() {
    while (!stopped_) {
      // While the journal cannot be written nothing more is read: what is in the files is not lost there.
      const size_t read = kept_ ? reader_.turn() : 0;
      if (read > 0) last_news_ = Clock::now();
      keep();
      if (read > 0 && kept_) continue;  // there may be more
      if (request_.exit_after_idle_s > 0 && since(last_news_) >= request_.exit_after_idle_s) return finish();
      wait();
    }
  }
  const std::string& trouble() const { return trouble_; }

 private:
  void wait() {
    for (const std::string& path : reader_.watched()) watch_.add(path);
    double longest = request_.poll_s;
    if (request_.exit_after_idle_s > 0) {
      longest = std::min(longest, std::max(0.01, request_.exit_after_idle_s - since(last_news_)));
    }
    const Watch::Woke woke = watch_.wait(Duration::seconds(longest));
    stopped_ = woke == Watch::Woke::kStop;
    if (woke == Watch::Woke::kChange || since(last_look_) > kLookAgainS) {
      last_look_ = Clock::now();
      reader_.look_again();
    }
    if (since(last_news_) > kTickS && since(last_tick_) > kTickS) {
      last_tick_ = Clock::now();
      reader_.tick(wall_now());
    }
  }

  void keep() {
    const auto kept = recorder_.flush();
    kept_ = kept.ok();
    if (!kept_ && trouble_.empty()) trouble_ = kept.error().what;
  }

  /// Nothing new for as long as was asked: the run counts as ended, as in a replay of its files.
  void finish() {
    reader_.close();
    keep();
    stopped_ = true;
  }

  const AttachRequest& request_;
  RunReader& reader_;
  Recorder& recorder_;
  Watch& watch_;
  Clock::time_point last_news_ = Clock::now(), last_look_ = Clock::now(), last_tick_ = Clock::now();
  bool stopped_ = false;
  bool kept_ = true;  // the last flush went well
  std::string trouble_;
};

}  // namespace

Result<std::unique_ptr<Replayed>> attach_run(Disk& disk, const Language& language, const AttachRequest& request) {
  const auto began = Clock::now();
  auto recorder = Recorder::open(disk, request.home, request.paths);
  if (!recorder.ok()) return recorder.error();
  auto watch = Watch::make();
  if (!watch.ok()) return watch.error();
  RunReader reader(disk, language, Judge::kAlways, recorder->get(), request.decided);
  MW_TRY((*recorder)->replay_into(reader.state()));
  const bool recorded = (*recorder)->resumed() && reader.state().framework_confidence > 0;
  MW_TRY(
      reader.open(request.paths, request.framework.empty() && recorded ? reader.state().framework : request.framework));
  if (recorded) reader.judge_again();
  AttachLoop loop(request, reader, **recorder, **watch);
  loop.go();
  const auto durable = (*recorder)->sync();

  auto told = std::make_unique<Replayed>();
  told->input = reader.figures();
  told->input.seconds = since(began);
  told->notes = std::move(reader.notes());
  if (!durable.ok()) told->notes.push_back(cat("the journal could not be written: ", durable.error().what));
  if (!loop.trouble().empty()) told->notes.push_back(cat("the journal was held up: ", loop.trouble()));
  told->partial = reader.partial() || !durable.ok();
  told->state = std::move(reader.state());
  return told;
}

}  // namespace mw
