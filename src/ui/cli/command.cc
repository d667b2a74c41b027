// The only includer of CLI11.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "base/text.h"
#include "ui/cli/declared.h"
#include "ui/cli/help_text.h"
#include "ui/cli/verb.h"
#include "ui/cli/verb_groups.h"
#include "ui/cli/wrong_words.h"

namespace mw {

void ArgSpec::flag(std::string name, std::string help, char letter) {
  options.push_back({std::move(name), letter, std::move(help), "", "", {}});
}
void ArgSpec::option(std::string name, std::string value, std::string help, std::string otherwise, char letter,
                     std::vector<std::string> choices) {
  options.push_back(
      {std::move(name), letter, std::move(help), std::move(value), std::move(otherwise), std::move(choices)});
}
void ArgSpec::positional(std::string name, std::string help, bool many, bool required) {
  positionals.push_back({std::move(name), std::move(help), many, required});
}

bool Args::has(std::string_view name) const { return values_.find(name) != values_.end(); }
std::string Args::get(std::string_view name) const {
  const auto given = values_.find(name);
  if (given != values_.end() && !given->second.empty()) return given->second.front();
  const auto otherwise = defaults_.find(name);
  return otherwise == defaults_.end() ? std::string() : otherwise->second;
}
std::vector<std::string> Args::list(std::string_view name) const {
  const auto given = values_.find(name);
  return given == values_.end() ? std::vector<std::string>() : given->second;
}

/// One verb as CLI11 sees it, with the places that its values are parsed into.
struct ParsedCommand {
  const Verb* verb = nullptr;
  ArgSpec spec;
  CLI::App* app = nullptr;
  std::vector<std::vector<std::string>> values;  // options first, then positionals
  std::vector<CLI::Option*> handles;

  void attach(CLI::App& root) {
    verb->declare(spec);
    app = root.add_subcommand(one_word(verb->name), std::string(verb->summary));
    if (verb->hidden) app->group("");
    if (!verb->examples.empty()) app->footer(cat("\nExamples:\n", verb->examples));
    values.resize(spec.options.size() + spec.positionals.size());
    size_t next = 0;
    for (const ArgSpec::Option& option : spec.options) add_option(option, values[next++]);
    for (const ArgSpec::Positional& positional : spec.positionals) {
      CLI::Option* handle = app->add_option(shown_name(positional.name), values[next++], positional.help);
      handle->type_name("");  // its name says what it is
      if (!positional.many) handle->expected(1)->allow_extra_args(false);
      if (positional.required) handle->required();
      handles.push_back(handle);
    }
  }

  void add_option(const ArgSpec::Option& option, std::vector<std::string>& place) {
    std::string names = option.letter != 0 ? cat("-", option.letter, ",--", option.name) : cat("--", option.name);
    if (option.value.empty()) {
      handles.push_back(app->add_flag(names, option.help));
      return;
    }
    const bool bare = option.bare && spec.positionals.empty();
    if (bare) names = cat(option.name, ",", names);
    CLI::Option* handle = app->add_option(names, place, option.help);
    handle->type_name(option.value)->expected(1)->allow_extra_args(false);
    if (!bare) handle->take_all();  // else one of two names would be passed over
    if (!option.choices.empty()) handle->check(CLI::IsMember(option.choices));
    if (!option.otherwise.empty()) handle->default_str(option.otherwise);
    handles.push_back(handle);
  }

  Args take() const {
    Args args;
    for (size_t i = 0; i < handles.size(); ++i) {
      const bool is_option = i < spec.options.size();
      const std::string& name = is_option ? spec.options[i].name : spec.positionals[i - spec.options.size()].name;
      if (is_option && !spec.options[i].otherwise.empty()) args.defaults_[name] = spec.options[i].otherwise;
      if (handles[i]->count() > 0) args.values_[name] = values[i];
    }
    return args;
  }
};

Exit report_error(const Console& console, const Error& error) {
  console.err(cat("midwatch: ", escape_terminal(error.what), "\n"));
  if (!error.hint.empty()) console.err(cat("  ", escape_terminal(error.hint), "\n"));
  switch (error.code) {
    case Error::Code::kNotFound:
    case Error::Code::kDenied:
      return Exit::kNoInput;
    case Error::Code::kUnsupported:
      return Exit::kUnknown;
    case Error::Code::kTruncated:
      return Exit::kPartial;
    case Error::Code::kFull:
      return Exit::kDiskFull;
    case Error::Code::kInvalid:
      return Exit::kUsage;
    case Error::Code::kIo:
    case Error::Code::kLimit:
    case Error::Code::kInterrupted:
      return Exit::kFailed;
  }
  return Exit::kFailed;
}

namespace {

constexpr size_t kHelpWidth = 80;  // a terminal's, before anybody made it wider

/// Words of midwatch 0.1 that are called otherwise now. They are taken for one more version.
struct Renamed {
  std::string_view verb, was, now;  ///< an option of this verb; "": a verb
};
constexpr Renamed kRenamed[] = {{"", "free", "cleanup"}, {"run", "--take-up", "--reattach"}};

/// The command line up to "--" with today's words in place of old ones. `words` holds what was replaced.
std::vector<char*> todays_words(int argc, char** argv, std::vector<std::string>& words) {
  std::vector<char*> out(argv, argv + argc);
  const auto end = static_cast<size_t>(std::find(argv, argv + argc, std::string_view("--")) - argv);
  words.reserve(out.size() + 1);                          // so that no text moves
  if (argc > 1 && argv[1] == std::string_view("help")) {  // "help run" as "run --help"
    words.emplace_back("--help");
    out.erase(out.begin() + 1);
    out.push_back(words.back().data());
    return out;
  }
  for (size_t i = 1; i < end; ++i) {
    const std::string_view word = out[i];
    for (const Renamed& one : kRenamed) {
      const bool fits = one.verb.empty() ? i == 1 : i > 1 && one.verb == out[1];
      if (!fits || !word.starts_with(one.was)) continue;
      const std::string_view rest = word.substr(one.was.size());
      if (!rest.empty() && rest.front() != '=') continue;
      words.push_back(cat(one.now, rest));
      out[i] = words.back().data();
    }
  }
  return out;
}

/// What the parser gave up on: help, the version, or an error.
int answer(const CLI::App& root, const CLI::ParseError& problem, int argc, char** argv,
           std::span<const Verb* const> verbs, const Console& console) {
  if (problem.get_exit_code() != 0) {
    std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    if (!words.empty()) words.front() = with_spaces(words.front(), verbs);
    return static_cast<int>(report_error(console, wrong_words(words, problem.what(), verbs)));
  }
  std::ostringstream out, err;
  (void)root.exit(problem, out, err);
  std::string text = with_spaces(out.str(), verbs);
  for (const Verb* verb : verbs) {
    const std::string usage = cat("Usage: midwatch ", verb->name, " [OPTIONS]");
    if (const size_t at = text.find(usage + "\n"); verb->takes_command && at != std::string::npos)
      text.insert(at + usage.size(), " -- COMMAND...");
  }
  console.out(fit_help(text, kHelpWidth));
  return static_cast<int>(end_output(console, Exit::kOk, false));
}

/// The verb of that name as a subcommand of `root`, or all of them: to declare them all takes longer than the rest of a
/// command line.
std::vector<ParsedCommand> attached(CLI::App& root, std::string_view name, std::span<const Verb* const> verbs) {
  const auto named =
      std::find_if(verbs.begin(), verbs.end(), [name](const Verb* verb) { return one_word(verb->name) == name; });
  if (named != verbs.end()) verbs = verbs.subspan(static_cast<size_t>(named - verbs.begin()), 1);
  std::vector<ParsedCommand> commands(verbs.size());  // whose places the options are parsed into
  for (size_t i = 0; i < verbs.size(); ++i) {
    commands[i].verb = verbs[i];
    commands[i].attach(root);
  }
  return commands;
}

}  // namespace

int run_command(int argc, char** argv_given, std::span<const Verb* const> verbs, Services& services,
                const Console& console) {
  std::vector<std::string> replaced;
  if (argc > 1 && argv_given[1] == std::string_view("--version")) {
    const bool json = argc > 2 && argv_given[2] == std::string_view("--json");
    console.out(json ? version_json(console.build) : version_line(console.build) + "\n");
    return static_cast<int>(end_output(console, Exit::kOk, false));
  }
  std::string joined;
  std::vector<char*> today = with_joined(todays_words(argc, argv_given, replaced), verbs, joined);
  argc = static_cast<int>(today.size());
  char** argv = today.data();
  if (const auto help = group_help(today, verbs)) {
    if (argc > 2 && *argv[2] != '-')
      return static_cast<int>(report_error(console, no_such_verb(argv[1], argv[2], verbs)));
    const bool asked = argc > 2 && (argv[2] == std::string_view("--help") || argv[2] == std::string_view("-h"));
    asked ? console.out(*help) : console.err(*help);
    return static_cast<int>(end_output(console, asked ? Exit::kOk : Exit::kUsage, false));
  }
  CLI::App root(
      "midwatch keeps watch over LLM reinforcement-learning runs: it reads what a run writes, says what went\n"
      "wrong, when it began and why.",
      "midwatch");
  root.set_version_flag("--version", version_line(console.build), "Print the version (with --json: as JSON) and exit");
  root.require_subcommand(1);
  root.footer(cat("\n", kExitCodes));
  std::vector<ParsedCommand> commands = attached(root, argc > 1 ? argv[1] : "", verbs);
  // The words of a command line within the command line are not ours to interpret.
  const auto own = static_cast<int>(std::find(argv, argv + argc, std::string_view("--")) - argv);
  const bool splits = own < argc && argc > 1 && std::any_of(verbs.begin(), verbs.end(), [&](const Verb* verb) {
                        return verb->takes_command && verb->name == argv[1];
                      });
  try {
    root.parse(splits ? own : argc, argv);
  } catch (const CLI::ParseError& problem) {
    return answer(root, problem, argc, argv, verbs, console);
  }
  for (const ParsedCommand& command : commands) {
    if (!command.app->parsed()) continue;
    Args args = command.take();
    if (splits) args.values_["command"].assign(argv + own + 1, argv + argc);
    const Exit code = command.verb->run(args, services, console);
    return static_cast<int>(end_output(console, code, command.verb->status_is_commands));
  }
  return static_cast<int>(Exit::kUsage);
}

}  // namespace mw
