// Collects what an attempt is made of. All of it may block: each collector runs on a thread of its own.
#pragma once

#include <string>
#include <vector>

#include "platform/system.h"
#include "sense/fingerprint/fingerprint.h"

namespace mw {

/// Whose fingerprint is taken.
struct Subject {
  std::vector<std::string> command;
  std::string folder;                              ///< the command's working directory, absolute
  int64_t pid = 0;                                 ///< its process; 0: it inherits from this one
  std::map<std::string, std::string> environment;  ///< on top of that process's own
  std::vector<std::string> places;                 ///< folders that it writes to
};

// Limits of what is kept, beside those of fingerprint.h.
inline constexpr size_t kHashedBytes = 16U << 20;            ///< of a file; a larger one is known by its size and time
inline constexpr size_t kKeptTextBytes = 64U << 10;          ///< of a file's or a diff's text
inline constexpr size_t kKeptDiffBytes = 256U << 10;         ///< of all diffs together
inline constexpr size_t kFilesLimit = 64;                    ///< that the command names
inline constexpr size_t kValueBytes = 4096;                  ///< of a variable
inline constexpr size_t kNamesLimit = 5000;                  ///< variables, packages
inline constexpr size_t kUntrackedLimit = 100;               ///< files that git does not know
inline constexpr Duration kGitLimit = Duration::seconds(5);  ///< for each call of git

/// Command, environment, files that the command names, packages, driver, host, limits: small files, read within
/// milliseconds where the disks answer.
Fingerprint collect_quickly(System& system, const Subject& subject);
/// The git repository of the working folder, by the git program; nothing when it is in none.
Fingerprint collect_code(const Subject& subject);
/// The file systems under the working folder and `places`: which, and how large; how much is free.
Fingerprint collect_disks(System& system, const Subject& subject);

/// Python's packages in an environment: its folder, as the command and the variables say; "" when none is found.
std::string python_prefix(System& system, const Subject& subject, const Fingerprint::Facts& environment);
/// Name and version of every installed package, by their *.dist-info and *.egg-info under `prefix`; no Python is
/// started. One from a repository or in development has that beside its version.
Fingerprint::Facts python_packages(System& system, const std::string& prefix);

}  // namespace mw
