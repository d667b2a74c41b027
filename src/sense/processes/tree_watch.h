// Watches the processes below a supervised command closely: which of them is an engine or a server, and which dies or
// is stopped while the trainer goes on, or whether somebody stopped the trainer itself. Helpers that come and go are
// ignored.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "core/event.h"
#include "platform/process.h"
#include "platform/system.h"
#include "sense/processes/rhythm.h"
#include "sense/processes/sockets.h"

namespace mw::components {

/// Whose processes, and what the run itself does.
struct Run {
  int64_t keeper = 0;   ///< pid of the process above all of the run's; 0: none now
  int64_t command = 0;  ///< pid of the command itself, whose session all belong to that another keeper left; 0: unknown
  bool paused = false;  ///< a person paused it, or is about to resume it
  bool over = false;    ///< it has done what it planned, or said that it has ended
};

class TreeWatch {
 public:
  static constexpr Duration kQuick = Duration::millis(250);   ///< between two polls of those that are known
  static constexpr Duration kHelpers = Duration::seconds(1);  ///< likewise of those that are no engines and no servers
  static constexpr Duration kSettles =
      Duration::millis(500);  ///< until a death is judged: a run that ends takes all with it

  /// How a process ended, as wait(2) has it, asked once it is gone; unset: not known.
  using EndOf = std::function<std::optional<int>()>;
  /// `hold`: given a process that lives, what to ask once it is gone. It may be unset: then the end of one whose parent
  /// takes note of it at once is not known.
  explicit TreeWatch(System& system, std::function<EndOf(const ProcessId&)> hold = nullptr)
      : system_(system), hold_(std::move(hold)) {}
  /// What is new since the last poll. `now` is by the steady clock; call it every kQuick or so.
  std::vector<event::ComponentSaw> poll(const Run& run, const Rhythm& rhythm, Duration now);

  /// Where engines and servers of the run listen, by their names.
  struct Place {
    std::string component, kind, address;
    int64_t pid = 0;
  };
  std::vector<Place> places() const;

  /// Is it a server of somebody else's that listens, or did, at this port of the run's machine? It listened when an
  /// attempt began, and no process of the run was ever seen to. False where that is not known: the last attempt was not
  /// watched for kHeardOut (the time in which the watch itself did not run is none). What the run starts through
  /// others, as Ray's daemons, or within the first moment of an attempt and for less than a second, is not
  /// distinguished.
  bool elsewhere(int64_t port) const;
  /// A server answers at this port while an attempt runs: with the next poll all processes of the run are checked for
  /// it. What none of them listens at counts as if it had been there before.
  void answered(int64_t port) { unclaimed_.insert(port); }
  static constexpr Duration kHeardOut = Duration::seconds(3);

 private:
  using Health = event::ComponentSaw::Health;
  struct Member {
    ProcessInfo info;
    std::string kind, label;  ///< "": one of many
    Duration first;           ///< when this watch saw it first
    Duration polled;          ///< when its state was last read
    double age = 0;           ///< seconds that it had lived by then
    bool looked_at = false;   ///< its command line was read
    bool reported = false;    ///< that it is there
    Duration addresses_due;
    std::vector<std::string> addresses;
    double ports_age = 0;  ///< seconds, of the next check where it listens
    Duration stopped;      ///< since when its state is T or t; 0: it is not
    Duration ended;        ///< when it was first seen dead or gone; 0: it lives
    int status = -1;       ///< as wait(2) gives it; -1: not known, as another process reaped it
    bool reaped = false;
    EndOf end_of;                   ///< of engines and servers
    bool replaced = false;          ///< another one of its kind took its place: its end is no trouble any more
    Health health = Health::kWell;  ///< as last reported
    bool certain = false;
  };

  void find_all(const Run& run, Duration now);
  void poll_known(Duration now);
  void take(const ProcessInfo& info, std::string_view stat, Duration now);
  void gone(Member& member, Duration now) const;
  void get_to_know(Member& member, Listeners& listeners, Duration now);
  void note_ports(Member& member, Listeners& listeners, Duration now);
  void claim_ports(const Run& run, Listeners& listeners);
  void judge(Member& member, const Rhythm& rhythm, Duration now);
  void judge_end(Member& member, const Rhythm& rhythm, Duration now);
  void judge_stop(Member& member, const Rhythm& rhythm, Duration now);
  void settle_replaced();
  static bool killed(const Member& member);
  bool one_was_killed(const Member& member, Duration now) const;
  bool failed(const Member& member) const;
  bool alone(const Member& member) const;
  bool served(const Member& member, const Rhythm& rhythm, Duration at) const;
  bool trainer_goes_on(const Member& but) const;
  bool stands_for_all(const Member& member) const;
  bool others_serve(const Member& member) const;
  double age(const Member& member, Duration at) const;
  size_t held() const;
  void report(Member& member, Health health, bool certain, const std::string& text, double seconds);
  static std::string name_of(const Member& member);

  System& system_;
  std::function<EndOf(const ProcessId&)> hold_;
  int64_t keeper_ = 0;
  std::map<int64_t, Member> members_;  // by pid
  Duration next_full_;
  double uptime_ = 0;            // seconds that the machine runs
  std::set<int64_t> ports_;      // at which a process of the run has listened, in any attempt
  std::set<int64_t> before_;     // at which somebody listened when an attempt began
  std::set<int64_t> unclaimed_;  // of answered(), to be checked
  Duration watched_, polled_;    // for how long the attempt was looked at; when last
  int full_scans_ = 0;           // in it
  std::vector<event::ComponentSaw> news_;
};

}  // namespace mw::components
