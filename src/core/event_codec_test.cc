#include "core/event_codec.h"

#include <doctest/doctest.h>

#include <bitset>

#include "base/json.h"
#include "core/event_fields.h"
#include "core/random_event.h"

namespace mw {
namespace {

std::string coded(const Event& event) {
  std::string text;
  encode_event(event, text);
  return text;
}

TEST_CASE("the table's counting of members works") {
  static_assert(member_count<event::Ticked>() == 2);
  static_assert(member_count<event::Measured>() == 4);
  static_assert(member_count<event::TraceSeen>() == 7);
}

TEST_CASE("every event comes back from the journal as it went in") {
  RandomEvent random(1);
  std::bitset<std::variant_size_v<AnyBody>> seen;
  for (int i = 0; i < 20'000; ++i) {
    const Event event = random.next();
    seen.set(event.body.index());
    const std::string text = coded(event);
    Event back;
    REQUIRE(decode_event(text, back) == Decoded::kEvent);
    REQUIRE(back.at == event.at);
    REQUIRE(back.where == event.where);
    REQUIRE(back.body.index() == event.body.index());
    REQUIRE(coded(back) == text);
    REQUIRE(text.find('\n') == std::string::npos);
    if (i < 2000) REQUIRE(Json::parse(text).ok());
  }
  CHECK(seen.all());
}

TEST_CASE("fields compare one by one") {
  const Event event{
      Time{5},
      {7, 9},
      event::Measured{12, true, {{"reward.mean", "critic/score", 0.25}, {"", "x\xff\xc3\xa9\"\n", -1e-7}}}};
  Event back;
  REQUIRE(decode_event(coded(event), back) == Decoded::kEvent);
  const auto* measured = std::get_if<event::Measured>(&back.body);
  REQUIRE(measured != nullptr);
  CHECK(measured->step == 12);
  CHECK(measured->eval);
  REQUIRE(measured->readings.size() == 2);
  CHECK(measured->readings[0].signal() == "reward.mean");
  CHECK(measured->readings[0].value == 0.25);
  CHECK(measured->readings[1].raw() == "x\xff\xc3\xa9\"\n");
  CHECK(measured->readings[1].value == -1e-7);
}

TEST_CASE("the format is what docs/formats/journal.md says") {
  CHECK(coded({Time{1500}, {2, 31}, event::StepBegan{4}}) ==
        R"({"e":"step-began","at":1500,"src":2,"ln":31,"step":4})");
  CHECK(coded({{}, {}, event::Measured{kNoStep, false, {{"", "loss", std::numeric_limits<double>::quiet_NaN()}}}}) ==
        R"({"e":"measured","step":null,"eval":false,"readings":[["","loss","nan"]],"counted":false})");
  CHECK(coded({{}, {}, event::AttemptBegan{"\xff"}}) == R"({"e":"attempt-began","why":"\udcff"})");
  CHECK(coded({{}, {}, event::Ended{event::Ended::How::kFailed, -9, ""}}) ==
        R"({"e":"ended","how":"failed","code":-9,"text":""})");
}

TEST_CASE("unknown fields are skipped, unknown types are reported, anything else is refused") {
  Event out;
  CHECK(decode_event(R"({"e":"step-began","new":{"a":[1,"}",null],"b":"\""},"step":4,"z":[]})", out) ==
        Decoded::kEvent);
  CHECK(std::get<event::StepBegan>(out.body).step == 4);
  CHECK(decode_event(R"( { "e" : "step-began" , "step" : 6 } )", out) == Decoded::kEvent);
  CHECK(std::get<event::StepBegan>(out.body).step == 6);
  CHECK(decode_event(R"({"e":"step-began"})", out) == Decoded::kEvent);
  CHECK(std::get<event::StepBegan>(out.body).step == kNoStep);
  CHECK(decode_event(R"({"e":"from-the-future","x":1})", out) == Decoded::kUnknown);
  for (const char* bad : {"", "{", "null", "{}", R"({"step":4})", R"({"e":"step-began","step":4)",
                          R"({"e":"step-began","step":"4"})", R"({"e":"step-began","step":4}x)",
                          R"({"e":"attempt-began","why":"\ud800"})", R"({"e":"attempt-began","why":"\u12"})",
                          R"({"e":"ended","how":"somehow"})", R"({"e":"measured","readings":[["a","b"]]})"}) {
    CAPTURE(bad);
    CHECK(decode_event(bad, out) == Decoded::kBad);
  }
  CHECK(decode_event(R"({"e":"step-began","deep":)" + std::string(100'000, '[') + "}", out) == Decoded::kBad);
}

TEST_CASE("a cut or changed event never crashes") {
  RandomEvent random(2);
  Prng prng(3);
  Event out;
  for (int i = 0; i < 3000; ++i) {
    std::string text = coded(random.next());
    CHECK(decode_event(std::string_view(text).substr(0, prng.below(text.size())), out) != Decoded::kEvent);
    text[prng.below(text.size())] = static_cast<char>(prng.below(256));
    (void)decode_event(text, out);
  }
}

}  // namespace
}  // namespace mw
