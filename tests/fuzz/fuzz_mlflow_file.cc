// links: read
#include "fuzz.h"
#include "read/files/mlflow_file.h"

std::vector<std::string> mw::fuzz_seeds() {
  return {"1760000000500 0.25 7\n1760000001000 nan 8 name digest\n",
          "run_id: abc\nstatus: 3\nend_time: 1760000000000\nname: 'x'\n"};
}

void mw::fuzz_one(std::string_view input) {
  fuzz_decoder([] { return std::unique_ptr<Decoder>(std::make_unique<MlflowMetricDecoder>("r/metrics/a/b")); }, input);
  fuzz_decoder([] { return std::unique_ptr<Decoder>(std::make_unique<MlflowMetaDecoder>()); }, input);
}
