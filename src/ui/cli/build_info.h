// What was built, when, from what and how.
#pragma once

#include <string>
#include <string_view>

namespace mw {

struct BuildInfo {
  std::string_view version;
  std::string_view commit;    ///< "1a2b3c4d5e6f", with " with changes" behind it; empty: not known
  std::string_view date;      ///< of the commit: "2026-11-23"
  std::string_view compiler;  ///< "GNU 12.2.0"
  std::string_view type;      ///< "Release"
};

/// Of this program. Made when it is built (cmake/build_info.cmake), and part of the program alone.
extern const BuildInfo kBuildInfo;

/// "midwatch 0.1.0 (commit 1a2b3c4d5e6f of 2026-11-23, Release, GNU 12.2.0)"
std::string version_line(const BuildInfo& build);
/// The same as JSON, schema midwatch.version/1.
std::string version_json(const BuildInfo& build);

}  // namespace mw
