// Writes what torch.save writes, as far as tests of its content need it. For tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/checksum.h"
#include "base/text.h"

namespace mw::testing {

template <typename Number>
std::string bytes_of_number(Number value) {
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

/// A pickle of protocol 2 and the storages that it names, put together from the inside out.
class TorchSave {
 public:
  static std::string text(const std::string& value) {
    return cat("X", bytes_of_number(static_cast<uint32_t>(value.size())), value);
  }
  static std::string whole(int32_t value) { return cat("J", bytes_of_number(value)); }
  static std::string dict(const std::vector<std::pair<std::string, std::string>>& items) {
    std::string out = "}(";
    for (const auto& [key, value] : items) out += key + value;
    return out + "u";
  }
  static std::string list(const std::string& items) { return cat("](", items, "e"); }

  /// F32, all of one number.
  std::string tensor(const std::vector<int32_t>& shape, float value = 0.5F) {
    int32_t numbers = 1;
    for (const int32_t size : shape) numbers *= size;
    std::vector<int32_t> strides;
    int32_t stride = numbers;
    for (const int32_t size : shape) strides.push_back(stride = size == 0 ? 0 : stride / size);
    return view(std::vector<float>(static_cast<size_t>(numbers), value), 0, shape, strides);
  }
  /// F32, of a storage of those numbers.
  std::string view(const std::vector<float>& numbers, int32_t first, const std::vector<int32_t>& shape,
                   const std::vector<int32_t>& strides) {
    std::string storage, sizes = "(", steps = "(";
    for (const float number : numbers) storage += bytes_of_number(number);
    for (const int32_t size : shape) sizes += whole(size);
    for (const int32_t stride : strides) steps += whole(stride);
    const std::string key = cat(storages_.size());
    storages_.push_back(std::move(storage));
    return cat("ctorch._utils\n_rebuild_tensor_v2\n((", text("storage"), "ctorch\nFloatStorage\n", text(key),
               text("cpu"), whole(static_cast<int32_t>(numbers.size())), "tQ", whole(first), sizes, "t", steps, "t",
               "\x89", "ccollections\nOrderedDict\n)RtR");
  }

  /// The archive; `name`: the stem of the file's name.
  std::string archive(const std::string& object, const std::string& name) const {
    std::vector<std::pair<std::string, std::string>> members = {{"data.pkl", cat("\x80\x02", object, ".")}};
    for (size_t i = 0; i < storages_.size(); ++i) members.emplace_back(cat("data/", i), storages_[i]);
    std::string out, directory;
    for (const auto& [path, content] : members) {
      const std::string full = cat(name, "/", path);
      const auto size = static_cast<uint32_t>(content.size());
      const std::string both = cat(std::string(6, '\0'), std::string(4, '\0'),  // flags, method, time
                                   bytes_of_number(crc32_ieee(content)), bytes_of_number(size), bytes_of_number(size),
                                   bytes_of_number(static_cast<uint16_t>(full.size())), std::string(2, '\0'));
      directory += cat("PK\x01\x02", std::string(2, '\0'), std::string(2, '\0'), both.substr(2), std::string(10, '\0'),
                       bytes_of_number(static_cast<uint32_t>(out.size())), full);
      out += cat("PK\x03\x04", both, full, content);
    }
    const auto count = static_cast<uint16_t>(members.size());
    return cat(out, directory, "PK\x05\x06", std::string(4, '\0'), bytes_of_number(count), bytes_of_number(count),
               bytes_of_number(static_cast<uint32_t>(directory.size())),
               bytes_of_number(static_cast<uint32_t>(out.size())), std::string(2, '\0'));
  }

  /// As torch.optim saves one: so many parameters of that shape, each of which counts `steps`.
  std::string optimizer(int parameters, const std::vector<int32_t>& shape, int32_t steps, float moment = 0.5F) {
    std::string state = "}";
    for (int i = 0; i < parameters; ++i) {
      state += cat("(", whole(i), dict({{text("step"), whole(steps)}, {text("exp_avg"), tensor(shape, moment)}}), "u");
    }
    return dict({{text("state"), state},
                 {text("param_groups"), list(dict({{text("lr"), whole(1)}, {text("params"), list(whole(0))}}))}});
  }

 private:
  std::vector<std::string> storages_;
};

}  // namespace mw::testing
