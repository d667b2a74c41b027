// Writers of the binary formats that midwatch reads, for tests, fuzz seeds and benchmarks only. Each follows the
// format's description, not the decoder, and hand-made reference bytes in the tests keep both honest.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checksum.h"
#include "base/numbers.h"

namespace mw::encode {

inline void little(std::string& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}
inline void varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>((value & 0x7f) | 0x80));
  out.push_back(static_cast<char>(value));
}
inline void field_bytes(std::string& out, uint32_t field, std::string_view bytes) {
  varint(out, static_cast<uint64_t>(field) << 3 | 2);
  varint(out, bytes.size());
  out.append(bytes);
}
inline void field_varint(std::string& out, uint32_t field, uint64_t value) {
  varint(out, static_cast<uint64_t>(field) << 3);
  varint(out, value);
}
inline void field_double(std::string& out, uint32_t field, double value) {
  varint(out, static_cast<uint64_t>(field) << 3 | 1);
  uint64_t bits = 0;
  std::memcpy(&bits, &value, 8);
  little(out, bits, 8);
}
inline void field_float(std::string& out, uint32_t field, float value) {
  varint(out, static_cast<uint64_t>(field) << 3 | 5);
  uint32_t bits = 0;
  std::memcpy(&bits, &value, 4);
  little(out, bits, 4);
}

using Values = std::vector<std::pair<std::string, std::string>>;  // key, JSON

// ---- W&B run files -----------------------------------------------------------------------------------------------
/// Appends records in LevelDB's framing with plain CRC-32.
class Wandb {
 public:
  Wandb() { out_.assign("\x3a\x57\x26\x42\xe1\xbe\0", 7); }

  void record(std::string_view body) {
    constexpr size_t kBlock = 32768, kHeader = 7;
    for (bool first = true, last = false; !last; first = false) {
      size_t left = kBlock - out_.size() % kBlock;
      if (left < kHeader) out_.append(left, '\0'), left = kBlock;
      const size_t size = body.size() < left - kHeader ? body.size() : left - kHeader;
      last = size == body.size();
      const char type = first ? (last ? 1 : 2) : (last ? 4 : 3);
      std::string checked(1, type);
      checked.append(body.substr(0, size));
      little(out_, crc32_ieee(checked), 4);
      little(out_, size, 2);
      out_.append(checked);
      body.remove_prefix(size);
    }
  }
  /// Any member of the Record's oneof.
  void member(uint32_t field, std::string_view body) {
    std::string record_body;
    field_varint(record_body, 1, ++number_);
    field_bytes(record_body, field, body);
    record(record_body);
  }
  static std::string timestamp(int64_t ms) {
    std::string body;
    field_varint(body, 1, static_cast<uint64_t>(ms / 1000));
    if (ms % 1000 != 0) field_varint(body, 2, static_cast<uint64_t>(ms % 1000) * 1'000'000);
    return body;
  }
  /// `nested`: as wandb-core writes (nested_key only); otherwise as the older Python writer (key).
  static std::string item(std::string_view key, std::string_view json, bool nested) {
    std::string body;
    field_bytes(body, nested ? 2 : 1, key);
    field_bytes(body, 16, json);
    return body;
  }
  void history(int64_t step, double time, const Values& values, bool nested = true) {
    std::string body;
    for (const auto& [key, json] : values) field_bytes(body, 1, item(key, json, nested));
    field_bytes(body, 1, item("_timestamp", format_double(time), nested));
    field_bytes(body, 1, item("_step", std::to_string(step), nested));
    std::string at;
    if (step != 0) field_varint(at, 1, static_cast<uint64_t>(step));
    field_bytes(body, 2, at);
    member(2, body);
  }
  void stats(int64_t ms, const Values& values) {
    std::string body;
    field_bytes(body, 2, timestamp(ms));
    for (const auto& [key, json] : values) field_bytes(body, 3, item(key, json, false));
    member(7, body);
  }
  void output(std::string_view text, bool standard_output, int64_t ms, bool raw = true) {
    std::string body;
    if (standard_output) field_varint(body, 1, 1);
    field_bytes(body, 2, timestamp(ms));
    field_bytes(body, 3, text);
    member(raw ? 13 : 4, body);
  }
  void run(std::string_view id, std::string_view name, const Values& config, int64_t start_ms) {
    std::string settings;
    for (const auto& [key, json] : config) field_bytes(settings, 1, item(key, json, false));
    std::string body;
    field_bytes(body, 1, id);
    field_bytes(body, 4, settings);
    field_bytes(body, 8, name);
    field_bytes(body, 17, timestamp(start_ms));
    member(17, body);
  }
  void exit(int code, int runtime_s) {
    std::string body;
    if (code != 0) field_varint(body, 1, static_cast<uint64_t>(static_cast<int64_t>(code)));
    field_varint(body, 2, static_cast<uint64_t>(runtime_s));
    member(18, body);
  }
  const std::string& bytes() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
  uint64_t number_ = 0;
};

// ---- TensorBoard event files -------------------------------------------------------------------------------------
class Tfevents {
 public:
  explicit Tfevents(double time = 1.7e9) {
    std::string event;
    field_double(event, 1, time);
    field_bytes(event, 3, "brain.Event:2");
    record(event);
  }
  void record(std::string_view data) {
    std::string length;
    little(length, data.size(), 8);
    out_.append(length);
    little(out_, mask_crc32c(crc32c(length)), 4);
    out_.append(data);
    little(out_, mask_crc32c(crc32c(data)), 4);
  }
  /// One event with the summary values given (bodies of Summary.Value).
  void event(int64_t step, double time, const std::vector<std::string>& values) {
    std::string summary;
    for (const std::string& value : values) field_bytes(summary, 1, value);
    std::string body;
    field_double(body, 1, time);
    if (step != 0) field_varint(body, 2, static_cast<uint64_t>(step));
    field_bytes(body, 5, summary);
    record(body);
  }
  static std::string simple(std::string_view tag, float value) {
    std::string body;
    field_bytes(body, 1, tag);
    field_float(body, 2, value);
    return body;
  }
  /// A tensor of rank 0 whose content is `content`.
  static std::string tensor(std::string_view tag, uint64_t type, std::string_view content) {
    std::string tensor_body;
    field_varint(tensor_body, 1, type);
    field_bytes(tensor_body, 2, "");
    field_bytes(tensor_body, 4, content);
    return with_tensor(tag, tensor_body, "scalars");
  }
  static std::string with_tensor(std::string_view tag, std::string_view tensor_body, std::string_view plugin) {
    std::string plugin_data, metadata, body;
    field_bytes(plugin_data, 1, plugin);
    field_bytes(metadata, 1, plugin_data);
    field_bytes(body, 1, tag);
    field_bytes(body, 8, tensor_body);
    field_bytes(body, 9, metadata);
    return body;
  }
  const std::string& bytes() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

}  // namespace mw::encode
