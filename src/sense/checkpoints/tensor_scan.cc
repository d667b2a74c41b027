#include "sense/checkpoints/tensor_scan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace mw {
namespace {

constexpr size_t kBlock = 2048;  // numbers that are added up in single precision

// 32 bytes at once: registers of AVX2, or two of SSE2.
using U16x16 = uint16_t __attribute__((vector_size(32)));
using U32x8 = uint32_t __attribute__((vector_size(32)));
using I64x4 = int64_t __attribute__((vector_size(32)));
using F32x8 = float __attribute__((vector_size(32)));
using F64x4 = double __attribute__((vector_size(32)));

// A kind of number: its bits, the bits without the sign, which of them say that it is not finite, its value; and, of 32
// bytes without signs, the squares added to two sums.
struct Bf16 {
  using Bits = uint16_t;
  using Vector = U16x16;
  using Sums = F32x8;
  static constexpr Bits kMagnitude = 0x7fff, kInfinite = 0x7f80;
  static float value(Bits bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
  static inline __attribute__((always_inline)) void square(const Vector& numbers, Sums& even, Sums& odd) {
    const auto wide = reinterpret_cast<U32x8>(numbers);
    const U32x8 first = wide << 16, second = wide & 0xffff0000U;
    const auto a = reinterpret_cast<F32x8>(first);
    const auto b = reinterpret_cast<F32x8>(second);
    even += a * a;
    odd += b * b;
  }
};
struct F16 {
  using Bits = uint16_t;
  using Vector = U16x16;
  using Sums = F32x8;
  static constexpr Bits kMagnitude = 0x7fff, kInfinite = 0x7c00;
  /// Exact, subnormal numbers too: the exponent is moved by a multiplication with 2^112.
  static float value(Bits bits) {
    const uint32_t wide = (static_cast<uint32_t>(bits & 0x8000U) << 16) | (static_cast<uint32_t>(bits & 0x7fffU) << 13);
    return std::bit_cast<float>(wide) * 0x1p112F;
  }
  static inline __attribute__((always_inline)) void square(const Vector& numbers, Sums& even, Sums& odd) {
    const auto wide = reinterpret_cast<U32x8>(numbers);
    const U32x8 first = (wide & 0xffffU) << 13, second = (wide >> 16) << 13;
    const F32x8 a = reinterpret_cast<F32x8>(first) * 0x1p112F, b = reinterpret_cast<F32x8>(second) * 0x1p112F;
    even += a * a;
    odd += b * b;
  }
};
struct F32 {
  using Bits = uint32_t;
  using Vector = U32x8;
  using Sums = F32x8;
  static constexpr Bits kMagnitude = 0x7fffffff, kInfinite = 0x7f800000;
  static float value(Bits bits) { return std::bit_cast<float>(bits); }
  static inline __attribute__((always_inline)) void square(const Vector& numbers, Sums& sums, Sums&) {
    const auto a = reinterpret_cast<F32x8>(numbers);
    sums += a * a;
  }
};
struct F64 {
  using Bits = int64_t;  // AVX2 compares only signed ones, and magnitudes are not negative
  using Vector = I64x4;
  using Sums = F64x4;
  static constexpr Bits kMagnitude = 0x7fffffffffffffff, kInfinite = 0x7ff0000000000000;
  static double value(Bits bits) { return std::bit_cast<double>(bits); }
  static inline __attribute__((always_inline)) void square(const Vector& numbers, Sums& sums, Sums&) {
    const auto a = reinterpret_cast<F64x4>(numbers);
    sums += a * a;
  }
};

template <typename Kind>
using SumOf = std::conditional_t<sizeof(typename Kind::Bits) == 8, double, float>;

/// The fast part, over one block in which usually all is finite: the largest magnitude and the sum of squares.
template <typename Kind>
inline __attribute__((always_inline)) void walk(const char* at, size_t numbers, typename Kind::Bits& most,
                                                SumOf<Kind>& squares) {
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
    Kind::square(first, sums[0], sums[1]);
    Kind::square(second, sums[2], sums[3]);
  }
  for (; i < numbers; ++i) {
    Bits bits = 0;
    std::memcpy(&bits, at + i * sizeof(Bits), sizeof bits);
    bits = static_cast<Bits>(bits & Kind::kMagnitude);
    most = std::max(most, bits);
    const SumOf<Kind> value = Kind::value(bits);
    squares += value * value;
  }
  for (size_t lane = 0; lane < kLanes; ++lane) most = std::max({most, Bits{largest[0][lane]}, Bits{largest[1][lane]}});
  for (const auto& sum : sums) {
    for (size_t lane = 0; lane < sizeof sum / sizeof(SumOf<Kind>); ++lane) squares += sum[lane];
  }
}

template <typename Kind>
void walk_plain(const char* at, size_t numbers, typename Kind::Bits& most, SumOf<Kind>& squares) {
  walk<Kind>(at, numbers, most, squares);
}
#if defined(__x86_64__)
template <typename Kind>
__attribute__((target("avx2"))) void walk_wide(const char* at, size_t numbers, typename Kind::Bits& most,
                                               SumOf<Kind>& squares) {
  walk<Kind>(at, numbers, most, squares);
}
#endif

/// The exact part, for blocks with infinities, or whose squares do not fit single precision.
template <typename Kind>
void walk_slowly(const char* at, size_t numbers, TensorFigures& figures) {
  using Bits = typename Kind::Bits;
  for (size_t i = 0; i < numbers; ++i) {
    Bits bits = 0;
    std::memcpy(&bits, at + i * sizeof(Bits), sizeof bits);
    bits = static_cast<Bits>(bits & Kind::kMagnitude);
    if (bits >= Kind::kInfinite) {
      ++figures.not_finite;
      if (bits > Kind::kInfinite) ++figures.nan;
      continue;
    }
    const double value = Kind::value(bits);
    figures.squares += value * value;
  }
}

template <typename Kind>
TensorFigures scan(std::string_view bytes) {
  using Bits = typename Kind::Bits;
  TensorFigures figures;
  figures.numbers = bytes.size() / sizeof(Bits);
#if defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx2") != 0;
#endif
  for (size_t from = 0; from < figures.numbers; from += kBlock) {
    const size_t numbers = std::min(kBlock, static_cast<size_t>(figures.numbers) - from);
    const char* const at = bytes.data() + from * sizeof(Bits);
    Bits most = 0;
    SumOf<Kind> squares = 0;
#if defined(__x86_64__)
    wide ? walk_wide<Kind>(at, numbers, most, squares) : walk_plain<Kind>(at, numbers, most, squares);
#else
    walk_plain<Kind>(at, numbers, most, squares);
#endif
    figures.zero = figures.zero && most == 0;
    const bool exact = most < Kind::kInfinite && std::isfinite(squares) && (squares > 1e-30 || most == 0);
    if (exact) {
      figures.squares += static_cast<double>(squares);
    } else {
      walk_slowly<Kind>(at, numbers, figures);
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

bool has_point(Dtype dtype) { return dtype <= Dtype::kBF16; }

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
      return {};
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
  TensorChange out;
  out.numbers = std::min(before.size(), after.size());
  for (size_t i = 0; i < out.numbers; ++i) out.changed += before[i] != after[i] ? 1 : 0;
  return out;
}

}  // namespace mw
