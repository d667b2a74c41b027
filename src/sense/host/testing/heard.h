// For tests of the machine's parts: what one round reports.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/text.h"
#include "sense/host/host.h"

namespace mw::host {

class Heard final : public Notes {
 public:
  void figure(std::string_view signal, std::string_view thing, double value) override {
    figures[cat(signal, " ", thing)] = value;
  }
  void happened(std::string_view signature, std::string_view text) override {
    happenings.emplace_back(signature, text);
  }
  void line(std::string_view text) override { lines.emplace_back(text); }
  void unseen(std::string_view what) override { unseen_things.emplace_back(what); }

  double at(const std::string& key) const {
    const auto found = figures.find(key);
    return found == figures.end() ? -1 : found->second;
  }
  std::map<std::string, double> figures;
  std::vector<std::pair<std::string, std::string>> happenings;
  std::vector<std::string> lines, unseen_things;
};

/// One round, waiting for slow calls by the real clock.
inline Heard measure(Part& part, const Aim& aim, double seconds) {
  Heard heard;
  const Duration now = Duration::seconds(seconds);
  part.begin(aim, now);
  for (int i = 0; i < 5000 && !part.collect(heard, now); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return heard;
}

}  // namespace mw::host
