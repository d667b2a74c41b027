// What midwatch itself removed by a rule, or as a person asked it to.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/state.h"

namespace mw {

class Removals {
 public:
  explicit Removals(const State& state);
  /// When `path`, as the log or the disk names it, was removed; nullopt where it was not, or was saved anew since.
  /// `saved`: when the log said so, or when it was found whole.
  std::optional<Time> of(const std::string& path, Time saved) const;

 private:
  std::map<std::string, Time> at_;  // by path
};

}  // namespace mw
