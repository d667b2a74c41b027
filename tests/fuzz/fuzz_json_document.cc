// links: read
#include "fuzz.h"
#include "read/files/json_document.h"

std::vector<std::string> mw::fuzz_seeds() {
  return {R"({"best_metric": 0.5, "log_history": [{"step": 10, "loss": NaN}, {"step": 20}], "max_steps": 100})",
          R"({"train/loss": {"1": 0.5, "2": 0.25}, "eval": {"acc": {"2": 1}}})",
          R"([{"step": 1, "loss": -0.0}, {"step": 2, "a": {"b": "c\"d"}}])",
          R"({"steps": [1, 2], "loss": [0.5, null]})", R"({"accuracy": 0.5, "model": "m"})"};
}

void mw::fuzz_one(std::string_view input) {
  const bool settings = !input.empty() && (input[0] & 1) != 0;
  fuzz_decoder([&] { return std::unique_ptr<Decoder>(std::make_unique<JsonDocumentDecoder>(settings)); }, input);
}
