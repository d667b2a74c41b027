#include "read/match/literal_table.h"

#include <string.h>

#include <algorithm>
#include <unordered_map>

namespace mw {
namespace {

uint32_t key_at(const char* bytes) {
  return static_cast<uint32_t>(static_cast<unsigned char>(bytes[0])) |
         static_cast<uint32_t>(static_cast<unsigned char>(bytes[1])) << 8 |
         static_cast<uint32_t>(static_cast<unsigned char>(bytes[2])) << 16;
}

/// How common a byte is in logs, roughly: small letters before digits before all else.
int commonness(char c) {
  if ((c >= 'a' && c <= 'z') || c == ' ') return 3;
  return c >= '0' && c <= '9' ? 2 : 1;
}

/// The three bytes of the literal that the fewest lines hold, as far as their kinds and the other literals show.
uint32_t rarest(const std::string& literal, const std::unordered_map<uint32_t, uint32_t>& times) {
  uint32_t best = 0;
  uint64_t least = UINT64_MAX;
  for (size_t i = 0; i + 3 <= literal.size(); ++i) {
    const auto kinds =
        static_cast<uint64_t>(commonness(literal[i]) + commonness(literal[i + 1]) + commonness(literal[i + 2]));
    const uint64_t cost = kinds * 1000 + std::min<uint64_t>(999, times.at(key_at(literal.data() + i)));
    if (cost >= least) continue;
    least = cost;
    best = static_cast<uint32_t>(i);
  }
  return best;
}

}  // namespace

LiteralTable::LiteralTable(std::span<const std::string> literals)
    : literals_(literals.begin(), literals.end()),
      filter_((size_t{1} << kFilterBits) / 64, 0),
      slots_((size_t{1} << kSlotBits) + 1, 0) {
  std::unordered_map<uint32_t, uint32_t> times;  // of each key in all literals
  for (const std::string& literal : literals_) {
    for (size_t i = 0; i + kKey <= literal.size(); ++i) ++times[key_at(literal.data() + i)];
  }
  for (uint32_t i = 0; i < literals_.size(); ++i) {
    if (literals_[i].size() < kKey) {
      short_.push_back(i);
      continue;
    }
    const uint32_t at = rarest(literals_[i], times), key = key_at(literals_[i].data() + at);
    entries_.push_back({i, key, at});
    const uint32_t bit = hash(key) >> (32 - kFilterBits);
    filter_[bit / 64] |= uint64_t{1} << (bit % 64);
    ++slots_[(hash(key) >> (32 - kSlotBits)) + 1];
  }
  for (size_t i = 1; i < slots_.size(); ++i) slots_[i] += slots_[i - 1];
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return hash(a.key) >> (32 - kSlotBits) < hash(b.key) >> (32 - kSlotBits);
  });
}

void LiteralTable::try_slot(std::string_view block, size_t at, uint32_t key,
                            std::vector<LiteralScanner::Hit>& hits) const {
  const uint32_t slot = hash(key) >> (32 - kSlotBits);
  for (uint32_t i = slots_[slot]; i < slots_[slot + 1]; ++i) {
    const Entry& entry = entries_[i];
    if (entry.key != key || entry.at > at) continue;
    const std::string& literal = literals_[entry.literal];
    const size_t begin = at - entry.at;
    if (literal.size() > block.size() - begin) continue;
    if (memcmp(block.data() + begin, literal.data(), literal.size()) != 0) continue;
    hits.push_back({static_cast<uint32_t>(begin + literal.size()), entry.literal});
  }
}

void LiteralTable::scan_short(std::string_view block, std::vector<LiteralScanner::Hit>& hits) const {
  for (const uint32_t number : short_) {
    const std::string& literal = literals_[number];
    for (size_t at = block.find(literal); at != std::string_view::npos; at = block.find(literal, at + 1)) {
      hits.push_back({static_cast<uint32_t>(at + literal.size()), number});
    }
  }
}

void LiteralTable::scan(std::string_view block, std::vector<LiteralScanner::Hit>& hits) const {
  for (size_t at = 0; at + kKey <= block.size(); ++at) {
    const uint32_t key = key_at(block.data() + at), bit = hash(key) >> (32 - kFilterBits);
    if ((filter_[bit / 64] >> (bit % 64) & 1) != 0) try_slot(block, at, key, hits);
  }
  scan_short(block, hits);
}

size_t LiteralTable::bytes() const {
  return filter_.size() * sizeof(uint64_t) + slots_.size() * sizeof(uint32_t) + entries_.size() * sizeof(Entry);
}

}  // namespace mw
