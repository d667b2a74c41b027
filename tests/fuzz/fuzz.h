// What a fuzz target defines; main.cc does the rest. The first line of a target names the rooms it links.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "read/files/testing/recording_sink.h"

namespace mw {

/// Runs the parser on `input`; MW_CHECK what must hold. Must not keep anything between calls.
void fuzz_one(std::string_view input);

/// Good input to begin with, made by the target itself.
std::vector<std::string> fuzz_seeds();

/// For decoders: the same is said whatever the pieces' sizes, and no more is consumed than was given.
template <typename MakeDecoder>
void fuzz_decoder(MakeDecoder make, std::string_view bytes) {
  const std::string whole = decode_log(make, bytes, 0, 0);
  const size_t most = 1 + bytes.size() % 37;
  MW_CHECK(decode_log(make, bytes, most, bytes.size()) == whole);
  const auto decoder = make();
  RecordingSink sink;
  sink.keep = false;
  decoder->feed(bytes, sink);
  MW_CHECK(decoder->consumed() <= bytes.size());
  decoder->finish(sink);
  MW_CHECK(decoder->consumed() <= bytes.size());
}

}  // namespace mw
