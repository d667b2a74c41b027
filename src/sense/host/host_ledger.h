// Which of the machine's figures are worth a line in the journal: those that changed, and all of them now and then.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "core/event.h"

namespace mw {

class HostLedger {
 public:
  static constexpr Duration kAtMost = Duration::seconds(60);    ///< small changes are emitted no more often
  static constexpr Duration kAtLeast = Duration::seconds(600);  ///< each figure is emitted anew, changed or not
  static constexpr size_t kFigures = 1024;                      ///< kept in mind; more are not emitted

  /// Takes a figure of one round, and appends it to `emitted` when it is worth an event.
  void note(std::string_view signal, std::string_view thing, double value, Duration now, std::vector<Reading>& emitted);

 private:
  struct Figure {
    double emitted = 0, sum = 0;
    int count = 0;
    Duration at;
  };
  std::map<std::pair<std::string, std::string>, Figure> figures_;
};

}  // namespace mw
