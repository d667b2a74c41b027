#include "sense/checkpoints/tensor_scan.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace mw {
namespace {

template <typename Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

TEST_CASE("norms and what is not finite are the same as a plain loop finds them, at every length and place") {
  for (size_t size : {0, 1, 15, 16, 17, 2047, 2048, 2049, 5000}) {
    std::vector<float> numbers(size);
    double squares = 0;
    for (size_t i = 0; i < size; ++i) {
      numbers[i] = static_cast<float>(std::sin(static_cast<double>(i)));
      squares += static_cast<double>(numbers[i]) * static_cast<double>(numbers[i]);
    }
    const std::string padded = "x" + bytes_of(numbers);
    const TensorFigures figures = scan_numbers(Dtype::kF32, std::string_view(padded).substr(1));
    CHECK(figures.numbers == size);
    CHECK(figures.not_finite == 0);
    CHECK(figures.norm() == doctest::Approx(std::sqrt(squares)).epsilon(1e-5));
    CHECK(figures.zero == (size <= 1));
    if (size == 0) continue;
    for (const size_t place : {size_t{0}, size / 2, size - 1}) {
      std::vector<float> bad = numbers;
      bad[place] = std::numeric_limits<float>::quiet_NaN();
      CHECK(scan_numbers(Dtype::kF32, bytes_of(bad)).nan == 1);
      bad[place] = -std::numeric_limits<float>::infinity();
      const TensorFigures infinite = scan_numbers(Dtype::kF32, bytes_of(bad));
      CHECK(infinite.nan == 0);
      CHECK(infinite.not_finite == 1);
    }
  }
}

TEST_CASE("each kind of number is read as what it is") {
  CHECK(scan_numbers(Dtype::kF64, bytes_of<double>({3, 4})).norm() == doctest::Approx(5));
  CHECK(scan_numbers(Dtype::kBF16, bytes_of<uint16_t>({0x4040, 0xc080})).norm() == doctest::Approx(5));  // 3, -4
  CHECK(scan_numbers(Dtype::kF16, bytes_of<uint16_t>({0x4200, 0xc400})).norm() == doctest::Approx(5));
  CHECK(scan_numbers(Dtype::kF16, bytes_of<uint16_t>({0x0001})).norm() == doctest::Approx(std::ldexp(1, -24)));
  CHECK(scan_numbers(Dtype::kF16, bytes_of<uint16_t>({0x7c00, 0x7c01, 0x7bff})).not_finite == 2);
  CHECK(scan_numbers(Dtype::kBF16, bytes_of<uint16_t>({0x8000, 0})).zero);
  CHECK_FALSE(scan_numbers(Dtype::kBF16, bytes_of<uint16_t>({0x8001, 0})).zero);
  CHECK(scan_numbers(Dtype::kI64, "12345678").numbers == 0);
}

TEST_CASE("squares that are too large or too small for single precision are added up all the same") {
  CHECK(scan_numbers(Dtype::kF32, bytes_of<float>({3e38F, 0})).norm() == doctest::Approx(3e38));
  CHECK(scan_numbers(Dtype::kF32, bytes_of<float>({3e-30F, 4e-30F})).norm() == doctest::Approx(5e-30));
}

TEST_CASE("a change is counted, and how large it is") {
  const TensorChange change = compare_numbers(Dtype::kF32, bytes_of<float>({1, 2, 3}), bytes_of<float>({1, 2.5F, 1}));
  CHECK(change.numbers == 3);
  CHECK(change.changed == 2);
  CHECK(change.largest == doctest::Approx(2));
  CHECK(std::sqrt(change.squares) == doctest::Approx(std::sqrt(4.25)));
  CHECK(compare_numbers(Dtype::kU8, "abc", "abd").changed == 1);
}

}  // namespace
}  // namespace mw
