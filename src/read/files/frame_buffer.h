// Feeds a parser of frames whose length is known from their first bytes, without copying what comes in one piece.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mw {

/// Keeps the incomplete frame at the end of what was fed so far.
class FrameBuffer {
 public:
  /// Calls `consume(view)` with views that begin at a frame; it returns how many bytes it is done with and sets
  /// `wanted` to the bytes that it needs to see, from there, to go on (at least one more than were left).
  template <typename Consume>
  void feed(std::string_view bytes, size_t& wanted, Consume consume) {
    while (!pending_.empty() && !bytes.empty()) {
      const size_t missing = wanted > pending_.size() ? wanted - pending_.size() : 1;
      const size_t take = missing < bytes.size() ? missing : bytes.size();
      pending_.append(bytes.substr(0, take));
      bytes.remove_prefix(take);
      if (pending_.size() < wanted) return;
      pending_.erase(0, consume(std::string_view(pending_)));
    }
    if (bytes.empty()) return;
    const size_t used = consume(bytes);
    pending_.assign(bytes.substr(used));
  }
  std::string_view pending() const { return pending_; }

 private:
  std::string pending_;
};

}  // namespace mw
