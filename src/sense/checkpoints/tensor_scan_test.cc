#include "sense/checkpoints/tensor_scan.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/prng.h"

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

TEST_CASE("numbers of 8 bits: what is NaN, infinite or zero in each of the four kinds") {
  using namespace std::string_literals;
  CHECK(scan_numbers(Dtype::kF8E4M3, "\x44\xc8"s).norm() == doctest::Approx(5));  // 3, -4
  CHECK(scan_numbers(Dtype::kF8E5M2, "\x42\xc4"s).norm() == doctest::Approx(5));  // 3, -4
  CHECK(scan_numbers(Dtype::kF8E4M3Fnuz, "\x4c\xd0"s).norm() == doctest::Approx(5));
  CHECK(scan_numbers(Dtype::kF8E5M2Fnuz, "\x46\xc8"s).norm() == doctest::Approx(5));
  CHECK(scan_numbers(Dtype::kF8E4M3, "\x01"s).norm() == doctest::Approx(std::ldexp(1, -9)));
  CHECK(scan_numbers(Dtype::kF8E4M3, "\x7e"s).norm() == doctest::Approx(448));
  CHECK(scan_numbers(Dtype::kF8E5M2, "\x7b"s).norm() == doctest::Approx(57344));
  std::string all;
  for (int bits = 0; bits < 256; ++bits) all += static_cast<char>(bits);
  const auto not_finite = [&all](Dtype dtype, uint64_t nan) {
    const TensorFigures figures = scan_numbers(dtype, all);
    CHECK(figures.numbers == 256);
    CHECK(figures.nan == nan);
    return figures.not_finite;
  };
  CHECK(not_finite(Dtype::kF8E4M3, 2) == 2);
  CHECK(not_finite(Dtype::kF8E5M2, 6) == 8);
  CHECK(not_finite(Dtype::kF8E4M3Fnuz, 1) == 1);
  CHECK(not_finite(Dtype::kF8E5M2Fnuz, 1) == 1);
  CHECK(scan_numbers(Dtype::kF8E4M3, "\x80\0\0\0\0"s).zero);
  CHECK_FALSE(scan_numbers(Dtype::kF8E4M3, "\0\0\0\0\1"s).zero);
  CHECK_FALSE(scan_numbers(Dtype::kF8E4M3Fnuz, "\x80"s).zero);
  const TensorChange change = compare_numbers(Dtype::kF8E4M3, "\x44\x38\x7f"s, "\xc8\x38\x38"s);
  CHECK(change.changed == 2);
  CHECK(change.largest == doctest::Approx(7));
}

TEST_CASE("squares that are too large or too small for single precision are added up all the same") {
  CHECK(scan_numbers(Dtype::kF32, bytes_of<float>({3e38F, 0})).norm() == doctest::Approx(3e38));
  CHECK(scan_numbers(Dtype::kF32, bytes_of<float>({3e-30F, 4e-30F})).norm() == doctest::Approx(5e-30));
}

template <typename Number>
void check_figures(Dtype dtype, const std::vector<Number>& bits, double (*value)(Number)) {
  double squares = 0;
  size_t nan = 0, infinite = 0;
  for (const Number one : bits) {
    const double number = value(one);
    if (std::isnan(number)) ++nan;
    if (std::isinf(number)) ++infinite;
    if (std::isfinite(number)) squares += number * number;
  }
  const TensorFigures figures = scan_numbers(dtype, bytes_of(bits));
  CHECK(figures.nan == nan);
  CHECK(figures.not_finite == nan + infinite);
  CHECK(figures.norm() == doctest::Approx(std::sqrt(squares)).epsilon(1e-5));
}

TEST_CASE("any bits whatever, in blocks of any length, count as a plain loop counts them") {
  Prng dice(3);
  for (const size_t size : {1, 7, 8, 15, 16, 33, 2047, 2048, 4100}) {
    CAPTURE(size);
    std::vector<uint16_t> half(size);
    std::vector<uint32_t> single(size);
    std::vector<uint64_t> twice(size);
    for (size_t i = 0; i < size; ++i) {
      twice[i] = dice.next() & 0x9fffffffffffffffULL;  // their squares fit
      single[i] = static_cast<uint32_t>(dice.next());
      half[i] = static_cast<uint16_t>(dice.next());
      if (i % 5 == 0) half[i] |= 0x7f80;  // infinite or NaN as BF16
      if (i % 7 == 0) half[i] |= 0x7c00;  // likewise as F16
      if (i % 9 == 0) twice[i] |= 0x7ff0000000000000ULL;
    }
    check_figures<uint32_t>(Dtype::kF32, single,
                            [](uint32_t bits) { return static_cast<double>(std::bit_cast<float>(bits)); });
    check_figures<uint64_t>(Dtype::kF64, twice, [](uint64_t bits) { return std::bit_cast<double>(bits); });
    check_figures<uint16_t>(Dtype::kBF16, half, [](uint16_t bits) {
      return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits) << 16));
    });
    check_figures<uint16_t>(Dtype::kF16, half, [](uint16_t bits) {
      const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
      if (exponent == 31) return fraction == 0 ? HUGE_VAL : std::nan("");
      return exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
    });
  }
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
