// docs/preflight.md.
#include <algorithm>

#include "base/text.h"
#include "core/preflight/lint.h"

namespace mw::preflight {
namespace {

constexpr std::string_view kIntroduction =
    "<!-- Made from the tables in src/core/preflight and knowledge/preflight. MIDWATCH_UPDATE_DOCS=1 "
    "build/tests/test_sense makes it "
    "anew. -->\n\n"
    "# Before a run begins\n\n"
    "`midwatch preflight -- COMMAND` says what is wrong with a training command before it is started: it reads the "
    "command's "
    "arguments, the configuration files and launch scripts that they name, and looks at the machine. It starts "
    "nothing, writes "
    "nothing, and asks no server.\n\n"
    "- *error*: the run fails, or trains something else than was meant. Exit status 10.\n"
    "- *warning*: it may fail later, or costs more than it must. Exit status 0, with `--strict` 10.\n"
    "- *note*: what was not checked. Never a status of its own.\n\n"
    "What is not known is not judged: a value that only the shell or the framework knows when it runs, a model of "
    "which "
    "nothing tells the size, a machine that is elsewhere (`--gpus 2xH100` says what it has). `--ignore LINT` leaves a "
    "lint out. "
    "Scripts are read and never run: assignments, arrays, `${NAME:-default}` and files that are sourced are followed, "
    "`$(...)` is not. "
    "`--like RUN` takes the size of a checkpoint from an earlier run instead of an estimate. Configuration files are "
    "TOML, YAML "
    "(with hydra's overrides), JSON and arguments.\n";

std::string cell(std::string_view text) { return escape_markdown(text); }

std::string rules_table(const std::vector<Rule>& rules) {
  std::string out = "| rule | level | what | why | source |\n|---|---|---|---|---|\n";
  for (const Rule& rule : rules) {
    out += cat("| `", rule.id, "` | ", level_word(rule.level), " | ", cell(rule.what), " | ", cell(rule.why), " | ",
               cell(rule.source), " |\n");
  }
  return out;
}

size_t keys_of(const Framework& framework) {
  size_t most = 0;
  for (const FrameworkVersion& version : framework.versions) most = std::max(most, version.keys.size());
  return most;
}

}  // namespace

std::string preflight_page(const Catalogue& catalogue) {
  std::string out =
      cat(kIntroduction,
          "\n## Lints\n\n| lint | worst | what is found | why it matters | source |\n|---|---|---|---|---|\n");
  for (const Lint* lint : all_lints()) {
    out += cat("| `", lint->name, "` | ", level_word(lint->worst), " | ", cell(lint->summary), " | ", cell(lint->why),
               " | ", cell(lint->source), " |\n");
  }
  out += cat("\n## Rules for every framework\n\nThey are data: `knowledge/preflight/common.toml`.\n\n",
             rules_table(catalogue.rules));
  out += "\n## Frameworks\n\n| framework | known keys | versions | from |\n|---|---:|---|---|\n";
  for (const Framework& framework : catalogue.frameworks) {
    std::string versions;
    for (const FrameworkVersion& version : framework.versions)
      versions += cat(versions.empty() ? "" : ", ", version.id);
    out += cat("| ", cell(framework.title), " | ", keys_of(framework), " | ", versions, " | ", cell(framework.source),
               " |\n");
  }
  for (const Framework& framework : catalogue.frameworks) {
    if (!framework.rules.empty()) out += cat("\n### ", framework.title, "\n\n", rules_table(framework.rules));
  }
  return out;
}

}  // namespace mw::preflight
