// links: sense read base
#include "fuzz.h"
#include "read/files/pickle.h"
#include "sense/checkpoints/layouts/distributed.h"
#include "sense/checkpoints/torch_object.h"

std::vector<std::string> mw::fuzz_seeds() {
  // {"w": torch._utils._rebuild_tensor_v2(persistent id, 0, (2,), (1,)), "n": 7}, in protocol 2, and small odd ones.
  const std::string tensor =
      "\x80\x02}q\x01(X\x01\x00\x00\x00wctorch._utils\n_rebuild_tensor_v2\n(("
      "X\x07\x00\x00\x00storagectorch\nFloatStorage\n"
      "X\x01\x00\x00\x00"
      "0X\x03\x00\x00\x00"
      "cpuK\x02tQK\x00K\x02\x85K\x01\x85\x89NtRX\x01\x00\x00\x00nK\x07u.";
  return {std::string(tensor.data(), tensor.size()),
          "\x80\x04\x95\x10\x8c\x01"
          "a\x94h\x00\x86\x94.",
          "(lp0\ng0\na.",
          "\x80\x02]q\x01h\x01"
          "a.",
          "cos\nsystem\n(S'x'\ntR.",
          "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."};
}

void mw::fuzz_one(std::string_view input) {
  const auto pickle = read_pickle(input);
  if (pickle.ok()) {
    if (pickle->bytes > input.size() || pickle->root >= pickle->values.size()) __builtin_trap();
    for (const PickleValue& value : pickle->values) {
      for (const uint32_t item : value.items) {
        if (item >= pickle->values.size()) __builtin_trap();
      }
    }
    const TorchObject object = torch_object(*pickle);
    for (const TorchTensor& tensor : object.tensors) {
      if (tensor.storage.empty() || tensor.shape.size() > 16) __builtin_trap();
    }
  }
  const auto index = parse_distributed_metadata(input);
  if (!index.ok()) return;
  for (const auto& [path, items] : index->files) {
    if (path.empty() || path.front() == '/' || path.find("..") == 0) __builtin_trap();
    for (size_t i = 1; i < items.size(); ++i) {
      if (items[i].at < items[i - 1].at) __builtin_trap();
    }
  }
}
