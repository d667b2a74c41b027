// Everything that midwatch knows of logs and failures, loaded once per process: dialects, signatures, causes, rules,
// and the one pattern set of dialects and signatures.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/secrets.h"
#include "core/knowledge.h"
#include "read/books/compiled.h"
#include "read/books/dialect_book.h"
#include "read/books/signature_book.h"
#include "read/interpret/interpreter.h"
#include "read/match/pattern_set.h"

namespace mw {

class KnowledgeBase {
 public:
  /// Reads the text of a file of [rule.NAME] tables, which `path` names in messages.
  using ReadRules = std::function<Result<std::vector<UserRule>>(std::string_view text, const std::string& path)>;

  /// The built-in knowledge, then that of `folders` (their dialects/, signatures/, causes/, rules/ or *.toml).
  static Result<std::unique_ptr<KnowledgeBase>> load(const std::vector<std::string>& folders,
                                                     const ReadRules& read_rules = {});

  /// The built-in knowledge as the build read it.
  static Result<std::unique_ptr<KnowledgeBase>> read(const CompiledKnowledge& compiled);

  const PatternIndex& pattern_index() const { return pattern_index_; }
  const PatternSet& patterns() const { return *patterns_; }
  /// The dialects' signs alone, by the same numbers: for a first look at a text.
  const PatternSet& signs() const { return *signs_; }
  const Knowledge& knowledge() const;
  /// To be called before anything is judged.
  void add(std::vector<UserRule> rules);
  /// What metrics of these names mean, whoever logs them: signal by name. To be called before anything is read.
  void name_signals(const std::map<std::string, std::string>& names);
  /// How the folder of one checkpoint is named (CheckpointLayout::folder), whatever the framework; "": as it does. To
  /// be called before anything is read.
  void name_checkpoints(const std::string& pattern);
  /// Secret values that must not appear in any event or output. Complete before anything is read.
  const KnownSecrets& known() const { return known_; }
  KnownSecrets& known() { return known_; }
  const DialectBook& book() const { return book_; }
  /// Of all that was loaded, as 16 hexadecimal digits: two watches with the same digest and build decide alike.
  std::string digest() const;
  /// How a framework names its checkpoints, or as the user said; unknown for one of which that is not known.
  CheckpointLayout checkpoints_of(const std::string& framework) const {
    return checkpoints_of(framework, checkpoint_pattern_);
  }
  /// Likewise of a run whose own configuration declares `pattern` ("": nothing), whatever was declared here.
  CheckpointLayout checkpoints_of(const std::string& framework, const std::string& pattern) const;
  /// Those whose checkpoints are known by what is in them, as a run's logs do not show whose they are: their numbers
  /// count saves.
  std::vector<std::string> savers() const;

 private:
  KnowledgeBase() = default;
  void index();
  DialectBook book_;
  std::string checkpoint_pattern_;  ///< the user's own
  std::string added_;               ///< paths and texts of the user's own files
  std::unique_ptr<SignatureBook> signatures_;
  std::vector<SignaturePattern> signature_patterns_;
  std::unique_ptr<PatternSet> patterns_, signs_;
  KnownSecrets known_;
  PatternIndex pattern_index_;
};

}  // namespace mw
