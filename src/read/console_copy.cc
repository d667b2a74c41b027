#include "read/console_copy.h"

#include <algorithm>

#include "base/checksum.h"
#include "base/text.h"

namespace mw {

void ConsoleCopy::text(std::string_view head, uint64_t size) {
  texts_ = true;
  if (size > kWhole || head.size() < size) {
    long_text_ = true;
    return;
  }
  while (!head.empty()) {
    const size_t end = std::min(head.find('\n'), head.size());
    const std::string_view line = trim(head.substr(0, end));
    if (line.size() >= kLineLeast) {
      const uint64_t hash = fnv1a(line);
      in_texts_.insert(hash);
      copied_ = copied_ || in_console_.find(hash) != in_console_.end();
    }
    head.remove_prefix(std::min(end + 1, head.size()));
  }
}

void ConsoleCopy::console(std::string_view line) {
  line = trim(line);
  if (line.size() < kLineLeast || in_console_.size() >= kLines) return;
  const uint64_t hash = fnv1a(line);
  in_console_.insert(hash);
  copied_ = copied_ || in_texts_.find(hash) != in_texts_.end();
}

bool ConsoleCopy::is_read() const {
  // A console that has said nothing yet may be the one that the text shows.
  return !texts_ || !(long_text_ || copied_ || in_console_.empty());
}

}  // namespace mw
