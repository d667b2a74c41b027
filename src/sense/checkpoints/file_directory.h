// What one file of a checkpoint says of its own content: which tensors lie where, what its format proves, and what is
// wrong with it. Weights are not read and pickles are not run.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platform/disk.h"
#include "sense/checkpoints/content_kind.h"
#include "sense/checkpoints/dtype.h"
#include "sense/checkpoints/optimizer_counter.h"

namespace mw {

/// What can be wrong.
enum class Trouble : uint8_t {
  kMissing,       ///< a file that another one, or the layout, calls for
  kEmpty,         ///< a file of 0 bytes that must have some
  kTruncated,     ///< its end is missing
  kZeros,         ///< nothing but zeros: its bytes never reached the disk
  kDamaged,       ///< its bytes contradict each other, or a checksum
  kMixed,         ///< parts of different steps
  kMetadataOnly,  ///< the small files are there, and no weights
  kContradicts,   ///< what two files say of each other differs
  kNotFinite,     ///< NaN or infinities in weights
  kChanged,       ///< it is not what an earlier verification recorded
  kUnreadable,    ///< the disk did not give it
  kOtherTime,     ///< it was not written with the other files here: a hint that it is of another checkpoint
  kSameBytes,     ///< it has the bytes of another checkpoint's file, and should not: likewise
  kOtherCount,    ///< its optimizer counts other steps than those of the other files: likewise
  kUnlike         ///< shapes or norms that those of its own model cannot be: likewise
};
std::string_view word_of(Trouble trouble);

struct TensorPlace {
  std::string name;
  Dtype dtype = Dtype::kOther;
  std::vector<int64_t> shape;
  uint64_t at = 0, bytes = 0;  ///< in the file; bytes 0 where it is not known
  bool dense = true;           ///< its numbers lie one after the other; else `bytes` is of the whole storage
};

/// A run of bytes of one kind.
struct ByteRange {
  uint64_t at = 0, bytes = 0;
  Dtype dtype = Dtype::kOther;
  uint32_t crc = 0;
  bool has_crc = false;  ///< `crc` is the CRC-32 that its bytes must have
  std::string name;      ///< of the tensor or member
  uint64_t row = 0;      ///< bytes of the tensor's last dimension; 0: not known
  bool figure = false;   ///< of the trainer, not of a model (trainer_figures.h)
};

struct FileDirectory {
  enum class Format : uint8_t { kUnknown, kSafetensors, kTorchZip, kTorchLegacy, kPickle, kZip };
  Format format = Format::kUnknown;
  bool proven = false;   ///< its own format shows that its writer came to its end
  bool clipped = false;  ///< it holds more than is read: what is not said is not known
  /// A small pickle of numbers, texts and containers, or a safetensors file: no tensor in it, of whatever kind, has a
  /// number.
  bool bare = false;
  bool other_order = false;  ///< a machine of the other byte order wrote it: its numbers are not read
  std::vector<TensorPlace> tensors;
  std::vector<ByteRange> ranges;           ///< ordered by place, none overlaps
  std::map<std::string, int64_t> numbers;  ///< whole numbers of a pickle's first levels, by path (torch_object.h)
  std::set<std::string> keys;              ///< of its outermost dicts, without those whose value is None
  uint64_t param_numbers = 0;              ///< that DeepSpeed's "param_shapes" ask for, all together; 0: it has none
  std::string archive;  ///< of torch.save, the name that its writer gave it: "optim_world_size_2_rank_0", or "archive"
  FileContent content;  ///< by its names and tensors; set where an Examination read it
  std::vector<OptimizerCounter> counters;  ///< of an optimizer, the kOptimizerCounters that are kept
  struct Found {
    Trouble trouble;
    std::string what;  ///< one sentence, without the file's name
  };
  std::vector<Found> found;  ///< what is wrong with it
};
std::string_view name_of(FileDirectory::Format format);

/// Of a file of `bytes`, by what its beginning shows it to be. Never fails: what cannot be read is in `found`.
FileDirectory read_directory(ReadFile& file, std::string_view name, uint64_t bytes);
/// Of what torch.save wrote into `file` from `at` on (torch.distributed.checkpoint puts many into one file).
FileDirectory read_torch_zip(ReadFile& file, uint64_t at, uint64_t bytes);

}  // namespace mw
