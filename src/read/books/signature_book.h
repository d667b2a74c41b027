// All failures and causes that this process knows: read from knowledge/signatures/*.toml, knowledge/causes/*.toml and
// the user's files (docs/formats/signature.md), checked, and ready to be matched.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/knowledge.h"
#include "read/match/pattern_set.h"
#include "read/match/regex.h"

namespace mw {

class ArchiveReader;
class ArchiveWriter;
class Toml;

/// A signature that a line shows.
struct SignatureHit {
  uint32_t signature = 0;  ///< index into Knowledge::signatures
  bool weak = false;       ///< only by patterns that corroborate and never decide alone
};

class SignatureBook {
 public:
  /// What a pattern of patterns() belongs to.
  struct Target {
    uint32_t signature = 0;  ///< index into Knowledge::signatures
    bool weak = false;
  };
  struct Examples {  ///< of one signature: lines that must, and lines that must not, be matched
    std::vector<std::string> lines;
    std::vector<std::string> counter_lines;
  };
  /// A file that the user adds to the built-in ones.
  struct File {
    std::string path;  ///< for messages
    std::string text;
  };

  /// The built-in files, then the user's in order: a user's signature or cause replaces one of the same id. An error
  /// names file and line: unknown key, kind or word; an id twice; an id that is referred to and missing; a user's
  /// pattern that is no RE2 expression (the tests try the built-in ones).
  static Result<SignatureBook> load(std::span<const File> user_files);
  /// The built-in ones as the build read them (compiled.h): without patterns() and examples().
  void write(ArchiveWriter& out) const;
  static SignatureBook read(ArchiveReader& in);

  const Knowledge& knowledge() const { return knowledge_; }
  void add(UserRule rule) { knowledge_.add(std::move(rule)); }
  void set_engines(std::vector<Engine> engines) { knowledge_.engines = std::move(engines); }

  /// The literals and regular expressions of all signatures, numbered from `first_id`, for the one PatternSet of the
  /// process. Pattern first_id + i belongs to target(i).
  std::vector<Pattern> patterns(uint32_t first_id) const;
  size_t pattern_count() const { return targets_.size(); }
  const Target& target(size_t index) const { return targets_[index]; }

  /// The signatures that `line` shows, given the patterns that matched it (indices as in target(), any order): each
  /// once, in the order of Knowledge::signatures, less those that one of their `unless` expressions takes back.
  void resolve(std::string_view line, std::span<const uint32_t> matched, std::vector<SignatureHit>& hits) const;

  const Examples& examples(size_t signature) const { return examples_[signature]; }

 private:
  struct Row;  // one [[signature]]: its value, patterns, examples
  class Loader;
  struct Faces {  // the patterns of one signature
    std::vector<std::string> text, regex, weak_text, weak_regex, unless_text;
    std::vector<Regex> unless;  // of unless_text
  };
  void number_patterns();

  Knowledge knowledge_;
  std::vector<Faces> faces_;        // per signature
  std::vector<Examples> examples_;  // per signature
  std::vector<Target> targets_;
};

}  // namespace mw
