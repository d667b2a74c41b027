#include "act/supervise/seal.h"

#include <sys/random.h>

#include <array>

#include "base/json.h"
#include "base/text.h"
#include "platform/durable.h"

namespace mw {

std::string random_nonce() {
  std::array<unsigned char, 8> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return "";
  std::string out;
  for (const unsigned char byte : bytes) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

std::string seal_text(std::string_view nonce, std::string_view what, Time at) {
  std::string out;
  JsonWriter(out)
      .begin_object()
      .key("version")
      .integer(1)
      .key("run")
      .string(nonce)
      .key("what")
      .string(what)
      .key("at")
      .string(format_utc(at))
      .end_object();
  return out;
}

Result<Seal> seal_of(Disk& disk, const std::string& path, std::string_view nonce) {
  const auto there = is_there(disk, path);
  if (!there.ok()) return there.error();
  if (!*there) return Seal::kNone;
  if (nonce.empty()) return Seal::kOurs;
  const auto text = read_small(disk, path);
  if (!text.ok()) return text.error();
  const auto json = Json::parse(*text);
  return json.ok() && json->is_object() && json->string_or("run", "") == nonce ? Seal::kOurs : Seal::kForeign;
}

Result<bool> is_there(Disk& disk, const std::string& path) {
  const auto info = disk.info(path);
  if (info.ok()) return true;
  if (info.error().code == Error::Code::kNotFound) return false;
  return info.error();
}

}  // namespace mw
