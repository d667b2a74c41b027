// Headers of safetensors: what their library refuses is refused, and what a newer one may write is not.
#include "sense/checkpoints/weights_file.h"

#include <doctest/doctest.h>

#include "base/text.h"

namespace mw {
namespace {

/// "": nothing is wrong with it.
std::string fault_of(std::string_view header, uint64_t bytes) {
  const auto tensors = parse_safetensors_header(header, bytes);
  if (!tensors.ok()) return tensors.error().what;
  for (const Tensor& tensor : *tensors) {
    if (const KindFault fault = fault_of_kind(tensor); !fault.what.empty())
      return cat(fault.damaged ? "" : "doubt: ", fault.what);
  }
  return "";
}

constexpr std::string_view kHeader =
    R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
    R"("b/c":{"dtype":"BF16","shape":[4],"data_offsets":[24,32]},"":{"dtype":"F8_E4M3","shape":[],"data_offsets":[32,33]},)"
    R"("d":{"dtype":"BOOL","shape":[7],"data_offsets":[33,40]}}   )";

TEST_CASE("a bit of a header that flips is found, unless it makes another name or other metadata") {
  REQUIRE(fault_of(kHeader, 40).empty());
  size_t found = 0;
  for (size_t at = 0; at < kHeader.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string header(kHeader);
      header[at] = static_cast<char>(header[at] ^ (1 << bit));
      if (!fault_of(header, 40).empty()) {
        ++found;
        continue;
      }
      CAPTURE(header);
      const size_t quote = kHeader.rfind('"', at);
      const auto within = [at](std::string_view text, size_t from) {
        const size_t begin = kHeader.find(text, from) + 1;
        return at >= begin && at < begin + text.size() - 2;
      };
      const bool name = within("\"a\"", 20) || within("\"b/c\"", 0) || within("\"d\"", 100);
      const bool metadata = within("\"format\"", 0) || within("\"pt\"", 0);
      CHECK((name || metadata));
      CHECK(quote != std::string_view::npos);
    }
  }
  CHECK(found > kHeader.size() * 7);
}

TEST_CASE("what the library of safetensors refuses") {
  const auto entry = [](std::string_view fields) { return cat(R"({"a":{)", fields, "}}"); };
  CHECK(fault_of(entry(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])"), 4).empty());
  CHECK(fault_of(entry(R"("dtype":"F32","shape":[1],"data_offsets":[0,4],"more":{},"and":[1],"x":"y")"), 4).empty());
  CHECK(contains(fault_of(entry(R"("dtypE":"F32","shape":[1],"data_offsets":[0,4])"), 4), "a has no dtype"));
  CHECK(contains(fault_of(entry(R"("dtype":"F32","shapg":[1],"data_offsets":[0,4])"), 4), "a has no shape"));
  CHECK(contains(fault_of(entry(R"("dtype":"F32","shape":[1])"), 0), "a has no data_offsets"));
  CHECK(contains(fault_of(entry(R"("dtype":"F32","shape":[1],"data_offsets":[0.4])"), 4), "no whole numbers"));
  CHECK(contains(fault_of(entry(R"("dtype":"F32","shape":["1"],"data_offsets":[0,4])"), 4), "a text"));
  CHECK(contains(fault_of(entry(R"("dtype":"F32","shape":[1],"data_offsets":[0,4,4])"), 4), "more than two"));
  CHECK(contains(fault_of(R"({"__metadata__":{"format":1}})", 0), "__metadata__"));
  CHECK(contains(fault_of(R"({"__metadata__":{"format":["pt"]}})", 0), "__metadata__"));
  CHECK(contains(fault_of(R"({"__metadata__":{"format":null}})", 0), "null"));
  CHECK(fault_of(R"({"__metadata__":{"a\\":"n","\"":"null"}})", 0).empty());
  CHECK(contains(fault_of(R"({"__meuadata__":{"format":"pt"}})", 0), "no dtype"));
  CHECK(contains(fault_of(R"({"a":"b"})", 0), "no dtype"));
  CHECK(contains(fault_of("{\"__metadata__\":{\"a\":\"\xef\"}}", 0), "UTF-8"));
  CHECK(fault_of(R"({"__metadata__":{"format":"pt"}})", 0).empty());
  CHECK(fault_of("{}", 0).empty());
  const auto twice = [](std::string_view between, uint64_t bytes) {
    return fault_of(cat(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)", between,
                        R"("a":{"dtype":"U8","shape":[1],"data_offsets":[)", bytes - 1, ",", bytes, "]}}"),
                    bytes);
  };
  CHECK(contains(twice("", 2), "a has two dtypes"));
  CHECK(contains(twice(R"("b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},)", 3), "it has a twice"));
}

TEST_CASE("an index may name files in folders below its own, and none elsewhere") {
  const auto shards = [](std::string_view name) {
    return shards_of_index(cat(R"({"weight_map":{"a":")", name, R"("}})")).ok();
  };
  CHECK(shards("model-1.safetensors"));
  CHECK(shards("shards/deep/part0.safetensors"));
  for (const char* name : {"../model.safetensors", "/etc/passwd", "a/../../b", "a//b", "..", ".", "a/", ""}) {
    CAPTURE(name);
    CHECK_FALSE(shards(name));
  }
}

std::string of_kind(std::string_view dtype, uint64_t numbers, uint64_t bytes) {
  return fault_of(cat(R"({"a":{"dtype":")", dtype, R"(","shape":[)", numbers, R"(],"data_offsets":[0,)", bytes, "]}}"),
                  bytes);
}

TEST_CASE("a kind of number that a newer library may know is not called broken") {
  for (const char* const kind : {"F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "U8", "I8", "F8_E3M4", "F8_E4M3B11FNUZ"})
    CHECK(of_kind(kind, 16, 16).empty());
  for (const char* const kind : {"F4", "U4", "I4", "F4_E2M1", "INT4", "UINT4"}) CHECK(of_kind(kind, 16, 8).empty());
  for (const char* const kind : {"F6_E2M3", "F6_E3M2"}) CHECK(of_kind(kind, 16, 12).empty());
  for (const char* const kind : {"I128", "U128", "C128"}) CHECK(of_kind(kind, 16, 256).empty());
  CHECK(of_kind("U64", 16, 128).empty());
  CHECK(of_kind("C64", 16, 128).empty());
}

TEST_CASE("a kind that no library has is in doubt, and one whose bytes fit no kind is broken") {
  for (const char* const kind : {"G32", "F72", "F22", "f32", "F3:", "B32", "Q9", "float32", "F32 ", "FLOAT", "BF3"}) {
    CAPTURE(kind);
    CHECK(contains(of_kind(kind, 16, 64), "doubt: a is of a kind"));
  }
  for (const char* const kind : {"F8_E4M2", "F8_E5M3", "F8_E4", "F8_", "F8_M3", "F8-E4M3", "BOOM"}) {
    CAPTURE(kind);
    CHECK(contains(of_kind(kind, 16, 16), "doubt: a is of a kind"));
  }
  CHECK(contains(of_kind("F72", 16, 77), "no kind of number fits its 77 bytes"));
  CHECK(contains(of_kind("F32", 16, 60), "has 60 bytes and its shape asks for 64"));
  CHECK(contains(of_kind("U64", 16, 64), "has 64 bytes and its shape asks for 128"));
}

}  // namespace
}  // namespace mw
