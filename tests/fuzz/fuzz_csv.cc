// links: read
#include "fuzz.h"
#include "read/files/csv.h"

std::vector<std::string> mw::fuzz_seeds() {
  return {"step,\"loss, mean\",note\r\n1,0.5,\"two\nlines \"\"q\"\"\"\r\n2,,x\n", "global_step;kl;ok\n3;nan;True\n",
          "\"Step\",\"run-a - r\",\"run-a - r__MIN\",\"run-a - r__MAX\"\n\"1\",\"2\",\"2\",\"2\"\n",
          "Wall time\tStep\n1.7e9\t2\n"};
}

void mw::fuzz_one(std::string_view input) {
  fuzz_decoder([] { return std::unique_ptr<Decoder>(std::make_unique<CsvDecoder>()); }, input);
}
