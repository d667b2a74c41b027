// What numbers say of a tensor without knowing the model: are they finite, are they all zero, how large are they.
#pragma once

#include <cstdint>
#include <string_view>

#include "sense/checkpoints/dtype.h"

namespace mw {

/// Of the numbers seen so far. Only the kinds with a point are looked at: F64, F32, F16, BF16, F8 of
/// four kinds.
struct TensorFigures {
  uint64_t numbers = 0;
  uint64_t not_finite = 0;  ///< NaN and infinities
  uint64_t nan = 0;
  bool zero = true;     ///< all are 0 so far
  double squares = 0;   ///< sum of the squares of the finite ones
  double norm() const;  ///< L2
  void add(const TensorFigures& other);
};

bool has_point(Dtype dtype);

/// `bytes` must be whole numbers of that kind, little-endian, at any address. On one core at memory speed: the loops
/// are vectorised, by AVX2 and FMA where the CPU has them.
TensorFigures scan_numbers(Dtype dtype, std::string_view bytes);

/// How two runs of numbers of the same kind and length differ.
struct TensorChange {
  uint64_t numbers = 0, changed = 0;
  double squares = 0;  ///< of the differences of those finite in both
  double largest = 0;
  double norm() const;  ///< L2, of the differences
  void add(const TensorChange& other);
};
TensorChange compare_numbers(Dtype dtype, std::string_view before, std::string_view after);

}  // namespace mw
