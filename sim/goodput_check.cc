// What must hold of the goodput table, whatever its figures are.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "sim/goodput_table.h"

namespace mw::sim::goodput {
namespace {

constexpr double kRounding = 1e-3;    // seconds, of sums over a run
constexpr uint64_t kInFull = 40;      // runs; one in full takes half a second
constexpr double kSimplified = 0.01;  // of the ETTR, that fewer episodes may change

std::string adds_up(const Plan& plan, const std::vector<Row>& rows) {
  const double days = plan.setting.days * kDay;
  for (const Row& row : rows) {
    for (size_t run = 0; run < row.runs.size(); ++run) {
      const Books& one = row.runs[run];
      const std::string where = cat(row.policy, ", seed ", plan.seed + run, ": ");
      if (std::abs(one.total() - days) > kRounding) return cat(where, "the times add up to ", one.total(), " s");
      for (const double part : {one.good, one.lost, one.poisoned, one.saving, one.starting, one.stuck, one.down}) {
        if (part < -kRounding) return cat(where, "a part of the time is negative");
      }
      if (one.paid + kRounding < days - one.down) return cat(where, "it trained on a machine that nobody paid for");
      if (one.person > days) return cat(where, "a person is needed for longer than there is");
    }
  }
  return "";
}

double middle(const std::vector<Row>& rows, std::string_view policy) {
  for (const Row& row : rows) {
    if (row.policy == policy) return ettr_of(row).mid;
  }
  return 0;
}

/// The mean over all runs: few worlds are enough for it, as all policies live in the same ones.
double mean(const std::vector<Row>& rows, std::string_view policy) {
  for (const Row& row : rows) {
    if (row.policy != policy || row.runs.empty()) continue;
    double sum = 0;
    for (const Books& one : row.runs) sum += one.good / one.total();
    return sum / static_cast<double>(row.runs.size());
  }
  return 0;
}

/// midwatch that may act is better than all who save as the run does; saving as it advises, than all others.
std::string ranks(const std::vector<Row>& rows) {
  const double limit = middle(rows, "no-delay"), acts = middle(rows, "midwatch-unattended");
  for (const Row& row : rows) {
    // One that saves more often than the run does may lose less than the limit at the run's interval.
    const bool own_interval = row.policy == "robustrl-like" || row.policy == "midwatch-advised";
    const double ettr = middle(rows, row.policy);
    if (!own_interval && ettr > limit + kRounding) return cat(row.policy, " beats the physical limit");
    if (row.policy.starts_with("midwatch") || row.policy == "no-delay") continue;
    if (!own_interval && ettr >= acts) return cat(row.policy, " beats midwatch-unattended");
    if (mean(rows, row.policy) >= mean(rows, "midwatch-advised")) return cat(row.policy, " beats midwatch-advised");
  }
  if (middle(rows, "saboteur") >= middle(rows, "retry-loop")) return "a planted worse policy scores no worse";
  return "";
}

}  // namespace

std::string check(const Plan& plan, const Eyes& eyes) {
  Plan mine = plan;
  mine.policies = table_policies();
  mine.policies.emplace_back("saboteur");
  const auto rows = play(mine, eyes);
  if (std::string wrong = adds_up(mine, rows); !wrong.empty()) return wrong;
  mine.jobs = 1;
  if (table_json(mine, play(mine, eyes)) != table_json(mine, rows)) return "the same seeds give another table";
  if (std::string wrong = ranks(rows); !wrong.empty()) return wrong;
  for (const Row& row : rows) {
    if (!row.policy.starts_with("midwatch")) continue;
    for (const Books& one : row.runs) {
      if (one.doubles > 0) return cat(row.policy, " rented a machine beside another");
    }
  }
  mine.policies = {"midwatch-unattended"};
  mine.runs = std::min<uint64_t>(mine.runs, kInFull);
  const Plan quick = mine;
  mine.full = true;
  const double full = ettr_of(play(mine, eyes).front()).mid, simple = ettr_of(play(quick, eyes).front()).mid;
  if (std::abs(full - simple) > kSimplified) return cat("simplified it is ", simple, ", in full ", full);
  return "";
}

}  // namespace mw::sim::goodput
