#include "app/notice_task.h"

#include <algorithm>
#include <csignal>
#include <optional>

#include "base/text.h"
#include "platform/background_call.h"

namespace mw {
namespace {

constexpr Duration kPoll = Duration::millis(200);      // while a question is out
constexpr Duration kSlow = Duration::seconds(60);      // between two questions to one that has no answer
constexpr int kPatient = 3;                            // questions without an answer until then
constexpr Duration kShipping = Duration::seconds(90);  // kept for what is shipped, beyond the grace of the command

struct Asked {
  std::optional<EndNotice> notice;
  bool answered = false;  ///< by all sources
};

Asked ask_all(const std::vector<std::shared_ptr<NoticeSource>>& sources, Time now, Duration lead) {
  Asked out;
  out.answered = true;
  for (const auto& source : sources) {
    const auto notice = source->ask();
    out.answered = out.answered && notice.ok();
    // Of several the one that is due; of those that are not yet any will do, to be said.
    if (notice.ok() && *notice && (!out.notice || notice_is_due(**notice, now, lead))) out.notice = *notice;
  }
  return out;
}

class Noticing final : public NoticeTask {
 public:
  Noticing(const Doors& doors, Supervisor& supervisor, std::vector<std::shared_ptr<NoticeSource>> sources, bool acts,
           std::function<void(const std::string& sentence)> say)
      : doors_(doors), supervisor_(supervisor), sources_(std::move(sources)), acts_(acts), say_(std::move(say)) {}

  const std::string& taken_away() const override { return taken_away_; }

  std::optional<Duration> leaves() const override {
    if (!notice_) return std::nullopt;
    if (!notice_->at.known()) return Duration{};
    return Duration{std::max<int64_t>(0, (notice_->at - doors_.clock.now()).ns)};
  }

  std::optional<Duration> turn(const State&, bool, EventWriter&) override {
    if (auto asked = call_.take()) heed(*asked);
    if (call_.busy()) return kPoll;
    const Duration now = doors_.clock.steady();
    if (due_ && now < *due_) return Duration{due_->ns - now.ns};
    due_ = Duration{now.ns + (silent_ >= kPatient ? kSlow : kNoticeEvery).ns};
    call_.start([sources = sources_, at = doors_.clock.now(), lead = lead()] { return ask_all(sources, at, lead); });
    return kPoll;
  }

 private:
  Duration lead() const { return {supervisor_.spec().grace.ns + kShipping.ns}; }

  void heed(const Asked& asked) {
    silent_ = asked.answered ? 0 : silent_ + 1;
    if (asked.notice || asked.answered) notice_ = asked.notice;
    if (!asked.notice) {
      if (!said_.empty()) say_("the notice that this machine is taken away was withdrawn");
      said_.clear();
      return;
    }
    const EndNotice& notice = *asked.notice;
    const std::string text = cat(notice.what, notice.at.known() ? cat(" at ", format_utc(notice.at)) : "");
    if (text != said_) say_(said_ = text);
    if (!acts_ || !taken_away_.empty() || supervisor_.stopping()) return;
    if (!notice_is_due(notice, doors_.clock.now(), lead())) return;
    taken_away_ = text;
    say_("the command is ended, so that what it saved is shipped in time");
    supervisor_.stop(false, SIGTERM);
  }

  const Doors& doors_;
  Supervisor& supervisor_;
  const std::vector<std::shared_ptr<NoticeSource>> sources_;
  const bool acts_;
  const std::function<void(const std::string& sentence)> say_;
  BackgroundCall<Asked> call_;
  std::optional<Duration> due_;
  int silent_ = 0;
  std::optional<EndNotice> notice_;  ///< the last one
  std::string said_, taken_away_;
};

}  // namespace

std::unique_ptr<NoticeTask> notice_task(const Doors& doors, Supervisor& supervisor,
                                        std::vector<std::shared_ptr<NoticeSource>> sources, bool acts,
                                        std::function<void(const std::string& sentence)> say) {
  if (sources.empty()) return nullptr;
  return std::make_unique<Noticing>(doors, supervisor, std::move(sources), acts, std::move(say));
}

}  // namespace mw
