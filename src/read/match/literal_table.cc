#include "read/match/literal_table.h"

#include <string.h>

#include <algorithm>
#include <unordered_map>

namespace mw {
namespace {

uint32_t three_at(const char* bytes) {
  return static_cast<uint32_t>(static_cast<unsigned char>(bytes[0])) |
         static_cast<uint32_t>(static_cast<unsigned char>(bytes[1])) << 8 |
         static_cast<uint32_t>(static_cast<unsigned char>(bytes[2])) << 16;
}

uint32_t key_at(const char* bytes) {
  uint32_t key = 0;
  memcpy(&key, bytes, sizeof(key));
  return key;
}

/// How common a byte is in logs, roughly: small letters before digits and usual signs before all else.
int commonness(char c) {
  if ((c >= 'a' && c <= 'z') || c == ' ') return 3;
  return (c >= '0' && c <= '9') || std::string_view("=-_.:/,").find(c) != std::string_view::npos ? 2 : 1;
}

/// As lines are drawn with: "====".
bool is_run(const char* bytes) { return bytes[0] == bytes[1] && bytes[0] == bytes[2] && bytes[0] == bytes[3]; }

/// The four bytes of the literal that the fewest lines hold, as far as their kinds and the other literals show.
uint32_t rarest(const std::string& literal, const std::unordered_map<uint32_t, uint32_t>& times) {
  uint32_t best = 0;
  uint64_t least = UINT64_MAX;
  for (size_t i = 0; i + 4 <= literal.size(); ++i) {
    const int kinds = commonness(literal[i]) + commonness(literal[i + 1]) + commonness(literal[i + 2]) +
                      commonness(literal[i + 3]) + (is_run(literal.data() + i) ? 100 : 0);
    const uint64_t cost =
        static_cast<uint64_t>(kinds) * 1000 + std::min<uint64_t>(999, times.at(key_at(literal.data() + i)));
    if (cost >= least) continue;
    least = cost;
    best = static_cast<uint32_t>(i);
  }
  return best;
}

}  // namespace

void LiteralTable::write(std::span<const std::string> literals, FlatWriter& out) {
  std::vector<uint64_t> filter((size_t{1} << kFilterBits) / 64, 0);
  std::vector<uint32_t> slots((size_t{1} << kSlotBits) + 1, 0), short_ones;
  std::vector<uint8_t> three(size_t{1} << kThreeBits, 0);
  std::vector<Entry> entries;
  std::unordered_map<uint32_t, uint32_t> times;  // of each key in all literals
  for (const std::string& literal : literals) {
    for (size_t i = 0; i + kKey <= literal.size(); ++i) ++times[key_at(literal.data() + i)];
  }
  const auto let_pass = [&filter](uint32_t key) {
    const uint32_t bit = hash(key) >> (32 - kFilterBits);
    filter[bit / 64] |= uint64_t{1} << (bit % 64);
  };
  for (uint32_t i = 0; i < literals.size(); ++i) {
    const auto size = static_cast<uint32_t>(literals[i].size());
    if (size < kShort) {
      short_ones.push_back(i);
      continue;
    }
    uint32_t at = 0, key = three_at(literals[i].data());
    if (size == kShort) {
      three[hash(key) >> (32 - kThreeBits)] = 1;
      for (uint32_t behind = 0; behind < 256; ++behind) let_pass(key | behind << 24);
    } else {
      at = rarest(literals[i], times);
      key = key_at(literals[i].data() + at);
      let_pass(key);
    }
    const uint32_t other_at = size_t{at} * 2 + kKey >= size ? 0 : size - 3;
    entries.push_back({i, key, at, size, three_at(literals[i].data() + other_at), other_at});
    ++slots[(hash(key) >> (32 - kSlotBits)) + 1];
  }
  for (size_t i = 1; i < slots.size(); ++i) slots[i] += slots[i - 1];
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return hash(a.key) >> (32 - kSlotBits) < hash(b.key) >> (32 - kSlotBits);
  });
  FlatTexts::write(literals, out);
  out.array(filter);
  out.array(slots);
  out.array(entries);
  out.array(three);
  out.array(short_ones);
}

LiteralTable::LiteralTable(FlatReader& in)
    : literals_(in),
      filter_(in.array<uint64_t>()),
      slots_(in.array<uint32_t>()),
      entries_(in.array<Entry>()),
      three_(in.array<uint8_t>()),
      short_(in.array<uint32_t>()) {}

void LiteralTable::try_key(std::string_view block, size_t at, uint32_t key,
                           std::vector<LiteralScanner::Hit>& hits) const {
  try_slot(block, at, key, hits);
  if (key > kShortKey && three_[hash(key & kShortKey) >> (32 - kThreeBits)] != 0) {
    try_slot(block, at, key & kShortKey, hits);
  }
}

void LiteralTable::try_slot(std::string_view block, size_t at, uint32_t key,
                            std::vector<LiteralScanner::Hit>& hits) const {
  const uint32_t slot = hash(key) >> (32 - kSlotBits);
  for (uint32_t i = slots_[slot]; i < slots_[slot + 1]; ++i) {
    const Entry& entry = entries_[i];
    if (entry.key != key || entry.at > at) continue;
    const size_t begin = at - entry.at;
    if (entry.size > block.size() - begin || three_at(block.data() + begin + entry.other_at) != entry.other) continue;
    if (memcmp(block.data() + begin, literals_[entry.literal].data(), entry.size) != 0) continue;
    hits.push_back({static_cast<uint32_t>(begin + entry.size), entry.literal});
  }
}

void LiteralTable::scan_short(std::string_view block, std::vector<LiteralScanner::Hit>& hits) const {
  for (const uint32_t number : short_) {
    const std::string_view literal = literals_[number];
    for (size_t at = block.find(literal); at != std::string_view::npos; at = block.find(literal, at + 1)) {
      hits.push_back({static_cast<uint32_t>(at + literal.size()), number});
    }
  }
}

void LiteralTable::scan(std::string_view block, std::vector<LiteralScanner::Hit>& hits) const {
  const auto may_be = [filter = filter_.data()](uint32_t key) {
    const uint32_t bit = hash(key) >> (32 - kFilterBits);
    return (filter[bit / 64] >> (bit % 64) & 1) != 0;
  };
  constexpr size_t kStride = 8 - kKey + 1;  // keys from each eight bytes
  size_t at = 0;
  for (; at + 8 <= block.size(); at += kStride) {
    uint64_t eight = 0;
    memcpy(&eight, block.data() + at, sizeof(eight));
#pragma GCC unroll 5  // the shifts are constants then, and there is nothing to count
    for (size_t i = 0; i < kStride; ++i) {
      const auto key = static_cast<uint32_t>(eight >> (8 * i));
      if (may_be(key)) [[unlikely]]
        try_key(block, at + i, key, hits);
    }
  }
  for (; at + kKey <= block.size(); ++at) {
    const uint32_t key = key_at(block.data() + at);
    if (may_be(key)) try_key(block, at, key, hits);
  }
  if (at + kShort <= block.size()) try_slot(block, at, three_at(block.data() + at), hits);
  scan_short(block, hits);
}

size_t LiteralTable::bytes() const {
  return filter_.size() * sizeof(uint64_t) + slots_.size() * sizeof(uint32_t) + entries_.size() * sizeof(Entry);
}

}  // namespace mw
