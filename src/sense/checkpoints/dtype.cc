#include "sense/checkpoints/dtype.h"

#include <array>

namespace mw {
namespace {

struct Names {
  Dtype dtype;
  size_t bytes;
  std::string_view safetensors, torch, storage, zarr;
};
constexpr std::array<Names, 15> kNames = {{{Dtype::kF64, 8, "F64", "float64", "DoubleStorage", "<f8"},
                                           {Dtype::kF32, 4, "F32", "float32", "FloatStorage", "<f4"},
                                           {Dtype::kF16, 2, "F16", "float16", "HalfStorage", "<f2"},
                                           {Dtype::kBF16, 2, "BF16", "bfloat16", "BFloat16Storage", "bfloat16"},
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

Dtype dtype_named(std::string_view name) {
  if (name.starts_with("torch.")) name.remove_prefix(6);
  for (const Names& names : kNames) {
    if (name == names.safetensors || name == names.torch || name == names.storage || name == names.zarr)
      return names.dtype;
  }
  return Dtype::kOther;
}

}  // namespace mw
