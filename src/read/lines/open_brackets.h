// Which lines a printed dict or list may go on with: JSON with indents, Python's pprint.
#pragma once

#include <string>
#include <string_view>

namespace mw {

/// The brackets of a dict that is open after the lines read so far.
class OpenBrackets {
 public:
  /// Takes a line of it.
  void read(std::string_view line);
  /// Whether `line`, without blanks around it, may be the next line of it: a name in quotes or a closing bracket where
  /// a name is due, a value where a value is, and nothing behind a string that its line did not end.
  bool goes_on_with(std::string_view line) const;

 private:
  static constexpr size_t kDepth = 64;
  std::string open_;   // "{[": the brackets that are open
  char last_ = 0;      // the last character that is no blank
  bool torn_ = false;  // a string was open at the end of a line, or the brackets do not match
};

}  // namespace mw
