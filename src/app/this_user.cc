#include "app/this_user.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "act/notify/notifier.h"
#include "base/text.h"
#include "platform/durable.h"

namespace mw {
namespace {

/// As $USER has it, which a container often lacks, else the machine's list of users; else the number.
std::string user_name(Disk& disk) {
  for (const char* variable : {"USER", "LOGNAME"}) {
    if (const char* name = std::getenv(variable); name != nullptr && *name != '\0') return name;
  }
  const std::string uid = std::to_string(getuid());
  const auto users = read_small(disk, "/etc/passwd");
  for (const std::string_view line : split(users.ok() ? std::string_view(*users) : std::string_view(), '\n')) {
    const auto fields = split(line, ':');
    if (fields.size() > 2 && fields[2] == uid && !fields[0].empty()) return std::string(fields[0]);
  }
  return cat("uid ", uid);
}

}  // namespace

std::string this_user(Disk& disk) {
  const std::string host = host_name();
  return cat(user_name(disk), host.empty() ? "" : "@", host);
}

}  // namespace mw
