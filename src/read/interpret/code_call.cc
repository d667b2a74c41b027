#include "read/interpret/code_call.h"

#include <algorithm>
#include <utility>

#include "base/one_of.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kNone = std::string_view::npos;

// Keywords, built-in functions, and what code takes from the standard library so often that an earlier piece of the
// same session may have imported it.
constexpr std::string_view kPassedOver[] = {
    "abs",          "all",      "and",      "any",    "as",           "as_completed", "ascii",      "assert",
    "async",        "await",    "bin",      "bool",   "breakpoint",   "bytearray",    "bytes",      "callable",
    "case",         "chain",    "chr",      "class",  "classmethod",  "combinations", "compile",    "complex",
    "date",         "datetime", "deepcopy", "def",    "defaultdict",  "del",          "delattr",    "deque",
    "dict",         "dir",      "display",  "divmod", "elif",         "else",         "enumerate",  "eval",
    "except",       "exec",     "exit",     "filter", "float",        "for",          "format",     "from",
    "frozenset",    "getattr",  "globals",  "glob",   "hasattr",      "hash",         "help",       "hex",
    "id",           "if",       "import",   "in",     "input",        "int",          "is",         "isinstance",
    "issubclass",   "iter",     "lambda",   "len",    "list",         "locals",       "log10",      "log2",
    "lru_cache",    "map",      "match",    "max",    "memoryview",   "min",          "namedtuple", "next",
    "nonlocal",     "not",      "object",   "oct",    "open",         "or",           "ord",        "partial",
    "permutations", "pow",      "pprint",   "print",  "product",      "property",     "quit",       "raise",
    "range",        "reduce",   "repr",     "return", "reversed",     "round",        "set",        "setattr",
    "sleep",        "slice",    "sorted",   "sqrt",   "staticmethod", "str",          "sum",        "super",
    "timedelta",    "tqdm",     "tuple",    "type",   "vars",         "while",        "with",       "yield",
    "zip"};

// Modules whose functions are not what makes an agent's code slow, or do not say what did.
constexpr std::string_view kOrdinaryModules[] = {"__future__",
                                                 "argparse",
                                                 "ast",
                                                 "asyncio",
                                                 "base64",
                                                 "builtins",
                                                 "collections",
                                                 "concurrent",
                                                 "contextlib",
                                                 "copy",
                                                 "csv",
                                                 "dataclasses",
                                                 "datetime",
                                                 "decimal",
                                                 "enum",
                                                 "fractions",
                                                 "functools",
                                                 "gc",
                                                 "glob",
                                                 "gzip",
                                                 "hashlib",
                                                 "heapq",
                                                 "importlib",
                                                 "inspect",
                                                 "io",
                                                 "itertools",
                                                 "json",
                                                 "logging",
                                                 "math",
                                                 "matplotlib",
                                                 "multiprocessing",
                                                 "numpy",
                                                 "operator",
                                                 "os",
                                                 "pandas",
                                                 "pathlib",
                                                 "pickle",
                                                 "plotly",
                                                 "pprint",
                                                 "queue",
                                                 "random",
                                                 "re",
                                                 "seaborn",
                                                 "shutil",
                                                 "signal",
                                                 "statistics",
                                                 "string",
                                                 "sys",
                                                 "tempfile",
                                                 "textwrap",
                                                 "threading",
                                                 "time",
                                                 "tqdm",
                                                 "traceback",
                                                 "typing",
                                                 "uuid",
                                                 "warnings",
                                                 "zipfile"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// Python's names may hold letters of any script: such bytes belong to one, which is then not counted.
bool is_name_byte(char c) { return is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80; }

std::string_view root_of(std::string_view name) { return name.substr(0, name.find('.')); }

/// Python's way to write the name of a class, which is made rather than run.
bool is_class(std::string_view name) {
  const size_t dot = name.rfind('.');
  const char first = name[dot == kNone ? 0 : dot + 1];
  return first >= 'A' && first <= 'Z';
}

/// "gget.info" of "gget.info(x)": where the dotted name ends that begins at `at`.
size_t name_end(std::string_view code, size_t at) {
  while (at < code.size() &&
         (is_name_byte(code[at]) || (code[at] == '.' && at + 1 < code.size() && is_letter(code[at + 1])))) {
    ++at;
  }
  return at;
}

bool is_formatted(std::string_view prefix) {
  return prefix.size() <= 2 && prefix.find_first_of("fF") != kNone && prefix.find_first_not_of("fFrR") == kNone;
}

}  // namespace

void CodeCall::read(std::string_view line) {
  line = line.substr(0, kLineBytes);
  if (lines_++ == 0) other_language_ = trim(line).starts_with("#!");  // "#!R", "#!BASH"
  if (other_language_) return;
  if (depth_ == 0 && triple_ == 0) {
    start_ = true;
    before_ = Before::kNothing;
    import_ = Import::kNone;
  }
  tokens(line);
}

void CodeCall::tokens(std::string_view code) {
  size_t at = 0;
  if (triple_ != 0) {
    const size_t end = code.find(std::string(3, triple_));
    if (end == kNone) return;
    triple_ = 0;
    at = end + 3;
  }
  while (at < code.size()) {
    const char c = code[at];
    if (c == '#') return;
    if (c == '"' || c == '\'') {
      at = string_at(code, at, false);
    } else if (is_name_byte(c)) {
      const size_t end = name_end(code, at);
      const std::string_view name = code.substr(at, end - at);
      if (end < code.size() && (code[end] == '"' || code[end] == '\'')) {
        at = string_at(code, end, is_formatted(name));
        continue;
      }
      if (!is_digit(c)) word(name, code.substr(end));
      start_ = false;
      at = end;
    } else {
      mark(c);
      ++at;
    }
  }
}

/// Where the string ends that begins with the quote at `at`. What stands in the braces of a formatted one is code.
size_t CodeCall::string_at(std::string_view code, size_t at, bool formatted) {
  const char quote = code[at];
  start_ = false;
  before_ = Before::kNothing;
  if (code.substr(at, 3) == std::string(3, quote)) {
    const size_t end = code.find(std::string(3, quote), at + 3);
    if (end == kNone) triple_ = quote;
    return end == kNone ? code.size() : end + 3;
  }
  size_t end = at + 1;
  while (end < code.size() && code[end] != quote) end += code[end] == '\\' ? 2 : 1;
  end = std::min(end, code.size());
  if (formatted) fields_of(code.substr(at + 1, end - at - 1));
  return std::min(end + 1, code.size());
}

void CodeCall::fields_of(std::string_view text) {
  for (size_t open = text.find('{'); open != kNone; open = text.find('{', open)) {
    if (text.substr(open, 2) == "{{") {
      open += 2;
      continue;
    }
    const size_t close = std::min(text.find('}', open), text.size());
    CodeCall field;  // it cannot leave a bracket or a string open
    field.start_ = false;
    field.tokens(text.substr(open + 1, close - open - 1));
    for (std::string& call : field.calls_) {
      if (calls_.size() < kNames) calls_.push_back(std::move(call));
    }
    open = close;
  }
}

void CodeCall::mark(char c) {
  if (c == ' ' || c == '\t') return;
  before_ = c == '.' ? Before::kDot : c == '@' ? Before::kAt : Before::kNothing;
  if (c == '(' || c == '[' || c == '{') ++depth_;
  if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
  if (depth_ == 0) parameters_ = false;
  start_ = depth_ == 0 && (c == ';' || c == ':');
  if (c == ';') import_ = Import::kNone;
}

void CodeCall::word(std::string_view word, std::string_view rest) {
  const Before before = std::exchange(before_, Before::kNothing);
  if (import_ != Import::kNone) {
    if (word == "as") {
      before_ = Before::kAs;
    } else {
      imported(word, before == Before::kAs);
    }
    return;
  }
  if (start_ && (word == "import" || word == "from")) {
    import_ = word == "import" ? Import::kModules : Import::kFromModule;
    ordinary_ = false;
    return;
  }
  if (word == "def" || word == "class") {
    before_ = Before::kDefinition;
  } else if (word == "for" || word == "as" || word == "lambda") {
    before_ = Before::kTarget;
  }
  if (before_ != Before::kNothing) return;
  rest = rest.substr(std::min(rest.find_first_not_of(" \t"), rest.size()));
  const bool assigned = start_ && rest.starts_with('=') && !rest.starts_with("==");
  if (before == Before::kDefinition) parameters_ = rest.starts_with('(');
  const bool parameter = parameters_ && depth_ == 1 && before != Before::kDefinition;
  if (before == Before::kDefinition || before == Before::kTarget || parameter || assigned) {
    return bind(word, Source::kOwn);
  }
  if (before == Before::kNothing && rest.starts_with('(') && calls_.size() < kNames && word.size() <= kNameBytes) {
    calls_.emplace_back(word);
  }
}

void CodeCall::imported(std::string_view word, bool alias) {
  switch (import_) {
    case Import::kModules:
      if (!alias) ordinary_ = is_one_of(root_of(word), kOrdinaryModules);
      bind(root_of(word), ordinary_ ? Source::kOrdinary : Source::kImported);
      break;
    case Import::kFromModule:
      if (word == "import") {
        import_ = Import::kNames;
      } else {
        ordinary_ = is_one_of(root_of(word), kOrdinaryModules);
      }
      break;
    case Import::kNames:
      bind(word, ordinary_ ? Source::kOrdinary : Source::kImported);
      break;
    case Import::kNone:
      break;
  }
}

/// The first word counts: "import gget" stays an import where "gget = None" follows in case that it fails.
void CodeCall::bind(std::string_view name, Source source) {
  if (names_.size() < kNames) names_.emplace(name, source);
}

std::string CodeCall::name() const {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  std::string_view of_module;
  for (const std::string& call : calls_) {
    if (is_class(call) || !std::all_of(call.begin(), call.end(), is_ascii)) continue;
    const auto known = names_.find(root_of(call));
    if (call.find('.') == std::string::npos) {
      if ((known == names_.end() || known->second == Source::kImported) && !is_one_of(call, kPassedOver)) return call;
    } else if (of_module.empty() && known != names_.end() && known->second == Source::kImported) {
      of_module = call;
    }
  }
  return std::string(of_module);
}

}  // namespace mw
