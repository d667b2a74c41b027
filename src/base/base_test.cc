#include <doctest/doctest.h>

#include <cmath>

#include "base/checksum.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/prng.h"
#include "base/text.h"
#include "base/time.h"

namespace mw {

TEST_CASE("time: the forms that trainers print") {
  CHECK(format_utc(*parse_time("2026-02-19 09:08:11,482")) == "2026-02-19T09:08:11.482Z");
  CHECK(format_utc(*parse_time("2026-02-19T09:08:11.5+01:00")) == "2026-02-19T08:08:11.500Z");
  CHECK_FALSE(parse_time("2026-02-39 09:08:11").has_value());
  CHECK_FALSE(parse_time("hello").has_value());
  CHECK(format_duration(Duration::seconds(3725)) == "1h 02m");
  CHECK(format_duration(Duration::seconds(-3725)) == "-1h 02m");
  CHECK(format_duration(Duration{INT64_MIN}) == "-106751d 23h");
}

TEST_CASE("numbers: Python's non-finite words count") {
  CHECK(std::isnan(*parse_double("NaN")));
  CHECK(*parse_double("-Infinity") < 0);
  CHECK_FALSE(parse_double("12abc").has_value());
  CHECK(*parse_double("1e-400") == 0.0);
  CHECK(*parse_int("-17") == -17);
}

TEST_CASE("numbers: of any length, and before any byte, they are what the C library reads") {
  Prng prng(3);
  const auto digits = [&prng](size_t most) {
    std::string made;
    for (size_t left = 1 + prng.below(most); left > 0; --left) made += static_cast<char>('0' + prng.below(10));
    return made;
  };
  for (int i = 0; i < 20'000; ++i) {
    std::string text = digits(i % 2 == 0 ? 3 : 20);
    if (prng.below(4) > 0) text += '.' + digits(19);
    if (prng.below(8) == 0) text += (prng.below(2) == 0 ? "e-" : "E") + std::to_string(prng.below(40));
    const size_t length = text.size();
    constexpr std::string_view kBehind = ",} :/\xff\x80\n;";
    if (i % 3 > 0) text += cat(kBehind[prng.below(kBehind.size())], digits(i % 3 == 1 ? 2 : 12));
    size_t used = 0;
    const auto read = parse_double_prefix(text, &used);
    CAPTURE(text);
    REQUIRE(read.has_value());
    REQUIRE(used == length);
    REQUIRE(*read == std::strtod(text.substr(0, length).c_str(), nullptr));
  }
}

TEST_CASE("json: round trip, bare NaN, depth limit") {
  const auto parsed = Json::parse(R"({"a":[1,NaN,"x\n"],"b":{"c":true},"big":9007199254740993})");
  REQUIRE(parsed.ok());
  CHECK(std::isnan(parsed->find("a")->items()[1].number()));
  CHECK(parsed->find("big")->integer() == 9007199254740993);
  CHECK_FALSE(Json::parse(std::string(1000, '[')).ok());
  CHECK_FALSE(Json::parse("{} x").ok());
  std::string out;
  JsonWriter(out).begin_object().key("k").string("a\"\x1b\xff").key("n").number(NAN).end_object();
  CHECK(out == "{\"k\":\"a\\\"\\u001b\xef\xbf\xbd\",\"n\":null}");
}

TEST_CASE("json leaves: paths are joined with a slash") {
  struct Collect : JsonLeaves {
    std::string seen;
    void number(std::string_view path, double value) override { seen += cat(path, "=", value, ";"); }
    void string(std::string_view path, std::string_view value) override { seen += cat(path, "='", value, "';"); }
  } leaves;
  CHECK(for_each_leaf(R"({"step":3,"data":{"actor/loss":-0.5,"x":[1,2]},"s":"t","z":NaN})", leaves));
  CHECK(leaves.seen == "step=3;data/actor/loss=-0.5;data/x/0=1;data/x/1=2;s='t';z=nan;");
}

TEST_CASE("checksums agree with the published check values") {
  CHECK(crc32c("123456789") == 0xe3069283U);
  CHECK(crc32_ieee("123456789") == 0xcbf43926U);
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aaU);
  CHECK(Xxh3().digest() == 0x2d06800538d394c2U);
  std::string bytes(5000, 'x');
  Xxh3 whole, pieces;
  whole.update(bytes);
  for (size_t from = 0; from < bytes.size(); from += 77) pieces.update(std::string_view(bytes).substr(from, 77));
  CHECK(whole.digest() == pieces.digest());
  CHECK(crc32_ieee("6789", crc32_ieee("12345")) == crc32_ieee("123456789"));
}

TEST_CASE("hostile text is harmless") {
  CHECK(escape_terminal("\x1b]0;x\x07") == "\\x1b]0;x\\x07");
  CHECK(escape_terminal("\xe2\x80\xae"
                        "abc") == "\\u202eabc");
  CHECK(escape_markdown("<img src=x> [a](http://b) | `c`").find('<') == std::string::npos);
  CHECK(markdown_code("a`b|c") == "``a`b¦c``");
}

TEST_CASE("money is written to the cent") {
  CHECK(format_money(0.000003466) == "0");
  CHECK(format_money(-0.001) == "0");
  CHECK(format_money(12.5) == "12.5");
  CHECK(format_money(12345.678) == "12345.68");
  CHECK(format_money(200) == "200");
}

TEST_CASE("secrets are redacted") {
  CHECK(redact_secrets("key hf_abcdefghijklmnopqrstuvwxyz end") == "key <redacted> end");
  CHECK(redact_secrets("WANDB_API_KEY=0123456789abcdef") == "WANDB_API_KEY=<redacted>");
  CHECK(redact_secrets("{'Authorization': 'Bearer abc.def.ghi'}") == "{'Authorization': 'Bearer <redacted>'}");
  CHECK(redact_secrets("https://user:hunter22@host/x") == "https://user:<redacted>@host/x");
  CHECK(redact_secrets("loss=0.5 tokens: 128 sk-learn") == "loss=0.5 tokens: 128 sk-learn");
}

TEST_CASE("a part is found whatever its case, wherever it stands") {
  for (const char* text : {"step", "STEP 1", "a sTEp", "stsStep", "Sst step", "sste\xe6step"}) {
    CAPTURE(text);
    CHECK(contains_folded(text, "step"));
  }
  for (const char* text : {"", "ste", "s-tep", "STE", "stE p"}) {
    CAPTURE(text);
    CHECK_FALSE(contains_folded(text, "step"));
  }
  CHECK(contains_folded("", ""));
}

TEST_CASE("what differs in numbers alone is the same without them") {
  CHECK(without_numbers("slurm-7701.out") == without_numbers("slurm-12.out"));
  CHECK(without_numbers("7a42") == "#a#");
  CHECK(without_numbers("").empty());
  CHECK(contains_folded("a [X]", "[x]"));
  CHECK_FALSE(contains_folded("Step", "Step"));  // the part is in small letters
}

TEST_CASE("a part is found where the standard library finds it") {
  Prng random(7);
  for (int i = 0; i < 4000; ++i) {
    const auto letters = [&](uint64_t most, std::string_view of) {
      std::string text(random.below(most), ' ');
      for (char& c : text) c = of[random.below(of.size())];
      return text;
    };
    const std::string text = letters(70, "aAb"), part = letters(5, "ab");
    CAPTURE(text);
    CAPTURE(part);
    CHECK(find_part(text, part) == text.find(part));
    CHECK(contains_folded(text, part) == contains(to_lower(text), part));
  }
  CHECK(find_part(std::string(100, 'a') + "\xff\0b", "\xff") == 100);
  CHECK(find_part(std::string(40, '-') + "-----END", "-----END") == 40);
}

}  // namespace mw
