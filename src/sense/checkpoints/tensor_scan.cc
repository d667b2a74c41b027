#include "sense/checkpoints/tensor_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace mw {
namespace {

constexpr size_t kBlock = 2048;  // numbers that are added up in single precision

// 32 bytes at once: registers of AVX2, or two of SSE2. Comparisons are of signed numbers where AVX2 has no others;
// magnitudes are never negative.
using U16x16 = uint16_t __attribute__((vector_size(32)));
using U32x8 = uint32_t __attribute__((vector_size(32)));
using I32x8 = int32_t __attribute__((vector_size(32)));
using I64x4 = int64_t __attribute__((vector_size(32)));
using F32x4 = float __attribute__((vector_size(16)));
using F32x8 = float __attribute__((vector_size(32)));
using F64x4 = double __attribute__((vector_size(32)));

#define MW_INLINE inline __attribute__((always_inline))

// A kind of number: its bits, the bits without the sign, which of them say that it is not finite, its value; and, of 32
// bytes without signs, the squares added to two sums. Those of single precision have besides `wide()`: the bits of 8
// numbers each with room for a float's, `kWideInfinite` of them, and `kScale`, which makes them numbers.
struct Bf16 {
  using Bits = uint16_t;
  using Vector = U16x16;
  using Sums = F32x8;
  static constexpr Bits kMagnitude = 0x7fff, kInfinite = 0x7f80;
  static constexpr int32_t kWideInfinite = 0x7f800000;
  static constexpr float kScale = 1;
  static constexpr size_t kWides = 2;
  static float value(Bits bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
  static MW_INLINE void wide(const Vector& numbers, I32x8 (&out)[kWides]) {
    const auto both = reinterpret_cast<U32x8>(numbers);
    const U32x8 even = both << 16, odd = both & 0xffff0000U;
    out[0] = reinterpret_cast<I32x8>(even);
    out[1] = reinterpret_cast<I32x8>(odd);
  }
};
struct F16 {
  using Bits = uint16_t;
  using Vector = U16x16;
  using Sums = F32x8;
  static constexpr Bits kMagnitude = 0x7fff, kInfinite = 0x7c00;
  static constexpr int32_t kWideInfinite = 0x7c00 << 13;
  static constexpr float kScale = 0x1p112F;  // moves the exponent; exact, subnormal numbers too
  static constexpr size_t kWides = 2;
  static float value(Bits bits) {
    const uint32_t wide = (static_cast<uint32_t>(bits & 0x8000U) << 16) | (static_cast<uint32_t>(bits & 0x7fffU) << 13);
    return std::bit_cast<float>(wide) * kScale;
  }
  static MW_INLINE void wide(const Vector& numbers, I32x8 (&out)[kWides]) {
    const auto both = reinterpret_cast<U32x8>(numbers);
    const U32x8 even = (both & 0xffffU) << 13, odd = (both >> 16) << 13;
    out[0] = reinterpret_cast<I32x8>(even);
    out[1] = reinterpret_cast<I32x8>(odd);
  }
};
struct F32 {
  using Bits = int32_t;
  using Vector = I32x8;
  using Sums = F32x8;
  static constexpr Bits kMagnitude = 0x7fffffff, kInfinite = 0x7f800000;
  static constexpr int32_t kWideInfinite = kInfinite;
  static constexpr float kScale = 1;
  static constexpr size_t kWides = 1;
  static float value(Bits bits) { return std::bit_cast<float>(bits); }
  static MW_INLINE void wide(const Vector& numbers, I32x8 (&out)[kWides]) { out[0] = numbers; }
};
struct F64 {
  using Bits = int64_t;
  using Vector = I64x4;
  using Sums = F64x4;
  static constexpr Bits kMagnitude = 0x7fffffffffffffff, kInfinite = 0x7ff0000000000000;
  static double value(Bits bits) { return std::bit_cast<double>(bits); }
};

template <typename Kind>
using SumOf = std::conditional_t<sizeof(typename Kind::Bits) == 8, double, float>;

/// Adds the squares of 32 bytes of numbers without signs.
template <typename Kind>
MW_INLINE void square(const typename Kind::Vector& numbers, typename Kind::Sums& even, typename Kind::Sums& odd) {
  if constexpr (sizeof(typename Kind::Bits) == 8) {
    const auto value = reinterpret_cast<F64x4>(numbers);
    even += value * value;
  } else {
    I32x8 bits[Kind::kWides];
    Kind::wide(numbers, bits);
    const F32x8 first = reinterpret_cast<F32x8>(bits[0]) * Kind::kScale;
    even += first * first;
    if constexpr (Kind::kWides == 2) {
      const F32x8 second = reinterpret_cast<F32x8>(bits[1]) * Kind::kScale;
      odd += second * second;
    }
  }
}

/// The fast part, over one block in which usually all is finite: the largest magnitude and the sum of squares.
template <typename Kind>
MW_INLINE void walk(const char* at, size_t numbers, typename Kind::Bits& most, SumOf<Kind>& squares) {
  using Bits = typename Kind::Bits;
  using Vector = typename Kind::Vector;
  constexpr size_t kLanes = sizeof(Vector) / sizeof(Bits);
  const Vector magnitude = Vector{} + Kind::kMagnitude;
  Vector largest[2] = {};
  typename Kind::Sums sums[4] = {};
  size_t i = 0;
  for (; i + 2 * kLanes <= numbers; i += 2 * kLanes) {
    Vector first, second;
    std::memcpy(&first, at + i * sizeof(Bits), sizeof first);
    std::memcpy(&second, at + (i + kLanes) * sizeof(Bits), sizeof second);
    first &= magnitude;
    second &= magnitude;
    largest[0] = first > largest[0] ? first : largest[0];
    largest[1] = second > largest[1] ? second : largest[1];
    square<Kind>(first, sums[0], sums[1]);
    square<Kind>(second, sums[2], sums[3]);
  }
  for (; i < numbers; ++i) {
    Bits bits = 0;
    std::memcpy(&bits, at + i * sizeof(Bits), sizeof bits);
    bits = static_cast<Bits>(bits & Kind::kMagnitude);
    most = std::max(most, bits);
    const SumOf<Kind> value = Kind::value(bits);
    squares += value * value;
  }
  largest[0] = largest[1] > largest[0] ? largest[1] : largest[0];
  sums[0] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  for (size_t lane = 0; lane < kLanes; ++lane) most = std::max(most, Bits{largest[0][lane]});
  for (size_t lane = 0; lane < sizeof sums[0] / sizeof(SumOf<Kind>); ++lane) squares += sums[0][lane];
}

template <typename Kind>
void walk_plain(const char* at, size_t numbers, typename Kind::Bits& most, SumOf<Kind>& squares) {
  walk<Kind>(at, numbers, most, squares);
}
#if defined(__x86_64__)
// With "fma" not for its one operation less: the square of a small number by itself is subnormal, on which processors
// take ten times as long; fused with the sum it never is.
template <typename Kind>
__attribute__((target("avx2,fma"))) void walk_wide(const char* at, size_t numbers, typename Kind::Bits& most,
                                                   SumOf<Kind>& squares) {
  walk<Kind>(at, numbers, most, squares);
}
#endif

template <typename Kind>
void take_exactly(typename Kind::Bits bits, TensorFigures& figures) {
  bits = static_cast<typename Kind::Bits>(bits & Kind::kMagnitude);
  if (bits >= Kind::kInfinite) {
    ++figures.not_finite;
    if (bits > Kind::kInfinite) ++figures.nan;
    return;
  }
  const double value = Kind::value(bits);
  figures.squares += value * value;
}

/// The exact part, for blocks with infinities, or whose squares do not fit single precision: all of a tensor of NaN, or
/// of an optimizer's smallest moments.
template <typename Kind>
MW_INLINE void walk_exactly(const char* at, size_t numbers, TensorFigures& figures) {
  using Bits = typename Kind::Bits;
  size_t i = 0;
  if constexpr (sizeof(Bits) < 8) {
    using Vector = typename Kind::Vector;
    constexpr size_t kLanes = sizeof(Vector) / sizeof(Bits);
    I32x8 not_finite = {}, nan = {};
    F64x4 sums[2] = {};
    for (; i + kLanes <= numbers; i += kLanes) {
      Vector vector;
      std::memcpy(&vector, at + i * sizeof(Bits), sizeof vector);
      vector &= Vector{} + Kind::kMagnitude;
      I32x8 wide[Kind::kWides];
      Kind::wide(vector, wide);
      for (const I32x8& bits : wide) {
        const I32x8 infinite = bits >= Kind::kWideInfinite, finite = bits & ~infinite;
        not_finite -= infinite;  // a lane of which it is true is -1
        nan -= bits > Kind::kWideInfinite;
        const F32x8 values = reinterpret_cast<F32x8>(finite) * Kind::kScale;
        const F64x4 low = __builtin_convertvector(__builtin_shufflevector(values, values, 0, 1, 2, 3), F64x4);
        const F64x4 high = __builtin_convertvector(__builtin_shufflevector(values, values, 4, 5, 6, 7), F64x4);
        sums[0] += low * low;
        sums[1] += high * high;
      }
    }
    for (size_t lane = 0; lane < 8; ++lane) {
      figures.not_finite += static_cast<uint32_t>(not_finite[lane]);
      figures.nan += static_cast<uint32_t>(nan[lane]);
      figures.squares += sums[lane / 4][lane % 4];
    }
  }
  for (; i < numbers; ++i) {
    Bits bits = 0;
    std::memcpy(&bits, at + i * sizeof(Bits), sizeof bits);
    take_exactly<Kind>(bits, figures);
  }
}

template <typename Kind>
void walk_exactly_plain(const char* at, size_t numbers, TensorFigures& figures) {
  walk_exactly<Kind>(at, numbers, figures);
}
#if defined(__x86_64__)
template <typename Kind>
__attribute__((target("avx2,fma"))) void walk_exactly_wide(const char* at, size_t numbers, TensorFigures& figures) {
  walk_exactly<Kind>(at, numbers, figures);
}
#endif

#undef MW_INLINE

#if defined(__x86_64__)
bool is_wide() {
  static const bool wide = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  return wide;
}
#endif

template <typename Kind>
TensorFigures scan(std::string_view bytes) {
  using Bits = typename Kind::Bits;
  auto* fast = &walk_plain<Kind>;
  auto* exact = &walk_exactly_plain<Kind>;
#if defined(__x86_64__)
  if (is_wide()) fast = &walk_wide<Kind>;
  if (is_wide()) exact = &walk_exactly_wide<Kind>;
#endif
  TensorFigures figures;
  figures.numbers = bytes.size() / sizeof(Bits);
  for (size_t from = 0; from < figures.numbers; from += kBlock) {
    const size_t numbers = std::min(kBlock, static_cast<size_t>(figures.numbers) - from);
    const char* const at = bytes.data() + from * sizeof(Bits);
    Bits most = 0;
    SumOf<Kind> squares = 0;
    fast(at, numbers, most, squares);
    figures.zero = figures.zero && most == 0;
    const bool small = sizeof squares < sizeof(double) && squares <= 1e-30 && most != 0;  // squares may have become 0
    if (most < Kind::kInfinite && std::isfinite(squares) && !small) {
      figures.squares += static_cast<double>(squares);
    } else {
      exact(at, numbers, figures);
    }
  }
  return figures;
}

template <typename Kind>
TensorChange change(std::string_view before, std::string_view after) {
  using Bits = typename Kind::Bits;
  TensorChange out;
  out.numbers = std::min(before.size(), after.size()) / sizeof(Bits);
  for (size_t i = 0; i < out.numbers; ++i) {
    Bits a = 0, b = 0;
    std::memcpy(&a, before.data() + i * sizeof a, sizeof a);
    std::memcpy(&b, after.data() + i * sizeof b, sizeof b);
    if (a == b) continue;
    ++out.changed;
    if ((a & Kind::kMagnitude) >= Kind::kInfinite || (b & Kind::kMagnitude) >= Kind::kInfinite) continue;
    const double by = std::fabs(static_cast<double>(Kind::value(b)) - static_cast<double>(Kind::value(a)));
    out.squares += by * by;
    out.largest = std::max(out.largest, by);
  }
  return out;
}

/// What each of the 256 patterns of a number of 8 bits is.
struct Patterns {
  std::array<float, 256> value{};  // of the finite ones
  std::array<bool, 256> nan{}, infinite{};
};
/// "Fnuz" (GPUs of AMD): the pattern of -0 is the one NaN, and the exponent's bias is one higher.
Patterns patterns_of(int mantissa_bits, bool fnuz) {
  Patterns out;
  const int exponent_bits = 7 - mantissa_bits, bias = (1 << (exponent_bits - 1)) - (fnuz ? 0 : 1);
  for (int bits = 0; bits < 256; ++bits) {
    const auto at = static_cast<size_t>(bits);
    const int mantissa = bits & ((1 << mantissa_bits) - 1), exponent = (bits & 0x7f) >> mantissa_bits;
    const bool last = exponent == (1 << exponent_bits) - 1;
    out.nan[at] = fnuz ? bits == 0x80 : mantissa_bits == 3 ? (bits & 0x7f) == 0x7f : last && mantissa != 0;
    out.infinite[at] = !fnuz && mantissa_bits == 2 && last && mantissa == 0;
    const int whole = exponent == 0 ? mantissa : mantissa + (1 << mantissa_bits);
    const float value = std::ldexp(static_cast<float>(whole), std::max(exponent, 1) - bias - mantissa_bits);
    out.value[at] = out.nan[at] || out.infinite[at] ? 0 : bits >= 0x80 ? -value : value;
  }
  return out;
}
const Patterns& patterns_of(Dtype dtype) {
  static const Patterns kE4M3 = patterns_of(3, false), kE5M2 = patterns_of(2, false);
  static const Patterns kE4M3Fnuz = patterns_of(3, true), kE5M2Fnuz = patterns_of(2, true);
  switch (dtype) {
    case Dtype::kF8E4M3:
      return kE4M3;
    case Dtype::kF8E5M2:
      return kE5M2;
    case Dtype::kF8E4M3Fnuz:
      return kE4M3Fnuz;
    default:
      return kE5M2Fnuz;
  }
}

/// Each pattern is counted: four counts, as the same number often follows itself.
TensorFigures scan_patterns(const Patterns& patterns, std::string_view bytes) {
  std::array<std::array<uint64_t, 256>, 4> counts{};
  const auto at = [&bytes](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  size_t i = 0;
  for (; i + 4 <= bytes.size(); i += 4) {
    ++counts[0][at(i)];
    ++counts[1][at(i + 1)];
    ++counts[2][at(i + 2)];
    ++counts[3][at(i + 3)];
  }
  for (; i < bytes.size(); ++i) ++counts[0][at(i)];
  TensorFigures figures;
  figures.numbers = bytes.size();
  for (size_t bits = 0; bits < 256; ++bits) {
    const uint64_t count = counts[0][bits] + counts[1][bits] + counts[2][bits] + counts[3][bits];
    if (count == 0) continue;
    const bool nan = patterns.nan[bits], finite = !nan && !patterns.infinite[bits];
    figures.nan += nan ? count : 0;
    figures.not_finite += finite ? 0 : count;
    figures.zero = figures.zero && finite && patterns.value[bits] == 0;
    const double value = patterns.value[bits];
    figures.squares += value * value * static_cast<double>(count);
  }
  return figures;
}

TensorChange change_of_patterns(const Patterns& patterns, std::string_view before, std::string_view after) {
  TensorChange out;
  out.numbers = std::min(before.size(), after.size());
  const auto finite = [&patterns](uint8_t bits) { return !patterns.nan[bits] && !patterns.infinite[bits]; };
  for (size_t i = 0; i < out.numbers; ++i) {
    const auto a = static_cast<uint8_t>(before[i]), b = static_cast<uint8_t>(after[i]);
    if (a == b) continue;
    ++out.changed;
    if (!finite(a) || !finite(b)) continue;
    const double by = std::fabs(static_cast<double>(patterns.value[b]) - static_cast<double>(patterns.value[a]));
    out.squares += by * by;
    out.largest = std::max(out.largest, by);
  }
  return out;
}

}  // namespace

double TensorFigures::norm() const { return std::sqrt(squares); }

void TensorFigures::add(const TensorFigures& other) {
  numbers += other.numbers;
  not_finite += other.not_finite;
  nan += other.nan;
  zero = zero && other.zero;
  squares += other.squares;
}

double TensorChange::norm() const { return std::sqrt(squares); }

void TensorChange::add(const TensorChange& other) {
  numbers += other.numbers;
  changed += other.changed;
  squares += other.squares;
  largest = std::max(largest, other.largest);
}

bool has_point(Dtype dtype) { return dtype <= Dtype::kF8E5M2Fnuz; }

TensorFigures scan_numbers(Dtype dtype, std::string_view bytes) {
  switch (dtype) {
    case Dtype::kBF16:
      return scan<Bf16>(bytes);
    case Dtype::kF16:
      return scan<F16>(bytes);
    case Dtype::kF32:
      return scan<F32>(bytes);
    case Dtype::kF64:
      return scan<F64>(bytes);
    default:
      return has_point(dtype) ? scan_patterns(patterns_of(dtype), bytes) : TensorFigures();
  }
}

TensorChange compare_numbers(Dtype dtype, std::string_view before, std::string_view after) {
  switch (dtype) {
    case Dtype::kBF16:
      return change<Bf16>(before, after);
    case Dtype::kF16:
      return change<F16>(before, after);
    case Dtype::kF32:
      return change<F32>(before, after);
    case Dtype::kF64:
      return change<F64>(before, after);
    default:
      break;
  }
  if (has_point(dtype)) return change_of_patterns(patterns_of(dtype), before, after);
  TensorChange out;
  out.numbers = std::min(before.size(), after.size());
  for (size_t i = 0; i < out.numbers; ++i) out.changed += before[i] != after[i] ? 1 : 0;
  return out;
}

}  // namespace mw
