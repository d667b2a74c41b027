// midwatch completion and midwatch man: what shells and man(1) need, made from the tables of verbs.
#include "base/text.h"
#include "ui/cli/declared.h"

namespace mw {
namespace {

void declare_completion(ArgSpec& spec) { spec.positional("shell", "bash, zsh or fish", false, true); }

Exit print_completion(const Args& args, Services& /*services*/, const Console& console) {
  const std::string shell = args.get("shell");
  const std::string script = completion_script(shell, all_verbs());
  if (script.empty()) {
    return report_error(console, {Error::Code::kInvalid, cat("no completion for the shell '", shell, "'"),
                                  "There is one for bash, for zsh and for fish."});
  }
  console.out(script);
  return Exit::kOk;
}

void declare_man(ArgSpec& /*spec*/) {}

Exit print_man(const Args& /*args*/, Services& /*services*/, const Console& console) {
  console.out(manual_page(all_verbs(), console.build.version, console.build.date));
  return Exit::kOk;
}

}  // namespace

namespace verbs {
extern const Verb completion, man;
const Verb completion = {"completion", "Print a completion script for a shell",
                         "  source <(midwatch completion bash)                                         this shell\n"
                         "  midwatch completion bash > ~/.local/share/bash-completion/completions/midwatch\n"
                         "  midwatch completion zsh > \"${fpath[1]}/_midwatch\"\n"
                         "  midwatch completion fish > ~/.config/fish/completions/midwatch.fish\n",
                         declare_completion, print_completion};
const Verb man = {"man", "Print the manual page", "  midwatch man | man -l -\n", declare_man, print_man, true};
}  // namespace verbs

}  // namespace mw
