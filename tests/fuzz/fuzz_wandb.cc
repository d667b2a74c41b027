// links: read
#include "fuzz.h"
#include "read/files/testing/encode.h"
#include "read/files/wandb.h"

std::vector<std::string> mw::fuzz_seeds() {
  encode::Wandb file;
  file.run("id", "name", {{"lr", "1e-6"}, {"a", R"({"b": [1, "c"]})"}}, 1'760'000'000'000);
  file.history(3, 1.76e9, {{"reward", "NaN"}, {"n", R"({"a": {"b": 2}})"}, {"s", R"("x\n")"}});
  file.stats(1'760'000'000'500, {{"gpu.0.temp", "61"}});
  file.output("a\rb\nc", true, 1'760'000'000'500);
  file.exit(1, 60);
  std::string whole = file.bytes();
  std::string history;
  encode::field_bytes(history, 1, encode::Wandb::item("reward", "0.5", true));
  std::string record;
  encode::field_bytes(record, 2, history);
  return {"r" + whole, "r" + whole.substr(0, whole.size() - 3), "w" + record};
}

/// 'r': the bytes of a file; anything else: the body of a record, framed here, so that the checksum does not keep the
/// fuzzer from what is inside.
void mw::fuzz_one(std::string_view input) {
  const auto make = [] { return std::unique_ptr<Decoder>(std::make_unique<WandbDecoder>()); };
  if (input.empty()) return;
  if (input[0] == 'r') return fuzz_decoder(make, input.substr(1));
  encode::Wandb file;
  file.record(input.substr(1));
  file.record(input.substr(input.size() / 2));
  fuzz_decoder(make, file.bytes());
}
