// The files of knowledge/, which the build puts into the program (cmake/embed.cmake).
#pragma once

#include <string_view>
#include <vector>

namespace mw {

struct EmbeddedFile {
  std::string_view path;   ///< relative to knowledge/: "signatures/gpu.toml"
  std::string_view bytes;  ///< its content; lives as long as the program
};

/// The files whose path begins with `prefix` ("signatures/"; "" for all), in the order of their paths.
std::vector<EmbeddedFile> embedded_files(std::string_view prefix);

}  // namespace mw
