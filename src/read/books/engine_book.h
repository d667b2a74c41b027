// The engines of knowledge/engines.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/engine.h"

namespace mw {

class ArchiveReader;
class ArchiveWriter;

/// One file; `path` is for messages. kInvalid with path and line.
Result<Engine> parse_engine(std::string_view text, std::string_view path);

/// As the build read them (compiled.h).
void write_engines(const std::vector<Engine>& engines, ArchiveWriter& out);
std::vector<Engine> read_engines(ArchiveReader& in);

/// Those that are built into the program, by name. Read once.
const std::vector<Engine>& built_in_engines();

}  // namespace mw
