#include "core/detect/support/collective_ranks.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace mw::detect {
namespace {

constexpr size_t kFewest = 2;      // ranks that must speak before one can be distinguished from the others
constexpr size_t kForSilence = 3;  // and before a rank that says nothing is missed
constexpr int64_t kRankLimit = 100000;

struct Position {
  int64_t work = -1;  ///< number of the collective in its group; -1: not said
  std::string operation;
};
using Ranks = std::map<int64_t, Position>;

/// The number right behind `before`.
std::optional<int64_t> number_after(std::string_view text, std::string_view before) {
  const size_t at = text.find(before);
  if (at == std::string_view::npos) return std::nullopt;
  int64_t value = 0;
  size_t i = at + before.size();
  const size_t begin = i;
  while (i < text.size() && text[i] >= '0' && text[i] <= '9' && value < kRankLimit * kRankLimit)
    value = 10 * value + (text[i++] - '0');
  if (i == begin) return std::nullopt;
  return value;
}

/// "[Rank 3] Watchdog caught ...", "[PG ID 1 PG GUID 1 Rank 6] ... last enqueued NCCL work: 5012, ..." (torch,
/// ProcessGroupNCCL.cpp), by process group.
void read(std::string_view text, std::map<int64_t, Ranks>& groups) {
  const auto rank = number_after(text, "Rank ");
  if (!rank || *rank >= kRankLimit) return;
  auto work = number_after(text, "SeqNum=");
  if (!work) work = number_after(text, "ast enqueued NCCL work: ");
  if (!work) return;
  Position& position = groups[number_after(text, "PG ID ").value_or(0)][*rank];
  position.work = *work;
  constexpr std::string_view kOperation = "OpType=";
  const size_t at = text.find(kOperation);
  if (at == std::string_view::npos) return;
  const size_t end = text.find_first_of(",) ", at);
  position.operation = std::string(text.substr(at + kOperation.size(), end - at - kOperation.size()));
}

}  // namespace

std::string listed_ranks(const std::vector<int64_t>& ranks) {
  std::vector<std::string> spans;
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (end - i > 2) {
      spans.push_back(cat(ranks[i], " to ", ranks[end - 1]));
    } else {
      for (size_t k = i; k < end; ++k) spans.push_back(cat(ranks[k]));
    }
    i = end;
  }
  std::string out = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < spans.size(); ++i) out += cat(i == 0 ? "" : i + 1 == spans.size() ? " and " : ", ", spans[i]);
  return out;
}

namespace {

/// The ranks that stand where fewer than half of them stand; empty when they agree or no side is the smaller.
template <typename Where>
std::vector<int64_t> minority(const Ranks& ranks, Where where) {
  std::map<decltype(where(Position{})), std::vector<int64_t>> by_place;
  for (const auto& [rank, position] : ranks) by_place[where(position)].push_back(rank);
  if (by_place.size() != 2) return {};
  const auto &first = by_place.begin()->second, &second = std::next(by_place.begin())->second;
  if (first.size() == second.size()) return {};
  return first.size() < second.size() ? first : second;
}

/// The numbers that are missing between the lowest and the highest rank that spoke.
std::vector<int64_t> silent(const Ranks& ranks) {
  std::vector<int64_t> out;
  const int64_t first = ranks.begin()->first, last = ranks.rbegin()->first;
  if (last - first + 1 > 2 * static_cast<int64_t>(ranks.size())) return out;
  for (int64_t rank = first; rank <= last; ++rank) {
    if (ranks.count(rank) == 0) out.push_back(rank);
  }
  return out;
}

std::string verdict_on(const Ranks& ranks) {
  if (ranks.size() < kFewest) return "";
  const Position& usual = ranks.begin()->second;
  if (const auto behind = minority(ranks, [](const Position& p) { return p.work; }); !behind.empty()) {
    const Position& theirs = ranks.at(behind.front());
    const auto other =
        std::find_if(ranks.begin(), ranks.end(), [&](const auto& entry) { return entry.second.work != theirs.work; });
    return cat(listed_ranks(behind), behind.size() == 1 ? " is " : " are ",
               theirs.work < other->second.work ? "behind" : "ahead", ": at work ", theirs.work, ", the others at ",
               other->second.work);
  }
  if (const auto apart = minority(ranks, [](const Position& p) { return p.operation; }); !apart.empty()) {
    const Position& theirs = ranks.at(apart.front());
    if (!theirs.operation.empty())
      return cat(listed_ranks(apart), apart.size() == 1 ? " waits in " : " wait in ", theirs.operation,
                 ", the others in something else: they took different paths");
  }
  if (ranks.size() < kForSilence) return "";
  const std::vector<int64_t> gone = silent(ranks);
  const bool same =
      std::all_of(ranks.begin(), ranks.end(), [&](const auto& entry) { return entry.second.work == usual.work; });
  if (gone.empty() || !same) return "";
  std::vector<int64_t> waiting;
  for (const auto& [rank, position] : ranks) waiting.push_back(rank);
  return cat(listed_ranks(gone), gone.size() == 1 ? " says nothing, " : " say nothing, ", listed_ranks(waiting),
             " wait", usual.operation.empty() ? std::string() : cat(" in ", usual.operation));
}

}  // namespace

std::string missing_ranks(const State& state, uint16_t attempt) {
  if (std::string dumped = missing_in_dumps(state, attempt); !dumped.empty()) return dumped;
  constexpr std::array<std::string_view, 3> kSpeakers{"nccl-watchdog-timeout", "nccl-dump-signal-cascade",
                                                      "nccl-heartbeat-monitor-abort"};
  std::map<int64_t, Ranks> groups;
  for (const std::string_view id : kSpeakers) {
    const SignatureState* seen = state.signature(id);
    if (seen == nullptr) continue;
    for (const SignatureState::Match& match : seen->matches) {
      if (match.moment.attempt == attempt) read(match.text, groups);
    }
  }
  if (groups.empty()) return "";
  const auto largest = std::max_element(groups.begin(), groups.end(),
                                        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  return verdict_on(largest->second);
}

}  // namespace mw::detect
