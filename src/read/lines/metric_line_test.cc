#include "read/lines/metric_line.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>

namespace mw {
namespace {

std::map<std::string, double> read(std::string_view text) {
  MetricLine line;
  line.read(text);
  std::map<std::string, double> out;
  for (const RowNumber& number : line.numbers()) out[std::string(number.key)] = number.value;
  return out;
}

using Map = std::map<std::string, double>;

TEST_CASE("a Python dict: wrapped numbers, quoted floats, nested dicts, lists passed over") {
  CHECK(read("{'loss': 0.5, 'grad_norm': '0.25', 'np': np.float64(1e-06), 't': tensor(2., device='cuda:0'), "
             "'in': {'a': 1, 'b': {'c': 2}}, 'l': [1, 2, {'x': 3}], 'none': None, 'flag': True}") ==
        Map{{"loss", 0.5}, {"grad_norm", 0.25}, {"np", 1e-6}, {"t", 2}, {"in/a", 1}, {"in/b/c", 2}, {"flag", 1}});
  const Map special = read("{\"a\": nan, \"b\": -inf, \"c\": Infinity, 'd': NaN}");
  CHECK(std::isnan(special.at("a")));
  CHECK(special.at("b") == -INFINITY);
  CHECK(special.at("c") == INFINITY);
  CHECK(std::isnan(special.at("d")));
}

TEST_CASE("a dict that does not end is open, what follows its end is left alone") {
  MetricLine line;
  CHECK(line.read("{'loss': 0.5, 'lr'") == MetricLine::Form::kDict);
  CHECK(line.open());
  CHECK(line.numbers().size() == 1);
  line.clear();
  CHECK(line.read_dict("{'loss': 0.5} 12%|#| 3/4") == 13);
  CHECK(!line.open());
  CHECK(line.read("{not a dict}") == MetricLine::Form::kNone);
}

TEST_CASE("dashes: keys may hold colons, values numpy's wrappers") {
  CHECK(read("step:12 - actor/loss:0.5 - val/src: a/acc@1:np.float64(0.25) - flag:True") ==
        Map{{"step", 12}, {"actor/loss", 0.5}, {"val/src: a/acc@1", 0.25}, {"flag", 1}});
}

TEST_CASE("bars: with and without separators, units, shares, durations") {
  CHECK(read("Step 12 |   41.2s | Loss 0.5 | Grad. Norm 0.25 | Rate 10432 tokens/s | MFU 31.5% | Kept 3/4 (75%)") ==
        Map{{"Step", 12},
            {"duration", 41.2},
            {"Loss", 0.5},
            {"Grad. Norm", 0.25},
            {"Rate", 10432},
            {"MFU", 31.5},
            {"Kept", 3},
            {"Kept/total", 4}});
  CHECK(read("PPO step 10/500 | loss: 0.5 | mean_reward: -1.0") ==
        Map{{"PPO step", 10}, {"PPO step/total", 500}, {"loss", 0.5}, {"mean_reward", -1}});
}

TEST_CASE("commas: colons and equals signs, brackets, lists passed over") {
  CHECK(read("Step 5: loss=1.25, grad_norm=0.5") == Map{{"Step", 5}, {"loss", 1.25}, {"grad_norm", 0.5}});
  CHECK(read("[step 3/100] loss=0.5 reward=0.25 time: 3.2 s kl: 0.1") ==
        Map{{"step", 3}, {"step/total", 100}, {"loss", 0.5}, {"reward", 0.25}, {"time", 3.2}, {"kl", 0.1}});
  CHECK(read("Rewards: [0.5, -1.0] (1/2 done)").empty());
  CHECK(read("22.1s reward=0.25 loss=0.5") == Map{{"reward", 0.25}, {"loss", 0.5}});
  CHECK(read("reward=0.0 -> 0.25 loss=0.5") == Map{{"reward", 0.25}, {"loss", 0.5}});
  CHECK(read("loss: 0.5->-0.25, kl: 0.5 \u2192 0.75") == Map{{"loss", -0.25}, {"kl", 0.75}});
  CHECK(read("at 12:30:05 see https://example.org:80/x").empty());
}

TEST_CASE("several statistics of one figure, with their values behind them") {
  CHECK(read("reward mean/min/max 0.5/-1.0/1.0 | loss 0.25") ==
        Map{{"reward_mean", 0.5}, {"reward_min", -1}, {"reward_max", 1}, {"loss", 0.25}});
  CHECK(read("solved/total=12/200 loss=0.5") == Map{{"solved/total", 12}, {"solved/total/total", 200}, {"loss", 0.5}});
}

TEST_CASE("table rows and frames") {
  MetricLine line;
  CHECK(line.read_cells("\u2502 a/avg \u2502 7.5e-05 \u2502 b/min \u2502 -2 \u2502"));
  REQUIRE(line.numbers().size() == 2);
  CHECK(line.numbers()[0].key == "a/avg");
  CHECK(line.numbers()[1].value == -2);
  CHECK(is_table_frame("\u2552\u2550\u2550\u2564\u2550\u2550\u2555"));
  CHECK(is_table_frame("+-----+-----+"));
  CHECK(!is_table_frame("\u2502 a/avg \u2502 7.5e-05 \u2502"));
  CHECK(!is_table_frame("loss: 5"));
}

TEST_CASE("durations") {
  double seconds = 0;
  CHECK(metric_duration("2h 5m", &seconds));
  CHECK(seconds == 7500);
  CHECK(metric_duration("1:02:03", &seconds));
  CHECK(seconds == 3723);
  CHECK(metric_duration("850ms", &seconds));
  CHECK(seconds == doctest::Approx(0.85));
  CHECK(!metric_duration("850 apples", &seconds));
}

TEST_CASE("hostile lines end in linear time") {
  const std::string brackets(1 << 20, '(');
  MetricLine line;
  line.read(brackets);
  std::string braces;
  for (int i = 0; i < 100000; ++i) braces += "{'a':";
  line.read(braces);
  CHECK(line.open());
  std::string equals;
  for (int i = 0; i < 300000; ++i) equals += "a=(";
  line.read(equals);
  CHECK(line.numbers().empty());
}

}  // namespace
}  // namespace mw
