// The manual page, made from the tables that --help is made from. Its language is that of man(7).
#include "base/text.h"
#include "ui/cli/declared.h"
#include "ui/cli/wrong_words.h"

namespace mw {
namespace {

/// `text` for the middle of a line or as lines of their own: what the formatter would take for its own is escaped.
std::string roff(std::string_view text) {
  std::string out;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    begins = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string bold(std::string_view text) { return cat("\\fB", roff(text), "\\fR"); }
std::string italic(std::string_view text) { return cat("\\fI", roff(text), "\\fR"); }

std::string option_entry(const ArgSpec::Option& option) {
  std::string out = ".TP\n";
  if (option.letter != 0) out += cat(bold(cat("-", std::string(1, option.letter))), ", ");
  out += bold(cat("--", option.name));
  if (!option.value.empty()) out += cat(" ", italic(option.value));
  out += cat("\n", roff(option.help));
  if (!option.choices.empty()) {
    out += " (one of";
    for (size_t i = 0; i < option.choices.size(); ++i) out += cat(i == 0 ? " " : ", ", roff(option.choices[i]));
    out += ")";
  }
  if (!option.otherwise.empty()) out += cat(" (default: ", roff(option.otherwise), ")");
  return out + "\n";
}

std::string verb_section(const DeclaredVerb& one) {
  std::string out = cat(".SS ", bold(cat("midwatch ", one.verb->name)), " [", italic("OPTIONS"), "]");
  for (const ArgSpec::Positional& positional : one.spec.positionals) {
    out += cat(" ", positional.required ? "" : "[", italic(shown_name(positional.name)), positional.many ? "..." : "",
               positional.required ? "" : "]");
  }
  if (one.verb->takes_command) out += cat(" ", bold("--"), " ", italic("COMMAND"), "...");
  out += cat("\n", roff(one.verb->summary), ".\n");
  for (const ArgSpec::Positional& positional : one.spec.positionals)
    out += cat(".TP\n", italic(shown_name(positional.name)), "\n", roff(positional.help), "\n");
  for (const ArgSpec::Option& option : one.spec.options) out += option_entry(option);
  if (!one.verb->examples.empty()) out += cat(".PP\n.nf\n", roff(one.verb->examples), ".fi\n");
  return out;
}

}  // namespace

std::string manual_page(std::span<const Verb* const> verbs, std::string_view version, std::string_view date) {
  std::string out = cat(".TH MIDWATCH 1 \"", date, "\" \"midwatch ", version, "\"\n");
  out +=
      ".SH NAME\nmidwatch \\- watch over reinforcement\\-learning runs of large language models\n"
      ".SH SYNOPSIS\n"
      ".B midwatch run\n[\\fIOPTIONS\\fR] \\fB\\-\\-\\fR \\fICOMMAND\\fR...\n.br\n"
      ".B midwatch attach\n[\\fIOPTIONS\\fR] \\fIPATH\\fR...\n.br\n"
      ".B midwatch replay\n[\\fIOPTIONS\\fR] \\fIPATH\\fR...\n.br\n"
      ".B midwatch\n\\fIVERB\\fR [\\fIOPTIONS\\fR]\n"
      ".SH DESCRIPTION\n"
      "midwatch reads what a training run writes, notices when it dies, stalls, diverges or trains on poisoned data, "
      "says\n"
      "why with evidence, and puts it right as far as it was allowed to. It changes no line of the trainer.\n"
      ".SH VERBS\n";
  for (const DeclaredVerb& one : declared(verbs)) out += verb_section(one);
  out += cat(".SH EXIT STATUS\n", roff(kExitCodes), "\n");
  out +=
      ".SH FILES\n.TP\n.I midwatch.toml\nsettings, looked for in the current folder; \\fBmidwatch config\\fR shows all "
      "of them\n"
      ".TP\n.I $MIDWATCH_HOME\nwhere the records of runs are kept; else a folder of the user's by the XDG rules\n"
      ".SH ENVIRONMENT\n.TP\n.B MIDWATCH_HOME\nas above\n.TP\n.B NO_COLOR\nno colours, even on a terminal\n";
  return out;
}

}  // namespace mw
