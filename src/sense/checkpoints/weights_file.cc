#include "sense/checkpoints/weights_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "base/bytes.h"
#include "base/json.h"
#include "base/text.h"
#include "sense/checkpoints/dtype.h"
#include "sense/checkpoints/torch_object.h"
#include "sense/checkpoints/zip_file.h"

namespace mw {
namespace {

constexpr size_t kNameBytes = 250;  // of a shard's name

Error broken(std::string what) { return {Error::Code::kInvalid, std::move(what), ""}; }
Error cut(std::string what) { return {Error::Code::kTruncated, std::move(what), ""}; }

/// Gathers the tensors of a header while it is read. An entry is what its library asks for: "dtype", "shape" and two
/// "data_offsets"; what else is in it is passed over, as there. Beside the entries only "__metadata__" may stand, whose
/// values are texts.
class TensorLeaves final : public JsonLeaves {
 public:
  std::vector<Tensor> tensors;
  std::string wrong;  ///< the first that the library would refuse

  void string(std::string_view path, std::string_view value) override {
    if (path.starts_with(kMetadata)) return;
    const Field at = field_of(path);
    if (is_number(at)) return say_of_entry("has a text where a number belongs");
    enter(at.entry);
    if (at.name != "dtype" || tensors.empty()) return;
    if (!tensors.back().dtype.empty()) say_of_entry("has two dtypes");
    tensors.back().dtype = value;
  }
  void boolean(std::string_view path, bool) override { number(path, -1); }
  bool enter_array(std::string_view path) override {
    if (path.starts_with(kMetadata)) say("its __metadata__ holds something else than texts");
    const Field at = field_of(path);
    enter(at.entry);
    if (at.name == "shape") shape_ = true;
    return at.name == "shape" || at.name == "data_offsets";
  }
  void number(std::string_view path, double value) override {
    if (path.starts_with(kMetadata)) return say("its __metadata__ holds something else than texts");
    const Field at = field_of(path);
    if (!is_number(at) || tensors.empty()) return enter(at.entry);
    constexpr double kMost = 9e15;  // beyond it a double is no longer exact
    if (!(value >= 0) || value > kMost || value != std::floor(value))
      return say_of_entry("has a shape or offsets that are no whole numbers");
    Tensor& tensor = tensors.back();
    if (at.entry.ends_with("shape")) {
      constexpr size_t kDimensions = 64;  // of torch
      if (tensor.shape.size() >= kDimensions) return say_of_entry("has too many dimensions");
      return tensor.shape.push_back(static_cast<int64_t>(value));
    }
    if (++offsets_ > 2) return say_of_entry("has more than two data_offsets");
    (offsets_ == 1 ? tensor.begin : tensor.end) = static_cast<uint64_t>(value);
  }

  /// After the last leaf.
  void finish() {
    if (tensors.empty()) return;
    const std::string_view missing = tensors.back().dtype.empty() ? "dtype"
                                     : !shape_                    ? "shape"
                                     : offsets_ < 2               ? "data_offsets"
                                                                  : "";
    if (!missing.empty()) say_of_entry(cat("has no ", missing));
  }

 private:
  static constexpr std::string_view kMetadata = "__metadata__/";
  /// "a/b" and "dtype" of "a/b/dtype"; of a tensor whose name is empty nothing stands before its fields.
  struct Field {
    std::string_view entry, name;
  };
  static Field field_of(std::string_view path) {
    const size_t slash = path.rfind('/');
    if (slash == std::string_view::npos) return {"", path};
    return {path.substr(0, slash), path.substr(slash + 1)};
  }
  /// An element of one of the two arrays: only those are entered.
  bool is_number(const Field& at) const {
    const std::string_view name = tensors.empty() ? std::string_view() : tensors.back().name;
    const std::string_view rest = name.empty() ? at.entry : at.entry.substr(std::min(name.size() + 1, at.entry.size()));
    const bool own = name.empty() || (at.entry.starts_with(name) && at.entry.size() > name.size());
    const bool index = at.name.find_first_not_of("0123456789") == std::string_view::npos;
    return own && index && (rest == "shape" || rest == "data_offsets");
  }
  void enter(std::string_view entry) {
    if (!tensors.empty() && tensors.back().name == entry) return;
    finish();
    if (tensors.size() >= kTensors) say("its header lists too many tensors");
    if (!wrong.empty()) return;
    tensors.push_back({std::string(entry), "", 0, 0, {}});
    shape_ = false;
    offsets_ = 0;
  }
  void say(std::string_view what) {
    if (wrong.empty()) wrong = what;
  }
  void say_of_entry(std::string_view what) {
    const std::string name = tensors.empty() ? "" : clip(sanitize_utf8(tensors.back().name), 200);
    say(cat("its header is damaged: ", name.empty() ? "a tensor without a name" : name, " ", what));
  }

  bool shape_ = false;  // of the last entry: it was met
  int offsets_ = 0;
};

/// Has JSON a null in it? No leaf is made of one.
bool has_null(std::string_view json) {
  bool text = false;
  for (size_t at = 0; at < json.size(); ++at) {
    if (text && json[at] == '\\') {
      ++at;
    } else if (json[at] == '"') {
      text = !text;
    } else if (!text && json[at] == 'n') {
      return true;
    }
  }
  return false;
}

/// Who loads it joins the name to the index's folder: what lies in a folder below is within the checkpoint, too.
bool leads_out(std::string_view name) {
  if (name.empty() || name.size() > kNameBytes || name.find('\0') != std::string_view::npos) return true;
  const auto pieces = split(name, '/');
  return std::any_of(pieces.begin(), pieces.end(),
                     [](std::string_view piece) { return piece.empty() || piece == "." || piece == ".."; });
}

class ShardLeaves final : public JsonLeaves {
 public:
  std::set<std::string> names;
  bool strange = false;

  void number(std::string_view, double) override {}
  void string(std::string_view path, std::string_view value) override {
    if (!path.starts_with("weight_map/")) return;
    if (leads_out(value)) {
      strange = true;
    } else if (names.size() < kTensors) {
      names.emplace(value);
    }
  }
};

}  // namespace

Result<uint64_t> safetensors_header_bytes(std::string_view first_eight, uint64_t file_bytes) {
  constexpr uint64_t kFormatLimit = 100'000'000;
  if (first_eight.size() < 8) return cut("it ends before its header");
  const auto bytes = number_at<uint64_t>(first_eight, 0);
  if (bytes == 0 || bytes > kFormatLimit) return broken("it has no such header");
  if (bytes > file_bytes || file_bytes - bytes < 8) return cut("its header is cut");
  return bytes;
}

Result<std::vector<Tensor>> parse_safetensors_header(std::string_view header, uint64_t data_bytes) {
  TensorLeaves leaves;
  if (!trim(header).starts_with("{")) return broken("its header is no JSON");
  if (!for_each_leaf(trim(header), leaves)) return cut("its header is damaged");
  leaves.finish();
  if (!leaves.wrong.empty()) return broken(std::move(leaves.wrong));
  if (has_null(header)) return broken("its header is damaged: it has a null where a text or a number belongs");
  if (sanitize_utf8(header) != header) return broken("its header is damaged: it is not UTF-8");
  std::vector<Tensor>& tensors = leaves.tensors;
  std::set<std::string_view> names;
  for (const Tensor& tensor : tensors) {  // its library takes the last one, and finds a hole
    if (!names.insert(tensor.name).second)
      return broken(cat("its header is damaged: it has ", clip(sanitize_utf8(tensor.name), 200), " twice"));
  }
  std::stable_sort(tensors.begin(), tensors.end(), [](const Tensor& a, const Tensor& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  uint64_t end = 0;
  for (const Tensor& tensor : tensors) {
    if (tensor.begin != end || tensor.end < tensor.begin) return broken("its tensors overlap or leave holes");
    end = tensor.end;
  }
  if (end > data_bytes) return cut(cat("it is cut: ", data_bytes, " of ", end, " bytes of tensors are there"));
  if (end < data_bytes) return broken(cat("it is ", data_bytes - end, " bytes longer than its header says"));
  return std::move(tensors);
}

KindFault fault_of_kind(const Tensor& tensor) {
  constexpr std::array<unsigned, 14> kWidths = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 64, 128};
  const uint64_t bytes = tensor.end - tensor.begin, numbers = numbers_in(tensor.shape);
  const auto bytes_for = [numbers](unsigned bits) {  // nothing where that is more than any file holds
    return numbers > (UINT64_MAX - 7) / bits ? std::nullopt : std::optional((numbers * bits + 7) / 8);
  };
  const std::string name = clip(sanitize_utf8(tensor.name), 200);
  if (const unsigned bits = safetensors_bits(tensor.dtype); bits != 0) {
    const auto wanted = bytes_for(bits);
    if (wanted == bytes) return {};
    return {true, cat(name, " has ", bytes, " bytes and its shape asks for ", wanted.value_or(UINT64_MAX))};
  }
  bool fits = false, known = false;
  for (const unsigned width : kWidths) {
    if (bytes_for(width) != bytes) continue;
    fits = true;
    known = known || may_be_newer_dtype(tensor.dtype, width);
  }
  if (fits && known) return {};
  const std::string what = cat(name, " is of a kind \"", clip(sanitize_utf8(tensor.dtype), 40), "\"");
  if (fits) return {false, cat(what, ", which is no name of a kind of number: its header seems to be damaged")};
  return {true, cat(what, " that no library knows, and no kind of number fits its ", bytes, " bytes and its shape")};
}

Result<void> check_zip_tail(std::string_view tail, uint64_t file_bytes) {
  const auto place = find_zip_directory(tail, file_bytes);
  return place.ok() ? Result<void>() : Result<void>(Error{Error::Code::kInvalid, place.error().what, ""});
}

Result<std::vector<std::string>> shards_of_index(std::string_view json) {
  ShardLeaves leaves;
  if (!for_each_leaf(trim(json), leaves)) return broken("it is no JSON");
  if (leaves.strange) return broken("it names files outside of its folder");
  if (leaves.names.empty()) return broken("it names no files");
  return std::vector<std::string>(leaves.names.begin(), leaves.names.end());
}

std::vector<std::string> shards_of_metadata(std::string_view pickle) {
  constexpr std::string_view kEnding = ".distcp";
  constexpr char kShort = '\x8c', kLong = 'X';  // SHORT_BINUNICODE, BINUNICODE: the string's size before it
  std::set<std::string> names;
  for (size_t at = pickle.find(kEnding); at != std::string_view::npos; at = pickle.find(kEnding, at + 1)) {
    const size_t end = at + kEnding.size();
    for (size_t bytes = kEnding.size() + 1; bytes <= kNameBytes && bytes + 2 <= end; ++bytes) {
      const size_t begin = end - bytes;
      const bool brief = static_cast<unsigned char>(pickle[begin - 1]) == bytes && pickle[begin - 2] == kShort;
      const bool wide = begin >= 5 && pickle[begin - 5] == kLong && number_at<uint32_t>(pickle, begin - 4) == bytes;
      const std::string_view name = pickle.substr(begin, bytes);
      if ((!brief && !wide) || name.find('/') != std::string_view::npos || name.find('\0') != std::string_view::npos)
        continue;
      if (names.size() < kTensors) names.emplace(name);
      break;
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace mw
