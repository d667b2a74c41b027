// midwatch.toml: what a person decided for a run. Every key stands in one table (config_table.cc), from which the
// parser, the defaults, `midwatch config` and docs/config.md are made.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace mw {

inline constexpr std::string_view kConfigFile = "midwatch.toml";

struct ConfigKey {
  enum class Kind {
    kText,
    kPattern,   ///< the name of a checkpoint's folder, with {step} in it: core/checkpoint_layout.h
    kTexts,     ///< a list of strings
    kCommand,   ///< a program and its arguments, a string each
    kPath,      ///< relative to the folder of the file; "~/" is the home directory
    kPaths,     ///< a list of them
    kRoots,     ///< likewise, of folders in which things are moved or deleted: platform/paths.h, check_root()
    kInteger,   ///< within least..most
    kNumber,    ///< within least..most; any finite one where both are 0
    kDuration,  ///< "30s", "1h 30m"; least..most in seconds
    kSize,      ///< "10MB", "5GiB"; least..most in bytes
    kBoolean,
    kChoice,   ///< one of `choices`
    kChoices,  ///< a list of them
    kSecret,   ///< a string, { env = "NAME" } or { file = "PATH" }; never shown
  };
  std::string_view path;  ///< "run.restarts"; "*" stands for a name of the user's choice
  Kind kind = Kind::kText;
  std::string_view otherwise;  ///< the default, as it would be written; "" when there is none
  double least = 0, most = 0;
  std::string_view choices;  ///< separated by single spaces
  std::string_view does;     ///< what it is for, one sentence
  std::string_view reason;   ///< why that default
};

struct ConfigSection {
  std::string_view path;  ///< "run", "notify.channel.*"
  std::string_view does;
};

std::span<const ConfigKey> config_keys();
std::span<const ConfigSection> config_sections();
/// Is there anything in the table of keys below this path?
bool is_config_section(const std::vector<std::string>& path);
/// The sections below it bear names of the user's choice: "rule", "notify.channel".
bool takes_names(std::string_view section);

/// "a duration such as "30s"": what a value of that kind is, for messages and the reference.
std::string_view kind_phrase(ConfigKey::Kind kind);

/// Where a secret is; its value is asked for when it is used, and kept nowhere.
struct Secret {
  enum class From { kNowhere, kText, kEnvironment, kFile };
  From from = From::kNowhere;
  std::string text;  ///< the secret itself, the variable's name, the file's path
  bool given() const { return from != From::kNowhere; }
};

struct ConfigValue {
  const ConfigKey* key = nullptr;
  uint32_t line = 0;  ///< of the file; 0: the default
  std::string text;   ///< kText, kPath, kChoice
  std::vector<std::string> texts;
  int64_t number = 0;  ///< kInteger; kBoolean as 0, 1; kDuration in nanoseconds; kSize in bytes
  double real = 0;     ///< kNumber
  Secret secret;
};

/// One thing that is wrong in a file.
struct ConfigProblem {
  uint32_t line = 0;
  std::string what, hint;
};

class Config {
 public:
  /// Parses a file's text. `path` names it in messages, and its folder is what relative paths start from. All problems
  /// are found at once; with any, the values are not to be used.
  static Config parse(std::string_view text, const std::string& path);

  const std::string& path() const { return path_; }  ///< "" when there is no file
  const std::vector<ConfigProblem>& problems() const { return problems_; }
  /// The problems as one error "path:line: what", the first in front; ok when there are none.
  Result<void> check() const;

  /// The value of a concrete path ("notify.channel.phone.url"): what the file says, else the default. nullptr when
  /// there is neither.
  const ConfigValue* find(std::string_view path) const;
  bool given(std::string_view path) const;  ///< by the file
  /// Of a path with no value, an empty one. A bug when the path is of another kind.
  std::string text(std::string_view path) const;
  std::vector<std::string> texts(std::string_view path) const;
  int64_t number(std::string_view path) const;
  double real(std::string_view path) const;
  bool boolean(std::string_view path) const { return number(path) != 0; }
  Duration duration(std::string_view path) const { return {number(path)}; }
  Secret secret(std::string_view path) const;
  /// The names that the file gives below a section ("notify.channel"), in byte order.
  std::vector<std::string> names(std::string_view section) const;
  /// The line of the file on which such a name begins; 0 when it does not.
  uint32_t line_of(std::string_view section, std::string_view name) const;
  /// All values in the order of the table, those below a name once per name.
  std::vector<std::pair<std::string, const ConfigValue*>> all() const;

 private:
  friend class ConfigParser;
  std::string path_;
  std::vector<ConfigProblem> problems_;
  std::map<std::string, ConfigValue, std::less<>> values_;  // defaults too
  std::map<std::string, std::map<std::string, uint32_t>, std::less<>> names_;
};

/// As it would be written in the file. A secret is never written: "<hidden>", or where it comes from.
std::string value_text(const ConfigValue& value);

/// Every key with its kind, default, limits and reasons, as Markdown: docs/config.md.
std::string config_page();
std::string config_reference_json();

}  // namespace mw
