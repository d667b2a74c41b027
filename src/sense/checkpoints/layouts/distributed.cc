#include "sense/checkpoints/layouts/distributed.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/numbers.h"
#include "base/text.h"
#include "read/files/pickle.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/torch_object.h"
#include "sense/checkpoints/weights_file.h"
#include "sense/checkpoints/zip_file.h"

namespace mw {
namespace {

using Kind = PickleValue::Kind;

constexpr size_t kDimensions = 16;    // of a tensor
constexpr size_t kNameShown = 300;    // bytes of a tensor's name
constexpr int64_t kLarge = 64 << 10;  // bytes: an object of a trainer's that may hold weights

Error damaged(std::string what) { return {Error::Code::kInvalid, std::move(what), ""}; }

/// The text, or whole number, of a dataclass's field.
std::string_view text_in(const Pickle& pickle, uint32_t object, std::string_view field) {
  const uint32_t value = pickle.find(object, field);
  return pickle.is(value, Kind::kText) ? pickle.at(value).text : std::string_view();
}
int64_t number_in(const Pickle& pickle, uint32_t object, std::string_view field) {
  const uint32_t value = pickle.find(object, field);
  return pickle.is(value, Kind::kInteger) ? pickle.at(value).integer : -1;
}

/// An object of torch's class for tensors in a state dict; what else there is are bytes.
bool is_tensor(const Pickle& pickle, uint32_t object) {
  if (!pickle.is(object, Kind::kCall)) return false;
  const uint32_t type = pickle.at(object).callable;
  return pickle.is(type, Kind::kGlobal) && pickle.at(type).text == "TensorStorageMetadata";
}

/// It went through a transformation (compression) before it was written.
bool is_packed(const Pickle& pickle, uint32_t storage) {
  const uint32_t how = pickle.find(storage, "transform_descriptors");
  return how != kNoValue && !pickle.is(how, Kind::kNone) &&
         !(pickle.is(how, Kind::kList) && pickle.at(how).items.empty());
}

/// Dimensions, which an object keeps as torch.Size((2, 3)); nothing where that is not what is there.
std::optional<std::vector<int64_t>> shape_in(const Pickle& pickle, uint32_t object, std::string_view field) {
  uint32_t size = pickle.find(object, field);
  if (pickle.is(size, Kind::kCall)) {
    const uint32_t args = pickle.at(size).args;
    if (!pickle.is(args, Kind::kTuple) || pickle.at(args).items.size() != 1) return std::nullopt;
    size = pickle.at(args).items.front();
  }
  if (!pickle.is(size, Kind::kTuple) && !pickle.is(size, Kind::kList)) return std::nullopt;
  std::vector<int64_t> out;
  for (const uint32_t dimension : pickle.at(size).items) {
    if (!pickle.is(dimension, Kind::kInteger) || pickle.at(dimension).integer < 0 || out.size() >= kDimensions)
      return std::nullopt;
    out.push_back(pickle.at(dimension).integer);
  }
  return out;
}

/// The numbers in all pieces of a tensor; nothing where they are not listed as torch does it.
std::optional<uint64_t> numbers_in_pieces(const Pickle& pickle, uint32_t tensor) {
  const uint32_t pieces = pickle.find(tensor, "chunks");
  if (!pickle.is(pieces, Kind::kList)) return std::nullopt;
  uint64_t all = 0;
  for (const uint32_t piece : pickle.at(pieces).items) {
    const auto shape = pickle.is(piece, Kind::kCall) ? shape_in(pickle, piece, "sizes") : std::nullopt;
    if (!shape) return std::nullopt;
    all = std::min(uint64_t{1} << 60, all + numbers_in(*shape));
  }
  return all;
}

bool is_of_optimizer(std::string_view name) {
  const auto parts = split(name, '.');
  const auto is_optimizer = [](std::string_view part) { return part.starts_with("optim"); };
  return contains(name, "exp_avg") || contains(name, "momentum_buffer") ||
         std::any_of(parts.begin(), parts.end(), is_optimizer);
}

bool leads_out(std::string_view path) {
  if (path.empty() || path.size() > 250 || path.front() == '/' || path.find('\0') != std::string_view::npos)
    return true;
  for (const std::string_view piece : split(path, '/')) {
    if (piece == ".." || piece.empty()) return true;
  }
  return false;
}

}  // namespace

Result<DistributedIndex> parse_distributed_metadata(std::string_view text) {
  const auto pickle = read_pickle(text);
  if (!pickle.ok()) return pickle.error();
  if (pickle->bytes != text.size()) return damaged("something follows its pickle");
  const uint32_t tensors = pickle->find(pickle->root, "state_dict_metadata"),
                 storage = pickle->find(pickle->root, "storage_data");
  if (!pickle->is(tensors, Kind::kDict) || !pickle->is(storage, Kind::kDict))
    return damaged("it is no metadata of torch.distributed.checkpoint");
  DistributedIndex index;
  std::set<std::string_view> tensors_named;
  const std::vector<uint32_t>& named = pickle->at(tensors).items;
  for (size_t i = 0; i + 1 < named.size(); i += 2) {
    if (!pickle->is(named[i], Kind::kText)) continue;
    index.names.emplace(pickle->at(named[i]).text);
    if (!is_tensor(*pickle, named[i + 1])) continue;
    const std::string_view name = pickle->at(named[i]).text;
    tensors_named.insert(name);
    index.weights = index.weights || !is_of_optimizer(name);
    auto shape = index.shapes.size() < kTensors ? shape_in(*pickle, named[i + 1], "size") : std::nullopt;
    if (!shape) continue;
    const std::string shown = clip(sanitize_utf8(name), kNameShown);
    const auto listed = numbers_in_pieces(*pickle, named[i + 1]);
    if (const uint64_t all = numbers_in(*shape); listed && *listed < all) index.gaps.push_back({shown, *listed, all});
    index.shapes.emplace(shown, std::move(*shape));
  }
  const std::vector<uint32_t>& places = pickle->at(storage).items;
  if (places.size() / 2 > kDistributedItems) return Error{Error::Code::kLimit, "it lists more than is read", ""};
  for (size_t i = 0; i + 1 < places.size(); i += 2) {
    const std::string_view name = text_in(*pickle, places[i], "fqn"),
                           path = text_in(*pickle, places[i + 1], "relative_path");
    const int64_t offset = number_in(*pickle, places[i + 1], "offset"),
                  length = number_in(*pickle, places[i + 1], "length");
    if (leads_out(path)) return damaged("it names a file outside of its folder");
    if (offset < 0 || length < 0 || offset > (int64_t{1} << 60) || length > (int64_t{1} << 60))
      return damaged("it has places that make no sense");
    index.stored.emplace(name);
    index.weights = index.weights || (length >= kLarge && !is_of_optimizer(name));
    const bool packed = is_packed(*pickle, places[i + 1]), archive = tensors_named.count(name) != 0 && !packed;
    index.files[std::string(path)].push_back({clip(sanitize_utf8(name), kNameShown), static_cast<uint64_t>(offset),
                                              static_cast<uint64_t>(length), archive, packed});
  }
  for (auto& [path, items] : index.files)
    std::sort(items.begin(), items.end(),
              [](const DistributedItem& a, const DistributedItem& b) { return a.at < b.at; });
  return index;
}

namespace {

constexpr size_t kItemsTouched = 50'000;  // whose first and last bytes are looked at
constexpr size_t kEndRecordBytes = 22;    // of a zip archive without a comment

bool speaks_of_optimizer(std::string_view name) {
  return contains(name, "optim") || contains(name, "exp_avg") || contains(name, "momentum_buffer");
}

/// The pieces of a trainer's state that a name speaks of.
void note_pieces(Examination& exam, const std::set<std::string>& names) {
  for (const std::string& name : names) {
    if (speaks_of_optimizer(name)) exam.has(Piece::kOptimizer);
    if (contains(name, "sched")) exam.has(Piece::kScheduler);
    if (contains(name, "rng")) exam.has(Piece::kRng);
    if (contains(name, "dataloader")) exam.has(Piece::kDataloader);
    if (name == "progress" || name.starts_with("progress.") || name == "step") exam.has(Piece::kStep);
  }
}

/// What the first and the last bytes of an item show.
enum class Ends : uint8_t { kArchive, kNotBegun, kNotEnded, kZeros, kPickle, kStrange };

Ends ends_of(std::string_view head, std::string_view tail) {
  const bool begins = head == "PK\x03\x04", ends = tail == "PK\x05\x06";
  if (begins || ends) return !begins ? Ends::kNotBegun : !ends ? Ends::kNotEnded : Ends::kArchive;
  const auto zero = [](std::string_view bytes) { return bytes.find_first_not_of('\0') == std::string_view::npos; };
  if (zero(head) && zero(tail)) return Ends::kZeros;
  return head.starts_with('\x80') ? Ends::kPickle : Ends::kStrange;
}

/// The reader of torch.distributed.checkpoint gives every item to torch.load, so each must begin and end as torch.save
/// writes it: tensors as archives, other objects as archives or, by some planners, as pickles. What was transformed on
/// its way to the disk may begin as it likes, but is not zeros from the file's beginning to its end.
void touch_items(Examination& exam, const TreeFile& file, const std::vector<DistributedItem>& items, size_t& touched) {
  auto open = exam.disk().open_read(exam.tree().full(file.path));
  if (!open.ok()) return exam.problem(Trouble::kUnreadable, file.path, "it cannot be opened", false);
  std::string head, tail;
  size_t looked = 0, zeros = 0;
  for (const DistributedItem& item : items) {
    const bool edge = &item == &items.front() || &item == &items.back();  // of every file, however many there are
    if (item.bytes < kEndRecordBytes || (touched++ >= kItemsTouched && !edge)) continue;
    if (!(*open)->read_at(item.at, 4, head).ok() ||
        !(*open)->read_at(item.at + item.bytes - kEndRecordBytes, 4, tail).ok())
      return exam.problem(Trouble::kUnreadable, file.path, "it cannot be read", false);
    const Ends ends = ends_of(head, tail);
    const std::string place = cat("what .metadata puts at ", item.at, " (", item.name, ")");
    ++looked;
    zeros += ends == Ends::kZeros ? 1 : 0;
    if (ends == Ends::kArchive || item.packed) continue;
    if (ends == Ends::kNotBegun || ends == Ends::kNotEnded) {
      return exam.problem(
          Trouble::kDamaged, file.path,
          cat(place, " does not ", ends == Ends::kNotEnded ? "end" : "begin", " as torch.save writes it"));
    }
    if (ends == Ends::kZeros)
      return exam.problem(Trouble::kZeros, file.path, cat(place, " is zeros: its bytes never reached the disk"));
    if (item.archive || ends == Ends::kStrange)
      return exam.problem(Trouble::kDamaged, file.path, cat(place, " is not what torch.save writes"));
  }
  if (looked > 0 && zeros == looked)
    exam.problem(Trouble::kZeros, file.path, "it holds nothing but zeros: its bytes never reached the disk");
}

void check_file(Examination& exam, const TreeFile& file, std::vector<DistributedItem>& items, bool weights,
                size_t& touched) {
  uint64_t end = 0;
  for (const DistributedItem& item : items) {
    if (item.at < end)
      return exam.problem(Trouble::kDamaged, file.path, cat("what .metadata puts into it overlaps at ", item.at));
    end = item.at + item.bytes;
  }
  const auto bytes = static_cast<uint64_t>(file.bytes);
  if (bytes == 0 && end > 0) return exam.problem(Trouble::kEmpty, file.path, "it is empty");
  if (bytes < end)
    return exam.problem(Trouble::kTruncated, file.path, cat("it is cut: ", bytes, " of ", end, " bytes are there"));
  if (bytes > end)
    exam.problem(Trouble::kContradicts, file.path, cat("it is ", bytes - end, " bytes longer than .metadata says"),
                 false);
  touch_items(exam, file, items, touched);
  if (weights) exam.holds_weights(file.path);
  exam.add_items(file.path, std::move(items));
}

/// torch's planner refuses to save a tensor whose pieces are not all of it. Megatron's lists none of some.
void require_all_pieces(Examination& exam, const TreeFile& metadata, const std::vector<DistributedIndex::Gap>& gaps) {
  if (gaps.empty() || exam.tree().has(beside(metadata.path, "metadata.json")) ||
      exam.tree().has(beside(metadata.path, "common.pt"))) {
    return;
  }
  const DistributedIndex::Gap& first = gaps.front();
  exam.problem(Trouble::kContradicts, metadata.path,
               cat("of ", first.name, " it lists ", first.listed, " of ", first.all, " numbers",
                   gaps.size() > 1 ? cat(" (and less than all of ", gaps.size() - 1, " more)") : "",
                   ": whoever loads it keeps there what the model began with"));
}

/// What the .metadata of all ranks list together, where each rank writes one of its own.
struct Pieces {
  std::map<std::string, DistributedIndex::Gap> listed;  ///< of tensors of which no rank lists all
  std::set<std::string> whole;

  void add(const DistributedIndex& index) {
    std::set<std::string_view> gaps;
    for (const DistributedIndex::Gap& gap : index.gaps) {
      gaps.insert(gap.name);
      DistributedIndex::Gap& all = listed.emplace(gap.name, DistributedIndex::Gap{gap.name, 0, gap.all}).first->second;
      all.listed += gap.listed;
    }
    for (const auto& [name, shape] : index.shapes) {
      if (gaps.count(name) == 0) whole.insert(name);
    }
  }
};

/// `pieces`: of a rank's own; nullptr: it is of all ranks.
void check_index(Examination& exam, const TreeFile& metadata, DistributedIndex& index, Pieces* pieces) {
  if (pieces != nullptr) pieces->add(index);
  std::vector<std::string> names;
  for (const auto& [name, items] : index.files) names.push_back(name);
  require_named(exam, metadata, names, metadata.name());
  note_pieces(exam, index.names);
  exam.has_shapes(metadata.path, std::move(index.shapes));
  size_t without = 0;
  for (const std::string& name : index.names) without += index.stored.count(name) == 0 ? 1 : 0;
  if (without > 0)
    exam.problem(Trouble::kDamaged, metadata.path, cat("it lists ", without, " tensors without saying where they are"));
  if (pieces == nullptr) require_all_pieces(exam, metadata, index.gaps);
  size_t touched = 0;
  for (auto& [name, items] : index.files) {
    const TreeFile* const file = exam.tree().find(beside(metadata.path, name));
    if (file != nullptr) check_file(exam, *file, items, index.weights, touched);
  }
}

/// Where nothing says what lies where: the file must be archives of torch.save from its beginning to its end, which is
/// seen from the last one backwards.
void check_archives(Examination& exam, const TreeFile& file) {
  constexpr size_t kTail = 98;  // of an archive: its end records
  auto open = exam.disk().open_read(exam.tree().full(file.path));
  if (!open.ok()) return exam.problem(Trouble::kUnreadable, file.path, "it cannot be opened");
  std::vector<DistributedItem> items;
  std::string tail;
  for (auto end = static_cast<uint64_t>(file.bytes); end > 0;) {
    const size_t size = std::min<uint64_t>(end, kTail);
    if (!(*open)->read_at(end - size, size, tail).ok() || tail.size() < size)
      return exam.problem(Trouble::kUnreadable, file.path, "it cannot be read");
    const auto bytes = zip_bytes_ending(tail);
    if (!bytes.ok() || *bytes > end || items.size() >= kDistributedItems) {
      return exam.problem(Trouble::kTruncated, file.path,
                          cat("it is cut or damaged: no archive of torch.save ends at byte ", end));
    }
    end -= *bytes;
    items.push_back({cat("what lies at ", end), end, *bytes, true});
  }
  if (items.empty()) return exam.problem(Trouble::kEmpty, file.path, "it is empty");
  std::reverse(items.begin(), items.end());
  exam.holds_weights(file.path);
  exam.add_items(file.path, std::move(items));
}

void examine_metadata(Examination& exam, const TreeFile& metadata, const std::vector<const TreeFile*>& files,
                      Pieces* pieces = nullptr) {
  if (metadata.bytes == 0)
    return exam.problem(Trouble::kEmpty, metadata.path, "it is empty, and nothing can be loaded without it");
  const auto text = exam.text(metadata, size_t{64} << 20);
  if (!text) return;
  auto index = parse_distributed_metadata(*text);
  if (!index.ok() && index.error().code == Error::Code::kLimit) {  // its names are found all the same
    exam.note(cat(metadata.path, " is larger than what is read whole: only the names of files were taken from it"));
    require_named(exam, metadata, shards_of_metadata(*text), ".metadata");
    if (speaks_of_optimizer(*text)) exam.has(Piece::kOptimizer);
    for (const TreeFile* file : files) {
      if (file->name().ends_with(".distcp")) check_archives(exam, *file);
    }
    return;
  }
  if (!index.ok()) {
    return exam.problem(index.error().code == Error::Code::kTruncated ? Trouble::kTruncated : Trouble::kDamaged,
                        metadata.path, index.error().what);
  }
  for (const TreeFile* file : files) {
    // A rank with nothing to save leaves an empty file.
    if (file->name().ends_with(".distcp") && file->bytes > 0 && index->files.count(std::string(file->name())) == 0)
      exam.problem(Trouble::kContradicts, file->path,
                   ".metadata does not name it: of an earlier save, with other ranks?", false);
  }
  check_index(exam, metadata, *index, pieces);
}

/// The number in "__3.metadata" or "__3_0.distcp".
std::optional<int64_t> rank_of(std::string_view name, char behind) {
  if (!name.starts_with("__")) return std::nullopt;
  const size_t end = name.find_first_not_of("0123456789", 2);
  if (end == std::string_view::npos || name[end] != behind || end > 8) return std::nullopt;
  return parse_int(name.substr(2, end - 2));
}

/// Saved without collectives, each rank writes "__N.metadata" of what it wrote itself (FileSystemWriter of
/// torch.distributed.checkpoint, `use_collectives`).
void examine_ranks(Examination& exam, const std::string& folder, const std::map<int64_t, const TreeFile*>& ranks,
                   const std::vector<const TreeFile*>& files) {
  std::map<int64_t, std::vector<const TreeFile*>> written;
  int64_t last = ranks.rbegin()->first;
  for (const TreeFile* file : files) {
    const auto rank = file->name().ends_with(".distcp") ? rank_of(file->name(), '_') : std::nullopt;
    if (rank) written[*rank].push_back(file);
    if (rank) last = std::max(last, *rank);
  }
  Pieces pieces;
  for (int64_t rank = 0; rank <= last && rank < 100'000; ++rank) {
    const auto metadata = ranks.find(rank);
    if (metadata == ranks.end()) {
      exam.problem(Trouble::kMissing, in_folder(folder, cat("__", rank, ".metadata")),
                   "it is missing, and other ranks have theirs");
      if (exam.problems_in_all() > 100) return;
      continue;
    }
    examine_metadata(exam, *metadata->second, written[rank], &pieces);
  }
  for (const auto& [name, gap] : pieces.listed) {
    if (gap.listed >= gap.all || pieces.whole.count(name) != 0) continue;
    return exam.problem(Trouble::kMissing, in_folder(folder, cat("__", last + 1, ".metadata")),
                        cat("all ranks that are there list ", gap.listed, " of ", gap.all, " numbers of ", name,
                            ": the files of a rank are missing"));
  }
}

void examine(Examination& exam, const std::string& folder, const std::vector<const TreeFile*>& files) {
  const TreeFile* metadata = nullptr;
  const TreeFile* first = nullptr;
  std::map<int64_t, const TreeFile*> ranks;
  for (const TreeFile* file : files) {
    if (file->name() == ".metadata") metadata = file;
    const auto rank = file->name().ends_with(".metadata") ? rank_of(file->name(), '.') : std::nullopt;
    if (rank) ranks[*rank] = file;
    if (file->name().ends_with(".distcp") && first == nullptr) first = file;
  }
  if (metadata == nullptr && first == nullptr && ranks.empty()) return;
  exam.found_layout("PyTorch DCP");
  if (exam.tree().single_file()) return;
  if (metadata != nullptr) return examine_metadata(exam, *metadata, files);
  if (!ranks.empty()) return examine_ranks(exam, folder, ranks, files);
  exam.problem(Trouble::kMissing, in_folder(folder, ".metadata"),
               "it is missing: it is written last, and nothing can be loaded without it");
}

}  // namespace

namespace layouts {
extern const CheckpointFormat distributed;
const CheckpointFormat distributed{"PyTorch DCP", examine};
}  // namespace layouts

}  // namespace mw
