#include "act/cleanup/linked_checkpoints.h"

#include <functional>

#include "core/event.h"

namespace mw {

LinkedCheckpoints::LinkedCheckpoints(const std::vector<LinkInto>& links,
                                     const std::map<std::string, int64_t>& numbers) {
  for (const LinkInto& one : links) {
    const auto into = numbers.find(one.into), from = numbers.find(one.from);
    if (into == numbers.end()) continue;
    const int64_t by = from == numbers.end() ? kNoStep : from->second;
    if (by != into->second) into_[into->second].emplace(by, one.link);
  }
}

const std::string& LinkedCheckpoints::link_to(int64_t number, const std::set<int64_t>& goes) const {
  static const std::string kNone;
  const auto found = into_.find(number);
  if (found == into_.end()) return kNone;
  for (const auto& [by, link] : found->second) {
    if (by == kNoStep || goes.count(by) == 0) return link;
  }
  return kNone;
}

std::vector<int64_t> LinkedCheckpoints::in_order(const std::set<int64_t>& goes) const {
  std::vector<int64_t> out;
  std::set<int64_t> met;
  const std::function<void(int64_t)> put = [&](int64_t number) {
    if (goes.count(number) == 0 || !met.insert(number).second) return;  // also where links lead round in a circle
    if (const auto found = into_.find(number); found != into_.end()) {
      for (const auto& [by, link] : found->second) put(by);
    }
    out.push_back(number);
  };
  for (const int64_t number : goes) put(number);
  return out;
}

}  // namespace mw
