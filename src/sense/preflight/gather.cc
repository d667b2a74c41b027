#include "sense/preflight/gather.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/numbers.h"
#include "base/secrets.h"
#include "base/text.h"
#include "core/preflight/processes.h"
#include "core/preflight/values.h"
#include "sense/preflight/arguments.h"
#include "sense/preflight/host_facts.h"
#include "sense/preflight/settings_files.h"

namespace mw::preflight {
namespace {

constexpr size_t kInherited = 8;  // levels of files that name a file they begin with
constexpr size_t kFiles = 64;
constexpr size_t kSnapshots = 8;  // of one model in the hub's cache

std::vector<ShellWord> words_of(const std::vector<std::string>& command) {
  std::vector<ShellWord> out;
  for (const std::string& word : command) out.push_back({word, false, {}});
  return out;
}

class Gathering {
 public:
  Gathering(System& system, const Knowledge& knowledge, const Asked& asked)
      : system_(system), knowledge_(knowledge), asked_(asked) {
    facts_.folder = asked.folder;
    facts_.measured = asked.measured;
  }

  Facts run(const std::function<GpuSnapshot()>& look_at_gpus) {
    facts_.host = look_at_host(system_, asked_.command, asked_.folder);
    const ShellCommand command = choose_command();
    if (facts_.host.is_here && !asked_.gpus.has_value()) look_at_start(command);
    const Launch launch = launch_in(command);
    Arguments arguments = read_arguments(command.words, launch.end);
    for (const NamedFile& file : arguments.files) load(file.path, file.prefix, file.place, file.maybe, 0);
    for (const std::string& file : asked_.files) load(file, "", {}, false, 0);
    for (const std::string& key : arguments.removed) facts_.settings.remove(key);
    for (const auto& [key, setting] : arguments.settings.all()) facts_.settings.put(setting);
    facts_.typed = redact_words(asked_.command);
    for (const ShellWord& word : command.words) facts_.command.push_back(word.text);
    facts_.processes = processes_of(facts_.command);
    if (!command.words.empty()) facts_.command_place = command.words.front().place;
    const auto from = facts_.command.begin();
    facts_.framework = recognise(knowledge_.catalogue, {from, from + static_cast<std::ptrdiff_t>(launch.end)}, facts_);
    if (facts_.framework != nullptr) facts_.version = version_of(*facts_.framework, facts_);
    machine(look_at_gpus);
    hide_secrets();
    model();
    old_steps();
    return std::move(facts_);
  }

 private:
  std::string absolute(std::string_view path) const {
    const auto home = facts_.host.environment.find("HOME");
    if (path.starts_with("~/") && home != facts_.host.environment.end()) return cat(home->second, path.substr(1));
    return path.starts_with('/') ? std::string(path) : cat(asked_.folder, "/", path);
  }

  bool there(const std::string& path) {
    const auto real = system_.real(path);
    return real.ok() && system_.entry(*real).ok();
  }

  std::optional<std::string> text_of(const std::string& path) {
    const auto real = system_.real(absolute(path));
    const auto entry = real.ok() ? system_.entry(*real) : Result<Entry>(real.error());
    if (!entry.ok() || !entry->file) return std::nullopt;
    auto text = system_.read(*real, kSettingsBytes + 1);
    if (!text.ok()) return std::nullopt;
    const double ahead = static_cast<double>(entry->changed_ns - asked_.now.ns) / 1e9;
    if (asked_.now.known() && ahead > facts_.host.clock_behind_s.value_or(0)) facts_.host.clock_behind_s = ahead;
    return std::move(*text);
  }

  bool names_trainer(const std::string& word) const {
    const std::string lower = to_lower(word);
    for (const Framework& framework : knowledge_.catalogue.frameworks) {
      for (const std::string& name : framework.words) {
        if (fits(to_lower(name), lower)) return true;
      }
    }
    return false;
  }

  Launch launch_in(const ShellCommand& command) const {
    return launch_of(command.words, [&](const std::string& word) { return names_trainer(word); });
  }

  /// Among the words that say what is started is one that only a framework has.
  bool names_trainer(const ShellCommand& command) const {
    const Launch launch = launch_in(command);
    for (size_t i = launch.begin; i < launch.end; ++i) {
      if (!command.words[i].unsure && names_trainer(command.words[i].text)) return true;
    }
    return false;
  }

  /// The command itself or, where it is a script, the one in it that starts a trainer.
  ShellCommand choose_command() {
    ShellCommand whole;
    whole.words = words_of(asked_.command);
    if (asked_.command.empty()) return whole;
    if (names_trainer(whole)) return whole;
    ShellReader reader([&](const std::string& path) { return text_of(path); }, facts_.host.environment);
    std::string line;
    for (const std::string& word : asked_.command) line += cat(line.empty() ? "'" : " '", word, "'");
    const bool simple = line.size() < ShellReader::kBytes && std::count(line.begin(), line.end(), '\'') ==
                                                                 static_cast<std::ptrdiff_t>(2 * asked_.command.size());
    if (asked_.command.size() > 2 && asked_.command[1] == "-c") {
      reader.read(asked_.command[2], "bash -c", {});
    } else if (const auto script = script_of(asked_.command.front()); script.has_value()) {
      reader.read(*script, asked_.command.front(), {asked_.command.begin() + 1, asked_.command.end()});
    } else if (simple) {
      reader.read(line, "", {});
    }
    ShellScript read = reader.take();
    for (const Place& place : read.unread)
      facts_.unread.push_back({place, "a script that is named here cannot be read", !asked_.gpus.has_value()});
    ShellCommand best = whole;
    size_t most = 0;  // a trainer's name weighs more than a script's, then the longest command counts
    const auto first = std::find_if(read.commands.begin(), read.commands.end(), [](const ShellCommand& one) {
      return one.words.front().text != "cd" && one.words.front().text != "set";
    });
    for (ShellCommand& command : read.commands) {
      const size_t rank = names_trainer(command)      ? 2 * ShellReader::kCommands
                          : launch_in(command).script ? ShellReader::kCommands
                                                      : 0;
      if (rank == 0 || rank + command.words.size() <= most) continue;
      most = rank + command.words.size();
      // Branches of a script are all read, and one that is not taken may name what is not there: its first is sure.
      sure_ = first != read.commands.end() && &command == &*first;
      best = std::move(command);
    }
    take_over(read, best);
    return best;
  }

  /// Can the command be started, as far as its program and what a Python is given to run show?
  void look_at_start(const ShellCommand& command) {
    const std::string& typed = asked_.command.empty() ? std::string() : asked_.command.front();
    if (contains(typed, "/")) {
      const auto real = system_.real(absolute(typed));
      const auto entry = real.ok() ? system_.entry(*real) : Result<Entry>(real.error());
      if (entry.ok() && entry->file && !entry->executable) {
        facts_.cannot_start = cat(typed, " may not be executed");
        facts_.start_fix = cat("chmod +x ", typed, ", or start it as: bash ", typed);
        return;
      }
    }
    if (!sure_) return;
    const PythonStart start = python_start(command.words);
    if (!start.script.empty()) {
      const std::string path =
          command.folder.empty() || start.script.front() == '/' ? start.script : cat(command.folder, "/", start.script);
      if (there(absolute(path))) return;
      facts_.cannot_start = cat("there is no file ", path);
      facts_.start_fix = "correct its name, or start from the folder in which it lies";
    } else if (!start.module.empty() && command.folder.empty() && asked_.finds_module) {
      const std::string top = start.module.substr(0, start.module.find('.'));
      if (asked_.finds_module(command.words.front().text, top).value_or(true)) return;
      facts_.cannot_start = cat(command.words.front().text, " finds no module ", top);
      facts_.start_fix = cat("install it into that Python's environment, or name the Python that has it");
    }
  }

  /// The text of an executable script that is named as a program.
  std::optional<std::string> script_of(const std::string& program) {
    if (!contains(program, "/")) return std::nullopt;
    auto text = text_of(program);
    const bool shell = text.has_value() && text->starts_with("#!") && contains(text->substr(0, text->find('\n')), "sh");
    return shell ? text : std::nullopt;
  }

  /// What the script does before it starts the trainer.
  void take_over(const ShellScript& script, const ShellCommand& command) {
    const auto set = [&](const std::string& name, const ShellWord& value) {
      if (value.unsure && facts_.host.environment.count(name) == 0) unsure_variables_.push_back(name);
      facts_.host.environment[name] = names_secret(name) && !value.text.empty() ? std::string(kRedacted) : value.text;
    };
    if (command.process < script.exported.size()) {
      for (const auto& [name, value] : script.exported[command.process]) set(name, value);
    }
    for (const auto& [name, value] : command.environment) set(name, value);
    if (script.open_files.has_value()) facts_.host.open_files = script.open_files;
    if (script.core_bytes.has_value()) facts_.host.core_bytes = script.core_bytes;
  }

  void load(const std::string& path, const std::string& prefix, const Place& place, bool maybe, size_t depth) {
    if (depth > kInherited || facts_.files.size() >= kFiles) return;
    const auto text = text_of(path);
    if (!text.has_value()) {
      if (!maybe)
        facts_.unread.push_back(
            {place, cat("the configuration file ", path, " is not there, or cannot be read"), true});
      return;
    }
    Settings own;
    if (const auto read = read_settings(*text, path, prefix, own); !read.ok()) {
      const uint32_t line = line_of_error(read.error().what, path);
      const std::string head = cat(path, ":", line, ": ");
      const std::string what = read.error().what;
      facts_.unread.push_back({{path, line},
                               line > 0 && what.starts_with(head) ? what.substr(head.size()) : what,
                               read.error().code != Error::Code::kLimit});
      return;
    }
    facts_.files.push_back(path);
    for (const std::string& parent : parents_of(own, prefix)) {
      load(cat(contains(path, "/") ? folder_of(path) + "/" : "", parent), prefix, {path, 0}, true, depth + 1);
    }
    own.remove(below(prefix, "defaults"));
    own.remove(below(prefix, "toml_files"));
    for (const auto& [key, setting] : own.all()) facts_.settings.put(setting);
  }

  /// Files that a file begins with: `defaults:` of OmegaConf and hydra, `toml_files` of prime-rl.
  static std::vector<std::string> parents_of(const Settings& own, const std::string& prefix) {
    std::vector<std::string> out;
    for (const char* name : {"defaults", "toml_files"}) {
      const std::string key = below(prefix, name);
      if (const Setting* one = own.find(key); one != nullptr && is_settings_file(one->text)) out.push_back(one->text);
      const auto& all = own.all();
      for (auto at = all.lower_bound(key + "."); at != all.end() && at->first.starts_with(key + "."); ++at) {
        const std::string& item = at->second.text;
        if (item.empty() || item == "_self_" || at->second.unsure || at->second.kind != Setting::Kind::kText) continue;
        out.push_back(is_settings_file(item) ? item : item + ".yaml");
      }
    }
    return out;
  }

  void machine(const std::function<GpuSnapshot()>& look_at_gpus) {
    Host& host = facts_.host;
    if (asked_.gpus.has_value()) {
      host.is_here = false;
      host.gpus = *asked_.gpus;
      host.gpus_seen = true;
    } else {
      add_gpus(look_at_gpus(), host);
    }
    const Value place = value_of(facts_, "checkpoint_folder"), output = value_of(facts_, "output");
    const Value& chosen = place.text.empty() ? output : place;
    const bool sure = chosen.setting == nullptr || !chosen.setting->unsure;
    const std::string folder = absolute(sure && !chosen.text.empty() ? chosen.text : ".");
    if (asked_.disk.has_value()) {
      host.disks.push_back({"the disk", "checkpoints", *asked_.disk, *asked_.disk});
    } else if (host.is_here) {
      add_disk(system_, folder, "checkpoints", host);
    }
    if (!host.is_here) return;
    add_disk(system_, "/dev/shm", "/dev/shm", host);
    const bool written = !host.core_pattern.empty() && host.core_pattern.front() != '|';
    if (written)
      add_disk(system_, host.core_pattern.front() == '/' ? folder_of(host.core_pattern) : asked_.folder, "core dumps",
               host);
  }

  /// No value of a secret leaves this place.
  void hide_secrets() {
    Settings clean;
    for (const auto& [key, setting] : facts_.settings.all()) {
      Setting safe = setting;
      const std::string name = key.substr(key.rfind('.') + 1);
      safe.text = setting.kind == Setting::Kind::kText ? redacted_setting(name, setting.text) : setting.text;
      clean.put(std::move(safe));
    }
    if (!facts_.settings.truncated()) facts_.settings = std::move(clean);
    facts_.command = redact_words(facts_.command);
    const Value key = value_of(facts_, "wandb_key");  // an option whose name does not say that it takes a key
    if (key.setting != nullptr && key.setting->kind == Setting::Kind::kText && !key.text.empty()) {
      for (std::string& word : facts_.command) {
        if (word.ends_with(key.text)) word.replace(word.size() - key.text.size(), key.text.size(), kRedacted);
      }
      Setting safe = *key.setting;
      safe.text = kRedacted;
      facts_.settings.put(std::move(safe));
    }
    for (const std::string& name : unsure_variables_) {
      if (facts_.host.environment[name].empty()) facts_.host.environment.erase(name);
    }
  }

  void model() {
    const Value named = value_of(facts_, "model");
    if (!named.set || !named.known || named.text.empty()) return;
    const std::string name = clip(named.text, 400);
    auto known = model_by_name(knowledge_.models, name);
    ModelFacts base = known.value_or(ModelFacts{});
    base.name = name;
    const std::string config = config_of(name);
    if (!config.empty()) {
      const auto text = system_.read(config, kSettingsBytes);
      const auto read = text.ok() ? model_by_config(*text, base) : Result<ModelFacts>(text.error());
      if (read.ok()) known = *read;
    } else if ((name.front() == '/' || name.starts_with("./")) && facts_.host.is_here && !there(absolute(name))) {
      base.trouble = "there is no such folder on this machine";
      base.trouble_fix = "put the model there, or name the right folder";
      base.trouble_source = "transformers: 'is not a local folder and is not a valid model identifier'";
      base.trouble_is_certain = true;
      known = base;
    }
    facts_.model = known;
  }

  /// The config.json of a model in a folder or in the hub's cache; "" when there is none.
  std::string config_of(const std::string& name) {
    const std::string own = absolute(name) + "/config.json";
    if (there(own)) return own;
    const auto home = facts_.host.environment.find("HF_HOME"), user = facts_.host.environment.find("HOME");
    std::string root = home != facts_.host.environment.end() ? home->second : "";
    if (root.empty() && user != facts_.host.environment.end()) root = user->second + "/.cache/huggingface";
    std::string folder = name;
    for (size_t at = folder.find('/'); at != std::string::npos; at = folder.find('/', at + 2))
      folder.replace(at, 1, "--");
    const std::string snapshots = cat(root, "/hub/models--", folder, "/snapshots");
    const auto names = system_.names(snapshots);
    if (root.empty() || !names.ok()) return "";
    for (size_t i = 0; i < names->size() && i < kSnapshots; ++i) {
      const std::string path = cat(snapshots, "/", (*names)[i], "/config.json");
      if (there(path)) return path;
    }
    return "";
  }

  void old_steps() {
    if (facts_.framework == nullptr || !facts_.host.is_here) return;
    const Value output = value_of(facts_, "output");
    if (!output.known || output.text.empty()) return;
    bool any = false;
    for (const std::string& state : facts_.framework->states) {
      const size_t is = state.find('=');
      if (is == std::string::npos) continue;
      const std::string place = state.substr(is + 1);
      OldSteps old{cat(output.text, place.empty() || place == "." ? "" : "/", place == "." ? "" : place),
                   state.substr(0, is), -1};
      const auto names = system_.names(absolute(old.folder));
      for (const std::string& name : names.ok() ? *names : std::vector<std::string>{})
        old.highest = std::max(old.highest, step_in(name));
      any = any || old.highest >= 0;
      facts_.old_steps.push_back(std::move(old));
    }
    if (!any) facts_.old_steps.clear();
  }

  /// 40 of "step_40", "global_step_40", "checkpoint-40"; -1 of anything else.
  static int64_t step_in(const std::string& name) {
    for (const std::string_view head : {"step_", "global_step_", "global_step", "checkpoint-", "iter_"}) {
      if (!name.starts_with(head)) continue;
      if (const auto number = parse_int(std::string_view(name).substr(head.size()))) return *number;
    }
    return -1;
  }

  System& system_;
  const Knowledge& knowledge_;
  const Asked& asked_;
  Facts facts_;
  std::vector<std::string> unsure_variables_;
  bool sure_ = true;  ///< the chosen command is started, whatever a script decides
};

}  // namespace

Facts gather(System& system, const Knowledge& knowledge, const Asked& asked,
             const std::function<GpuSnapshot()>& look_at_gpus) {
  return Gathering(system, knowledge, asked).run(look_at_gpus);
}

}  // namespace mw::preflight
