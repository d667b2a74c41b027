// Numbers of /proc/PID/stat that a process's identity (platform/process.h) does not need.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/numbers.h"
#include "base/text.h"

namespace mw::components {

/// Field `number` of /proc/PID/stat as proc(5) counts them, from 3 on; 0 when it is not there.
inline int64_t stat_field(std::string_view stat, size_t number) {
  const size_t shut = stat.rfind(") ");
  if (shut == std::string_view::npos || number < 3) return 0;
  const auto fields = split(trim(stat.substr(shut + 2)), ' ');
  return number - 3 < fields.size() ? parse_int(fields[number - 3]).value_or(0) : 0;
}

}  // namespace mw::components
