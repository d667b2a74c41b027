#include <unistd.h>

#include <algorithm>

#include "base/checksum.h"
#include "base/secrets.h"
#include "base/text.h"
#include "platform/program.h"
#include "sense/fingerprint/collect.h"
#include "sense/processes/known_environment.h"

namespace mw {
namespace {

constexpr size_t kDiffBytes = 4U << 20;  // read of a diff; what lies behind is not seen
constexpr size_t kDiffFiles = 500;

/// Runs write much that git does not know; a new script or settings file is what may make a difference.
bool is_source(std::string_view path) {
  for (const std::string_view end : {".py", ".sh", ".yaml", ".yml", ".toml", ".cfg", ".ini", ".jinja", ".cu", ".cpp"}) {
    if (path.ends_with(end)) return true;
  }
  return false;
}

/// git without anything that a repository's settings can make it start, and without the lock that it takes to refresh
/// its index: the run's own git commands must not find it held.
Result<std::string> git(const std::string& folder, std::vector<std::string> words, size_t most) {
  ProgramRequest request;
  request.command = {"git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "core.pager=cat"};
  request.command.insert(request.command.end(), words.begin(), words.end());
  request.folder = folder;
  request.environment = {{"GIT_OPTIONAL_LOCKS", "0"}, {"GIT_TERMINAL_PROMPT", "0"}, {"LC_ALL", "C"}};
  request.limit = kGitLimit;
  request.grace = Duration::seconds(1);
  request.output_limit = most;
  const auto end = run_program(request);
  if (!end.ok()) return end.error();
  if (end->late) return Error{Error::Code::kLimit, cat("git ", words.front(), " took more than 5 s"), ""};
  if (end->code != 0) {
    return Error{Error::Code::kIo, cat("git ", words.front(), ": ", clip(trim(end->output), 200)), ""};
  }
  return end->output;
}

/// "diff --git a/x b/x\n..." taken apart, by file.
void take_diff(const std::string& diff, const KnownSecrets& known, CodeSeen& code) {
  size_t kept = 0;
  for (size_t at = diff.rfind("diff --git ", 0) == 0 ? 0 : std::string::npos; at != std::string::npos;) {
    const size_t next = diff.find("\ndiff --git ", at);
    const std::string_view section =
        std::string_view(diff).substr(at, next == std::string::npos ? next : next + 1 - at);
    const std::string_view head = section.substr(0, section.find('\n'));
    const size_t b = head.rfind(" b/");
    const std::string path = sanitize_utf8(b == std::string_view::npos ? head : head.substr(b + 3));
    if (code.changed.size() < kDiffFiles) {
      std::string text =
          section.size() <= kKeptTextBytes ? redact_secrets(known.hide(sanitize_utf8(section))) : std::string();
      if (names_secret(basename(path)) || basename(path).starts_with(".env")) text.clear();
      if (kept + text.size() > kKeptDiffBytes) text.clear();
      kept += text.size();
      code.changed[path] = std::move(text);
    }
    at = next == std::string::npos ? next : next + 1;
  }
}

std::string hex(uint64_t value) {
  std::string out;
  for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[(value >> shift) & 15];
  return out;
}

}  // namespace

Fingerprint collect_code(const Subject& subject) {
  Fingerprint out;
  const auto top = git(subject.folder, {"rev-parse", "--show-toplevel"}, 8192);
  if (!top.ok()) {
    const bool none = contains(top.error().what, "not a git repository");
    if (!none) out.missing.push_back("code: " + top.error().what);
    return out;
  }
  CodeSeen code;
  code.folder = std::string(trim(*top));
  if (const auto head = git(subject.folder, {"rev-parse", "--verify", "HEAD"}, 200); head.ok()) {
    code.commit = std::string(trim(*head));
  }
  if (const auto branch = git(subject.folder, {"symbolic-ref", "--short", "-q", "HEAD"}, 1000); branch.ok()) {
    code.branch = std::string(trim(*branch));
  }
  std::vector<std::string> words = {
      "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "-U0", "--ignore-submodules=dirty"};
  if (!code.commit.empty()) words.emplace_back("HEAD");
  const auto diff = git(subject.folder, words, kDiffBytes);
  if (!diff.ok()) {
    out.missing.push_back("code: " + diff.error().what);
    return out;  // half of it would look like a change
  }
  code.hash = diff->empty() ? "" : hex(fnv1a(*diff));
  KnownSecrets known;
  learn_environment_of(*make_posix_system(), subject.pid > 0 ? subject.pid : ::getpid(), known);
  for (const auto& [name, value] : subject.environment) known.learn(name, value);
  take_diff(*diff, known, code);
  const auto others = git(subject.folder, {"ls-files", "--others", "--exclude-standard", "--directory"}, 1U << 20);
  if (others.ok()) {
    for (const std::string_view path : split(*others, '\n')) {
      if (is_source(path) && code.untracked.size() < kUntrackedLimit) code.untracked.push_back(sanitize_utf8(path));
    }
  } else {
    out.missing.push_back("code: " + others.error().what);
    return out;
  }
  out.code = std::move(code);
  return out;
}

}  // namespace mw
