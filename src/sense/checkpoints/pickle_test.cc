#include "read/files/pickle.h"

#include <doctest/doctest.h>

#include <string>

#include "base/text.h"
#include "sense/checkpoints/layouts/distributed.h"
#include "sense/checkpoints/torch_object.h"

namespace mw {
namespace {

using Kind = PickleValue::Kind;
using namespace std::string_literals;  // NOLINT: bytes with zeros in them

std::string little(uint64_t value, size_t bytes) {
  std::string out;
  for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}
std::string text(const std::string& value) { return "X" + little(value.size(), 4) + value; }

/// Python's pickle.dumps({"a": [1, -2, 2.5, True, None, (3, "x")], "b": 2**40}, protocol).
std::string sample(int protocol) {
  const std::string items =
      "K\x01"s + "J\xfe\xff\xff\xff"s + "G\x40\x04\0\0\0\0\0\0"s + "\x88N" + "K\x03" + text("x") + "\x86";
  return "\x80"s + static_cast<char>(protocol) + "}(" + text("a") + "](" + items + "e" + text("b") +
         "\x8a\x06\0\0\0\0\0\x01u."s;
}

TEST_CASE("values of every kind are read, and nothing behind the end") {
  const std::string bytes = sample(2) + "behind";
  const auto pickle = read_pickle(bytes);
  REQUIRE(pickle.ok());
  CHECK(pickle->bytes == bytes.size() - 6);
  const uint32_t a = pickle->find(pickle->root, "a");
  REQUIRE(pickle->is(a, Kind::kList));
  const auto& items = pickle->at(a).items;
  REQUIRE(items.size() == 6);
  CHECK(pickle->at(items[0]).integer == 1);
  CHECK(pickle->at(items[1]).integer == -2);
  CHECK(pickle->at(items[2]).real == 2.5);
  CHECK(pickle->at(items[3]).kind == Kind::kBool);
  CHECK(pickle->at(items[4]).kind == Kind::kNone);
  CHECK(pickle->at(items[5]).items.size() == 2);
  CHECK(pickle->at(pickle->find(pickle->root, "b")).integer == int64_t{1} << 40);
}

TEST_CASE("a pickle that is cut anywhere is cut, not damaged and not whole") {
  const std::string bytes = sample(2);
  for (size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    const auto pickle = read_pickle(std::string_view(bytes).substr(0, size));
    REQUIRE_FALSE(pickle.ok());
    CHECK(pickle.error().code == Error::Code::kTruncated);
  }
}

TEST_CASE("what would be called is kept and not called; circles end") {
  const std::string call = "cos\nsystem\n(S'x'\ntR.", circle =
                                                          "\x80\x02]q\x01h\x01"
                                                          "a.";
  const auto evil = read_pickle(call);
  REQUIRE(evil.ok());
  CHECK(evil->at(evil->root).kind == Kind::kCall);
  CHECK(evil->at(evil->at(evil->root).callable).text == "system");
  const auto round = read_pickle(circle);
  REQUIRE(round.ok());
  CHECK(torch_object(*round).tensors.empty());
}

TEST_CASE("hostile sizes are refused without the memory that they ask for") {
  for (const std::string& bytes :
       {"\x80\x02X\xff\xff\xff\xff"s + "x", "\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff"s + "x",
        "\x80\x02}r\xff\xff\xff\xff."s, "\x80\x02h\x07."s, "\x80\x02t."s, "\x80\x02R."s, "\xfe."s, "."s}) {
    CHECK_FALSE(read_pickle(bytes).ok());
  }
  // A list in a list in a list … (2 bytes a level) and nested deeper than any stack.
  const std::string nested = std::string(400'000, ']') + std::string(399'999, 'a') + ".";
  const auto deep = read_pickle(nested);
  REQUIRE(deep.ok());
  CHECK(torch_object(*deep).clipped);
  const auto many = read_pickle(std::string(2'000'000, ']') + ".");
  REQUIRE_FALSE(many.ok());
  CHECK(many.error().code == Error::Code::kLimit);
  // A dict of dicts that refer to the same one twice each: 2^40 paths, few values.
  std::string wide = "\x80\x02}q\0"s;
  for (int level = 1; level < 40; ++level) {
    const std::string before = "h"s + static_cast<char>(level - 1);
    wide += cat("}q"s, static_cast<char>(level), "(", text("a"), before, text("b"), before, "u");
  }
  wide += '.';
  const auto bomb = read_pickle(wide);
  REQUIRE(bomb.ok());
  CHECK(torch_object(*bomb).tensors.empty());
}

TEST_CASE("a .metadata that names files outside of its folder is refused") {
  const auto metadata = [](const std::string& path) {
    const std::string index = "cm\nI\n)\x81}(" + text("fqn") + text("w") + "ub",
                      place = "cm\nS\n)\x81}(" + text("relative_path") + text(path) + text("offset") + "K\0"s +
                              text("length") + "K\x05" + "ub";
    return "\x80\x02"
           "cm\nM\n)\x81}(" +
           text("state_dict_metadata") + "}" + text("w") + "Ns" + text("storage_data") + "}" + index + place + "s" +
           "ub.";
  };
  const auto good = parse_distributed_metadata(metadata("__0_0.distcp"));
  REQUIRE(good.ok());
  CHECK(good->files.at("__0_0.distcp").front().bytes == 5);
  CHECK(good->names == good->stored);
  for (const char* path : {"../x", "/etc/passwd", "a/../../x", "", "a//b"})
    CHECK_FALSE(parse_distributed_metadata(metadata(path)).ok());
}

}  // namespace
}  // namespace mw
