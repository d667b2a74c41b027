// Pages of a file that never reached the disk: they read as zeros. A machine that fails after a save leaves them in a
// file of its full size, and formats without checksums do not show them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/disk.h"
#include "sense/checkpoints/file_directory.h"

namespace mw {

/// Bytes of a page of memory, and of the smallest block that the usual file systems allocate.
constexpr uint64_t kPageBytes = 4096;

/// Where a stretch of a tensor holds whole pages of zeros.
struct ZeroPages {
  struct Run {
    uint64_t begin = 0, end = 0;  ///< in the file, whole pages
    bool before = false;          ///< the number before it is there, and is not 0
    bool after = false;           ///< likewise the number after it
    uint64_t from = 0, to = 0;    ///< with the zeros that touch it in the pages around it, as far as they were seen
  };
  uint64_t at = 0, end = 0;  ///< the stretch, in the file; nothing was seen where they are equal
  bool first_zero = true;    ///< its first number is 0
  bool last_zero = true;     ///< its last number is 0
  bool tail_zero = true;  ///< nothing but zeros lies behind its last page boundary, or in all of it where there is none
  bool many = false;      ///< more than kRuns: it is full of zeros by design
  uint64_t pages = 0;     ///< whole pages of zeros, of however many runs
  uint64_t lead = 0, trail = 0;  ///< bytes of zeros, in whole numbers, at its two ends; of a page at the most
  std::vector<Run> runs = {};    ///< in order
  static constexpr size_t kRuns = 256;

  /// Takes what lies directly behind it; a page that is cut there is in neither.
  void join(const ZeroPages& next);
};

/// Of bytes from `at` of the file on: whole numbers of `number` bytes each.
ZeroPages zero_pages(uint64_t at, std::string_view bytes, size_t number);

/// Finds bytes that were lost, tensor by tensor of one file: whole pages of zeros which begin or end within a row,
/// between numbers that are not 0 and touch them. Zeros up to a tensor's end count where the file ends there, or where
/// the next tensor lies behind it without a gap and begins with zeros. Rows of zeros, as padding and pruning make them,
/// are none, nor is a tensor that is zero, or full of zeros. Zeros that begin and end at other places than pages, as a
/// copy in several pieces leaves them, take two rows at least, and `check` is to show that no columns of zeros lie
/// there.
class LostPages {
 public:
  struct Tensor {
    std::string name;
    uint64_t at = 0, bytes = 0;
    uint64_t row = 0;  ///< bytes of its last dimension; 0: not known, so that nothing is found
    bool zero = false;
    ZeroPages pages;
  };
  struct Lost {
    std::string name;
    uint64_t at = 0, bytes = 0;  ///< in the file
    /// It was lost only if not all of these places, each with its length, are zero: the same columns of the row beside
    /// it. None: it is certain.
    std::vector<std::pair<uint64_t, uint64_t>> check = {};
  };
  /// In the file's order.
  void add(Tensor tensor);
  /// After the last one.
  std::vector<Lost> finish(uint64_t file_bytes);

 private:
  static bool ends_with_zeros(const Tensor& tensor);
  void judge(bool goes_on, bool ends_file);
  void judge_odd(const Tensor& tensor, const ZeroPages::Run& run, bool goes_on);

  bool after_zeros_ = false;    // zeros lie up to the beginning of it
  std::optional<Tensor> last_;  // whether zeros go on behind it decides the next one
  std::vector<Lost> lost_;
};

/// What of the tensors' bytes lies in holes of the file, and was lost by the same rules: only what touches a hole is
/// read. Ranges of bytes that have a checksum count, too. Nothing where the file's disk keeps no record of holes.
std::vector<LostPages::Lost> lost_in_holes(ReadFile& file, uint64_t bytes, const std::vector<ByteRange>& ranges);

/// Those of them that are certain, or for which the bytes to be checked are not zero.
std::vector<LostPages::Lost> checked(ReadFile& file, std::vector<LostPages::Lost> lost);

/// One sentence on what was lost of a file; it is not empty. A page that was lost is seldom lost alone.
std::string sentence_of(const std::vector<LostPages::Lost>& lost);

}  // namespace mw
