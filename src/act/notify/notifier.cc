#include "act/notify/notifier.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <system_error>
#include <thread>

#include "base/text.h"
#include "core/supervise/action_kind.h"
#include "platform/durable.h"

namespace mw {
namespace {

constexpr Duration kHour = Duration::seconds(3600);
constexpr Duration kSoon = Duration::millis(50);                // between checks while a message is being sent
constexpr std::string_view kNotify = "notify", kHook = "hook";  // as the journal names them

std::string_view action_of(const ChannelRule& rule) { return rule.hook ? kHook : kNotify; }

/// "phone opened:3:critical"
std::string target_of(const std::string& channel, const std::string& key) { return cat(channel, " ", key); }

bool of_incident(const std::string& event) { return event == "opened" || event == "closed" || event == "escalation"; }

bool contains_word(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

/// Sends one message on a thread of its own.
struct Notifier::Send {
  std::atomic<bool> done{false};
  Sent sent;
  std::string output;  // of a hook
  Duration began;
  std::thread thread;
  ~Send() {
    if (thread.joinable()) thread.join();
  }
};

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string();
}

Notifier::Notifier(NotifierDoors doors, NotifySettings settings)
    : doors_(std::move(doors)), settings_(std::move(settings)), host_(host_name()) {
  for (const ChannelRule& rule : settings_.channels) {
    channels_.push_back(std::make_unique<Channel>());
    channels_.back()->rule = rule;
  }
}

Notifier::~Notifier() = default;

void Notifier::watch(NoticeContext context, std::string folder) {
  context_ = std::move(context);
  folder_ = std::move(folder);
}

/// Reads from the journal what was sent before. A message with an intent and no outcome is sent once more.
void Notifier::reattach(const State& state, EventWriter& writer) {
  reattached_ = true;
  std::vector<uint32_t> lost, given_up;
  for (const ActionState& action : state.actions) {
    if (action.intent.action != kNotify && action.intent.action != kHook) continue;
    const size_t space = action.intent.target.find(' ');
    const std::string name = action.intent.target.substr(0, space);
    const std::string key = space == std::string::npos ? "" : action.intent.target.substr(space + 1);
    const auto channel = std::find_if(channels_.begin(), channels_.end(), [&](const auto& one) {
      return one->rule.channel.name == name && action_of(one->rule) == action.intent.action;
    });
    if (channel == channels_.end()) {
      if (!action.done) lost.push_back(action.intent.id);
      continue;
    }
    Channel& of = **channel;
    if (action.done && !action.begun) continue;  // it could not be recorded
    cover(of, key);
    if (of.sends.empty() || of.sends.back() != action.at) of.sends.push_back(action.at);
    if (action.done) continue;
    if (of.rule.hook) {
      given_up.push_back(action.intent.id);
      continue;
    }
    Notice notice;
    notice.key = key;
    notice.event = key.substr(0, key.find(':'));
    notice.incident = action.intent.incident;
    notice.what = action.intent.why;
    for (const Incident& incident : state.incidents) {
      if (incident.id == notice.incident) notice.severity = incident.severity;
    }
    fill_in(notice, state, context_);
    if (!of.message) of.message = Message{context_.run, host_, folder_, doors_.clock.now(), true, {}};
    of.message->notices.push_back(std::move(notice));
    of.intents.push_back(action.intent.id);
    of.first_try = of.next_try = doors_.clock.steady();
  }
  for (const uint32_t id : given_up) {
    writer.acted({id, false, std::string(action_kind(kHook)->outcome), 0});
  }
  for (const uint32_t id : lost) writer.acted({id, false, "There is no such channel any more.", 0});
}

/// Covers the notices of what was over long before this watch began, so that they are not sent.
void Notifier::catch_up(const std::vector<Notice>& news) {
  caught_up_ = true;
  const Time now = doors_.clock.now();
  for (const Notice& notice : news) {
    const bool fresh = notice.since.known() && now - notice.since < kFresh;
    const bool waits = notice.key.starts_with(kAsksKey);
    if (fresh || waits || notice.event == "opened" || notice.event == "escalation") continue;
    for (const auto& channel : channels_) {
      const bool opened = channel->known.lower_bound(cat("opened:", notice.incident, ":")) !=
                          channel->known.lower_bound(cat("opened:", notice.incident, ";"));
      if (notice.incident == 0 || !opened) cover(*channel, notice.key);
    }
  }
}

std::vector<Notice> Notifier::gather(const State& state) {
  std::vector<Notice> news = incident_news(state, context_);
  if (context_.supervises) {
    for (Notice& notice : attempt_news(state, context_)) news.push_back(std::move(notice));
  }
  add_withdrawn(state, news);
  add_escalations(state, news);
  return news;
}

/// Incidents that were notified and no longer exist: later evidence withdrew them.
void Notifier::add_withdrawn(const State& state, std::vector<Notice>& news) const {
  std::set<uint32_t> notified;
  for (const ActionState& action : state.actions) {
    if (action.intent.action == kNotify && action.intent.incident != 0) notified.insert(action.intent.incident);
  }
  for (const Incident& incident : state.incidents) notified.erase(incident.id);
  for (const uint32_t id : notified) {
    Notice notice;
    notice.event = "closed";
    notice.key = closed_key(id);
    notice.incident = id;
    notice.what = cat("Incident ", id, " was withdrawn: later evidence contradicts it.");
    news.push_back(std::move(notice));
  }
}

void Notifier::add_escalations(const State& state, std::vector<Notice>& news) const {
  if (settings_.escalate_after.ns <= 0) return;
  const Time now = doors_.clock.now();
  for (const Incident& incident : state.incidents) {
    if (!incident.open || incident.severity != Severity::kCritical) continue;
    Time notified;
    for (const ActionState& action : state.actions) {
      const bool opens = action.intent.action == kNotify && action.intent.incident == incident.id &&
                         contains(action.intent.target, " " + opened_key(incident.id, Severity::kCritical));
      if (opens && (!notified.known() || action.at < notified)) notified = action.at;
    }
    if (!notified.known()) continue;
    const bool answered = std::any_of(state.notes.begin(), state.notes.end(), [&](const auto& note) {
      return note.first.at >= notified && note.second.who != "midwatch";
    });
    const int64_t times =
        std::min<int64_t>((now - notified).ns / settings_.escalate_after.ns, settings_.escalate_times);
    if (answered || times < 1) continue;
    Notice notice;
    notice.event = "escalation";
    notice.key = cat("escalation:", incident.id, ":", times);
    notice.severity = incident.severity;
    notice.incident = incident.id;
    news.push_back(std::move(notice));
  }
}

bool Notifier::wants(const Channel& channel, const Notice& notice) const {
  if (channel.known.find(notice.key) != channel.known.end()) return false;
  const ChannelRule& rule = channel.rule;
  if (notice.event == "escalation" && !settings_.escalate_to.empty() &&
      !contains_word(settings_.escalate_to, rule.channel.name)) {
    return false;
  }
  if (notice.event != "closed") {
    return contains_word(rule.events, notice.event) && (!of_incident(notice.event) || notice.severity >= rule.least);
  }
  const auto opened = channel.known.lower_bound(cat("opened:", notice.incident, ":"));
  if (opened != channel.known.end() && opened->rfind(cat("opened:", notice.incident, ":"), 0) == 0) {
    return contains_word(rule.events, "closed");
  }
  // It opened and closed between two turns. (A withdrawn incident has its text already.)
  return notice.what.empty() && contains_word(rule.events, "opened") && notice.severity >= rule.least;
}

void Notifier::cover(Channel& channel, const std::string& key) {
  for (std::string& covered : covered_keys(key)) channel.known.insert(std::move(covered));
}

/// A token bucket: kBurst messages, refilled at the channel's rate.
bool Notifier::may_send(Channel& channel) const {
  if (ending_) return true;  // the last message has everything that is pending
  const Time now = doors_.clock.now();
  auto& sends = channel.sends;
  sends.erase(std::remove_if(sends.begin(), sends.end(), [&](Time at) { return now - at > kHour || at > now; }),
              sends.end());
  std::sort(sends.begin(), sends.end());
  const double per_ns = channel.rule.per_hour / static_cast<double>(kHour.ns);
  const double room = std::min(kBurst, channel.rule.per_hour);
  double tokens = room;
  Time before = sends.empty() ? now : sends.front();
  for (const Time at : sends) {
    tokens = std::max(0.0, std::min(room, tokens + static_cast<double>((at - before).ns) * per_ns) - 1);
    before = at;
  }
  return std::min(room, tokens + static_cast<double>((now - before).ns) * per_ns) >= 1;
}

bool Notifier::settled(const std::vector<const Notice*>& news) {
  const Duration now = doors_.clock.steady();
  Duration newest, oldest = now;
  for (const Notice* notice : news) {
    const Duration first = seen_.emplace(notice->key, now).first->second;
    newest = std::max(newest, first);
    oldest = std::min(oldest, first);
  }
  return ending_ || now.ns - newest.ns >= kSettle.ns || now.ns - oldest.ns >= kLongestSettle.ns;
}

/// Records the result of a send that is done.
void Notifier::finish_send(Channel& channel, EventWriter& writer) {
  if (channel.send == nullptr || !channel.send->done.load()) return;
  const Duration now = doors_.clock.steady();
  const Sent sent = channel.send->sent;
  const double seconds = Duration{now.ns - channel.send->began.ns}.seconds();
  if (channel.rule.hook) keep_output(channel, channel.send->output);
  channel.send.reset();
  const bool give_up = !sent.ok && (!sent.again || now.ns - channel.first_try.ns > settings_.give_up_after.ns);
  if (sent.ok || give_up) {
    for (const uint32_t id : channel.intents) {
      writer.acted({id, sent.ok, cat(sent.said, sent.ok || !sent.again ? "" : "; given up"), seconds});
    }
    const std::string_view verb = channel.rule.hook ? "hook failed: " : "could not notify ";
    if (!sent.ok) doors_.say(cat(verb, channel.rule.channel.name, ": ", sent.said));
    if (sent.ok && channel.failure_reported) doors_.say(cat(channel.rule.channel.name, " can be notified again"));
    channel.failure_reported = false;
    channel.message.reset();
    channel.intents.clear();
    channel.wait = {};
    return;
  }
  if (!channel.failure_reported)
    doors_.say(cat("cannot notify ", channel.rule.channel.name, " now: ", sent.said, "; trying again"));
  channel.failure_reported = true;
  channel.wait = channel.wait.ns == 0 || ending_ ? kFirstRetry : std::min(kLongestRetry, Duration{channel.wait.ns * 2});
  const Duration asked = Duration::seconds(std::min(sent.retry_after_s, kLongestRetry.seconds()));
  channel.next_try.ns = now.ns + std::max(channel.wait, asked).ns;
}

/// Records the intent to send a message, and starts to send it.
void Notifier::begin(Channel& channel, const std::vector<const Notice*>& news, const State& state,
                     EventWriter& writer) {
  Message message{context_.run, host_, folder_, doors_.clock.now(), false, {}};
  for (const Notice* one : news) {
    if (message.notices.size() >= (channel.rule.hook ? 1 : kBundle)) break;
    Notice notice = *one;
    fill_in(notice, state, context_);
    message.notices.push_back(std::move(notice));
  }
  std::vector<Notice> meant;
  for (Notice& notice : message.notices) {
    const std::string why =
        notice.incident != 0 ? notice_title(notice) : cat(notice_title(notice), ": ", clip(notice.what, 300));
    const auto id = writer.intend({0, std::string(action_of(channel.rule)),
                                   target_of(channel.rule.channel.name, notice.key), notice.incident, why});
    // While the journal cannot be written for long, people are notified all the same: a midwatch that goes on with
    // this run would do it once more.
    if (!id.ok() && (!blind_since_ || channel.rule.hook)) break;  // the rest stays pending
    cover(channel, notice.key);
    if (id.ok()) channel.intents.push_back(*id);
    meant.push_back(std::move(notice));
  }
  if (meant.empty()) return;
  std::stable_sort(meant.begin(), meant.end(),
                   [](const Notice& a, const Notice& b) { return a.severity > b.severity; });
  message.notices = std::move(meant);
  channel.message = std::move(message);
  channel.sends.push_back(channel.message->at);
  channel.first_try = channel.next_try = doors_.clock.steady();
  start_send(channel);
}

void Notifier::start_send(Channel& channel) {
  channel.send = std::make_unique<Send>();
  Send* send = channel.send.get();
  send->began = doors_.clock.steady();
  try {
    send->thread = std::thread([send, rule = channel.rule, message = *channel.message, &http = doors_.http] {
      send->sent = rule.hook ? run_hook(*rule.hook, message, send->output) : send_message(rule.channel, message, http);
      send->done.store(true);
    });
  } catch (const std::system_error&) {  // no more threads: treated as if the receiver had not answered
    send->sent = {false, true, -1, "no thread could be started"};
    send->done.store(true);
  }
}

/// Writes it to a file of its own, named by the number of its intent; deletes the oldest.
void Notifier::keep_output(const Channel& channel, const std::string& output) {
  const std::string folder = cat(folder_, "/hooks");
  const std::string path =
      cat(folder, "/", channel.intents.empty() ? 0 : channel.intents.front(), "-", channel.rule.channel.name, ".log");
  auto made = doors_.disk.make_folders(folder);
  if (made.ok()) made = write_durably(doors_.disk, path, doors_.known == nullptr ? output : doors_.known->hide(output));
  if (!made.ok())
    doors_.say(cat("the output of hook ", channel.rule.channel.name, " is not kept: ", made.error().what));
  const auto names = doors_.disk.list(folder);
  if (!names.ok() || names->size() <= kHookOutputs) return;
  const auto number = [](const std::string& name) { return parse_int(name.substr(0, name.find('-'))).value_or(0); };
  const auto oldest = std::min_element(
      names->begin(), names->end(), [&](const std::string& a, const std::string& b) { return number(a) < number(b); });
  (void)doors_.disk.remove(cat(folder, "/", *oldest)).ok();
}

void Notifier::work(const State& state, EventWriter& writer) {
  due_ = false;
  if (!reattached_) reattach(state, writer);
  const std::vector<Notice> news = gather(state);
  if (!caught_up_) catch_up(news);
  const Duration now = doors_.clock.steady();
  for (const auto& one : channels_) {
    Channel& channel = *one;
    finish_send(channel, writer);
    if (channel.send != nullptr) continue;
    if (channel.message) {
      if (now >= channel.next_try) start_send(channel);
      continue;
    }
    std::vector<const Notice*> wanted;
    for (const Notice& notice : news) {
      if (wants(channel, notice)) wanted.push_back(&notice);
    }
    if (wanted.empty()) continue;
    if (blind_since_ && !is_blind() && !ending_) continue;  // nothing can be recorded, and perhaps in a moment
    if (settled(wanted) && may_send(channel)) {
      begin(channel, wanted, state, writer);
    } else {
      due_ = true;
    }
  }
}

bool Notifier::busy() const {
  return std::any_of(channels_.begin(), channels_.end(), [](const auto& channel) { return channel->send != nullptr; });
}

bool Notifier::is_blind() const { return blind_since_ && doors_.clock.steady().ns - blind_since_->ns >= kBlind.ns; }

/// While the journal cannot be written midwatch can restart and end nothing. People are notified of that without a
/// record in the journal, once for each such period.
void Notifier::report_blindness(bool held_up) {
  const Duration now = doors_.clock.steady();
  if (!held_up) {
    blind_since_.reset();
  } else if (!blind_since_) {
    blind_since_ = now;
  }
  const bool blind = is_blind();
  for (const auto& channel : channels_) {
    if (channel->send != nullptr || channel->message || channel->blind == blind || (!blind && held_up)) continue;
    channel->blind = blind;
    Notice notice;
    notice.event = blind ? "opened" : "closed";
    notice.key = cat(blind ? "blind:" : "sees:", doors_.clock.now().ns);
    notice.severity = blind ? Severity::kCritical : Severity::kInfo;
    notice.kind = "journal-held-up";
    notice.what = blind
                      ? "midwatch cannot write the run's journal, so it can restart and end nothing; the run goes on, "
                        "and midwatch watches it."
                      : "midwatch writes the run's journal again; nothing is missing in it.";
    if (blind) {
      notice.advice = cat("Free 32 MB on the disk of ", folder_,
                          ", or make it writable. Else output of the command is lost in the end.");
    }
    if (!contains_word(channel->rule.events, notice.event)) continue;
    channel->message = Message{context_.run, host_, folder_, doors_.clock.now(), false, {notice}};
    channel->first_try = channel->next_try = now;
    start_send(*channel);
  }
}

std::optional<Duration> Notifier::turn(const State& state, bool quiet, EventWriter& writer) {
  report_blindness(writer.held_up());
  if (quiet || caught_up_ || busy()) work(state, writer);
  if (busy()) return kSoon;
  return due_ ? Duration::millis(250) : Duration::seconds(1);
}

/// Whether to wait before the end: messages have kDrain to arrive, hooks their own time limit.
bool Notifier::unfinished(Duration waited) const {
  return std::any_of(channels_.begin(), channels_.end(), [&](const auto& channel) {
    return channel->message && (waited < kDrain || (channel->rule.hook && channel->send != nullptr));
  });
}

void Notifier::over(const State& state, EventWriter& writer) {
  ending_ = true;
  if (!writer.held_up()) blind_since_.reset();
  const Duration began = doors_.clock.steady();
  Duration waited;
  do {
    work(state, writer);
    if (meanwhile_) meanwhile_(state, writer);
    if (!unfinished(waited)) break;
    std::this_thread::sleep_for(std::chrono::nanoseconds(kSoon.ns));
    waited.ns = doors_.clock.steady().ns - began.ns;
  } while (true);
  for (const auto& channel : channels_) {
    if (channel->message) {
      doors_.say(cat("did not reach ", channel->rule.channel.name, ": ", message_title(*channel->message),
                     "; it is sent when this run is reattached"));
    }
  }
}

}  // namespace mw
