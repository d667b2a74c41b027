// How deep a byte of JSON lies, for text that comes in pieces.
#pragma once

#include <cstddef>

namespace mw {

class JsonNesting {
 public:
  /// Takes the next byte; whether it closes the outermost bracket. One that closes nothing is passed over.
  bool closes(char c) {
    if (in_string_) {
      in_string_ = escaped_ || c != '"';
      escaped_ = !escaped_ && c == '\\';
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if ((c == '}' || c == ']') && depth_ > 0) {
      return --depth_ == 0;
    }
    return false;
  }
  size_t depth() const { return depth_; }
  bool in_string() const { return in_string_; }

 private:
  size_t depth_ = 0;
  bool in_string_ = false, escaped_ = false;
};

}  // namespace mw
