#include "app/config/config.h"

#include <algorithm>
#include <cmath>

#include "app/begin_run.h"
#include "app/config/component_settings.h"
#include "app/config/notify_settings.h"
#include "app/config/rule_settings.h"
#include "app/config/scrape_settings.h"
#include "app/config/start_settings.h"
#include "base/text.h"
#include "base/toml.h"
#include "base/units.h"
#include "core/checkpoint_layout.h"
#include "platform/paths.h"

namespace mw {
namespace {

using Kind = ConfigKey::Kind;

constexpr size_t kProblemLimit = 50;      // further ones are not listed
constexpr size_t kNameBytesLimit = 60;    // of a channel or hook
constexpr size_t kNamesLimit = 64;        // of one section
constexpr size_t kTextBytesLimit = 4096;  // of one value
// Names of midwatch 0.1, which are still read, and what they are called now.
constexpr std::string_view kOldCleanup = "free-space", kCleanup = "cleanup", kOldQuarantine = "set-aside",
                           kQuarantine = "quarantine";

std::vector<std::string_view> choices_of(const ConfigKey& key) { return split(key.choices, ' '); }

std::string shown(std::string_view text) { return cat("\"", clip(sanitize_utf8(text), 80), "\""); }

/// Of files that hold weights, and that nothing of midwatch's can verify.
bool names_another_file(const std::string& pattern) {
  constexpr std::string_view kEndings[] = {".pkl", ".pickle", ".msgpack", ".gguf", ".npz", ".h5", ".tar", ".zip"};
  const std::string lower = to_lower(pattern);
  return std::any_of(std::begin(kEndings), std::end(kEndings),
                     [&lower](std::string_view ending) { return lower.ends_with(ending); });
}

/// "channel.*.url" below "notify"; a name of the user's choice is matched by "*".
bool matches(std::string_view pattern, const std::vector<std::string>& path) {
  const auto parts = split(pattern, '.');
  if (parts.size() != path.size()) return false;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] != "*" && parts[i] != path[i]) return false;
  }
  return true;
}

std::string joined(const std::vector<std::string>& path) {
  std::string out;
  for (const std::string& part : path) out += cat(out.empty() ? "" : ".", part);
  return out;
}

bool good_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesLimit && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

}  // namespace

/// Walks over a parsed file along the table of keys.
class ConfigParser {
 public:
  explicit ConfigParser(Config& out) : out_(out) {}

  void file(const Toml& root) { table(root, {}); }

  void defaults() {
    for (const ConfigKey& key : config_keys()) {
      if (key.path.find('*') == std::string_view::npos) otherwise(key, std::string(key.path));
    }
    for (const auto& [section, names] : out_.names_) {
      for (const auto& [name, line] : names) {
        const std::string below = cat(section, ".*.");
        for (const ConfigKey& key : config_keys()) {
          if (key.path.substr(0, below.size()) != below) continue;
          otherwise(key, cat(section, ".", name, ".", key.path.substr(below.size())));
        }
      }
    }
  }

 private:
  void problem(const Toml& at, std::string what, std::string hint = "") {
    if (out_.problems_.size() < kProblemLimit) out_.problems_.push_back({at.line(), std::move(what), std::move(hint)});
  }

  void otherwise(const ConfigKey& key, const std::string& path) {
    if (key.otherwise.empty() || out_.values_.count(path) > 0) return;
    const auto parsed = Toml::parse(cat("value = ", key.otherwise), "default");
    MW_CHECK(parsed.ok());
    ConfigValue value;
    value.key = &key;
    const size_t before = out_.problems_.size();
    take(*parsed->find("value"), value);
    MW_CHECK(out_.problems_.size() == before);
    value.line = 0;
    out_.values_[path] = std::move(value);
  }

  /// A key of the sections below it, which bear names.
  static bool lacks_name(const std::vector<std::string>& path, const std::string& name) {
    return std::any_of(config_keys().begin(), config_keys().end(),
                       [&](const ConfigKey& key) { return key.path == cat(joined(path), ".*.", name); });
  }

  void table(const Toml& at, const std::vector<std::string>& path) {
    for (const auto& [name, value] : at.members()) {
      std::vector<std::string> here = path;
      here.push_back(path.empty() && name == kOldCleanup ? std::string(kCleanup) : name);
      const auto key = std::find_if(config_keys().begin(), config_keys().end(),
                                    [&](const ConfigKey& k) { return matches(k.path, here); });
      if (key != config_keys().end()) {
        ConfigValue taken;
        taken.key = &*key;
        taken.line = value.line();
        take(value, taken);
        out_.values_[joined(here)] = std::move(taken);
      } else if (!is_config_section(here)) {
        unknown(value, here);
      } else if (!value.is_table() && lacks_name(path, name)) {
        problem(value, cat("[", joined(path), "] needs a name"), cat("Write [", joined(path), ".NAME]"));
      } else if (!value.is_table()) {
        problem(value, cat(shown(name), " is a section, not ", value.kind_name()), cat("Write [", joined(here), "]"));
      } else if (named(value, here)) {
        table(value, here);
      }
    }
  }

  /// Notes a name of the user's choice; false when it cannot be one.
  bool named(const Toml& at, const std::vector<std::string>& path) {
    const std::string section = joined({path.begin(), path.end() - 1});
    if (!takes_names(section)) return true;
    if (!good_name(path.back())) {
      problem(at, cat(shown(path.back()), " cannot be a name"), "Use up to 60 letters, digits, '-' and '_'.");
      return false;
    }
    auto& names = out_.names_[section];
    if (names.size() >= kNamesLimit) {
      problem(at, cat("more than ", kNamesLimit, " of [", section, "]"));
      return false;
    }
    names[path.back()] = at.line();
    return true;
  }

  void unknown(const Toml& at, const std::vector<std::string>& path) {
    const std::vector<std::string> above(path.begin(), path.end() - 1);
    std::vector<std::string_view> known;
    const auto note = [&](std::string_view pattern) {
      const auto parts = split(pattern, '.');
      if (parts.size() < path.size()) return;
      for (size_t i = 0; i < above.size(); ++i) {
        if (parts[i] != "*" && parts[i] != above[i]) return;
      }
      if (parts[above.size()] != "*") known.push_back(parts[above.size()]);
    };
    for (const ConfigKey& key : config_keys()) note(key.path);
    for (const ConfigSection& section : config_sections()) note(section.path);
    std::string hint;
    const std::string_view near = nearest(path.back(), known);
    if (!near.empty()) {
      hint = cat("Did you mean ", near, "?");
    } else {
      for (const ConfigKey& key : config_keys()) {
        const size_t dot = key.path.rfind('.');
        if (key.path.substr(dot + 1) == path.back()) {
          hint = cat(path.back(), " belongs into [", key.path.substr(0, dot), "].");
          break;
        }
      }
    }
    for (const ConfigSection& section : config_sections()) {
      const std::string_view named = section.path.substr(0, section.path.rfind('.'));
      const bool here =
          named.rfind('.') != std::string_view::npos && named.substr(0, named.rfind('.')) == joined(above);
      if (hint.empty() && at.is_table() && here && takes_names(named))
        hint = cat("Write [", named, ".", path.back(), "]");
    }
    if (hint.empty()) hint = "midwatch config reference lists all keys.";
    problem(at,
            cat("unknown ", at.is_table() ? "section " : "key ", shown(path.back()),
                above.empty() ? "" : cat(" in [", joined(above), "]")),
            hint);
  }

  bool string(const Toml& at, const ConfigKey& key, std::string& out) {
    if (!at.is_string()) {
      problem(at, cat(key.path, " is ", kind_phrase(key.kind), ", not ", at.kind_name()));
      return false;
    }
    if (at.text().size() > kTextBytesLimit || at.text().find('\0') != std::string::npos) {
      problem(at, cat(key.path, ": a text of at most ", kTextBytesLimit, " bytes, without a zero byte, is expected"));
      return false;
    }
    out = at.text();
    return true;
  }

  bool strings(const Toml& at, const ConfigKey& key, std::vector<std::string>& out) {
    if (!at.is_array()) {
      problem(at, cat(key.path, " is ", kind_phrase(key.kind), ", not ", at.kind_name()),
              at.is_string() && key.kind != Kind::kCommand ? cat("Write [", shown(at.text()), "]")
              : at.is_string() ? cat("Write [\"bash\", \"-c\", ", shown(at.text()), "], or a string for each word.")
                               : "");
      return false;
    }
    for (const Toml& item : at.items()) {
      std::string text;
      if (!string(item, key, text)) return false;
      out.push_back(std::move(text));
    }
    return true;
  }

  void path(const Toml& at, const ConfigKey& key, std::string& out) {
    if (out.empty()) return problem(at, cat(key.path, " is an empty path"));
    out = absolute_path(out, folder_of(out_.path_));
    if (key.path.substr(key.path.rfind('.') + 1) != "home") return;
    if (const auto good = check_home(out); !good.ok())
      problem(at, cat(key.path, ": ", good.error().what), good.error().hint);
  }

  /// Links above the file's own folder are the user's business; what the file names must not lead elsewhere.
  void root(const Toml& at, const ConfigKey& key, std::string& out) {
    const auto checked = check_root(absolute_path(out, real_path(folder_of(out_.path_))));
    if (!checked.ok()) return problem(at, cat(key.path, ": ", checked.error().what), checked.error().hint);
    out = *checked;
  }

  void choice(const Toml& at, const ConfigKey& key, const std::string& word) {
    const auto choices = choices_of(key);
    if (std::find(choices.begin(), choices.end(), word) != choices.end()) return;
    const std::string_view near = nearest(word, choices);
    std::string all;
    for (const std::string_view one : choices) all += cat(all.empty() ? "" : ", ", one);
    problem(at, cat(key.path, " cannot be ", shown(word)),
            near.empty() ? cat("It is one of ", all, ".") : cat("Did you mean ", near, "? It is one of ", all, "."));
  }

  void within(const Toml& at, const ConfigKey& key, double value, const std::string& least, const std::string& most) {
    if (value >= key.least && value <= key.most) return;
    problem(at, cat(key.path, " is out of its range"), cat("It goes from ", least, " to ", most, "."));
  }

  void number(const Toml& at, ConfigValue& out) {
    const ConfigKey& key = *out.key;
    if (key.kind == Kind::kBoolean) {
      if (at.kind() != Toml::Kind::kBoolean) {
        return problem(at, cat(key.path, " is true or false, not ", at.kind_name()),
                       "Write true or false, without quotes.");
      }
      out.number = at.boolean() ? 1 : 0;
      return;
    }
    const bool integer = at.kind() == Toml::Kind::kInteger;
    if (key.kind == Kind::kNumber) {
      if ((!integer && at.kind() != Toml::Kind::kFloat) || !std::isfinite(at.number())) {
        return problem(at, cat(key.path, " is a number, not ", at.is_string() ? at.kind_name() : "this"),
                       at.is_string() ? "Write it without quotes and without a unit, as 0.05 or 5e9." : "");
      }
      out.real = at.number();
      if (key.most > key.least) within(at, key, out.real, format_short(key.least), format_short(key.most));
      return;
    }
    if (key.kind == Kind::kInteger) {
      if (!integer) return problem(at, cat(key.path, " is a whole number, not ", at.kind_name()));
      out.number = at.integer();
      return within(at, key, static_cast<double>(out.number), cat(static_cast<int64_t>(key.least)),
                    cat(static_cast<int64_t>(key.most)));
    }
    const bool duration = key.kind == Kind::kDuration;
    if (integer && at.integer() == 0) {
      out.number = 0;
    } else if (!at.is_string()) {
      const std::string written = integer ? cat("\"", at.integer(), duration ? "s" : "GB", "\"") : "";
      return problem(at, cat(key.path, " is ", kind_phrase(key.kind), ", not ", at.kind_name()),
                     written.empty() ? "" : cat("Give it a unit: ", written));
    } else if (duration) {
      const auto parsed = parse_duration(at.text());
      if (!parsed.ok()) return problem(at, cat(key.path, ": ", parsed.error().what), parsed.error().hint);
      out.number = parsed->ns;
    } else {
      const auto parsed = parse_size(at.text());
      if (!parsed.ok()) return problem(at, cat(key.path, ": ", parsed.error().what), parsed.error().hint);
      out.number = *parsed;
    }
    if (duration) {
      return within(at, key, static_cast<double>(out.number) / 1e9, duration_text(Duration::seconds(key.least)),
                    duration_text(Duration::seconds(key.most)));
    }
    within(at, key, static_cast<double>(out.number), size_text(static_cast<int64_t>(key.least)),
           size_text(static_cast<int64_t>(key.most)));
  }

  void pattern(const Toml& at, const ConfigKey& key, const std::string& text) {
    if (!is_step_pattern(text)) {
      problem(at, cat(key.path, ": ", shown(text), " is not ", kind_phrase(key.kind)),
              "{step} stands for the number, {step:07} for one that is padded with zeros.");
    } else if (names_another_file(text)) {
      problem(
          at, cat(key.path, ": ", shown(text), " names a file of a kind that is not looked into"),
          "Single files are .pt, .pth, .ckpt, .bin and .safetensors; else each step is saved to a folder of its own.");
    }
  }

  void secret(const Toml& at, ConfigValue& out) {
    const ConfigKey& key = *out.key;
    if (at.is_string()) {
      out.secret = {Secret::From::kText, at.text()};
      if (at.text().empty()) problem(at, cat(key.path, " is empty"));
      return;
    }
    const bool one = at.is_table() && at.members().size() == 1 && at.members().front().second.is_string();
    const std::string from = one ? at.members().front().first : "";
    if (from != "env" && from != "file") {
      return problem(at, cat(key.path, " is not ", kind_phrase(key.kind)),
                     "Write { env = \"NAME\" } or { file = \"PATH\" }.");
    }
    const std::string& text = at.members().front().second.text();
    if (text.empty()) return problem(at, cat(key.path, " names nothing"));
    out.secret = from == "env" ? Secret{Secret::From::kEnvironment, text}
                               : Secret{Secret::From::kFile, absolute_path(text, folder_of(out_.path_))};
  }

  void take(const Toml& at, ConfigValue& out) {
    const ConfigKey& key = *out.key;
    switch (key.kind) {
      case Kind::kText:
        if (string(at, key, out.text) && key.path == "run.name" && !out.text.empty() && !is_run_name(out.text)) {
          const Error error = not_a_run_name(out.text);
          problem(at, error.what, error.hint);
        }
        break;
      case Kind::kPattern:
        if (string(at, key, out.text)) pattern(at, key, out.text);
        break;
      case Kind::kPath:
        if (string(at, key, out.text)) path(at, key, out.text);
        break;
      case Kind::kChoice:
        if (string(at, key, out.text)) choice(at, key, out.text);
        break;
      case Kind::kTexts:
        strings(at, key, out.texts);
        break;
      case Kind::kCommand:
        if (strings(at, key, out.texts) && (out.texts.empty() || out.texts.front().empty())) {
          problem(at, cat(key.path, " names no program"));
        }
        break;
      case Kind::kPaths:
        if (!strings(at, key, out.texts)) break;
        for (std::string& one : out.texts) path(at, key, one);
        break;
      case Kind::kRoots:
        if (!strings(at, key, out.texts)) break;
        for (std::string& one : out.texts) root(at, key, one);
        break;
      case Kind::kChoices:
        if (!strings(at, key, out.texts)) break;
        for (std::string& one : out.texts) {
          if (one == kOldQuarantine) one = kQuarantine;
          choice(at, key, one);
        }
        break;
      case Kind::kSecret:
        secret(at, out);
        break;
      case Kind::kInteger:
      case Kind::kNumber:
      case Kind::kDuration:
      case Kind::kSize:
      case Kind::kBoolean:
        number(at, out);
        break;
    }
  }

  Config& out_;
};

Config Config::parse(std::string_view text, const std::string& path) {
  Config config;
  config.path_ = path;
  ConfigParser parser(config);
  const auto root = Toml::parse(text, path);
  if (!root.ok()) {
    // "path:line: what"
    const std::string& what = root.error().what;
    const std::string_view rest = std::string_view(what).substr(std::min(what.size(), path.size() + 1));
    size_t used = 0;
    const auto line = parse_double_prefix(rest, &used);
    const bool placed = line && rest.substr(used, 2) == ": ";
    config.problems_.push_back({placed ? static_cast<uint32_t>(*line) : 0,
                                std::string(placed ? rest.substr(used + 2) : std::string_view(what)),
                                "The file is TOML: name = value, strings in quotes."});
  } else {
    parser.file(*root);
    std::stable_sort(config.problems_.begin(), config.problems_.end(),
                     [](const ConfigProblem& a, const ConfigProblem& b) { return a.line < b.line; });
  }
  parser.defaults();
  if (config.problems_.empty()) config.problems_ = notify_problems(config);
  if (config.problems_.empty()) config.problems_ = component_problems(config);
  if (config.problems_.empty()) config.problems_ = rule_problems(config);
  if (config.problems_.empty()) config.problems_ = scrape_problems(config);
  if (config.problems_.empty()) config.problems_ = start_problems(config);
  return config;
}

Result<void> Config::check() const {
  if (problems_.empty()) return {};
  const ConfigProblem& first = problems_.front();
  std::string hint = first.hint;
  if (problems_.size() > 1) {
    hint += cat(hint.empty() ? "" : " ", "There are ", problems_.size() - 1, " more; see midwatch config check.");
  }
  return Error{Error::Code::kInvalid, cat(path_, ":", first.line, ": ", first.what), hint};
}

const ConfigValue* Config::find(std::string_view path) const {
  const auto at = values_.find(path);
  return at == values_.end() ? nullptr : &at->second;
}

bool Config::given(std::string_view path) const {
  const ConfigValue* value = find(path);
  return value != nullptr && value->line != 0;
}

std::string Config::text(std::string_view path) const {
  const ConfigValue* value = find(path);
  return value == nullptr ? std::string() : value->text;
}

std::vector<std::string> Config::texts(std::string_view path) const {
  const ConfigValue* value = find(path);
  return value == nullptr ? std::vector<std::string>() : value->texts;
}

int64_t Config::number(std::string_view path) const {
  const ConfigValue* value = find(path);
  return value == nullptr ? 0 : value->number;
}

double Config::real(std::string_view path) const {
  const ConfigValue* value = find(path);
  return value == nullptr ? 0 : value->real;
}

Secret Config::secret(std::string_view path) const {
  const ConfigValue* value = find(path);
  return value == nullptr ? Secret() : value->secret;
}

std::vector<std::string> Config::names(std::string_view section) const {
  std::vector<std::string> out;
  if (const auto at = names_.find(section); at != names_.end()) {
    for (const auto& [name, line] : at->second) out.push_back(name);
  }
  return out;
}

uint32_t Config::line_of(std::string_view section, std::string_view name) const {
  const auto at = names_.find(section);
  if (at == names_.end()) return 0;
  const auto line = at->second.find(std::string(name));
  return line == at->second.end() ? 0 : line->second;
}

std::vector<std::pair<std::string, const ConfigValue*>> Config::all() const {
  std::vector<std::pair<std::string, const ConfigValue*>> out;
  for (const ConfigSection& section : config_sections()) {
    const bool many = section.path.size() > 2 && section.path.substr(section.path.size() - 2) == ".*";
    const std::string above(many ? section.path.substr(0, section.path.size() - 2) : section.path);
    for (const std::string& name : many ? names(above) : std::vector<std::string>{""}) {
      for (const ConfigKey& key : config_keys()) {
        const size_t dot = key.path.rfind('.');
        if (key.path.substr(0, dot) != section.path) continue;
        const std::string path = cat(above, many ? "." : "", name, key.path.substr(dot));
        if (const ConfigValue* value = find(path); value != nullptr) out.emplace_back(path, value);
      }
    }
  }
  return out;
}

}  // namespace mw
