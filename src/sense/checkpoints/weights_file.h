// What the bytes of a file of weights prove of it, without reading the weights and without running anything: whether
// the writer came to its end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mw {

/// One tensor of a safetensors file, in bytes from the end of the header.
struct Tensor {
  std::string name, dtype;  ///< "BF16", "F32", …
  uint64_t begin = 0, end = 0;
  std::vector<int64_t> shape;
};

/// The largest header that is read; the format itself stops at 100 MB, real ones stay below 1 MB.
constexpr uint64_t kSafetensorsHeader = uint64_t{8} << 20;
/// The most tensors of one file that are kept.
constexpr size_t kTensors = 100'000;

/// Bytes of the header that follows the first eight bytes (safetensors, "Format": little-endian u64). kTruncated: the
/// file ends before its header does; kInvalid: this is no such number, and who knows what the file is.
Result<uint64_t> safetensors_header_bytes(std::string_view first_eight, uint64_t file_bytes);
/// The tensors that a header lists, ordered by where they begin. Errors: no JSON object; what the library of the format
/// refuses (an entry without its dtype, shape or offsets, metadata that are no texts, what is not UTF-8); tensors that
/// overlap, leave holes, or do not end where the file ends (`data_bytes` behind the header). kTruncated: bytes of
/// tensors are missing, or the header itself is damaged. What a dtype means is not looked at.
Result<std::vector<Tensor>> parse_safetensors_header(std::string_view header, uint64_t data_bytes);

/// What is wrong with a tensor's kind of number, in a sentence; "": nothing. It is `damaged` where no such kind has as
/// many bytes as its shape asks for, and in doubt where its name is none that its library knows or a newer one may
/// have.
struct KindFault {
  bool damaged = false;
  std::string what;
};
KindFault fault_of_kind(const Tensor& tensor);

/// The longest end of a zip archive that can matter: its record, a comment, the 64-bit records before.
constexpr size_t kZipTail = 22 + 65535 + 20 + 56;
/// Is `tail` the end of a whole zip archive of `file_bytes`, as torch.save writes one? (APPNOTE 4.3.16: the central
/// directory must lie right before its end record, which a writer writes last.) The error says what is missing.
Result<void> check_zip_tail(std::string_view tail, uint64_t file_bytes);

/// File names in the `weight_map` of a model.safetensors.index.json (or pytorch_model.bin.index.json), each once, in
/// byte order. Errors: no JSON, none in it, or one that leads out of the folder.
Result<std::vector<std::string>> shards_of_index(std::string_view json);

/// Names of the .distcp files that a `.metadata` of torch.distributed.checkpoint speaks of, each once, in byte order.
/// It is a pickle, which is not run: only its strings are looked at.
std::vector<std::string> shards_of_metadata(std::string_view pickle);

}  // namespace mw
