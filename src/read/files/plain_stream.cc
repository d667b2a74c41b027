#include "read/files/plain_stream.h"

#include "read/files/inflate.h"
#include "read/files/log_events.h"
#include "read/files/utf16_text.h"

namespace mw {

std::unique_ptr<PlainStream> make_plain_stream(std::string_view head, uint64_t limit) {
  if (head.substr(0, 3) == "\x1f\x8b\x08") return std::make_unique<Inflater>(Inflater::Format::kGzip, limit);
  if (head.substr(0, 4) == "\x28\xb5\x2f\xfd") return std::make_unique<Inflater>(Inflater::Format::kZstd, limit);
  if (const auto order = utf16_of(head)) return std::make_unique<Utf16Text>(*order);
  if (are_log_events(head)) return std::make_unique<LogEvents>(head);
  return nullptr;
}

std::unique_ptr<PlainStream> make_plain_stream(std::string_view head) { return make_plain_stream(head, kInflateLimit); }

}  // namespace mw
