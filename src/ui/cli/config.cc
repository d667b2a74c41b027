// midwatch config: what midwatch.toml says, whether it is right, and what may stand in it.
#include "base/json.h"
#include "base/text.h"
#include "ui/cli/verb.h"

namespace mw {
namespace {

void declare(ArgSpec& spec) {
  spec.positional("what", "check: is the file right; show: every value, and where it comes from; reference: every key",
                  false, true);
  spec.positional("file", "the file (default: midwatch.toml here)", false, false);
  spec.flag("json", "machine-readable");
}

std::string place(const ConfigAnswer& answer, uint32_t line) { return cat(answer.file, ":", line); }

void put_remarks(JsonWriter& json, std::string_view key, const std::vector<ConfigAnswer::Remark>& remarks) {
  json.key(key).begin_array();
  for (const ConfigAnswer::Remark& remark : remarks) {
    json.begin_object()
        .key("line")
        .integer(remark.line)
        .key("what")
        .string(remark.what)
        .key("hint")
        .string(remark.hint);
    json.end_object();
  }
  json.end_array();
}

void print_json(const Console& console, const ConfigAnswer& answer) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("version").integer(1).key("file").string(answer.file);
    put_remarks(json, "problems", answer.problems);
    put_remarks(json, "warnings", answer.warnings);
    json.key("values").begin_array();
    for (const ConfigAnswer::Value& value : answer.values) {
      json.begin_object().key("key").string(value.key).key("value").string(value.value);
      json.key("from").string(value.line == 0 ? "default" : place(answer, value.line)).end_object();
    }
    json.end_array().end_object();
  }
  console.out(out + "\n");
}

void print_remarks(const Console& console, const ConfigAnswer& answer) {
  const auto print = [&](std::string_view word, const std::vector<ConfigAnswer::Remark>& remarks) {
    for (const ConfigAnswer::Remark& remark : remarks) {
      console.err(cat(escape_terminal(place(answer, remark.line)), ": ", word, escape_terminal(remark.what), "\n"));
      if (!remark.hint.empty()) console.err(cat("  ", escape_terminal(remark.hint), "\n"));
    }
  };
  print("", answer.problems);
  print("warning: ", answer.warnings);
}

void print_values(const Console& console, const ConfigAnswer& answer) {
  std::string section;
  for (const ConfigAnswer::Value& value : answer.values) {
    const size_t dot = value.key.rfind('.');
    if (value.key.substr(0, dot) != section) {
      console.out(cat(section.empty() ? "" : "\n", "[", section = value.key.substr(0, dot), "]\n"));
    }
    std::string line = cat(value.key.substr(dot + 1), " = ", value.value);
    if (line.size() < 40) line.resize(40, ' ');
    console.out(cat(escape_terminal(line), "  # ",
                    value.line == 0 ? "default" : escape_terminal(place(answer, value.line)), "\n"));
  }
}

Exit run(const Args& args, Services& services, const Console& console) {
  const std::string what = args.get("what");
  const bool json = args.has("json");
  if (what == "reference") {
    console.out(services.config_reference(json));
    return Exit::kOk;
  }
  if (what != "check" && what != "show") {
    return report_error(console, {Error::Code::kInvalid, cat("there is no 'config ", what, "'"),
                                  "It is: config check, config show or config reference."});
  }
  const auto answer = services.config(args.get("file"));
  if (!answer.ok()) return report_error(console, answer.error());
  const Exit code = answer->problems.empty() ? Exit::kOk : Exit::kUsage;
  if (json) {
    print_json(console, *answer);
    return code;
  }
  print_remarks(console, *answer);
  if (what == "show") {
    if (answer->problems.empty()) print_values(console, *answer);
  } else if (answer->file.empty()) {
    console.out("There is no midwatch.toml here: all settings have their defaults.\n");
  } else if (answer->problems.empty()) {
    size_t set = 0;
    for (const ConfigAnswer::Value& value : answer->values) set += value.line != 0 ? 1 : 0;
    console.out(cat(escape_terminal(answer->file), " is right: ", set, set == 1 ? " key" : " keys", " set",
                    answer->warnings.empty() ? ""
                                             : cat(", with ", answer->warnings.size(),
                                                   answer->warnings.size() == 1 ? " warning" : " warnings"),
                    ".\n"));
  } else {
    console.err(cat(answer->problems.size(), answer->problems.size() == 1 ? " problem" : " problems",
                    "; nothing would be started with this file.\n"));
  }
  return code;
}

}  // namespace

namespace verbs {
extern const Verb config;
const Verb config = {
    "config", "Check midwatch.toml, show what is set and where, list what can be set",
    "  midwatch config check               the file of the working directory; exit status 2 when it is wrong\n"
    "  midwatch config show midwatch.toml  every value with the line that it comes from\n"
    "  midwatch config reference | less    every key, its default and the reason for it\n",
    declare, run};
}  // namespace verbs

}  // namespace mw
