#include "act/cleanup/read_in_full.h"

#include <algorithm>

#include "base/text.h"
#include "sense/checkpoints/manifest.h"

namespace mw {
namespace {

using How = event::CheckpointSeen::How;

bool is_untouched(Disk& disk, const CheckpointManifest& then) {
  return std::all_of(then.files.begin(), then.files.end(), [&](const ManifestFile& file) {
    const auto now = disk.info(cat(then.path, "/", file.path));
    return now.ok() && now->changed == file.changed && now->size == file.bytes;
  });
}

}  // namespace

void add_reads_by_hand(Disk& disk, const std::string& home, const ScansByStep& all, RetentionFacts& facts) {
  for (const auto& [step, scan] : all) {
    const bool known = facts.sane.count(step) != 0 || facts.unsound.count(step) != 0;
    if (known || scan.seen.how != How::kWhole) continue;
    const auto read = load_manifest(disk, home, scan.seen.path);
    if (!read.ok() || read->files.empty() || !is_untouched(disk, *read)) continue;
    if (read->verdict == "whole") facts.sane.insert(step);
    if (read->verdict == "suspect" || read->verdict == "corrupt")
      facts.unsound[step] = cat("reading all its bytes found it ", read->verdict);
  }
}

std::string what_was_read(const std::string& root, const std::vector<RetentionVerdict>& verdicts,
                          const ScansByStep& all, const RetentionFacts& facts) {
  std::string read, unread, unread_path;
  bool goes = false;
  for (const RetentionVerdict& one : verdicts) {
    goes = goes || one.goes;
    const auto scan = all.find(one.step);
    if (one.goes || scan == all.end() || scan->second.seen.how != How::kWhole || facts.unsound.count(one.step) != 0)
      continue;
    std::string& to = facts.sane.count(one.step) != 0 ? read : unread;
    to += cat(to.empty() ? "" : ", ", one.step);
    if (&to == &unread) unread_path = scan->second.seen.path;
  }
  if (!goes || (read.empty() && unread.empty())) return "";
  return cat("Of those that stay in ", root, ", ",
             read.empty() ? std::string("none was read in full") : cat("read in full and found sane: step ", read),
             unread.empty()
                 ? ""
                 : cat("; whole by their structure alone, with no look at their numbers: step ", unread,
                       ". To read one before others go for it: midwatch checkpoint verify --deep ", unread_path));
}

}  // namespace mw
