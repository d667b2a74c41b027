#include "ui/cli/declared.h"

namespace mw {

const std::string_view kExitCodes =
    "Exit codes: 0 done · 2 wrong command line · 3 path missing or unreadable · 4 nothing known in it ·\n"
    "5 partial result · 6 output could not be written ·\n"
    "7 not done, nobody said yes · 10 an incident of --fail-on was found, a checkpoint is not whole,\n"
    "preflight found an error";

std::vector<DeclaredVerb> declared(std::span<const Verb* const> verbs) {
  std::vector<DeclaredVerb> all;
  for (const Verb* verb : verbs) {
    if (verb->hidden) continue;
    DeclaredVerb one{verb, {}};
    verb->declare(one.spec);
    one.spec.flag("help", "Print this help message and exit", 'h');
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace mw
