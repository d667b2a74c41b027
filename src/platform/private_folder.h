// A folder that nobody but its owner may look into, and all that is in it.
#pragma once

#include <string>

namespace mw {

/// Takes the permissions of group and others from `folder` and from everything below it that is this user's own (0700,
/// 0600; whatever the umask says). Links are not followed. What cannot be changed stays as it is: the folder's own
/// permissions keep others out. What PosixDisk makes in such a folder later is private from the beginning.
void make_private(const std::string& folder);

/// Does the folder let nobody but its owner in?
bool is_private(const std::string& folder);

}  // namespace mw
