// links: read
#include "fuzz.h"
#include "read/files/sniff.h"

std::vector<std::string> mw::fuzz_seeds() {
  return {"{\"step\": 1}\n{\"step\": 2}\n",   "[\n {\"step\": 1}]",   "a,b\n1,2\n",        "2026-01-02 INFO x\n",
          "{\"prompt\": [{\"a\": 1}]}\n{}\n", "run_id: x\nstatus: 3", "1760000000000 1 2", "\x1f\x8b\x08"};
}

void mw::fuzz_one(std::string_view input) {
  for (const std::string_view path :
       {"", "metrics.jsonl", "x.json", "r/metrics/a", "x.csv", "r/meta.yaml", "a.tfevents.b"}) {
    const FileKind kind = sniff(input, path);
    MW_CHECK(!kind_name(kind).empty());
    const auto decoder = make_decoder(kind, path);
    if (decoder == nullptr) continue;
    RecordingSink sink;
    decoder->feed(input, sink);
    decoder->finish(sink);
  }
  const size_t cut = input.find('\n');
  static_cast<void>(worth_reading(input.substr(0, cut), static_cast<int64_t>(input.size())));
}
