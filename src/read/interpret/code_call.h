// Which function a piece of Python calls: an agent's code that ran for long is named by it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mw {

/// Reads code line by line, as it stands in a log: it may be cut off, and it may be no valid Python.
class CodeCall {
 public:
  static constexpr size_t kNameBytes = 60;    ///< of a function's name; longer ones are passed over
  static constexpr size_t kLineBytes = 4096;  ///< of a line that are looked at
  static constexpr size_t kNames = 256;       ///< that are kept of one piece of code, of each kind

  void read(std::string_view line);
  size_t lines() const { return lines_; }
  /// The first function that is called by its plain name and that the code neither defines nor takes from Python's own
  /// or the usual modules for figures and plots; else the first one of a module that the code imports ("gget.info");
  /// else "". An ASCII identifier, with dots at most.
  std::string name() const;

 private:
  enum class Source : uint8_t { kOwn, kOrdinary, kImported };            // where the code has a name from
  enum class Import : uint8_t { kNone, kModules, kFromModule, kNames };  // the part of an import that we are in
  enum class Before : uint8_t { kNothing, kDot, kAt, kDefinition, kTarget, kAs };

  void tokens(std::string_view code);
  size_t string_at(std::string_view code, size_t at, bool formatted);
  void fields_of(std::string_view text);
  void word(std::string_view word, std::string_view rest);
  void imported(std::string_view word, bool alias);
  void mark(char c);
  void bind(std::string_view name, Source source);

  std::vector<std::string> calls_;
  std::map<std::string, Source, std::less<>> names_;
  size_t lines_ = 0;
  bool other_language_ = false;
  char triple_ = 0;          // the quote of a string that goes over several lines
  int depth_ = 0;            // of brackets
  bool start_ = true;        // of a statement
  bool parameters_ = false;  // of a function that is defined
  Before before_ = Before::kNothing;
  Import import_ = Import::kNone;
  bool ordinary_ = false;  // the module that names are imported from is
};

}  // namespace mw
