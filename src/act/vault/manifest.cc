#include "act/vault/manifest.h"

#include <algorithm>
#include <set>

#include "act/vault/sealed.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"
#include "platform/object_store.h"

namespace mw::vault {
namespace {

constexpr std::string_view kManifestSchema = "midwatch.checkpoint/1", kPointerSchema = "midwatch.latest/1";
constexpr std::string_view kStep = "step_";
constexpr int64_t kMaxStep = 1'000'000'000'000;
constexpr size_t kMaxFiles = 200'000;
constexpr size_t kMaxParts = 16;
constexpr size_t kWord = 512;  // bytes of a short text
constexpr size_t kHashDigits = 32, kStateDigits = 16;

bool is_hex(std::string_view text, size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string word(const Json& json, std::string_view name) { return clip(json.string_or(name, ""), kWord); }

Error wrong(std::string_view what) { return {Error::Code::kInvalid, cat("the manifest is wrong: ", what), ""}; }

Result<ManifestFile> parse_file(const Json& json) {
  ManifestFile file;
  file.path = json.string_or("path", "");
  if (!is_plain_path(file.path)) return wrong("a path leads out of the checkpoint");
  file.size = json.integer_or("size", -1);
  file.hash = json.string_or("xxh3_128", "");
  file.part = json.integer_or("part_size", 0);
  const Json* const parts = json.find("parts");
  if (file.size < 0 || file.part < 1 || file.part > kMaxPartBytes || !is_hex(file.hash, kHashDigits) ||
      parts == nullptr || !parts->is_array()) {
    return wrong("a file has no size, checksum or parts");
  }
  const int64_t count = file.size / file.part + (file.size % file.part != 0 ? 1 : 0);
  if (static_cast<int64_t>(parts->items().size()) != count) return wrong("parts and size of a file differ");
  for (const Json& part : parts->items()) {
    if (!is_hex(part.string(), kHashDigits)) return wrong("a part has no checksum");
    file.parts.push_back(part.string());
  }
  return file;
}

/// Every name once, and none of them a folder of another.
Result<void> check_names(const std::vector<ManifestFile>& files) {
  std::set<std::string_view> names, folders;
  for (const ManifestFile& file : files) {
    const std::string_view path = file.path;
    if (!names.insert(path).second) return wrong("a file is there twice");
    for (size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
      folders.insert(path.substr(0, slash));
    }
  }
  for (const std::string_view folder : folders) {
    if (names.count(folder) != 0) return wrong("a file is also a folder");
  }
  return {};
}

/// Parts that lie apart from each other, and every file beside in one of them.
Result<void> check_parts(const CheckpointManifest& manifest) {
  const auto within = [](std::string_view path, std::string_view part) {
    return path == part || (path.starts_with(part) && path.substr(part.size()).starts_with('/'));
  };
  if (manifest.own.empty() && !manifest.beside.empty()) return wrong("it has parts, and none of its own");
  if (!manifest.own.empty() && (!is_plain_path(manifest.own) || basename(manifest.own) != manifest.name))
    return wrong("its own folder has another name");
  for (size_t i = 0; i < manifest.beside.size(); ++i) {
    const std::string& part = manifest.beside[i];
    if (!is_plain_path(part)) return wrong("a part leads out of its folder");
    for (size_t other = 0; other <= i; ++other) {
      const std::string& beside = other == i ? manifest.own : manifest.beside[other];
      if (within(part, beside) || within(beside, part)) return wrong("a part lies in another one");
    }
  }
  for (const ManifestFile& file : manifest.files) {
    const auto path = is_beside(file) ? std::string_view(file.path).substr(kBeside.size()) : "";
    if (!path.empty() && std::none_of(manifest.beside.begin(), manifest.beside.end(),
                                      [&](const std::string& part) { return within(path, part); }))
      return wrong("a file belongs to none of its parts");
  }
  return {};
}

}  // namespace

std::string place_of(const CheckpointManifest& manifest, const std::string& folder, const std::string& path) {
  const bool beside = path.starts_with(kBeside) && folder.ends_with("/" + manifest.own);
  if (!beside) return cat(folder, "/", path);
  return folder.substr(0, folder.size() - manifest.own.size()) + path.substr(kBeside.size());
}

int64_t CheckpointManifest::bytes() const {
  int64_t sum = 0;
  for (const ManifestFile& file : files) sum += file.size;
  return sum;
}

std::string checkpoint_id(int64_t step, std::string_view state16) { return cat(kStep, step, "-", state16); }

std::optional<int64_t> step_of_id(std::string_view id) {
  const size_t dash = id.find('-');
  if (!id.starts_with(kStep) || dash == std::string_view::npos || !is_hex(id.substr(dash + 1), kStateDigits)) return {};
  const std::string_view digits = id.substr(kStep.size(), dash - kStep.size());
  const auto step = parse_int(digits);
  if (!step || *step < 0 || *step > kMaxStep || std::to_string(*step) != digits) return {};
  return step;
}

std::string Keys::under(std::string_view rest) const {
  return prefix.empty() ? std::string(rest) : cat(prefix, "/", rest);
}

std::string manifest_json(const CheckpointManifest& manifest) {
  std::string body;
  {
    JsonWriter json(body);
    json.begin_object().key("checkpoint").string(manifest.id).key("step").integer(manifest.step);
    json.key("name").string(manifest.name).key("layout").string(manifest.layout);
    json.key("framework").string(manifest.framework).key("scanned").string(manifest.scanned);
    json.key("verified").string(manifest.verified).key("pushed").string(format_utc(manifest.pushed));
    if (!manifest.lacks.empty()) json.key("lacks").string(manifest.lacks);
    if (!manifest.own.empty()) {
      json.key("own").string(manifest.own).key("beside").begin_array();
      for (const std::string& part : manifest.beside) json.string(part);
      json.end_array();
    }
    json.key("epoch").integer(manifest.epoch).key("parent").string(manifest.parent);
    json.key("bytes").integer(manifest.bytes()).key("run").begin_object();
    for (const auto& [name, value] : manifest.run) json.key(name).string(value);
    json.end_object().key("files").begin_array();
    for (const ManifestFile& file : manifest.files) {
      json.begin_object().key("path").string(file.path).key("size").integer(file.size);
      json.key("xxh3_128").string(file.hash).key("part_size").integer(file.part).key("parts").begin_array();
      for (const std::string& part : file.parts) json.string(part);
      json.end_array().end_object();
    }
    json.end_array().end_object();
  }
  return sealed(kManifestSchema, body);
}

Result<CheckpointManifest> parse_manifest(std::string_view text) {
  const auto json = unseal(kManifestSchema, text);
  if (!json.ok()) return json.error();
  CheckpointManifest manifest;
  manifest.id = json->string_or("checkpoint", "");
  manifest.step = json->integer_or("step", kNoStep);
  if (step_of_id(manifest.id) != manifest.step) return wrong("it names no checkpoint");
  manifest.name = word(*json, "name");
  manifest.layout = word(*json, "layout");
  manifest.framework = word(*json, "framework");
  manifest.scanned = word(*json, "scanned");
  manifest.lacks = word(*json, "lacks");
  manifest.verified = word(*json, "verified");
  manifest.pushed = parse_time(word(*json, "pushed")).value_or(Time{});
  manifest.epoch = json->integer_or("epoch", 0);
  manifest.parent = word(*json, "parent");
  if (manifest.epoch < 0) return wrong("its epoch is below 0");
  const Json* const run = json->find("run");
  if (run != nullptr && run->is_object() && run->members().size() <= 100) {
    for (const auto& [name, value] : run->members())
      manifest.run.emplace_back(clip(name, kWord), clip(value.string(), kWord));
  }
  const Json* const files = json->find("files");
  if (files == nullptr || !files->is_array() || files->items().empty()) return wrong("it has no files");
  if (files->items().size() > kMaxFiles) return wrong("it has too many files");
  int64_t left = INT64_MAX;
  for (const Json& one : files->items()) {
    auto file = parse_file(one);
    if (!file.ok()) return file.error();
    if (file->size > left) return wrong("its sizes are beyond all disks");
    left -= file->size;
    manifest.files.push_back(std::move(*file));
  }
  MW_TRY(check_names(manifest.files));
  manifest.own = word(*json, "own");
  if (const Json* const parts = json->find("beside"); parts != nullptr && parts->is_array()) {
    if (parts->items().size() > kMaxParts) return wrong("it has too many parts");
    for (const Json& part : parts->items()) manifest.beside.push_back(clip(part.string(), kWord));
  }
  MW_TRY(check_parts(manifest));
  return manifest;
}

std::string pointer_json(const Pointer& pointer) {
  std::string body;
  {
    JsonWriter json(body);
    json.begin_object().key("epoch").integer(pointer.epoch).key("owner").string(pointer.owner);
    if (pointer.step != kNoStep) {
      json.key("step").integer(pointer.step).key("checkpoint").string(pointer.checkpoint);
      json.key("manifest_xxh3_128").string(pointer.manifest_hash).key("named_in").integer(pointer.named_in);
      json.key("older").boolean(pointer.older).key("back_in").integer(pointer.back_in);
      json.key("at").string(format_utc(pointer.at));
    }
    json.end_object();
  }
  return sealed(kPointerSchema, body);
}

Result<Pointer> parse_pointer(std::string_view text) {
  const auto json = unseal(kPointerSchema, text);
  if (!json.ok()) return json.error();
  Pointer pointer;
  pointer.epoch = json->integer_or("epoch", -1);
  pointer.owner = word(*json, "owner");
  pointer.checkpoint = json->string_or("checkpoint", "");
  if (pointer.epoch < 0) return Error{Error::Code::kInvalid, "the pointer has no epoch", ""};
  if (pointer.checkpoint.empty()) return pointer;
  const auto step = step_of_id(pointer.checkpoint);
  pointer.manifest_hash = json->string_or("manifest_xxh3_128", "");
  pointer.named_in = json->integer_or("named_in", -1);
  if (!step || json->integer_or("step", kNoStep) != *step || pointer.named_in < 0 ||
      !is_hex(pointer.manifest_hash, kHashDigits)) {
    return Error{Error::Code::kInvalid, "the pointer names no checkpoint", ""};
  }
  pointer.step = *step;
  pointer.older = json->boolean_or("older", false);
  // One of before 2026-11-28 does not say it: then nothing of before counts.
  pointer.back_in = json->integer_or("back_in", pointer.named_in);
  pointer.at = parse_time(word(*json, "at")).value_or(Time{});
  return pointer;
}

}  // namespace mw::vault
