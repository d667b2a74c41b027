#include "read/files/plain_json.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <string>

#include "base/json.h"
#include "base/prng.h"

namespace mw {
namespace {

/// What the reader of all JSON says of the same text.
class AllJson : public JsonLeaves {
 public:
  explicit AllJson(RowBuilder& row) : row_(row) {}
  void number(std::string_view path, double value) override { row_.add_number(row_.keep(path), value); }
  void string(std::string_view path, std::string_view value) override {
    row_.add_text(row_.keep(path), row_.keep(value));
  }
  bool enter_array(std::string_view) override { return false; }

 private:
  RowBuilder& row_;
};

std::string shown(RowBuilder& row) {
  std::string out;
  for (const RowNumber& number : row.numbers()) {
    out += std::string(number.key) + "=" + std::to_string(std::bit_cast<uint64_t>(number.value)) + "\n";
  }
  for (const RowText& text : row.texts()) out += std::string(text.key) + ":" + std::string(text.value) + "\n";
  return out;
}

/// True when it was plain. Then it must be JSON, with the same values.
bool agrees(const std::string& json) {
  RowBuilder plain, all;
  if (!read_plain_json(json, plain)) return false;
  AllJson leaves(all);
  CAPTURE(json);
  CHECK(for_each_leaf(json, leaves));
  CHECK(shown(plain) == shown(all));
  return true;
}

std::string any_of(Prng& prng, const std::vector<std::string>& words) { return words[prng.below(words.size())]; }

std::string random_value(Prng& prng, int depth);

std::string random_object(Prng& prng, int depth) {
  std::string out = any_of(prng, {"{", "{ ", "{\n"});
  const uint64_t count = prng.below(5);
  for (uint64_t i = 0; i < count; ++i) {
    out += any_of(prng, {"\"a\"", "\"\"", "\"actor/entropy\"", "\"data\"", "\"a\\u0041\"",
                         "\"a long name of more than eight\"", "\"\xc3\xa9\""});
    out += any_of(prng, {":", ": ", " : "}) + random_value(prng, depth + 1);
    if (i + 1 < count) out += any_of(prng, {",", ", ", ",\t"});
  }
  return out + any_of(prng, {"}", " }", "}\r"});
}

std::string random_value(Prng& prng, int depth) {
  if (depth < 4 && prng.below(5) == 0) return random_object(prng, depth);
  if (depth < 4 && prng.below(8) == 0) {
    return "[" + random_value(prng, depth + 1) + ", " + random_value(prng, depth + 1) + "]";
  }
  return any_of(prng,
                {"0",     "-0",      "1.5",     "-2.25e-7", "1e5",    "0.1234567890123456",  "12345678901234567890123",
                 "1e400", "true",    "false",   "null",     "NaN",    "-Infinity",           "\"text\"",
                 "\"\"",  "\"\\n\"", "[]",      "{}",       "1e-310", "0.30000000000000004", "9007199254740993",
                 "-1",    "3.14",    "0.000001"});
}

}  // namespace

TEST_CASE("what the plain reader takes is JSON, and has the values that the reader of all JSON finds") {
  Prng prng(5);
  int plain = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string json = random_object(prng, 0);
    plain += agrees(json) ? 1 : 0;
    // Something in it is another byte: mostly no JSON any more.
    if (json.empty()) continue;
    json[prng.below(json.size())] = any_of(prng, {"\"", "{", "}", ",", "0", "-", ".", "e", "\\", "\x01", " "})[0];
    agrees(json);
  }
  CHECK(plain > 1000);
}

TEST_CASE("numbers of a record are rounded as anywhere else") {
  Prng prng(9);
  for (int i = 0; i < 5000; ++i) {
    const int digits = static_cast<int>(prng.below(17)) + 1;
    std::string number = std::to_string(prng.below(1000)) + ".";
    for (int k = 0; k < digits; ++k) number += static_cast<char>('0' + prng.below(10));
    CHECK(agrees("{\"x\": " + std::string(prng.below(2) == 0 ? "-" : "") + number + "}"));
  }
}

TEST_CASE("a number is plain whatever its length and its exponent, as long as it is finite") {
  const std::string digits(60, '7');
  for (const std::string& number : {std::string("1e100"), std::string("-2.5E-300"), "0." + digits, digits}) {
    CHECK(agrees("{\"x\": " + number + "}"));
  }
}

TEST_CASE("what is no number is read as Python's json writes it, and as printf does") {
  CHECK(agrees("{\"a\": NaN, \"b\": -Infinity, \"c\": Infinity}"));
  RowBuilder row;
  REQUIRE(read_plain_json(R"({"step": 85, "loss": nan, "kl": -nan, "x": [nan, inf], "grad": inf, "y": -inf})", row));
  REQUIRE(row.numbers().size() == 5);
  CHECK(std::isnan(row.numbers()[1].value));
  CHECK(std::isnan(row.numbers()[2].value));
  CHECK(row.numbers()[3].value == INFINITY);
  CHECK(row.numbers()[4].value == -INFINITY);
}

TEST_CASE("a text that says that a figure is no number is that figure") {
  RowBuilder row;
  REQUIRE(read_plain_json(R"({"step": 3, "loss": "NaN", "grad_norm": "-inf", "note": "info", "n": "nan "})", row));
  REQUIRE(row.numbers().size() == 3);
  CHECK(std::isnan(row.numbers()[1].value));
  CHECK(row.numbers()[2].value == -INFINITY);
  CHECK(row.texts().size() == 2);
}

TEST_CASE("what is not plain is left to the reader of all JSON") {
  for (const std::string json :
       {"{\"a\\tb\": 1}", "{\"a\": nano}", "{\"a\": -}", "{\"a\": Nan}", "{\"a\": 1e999}", "{\"a\": 1} x",
        "{\"a\": 01}", "{\"a\": 1.}", "{\"a\": 1,}", "{\"a\" 1}", "{\"a\": \"b\x01\"}", "{", "{\"a\": tru", ""}) {
    RowBuilder row;
    CHECK_FALSE(read_plain_json(json, row));
  }
}

}  // namespace mw
