// Under which names a figure comes. A run says the same few names in each of its records: each is kept once, and all
// readings under it share it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

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

struct FigureName {
  FigureName(std::string canonical, std::string own)
      : signal(std::move(canonical)), raw(std::move(own)), hash(name_hash(raw, name_hash(signal, 0) * 31 + 1)) {}

  const std::string signal;  ///< the canonical name (core/signal.h), empty when no dialect maps it
  const std::string raw;     ///< the trainer's own
  const uint64_t hash;       ///< of both
};

/// One number of a metric record. The value is in the canonical unit when `signal` is set (already scaled), else as
/// written.
class Reading {
 public:
  Reading(std::string signal, std::string raw, double number)
      : Reading(std::make_shared<const FigureName>(std::move(signal), std::move(raw)), number) {}
  /// `name` is not null.
  Reading(std::shared_ptr<const FigureName> name, double number) : value(number), name_(std::move(name)) {}

  const std::string& signal() const { return name_->signal; }
  const std::string& raw() const { return name_->raw; }
  const std::shared_ptr<const FigureName>& name() const { return name_; }
  void rename(std::string raw) { name_ = std::make_shared<const FigureName>(name_->signal, std::move(raw)); }

  double value = 0;

 private:
  std::shared_ptr<const FigureName> name_;
};

}  // namespace mw
