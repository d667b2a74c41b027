// Symbolic links beside checkpoints that lead to the newest ("latest.pt -> ckpt_30.pt"): a trainer that resumes by one
// finds nothing once its target was quarantined, and begins from nothing.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "platform/disk.h"

namespace mw {

struct PointerLink {
  std::string name;          ///< below the folder of checkpoints, or "../NAME"
  std::string before;        ///< what stood in it
  std::string after;         ///< what is to stand in it; "": it is left alone
  std::string to = {};       ///< below the folder of checkpoints: where the link itself is moved; "": it stays
  bool certain = false;      ///< by its name a person would expect one certain checkpoint; in no manifest
  std::string mend = {};     ///< what in it would lead to the newest; "": nothing would
  std::string through = {};  ///< the name of another such link, which it leads to and which takes it to the newest
};

std::string path_of_link(const std::string& root, const PointerLink& link);

/// The links in `root`, and in the folder above it, that lead to one of `targets`, which are names in `root`, or to a
/// file in one of them, by themselves or through others of them, which come before them. `newest`: the name of what
/// they are to lead to, or in which the same file lies to which they are; "": there is none. Left alone is a link of
/// whose name a person would expect one certain checkpoint ("best.pt", "step_30.pt"), and one that another takes along.
std::vector<PointerLink> links_to(Disk& disk, const std::string& root, const std::set<std::string>& targets,
                                  const std::string& newest);

/// Puts `after` into the link at `path`, by rename, so that it leads somewhere at every moment. False, and nothing
/// happens, where something else than `before` stands in it by now.
Result<bool> lead_link(Disk& disk, const std::string& path, const std::string& before, const std::string& after);

/// Is it the name of a link as links_to() has it?
bool is_link_name(const std::string& name);

}  // namespace mw
