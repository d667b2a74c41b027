// By what a state finds the series of a figure: a hash, as every figure of every record asks for one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/event.h"

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

/// What a key of State::series_index stands for; what is between the parts keeps ("ab","c") and ("a","bc") apart.
inline uint64_t series_key(uint32_t source, const Reading& reading) {
  const uint64_t seed = name_hash(reading.signal, (static_cast<uint64_t>(source) + 1) * 0x9e3779b97f4a7c15ULL);
  return name_hash(reading.raw, seed * 31 + 1);
}

}  // namespace mw
