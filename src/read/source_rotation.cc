// What became of the content that a name belonged to, and the parts that were rotated away before they were seen.
#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "read/part_order.h"
#include "read/source_reader.h"

namespace mw {
namespace {

constexpr std::string_view kFirstCopy = ".1";  // as logrotate names the newest rotated part

}  // namespace

/// logrotate's copytruncate: what was cut away stands in the first rotated part.
bool SourceReader::was_copied_away(const Tail& tail) {
  auto copy = disk_.open_read(cat(tail.path(), kFirstCopy));
  std::string head;
  return !tail.former_head().empty() && copy.ok() && (*copy)->read_at(0, tail.former_head().size(), head).ok() &&
         head == tail.former_head();
}

/// The content that the name belonged to is still in the folder, under another name: a log that goes on in a new file.
/// Else it was removed, and what bears its name now is another log.
bool SourceReader::is_kept(const Tail& tail) {
  constexpr size_t kEntries = 5000;  // entries of the folder
  const size_t slash = tail.path().rfind('/');
  const std::string folder = slash == std::string::npos ? "." : tail.path().substr(0, slash + 1);
  const auto names =
      disk_.list(folder.size() > 1 && folder.back() == '/' ? folder.substr(0, folder.size() - 1) : folder);
  if (!names.ok()) return true;  // cannot be said; most often it is so
  for (size_t i = 0; i < std::min(names->size(), kEntries); ++i) {
    const auto info = disk_.info(slash == std::string::npos ? (*names)[i] : folder + (*names)[i]);
    const FileInfo& former = tail.former_identity();
    if (info.ok() && info->device == former.device && info->inode == former.inode) return true;
  }
  return names->size() > kEntries;
}

/// What was written between the last poll and the truncation stands in the copy only.
void SourceReader::read_copy(const Tail& tail) {
  auto copy = disk_.open_read(cat(tail.path(), kFirstCopy));
  std::string piece;
  for (uint64_t at = tail.former_offset(); copy.ok() && (*copy)->read_at(at, kPiece, piece).ok() && !piece.empty();
       at += piece.size()) {
    read_ += piece.size();
    take(piece);
  }
}

void SourceReader::note_read(const FileInfo& part) {
  if (part.inode != 0) read_parts_[{part.device, part.inode}] = part.changed;
}

/// It was rotated more than once since the last poll: what came between stands in parts that were changed since the one
/// that was followed, whichever way their numbers count, and that were not read under another name.
void SourceReader::find_missed_parts(const Tail& tail) {
  const FileInfo& former = tail.former_identity();
  note_read(former);
  std::vector<RotatedPart> missed;
  int64_t followed = 0;  // the number of the one that was
  for (RotatedPart& part : rotated_beside(disk_, file_.path)) {
    if (part.device == former.device && part.inode == former.inode) {
      followed = part.number;
      continue;
    }
    const auto read = read_parts_.find({part.device, part.inode});
    const bool known = read != read_parts_.end() && read->second == part.changed;
    if (!known && part.changed >= former.changed) missed.push_back(std::move(part));
  }
  if (followed == 0) return;
  std::sort(missed.begin(), missed.end(), [followed](const RotatedPart& a, const RotatedPart& b) {
    if (a.changed != b.changed) return a.changed > b.changed;
    return a.number > followed ? a.number > b.number : a.number < b.number;  // the newest first
  });
  for (const RotatedPart& part : missed) {
    parts_.emplace_front(disk_, part.path);
    (void)parts_.front().read(0, piece_).ok();  // opens it, as its name may soon be another's
  }
}

}  // namespace mw
