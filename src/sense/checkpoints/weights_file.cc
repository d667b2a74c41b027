#include "sense/checkpoints/weights_file.h"

#include <algorithm>
#include <set>

#include "base/bytes.h"
#include "base/json.h"
#include "base/text.h"
#include "sense/checkpoints/zip_file.h"

namespace mw {
namespace {

constexpr size_t kNameBytes = 250;  // of a shard's name

Error broken(std::string what) { return {Error::Code::kInvalid, std::move(what), ""}; }
Error cut(std::string what) { return {Error::Code::kTruncated, std::move(what), ""}; }

/// Gathers the tensors of a header while it is read.
class TensorLeaves final : public JsonLeaves {
 public:
  std::vector<Tensor> tensors;
  bool strange = false;  ///< a number that is no offset, or too many tensors

  void string(std::string_view path, std::string_view value) override {
    if (path.starts_with("__metadata__/") || (!path.ends_with("/dtype") && path != "dtype")) return;
    dtype_ = value;
    dtype_of_ = path == "dtype" ? "" : path.substr(0, path.size() - std::string_view("/dtype").size());
  }
  void number(std::string_view path, double value) override {
    // Of a tensor whose name is empty nothing stands before its fields.
    const bool nameless =
        path.find('/') == path.rfind('/') && (path.starts_with("shape/") || path.starts_with("data_offsets/"));
    named_number(nameless ? cat("/", path) : path, value);
  }

 private:
  void named_number(std::string_view path, double value) {
    constexpr std::string_view kBegin = "/data_offsets/0", kEnd = "/data_offsets/1";
    if (const size_t shape = path.rfind("/shape/"); shape != std::string_view::npos)
      return dimension(path, shape, value);
    const bool begins = path.ends_with(kBegin);
    if (!begins && !path.ends_with(kEnd)) return;
    constexpr double kMost = 9e15;  // beyond it a double is no longer exact
    if (!(value >= 0) || value > kMost) {
      strange = true;
      return;
    }
    const auto offset = static_cast<uint64_t>(value);
    const std::string_view name = path.substr(0, path.size() - kBegin.size());
    if (begins) {
      if (tensors.size() >= kTensors) strange = true;
      if (!strange) {
        tensors.push_back({std::string(name), dtype_of_ == name ? dtype_ : "", offset, 0, {}});
        if (shape_of_ == name) tensors.back().shape = shape_;
      }
    } else if (!tensors.empty() && tensors.back().name == name) {
      tensors.back().end = offset;
    } else {
      strange = true;
    }
  }

  void dimension(std::string_view path, size_t shape, double value) {
    constexpr size_t kDimensions = 16;
    if (path.substr(shape + 7).find('/') != std::string_view::npos || !(value >= 0) || value > 9e15) return;
    if (shape_of_ != path.substr(0, shape)) {
      shape_of_ = path.substr(0, shape);
      shape_.clear();
    }
    if (shape_.size() < kDimensions) shape_.push_back(static_cast<int64_t>(value));
    if (!tensors.empty() && tensors.back().name == shape_of_) tensors.back().shape = shape_;
  }

  std::string dtype_, dtype_of_, shape_of_;
  std::vector<int64_t> shape_;
};

class ShardLeaves final : public JsonLeaves {
 public:
  std::set<std::string> names;
  bool strange = false;

  void number(std::string_view, double) override {}
  void string(std::string_view path, std::string_view value) override {
    if (!path.starts_with("weight_map/")) return;
    if (value.empty() || value.size() > kNameBytes || value.find('/') != std::string_view::npos || value == "." ||
        value == ".." || value.find('\0') != std::string_view::npos) {
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
  if (leaves.strange) return broken("its header makes no sense");
  std::vector<Tensor>& tensors = leaves.tensors;
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
