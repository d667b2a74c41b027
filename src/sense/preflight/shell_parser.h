// Words and operators of a bash script.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sense/preflight/shell_script.h"

namespace mw::preflight {

/// Cuts one script into commands and hands them to its reader, whose variables it expands.
class ShellParser {
 public:
  ShellParser(ShellReader& reader, std::string_view text, const std::string& file)
      : reader_(reader), text_(text), file_(file) {}
  void run();

 private:
  static constexpr size_t kNested = 40;  ///< levels of ${...:-${...}}

  // A word being built: text may split into several words at unquoted variables.
  struct Building {
    std::vector<ShellWord> done;
    std::string text;
    bool begun = false, unsure = false;
    Place place;  ///< of the item of an array that the word comes from
  };

  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool ended() const { return at_ >= text_.size(); }
  void next();
  bool blanks();
  bool operator_here();
  void heredoc_mark();
  void skip_heredocs();
  void word();
  bool array(const std::string& name, bool more);
  void double_quoted(Building& building, size_t nested);
  void single_quoted(Building& building);
  void dollar(Building& building, bool quoted, size_t nested);
  void braced(Building& building, bool quoted, size_t nested);
  void substitution(Building& building, char open, char close);
  void backquoted(Building& building);
  void use(Building& building, const std::string& name, bool quoted, bool all);
  void add(Building& building, std::string_view value, bool quoted) const;
  static void split_word(Building& building);
  void finish_word(Building& building, uint32_t line);
  void end_command();
  void keyword();

  ShellReader& reader_;
  std::string_view text_;
  const std::string& file_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  size_t branches_ = 0;                ///< open if, case, for, while
  std::vector<ShellWord> words_;       ///< of the command so far
  std::vector<std::string> heredocs_;  ///< marks that begin after this line
};

}  // namespace mw::preflight
