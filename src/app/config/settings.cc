#include "app/config/settings.h"

#include <unistd.h>

#include <cstdlib>

#include "base/check.h"
#include "base/secrets.h"
#include "base/text.h"
#include "platform/paths.h"
#include "platform/real/posix_disk.h"

namespace mw {
namespace {

constexpr size_t kSecretBytesLimit = 16384;

Result<std::string> read_whole(Disk& disk, const std::string& path, size_t limit) {
  auto file = disk.open_read(path);
  if (!file.ok()) return file.error();
  std::string text;
  MW_TRY((*file)->read_at(0, limit + 1, text));
  if (text.size() > limit) return Error{Error::Code::kLimit, cat(path, " is larger than ", limit, " bytes"), ""};
  return text;
}

/// Is there such a program, as execvp would find it?
bool can_run(const std::string& program) {
  if (contains(program, "/")) return access(program.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
    if (access(cat(folder.empty() ? "." : folder, "/", program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

/// Takes the value of one key into a member of RunSpec.
struct Take {
  const Config& config;
  std::string_view key;
  void operator()(bool* value) const { *value = config.boolean(key); }
  void operator()(int* value) const { *value = static_cast<int>(config.number(key)); }
  void operator()(uint64_t* value) const { *value = static_cast<uint64_t>(config.number(key)); }
  void operator()(Duration* value) const { *value = config.duration(key); }
  void operator()(Mode* value) const { *value = mode_of(config.text(key)); }
  void operator()(std::string* value) const { *value = config.text(key); }
  void operator()(std::vector<std::string>* value) const { *value = config.texts(key); }
  void operator()(std::map<std::string, std::string>*) const { MW_CHECK(false); }  // no key is of that kind
};

/// What the file names as a variable that holds a secret is one wherever it stands: in what an attempt is made of, too.
void declare_secrets(const Config& config) {
  for (const auto& [path, value] : config.all()) {
    if (value->secret.from == Secret::From::kEnvironment) declare_secret_variable(value->secret.text);
  }
}

}  // namespace

Result<Config> load_config(Disk& disk, const std::string& file) {
  if (file == "none") return Config::parse("", "");
  const std::string name = file.empty() ? std::string(kConfigFile) : file;
  const std::string path = absolute_path(name);
  const auto text = read_whole(disk, path, kConfigBytesLimit);
  if (text.ok()) {
    Config config = Config::parse(*text, path);
    declare_secrets(config);
    return config;
  }
  if (file.empty() && text.error().code == Error::Code::kNotFound) return Config::parse("", "");
  return Error{text.error().code, cat("the settings cannot be read: ", text.error().what),
               file.empty() ? "Mend or remove it, or go without: --config none." : ""};
}

void apply(const Config& config, RunRequest& request) {
  for (const RunSetting& setting : run_settings()) {
    if (!setting.config.empty()) std::visit(Take{config, setting.config}, setting.member(request.spec));
  }
  std::string& store = request.spec.store;
  const bool folder = !store.empty() && !contains(store, "://");
  if (folder && !config.path().empty()) store = absolute_path(store, folder_of(config.path()));
  request.spec.config = config.path();
  request.name = config.text("run.name");
  request.home = config.text("run.home");
  request.framework = config.text("run.framework");
  request.timezone = config.text("run.timezone");
  request.knowledge = config.texts("run.knowledge");
  request.host = config.boolean("run.host");
  request.stacks = config.boolean("run.stacks");
  request.cost_per_hour = config.real("run.cost_per_hour");
}

void apply(const Config& config, AttachRequest& request) {
  request.config = config.path();
  request.home = config.text("run.home");
  request.framework = config.text("run.framework");
  request.timezone = config.text("run.timezone");
  request.knowledge = config.texts("run.knowledge");
  request.host = config.boolean("run.host");
  request.stacks = config.boolean("run.stacks");
  request.cost_per_hour = config.real("run.cost_per_hour");
  request.poll_s = config.duration("attach.poll").seconds();
  request.exit_after_idle_s = config.duration("attach.exit_after_idle").seconds();
}

constexpr std::string_view kNothingToKeep =
    "retention.keep_last: no checkpoint is removed unless [run] checkpoints or --checkpoints names a folder";

Result<std::string> reveal(Disk& disk, const Secret& secret) {
  switch (secret.from) {
    case Secret::From::kNowhere:
      return std::string();
    case Secret::From::kText:
      return secret.text;
    case Secret::From::kEnvironment: {
      const char* value = std::getenv(secret.text.c_str());
      if (value != nullptr && *value != '\0') return std::string(value);
      return Error{Error::Code::kNotFound, cat("the environment variable ", secret.text, " is not set"),
                   cat("Set it before midwatch is started: export ", secret.text, "=…")};
    }
    case Secret::From::kFile: {
      auto text = read_whole(disk, secret.text, kSecretBytesLimit);
      if (!text.ok()) return text.error();
      const std::string value(trim(*text));
      if (!value.empty()) return value;
      return Error{Error::Code::kNotFound, cat(secret.text, " is empty"),
                   "It should hold the secret and nothing else."};
    }
  }
  return std::string();
}

ConfigAnswer config_answer(Disk& disk, const Config& config) {
  ConfigAnswer answer;
  answer.file = config.path();
  for (const ConfigProblem& problem : config.problems())
    answer.problems.push_back({problem.line, problem.what, problem.hint});
  for (const auto& [path, value] : config.all()) {
    answer.values.push_back({path, value_text(*value), value->line});
    if (value->line == 0) continue;
    if (value->key->kind == ConfigKey::Kind::kSecret) {
      const auto known = reveal(disk, value->secret);
      if (!known.ok())
        answer.warnings.push_back({value->line, cat(path, ": ", known.error().what), known.error().hint});
    }
    if (value->key->kind == ConfigKey::Kind::kCommand && !value->texts.empty() && !can_run(value->texts.front())) {
      answer.warnings.push_back({value->line, cat(path, ": there is no program ", value->texts.front()), "See PATH."});
    }
  }
  if (config.number("retention.keep_last") > 0 && config.texts("run.checkpoints").empty()) {
    answer.warnings.push_back({config.find("retention.keep_last")->line, std::string(kNothingToKeep),
                               "Name the folder that the trainer saves into: [run] checkpoints = [\"DIR\"]."});
  }
  return answer;
}

void add_knowledge_problem(const Config& config, const Result<void>& loaded, const std::unique_ptr<KnowledgeBase>& base,
                           ConfigAnswer& answer) {
  const auto add = [&](std::string_view key, const std::string& what, const std::string& hint) {
    answer.problems.push_back({config.find(key)->line, cat(key, ": ", what), hint});
  };
  const std::string word = config.text("run.framework");
  if (!loaded.ok()) {
    add("run.knowledge", loaded.error().what, loaded.error().hint);
  } else if (!word.empty() && word != "custom" && !base->book().find(word)) {
    add("run.framework", cat("no dialect is called '", word, "'"),
        "Leave it out, or name one: verl, trl, areal, skyrl, ... or custom.");
  }
}

}  // namespace mw
