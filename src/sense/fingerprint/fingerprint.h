// What an attempt of a run was made of: command, environment, scripts and settings, code, packages, machine. Kept so
// that the next attempt can say what is different. It holds no secret: values of names that mean one, and what has the
// shape of one, are left out before anything is written (base/secrets.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace mw {

/// A file that the command names.
struct FileSeen {
  int64_t bytes = 0;
  std::string hash;  ///< fnv1a of its content, 16 hexadecimal digits; for a large file, of its size and time
  std::string text;  ///< of a small text; "" else
};

/// The git repository that the command works in.
struct CodeSeen {
  std::string folder;                          ///< its top
  std::string commit, branch;                  ///< branch: "" when none is checked out
  std::map<std::string, std::string> changed;  ///< diff of each file against the commit; "" when it was too long
  std::vector<std::string> untracked;          ///< scripts and settings that git does not know
  std::string hash;                            ///< of all of the diff
};

/// Before the disk on which a folder will lie that is not there yet, as the fact of its place.
inline constexpr std::string_view kNotThere = "not there yet; ";

struct Fingerprint {
  /// Groups of simple facts, in the order in which they are shown: "environment", "package", "driver", "host", "disk",
  /// "limit".
  using Facts = std::map<std::string, std::string>;

  int64_t attempt = 0;
  Time at;
  std::vector<std::string> command;
  std::string folder;
  std::map<std::string, Facts> facts;  ///< by group; one that is not there was not looked at
  std::map<std::string, FileSeen> files;
  std::optional<CodeSeen> code;
  std::vector<std::string> missing;  ///< what could not be looked at, and why, in words
};

/// As JSON; docs/formats/fingerprint.md.
std::string fingerprint_text(const Fingerprint& fingerprint);
Result<Fingerprint> parse_fingerprint(std::string_view text);

/// One number of what was run: the command and the content of the files that it names. 32 hexadecimal digits.
std::string configuration_digest(const Fingerprint& fingerprint);

/// Adds what another collector found of the same attempt.
void merge(Fingerprint& into, Fingerprint&& from);

/// Something that is other in a later attempt.
struct Difference {
  std::string what;  ///< "command", "file", "code", "environment", "package", "driver", "host", "disk", "limit"
  std::string name;  ///< of the file, the variable, the package
  std::string before, after;  ///< "": not there; of a text the lines that differ, each at most kDifferenceText bytes
};
inline constexpr size_t kDifferenceText = 600;   ///< bytes
inline constexpr size_t kDifferenceLimit = 100;  ///< the last of more counts the others

/// What `after` has other than `before`, the likeliest cause of trouble first: command, files, code, environment,
/// packages, then the machine. What one of them did not look at is not compared.
std::vector<Difference> differences(const Fingerprint& before, const Fingerprint& after);

/// Lines of `before` that `after` does not have, and the other way round, by a longest common subsequence; each list
/// joined by line ends and clipped. Of texts too long for that (more than kDiffCells pairs of lines) only how many
/// lines there are.
inline constexpr size_t kDiffCells = 1'000'000;
std::pair<std::string, std::string> differing_lines(std::string_view before, std::string_view after);

}  // namespace mw
