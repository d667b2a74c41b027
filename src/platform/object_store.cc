#include "platform/object_store.h"

#include "base/digest.h"
#include "base/text.h"

namespace mw {

std::string Content::sum() const { return md5.empty() ? mw::md5(bytes) : std::string(md5); }

Result<std::string> get_small(ObjectStore& store, const std::string& key, size_t limit) {
  std::string out;
  const auto got = store.get(key, 0, -1, [&](std::string_view bytes) -> Result<void> {
    if (out.size() + bytes.size() > limit) return Error{Error::Code::kLimit, cat(key, " is too large"), ""};
    out += bytes;
    return {};
  });
  if (!got.ok()) return got.error();
  return out;
}

Result<std::vector<ObjectInfo>> list_all(ObjectStore& store, const std::string& prefix) {
  std::vector<ObjectInfo> all;
  std::string from;
  do {
    auto page = store.list(prefix, from);
    if (!page.ok()) return page.error();
    if (page->next == from && !from.empty()) return Error{Error::Code::kIo, "the listing does not go on", ""};
    from = page->next;
    for (ObjectInfo& one : page->objects) all.push_back(std::move(one));
  } while (!from.empty());
  return all;
}

bool is_plain_path(std::string_view path) {
  if (path.empty() || path.size() > 900) return false;
  for (const std::string_view name : split(path, '/')) {
    if (name.empty() || name == "." || name == ".." || name.size() > 255) return false;
    for (const char c : name) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\') return false;
    }
  }
  return true;
}

}  // namespace mw
