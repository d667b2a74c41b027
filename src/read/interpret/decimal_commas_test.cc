#include "read/interpret/decimal_commas.h"

#include <doctest/doctest.h>

#include "read/lines/metric_line.h"

namespace mw {
namespace {

bool measures(std::string_view name) {
  return name == "reward" || name == "loss" || name == "kl" || name == "mean/reward";
}

std::string read(DecimalCommas& reader, std::string_view line) {
  std::string out;
  return reader.read(line, measures, out) ? out : std::string(line);
}

std::string read(std::string_view line) {
  DecimalCommas reader;
  return read(reader, line);
}

TEST_CASE("decimal commas become points") {
  CHECK(read("step=99 reward=0,9105 loss=0,01430 grad_norm=0,512") ==
        "step=99 reward=0.9105 loss=0.01430 grad_norm=0.512");
  CHECK(read("step 7: reward 1,5, loss -0,02") == "step 7: reward 1.5, loss -0.02");
  CHECK(read("'reward': '0,5', 'lr': 1,5e-06") == "'reward': '0.5', 'lr': 1.5e-06");
}

TEST_CASE("thousands and lists are no decimals") {
  CHECK(read("step=1 tokens=16,802,381 reward=0.5") == "step=1 tokens=16802381 reward=0.5");
  CHECK(read("devices=0,1 reward=0.5 loss=0.1") == "devices=0,1 reward=0.5 loss=0.1");
  CHECK(read("a=1,b=2,reward=3") == "a=1,b=2,reward=3");
  CHECK(read("2026-01-01 10:00:22,123 step=3 reward=0.5") == "2026-01-01 10:00:22,123 step=3 reward=0.5");
  CHECK(read("rewards=[0,1,0,1] loss=0.5") == "rewards=[0,1,0,1] loss=0.5");
  CHECK(read("reward=1,0,1") == "reward=?");
}

TEST_CASE("what may be read in both ways is no figure, until other lines show which it is") {
  DecimalCommas fresh;
  CHECK(read(fresh, "step=1 reward=1,204") == "step=1 reward=?");
  CHECK(read(fresh, "step=2 reward=0,204") == "step=2 reward=0.204");
  CHECK(read(fresh, "step=3 reward=1,204") == "step=3 reward=1.204");
  DecimalCommas pointed;
  pointed.saw_point();
  CHECK(read(pointed, "step=3 reward=1,204") == "step=3 reward=1204");
  CHECK(read(pointed, "step=3 reward=0,1") == "step=3 reward=?");
}

TEST_CASE("a number whose comma can only be a decimal's") {
  for (const char* text : {"0,125", "12,5", "-3,1", "0,3e-05", "1234,567"}) CHECK(is_decimal_comma(text));
  for (const char* text : {"1,204", "1,2,3", ",5", "5,", "1,5x", "", "007,5", "1.2,5"})
    CHECK_FALSE(is_decimal_comma(text));
  double value = 0;
  CHECK((metric_number("0,9105", &value) && value == 0.9105));
  CHECK((metric_number("16,802", &value) && value == 16802));
}

}  // namespace
}  // namespace mw
