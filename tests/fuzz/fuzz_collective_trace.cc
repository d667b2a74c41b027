// links: read
#include "fuzz.h"
#include "read/files/collective_trace.h"

std::vector<std::string> mw::fuzz_seeds() {
  return {R"({"pg_config":{},"pg_status":{"0":{"last_enqueued_collective":"9","last_completed_collective":8}},)"
          R"("entries":[{"pg_id":0,"collective_seq_id":9,"profiling_name":"nccl:all_reduce","state":"started"}]})",
          "\x80\x02}(U\x09pg_configK\x01U\x07"
          "entries](}(U\x05pg_idK\x01ueu.",
          "{\"pg_config\":1,\"entries\":{\"a\":[]}}"};
}

void mw::fuzz_one(std::string_view input) {
  fuzz_decoder([] { return std::unique_ptr<Decoder>(std::make_unique<CollectiveTraceDecoder>("nccl_trace_rank_3")); },
               input);
}
