#include "sense/checkpoints/zero_tail.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "base/numbers.h"
#include "base/text.h"
#include "sense/checkpoints/file_role.h"
#include "sense/checkpoints/frozen.h"
#include "sense/checkpoints/tensor_scan.h"

namespace mw {
namespace {

constexpr uint64_t kPage = 4096;        // the least that counts, and what is read at once of a sample
constexpr uint64_t kBlock = 64 << 10;   // what is read at once from the end on
constexpr uint64_t kExactly = 1 << 20;  // of the end, read as a whole; before it samples
constexpr uint64_t kSamples = 64;       // of what seems to be zero
constexpr size_t kSiblings = 3;         // tensors of other layers that are compared

/// By its name: begun at zero, or never used.
bool may_begin_at_zero(std::string_view name) {
  constexpr std::array<std::string_view, 9> kParts = {"expert", "zero",  "adaln",   "modulation", "controlnet",
                                                      "bias",   "shift", "rel_pos", "prompt"};
  const std::string small = to_lower(name);
  return begins_at_zero(name) ||
         std::any_of(kParts.begin(), kParts.end(), [&small](std::string_view part) { return contains(small, part); });
}

bool is_zero(std::string_view bytes) { return bytes.find_first_not_of('\0') == std::string_view::npos; }

class Tail {
 public:
  Tail(ReadFile& file, uint64_t bytes, const std::vector<ByteRange>& ranges)
      : file_(file), bytes_(bytes), ranges_(ranges) {}

  std::optional<ZeroTail> find() {
    if (bytes_ < 2 * kPage || !zero_at(bytes_ - kPage, kPage)) return std::nullopt;
    const auto begin = begin_of_zeros();
    if (!begin || failed_) return std::nullopt;
    size_t first = ranges_.size();  // in which they begin
    while (first > 0 && ranges_[first - 1].at + ranges_[first - 1].bytes > *begin) --first;
    if (first == ranges_.size() || ranges_[first].at > *begin || !is_weight(ranges_[first])) return std::nullopt;
    uint64_t within = first_number(ranges_[first], *begin);
    if (within == ranges_[first].bytes) {  // the last bytes of its last number are
      within = 0;
      if (++first == ranges_.size() || !is_weight(ranges_[first])) return std::nullopt;
    }
    const ByteRange& range = ranges_[first];
    ZeroTail out{range.at + within, bytes_ - range.at - within, range.name, within > 0, 0};
    size_t matrices = 0, like_others = 0;
    for (size_t i = within > 0 ? first + 1 : first; i < ranges_.size(); ++i) {
      out.tensors += ranges_[i].bytes > 0 ? 1 : 0;
      if (!is_matrix(ranges_[i]) || !is_weight(ranges_[i]) || begins_at_zero(ranges_[i].name)) continue;
      ++matrices;
      like_others += differs_from_others(ranges_[i], first, false) ? 1 : 0;
    }
    const bool others = like_others > 0 && like_others * 2 >= matrices, dead = holds_dead(first, within);
    const bool lost = within > 0 && is_matrix(range) ? begins_in(range, first, within, others || dead)
                                                     : (others && matrices >= 2) || dead;
    return lost && out.bytes >= kPage && !failed_ ? std::optional(std::move(out)) : std::nullopt;
  }

 private:
  static bool is_matrix(const ByteRange& range) {
    return range.row > 0 && range.bytes >= 2 * range.row && range.bytes >= kFewNumbers * size_of(range.dtype);
  }
  static bool is_weight(const ByteRange& range) {
    const bool other = may_become_zero(range.name) && !begins_at_zero(range.name);
    return has_point(range.dtype) && !range.has_crc && !range.figure && !other &&
           part_of(range.name, range.dtype) == TensorPart::kWeight;
  }

  static bool is_norm(const ByteRange& range) {
    const std::string name = to_lower(range.name);
    const bool named = contains(name, "norm") || contains(name, "ln_") || contains(name, ".ln");
    return named && !name.ends_with("bias") && !is_matrix(range) && range.bytes >= 16 * size_of(range.dtype) &&
           is_weight(range);
  }

  /// Zeros that no training leaves, whatever lies in other layers: weights of a norm, with others or in the middle of a
  /// row (not where the norms before are zero, too: those that add one begin there), the first halves of LoRAs, or
  /// matrices of three kinds and more. What is zero behind the place where the zeros begin is counted.
  bool holds_dead(size_t first, uint64_t within) {
    constexpr size_t kRead = 64;
    std::set<std::string> kinds;
    size_t halves = 0, read = 0;
    bool norm = false;
    for (size_t i = within > 0 ? first + 1 : first; i < ranges_.size() && read < kRead; ++i) {
      const ByteRange& one = ranges_[i];
      const bool counts = is_norm(one) || (is_matrix(one) && is_weight(one) && !may_begin_at_zero(one.name));
      if (!counts || !seems_zero(one)) continue;
      ++read;
      if (is_norm(one)) {
        norm = true;
      } else if (contains(to_lower(one.name), "lora")) {
        ++halves;
      } else {
        kinds.insert(family_of(one.name));
      }
    }
    if (halves >= 2 || kinds.size() >= 3) return true;
    const bool row = within > 0 && is_matrix(ranges_[first]) && within % ranges_[first].row != 0;
    if (!norm || (!row && kinds.empty())) return false;
    for (size_t i = 0; i < first && read < 2 * kRead; ++i) {
      if (is_norm(ranges_[i]) && ++read > 0 && seems_zero(ranges_[i])) return false;
    }
    return true;
  }

  /// Where the first whole number at or behind `at` begins, in the tensor.
  static uint64_t first_number(const ByteRange& range, uint64_t at) {
    const uint64_t size = size_of(range.dtype);
    return (at - range.at + size - 1) / size * size;
  }

  std::string read(uint64_t at, uint64_t size) {
    std::string out;
    if (!file_.read_at(at, std::min(size, bytes_ - std::min(at, bytes_)), out).ok()) failed_ = true;
    return out;
  }
  bool zero_at(uint64_t at, uint64_t size) { return is_zero(read(at, size)); }

  /// The first of the zeros with which [from, to) ends, `to` where it does not end with any; nothing: it is all zero.
  std::optional<uint64_t> back_from(uint64_t to, uint64_t from) {
    while (to > from && !failed_) {
      const uint64_t size = std::min(kBlock, to - from);
      const std::string block = read(to - size, size);
      const size_t last = block.find_last_not_of('\0');
      if (last != std::string::npos) return to - size + last + 1;
      to -= size;
    }
    return std::nullopt;
  }

  std::optional<uint64_t> begin_of_zeros() {
    const uint64_t exactly = bytes_ - std::min(bytes_, kExactly);
    if (const auto found = back_from(bytes_, exactly); found || exactly == 0) return found;
    uint64_t low = 0, high = exactly;  // a page at `low` is not zero: the file begins there
    while (high - low > kBlock && !failed_) {
      const uint64_t middle = low + (high - low) / 2;
      (zero_at(middle, kPage) ? high : low) = middle;
    }
    const auto found = back_from(high, low);
    if (!found) return std::nullopt;
    for (uint64_t i = 0; i < kSamples; ++i) {  // zeros here and there, as of a sparse matrix
      if (!zero_at(*found + (exactly - *found) / kSamples * i, kPage)) return std::nullopt;
    }
    return found;
  }

  /// `others`: most of what lies behind it is zero, and is not in other layers.
  bool begins_in(const ByteRange& range, size_t number, uint64_t within, bool others) {
    const uint64_t row = range.row, column = within % row, end = range.at + range.bytes;
    if (!is_dense(range, within)) return false;
    if (column == 0) return others || differs_from_others(range, number, true);
    if (end - range.at - within <= 2 * row && !others) return false;
    if (within < row) return others || differs_from_others(range, number, true);
    return !zero_at(range.at + within - column - (row - column),
                    row - column);  // of the row before: no columns of zeros
  }

  /// Before the zeros most numbers are not zero: it is not pruned.
  bool is_dense(const ByteRange& range, uint64_t within) {
    const uint64_t size = size_of(range.dtype), looked = std::min(within, kPage) / size * size;
    const std::string bytes = read(range.at + within - looked, looked);
    uint64_t zeros = 0;
    for (size_t at = 0; at + size <= bytes.size(); at += size)
      zeros += is_zero(std::string_view(bytes).substr(at, size)) ? 1 : 0;
    return zeros * size * 2 < looked;
  }

  /// Is there a tensor of another layer before that one, and is none of them zero, as it is? `end`: in the last row.
  bool differs_from_others(const ByteRange& range, size_t before, bool end) {
    const std::string family = family_of(range.name);
    size_t met = 0;
    for (size_t i = before; i > 0 && met < kSiblings; --i) {
      const ByteRange& one = ranges_[i - 1];
      if (one.dtype != range.dtype || one.bytes != range.bytes || family_of(one.name) != family) continue;
      ++met;
      if (end ? zero_at(one.at + one.bytes - one.row, std::min(one.row, kBlock)) : seems_zero(one)) return false;
    }
    return met > 0;
  }
  bool seems_zero(const ByteRange& range) {
    const uint64_t size = std::min(kPage, range.bytes), last = range.bytes - size;
    return zero_at(range.at, size) && zero_at(range.at + last / 2, size) && zero_at(range.at + last, size);
  }

  ReadFile& file_;
  const uint64_t bytes_;
  const std::vector<ByteRange>& ranges_;
  bool failed_ = false;
};

}  // namespace

std::optional<ZeroTail> zero_tail(ReadFile& file, uint64_t bytes, const std::vector<ByteRange>& ranges) {
  if (ranges.empty() || ranges.back().at + ranges.back().bytes != bytes) return std::nullopt;
  return Tail(file, bytes, ranges).find();
}

std::string sentence_of(const ZeroTail& tail) {
  const std::string name = clip(sanitize_utf8(tail.name), 200);
  const std::string more = tail.tensors == 0
                               ? ""
                               : cat(tail.inside ? ", and " : "; ", tail.tensors,
                                     tail.tensors == 1 ? " tensor is zero throughout" : " tensors are zero throughout");
  return cat("its last ", format_bytes(static_cast<double>(tail.bytes)), " are zeros, from byte ", tail.at, " on, ",
             tail.inside ? "in the middle of the numbers of " : "where it has ", name, more,
             ": its end was never written");
}

bool begins_at_zero(std::string_view name) {
  constexpr std::array<std::string_view, 4> kParts = {"lora_b", "lora_embedding_b", "lora_up", "lora.up"};
  const std::string small = to_lower(name);
  return std::any_of(kParts.begin(), kParts.end(), [&small](std::string_view part) { return contains(small, part); });
}

bool may_become_zero(std::string_view name) {
  constexpr std::array<std::string_view, 8> kParts = {"mask", "alibi", "amax",  "running_",
                                                      "grad", "count", "usage", "cache"};
  const std::string small = to_lower(name);
  if (contains(small, "tokens") && !small.ends_with("weight")) return true;  // per expert, not of an embedding
  return begins_at_zero(name) ||
         std::any_of(kParts.begin(), kParts.end(), [&small](std::string_view part) { return contains(small, part); });
}

}  // namespace mw
