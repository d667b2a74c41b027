#include "sim/goodput_table.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <memory>
#include <thread>

#include "base/json.h"
#include "base/text.h"
#include "sim/goodput_midwatch.h"
#include "sim/goodput_policies.h"

namespace mw::sim::goodput {
namespace {

constexpr std::string_view kMidwatch = "midwatch", kActs = "midwatch-unattended", kAdvised = "midwatch-advised";

std::string number(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

struct Column {
  std::string_view title, key;
  int digits;
  double (*of)(const Books&);
};

constexpr double kPlenty = 1e-9;

constexpr Column kColumns[] = {
    {"ETTR", "ettr", 4, [](const Books& one) { return one.good / std::max(kPlenty, one.total()); }},
    {"poisoned steps", "poisoned_steps", 0, [](const Books& one) { return static_cast<double>(one.poisoned_steps); }},
    {"machine-hours paid", "paid_hours", 0, [](const Books& one) { return one.paid / kHour; }},
    {"of them wasted", "wasted_hours", 1, [](const Books& one) { return (one.paid - one.good) / kHour; }},
    {"double rents", "double_rents", 0, [](const Books& one) { return static_cast<double>(one.doubles); }},
    {"hours for a person", "person_hours", 1, [](const Books& one) { return one.person / kHour; }},
};

constexpr Column kShares[] = {
    {"saving", "saving", 2, [](const Books& one) { return one.saving; }},
    {"done again", "lost", 2, [](const Books& one) { return one.lost; }},
    {"starting", "starting", 2, [](const Books& one) { return one.starting; }},
    {"stuck", "stuck", 2, [](const Books& one) { return one.stuck; }},
    {"poisoned", "poisoned", 2, [](const Books& one) { return one.poisoned; }},
    {"down", "down", 2, [](const Books& one) { return one.down; }},
};

std::vector<double> values_of(const Row& row, const Column& column) {
  std::vector<double> out;
  for (const Books& one : row.runs) out.push_back(column.of(one));
  return out;
}

double mean_share(const Row& row, const Column& column) {
  double part = 0, all = 0;
  for (const Books& one : row.runs) part += column.of(one), all += one.total();
  return all > 0 ? part / all : 0;
}

std::string spread_text(const Spread& spread, int digits) {
  const std::string low = number(spread.low, digits), high = number(spread.high, digits);
  const std::string mid = number(spread.mid, digits);
  return low == high ? mid : cat(mid, " (", low, "–", high, ")");
}

}  // namespace

const std::vector<std::string>& table_policies() {
  static const std::vector<std::string> kAll = {
      std::string(kMidwatch), std::string(kActs), std::string(kAdvised), "nothing", "retry-loop",
      "supervisord",          "controller",       "robustrl-like",       "no-delay"};
  return kAll;
}

bool is_policy(const std::string& name) {
  return name == kMidwatch || name == kActs || name == kAdvised || find_rules(name) != nullptr;
}

std::vector<Row> play(const Plan& plan, const Eyes& eyes) {
  std::vector<Row> rows;
  for (const std::string& name : plan.policies) rows.push_back({name, std::vector<Books>(plan.runs)});
  Setting advised = plan.setting;
  if (std::find(plan.policies.begin(), plan.policies.end(), kAdvised) != plan.policies.end())
    advised.costs.every = advised_interval(plan, eyes);
  std::atomic<uint64_t> next{0};
  const auto work = [&] {
    for (uint64_t run = next++; run < plan.runs; run = next++) {
      for (Row& row : rows) {
        const Setting& setting = row.policy == kAdvised ? advised : plan.setting;
        const World world(setting, plan.seed + run);
        const Rules* const rules = find_rules(row.policy);
        const auto policy = rules != nullptr
                                ? make_ruled(world, *rules)
                                : make_midwatch(world, row.policy == kMidwatch ? eyes.asks : eyes.acts, plan.full);
        const int64_t every = rules != nullptr && rules->every > 0 ? rules->every : setting.costs.every;
        row.runs[run] = live(world, *policy, every);
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < plan.jobs; ++i) threads.emplace_back(work);
  work();
  for (std::thread& one : threads) one.join();
  return rows;
}

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<size_t>(std::lround(share * static_cast<double>(values.size() - 1)))];
  };
  return {at(0.1), at(0.5), at(0.9)};
}

Spread ettr_of(const Row& row) { return spread_of(values_of(row, kColumns[0])); }

std::string table_text(const Plan& plan, const std::vector<Row>& rows) {
  std::string out = cat("World \"", plan.setting.name, "\", ", plan.runs, " runs of ", plan.setting.days,
                        " days, seeds from ", plan.seed, ": median (10 %–90 %)\n\n| policy |");
  for (const Column& column : kColumns) out += cat(" ", column.title, " |");
  out += "\n|---|---|---|---|---|---|---|\n";
  for (const Row& row : rows) {
    out += cat("| ", row.policy, " |");
    for (const Column& column : kColumns)
      out += cat(" ", spread_text(spread_of(values_of(row, column)), column.digits), " |");
    out += "\n";
  }
  out += "\nWhere the rest of the time goes, in % of all runs' time:\n\n| policy |";
  for (const Column& column : kShares) out += cat(" ", column.title, " |");
  out += "\n|---|---|---|---|---|---|---|\n";
  for (const Row& row : rows) {
    out += cat("| ", row.policy, " |");
    for (const Column& column : kShares) out += cat(" ", number(100 * mean_share(row, column), column.digits), " |");
    out += "\n";
  }
  return out;
}

std::string causes_text(const Plan& plan, const std::vector<Row>& rows) {
  std::string out = cat("World \"", plan.setting.name, "\", ", plan.runs, " runs of ", plan.setting.days,
                        " days, seeds from ", plan.seed, ": what is lost to each fault, in % of all runs' time\n");
  for (const Row& row : rows) {
    out += cat("\n| ", row.policy, " |");
    for (size_t part = 0; part < kParts; ++part) out += cat(" ", word_of(static_cast<Part>(part)), " |");
    out += "\n|---|---|---|---|---|---|---|---|---|\n";
    double all = 0;
    for (const Books& one : row.runs) all += one.total();
    for (size_t fault = 0; fault < kFaults; ++fault) {
      std::array<double, kParts> sums{};
      for (const Books& one : row.runs) {
        for (size_t part = 0; part < kParts; ++part) sums[part] += one.by_fault[fault][part];
      }
      if (std::all_of(sums.begin(), sums.end(), [](double sum) { return sum <= 0; })) continue;
      out += cat("| ", word_of(static_cast<Fault>(fault)), " |");
      for (const double sum : sums) out += cat(" ", number(100 * sum / std::max(kPlenty, all), 3), " |");
      out += "\n";
    }
  }
  return out;
}

std::string table_json(const Plan& plan, const std::vector<Row>& rows) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("schema").string("midwatch.goodput/1").key("world").string(plan.setting.name);
  json.key("runs").integer(static_cast<int64_t>(plan.runs)).key("days").number(plan.setting.days);
  json.key("seed").integer(static_cast<int64_t>(plan.seed)).key("policies").begin_array();
  for (const Row& row : rows) {
    json.begin_object().key("policy").string(row.policy);
    for (const Column& column : kColumns) {
      const Spread spread = spread_of(values_of(row, column));
      json.key(column.key).begin_object().key("p10").number(spread.low).key("median").number(spread.mid);
      json.key("p90").number(spread.high).end_object();
    }
    json.key("shares").begin_object();
    for (const Column& column : kShares) json.key(column.key).number(mean_share(row, column));
    json.end_object().end_object();
  }
  json.end_array().end_object();
  return out + "\n";
}

}  // namespace mw::sim::goodput
