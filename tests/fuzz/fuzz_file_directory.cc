// links: sense base
#include <algorithm>

#include "fuzz.h"
#include "sense/checkpoints/file_directory.h"
#include "sense/checkpoints/manifest.h"
#include "sense/checkpoints/zip_file.h"

namespace {

/// The input as a file; counts what is read of it.
class Input final : public mw::ReadFile {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}
  mw::Result<void> read_at(uint64_t offset, size_t size, std::string& out) override {
    out = offset > bytes_.size() ? std::string() : std::string(bytes_.substr(offset, size));
    return {};
  }
  mw::Result<mw::FileInfo> info() override { return mw::Error{}; }

 private:
  std::string_view bytes_;
};

void check(const mw::FileDirectory& directory, Input& file, uint64_t bytes) {
  uint64_t end = 0;
  for (const mw::ByteRange& range : directory.ranges) {
    if (directory.proven && (range.at > bytes || range.bytes > bytes - range.at)) __builtin_trap();
    if (range.at < end && directory.format == mw::FileDirectory::Format::kSafetensors) __builtin_trap();
    end = range.at + range.bytes;
  }
  for (const mw::TensorPlace& tensor : directory.tensors) {
    if (directory.proven && (tensor.at > bytes || tensor.bytes > bytes - tensor.at)) __builtin_trap();
  }
  if (directory.counters.size() > mw::kOptimizerCounters) __builtin_trap();
  for (const mw::OptimizerCounter& counter : directory.counters) {
    if (mw::steps_counted(counter, file).value_or(0) < 0) __builtin_trap();
  }
}

/// An archive of one member that torch.save might have written.
std::string archive() {
  const std::string name = "archive/data.pkl", data = "\x80\x02}q\x01.";
  std::string local("PK\x03\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 18),
      central("PK\x01\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
  const std::string sizes{static_cast<char>(data.size()), 0, 0, 0, static_cast<char>(data.size()), 0, 0, 0};
  local += sizes + std::string{static_cast<char>(name.size()), 0, 0, 0} + name + data;
  central += sizes + std::string{static_cast<char>(name.size()), 0} + std::string(16, '\0') + name;
  const auto word = [](size_t number) {
    return std::string{static_cast<char>(number & 0xff), static_cast<char>(number >> 8), 0, 0};
  };
  return local + central + std::string("PK\x05\x06\0\0\0\0\1\0\1\0", 12) + word(central.size()) + word(local.size()) +
         std::string(2, '\0');
}

}  // namespace

std::vector<std::string> mw::fuzz_seeds() {
  const std::string header = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size());
  CheckpointManifest manifest;
  manifest.files = {{"a", 3, {}, 7, ""}};
  return {file + header + "12345678", archive(), "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.",
          manifest_json(manifest)};
}

void mw::fuzz_one(std::string_view input) {
  Input file(input);
  for (const char* name : {"model.safetensors", "model.pt", "pytorch_model.bin", "x.pkl", "__0_0.distcp"})
    check(read_directory(file, name, input.size()), file, input.size());
  check(read_torch_zip(file, 0, input.size()), file, input.size());
  if (input.size() > 8) check(read_torch_zip(file, 4, input.size() - 8), file, input.size());
  for (const uint64_t at : {uint64_t{0}, uint64_t{1000}, ~uint64_t{0}}) {
    const auto members = parse_zip_directory(input, at);
    for (const ZipMember& member : members.ok() ? *members : std::vector<ZipMember>()) {
      const auto data = check_local_header(input, member, at);
      if (data.ok() && *data + member.bytes > at) __builtin_trap();
    }
  }
  const auto manifest = parse_checkpoint_manifest(input);
  if (manifest.ok() && !parse_checkpoint_manifest(manifest_json(*manifest)).ok()) __builtin_trap();
}
