// Notifies people while a run is watched: decides what each channel receives, records the intent, sends it on a thread,
// and records the result. The watch never waits for a receiver.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "act/notify/notices.h"
#include "act/notify/notify_rules.h"
#include "core/task.h"
#include "platform/clock.h"
#include "platform/doors.h"
#include "platform/http.h"

namespace mw {

struct NotifierDoors {
  Disk& disk;
  Clock& clock;
  Http& http;
  /// Receives one sentence: what went wrong with a channel.
  std::function<void(const std::string& sentence)> say;
  const KnownSecrets* known = nullptr;  ///< removed from the stored output of hooks
};

std::string host_name();  ///< of this machine; "" when it has none

class Notifier final : public Task {
 public:
  static constexpr Duration kSettle =
      Duration::seconds(1);  ///< from an incident's first sight to its notice: its cause becomes clear
  static constexpr Duration kLongestSettle = Duration::seconds(5);  ///< even while further incidents open
  static constexpr Duration kFresh =
      Duration::seconds(3600);  ///< what was over longer ago than this when midwatch began is not reported
  static constexpr Duration kFirstRetry = Duration::seconds(1);  ///< doubles up to kLongestRetry
  static constexpr Duration kLongestRetry = Duration::seconds(300);
  static constexpr Duration kDrain = Duration::seconds(15);  ///< for messages that are being sent when the watch ends
  static constexpr Duration kBlind = Duration::seconds(10);  ///< without a journal, after which people are notified
  static constexpr int kBurst = 5;                           ///< messages that a channel sends at once
  static constexpr size_t kHookOutputs = 200;                ///< outputs of hooks kept in the run's folder
  static constexpr size_t kBundle = 50;                      ///< notices in one message; the rest follow in the next

  Notifier(NotifierDoors doors, NotifySettings settings);
  ~Notifier() override;
  /// Sets the run to notify of; call it before the first turn.
  void watch(NoticeContext context, std::string folder);
  /// Called again and again while the last messages are sent, when the watch is over: hooks may leave notes for the
  /// run.
  void meanwhile(std::function<void(const State&, EventWriter&)> act) { meanwhile_ = std::move(act); }
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override;
  void over(const State& state, EventWriter& writer) override;

 private:
  struct Send;
  struct Channel {
    ChannelRule rule;
    std::set<std::string, std::less<>> known;  ///< keys of notices that were sent, are being sent, or need no sending
    std::vector<Time> sends;                   ///< within the last hour
    std::optional<Message> message;            ///< not delivered yet
    std::vector<uint32_t> intents;             ///< of its notices
    Duration first_try, next_try, wait;
    bool failure_reported = false;
    bool blind = false;  ///< it was notified that the journal cannot be written
    std::unique_ptr<Send> send;
  };

  void reattach(const State& state, EventWriter& writer);
  void catch_up(const std::vector<Notice>& news);
  std::vector<Notice> gather(const State& state);
  void add_escalations(const State& state, std::vector<Notice>& news) const;
  void add_withdrawn(const State& state, std::vector<Notice>& news) const;
  bool wants(const Channel& channel, const Notice& notice) const;
  static void cover(Channel& channel, const std::string& key);
  bool may_send(Channel& channel) const;
  bool settled(const std::vector<const Notice*>& news);
  void finish_send(Channel& channel, EventWriter& writer);
  void begin(Channel& channel, const std::vector<const Notice*>& news, const State& state, EventWriter& writer);
  void start_send(Channel& channel);
  void keep_output(const Channel& channel, const std::string& output);
  bool unfinished(Duration waited) const;
  void work(const State& state, EventWriter& writer);
  bool is_blind() const;
  void report_blindness(bool held_up);
  bool busy() const;

  NotifierDoors doors_;
  NotifySettings settings_;
  NoticeContext context_;
  std::function<void(const State&, EventWriter&)> meanwhile_;
  std::string folder_, host_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::map<std::string, Duration> seen_;  ///< when a notice was first there, by its key
  std::optional<Duration> blind_since_;
  bool reattached_ = false, caught_up_ = false, ending_ = false;
  bool due_ = false;  ///< a notice waits for its time: check again soon
};

}  // namespace mw
