#include "practice/checkpoint.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"

namespace practice {
namespace {

constexpr const char* kFile = "/trainer.safetensors";
constexpr uint64_t kHeaderLimit = 1 << 20;

/// 0 or an errno.
int write_file(const std::string& path, const std::string& bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return errno;
  int trouble = 0;
  for (size_t done = 0; trouble == 0 && done < bytes.size();) {
    const ssize_t put = write(file, bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno != EINTR) trouble = errno;
    if (put > 0) done += static_cast<size_t>(put);
  }
  if (trouble == 0 && fsync(file) != 0) trouble = errno;
  if (close(file) != 0 && trouble == 0) trouble = errno;
  return trouble;
}

/// Beside its name first, so that a reader sees the whole file or none.
int replace_file(const std::string& path, const std::string& bytes) {
  const int trouble = write_file(path + ".part", bytes);
  if (trouble != 0) return trouble;
  return rename((path + ".part").c_str(), path.c_str()) == 0 ? 0 : errno;
}

int make_place(const std::string& folder, const std::string& place) {
  mkdir(folder.c_str(), 0755);
  return mkdir(place.c_str(), 0755) == 0 || errno == EEXIST ? 0 : errno;
}

int point_to(const CheckpointFolder& folder, int64_t step) {
  if (folder.pointer.empty()) return 0;
  return replace_file(mw::cat(folder.path, "/", folder.pointer), mw::cat(folder.pointer_prefix, step));
}

std::optional<std::string> read_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::string bytes;
  char piece[1 << 16];
  for (ssize_t got; (got = read(file, piece, sizeof piece)) > 0;) bytes.append(piece, static_cast<size_t>(got));
  close(file);
  return bytes;
}

/// The step in `name` after `prefix`.
std::optional<int64_t> step_after(std::string_view prefix, std::string_view name) {
  if (name.substr(0, prefix.size()) != prefix) return std::nullopt;
  return mw::parse_int(mw::trim(name.substr(prefix.size())));
}

/// The highest step that has a folder.
std::optional<int64_t> highest_step(const CheckpointFolder& folder) {
  std::optional<int64_t> highest;
  DIR* const list = opendir(folder.path.c_str());
  if (list == nullptr) return highest;
  while (const dirent* entry = readdir(list)) {
    const auto step = step_after(folder.prefix, entry->d_name);
    if (step && (!highest || *step > *highest)) highest = step;
  }
  closedir(list);
  return highest;
}

}  // namespace

CheckpointFolder checkpoint_folder(std::string_view speak, const std::string& path) {
  if (speak == "skyrl") return {path, "global_step_", "latest_ckpt_global_step.txt", ""};
  if (speak == "openrlhf") return {path, "global_step", "latest", "global_step"};
  if (speak == "trl") return {path, "checkpoint-", "", ""};
  if (speak == "prime-rl") return {path, "step_", "", ""};
  return {path, "global_step_", "latest_checkpointed_iteration.txt", ""};
}

std::string checkpoint_place(const CheckpointFolder& folder, int64_t step) {
  return mw::cat(folder.path, "/", folder.prefix, step);
}

int save_checkpoint(const CheckpointFolder& folder, const Checkpoint& c) {
  const std::pair<const char*, const std::vector<double>*> tensors[] = {
      {"policy.weights", &c.weights}, {"adam.first", &c.first}, {"adam.second", &c.second}};
  std::string header, data;
  {
    mw::JsonWriter json(header);
    json.begin_object().key("__metadata__").begin_object().key("step").string(mw::cat(c.step));
    json.key("adam_steps").string(mw::cat(c.adam_steps)).end_object();
    for (const auto& [name, values] : tensors) {
      const size_t from = data.size();
      data.append(reinterpret_cast<const char*>(values->data()), values->size() * sizeof(double));
      json.key(name).begin_object().key("dtype").string("F64").key("shape").begin_array();
      json.integer(static_cast<int64_t>(values->size())).end_array().key("data_offsets").begin_array();
      json.integer(static_cast<int64_t>(from)).integer(static_cast<int64_t>(data.size())).end_array().end_object();
    }
    json.end_object();
  }
  while (header.size() % 8 != 0) header += ' ';
  const uint64_t size = header.size();
  std::string bytes(reinterpret_cast<const char*>(&size), sizeof size);
  bytes += header + data;

  const std::string place = checkpoint_place(folder, c.step);
  int trouble = make_place(folder.path, place);
  if (trouble == 0) trouble = replace_file(place + kFile, bytes);
  return trouble != 0 ? trouble : point_to(folder, c.step);
}

int save_metadata(const CheckpointFolder& folder, const Checkpoint& checkpoint) {
  const std::string place = checkpoint_place(folder, checkpoint.step);
  int trouble = make_place(folder.path, place);
  if (trouble == 0) trouble = write_file(place + "/config.json", "{\"model_type\": \"practice\"}");
  if (trouble == 0) trouble = write_file(place + "/trainer_state.json", mw::cat("{\"step\": ", checkpoint.step, "}"));
  return trouble != 0 ? trouble : point_to(folder, checkpoint.step);
}

void remove_checkpoint(const CheckpointFolder& folder, int64_t step) {
  const std::string place = checkpoint_place(folder, step);
  for (const char* name : {kFile, "/config.json", "/trainer_state.json"}) unlink((place + name).c_str());
  rmdir(place.c_str());
}

std::optional<Checkpoint> load_checkpoint(const CheckpointFolder& folder, std::optional<int64_t> wanted,
                                          std::string* problem) {
  std::optional<int64_t> step = wanted;
  if (!step && !folder.pointer.empty()) {
    const auto pointer = read_file(mw::cat(folder.path, "/", folder.pointer));
    if (!pointer) return std::nullopt;
    step = step_after(folder.pointer_prefix, *pointer);
  } else if (!step) {
    step = highest_step(folder);
    if (!step) return std::nullopt;
  }
  const auto broken = [problem](const std::string& why) {
    *problem = why;
    return std::nullopt;
  };
  if (!step) return broken("the pointer holds no step");
  const auto bytes = read_file(checkpoint_place(folder, *step) + kFile);
  if (!bytes || bytes->size() < 8) return broken(mw::cat("no whole checkpoint of step ", *step));
  uint64_t size = 0;
  std::memcpy(&size, bytes->data(), sizeof size);
  if (size > kHeaderLimit || size + 8 > bytes->size()) return broken("the header is cut");
  const auto header = mw::Json::parse(std::string_view(*bytes).substr(8, size));
  const mw::Json* meta = header.ok() ? header->find("__metadata__") : nullptr;
  if (meta == nullptr) return broken("the header is not JSON");
  Checkpoint c;
  c.step = *step;
  c.adam_steps = mw::parse_int(meta->string_or("adam_steps", "")).value_or(0);
  const std::pair<const char*, std::vector<double>*> tensors[] = {
      {"policy.weights", &c.weights}, {"adam.first", &c.first}, {"adam.second", &c.second}};
  for (const auto& [name, values] : tensors) {
    const mw::Json* tensor = header->find(name);
    const mw::Json* offsets = tensor == nullptr ? nullptr : tensor->find("data_offsets");
    if (offsets == nullptr || offsets->items().size() != 2) return broken(mw::cat(name, " is missing"));
    const auto from = static_cast<uint64_t>(offsets->items()[0].integer());
    const auto to = static_cast<uint64_t>(offsets->items()[1].integer());
    if (from > to || to > bytes->size() - 8 - size || (to - from) % 8 != 0) return broken(mw::cat(name, " is cut"));
    values->resize((to - from) / 8);
    std::memcpy(values->data(), bytes->data() + 8 + size + from, to - from);
  }
  return c;
}

}  // namespace practice
