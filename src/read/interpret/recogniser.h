// Whose trainer is this? Signs of all dialects add up as log-odds; the best trainer names the framework.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "read/books/dialect_book.h"
#include "read/interpret/known_names.h"
#include "read/match/regex.h"

namespace mw {

/// One per run: all its files bear witness. Each sign counts once, however often it is seen. May be asked at any time
/// and again as more is seen.
class Recogniser {
 public:
  struct Answer {
    std::optional<size_t> dialect;     ///< index into the book; none: nothing known speaks
    std::string framework = "custom";  ///< as in docs/words.md
    std::string version;               ///< of it, when the run states it
    double confidence = 0;             ///< 0..1
  };
  static constexpr double kLeastEvidence = 2;     ///< log-odds below which a name is not given
  static constexpr double kHint = 3;              ///< log-odds below which a trainer is only hinted at
  static constexpr uint64_t kUnknownRecords = 3;  ///< metric records that make an unknown trainer
  static constexpr double kOwnName = 0.75;        ///< log-odds of a metric name that only one dialect has a rule for
  static constexpr double kLoneName = 1.5;  ///< log-odds that one metric name gives at most, with nothing beside it
  static constexpr double kOwnNamesLimit = 4.5;  ///< log-odds that such names add up to at most
  static constexpr size_t kNameLimit = 20000;    ///< different metric and config names that are looked at

  explicit Recogniser(const DialectBook& book);

  /// A sign was seen (a pattern of the book's set hit a line).
  void sign(size_t dialect, size_t index);
  /// A metric name, config key or file name was seen.
  void name(Sign::In in, std::string_view text);
  /// Those of a metric record, of which it has not seen all before.
  void names(std::span<KnownName* const> record);
  /// Looks for the line signs in a piece of text by itself, for when no pattern set runs (samples of a file).
  void text(std::string_view piece);

  /// A line states the version of that dialect's program.
  void set_version(size_t dialect, std::string_view text);

  /// A metric record of a trainer that no dialect speaks for was read: then an engine's words do not name the run.
  void unknown_trainer() { version_ += ++unknown_records_ == kUnknownRecords ? 1 : 0; }
  /// From now on the answer is this dialect (its id, or the framework's name), whatever is seen. "custom" is nobody's
  /// dialect. False when no dialect is called so.
  bool force(std::string_view name);

  Answer answer() const;
  /// Changes whenever answer() may have.
  uint64_t version() const { return version_; }
  const DialectBook& book() const { return book_; }

 private:
  struct Best {
    std::optional<size_t> dialect;
    double score = 0, second = 0;  // of the best, and of the best that is not related to it
  };
  struct Evidence {  // of a dialect
    size_t signs = 0;
    bool plain = false;  // one is a metric name without a namespace, which anybody may use
  };
  bool regex_hits(size_t dialect, size_t index, std::string_view text);
  void strongest(std::vector<std::pair<size_t, size_t>>& signs, bool plain);
  double own_score(size_t dialect) const;
  double score(size_t dialect) const;
  Best best_of(Dialect::Family family, bool bases = true) const;

  struct Name {  // a sign that is no line's
    std::string_view pattern;
    size_t dialect = 0, index = 0;
    Sign::In in = Sign::In::kLine;
  };

  const DialectBook& book_;
  std::vector<Name> exact_;  // signs that are names, in the order of these: names are many, and few are signs
  std::vector<Name> open_;   // those that many names may match
  std::vector<double> scores_;
  std::vector<double> own_names_;      // per dialect: what names of its rules add to the score
  std::vector<Evidence> evidence_;     // per dialect
  std::vector<std::string> versions_;  // per dialect
  std::vector<std::vector<bool>> seen_;
  std::vector<std::vector<std::optional<Regex>>> compiled_;  // signs' patterns, once they were needed
  std::unordered_set<uint64_t> names_;                       // hashes of names already looked at; never iterated
  uint64_t version_ = 0;
  uint64_t unknown_records_ = 0;
  std::optional<Answer> forced_;
};

}  // namespace mw
