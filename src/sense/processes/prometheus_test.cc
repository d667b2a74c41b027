#include "sense/processes/prometheus.h"

#include <doctest/doctest.h>

#include <string>

#include "sense/processes/rate.h"

using namespace mw::components;

TEST_CASE("samples are summed over their labels") {
  const auto found = totals(
      "# HELP vllm:generation_tokens_total Number of tokens.\n# TYPE vllm:generation_tokens_total counter\n"
      "vllm:generation_tokens_total{engine=\"0\",model_name=\"a} b\"} 120.0\n"
      "vllm:generation_tokens_total{engine=\"1\",model_name=\"a \\\" b\"} 3e2 1700000000\n"
      "vllm:num_requests_running 4\r\nprocess_cpu_seconds_total 9\n",
      "vllm:");
  CHECK(found.size() == 2);
  CHECK(found.at("vllm:generation_tokens_total") == 420);
  CHECK(found.at("vllm:num_requests_running") == 4);
}

TEST_CASE("what is no sample is left out") {
  for (const char* text : {"", "\n\n", "#", "vllm:a", "vllm:a{", "vllm:a{b=\"c\" 1", "vllm:a{b=\"c\\", "vllm:a NaN",
                           "vllm:a +Inf", "vllm:a one", "{} 1", "vllm:a{}1", "vllm:a 1e999"}) {
    CHECK(totals(text, "vllm:").empty());
  }
}

TEST_CASE("as many names are kept as fit") {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "vllm:m" + std::to_string(i) + " 1\n";
  CHECK(totals(text, "vllm:").size() == kMetrics);
}

TEST_CASE("an engine's own figures are known under either name") {
  const EngineFigures vllm = engine_figures(
      "vllm:num_requests_running{engine=\"0\"} 3.0\nvllm:num_requests_waiting{engine=\"0\"} 1.0\n"
      "vllm:num_requests_waiting_by_reason{engine=\"0\",reason=\"capacity\"} "
      "1.0\nvllm:generation_tokens_total{engine=\"0\"} 77.0\n");
  CHECK(vllm.known());
  CHECK(*vllm.running == 3);
  CHECK(*vllm.waiting == 1);
  CHECK(*vllm.generated == 77);
  CHECK(engine_figures("sglang:num_running_reqs{tp_rank=\"0\"} 2\nsglang:generation_tokens_total 5\n").known());
  CHECK(!engine_figures("up 1\n").known());
}

TEST_CASE("of several caches the share of the fullest is reported") {
  CHECK(!engine_figures("vllm:num_requests_running 1\n").cache);
  CHECK(*engine_figures("vllm:kv_cache_usage_perc{engine=\"0\"} 0.25\nvllm:kv_cache_usage_perc{engine=\"1\"} 0.75\n")
             .cache == 0.75);
  CHECK(*engine_figures("sglang:token_usage 0.5\n").cache == 0.5);
  CHECK(!engine_figures("vllm:gpu_cache_usage_perc 75\nvllm:kv_cache_usage_perc NaN\n").cache);
}

TEST_CASE("metrics are asked for by their whole names") {
  const auto found = totals_of("a{x=\"1\"} 1\na{x=\"2\"} 2\nab 4\nb 8\n", {"a", "b", "c"});
  CHECK(found.size() == 2);
  CHECK(found.at("a") == 3);
  CHECK(found.at("b") == 8);
  for (const char* name : {"a", "vllm:x_total", "_a9"}) CHECK(is_metric_name(name));
  for (const char* name : {"", "9a", "a b", "a{b=\"c\"}", "rate(a)", "ä"}) CHECK_FALSE(is_metric_name(name));
}

TEST_CASE("a counter's growth is reported per second, and not across its beginning anew") {
  Rate rate;
  const auto at = [](double seconds) { return mw::Duration::seconds(seconds); };
  CHECK(!rate.take(100, at(10)));
  CHECK(*rate.take(150, at(20)) == 5);
  CHECK(*rate.take(150, at(30)) == 0);
  CHECK(!rate.take(7, at(40)));
  CHECK(*rate.take(9, at(41)) == 2);
  CHECK(!rate.take(10, at(41)));
}
