#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/numbers.h"
#include "base/text.h"
#include "core/detect/support/collective_ranks.h"

namespace mw::detect {
namespace {

constexpr std::string_view kRank = "Flight recorder of rank ";
constexpr std::string_view kGroup = " group ";
constexpr size_t kFewest = 2;  // ranks of which there must be a dump

struct Place {
  int64_t done = -1, enqueued = -1;
  std::string operation;
  bool waits() const { return done < enqueued; }
};
using Group = std::map<int64_t, Place>;  // by rank

/// Takes the number that follows `before` at the beginning of `text`; both are gone then.
std::optional<int64_t> take_number(std::string_view& text, std::string_view before) {
  if (!text.starts_with(before)) return std::nullopt;
  text.remove_prefix(before.size());
  const size_t end = std::min(text.find_first_not_of("-0123456789"), text.size());
  const auto number = parse_int(text.substr(0, end));
  text.remove_prefix(end);
  return number;
}

void read_dump(std::string_view text, std::map<int64_t, Group>& groups) {
  const size_t at = text.find(kRank);
  if (at == std::string_view::npos) return;
  text.remove_prefix(at);
  const auto rank = take_number(text, kRank);
  if (!rank || !text.starts_with(":")) return;
  text.remove_prefix(1);
  while (const auto group = take_number(text, kGroup)) {
    const auto done = take_number(text, " has done "), enqueued = take_number(text, " of ");
    const size_t end = text.find(';');
    if (!done || !enqueued || end == std::string_view::npos) return;
    Place& place = groups[*group][*rank];
    place = {*done, *enqueued, {}};
    const size_t space = text.find(' ', 2);
    if (text.starts_with(" (") && space < end) place.operation = std::string(text.substr(2, space - 2));
    text.remove_prefix(end + 1);
  }
}

std::string verdict_on(int64_t number, const Group& group) {
  if (group.size() < kFewest) return "";
  int64_t stuck = -1;  // the collective that the first of those who wait waits for
  for (const auto& [rank, place] : group) {
    if (place.waits() && (stuck < 0 || place.done + 1 < stuck)) stuck = place.done + 1;
  }
  std::vector<int64_t> missing, waiting;
  std::string operation;
  for (const auto& [rank, place] : group) {
    if (stuck < 0 || place.done >= stuck) continue;
    (place.enqueued < stuck ? missing : waiting).push_back(rank);
    if (place.enqueued >= stuck && operation.empty()) operation = place.operation;
  }
  if (missing.empty() || waiting.empty()) return "";
  return cat(listed_ranks(missing), " did not come to ", operation.empty() ? "collective" : operation, " ", stuck,
             " (group ", number, "), for which ", listed_ranks(waiting), waiting.size() == 1 ? " waits" : " wait");
}

}  // namespace

std::string missing_in_dumps(const State& state, uint16_t attempt) {
  const SignatureState* seen = state.signature("nccl-flight-recorder");
  if (seen == nullptr) return "";
  std::map<int64_t, Group> groups;
  for (const SignatureState::Match& match : seen->matches) {
    if (match.moment.attempt == attempt) read_dump(match.text, groups);
  }
  for (const auto& [number, group] : groups) {
    if (std::string found = verdict_on(number, group); !found.empty()) return found;
  }
  return "";
}

}  // namespace mw::detect
