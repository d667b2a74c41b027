// Which checkpoints of a run stay because links lead into them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "act/cleanup/links_into.h"

namespace mw {

/// The links into the run's own checkpoints, by the numbers of these.
class LinkedCheckpoints {
 public:
  /// `numbers`: of each, by its path; trees that belong together have the same ones.
  LinkedCheckpoints(const std::vector<LinkInto>& links, const std::map<std::string, int64_t>& numbers);

  /// A link that leads to it and lies in none that `goes`; "": there is none. What has its own number does not count.
  const std::string& link_to(int64_t number, const std::set<int64_t>& goes) const;
  /// These, so that each comes after those of them in which links to it lie: none is broken by the way.
  std::vector<int64_t> in_order(const std::set<int64_t>& goes) const;

 private:
  /// Of each number the links to it, by the number of that in which they lie; kNoStep: in none of the run's own.
  std::map<int64_t, std::map<int64_t, std::string>> into_;
};

}  // namespace mw
