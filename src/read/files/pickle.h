// Reads a Python pickle without running it: its op-codes build a tree of plain values. What would be called in Python
// is kept as a value that says what would be called with what.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mw {

constexpr uint32_t kNoValue = std::numeric_limits<uint32_t>::max();

struct PickleValue {
  enum class Kind : uint8_t {
    kNone,
    kBool,
    kInteger,
    kReal,
    kText,
    kBytes,
    kTuple,
    kList,
    kDict,
    kGlobal,
    kCall,
    kPersistent,
    kMark
  };
  Kind kind = Kind::kNone;
  uint32_t callable = kNoValue;  ///< kCall: what is called; kGlobal: the text that is its module
  uint32_t args = kNoValue;      ///< kCall: with which tuple; kPersistent: the id
  uint32_t state = kNoValue;     ///< what BUILD gave it, the last
  union {
    int64_t integer = 0;  ///< kInteger, kBool
    double real;          ///< kReal
  };
  std::string_view text;        ///< kText, kBytes; kGlobal: its name. Points into the pickle's bytes
  std::vector<uint32_t> items;  ///< elements; of dicts (and of calls that were given items) keys and values in turn
};

/// A read pickle. Values refer to each other by number; the same one may be referred to often, in circles too.
struct Pickle {
  std::deque<PickleValue> values;
  uint32_t root = kNoValue;
  size_t bytes = 0;  ///< of the text that it took, its STOP included

  const PickleValue& at(uint32_t number) const { return values[number]; }
  bool is(uint32_t number, PickleValue::Kind kind) const {
    return number < values.size() && values[number].kind == kind;
  }
  /// The value of a text key in a dict, or in a call that was given items (OrderedDict) or a dict as its state;
  /// kNoValue without one.
  uint32_t find(uint32_t dict, std::string_view key) const;
};

/// Bounds of one pickle: with them all that is read of it stays below 150 MB.
constexpr size_t kPickleBytes = size_t{40} << 20;
constexpr size_t kPickleValues = 1'200'000;
constexpr size_t kPickleItems = 6'000'000;

/// The first pickle in `bytes`, which must live as long as what is returned. Op-codes of protocols 0 to 5 (CPython's
/// pickletools.py). Errors: kTruncated: it ends before its STOP; kLimit: it is larger than the bounds; kInvalid: its
/// op-codes make no sense.
Result<Pickle> read_pickle(std::string_view bytes);

}  // namespace mw
