// The line that an interpreter reads, with its secrets found when a part of it is about to become text of an event.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/secrets.h"

namespace mw {

class CleanLine {
 public:
  static constexpr size_t kContextBytes =
      8192;                                     ///< in front of a line that decide with it what is secret: a key in PEM
  static constexpr size_t kWholeLimit = 16384;  ///< bytes of a line that are looked at at once

  /// What stood in front of the next lines: `earlier`, then `before`. Both must live as long as the lines are read.
  /// `keys`: false when may_hold_key() is known to be false of both.
  void behind(std::string_view earlier, std::string_view before, bool keys) {
    earlier_ = earlier;
    before_ = before;
    keys_ = keys;
  }
  /// `whole` must live until the next call.
  void read(std::string_view whole) {
    whole_ = whole;
    ready_ = false;
  }
  /// `part` as text for an event: without secrets, valid UTF-8, at most `limit` bytes. What of it is secret is decided
  /// by all of the line that it is a part of (any other text stands for itself).
  std::string take(std::string_view part, size_t limit);
  /// Likewise; nothing shows where the end was left out.
  std::string cut(std::string_view part, size_t limit);
  /// Values that are to be hidden wherever they stand; nullptr: none.
  void know(const KnownSecrets* known) { known_ = known; }

 private:
  std::string clean(std::string_view part, size_t limit);
  void look(std::string_view text, std::vector<SecretSpan>& spans) const;
  std::string_view line_before(std::string& room) const;
  const KnownSecrets* known_ = nullptr;
  std::string_view whole_, earlier_, before_;
  bool keys_ = true;
  bool ready_ = false;
  std::vector<SecretSpan> spans_;  // of whole_, when it is ready
};

}  // namespace mw
