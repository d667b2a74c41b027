// The built-in knowledge as the build reads it: checked, with the literals of every expression and the table that finds
// them. Reading the TOML files again at each start would cost five times what all else of a start does.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mw {

struct CompiledKnowledge {
  std::string_view patterns;    ///< of all dialects and signatures: PatternSet::read()
  std::string_view signs;       ///< of the dialects alone: PatternSet::read()
  std::string_view dialects;    ///< DialectBook::read()
  std::string_view signatures;  ///< SignatureBook::read(), with the causes
  std::string_view engines;     ///< read_engines()
};

/// What the build put into this program (src/read/books/compiler/main.cc); nothing in one that was linked without.
std::optional<CompiledKnowledge> compiled_knowledge();

/// Compiles the files of knowledge/, for parse_compiled().
Result<std::string> compile_knowledge();
/// `bytes` begin at a multiple of kFlatAlign (flat.h), and live as long as what is read of them.
CompiledKnowledge parse_compiled(std::string_view bytes);

}  // namespace mw
