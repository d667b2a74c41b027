// links: sense
#include "base/text.h"
#include "fuzz.h"
#include "sense/checkpoints/weights_file.h"

std::vector<std::string> mw::fuzz_seeds() {
  const std::string header = R"({"__metadata__":{"step":"3"},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size());
  file += header + "12345678";
  std::string zip("PK\x03\x04 data PK\x01\x02 a directory");
  zip += std::string("PK\x05\x06\0\0\0\0\1\0\1\0", 12) + std::string("\x10\0\0\0\x0a\0\0\0\0\0", 10);
  return {file, zip, R"({"metadata":{"total_size":3},"weight_map":{"a":"model-1-of-2.safetensors","b":"../x"}})",
          std::string("\x80\x02\x8c\x0c__0_0.distcp\x94X\x0c\0\0\0__1_0.distcp", 34)};
}

void mw::fuzz_one(std::string_view input) {
  if (const auto header = safetensors_header_bytes(input, input.size()); header.ok()) {
    const auto tensors = parse_safetensors_header(input.substr(8, *header), input.size() - 8 - *header);
    uint64_t end = 0;
    for (const Tensor& tensor : tensors.ok() ? *tensors : std::vector<Tensor>()) {
      if (tensor.begin != end || tensor.end < tensor.begin) __builtin_trap();
      end = tensor.end;
    }
    if (tensors.ok() && 8 + *header + end != input.size()) __builtin_trap();
  }
  (void)parse_safetensors_header(input, 8).ok();
  const size_t tail = std::min(input.size(), kZipTail);
  (void)check_zip_tail(input.substr(input.size() - tail), input.size()).ok();
  (void)check_zip_tail(input, input.size() + 1000).ok();
  const auto shards = shards_of_index(input);
  for (const std::string& name : shards.ok() ? *shards : std::vector<std::string>()) {
    for (const std::string_view piece : split(name, '/')) {  // they lie in the index's folder or below it
      if (piece.empty() || piece == "." || piece == "..") __builtin_trap();
    }
  }
  for (const std::string& name : shards_of_metadata(input)) {
    if (!name.ends_with(".distcp") || name.find('/') != std::string::npos) __builtin_trap();
  }
}
