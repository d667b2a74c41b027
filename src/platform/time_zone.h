// What a clock time that names no zone means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace mw {

class TimeZone {
 public:
  TimeZone() = default;  ///< UTC
  static TimeZone fixed(Duration east);
  /// That of this machine, by $TZ or /etc/localtime, with its summer time.
  static TimeZone local();
  /// "UTC", "local", "+08:00", "-0530", "+8". nullopt for anything else.
  static std::optional<TimeZone> parse(std::string_view text);

  Time to_utc(Time wall) const { return {wall.ns - east_at(wall, true).ns}; }
  Time to_wall(Time utc) const { return {utc.ns + east_at(utc, false).ns}; }

 private:
  Duration east_at(Time at, bool wall) const;
  bool local_ = false;
  Duration east_;
  mutable int64_t hour_ = INT64_MIN;  // for which kept_ was asked of the system
  mutable bool of_wall_ = false;
  mutable Duration kept_;
};

/// The zone of the clock in a log that is being written on this machine or a near one: its last line says `wall`, the
/// file was last written at `changed`. UTC or this machine's zone, whichever puts the line the least before `changed`;
/// where both put it into the future by an hour or more, the whole or half hour that does not. `last_line`: that line
/// is the file's last, so that it was written at `changed`, and a clock that is whole or half hours behind is west of
/// UTC. nullopt: it cannot be known.
std::optional<TimeZone> zone_of_clock(Time wall, Time changed, const TimeZone& local, bool last_line = false);

}  // namespace mw
