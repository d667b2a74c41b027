// A hash of names for tables that are looked up only: names are hashed for every figure of every record.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace mw {

/// Eight bytes at a time; the same in every process.
inline uint64_t name_hash(std::string_view text, uint64_t seed) {
  constexpr uint64_t kOdd = 0x9fb21c651e98df25ULL;
  uint64_t hash = seed ^ (text.size() * kOdd);
  for (size_t at = 0; at < text.size(); at += 8) {
    uint64_t eight = 0;
    std::memcpy(&eight, text.data() + at, std::min<size_t>(8, text.size() - at));
    hash = (hash ^ eight) * kOdd;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace mw
