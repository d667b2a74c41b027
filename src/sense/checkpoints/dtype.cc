#include "sense/checkpoints/dtype.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/numbers.h"
#include "base/one_of.h"

namespace mw {
namespace {

struct Names {
  Dtype dtype;
  size_t bytes;
  std::string_view safetensors, torch, storage, zarr;
};
constexpr std::array<Names, 19> kNames = {
    {{Dtype::kF64, 8, "F64", "float64", "DoubleStorage", "<f8"},
     {Dtype::kF32, 4, "F32", "float32", "FloatStorage", "<f4"},
     {Dtype::kF16, 2, "F16", "float16", "HalfStorage", "<f2"},
     {Dtype::kBF16, 2, "BF16", "bfloat16", "BFloat16Storage", "bfloat16"},
     {Dtype::kF8E4M3, 1, "F8_E4M3", "float8_e4m3fn", "Float8_e4m3fnStorage", "float8_e4m3fn"},
     {Dtype::kF8E5M2, 1, "F8_E5M2", "float8_e5m2", "Float8_e5m2Storage", "float8_e5m2"},
     {Dtype::kF8E4M3Fnuz, 1, "F8_E4M3FNUZ", "float8_e4m3fnuz", "Float8_e4m3fnuzStorage", "float8_e4m3fnuz"},
     {Dtype::kF8E5M2Fnuz, 1, "F8_E5M2FNUZ", "float8_e5m2fnuz", "Float8_e5m2fnuzStorage", "float8_e5m2fnuz"},
     {Dtype::kI64, 8, "I64", "int64", "LongStorage", "<i8"},
     {Dtype::kI32, 4, "I32", "int32", "IntStorage", "<i4"},
     {Dtype::kI16, 2, "I16", "int16", "ShortStorage", "<i2"},
     {Dtype::kI8, 1, "I8", "int8", "CharStorage", "|i1"},
     {Dtype::kU8, 1, "U8", "uint8", "ByteStorage", "|u1"},
     {Dtype::kBool, 1, "BOOL", "bool", "BoolStorage", "|b1"},
     {Dtype::kC128, 16, "C128", "complex128", "ComplexDoubleStorage", "<c16"},
     {Dtype::kC64, 8, "C64", "complex64", "ComplexFloatStorage", "<c8"},
     {Dtype::kQI32, 4, "QI32", "qint32", "QInt32Storage", "QInt32Storage"},
     {Dtype::kQI8, 1, "QI8", "qint8", "QInt8Storage", "QInt8Storage"},
     {Dtype::kQU8, 1, "QU8", "quint8", "QUInt8Storage", "QUInt8Storage"}}};

}  // namespace

size_t size_of(Dtype dtype) {
  for (const Names& names : kNames) {
    if (names.dtype == dtype) return names.bytes;
  }
  return 0;
}

std::string_view name_of(Dtype dtype) {
  for (const Names& names : kNames) {
    if (names.dtype == dtype) return names.safetensors;
  }
  return "other";
}

unsigned safetensors_bits(std::string_view name) {
  struct Bits {
    std::string_view name;
    unsigned bits;
  };
  // In that format a complex number is of 64 bits at most, and torch's quantized ones have no name.
  constexpr std::array<Bits, 22> kKinds = {
      {{"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"U8", 8},          {"I8", 8},
       {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
       {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
       {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64}}};
  const auto* const known =
      std::find_if(kKinds.begin(), kKinds.end(), [name](const Bits& one) { return one.name == name; });
  return known == kKinds.end() ? 0 : known->bits;
}

bool may_be_newer_dtype(std::string_view name, unsigned bits) {
  constexpr std::array<std::string_view, 7> kKinds = {"F", "BF", "I", "U", "C", "INT", "UINT"};
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto digits = [&](size_t from) {
    size_t end = from;
    while (end < name.size() && digit(name[end])) ++end;
    return end;
  };
  const auto number = [&](size_t from, size_t end) { return parse_int(name.substr(from, end - from)).value_or(-1); };
  const size_t kind = static_cast<size_t>(std::find_if(name.begin(), name.end(), digit) - name.begin());
  const size_t width = digits(kind);
  if (!is_one_of(name.substr(0, kind), kKinds) || number(kind, width) != bits) return false;
  if (width == name.size()) return true;
  if (!name.substr(width).starts_with("_E")) return false;
  const size_t exponent = digits(width + 2);  // "_E2M1", and letters such as FN behind it
  if (exponent >= name.size() || name[exponent] != 'M') return false;
  const size_t end = digits(exponent + 1);
  const int64_t e = number(width + 2, exponent), m = number(exponent + 1, end);
  const bool letters = std::all_of(name.begin() + static_cast<std::ptrdiff_t>(end), name.end(),
                                   [&](char c) { return (c >= 'A' && c <= 'Z') || digit(c); });
  return letters && e >= 0 && m >= 0 && (e + m + 1 == bits || (m == 0 && e == bits));
}

Dtype dtype_named(std::string_view name) {
  if (name.starts_with("torch.")) name.remove_prefix(6);
  for (const Names& names : kNames) {
    if (name == names.safetensors || name == names.torch || name == names.storage || name == names.zarr)
      return names.dtype;
  }
  return Dtype::kOther;
}

}  // namespace mw
