// sim_calm: hours in which nothing goes wrong. Prints what was reported all the same.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "sim/calm.h"

int main(int argc, char** argv) {
  constexpr double kWarningsAnHour = 0.05;  // a false warning a day is what a person bears
  uint64_t hours = 100, from = 1;
  for (int i = 1; i + 1 < argc + 1; i += 2) {
    const std::string_view word = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : "";
    uint64_t& number = word == "--from" ? from : hours;
    const char* const end = value + std::strlen(value);
    const auto parsed = std::from_chars(value, end, number);
    if ((word != "--from" && word != "--hours") || parsed.ptr != end || value == end) {
      std::fputs("usage: sim_calm [--hours N] [--from SEED]\n", stderr);
      return 2;
    }
  }
  const auto knowledge = mw::KnowledgeBase::load({});
  if (!knowledge.ok()) {
    std::fprintf(stderr, "%s\n", knowledge.error().what.c_str());
    return 2;
  }
  mw::sim::CalmVerdict all;
  uint64_t seed = from;
  for (; all.hours < static_cast<double>(hours); ++seed) {
    const mw::sim::CalmVerdict one = mw::sim::run_calm_seed(seed, **knowledge);
    for (const std::string& alarm : one.alarms) {
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), alarm.c_str());
    }
    for (const std::string& warning : one.warnings) {
      std::printf("seed %llu: warning: %s\n", static_cast<unsigned long long>(seed), warning.c_str());
    }
    all.alarms.insert(all.alarms.end(), one.alarms.begin(), one.alarms.end());
    all.warnings.insert(all.warnings.end(), one.warnings.begin(), one.warnings.end());
    all.hours += one.hours;
    all.steps += one.steps;
  }
  const bool quiet = static_cast<double>(all.warnings.size()) <= kWarningsAnHour * all.hours;
  std::printf("%.1f calm hours, %llu runs, %lld steps: %zu alarms, %zu warnings\n", all.hours,
              static_cast<unsigned long long>(seed - from), static_cast<long long>(all.steps), all.alarms.size(),
              all.warnings.size());
  return all.alarms.empty() && quiet ? 0 : 1;
}
