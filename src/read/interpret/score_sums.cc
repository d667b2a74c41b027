#include "read/interpret/score_sums.h"

#include "base/text.h"
#include "read/lines/metric_line.h"

namespace mw {

void ScoreSums::add(std::string_view name, std::string_view scores) {
  scores = trim(scores);
  if (scores.starts_with('[') && scores.ends_with(']')) scores = scores.substr(1, scores.size() - 2);
  auto known = sums_.find(name);
  size_t taken = 0;
  while (!scores.empty() && taken++ < kListLimit) {
    const size_t comma = scores.find(',');
    double value = 0;
    if (metric_number(trim(scores.substr(0, comma)), &value)) {
      if (known == sums_.end()) {
        if (sums_.size() >= kNameLimit) return;
        known = sums_.emplace(name, Sum{}).first;
      }
      known->second.sum += value;
      ++known->second.count;
    }
    if (comma == std::string_view::npos) break;
    scores.remove_prefix(comma + 1);
  }
}

std::vector<RowNumber> ScoreSums::means() const {
  std::vector<RowNumber> means;
  for (const auto& [name, sum] : sums_) means.push_back({name, sum.sum / static_cast<double>(sum.count)});
  return means;
}

}  // namespace mw
