// links: sense
#include "fuzz.h"
#include "sense/processes/addresses.h"
#include "sense/processes/prometheus.h"
#include "sense/processes/sockets.h"

std::vector<std::string> mw::fuzz_seeds() {
  return {"# TYPE vllm:generation_tokens_total counter\nvllm:generation_tokens_total{engine=\"0\",m=\"a\\\"}\"} 12.0\n",
          "sglang:num_running_reqs{tp_rank=\"0\"} 2\nsglang:token_usage NaN 1700000000\n",
          "  sl  local_address rem_address   st\n   0: 0100007F:1F40 00000000:0000 0A 0:0 00:0 0 1000 0 4711 1\n",
          "connect to 10.0.0.7:8000 ('localhost', 80) host='127.0.0.1', port=9",
          "   1: 0000000000000000FFFF00000100007F:1F41 0:0 0A 0:0 00:0 0 0 0 12 1\n"};
}

void mw::fuzz_one(std::string_view input) {
  (void)components::totals(input, "vllm: sglang: ");
  (void)components::engine_figures(input);
  (void)components::listening(input);
  (void)components::addresses_in(input);
}
