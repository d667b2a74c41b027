#include "sense/checkpoints/strange_calls.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/one_of.h"
#include "base/text.h"

namespace mw {
namespace {

bool is_of_system(std::string_view name) {
  constexpr std::array<std::string_view, 20> kNames = {
      "system",  "popen",   "startfile", "fork",   "forkpty",  "remove", "unlink",  "rmdir", "removedirs", "rename",
      "renames", "replace", "kill",      "killpg", "truncate", "open",   "symlink", "link",  "putenv",     "_exit"};
  return is_one_of(name, kNames) || name.starts_with("exec") || name.starts_with("spawn") ||
         name.starts_with("posix_spawn") || name.starts_with("popen");
}

bool is_strange(std::string_view module, std::string_view name) {
  constexpr std::array<std::string_view, 8> kBuiltins = {"eval", "exec",       "execfile", "compile",
                                                         "open", "__import__", "input",    "breakpoint"};
  constexpr std::array<std::string_view, 7> kRuns = {"Popen",     "call",           "run", "check_call", "check_output",
                                                     "getoutput", "getstatusoutput"};
  constexpr std::array<std::string_view, 5> kModules = {"runpy", "pty", "webbrowser", "pdb", "timeit"};
  if (module == "os" || module == "posix" || module == "nt") return is_of_system(name);
  if (module == "builtins" || module == "__builtin__") return is_one_of(name, kBuiltins);
  if (module == "subprocess") return is_one_of(name, kRuns);
  if (module == "shutil") return name == "rmtree" || name == "move" || name.starts_with("copy");
  if (module == "socket") return name == "socket" || name == "create_connection";
  if (module == "urllib.request") return name == "urlopen" || name == "urlretrieve";
  if (module == "ctypes") return name == "CDLL" || name == "PyDLL";
  return is_one_of(module, kModules);
}

}  // namespace

std::string strange_call(const Pickle& pickle) {
  for (const PickleValue& value : pickle.values) {
    if (value.kind != PickleValue::Kind::kCall || !pickle.is(value.callable, PickleValue::Kind::kGlobal)) continue;
    const PickleValue& called = pickle.at(value.callable);
    const std::string_view module =
        pickle.is(called.callable, PickleValue::Kind::kText) ? pickle.at(called.callable).text : std::string_view();
    if (is_strange(module, called.text)) return sanitize_utf8(cat(module, ".", called.text));
  }
  return "";
}

}  // namespace mw
