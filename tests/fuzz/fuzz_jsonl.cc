// links: read
#include "fuzz.h"
#include "read/files/jsonl.h"

std::vector<std::string> mw::fuzz_seeds() {
  return {"{\"step\": 1, \"loss\": NaN, \"a\": {\"b\": [1, 2, {\"c\": -1e-3}]}}\n{\"step\": 2}\n",
          "{\"step\":7,\"data\":{\"actor/entropy\":0.5,\"s\":\"x\\u00e9\\n\"}}\nnot json\n",
          "{\"timestamp\": \"2026-01-02T03:04:05.5+01:00\", \"global_step\": \"12\", \"x\": -Infinity}"};
}

void mw::fuzz_one(std::string_view input) {
  fuzz_decoder([] { return std::unique_ptr<Decoder>(std::make_unique<JsonlDecoder>()); }, input);
}
