// What `midwatch config` and docs/config.md show of the table of keys.
#include "app/config/config.h"
#include "base/json.h"
#include "base/text.h"
#include "base/units.h"

namespace mw {
namespace {

using Kind = ConfigKey::Kind;

constexpr std::string_view kIntroduction =
    "<!-- Made from the table in src/app/config/config_table.cc. MIDWATCH_UPDATE_DOCS=1 build/tests/test_app makes it "
    "anew. "
    "-->\n\n"
    "# midwatch.toml\n\n"
    "`midwatch run` and `midwatch attach` take their settings from `midwatch.toml` in the working directory, when "
    "there is "
    "one, or from the file that `--config` names (`--config none`: from none). What the command line says wins over "
    "the file, "
    "and the file wins over the defaults. `midwatch config check` checks a file, `midwatch config show` prints every "
    "value and "
    "where it comes from.\n\n"
    "An unknown key, a missing unit or a dangerous path is refused with its line before anything is started. Relative "
    "paths "
    "start from the file's folder; `~/` is the home directory.\n\n"
    "- *Durations* are strings with a unit: `\"250ms\"`, `\"30s\"`, `\"15m\"`, `\"1h 30m\"`, `\"2d\"`.\n"
    "- *Sizes*: `\"10KB\"`, `\"10MB\"`, `\"10GB\"` (powers of 1000), `\"5KiB\"`, `\"5MiB\"`, `\"5GiB\"` (powers of "
    "1024).\n"
    "- *Secrets* (tokens, passwords, webhook URLs) may stand in the environment or in a file of their own: "
    "`{ env = \"NAME\" }`, `{ file = \"PATH\" }`. They are never shown, recorded or reported.\n";

std::string limits_of(const ConfigKey& key) {
  if (key.kind == Kind::kChoice || key.kind == Kind::kChoices) {
    std::string all;
    for (const std::string_view one : split(key.choices, ' ')) all += cat(all.empty() ? "" : ", ", one);
    return all;
  }
  if (key.least == key.most) return "";
  const auto shown = [&](double limit) {
    if (key.kind == Kind::kDuration) return duration_text(Duration::seconds(limit));
    if (key.kind == Kind::kSize) return size_text(static_cast<int64_t>(limit));
    return cat(static_cast<int64_t>(limit));
  };
  return cat(shown(key.least), " to ", shown(key.most));
}

std::string_view below(const ConfigKey& key) { return key.path.substr(key.path.rfind('.') + 1); }
std::string_view above(const ConfigKey& key) { return key.path.substr(0, key.path.rfind('.')); }

std::string list_text(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) {
    if (out.size() > 1) out += ", ";
    JsonWriter(out).string(text);  // a JSON string is a TOML string
  }
  return out + "]";
}

}  // namespace

std::string_view kind_phrase(Kind kind) {
  switch (kind) {
    case Kind::kText:
      return "a string";
    case Kind::kPattern:
      return "the name of a folder, or a file, with {step} in it, such as \"step_{step}\"";
    case Kind::kTexts:
      return "a list of strings";
    case Kind::kCommand:
      return "a program and its arguments, such as [\"bash\", \"train.sh\"]";
    case Kind::kPath:
      return "a path";
    case Kind::kPaths:
      return "a list of paths";
    case Kind::kRoots:
      return "a list of folders, none of them a place of the system, reached through a link or with \"..\"";
    case Kind::kInteger:
      return "a whole number";
    case Kind::kNumber:
      return "a number";
    case Kind::kDuration:
      return "a duration, such as \"30s\"";
    case Kind::kSize:
      return "a size, such as \"10MB\"";
    case Kind::kBoolean:
      return "true or false";
    case Kind::kChoice:
      return "one of a few words";
    case Kind::kChoices:
      return "a list of a few words";
    case Kind::kSecret:
      return "a secret: { env = \"NAME\" }, { file = \"PATH\" } or a string";
  }
  return "";
}

std::string value_text(const ConfigValue& value) {
  std::string out;
  switch (value.key->kind) {
    case Kind::kText:
    case Kind::kPattern:
    case Kind::kPath:
    case Kind::kChoice:
      JsonWriter(out).string(value.text);
      return out;
    case Kind::kTexts:
    case Kind::kCommand:
    case Kind::kPaths:
    case Kind::kRoots:
    case Kind::kChoices:
      return list_text(value.texts);
    case Kind::kInteger:
      return cat(value.number);
    case Kind::kNumber:
      return format_double(value.real);
    case Kind::kBoolean:
      return value.number != 0 ? "true" : "false";
    case Kind::kDuration:
      return cat("\"", duration_text({value.number}), "\"");
    case Kind::kSize:
      return cat("\"", size_text(value.number), "\"");
    case Kind::kSecret:
      if (value.secret.from == Secret::From::kText) return "\"<hidden>\"";
      JsonWriter(out).string(value.secret.text);
      return cat("{ ", value.secret.from == Secret::From::kFile ? "file" : "env", " = ", out, " }");
  }
  return out;
}

std::string config_page() {
  std::string page(kIntroduction);
  for (const ConfigSection& section : config_sections()) {
    std::string name(section.path);
    if (const size_t star = name.find('*'); star != std::string::npos) name.replace(star, 1, "NAME");
    page += cat("\n## [", name, "]\n\n", section.does,
                "\n\n| key | value | default | what | why that default |\n|---|---|---|---|---|\n");
    for (const ConfigKey& key : config_keys()) {
      if (above(key) != section.path) continue;
      const std::string limits = limits_of(key);
      page +=
          cat("| `", below(key), "` | ", kind_phrase(key.kind), limits.empty() ? "" : cat("; ", limits), " | ",
              key.otherwise.empty() ? "" : cat("`", key.otherwise, "`"), " | ", key.does, " | ", key.reason, " |\n");
    }
  }
  return page;
}

std::string config_reference_json() {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("version").integer(1).key("keys").begin_array();
    for (const ConfigKey& key : config_keys()) {
      json.begin_object().key("key").string(key.path).key("value").string(kind_phrase(key.kind));
      json.key("limits").string(limits_of(key)).key("default").string(key.otherwise);
      json.key("does").string(key.does).key("reason").string(key.reason).end_object();
    }
    json.end_array().end_object();
  }
  return out + "\n";
}

}  // namespace mw
