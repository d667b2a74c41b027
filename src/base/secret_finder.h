// Finds the secrets of one line. For the redactor's own files; everybody else calls redact_secrets().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/secret_shapes.h"
#include "base/secrets.h"

namespace mw {

class SecretFinder {
 public:
  /// `cut`: the line may have been wrapped at its end.
  SecretFinder(std::string_view line, bool cut) : line_(line), cut_(cut) {}
  SecretFinder(std::string&& line, bool cut) : own_(std::move(line)), line_(own_), cut_(cut) {}
  SecretFinder(const SecretFinder&) = delete;
  SecretFinder& operator=(const SecretFinder&) = delete;

  /// In the order in which they begin; they may touch. Of names and forms that begin before `until`.
  std::vector<SecretSpan> find(size_t until = std::string_view::npos);

 private:
  size_t look(size_t at, size_t end, uint32_t letters);
  // By name.
  SecretSpan named(size_t at, size_t end) const;
  size_t separator(size_t at, size_t end, NameSays& says, bool& to_the_end) const;
  SecretSpan value_at(size_t at, NameSays says, bool to_the_end, bool loud) const;
  SecretSpan quoted(size_t at) const;
  size_t bare_end(size_t at, bool to_the_end, bool loud) const;
  bool meant(std::string_view value, NameSays says, bool loud) const;
  SecretSpan after_scheme(size_t at, size_t end) const;
  SecretSpan after_word(size_t at, size_t end) const;
  // By form.
  void forms(size_t at, size_t end);
  bool random_at(size_t at, size_t& end) const;
  // In an address.
  size_t address(size_t begin);
  size_t user(size_t begin, size_t end);
  void path(std::string_view host, size_t begin, size_t end);
  void query(size_t begin, size_t end);

  void mark(size_t begin, size_t end) {
    if (end > begin) found_.push_back({begin, end});
  }
  char at(size_t i) const { return i < line_.size() ? line_[i] : '\0'; }
  std::string_view part(size_t begin, size_t end) const { return line_.substr(begin, end - begin); }

  std::string own_;
  std::string_view line_;
  bool cut_;
  std::vector<SecretSpan> found_;
};

/// False for most names, of which name_says() need not be asked: they hold none of the words that say something.
bool may_say(std::string_view name);

/// Words that stand where a secret would: "none", "EMPTY", "your_api_key", "$HF_TOKEN", "***".
bool stands_for_secret(std::string_view value);

}  // namespace mw
