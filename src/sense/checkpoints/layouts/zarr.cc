// zarr, version 2, as Megatron-LM's zarr backend writes it: a folder for each tensor with .zarray and a file for each
// chunk, "0.1". (zarr, specification version 2.)
#include "sense/checkpoints/layouts/zarr.h"

#include "base/json.h"
#include "base/text.h"
#include "sense/checkpoints/layouts/layout.h"

namespace mw {
namespace {

constexpr uint64_t kChunks = 1'000'000;  // of one tensor

struct Array {
  uint64_t chunks = 1, chunk_bytes = 0;  ///< 0: packed, or of an unknown kind of number
  std::vector<int64_t> shape;
};

/// How many chunks there must be, and how large each is.
std::optional<Array> parse_array(const Json& json) {
  const Json* shape = json.find("shape");
  const Json* chunks = json.find("chunks");
  if (shape == nullptr || chunks == nullptr || !shape->is_array() || !chunks->is_array() ||
      shape->items().size() != chunks->items().size())
    return std::nullopt;
  Array out;
  uint64_t numbers = 1;
  for (size_t i = 0; i < shape->items().size(); ++i) {
    const int64_t size = shape->items()[i].integer(), chunk = chunks->items()[i].integer();
    if (size < 0 || chunk <= 0 || size > (int64_t{1} << 40) || chunk > (int64_t{1} << 40)) return std::nullopt;
    out.chunks *= static_cast<uint64_t>((size + chunk - 1) / chunk);
    out.shape.push_back(size);
    numbers *= static_cast<uint64_t>(chunk);
    if (out.chunks > kChunks || numbers > (uint64_t{1} << 40)) return std::nullopt;
  }
  const Json* const compressor = json.find("compressor");
  const bool plain = compressor == nullptr || compressor->kind() == Json::Kind::kNull;
  if (plain) out.chunk_bytes = numbers * size_of(dtype_named(json.string_or("dtype", "")));
  return out;
}

bool is_chunk(std::string_view name) {
  return !name.empty() && name.find_first_not_of("0123456789.") == std::string_view::npos;
}

void examine(Examination& exam, const std::string& folder, const std::vector<const TreeFile*>& files) {
  const TreeFile* array = nullptr;
  bool chunks = false;
  for (const TreeFile* file : files) {
    if (file->name() == ".zarray") array = file;
    chunks = chunks || is_chunk(file->name());
  }
  if (array == nullptr) {
    // Chunks alone, beside other tensors that have their .zarray, whichever comes first by its name.
    if (chunks && !folder.empty() && (exam.layouts().count("Megatron zarr") != 0 || exam.has_anywhere(".zarray")))
      exam.problem(Trouble::kMissing, in_folder(folder, ".zarray"),
                   "it is missing, and the chunks beside it cannot be read without it");
    return;
  }
  exam.found_layout("zarr");
  const auto text = exam.text(*array, 1 << 20);
  if (!text) return;
  const auto json = Json::parse(*text);
  if (!json.ok() || !json->is_object()) {
    return exam.problem(array->bytes == 0 ? Trouble::kEmpty : Trouble::kDamaged, array->path,
                        "it is no JSON, and the tensor cannot be read without it");
  }
  const auto wanted = parse_array(*json);
  if (!wanted) return exam.problem(Trouble::kDamaged, array->path, "its shape makes no sense");
  exam.has_array(folder, wanted->shape);
  if (wanted->chunk_bytes > 0) exam.holds_numbers(folder, dtype_named(json->string_or("dtype", "")));
  uint64_t there = 0;
  for (const TreeFile* file : files) {
    if (!is_chunk(file->name())) continue;
    ++there;
    exam.holds_weights(file->path);
    if (wanted->chunk_bytes == 0 || static_cast<uint64_t>(file->bytes) == wanted->chunk_bytes) continue;
    const bool less = static_cast<uint64_t>(file->bytes) < wanted->chunk_bytes;
    exam.problem(file->bytes == 0 ? Trouble::kEmpty
                 : less           ? Trouble::kTruncated
                                  : Trouble::kDamaged,
                 file->path, cat("it has ", file->bytes, " bytes, and a chunk has ", wanted->chunk_bytes));
  }
  if (there < wanted->chunks)
    exam.problem(Trouble::kMissing, folder, cat(there, " of its ", wanted->chunks, " chunks are there"));
}

}  // namespace

std::optional<std::vector<int64_t>> shape_in_zarray(std::string_view text) {
  const auto json = Json::parse(text);
  auto array = json.ok() && json->is_object() ? parse_array(*json) : std::nullopt;
  return array ? std::optional(std::move(array->shape)) : std::nullopt;
}

namespace layouts {
extern const CheckpointFormat zarr;
const CheckpointFormat zarr{"zarr", examine};
}  // namespace layouts

}  // namespace mw
