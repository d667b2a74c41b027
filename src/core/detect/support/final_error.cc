// What the last line of a log says, when it is an error.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "core/detect/support/failure_chain.h"

namespace mw::detect {
namespace {

constexpr size_t kPrefixBytes = 80;  // of what a logger or a launcher puts before a message

bool name_char(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/// Words outside brackets that begin with a small letter: a logger's name is one, a sentence has more.
int small_words(std::string_view text) {
  int words = 0, depth = 0;
  char before = ' ';
  for (const char c : text) {
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (depth == 0 && before == ' ' && c >= 'a' && c <= 'z') ++words;
    before = c;
  }
  return words;
}

/// What stands before a message and is no part of it: "", "[rank0]: ", "2026-01-15 08:00:00 - ERROR - ".
bool is_prefix(std::string_view before) {
  if (before.empty()) return true;
  if (before.size() > kPrefixBytes || before.find_first_of("\"'`") != std::string_view::npos) return false;
  if (small_words(before) > 1) return false;
  const std::string_view end = trim(before);
  return !end.empty() && before.back() == ' ' &&
         (end.back() == ':' || end.back() == ']' || end.back() == ')' || end.back() == '-');
}

/// "ValueError: bad" behind a prefix.
std::optional<FinalError> exception_in(std::string_view line) {
  for (size_t colon = line.find(": "); colon != std::string_view::npos; colon = line.find(": ", colon + 1)) {
    size_t begin = colon;
    while (begin > 0 && name_char(line[begin - 1])) --begin;
    const std::string_view name = line.substr(begin, colon - begin);
    const std::string_view bare = bare_exception(name);
    const bool error = (bare.ends_with("Error") && bare.size() > 5) ||
                       (bare.ends_with("Exception") && bare.size() > 9) || bare == "SystemExit";
    if (!error || bare[0] < 'A' || bare[0] > 'Z') continue;
    if (bare == "SystemExit" && trim(line.substr(colon + 1)) == "0") return std::nullopt;
    if (!is_prefix(line.substr(0, begin))) return std::nullopt;
    return FinalError{std::string(name), std::string(trim(line.substr(colon + 1)))};
  }
  return std::nullopt;
}

bool is_fatal(std::string_view line) {
  constexpr std::array<std::string_view, 6> kLevels = {" CRITICAL ", " CRITICAL:", "[CRITICAL]",
                                                       " FATAL ",    " FATAL:",    "[FATAL]"};
  for (const std::string_view level : kLevels) {
    if (line.find(level) < kPrefixBytes) return true;
  }
  constexpr std::array<std::string_view, 3> kStarts = {"CRITICAL", "FATAL", "fatal: "};
  return std::any_of(kStarts.begin(), kStarts.end(),
                     [line](std::string_view start) { return line.starts_with(start); });
}

/// A shell cannot run what it was given: "bash: ./run.sh: Permission denied", "run.sh: line 3: torchrun: command not
/// found".
bool is_shells(std::string_view line) {
  constexpr std::array<std::string_view, 4> kShells = {"bash: ", "sh: ", "/bin/sh: ", "zsh: "};
  constexpr std::array<std::string_view, 4> kWords = {": Permission denied", ": command not found", ": not found",
                                                      ": No such file or directory"};
  const bool shell = contains(line.substr(0, kPrefixBytes), ".sh: line ") ||
                     std::any_of(kShells.begin(), kShells.end(), [line](auto word) { return line.starts_with(word); });
  return shell && std::any_of(kWords.begin(), kWords.end(), [line](auto word) { return line.ends_with(word); });
}

/// A command of a start script says that it failed: "error: no such target", "srun: error: no nodes". A trainer that
/// logs so goes on, hence only of a log that shows no training.
bool is_commands(const State& state, const AttemptState& attempt, std::string_view line) {
  constexpr std::array<std::string_view, 3> kBegins = {"error: ", "ERROR: ", "Error: "};
  constexpr std::array<std::string_view, 3> kBehindName = {": error: ", ": fatal: ", ": fatal error: "};
  if (attempt.last_step != kNoStep || !state.series.empty() || !state.eval.empty()) return false;
  if (std::any_of(kBegins.begin(), kBegins.end(), [line](auto word) { return line.starts_with(word); })) return true;
  const size_t name = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-.+");
  return name != 0 && name < kPrefixBytes && std::any_of(kBehindName.begin(), kBehindName.end(), [&](auto word) {
           return line.substr(name).starts_with(word);
         });
}

/// The last line ends a traceback that the program survived: a sample of its data, or "Exception ignored in" of the
/// interpreter's own clean-up.
bool ends_survived_trace(const State& state, uint32_t source) {
  constexpr int64_t kBlankLines = 4;
  return std::any_of(state.traces.begin(), state.traces.end(), [&](const auto& known) {
    return known.trace.sample && known.moment.where.source == source &&
           static_cast<int64_t>(known.trace.last_line) + kBlankLines >= state.sources[source].lines;
  });
}

}  // namespace

std::optional<FinalError> final_error(const State& state, const AttemptState& attempt) {
  const uint32_t number = attempt.last.where.source;
  if (attempt.ended || number >= state.sources.size() || state.sources[number].kind != "text") return std::nullopt;
  const std::string_view line = state.sources[number].last_text;
  if (ends_survived_trace(state, number)) return std::nullopt;
  if (auto exception = exception_in(line)) return exception;
  if (is_fatal(line) || is_shells(line) || is_commands(state, attempt, line)) return FinalError{"", std::string(line)};
  return std::nullopt;
}

Moment at_the_end(const State& state, const AttemptState& attempt, int64_t done) {
  Moment moment = attempt.last;
  if (moment.where.source < state.sources.size()) {
    const SourceState& source = state.sources[moment.where.source];
    const uint64_t lines = source.lines > 0 ? static_cast<uint64_t>(source.lines) : source.last_line;
    moment.where.line = std::max(moment.where.line, lines);
  }
  moment.step = done;
  return moment;
}

std::string_view without_label(std::string_view line) {
  const size_t pid = line.find(" pid="), close = line.find(')');
  const bool labelled = line.starts_with("(") && pid != std::string_view::npos && close != std::string_view::npos;
  return labelled && pid < close ? line.substr(close + 1) : line;
}

}  // namespace mw::detect
