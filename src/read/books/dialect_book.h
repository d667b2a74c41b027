// All dialects that this process knows: read from knowledge/dialects/*.toml and from the user's folders, checked, and
// ready to be asked. Immutable after loading.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "read/books/dialect.h"
#include "read/books/format_rules.h"
#include "read/match/pattern_set.h"
#include "read/match/regex.h"

namespace mw {

class ArchiveReader;
class ArchiveWriter;

/// What a raw metric name means.
struct Meaning {
  std::string signal;  ///< canonical name; empty when nobody maps it
  double scale = 1;
  double offset = 0;  ///< added after scaling
  bool part = false;  ///< MetricRule::part
  std::string minus;  ///< MetricRule::minus
  uint64_t rank = 0;  ///< of several names of one signal in a record the lowest counts
  bool eval = false;
  bool ignored = false;
  bool sampled = false;  ///< its step is not the run's (Dialect::sampled)
};

/// Reads one dialect file. `path` is for messages ("path:line: what is wrong").
/// `built_in`: the tests compile its expressions, and they are not compiled here.
Result<Dialect> parse_dialect(std::string_view toml, std::string_view path, bool built_in = false);

class DialectBook {
 public:
  /// What a pattern of patterns() belongs to.
  struct Target {
    enum class Kind : uint8_t { kSign, kShape, kMarker };
    Kind kind = Kind::kSign;
    uint16_t dialect = 0;  ///< index into dialects()
    uint16_t index = 0;    ///< of its signs or shapes
  };

  DialectBook() = default;
  /// The built-in dialects. Fails only when one of them is broken, which is a fault of the build.
  static Result<DialectBook> built_in();
  /// The same, as the build read them (compiled.h): without their samples.
  void write(ArchiveWriter& out) const;
  static Result<DialectBook> read(ArchiveReader& in);
  /// Adds one dialect file; one with an id that is known already replaces it.
  Result<void> add(std::string_view toml, std::string_view path);
  /// Adds one rule file (docs/formats/rules.md): its log lines become shapes of a layer "rules-<id>".
  Result<void> add_rules(std::string_view toml, std::string_view path);
  /// The rule sets, for judging answers by their text.
  const std::vector<std::unique_ptr<FormatRuleSet>>& rule_sets() const { return rule_sets_; }

  /// `raw` means `signal` from here on, whoever logs it.
  void name_signal(const std::string& raw, const std::string& signal) { own_names_[raw] = signal; }

  const std::vector<Dialect>& dialects() const { return dialects_; }
  /// The index of a dialect by its id, or of the first with that framework name.
  std::optional<size_t> find(std::string_view id) const;

  /// True when `dialect`'s own words count while `speaker` is the framework that speaks: it is the same or one that the
  /// speaker extends, or nobody is recognised yet.
  bool counts(std::optional<size_t> speaker, size_t dialect) const;

  /// The literals and regexes of all line shapes and line signs, and the signs of trouble in any log ("Traceback",
  /// "ERROR", ...), numbered from `first_id`, for the one PatternSet of
  /// the process. Pattern first_id + i belongs to target(i).
  std::vector<Pattern> patterns(uint32_t first_id) const;
  /// Those of patterns(0) that are signs, with the same numbers.
  std::vector<Pattern> sign_patterns() const;
  size_t pattern_count() const { return targets_.size(); }
  const Target& target(size_t index) const { return targets_[index]; }
  const Regex* shape_regex(size_t dialect, size_t shape) const;

  /// What `raw` means while `dialect` (index; nullopt: none recognised yet) is the framework that speaks: its own
  /// rules, then those of engines and layers, then those of the generic dialect.
  Meaning meaning(std::optional<size_t> dialect, std::string_view raw) const;
  /// What `raw` would mean in an unknown trainer's mouth: the generic dialect's rules, as written and by the name's
  /// usual spelling (see normal_name()).
  Meaning generic_meaning(std::string_view raw) const;
  /// The trainer that alone has a rule for exactly this metric name (those that share a framework's name or extend one
  /// another count as one); nullopt when none has, when several have, or when any trainer may call a metric so.
  std::optional<size_t> only_trainer_with(std::string_view raw) const;

 private:
  struct Rules {  // one dialect's metric rules, ready to be looked up
    std::unordered_map<std::string_view, size_t> exact;
    std::vector<size_t> patterns;  // indices into Dialect::metrics, the longest raw name first
  };
  Result<void> put(Dialect dialect, std::string_view path, bool built_in);
  Result<void> put_rules(std::string_view toml, std::string_view path, bool built_in);
  Result<void> put_built_in_rules();
  void index();
  void index_names();
  const MetricRule* flat_rule(size_t dialect, std::string_view raw) const;
  std::optional<size_t> only_trainer_with_flat(std::string_view raw) const;
  bool is_whole_reward(std::string_view raw) const;
  bool look_up(size_t dialect, std::string_view raw, Meaning& meaning) const;

  bool look_up_own(std::string_view raw, Meaning& meaning) const;

  std::map<std::string, std::string, std::less<>> own_names_;
  std::vector<Dialect> dialects_;
  std::vector<std::unique_ptr<FormatRuleSet>> rule_sets_;
  std::vector<std::vector<std::optional<Regex>>> regexes_;  // per dialect, per shape
  std::vector<Rules> rules_;
  std::vector<Target> targets_;
  std::unordered_map<std::string_view, size_t> only_with_;  // exact raw name -> trainer, or kSeveral
};

/// Somebody named a framework that no dialect has.
Error no_such_dialect(const std::string& word);

}  // namespace mw
