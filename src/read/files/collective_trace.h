// What PyTorch's flight recorder dumps of one rank's collectives (nccl_trace_rank_N, comm_lib_trace_rank_N): a pickle,
// or JSON with the same fields. docs.pytorch.org/tutorials/unstable/flight_recorder_tutorial.html. The pickle is parsed
// and never run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "read/files/decoder.h"

namespace mw {

/// Bytes of one dump; it is kept until it is whole.
constexpr size_t kCollectiveTraceLimit = size_t{40} << 20;

/// Is this the head of such a dump?
bool is_collective_trace(std::string_view head);

/// The rank that a dump is of, from the digits at the end of its name.
std::optional<int64_t> rank_of_trace(std::string_view path);

/// One line of text: "Flight recorder of rank 3: group 0 has done 411 of 412 (ALLREDUCE started); group 1 has …".
class CollectiveTraceDecoder : public Decoder {
 public:
  explicit CollectiveTraceDecoder(std::string_view path) : rank_(rank_of_trace(path)) {}
  void feed(std::string_view bytes, RecordSink& sink) override;
  void finish(RecordSink& sink) override;
  uint64_t consumed() const override { return done_ ? bytes_ : 0; }

 private:
  bool read(RecordSink& sink);

  std::optional<int64_t> rank_;
  std::string pending_;
  uint64_t bytes_ = 0;
  bool done_ = false;
};

}  // namespace mw
