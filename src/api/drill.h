// Fire drills: real faults, on the practice run or on a run of one's own, and what midwatch made of them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace mw {

struct DrillInfo {
  enum class Target { kNone, kTrainer, kEngine };  ///< kNone: the practice run does it to itself
  std::string_view name, does, becomes;
  Target target = Target::kNone;
  int signal = 0;
  std::string_view options;   ///< of the practice run, besides the usual ones
  std::string_view incident;  ///< that must be reported
  double within_s = 0;        ///< of the fault; 0: not measured
  bool trains_on = true;      ///< it must be trained to its end; else it must stop with a reason
};
std::span<const DrillInfo> all_drills();

struct DrillRequest {
  std::string name;
  std::string practice;  ///< program of the practice run; "": the one beside midwatch
  std::string home;      ///< of `run`
  std::string run;       ///< a supervised run of one's own in place of the practice run; "": the practice run
  bool own = false;      ///< `run` is meant, if only the newest one
  int64_t process = 0;   ///< the process to hit, one of the run's; 0: found by the drill
  std::function<void(const std::string& sentence)> say;
};

struct DrillResult {
  bool as_stated = true;  ///< always, for a run of one's own: nothing is stated of those
  std::string what;       ///< what was not, else how it came out
  std::string folder;     ///< where the run is recorded
};

}  // namespace mw
