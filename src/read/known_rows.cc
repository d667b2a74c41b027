#include "read/known_rows.h"

#include <string_view>

#include "base/checksum.h"

namespace mw {
namespace {

template <class Value>
std::string_view bytes_of(const Value& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

uint64_t hash_of(const Row& row) {
  uint64_t hash = fnv1a(bytes_of(row.step));
  const auto add = [&hash](std::string_view bytes) { hash = fnv1a(bytes, hash); };
  add(bytes_of(row.at.ns));
  for (const RowNumber& one : row.numbers) {
    add(one.key);
    add(bytes_of(one.value));
  }
  for (const RowText& one : row.texts) {
    add(one.key);
    add(one.value);
  }
  return hash;
}

}  // namespace

bool KnownRows::is_known(const Row& row) {
  const uint64_t hash = hash_of(row);
  const bool known = next_ < hashes_.size() && hashes_[next_] == hash;
  if (!known) {
    hashes_.resize(next_);
    hashes_.push_back(hash);
  }
  ++next_;
  return known;
}

}  // namespace mw
