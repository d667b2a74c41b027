#include "sense/checkpoints/manifest.h"

#include <algorithm>

#include "base/checksum.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"
#include "platform/durable.h"

namespace mw {
namespace {

constexpr std::string_view kSchema = "midwatch.checkpoint-manifest/1";
constexpr size_t kManifestBytes = size_t{32} << 20;
constexpr size_t kManifestFiles = 100'000;

std::optional<uint64_t> parse_hex(std::string_view text) {
  if (text.size() != 16) return std::nullopt;
  uint64_t value = 0;
  for (const char c : text) {
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return std::nullopt;
    value = (value << 4) | static_cast<uint64_t>(digit);
  }
  return value;
}

bool is_hex(std::string_view text, size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void put_tensors(JsonWriter& json, const std::vector<ManifestTensor>& tensors) {
  json.key("tensors").begin_array();
  for (const ManifestTensor& tensor : tensors) {
    json.begin_object().key("name").string(tensor.name).key("numbers").integer(static_cast<int64_t>(tensor.numbers));
    json.key("norm").number(tensor.norm);
    if (tensor.crc != 0) json.key("crc32").integer(tensor.crc);
    if (tensor.zero) json.key("zero").boolean(true);
    if (tensor.zero_bytes >= 0) json.key("zero_bytes").integer(tensor.zero_bytes);
    json.end_object();
  }
  json.end_array();
}

std::vector<ManifestTensor> tensors_in(const Json& file) {
  std::vector<ManifestTensor> out;
  const Json* const tensors = file.find("tensors");
  if (tensors == nullptr || !tensors->is_array() || tensors->items().size() > kManifestTensors) return out;
  for (const Json& one : tensors->items()) {
    if (!one.is_object()) return {};
    out.push_back({one.string_or("name", ""), static_cast<uint64_t>(std::max<int64_t>(0, one.integer_or("numbers", 0))),
                   one.number_or("norm", 0), one.boolean_or("zero", false),
                   static_cast<uint32_t>(one.integer_or("crc32", 0)), one.integer_or("zero_bytes", -1)});
  }
  return out;
}

Error no_manifest() { return {Error::Code::kInvalid, "it is no manifest of midwatch", ""}; }

}  // namespace

bool same_bytes(const ManifestFile& a, const ManifestFile& b) {
  return a.xxh3_128.empty() || b.xxh3_128.empty() ? a.xxh3 == b.xxh3 : a.xxh3_128 == b.xxh3_128;
}

std::string manifest_json(const CheckpointManifest& manifest) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("schema").string(kSchema).key("path").string(manifest.path);
    if (manifest.step != kNoStep) json.key("step").integer(manifest.step);
    json.key("framework").string(manifest.framework).key("layouts").begin_array();
    for (const std::string& layout : manifest.layouts) json.string(layout);
    json.end_array().key("verdict").string(manifest.verdict).key("at").string(format_utc(manifest.at));
    json.key("program").string(MIDWATCH_VERSION).key("files").begin_array();
    for (const ManifestFile& file : manifest.files) {
      json.begin_object().key("path").string(file.path).key("bytes").integer(file.bytes);
      json.key("changed_ns").integer(file.changed.ns);
      if (file.xxh3 != 0) json.key("xxh3").string(hex_of(file.xxh3));
      if (!file.xxh3_128.empty()) json.key("xxh3_128").string(file.xxh3_128);
      if (file.numbers > 0)
        json.key("numbers").integer(static_cast<int64_t>(file.numbers)).key("norm").number(file.norm);
      if (!file.tensors.empty()) put_tensors(json, file.tensors);
      json.end_object();
    }
    json.end_array().end_object();
  }
  return out + "\n";
}

Result<CheckpointManifest> parse_checkpoint_manifest(std::string_view text) {
  const auto json = Json::parse(text);
  if (!json.ok() || !json->is_object() || json->string_or("schema", "") != kSchema) return no_manifest();
  CheckpointManifest out;
  out.path = json->string_or("path", "");
  out.step = json->integer_or("step", kNoStep);
  out.framework = json->string_or("framework", "");
  out.verdict = json->string_or("verdict", "");
  out.at = parse_time(json->string_or("at", "")).value_or(Time());
  if (const Json* layouts = json->find("layouts")) {
    for (const Json& layout : layouts->items()) out.layouts.push_back(layout.string());
  }
  const Json* const files = json->find("files");
  if (files == nullptr || !files->is_array() || files->items().size() > kManifestFiles) return no_manifest();
  for (const Json& one : files->items()) {
    const auto hash = parse_hex(one.is_object() ? one.string_or("xxh3", "") : "");
    const std::string wide = one.is_object() ? one.string_or("xxh3_128", "") : "";
    if (hash.value_or(0) == 0 && !is_hex(wide, 32)) return no_manifest();  // 0 stands for none
    out.files.push_back({one.string_or("path", ""),
                         one.integer_or("bytes", 0),
                         {one.integer_or("changed_ns", 0)},
                         hash.value_or(0),
                         is_hex(wide, 32) ? wide : "",
                         static_cast<uint64_t>(std::max<int64_t>(0, one.integer_or("numbers", 0))),
                         one.number_or("norm", 0),
                         tensors_in(one)});
  }
  return out;
}

std::string manifest_path(const std::string& home, const std::string& checkpoint) {
  std::string name;
  for (const char c : basename(checkpoint)) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    if (name.size() < 80) name += plain ? c : '_';
  }
  return cat(home, "/checkpoints/", hex_of(fnv1a(checkpoint)), "-", name, ".json");
}

Result<CheckpointManifest> load_manifest(Disk& disk, const std::string& home, const std::string& checkpoint) {
  auto open = disk.open_read(manifest_path(home, checkpoint));
  if (!open.ok()) return open.error();
  const auto info = (*open)->info();
  if (!info.ok()) return info.error();
  if (info->size < 0 || static_cast<size_t>(info->size) > kManifestBytes) return no_manifest();
  std::string text;
  MW_TRY((*open)->read_at(0, static_cast<size_t>(info->size), text));
  auto manifest = parse_checkpoint_manifest(text);
  if (manifest.ok() && manifest->path != checkpoint) return no_manifest();  // of another path with the same hash
  return manifest;
}

Result<void> save_manifest(Disk& disk, const std::string& home, const CheckpointManifest& manifest) {
  MW_TRY(disk.make_folders(cat(home, "/checkpoints")));
  return write_privately(disk, manifest_path(home, manifest.path), manifest_json(manifest));
}

}  // namespace mw
