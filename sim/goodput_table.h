// The goodput table: many worlds, every policy in each of them, and what came of it with its spread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/knowledge.h"
#include "sim/goodput_midwatch.h"
#include "sim/goodput_world.h"

namespace mw::sim::goodput {

struct Plan {
  Setting setting;
  uint64_t runs = 1000, seed = 1;
  std::vector<std::string> policies;
  bool full = false;  ///< midwatch without simplification
  unsigned jobs = 2;  ///< threads; the result does not depend on it
};

/// "midwatch" (its defaults), "midwatch-unattended" (it need not ask), "midwatch-advised" (and the run saves as
/// midwatch advises), then the five, then "no-delay".
const std::vector<std::string>& table_policies();
bool is_policy(const std::string& name);

struct Row {
  std::string policy;
  std::vector<Books> runs;  ///< by seed
};
/// How midwatch sees faults, by its defaults and where it may act without being asked. Made once: that takes a second.
struct Eyes {
  Eyes(const Knowledge& knowledge, const Costs& costs) : asks(knowledge, costs, false), acts(knowledge, costs, true) {}
  Episodes asks, acts;
};
std::vector<Row> play(const Plan& plan, const Eyes& eyes);

/// Median and the 10th and 90th hundredth.
struct Spread {
  double low = 0, mid = 0, high = 0;
};
Spread spread_of(std::vector<double> values);
Spread ettr_of(const Row& row);

std::string table_text(const Plan& plan, const std::vector<Row>& rows);
/// What is lost to each fault, and to what part of it, in hundredths of a percent of all runs' time.
std::string causes_text(const Plan& plan, const std::vector<Row>& rows);
std::string table_json(const Plan& plan, const std::vector<Row>& rows);

/// Steps between saves that midwatch advises (core/save_interval.h), the median over some runs of the plan.
int64_t advised_interval(const Plan& plan, const Eyes& eyes);
/// How often to save: Young's and Daly's interval, midwatch's advice, and the best of a sweep, with what comes of each.
std::string intervals_text(const Plan& plan, const Eyes& eyes);

/// "": what must hold in every world holds; else what does not.
std::string check(const Plan& plan, const Eyes& eyes);

}  // namespace mw::sim::goodput
