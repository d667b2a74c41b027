#include "act/vault/ship_logs.h"

#include <algorithm>
#include <optional>
#include <set>

#include "act/vault/manifest.h"
#include "base/digest.h"
#include "base/numbers.h"
#include "base/text.h"

namespace mw::vault {
namespace {

constexpr int kDepth = 4;  // folders within folders
constexpr size_t kDigits = 6;
constexpr size_t kFiles = 10'000;

std::string runs_of(const std::string& prefix) { return Keys{prefix}.under("runs/"); }

std::string padded(size_t piece) {
  std::string digits = std::to_string(piece);
  digits.insert(0, kDigits - std::min(kDigits, digits.size()), '0');
  return digits;
}

void find_files(Disk& disk, const std::string& folder, const std::string& below, int depth,
                std::vector<std::string>& out) {
  const auto names = disk.list(cat(folder, "/", below));
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    if (name.ends_with(".reserve")) continue;  // room that the keeper of the output holds for a full disk
    const std::string path = cat(below, "/", name);
    const auto info = disk.info(cat(folder, "/", path));
    if (!info.ok() || !is_plain_path(path) || out.size() >= kFiles) continue;
    if (info->kind == FileInfo::Kind::kFolder && depth < kDepth) find_files(disk, folder, path, depth + 1, out);
    if (info->kind == FileInfo::Kind::kFile) out.push_back(path);
  }
}

/// "NAME/PATH/000012" below runs/.
struct PieceKey {
  std::string name, path;
  size_t piece = 0;
};
std::optional<PieceKey> piece_of(std::string_view key) {
  const size_t first = key.find('/'), last = key.rfind('/');
  if (first == std::string_view::npos || first == last || !is_plain_path(key)) return std::nullopt;
  const auto piece = parse_int(key.substr(last + 1));
  if (!piece || *piece < 0 || padded(static_cast<size_t>(*piece)) != key.substr(last + 1)) return std::nullopt;
  return PieceKey{std::string(key.substr(0, first)), std::string(key.substr(first + 1, last - first - 1)),
                  static_cast<size_t>(*piece)};
}

}  // namespace

std::string LogShipper::key(const std::string& path, size_t piece) const {
  return cat(runs_of(prefix_), name_, "/", path, "/", padded(piece));
}

/// What an earlier process sent.
Result<void> LogShipper::learn(const VaultDoors& doors) {
  if (learnt_) return {};
  const auto listed = list_all(doors.store, cat(runs_of(prefix_), name_, "/"));
  if (!listed.ok()) return listed.error();
  for (const ObjectInfo& one : *listed) {
    etags_[one.key] = one.etag;
    const auto piece = piece_of(std::string_view(one.key).substr(runs_of(prefix_).size()));
    if (!piece) continue;
    Known& known = known_[piece->path];
    known.pieces = std::max(known.pieces, piece->piece + 1);
  }
  learnt_ = true;
  return {};
}

Result<int64_t> LogShipper::ship_file(const VaultDoors& doors, const std::string& path) {
  const auto file = doors.disk.open_read(cat(folder_, "/", path));
  const auto info = file.ok() ? (*file)->info() : Result<FileInfo>(file.error());
  if (!info.ok()) return info.error().code == Error::Code::kNotFound ? Result<int64_t>(int64_t{0}) : info.error();
  Known& known = known_[path];
  const bool same = known.device == info->device && known.inode == info->inode && info->size >= known.size;
  if (!same) known = {info->device, info->inode, 0, known.pieces};  // begun anew, or never seen
  if (known.size == info->size && info->size > 0) return int64_t{0};
  int64_t sent = 0;
  size_t piece = static_cast<size_t>(known.size / kLogPiece);
  std::string bytes;
  for (;; ++piece) {
    const auto offset = static_cast<uint64_t>(piece) * static_cast<uint64_t>(kLogPiece);
    MW_TRY((*file)->read_at(offset, static_cast<size_t>(kLogPiece), bytes));
    if (bytes.empty()) break;
    const auto there = etags_.find(key(path, piece));
    if (there == etags_.end() || there->second != to_hex(md5(bytes))) {
      const auto put = doors.store.put(key(path, piece), bytes, {});
      if (!put.ok()) return put.error();
      sent += static_cast<int64_t>(bytes.size());
    }
    if (there != etags_.end()) etags_.erase(there);
    known.size = static_cast<int64_t>(offset + bytes.size());
    known.pieces = std::max(known.pieces, piece + 1);
    if (static_cast<int64_t>(bytes.size()) < kLogPiece) {
      ++piece;
      break;
    }
  }
  for (; known.pieces > piece; --known.pieces) MW_TRY(doors.store.remove(key(path, known.pieces - 1)));
  return sent;
}

Result<int64_t> LogShipper::ship(const VaultDoors& doors) {
  MW_TRY(learn(doors));
  std::vector<std::string> files;
  for (const std::string& below : below_) find_files(doors.disk, folder_, below, 0, files);
  int64_t sent = 0;
  for (const std::string& path : files) {
    const auto one = ship_file(doors, path);
    if (!one.ok()) return one.error();
    sent += *one;
  }
  return sent;
}

Result<std::vector<ReceivedLogs>> receive_logs(const VaultDoors& doors, const std::string& prefix,
                                               const std::string& folder, std::string_view only) {
  const auto listed = list_all(doors.store, runs_of(prefix));
  if (!listed.ok()) return listed.error();
  std::map<std::string, ReceivedLogs> runs;
  std::set<std::string> paths;
  for (const ObjectInfo& one : *listed) {  // in order of their keys: a file's pieces follow each other
    const auto piece = piece_of(std::string_view(one.key).substr(runs_of(prefix).size()));
    if (!piece || !piece->path.starts_with(only)) continue;
    const auto [run, fresh] = runs.try_emplace(piece->name, ReceivedLogs{piece->name, 0, 0});
    const std::string path = cat(folder, "/", piece->name, "/", piece->path);
    if (fresh && doors.disk.info(cat(folder, "/", piece->name)).ok()) {
      return Error{Error::Code::kInvalid, cat(folder, "/", piece->name, " is there already"),
                   "Nothing is written over: name another folder."};
    }
    if (paths.insert(path).second) ++run->second.files;
    const auto bytes = get_small(doors.store, one.key, static_cast<size_t>(kLogPiece));
    if (!bytes.ok()) return bytes.error();
    MW_TRY(doors.disk.make_folders(folder_of(path)));
    auto file = doors.disk.open_append(path);
    if (!file.ok()) return file.error();
    MW_TRY((*file)->append(*bytes));
    run->second.bytes += static_cast<int64_t>(bytes->size());
  }
  if (runs.empty()) {
    return Error{Error::Code::kNotFound, cat("no run shipped its logs to ", doors.store.name(), "/", prefix),
                 "midwatch run --store does."};
  }
  std::vector<ReceivedLogs> out;
  for (auto& [name, run] : runs) out.push_back(std::move(run));
  return out;
}

}  // namespace mw::vault
