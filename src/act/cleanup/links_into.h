// Symbolic links that lead into the entries of folders of checkpoints: "best" and "latest" of trainers and of people,
// and files and folders of a checkpoint that lie in another one (a frozen part that is kept once).
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "platform/disk.h"
#include "platform/system.h"

namespace mw {

struct LinkInto {
  std::string into;  ///< the path of the entry of a root that it leads to, or through
  std::string from;  ///< likewise of the entry in which it lies, of the innermost root; "": it lies in none
  std::string link;  ///< its path; of a link beyond the roots, behind one in them, by way of that one
  auto operator<=>(const LinkInto&) const = default;
};

/// What lies beyond the bounds is no answer: nobody knows what the links are then.
inline constexpr size_t kLinkEntries = 1'000'000;

/// All links below `roots` and `declared`, at any depth, and those that lie directly in the folder above each of them;
/// also those in folders beyond these to which such a link leads, as far as 20,000 entries. A link to a link leads
/// through all of them. One that leads to nothing is none, and neither is one in a folder of midwatch's own, nor one
/// into the entry in which it lies. Roots are named as in `roots`, whatever links lead there; one that is not there is
/// an error. An error: the disk does not answer, and nobody knows.
Result<std::vector<LinkInto>> links_into(Disk& disk, System& system, const std::vector<std::string>& roots,
                                         const std::vector<std::string>& declared);

}  // namespace mw
