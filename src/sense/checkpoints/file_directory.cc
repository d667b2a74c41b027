#include "sense/checkpoints/file_directory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/checksum.h"
#include "base/text.h"
#include "read/files/pickle.h"
#include "sense/checkpoints/file_role.h"
#include "sense/checkpoints/other_format.h"
#include "sense/checkpoints/strange_calls.h"
#include "sense/checkpoints/torch_object.h"
#include "sense/checkpoints/weights_file.h"
#include "sense/checkpoints/zip_file.h"

namespace mw {
namespace {

constexpr size_t kHead = 4096;         // of a file's beginning, and at each place where it is sampled
constexpr uint64_t kZeroSamples = 64;  // places of a file that may be nothing but zeros
constexpr size_t kShortTail = 1024;    // in which the end of nearly every archive lies

constexpr std::string_view kLegacyMagic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";  // torch's number for such files

/// Reads of one file, or of a part of one, from `from` on.
class Source {
 public:
  Source(ReadFile& file, uint64_t from, uint64_t bytes) : file_(file), from_(from), bytes_(bytes) {}
  uint64_t bytes() const { return bytes_; }
  uint64_t place(uint64_t at) const { return from_ + at; }  ///< in the file
  std::string read(uint64_t at, uint64_t size) {
    std::string out;
    if (at > bytes_ || !file_.read_at(from_ + at, std::min(size, bytes_ - at), out).ok()) {
      failed_ = true;
      out.clear();
    }
    return out;
  }
  bool failed() const { return failed_; }

 private:
  ReadFile& file_;
  uint64_t from_, bytes_;
  bool failed_ = false;
};

bool is_zero(std::string_view bytes) {
  return !bytes.empty() && bytes.find_first_not_of('\0') == std::string_view::npos;
}

/// As far as it is sampled, its end too.
bool is_zero_throughout(Source& source) {
  const uint64_t last = source.bytes() > kHead ? source.bytes() - kHead : 0;
  for (uint64_t i = 0; i <= kZeroSamples; ++i) {
    if (!is_zero(source.read(last / kZeroSamples * i, kHead))) return false;
  }
  return is_zero(source.read(last, kHead));
}

class EntriesOf {
 public:
  explicit EntriesOf(Source source) : source_(source) {}

  FileDirectory of_file(std::string_view name) {
    if (source_.bytes() == 0) {
      if (role_of(name) == FileRole::kWeights || may_be_of_torch(name) || ending_of(name) == "pkl")
        wrong(Trouble::kEmpty, "it is empty");
      return std::move(out_);
    }
    const std::string head = source_.read(0, kHead);
    if (source_.failed()) {
      wrong(Trouble::kUnreadable, "it cannot be read");
      return std::move(out_);
    }
    const std::string_view ending = ending_of(name);
    const bool pickle = is_pickle_by_name(name);
    // No format of weights begins with zeros; what is called .bin may be numbers without any.
    const bool weights = is_of_torch(name) || (role_of(name) == FileRole::kWeights && ending != "bin");
    if (is_zero(head) && (pickle || (weights && head.size() >= 8)) && is_zero_throughout(source_)) {
      wrong(Trouble::kZeros, "it holds nothing but zeros: its bytes never reached the disk");
    } else if (ending == "safetensors") {
      safetensors(head);
    } else if (head.starts_with("PK\x03\x04")) {
      zip();
      if (pickle && out_.proven && !has_pickle_)
        wrong(Trouble::kDamaged, "it is an archive without torch.save's pickle");
    } else if (ending != "distcp" && head.starts_with('\x80')) {
      pickles(head);
    } else if (pickle && !is_old_pickle(head)) {
      no_pickle(head);
    } else if ((is_of_torch(name) || ending == "bin") && ending != "distcp") {
      strange(head);
    }
    return finish();
  }

  FileDirectory of_zip() {
    zip();
    return finish();
  }

 private:
  void wrong(Trouble trouble, std::string what) { out_.found.push_back({trouble, std::move(what)}); }

  FileDirectory finish() {
    if (source_.failed()) {  // whatever seemed wrong: what the disk did not give is not known to be missing
      out_.found.clear();
      wrong(Trouble::kUnreadable, "it cannot be read");
    }
    std::stable_sort(out_.ranges.begin(), out_.ranges.end(),
                     [](const ByteRange& a, const ByteRange& b) { return a.at < b.at; });
    if (!out_.found.empty()) out_.proven = false;
    return std::move(out_);
  }

  /// A name of torch's, and a beginning that torch.save never wrote. It may be somebody's own format.
  void strange(const std::string& head) {
    if (const std::string_view other = other_format_of(head, false); !other.empty())
      return wrong(Trouble::kDamaged, cat("it is ", other));
    const std::string tail = source_.read(source_.bytes() > kShortTail ? source_.bytes() - kShortTail : 0, kShortTail);
    if (contains(tail, "PK\x05\x06") && contains(tail, "data/"))
      wrong(Trouble::kDamaged, "it ends as torch.save ends a file and does not begin so");
    else if (contains(std::string_view(head).substr(0, 16), kLegacyMagic))
      wrong(Trouble::kDamaged, "it has torch.save's mark and does not begin as torch.save begins a file");
    else if (head.size() < 4 && std::string_view("PK\x03\x04").starts_with(head))
      wrong(Trouble::kTruncated, "it is cut within its first bytes");
  }

  /// Protocols 0 and 1 do not say at their beginning what they are.
  bool is_old_pickle(const std::string& head) {
    std::string bytes = head;
    const auto first = read_first(bytes);
    return first.ok() && first->bytes == source_.bytes();
  }

  /// A name by which torch.save or pickle writes, and bytes that neither wrote.
  void no_pickle(const std::string& head) {
    strange(head);
    if (!out_.found.empty()) return;
    wrong(Trouble::kDamaged,
          "it is neither an archive of torch.save nor a pickle: what loads it by its name cannot read it");
  }

  // ---- safetensors
  void safetensors(const std::string& head) {
    out_.format = FileDirectory::Format::kSafetensors;
    if (const std::string_view other = other_format_of(head, true); !other.empty())
      return wrong(Trouble::kDamaged, cat("it is ", other));
    const auto header_bytes = safetensors_header_bytes(head, source_.bytes());
    if (!header_bytes.ok()) {
      const bool cut = header_bytes.error().code == Error::Code::kTruncated;
      // Anything else may be encrypted or packed, unless a JSON header stands where it must.
      if (cut || contains(std::string_view(head).substr(8, 64), "{\""))
        wrong(cut ? Trouble::kTruncated : Trouble::kDamaged, header_bytes.error().what);
      return;
    }
    if (*header_bytes > kSafetensorsHeader) {
      out_.clipped = true;
      return;
    }
    const std::string header =
        *header_bytes + 8 <= head.size() ? head.substr(8, *header_bytes) : source_.read(8, *header_bytes);
    const uint64_t data = 8 + *header_bytes;
    auto tensors = parse_safetensors_header(header, source_.bytes() - data);
    if (!tensors.ok()) {
      const bool cut =
          tensors.error().code == Error::Code::kTruncated && contains(tensors.error().what, "bytes of tensors");
      return wrong(cut ? Trouble::kTruncated : Trouble::kDamaged, tensors.error().what);
    }
    out_.ranges.push_back({source_.place(0), data, Dtype::kOther, 0, false, "its header", 0});
    uint64_t held = 0;
    size_t unknown = 0;  // of kinds that nobody knows
    for (Tensor& tensor : *tensors) {
      const Dtype dtype = dtype_named(tensor.dtype);
      const uint64_t bytes = tensor.end - tensor.begin;
      held += bytes;
      if (const KindFault fault = fault_of_kind(tensor); !fault.what.empty() && (fault.damaged || ++unknown == 1))
        wrong(fault.damaged ? Trouble::kDamaged : Trouble::kUnlike, fault.what);
      out_.ranges.push_back(
          {source_.place(data + tensor.begin), bytes, dtype, 0, false, tensor.name, row_of(tensor.shape, dtype)});
      out_.tensors.push_back(
          {std::move(tensor.name), dtype, std::move(tensor.shape), source_.place(data + tensor.begin), bytes, true});
    }
    out_.proven = true;
    out_.bare = held == 0;
  }

  // ---- torch.save's zip
  void zip() {
    out_.format = FileDirectory::Format::kZip;
    auto members = zip_members();
    if (!members) return;
    const ZipMember* data = nullptr;
    for (const ZipMember& member : *members) {
      if (member.name.ends_with("/data.pkl") && (data == nullptr || member.name.size() < data->name.size()))
        data = &member;
      const bool storage = contains(member.name, "/data/"), order = member.name.ends_with("/byteorder");
      if (order && member.bytes < 8) out_.other_order = source_.read(member.at, member.bytes).starts_with("big");
      if (!storage && member.stored && member.bytes <= kPickleBytes &&
          crc32_ieee(source_.read(member.at, member.bytes)) != member.crc && !source_.failed()) {
        return wrong(Trouble::kDamaged, cat(shown(member.name), " in it does not have its checksum"));
      }
    }
    std::map<std::string, Dtype> dtypes;  // by member
    has_pickle_ = data != nullptr;
    if (data != nullptr && data->stored) torch(*data, *members, dtypes);
    for (const ZipMember& member : *members) {
      const auto dtype = dtypes.find(member.name);
      out_.ranges.push_back({source_.place(member.at), member.bytes,
                             dtype == dtypes.end() ? Dtype::kOther : dtype->second, member.crc, member.stored,
                             member.name, 0});
      // Somebody's own way to say what lies there.
      if (member.bytes > 0 && contains(member.name, "/data/")) out_.bare = false;
    }
    name_ranges();
    if (out_.other_order) out_.counters.clear();
    for (ByteRange& range : out_.ranges) range.dtype = out_.other_order ? Dtype::kOther : range.dtype;
    out_.proven = true;
  }

  /// In the last bytes of nearly all; an archive may have a comment behind it.
  Result<ZipDirectoryPlace> zip_place() {
    for (const size_t most : {kShortTail, kZipTail}) {
      const size_t bytes = std::min<uint64_t>(source_.bytes(), most);
      auto place = find_zip_directory(source_.read(source_.bytes() - bytes, bytes), source_.bytes());
      if (place.ok() || bytes < most || most == kZipTail) return place;
    }
    return Error{};
  }

  const std::vector<ZipMember>* zip_members() {
    const auto place = zip_place();
    if (!place.ok()) {
      wrong(place.error().code == Error::Code::kTruncated ? Trouble::kTruncated : Trouble::kDamaged,
            place.error().what);
      return nullptr;
    }
    if (place->bytes > kZipDirectoryBytes) {
      out_.clipped = true;
      return nullptr;
    }
    auto members = parse_zip_directory(source_.read(place->at, place->bytes), place->at);
    if (!members.ok()) {
      if (members.error().code == Error::Code::kLimit) {
        out_.clipped = true;
      } else {
        wrong(Trouble::kDamaged, members.error().what);
      }
      return nullptr;
    }
    members_ = std::move(*members);
    for (ZipMember& member : members_) {
      const std::string local = source_.read(member.header, kZipLocalBytes + member.name.size());
      const auto at = check_local_header(local, member, place->at);
      if (!at.ok() || std::string_view(local).substr(kZipLocalBytes) != member.name) {
        wrong(Trouble::kDamaged, at.ok() ? cat("member ", shown(member.name), " has another name than in the directory")
                                         : at.error().what);
        return nullptr;
      }
      member.at = *at;
    }
    return &members_;
  }

  void torch(const ZipMember& data, const std::vector<ZipMember>& members, std::map<std::string, Dtype>& dtypes) {
    out_.format = FileDirectory::Format::kTorchZip;
    if (data.bytes > kPickleBytes) {
      out_.clipped = true;
      return;
    }
    const std::string bytes = source_.read(data.at, data.bytes);
    const auto pickle = read_pickle(bytes);
    if (!pickle.ok()) {
      if (pickle.error().code == Error::Code::kLimit) {
        out_.clipped = true;
      } else {
        wrong(Trouble::kDamaged, pickle.error().what);
      }
      return;
    }
    if (!runs_nothing(*pickle)) return;
    out_.archive =
        clip(sanitize_utf8(data.name.substr(0, data.name.size() - std::string_view("/data.pkl").size())), 200);
    TorchObject object = torch_object(*pickle);
    const std::string stem = cat(data.name.substr(0, data.name.size() - 8), "data/");
    std::map<std::string_view, const ZipMember*> by_name;
    for (const ZipMember& member : members) by_name.emplace(member.name, &member);
    std::map<std::string, uint64_t> places;
    for (const auto& [key, storage] : object.storages) {
      const auto member = by_name.find(cat(stem, key));
      if (member == by_name.end()) {
        if (storage.numbers > 0)
          return wrong(Trouble::kDamaged, cat("storage ", shown(key), ", which its pickle names, is not in it"));
        continue;
      }
      if (storage.bytes() != 0 && member->second->stored && storage.bytes() != member->second->bytes) {
        return wrong(Trouble::kDamaged, cat("storage ", shown(key), " has ", member->second->bytes,
                                            " bytes and its pickle asks for ", storage.bytes()));
      }
      dtypes[member->second->name] = storage.dtype;
      places[key] = member->second->at;
    }
    keep(object, places);
  }

  /// Whatever else it is: who loads it runs that.
  bool runs_nothing(const Pickle& pickle) {
    const std::string call = strange_call(pickle);
    if (!call.empty())
      wrong(Trouble::kDamaged, cat("whoever loads it runs ", shown(call),
                                   ", which no checkpoint needs: do not load it. "
                                   "It was not run here"));
    return call.empty();
  }

  /// What is larger may hold weights as texts or lists of numbers.
  bool is_bare(const TorchObject& object) const {
    constexpr uint64_t kSmall = 64 << 10;
    const bool empty = std::all_of(object.storages.begin(), object.storages.end(),
                                   [](const auto& one) { return one.second.numbers == 0; });
    return source_.bytes() < kSmall && empty && !object.clipped && !object.opaque;
  }

  void keep(TorchObject& object, const std::map<std::string, uint64_t>& places) {
    out_.numbers = std::move(object.numbers);
    out_.keys = std::move(object.keys);
    out_.param_numbers = object.param_numbers;
    out_.clipped = out_.clipped || object.clipped;
    out_.bare = is_bare(object);
    for (const auto& [name, steps] : object.steps) out_.counters.push_back({name, steps, 0, Dtype::kOther});
    for (TorchTensor& tensor : object.tensors) {
      const auto place = places.find(tensor.storage);
      if (place == places.end()) continue;
      const TorchStorage& storage = object.storages[tensor.storage];
      const uint64_t size = size_of(storage.dtype), numbers = numbers_in(tensor.shape);
      TensorPlace kept{std::move(tensor.name),       storage.dtype,   std::move(tensor.shape),
                       source_.place(place->second), storage.bytes(), false};
      if (tensor.end > storage.numbers) {
        wrong(Trouble::kDamaged, cat("tensor ", shown(kept.name), " reaches beyond its storage"));
        return;
      }
      if (tensor.dense) {
        kept.dense = true;
        kept.at += tensor.first * size;
        kept.bytes = numbers * size;
        if (numbers == 1 && is_step_counter(kept.name))
          out_.counters.push_back({kept.name, std::nullopt, kept.at, kept.dtype});
      }
      out_.tensors.push_back(std::move(kept));
    }
    keep_lowest(out_.counters);
  }

  /// Storages get the name of the first tensor in them, and its rows where it takes all of one.
  void name_ranges() {
    std::map<uint64_t, ByteRange*> by_place;
    for (ByteRange& range : out_.ranges) by_place.emplace(range.at, &range);
    for (auto tensor = out_.tensors.rbegin(); tensor != out_.tensors.rend(); ++tensor) {
      auto range = by_place.upper_bound(tensor->at);
      if (range == by_place.begin()) continue;
      --range;
      if (tensor->at >= range->first + range->second->bytes || range->second->dtype != tensor->dtype) continue;
      range->second->name = tensor->name;
      const bool all_of_it = tensor->dense && tensor->bytes == range->second->bytes;
      range->second->row = all_of_it ? row_of(tensor->shape, tensor->dtype) : 0;
    }
  }

  // ---- pickles, and torch.save's files of before 1.6
  void pickles(const std::string& head) {
    out_.format = FileDirectory::Format::kPickle;
    std::string bytes = head;
    const auto first = read_first(bytes);
    if (!first.ok()) return pickle_error(first.error(), bytes.size() < source_.bytes());
    const PickleValue& root = first->at(first->root);
    if (root.kind == PickleValue::Kind::kBytes && root.text == kLegacyMagic) return legacy(first->bytes);
    if (first->bytes != source_.bytes()) return;  // something follows: not known what
    if (!runs_nothing(*first)) return;
    TorchObject object = torch_object(*first);
    out_.numbers = std::move(object.numbers);
    out_.keys = std::move(object.keys);
    out_.bare = is_bare(object);
    out_.ranges.push_back({source_.place(0), source_.bytes(), Dtype::kOther, 0, false, "its pickle", 0});
    out_.proven = true;
  }

  /// The pickle that the file begins with; `bytes` becomes as long as it takes.
  Result<Pickle> read_first(std::string& bytes) {
    for (uint64_t size = 1 << 20;; size *= 8) {
      auto pickle = read_pickle(bytes);
      const bool more = bytes.size() < source_.bytes() && bytes.size() < kPickleBytes;
      if (pickle.ok() || pickle.error().code != Error::Code::kTruncated || !more) return pickle;
      bytes = source_.read(0, std::min<uint64_t>(size, kPickleBytes));
    }
  }
  /// Likewise one that begins at `at`.
  Result<Pickle> read_next(uint64_t at, std::string& bytes) {
    bytes = source_.read(at, 1 << 16);
    auto pickle = read_pickle(bytes);
    if (pickle.ok() || bytes.size() >= source_.bytes() - at) return pickle;
    bytes = source_.read(at, kPickleBytes);
    return read_pickle(bytes);
  }

  void pickle_error(const Error& error, bool more) {
    if (error.code == Error::Code::kLimit || (error.code == Error::Code::kTruncated && more)) {
      out_.clipped = true;
    } else {
      wrong(error.code == Error::Code::kTruncated ? Trouble::kTruncated : Trouble::kDamaged, error.what);
    }
  }

  /// Magic, version, system, object, list of storages: a pickle each; then the storages, each behind its number of
  /// numbers (torch/serialization.py, _legacy_save).
  void legacy(uint64_t at) {
    out_.format = FileDirectory::Format::kTorchLegacy;
    TorchObject object;
    std::vector<std::string> order;
    for (int number = 1; number < 5; ++number) {
      std::string bytes;
      const auto pickle = read_next(at, bytes);
      if (!pickle.ok()) return pickle_error(pickle.error(), bytes.size() < source_.bytes() - at);
      if (!runs_nothing(*pickle)) return;
      if (number == 3) object = torch_object(*pickle);
      if (number == 4) {
        for (const uint32_t item : pickle->at(pickle->root).items) order.emplace_back(pickle->at(item).text);
      }
      at += pickle->bytes;
    }
    out_.ranges.push_back({source_.place(0), at, Dtype::kOther, 0, false, "its pickles", 0});
    legacy_storages(at, object, order);
  }

  void legacy_storages(uint64_t at, TorchObject& object, const std::vector<std::string>& order) {
    std::map<std::string, uint64_t> places;
    for (const std::string& key : order) {
      const auto storage = object.storages.find(key);
      if (storage == object.storages.end() || size_of(storage->second.dtype) == 0) {
        out_.clipped = true;  // a kind of number that is not known: where the next begins is not, either
        return keep(object, places);
      }
      const std::string counted = source_.read(at, 8);
      uint64_t numbers = 0;
      if (counted.size() == 8) std::memcpy(&numbers, counted.data(), 8);
      const uint64_t left = source_.bytes() - std::min(source_.bytes(), at + 8);
      if (counted.size() < 8) return wrong(Trouble::kTruncated, "it is cut: storages are missing");
      if (numbers != storage->second.numbers)
        return wrong(Trouble::kDamaged, cat("storage ", shown(key), " says another size than its pickle"));
      if (storage->second.bytes() > left)
        return wrong(Trouble::kTruncated, cat("it is cut within storage ", shown(key)));
      places[key] = at + 8;
      out_.ranges.push_back({source_.place(at + 8), storage->second.bytes(), storage->second.dtype, 0, false, key, 0});
      at += 8 + storage->second.bytes();
    }
    if (at != source_.bytes())
      return wrong(Trouble::kDamaged, cat("it is ", source_.bytes() - at, " bytes longer than its storages"));
    keep(object, places);
    name_ranges();
    out_.proven = true;
  }

  static std::string shown(std::string_view name) { return clip(sanitize_utf8(name), 200); }
  static uint64_t row_of(const std::vector<int64_t>& shape, Dtype dtype) {
    return shape.empty() ? 0 : static_cast<uint64_t>(shape.back()) * size_of(dtype);
  }

  Source source_;
  bool has_pickle_ = false;  // an archive has torch.save's
  std::vector<ZipMember> members_;
  FileDirectory out_;
};

}  // namespace

std::string_view word_of(Trouble trouble) {
  constexpr std::string_view kWords[] = {"missing",    "empty",         "truncated",     "zeros",       "damaged",
                                         "mixed-step", "metadata-only", "contradiction", "not-finite",  "changed",
                                         "unreadable", "other-time",    "same-bytes",    "other-count", "unlike"};
  return kWords[static_cast<size_t>(trouble)];
}

std::string_view name_of(FileDirectory::Format format) {
  constexpr std::string_view kNames[] = {"", "safetensors", "torch.save", "torch.save (legacy)", "pickle", "zip"};
  return kNames[static_cast<size_t>(format)];
}

FileDirectory read_directory(ReadFile& file, std::string_view name, uint64_t bytes) {
  return EntriesOf(Source(file, 0, bytes)).of_file(name);
}

FileDirectory read_torch_zip(ReadFile& file, uint64_t at, uint64_t bytes) {
  return EntriesOf(Source(file, at, bytes)).of_zip();
}

}  // namespace mw
