// live_feed: says of each run what the live watch and its circuit breaker would have said while it was written, and
// what a replay says of the whole. Runs come on the standard input, one a line: NAME, then its files, between tabs.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "base/text.h"
#include "tests/live/live_feed.h"

namespace {

bool read_file(const std::string& path, std::string& text) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return false;
  std::ostringstream all;
  all << in.rdbuf();
  text = std::move(all).str();
  return true;
}

/// "FILE.times" holds the second at which each line was written.
void read_times(mw::live::Fed& file) {
  std::ifstream in(file.path + ".times");
  for (double at = 0; in >> at;) file.seconds.push_back(at);
}

struct Totals {
  size_t runs = 0, live = 0, agreed = 0, replay = 0, missed = 0, trips = 0, tripped_runs = 0, failed = 0;
  std::vector<int64_t> delays;  // steps
};

void say(const char* what, const std::string& name, const mw::live::Seen& seen, const char* more) {
  std::printf("%s\t%s\t%s\tonset %lld line %llu\tsaid at step %lld after line %llu\t%s\t%s%s\n", what, name.c_str(),
              seen.kind.c_str(), static_cast<long long>(seen.onset), static_cast<unsigned long long>(seen.line),
              static_cast<long long>(seen.at), static_cast<unsigned long long>(seen.fed_line), seen.cause.c_str(),
              mw::clip(seen.summary, 160).c_str(), more);
}

void count(const std::string& name, const mw::live::Verdict& verdict, Totals& all) {
  ++all.runs;
  if (!verdict.trouble.empty()) {
    ++all.failed;
    std::printf("FAILED\t%s\t%s\n", name.c_str(), verdict.trouble.c_str());
  }
  for (const auto& seen : verdict.live) {
    ++all.live;
    const bool agreed = mw::live::in_replay(verdict, seen);
    all.agreed += agreed ? 1 : 0;
    say(agreed ? "live" : "LIVE-ONLY", name, seen, "");
  }
  for (const auto& seen : verdict.replay) {
    ++all.replay;
    const auto* live = mw::live::live_of(verdict, seen);
    if (live == nullptr) {
      ++all.missed;
      say("NEVER-LIVE", name, seen, "");
    } else if (live->at != mw::kNoStep && seen.at != mw::kNoStep) {
      all.delays.push_back(std::max<int64_t>(0, live->at - seen.at));
    }
  }
  for (const auto& seen : verdict.trips) {
    ++all.trips;
    say("TRIP", name, seen, mw::live::in_replay(verdict, seen) ? "" : "\tNOT IN REPLAY");
  }
  all.tripped_runs += verdict.trips.empty() ? 0 : 1;
  std::fflush(stdout);
}

}  // namespace

int main() {
  const auto knowledge = mw::KnowledgeBase::load({});
  if (!knowledge.ok()) {
    std::fprintf(stderr, "live_feed: %s\n", knowledge.error().what.c_str());
    return 2;
  }
  Totals all;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream parts(line);
    std::string name, path;
    std::getline(parts, name, '\t');
    std::vector<mw::live::Fed> files;
    bool readable = true;
    while (std::getline(parts, path, '\t')) {
      files.push_back({path, ""});
      readable = read_file(path, files.back().text) && readable;
      read_times(files.back());
    }
    if (!readable || files.empty()) {
      std::fprintf(stderr, "live_feed: a file of %s cannot be read\n", name.c_str());
      return 2;
    }
    count(name, mw::live::feed(std::move(files), **knowledge), all);
  }
  std::sort(all.delays.begin(), all.delays.end());
  const auto quantile = [&](double q) {
    return all.delays.empty() ? 0 : all.delays[static_cast<size_t>(q * static_cast<double>(all.delays.size() - 1))];
  };
  std::printf(
      "runs %zu, failed %zu; live criticals %zu, of which replay holds %zu (%.4f); replay criticals %zu, never live "
      "%zu; "
      "delay in steps: median %lld, p90 %lld; runs that trip %zu, trips %zu\n",
      all.runs, all.failed, all.live, all.agreed,
      all.live == 0 ? 1.0 : static_cast<double>(all.agreed) / static_cast<double>(all.live), all.replay, all.missed,
      static_cast<long long>(quantile(0.5)), static_cast<long long>(quantile(0.9)), all.tripped_runs, all.trips);
  return 0;
}
