// What is known of one framework's configuration: keys by version, what they mean, the rules between them. Data in
// knowledge/preflight/*.toml (docs/formats/preflight.md).
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/toml.h"

namespace mw::preflight {

struct Facts;

enum class Level { kNote, kWarning, kError };
/// "note", "warning", "error".
std::string_view level_word(Level level);

/// Names of keys: "orchestrator.env.*.id"; "orchestrator.env.*.args.**" stands for anything below, "sglang_*" for what
/// begins so.
using Keys = std::set<std::string, std::less<>>;

/// `key` (without_numbers) is one of them, or below one of which it is not known what may stand there.
bool knows_key(const Keys& keys, std::string_view key);

/// A part of the history of a framework in which its keys were the same.
struct FrameworkVersion {
  std::string id;  ///< "2026-01"
  Keys keys;
};

/// A canonical setting: the keys that have it, the first that is set counts.
struct Meaning {
  std::vector<std::string> keys;
  std::string otherwise;  ///< what the framework takes when none is set; "" nothing
};

/// A rule between settings, or of one alone. `when` must hold in all parts, then the relation must hold.
struct Rule {
  std::string id;  ///< "prime-rl/batch-in-groups"
  Level level = Level::kError;
  std::vector<std::string> when;  ///< "KEY", "!KEY", "KEY = VALUE", "KEY != VALUE", "KEY < N", "KEY is text"
  enum class Relation { kNone, kWhole, kEqual, kAtMost } relation = Relation::kNone;
  std::vector<std::string> left, right;       ///< keys, meanings or numbers, multiplied
  std::string key;                            ///< which setting the finding points at; "" the first that is set
  std::string what, why, fix, source;         ///< with {KEY} for a value, {left} and {right} for the products
  std::vector<std::string> reported, silent;  ///< settings "key=value key=value" that prove it
};

struct Framework {
  std::string id, title, source;
  std::vector<std::string> words;   ///< of a command line by which it is recognised
  std::vector<std::string> tables;  ///< keys by which its files are recognised
  bool partial = false;             ///< its lists of keys lack some: only misspellings are judged
  bool strict = false;              ///< it refuses a key that it does not know
  std::vector<FrameworkVersion> versions;
  std::map<std::string, Meaning, std::less<>> meanings;
  std::map<std::string, std::string, std::less<>> defaults;  ///< of keys that rules use
  /// Where components of the run keep what they resume from, below the "output" folder: "trainer=checkpoints".
  std::vector<std::string> states;
  std::vector<Rule> rules;

  /// An error says what is wrong, with `path` and the line.
  static Result<Framework> parse(std::string_view text, std::string_view path);
};

/// All of knowledge/preflight: frameworks, rules that hold for every one of them, models.
struct Catalogue {
  std::vector<Framework> frameworks;
  std::vector<Rule> rules;
};

/// The framework that the command and its settings speak of; nullptr: none is recognised.
const Framework* recognise(const Catalogue& catalogue, const std::vector<std::string>& command, const Facts& facts);
/// The version that knows the most of the settings; "" when several do, or when more than kForeign settings are of
/// other versions: then it is one in between.
constexpr size_t kForeign = 2;
std::string version_of(const Framework& framework, const Facts& facts);

}  // namespace mw::preflight
