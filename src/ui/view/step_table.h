// The steps of a run side by side, as people put them into a report by hand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/state.h"

namespace mw {

struct StepRow {
  std::string name;            ///< canonical signal
  std::string unit;            ///< as of the signal table
  std::vector<double> values;  ///< one per step of the table; NaN where the run says so, or says nothing
  std::vector<bool> said;      ///< which of them the run says: a KL of NaN is a figure
  std::string change;          ///< the last one against the step before: "+0.02", "-8 %"; "" where one is not known
  std::string trend;  ///< of the values shown: "rising", "falling", "flat", "up and down"; "" with fewer than 3
};

struct StepTable {
  std::vector<int64_t> steps;        ///< ascending, all of one attempt; the last one may still go on
  std::vector<Time> done;            ///< when the step reported last; unknown where its lines have no clock
  std::string_view zone = " (UTC)";  ///< of `done`, as zone_of_times() has it
  std::vector<StepRow> rows;         ///< rewards, then the policy, lengths, times, throughput
  std::string constant;              ///< "lr 1e-06, clip.frac 0": what was the same in every step of the attempt
  bool empty() const { return steps.empty() || rows.empty(); }
};

/// The last steps of the last attempt that has any, at most `most`.
StepTable last_steps(const State& state, size_t most);

/// Steps before and after a moment in its attempt, at most `most`; empty where the moment has no step, or the steps are
/// among the last `most` (last_steps() shows them).
StepTable steps_around(const State& state, const Moment& moment, size_t most);

/// "11:05:10" for each, or "02-19 11:05" where they are of several days; "" where not known. UTC.
std::vector<std::string> step_clocks(const StepTable& table);

/// A figure of a step: durations as such, everything else as format_value(), with fewer digits where it would take more
/// than `cells`.
std::string step_value(const StepRow& row, double value, size_t cells = 32);

/// The same of each column; "" where the run says nothing.
std::vector<std::string> step_cells(const StepRow& row, size_t cells = 32);

}  // namespace mw
