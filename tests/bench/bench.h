// What all benchmarks share: CPU clocks and the table that scripts/bench shows.
#pragma once

#include <sys/resource.h>

#include <cstdio>
#include <string>

namespace mw::bench {

/// CPU seconds (user and system) of this process, or of its finished children.
inline double cpu_s(int who = RUSAGE_SELF) {
  rusage usage{};
  getrusage(who, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/// Most resident memory of this process so far, in MB.
inline double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

/// The rows of one benchmark. A row with a limit fails when its figure is on the wrong side.
class Table {
 public:
  void figure(const std::string& name, double value, const std::string& unit) { row(name, value, unit, "", ""); }
  void at_least(const std::string& name, double value, const std::string& unit, double limit) {
    judge(name, value, unit, limit, value >= limit, ">=");
  }
  void at_most(const std::string& name, double value, const std::string& unit, double limit) {
    judge(name, value, unit, limit, value <= limit, "<=");
  }
  /// The exit status of the benchmark.
  int status() const { return failed_ ? 1 : 0; }

 private:
  void judge(const std::string& name, double value, const std::string& unit, double limit, bool good,
             const char* sign) {
    char text[64];
    std::snprintf(text, sizeof text, "%s %g", sign, limit);
    row(name, value, unit, text, good ? "ok" : "FAILED");
    failed_ = failed_ || !good;
  }
  static void row(const std::string& name, double value, const std::string& unit, const std::string& limit,
                  const std::string& verdict) {
    std::printf("%-58s %12.4g %-10s %-10s %s\n", name.c_str(), value, unit.c_str(), limit.c_str(), verdict.c_str());
    std::fflush(stdout);
  }
  bool failed_ = false;
};

}  // namespace mw::bench
