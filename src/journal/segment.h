// The segments of a journal: their names, their lines, and reading them. Format: docs/formats/journal.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "journal/journal.h"
#include "platform/disk.h"

namespace mw::segment {

constexpr int64_t kVersion = 1;           ///< of the format
constexpr size_t kBlockBytes = 1U << 20;  ///< bytes read at a time

/// One segment, by what lies in the folder.
struct Files {
  uint64_t number = 0;
  bool plain = false;   ///< 00000003.journal
  bool sealed = false;  ///< 00000003.journal.zst
};
std::string plain_name(uint64_t number);
std::string sealed_name(uint64_t number);
std::string unfinished_name(uint64_t number);  ///< of a sealed segment being written

/// The segments in `folder`, ascending; `unfinished` (may be nullptr) gets the names of half-written sealed ones.
Result<std::vector<Files>> list(Disk& disk, const std::string& folder, std::vector<std::string>* unfinished);

/// Appends a line: checksum, number, text, line end.
void put_line(std::string& out, uint64_t number, std::string_view json);
/// The first line of a segment; its number field is 0. `first` is the number of its first record.
void put_header(std::string& out, uint64_t segment, uint64_t first);

/// Takes a line (without its end) apart; false when it is not whole.
bool take_line(std::string_view line, uint64_t& number, std::string_view& json);

/// What reading a journal came to.
struct Outcome {
  uint64_t last_number = 0;   ///< of the records handed over
  uint64_t last_segment = 0;  ///< 0: there is none
  bool last_is_plain = false;
  uint64_t last_whole = 0;  ///< bytes of the last segment up to the end of its last line
  uint64_t last_size = 0;   ///< bytes of the last segment
  bool last_has_header = false;
};

/// Hands every whole record of `segments` to `reader` (may be nullptr), in order, each number once.
Result<Outcome> read(Disk& disk, const std::string& folder, const std::vector<Files>& segments,
                     Journal::Reader* reader);

}  // namespace mw::segment
