#include "act/vault/sealed.h"

#include "base/digest.h"
#include "base/text.h"

namespace mw::vault {
namespace {

constexpr size_t kHashDigits = 32;

}  // namespace

std::string sealed(std::string_view schema, std::string_view body) {
  return cat("{\"schema\":\"", schema, "\",\"xxh3_128\":\"", content_hash(body), "\",\"content\":", body, "}\n");
}

Result<std::string_view> unsealed(std::string_view schema, std::string_view text) {
  const std::string before = cat("{\"schema\":\"", schema, "\",\"xxh3_128\":\"");
  constexpr std::string_view kThen = "\",\"content\":", kEnd = "}\n";
  const size_t head = before.size() + kHashDigits + kThen.size();
  if (!text.starts_with(before)) return Error{Error::Code::kInvalid, cat("this is no ", schema), ""};
  if (text.size() < head + kEnd.size() || !text.ends_with(kEnd) ||
      text.substr(before.size() + kHashDigits, kThen.size()) != kThen) {
    return Error{Error::Code::kInvalid, "it is cut or changed", ""};
  }
  const std::string_view body = text.substr(head, text.size() - head - kEnd.size());
  if (content_hash(body) != text.substr(before.size(), kHashDigits)) {
    return Error{Error::Code::kInvalid, "its checksum is wrong", ""};
  }
  return body;
}

Result<Json> unseal(std::string_view schema, std::string_view text) {
  const auto body = unsealed(schema, text);
  if (!body.ok()) return body.error();
  auto json = Json::parse(*body);
  if (!json.ok() || !json->is_object()) return Error{Error::Code::kInvalid, "its content is no JSON object", ""};
  return json;
}

}  // namespace mw::vault
