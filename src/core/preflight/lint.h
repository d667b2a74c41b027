// A lint: a pure function from facts to findings. One file each in lints/, all in one table.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/preflight/facts.h"

namespace mw::preflight {

/// Something that should be mended before money is spent, or that a person should know.
struct Finding {
  std::string lint;  ///< "context-overflow"; of a framework's rule "prime-rl/batch-in-groups"
  Level level = Level::kWarning;
  Place place;  ///< of the setting; no line and no file: of the machine or the command as a whole
  bool on_machine = false;
  std::string key, value;  ///< of the setting; may be empty
  std::string what, why, fix, source;
};

struct Lint {
  std::string_view name;         ///< also its file in lints/, with "-" for "_"
  Level worst;                   ///< the highest level of its findings
  std::string_view summary;      ///< one sentence for docs/preflight.md
  std::string_view why, source;  ///< what findings say that say nothing else
  void (*check)(const Facts& facts, const Lint& lint, std::vector<Finding>& out);
};

/// All lints, in the order in which their findings are shown.
std::span<const Lint* const> all_lints();

/// Runs all lints and the rules of `catalogue` that apply; errors first, then warnings, then notes.
std::vector<Finding> check(const Facts& facts, const Catalogue& catalogue);

/// A finding of `lint` at `setting` (nullptr: at no setting), with the lint's own why and source.
Finding finding_at(const Lint& lint, Level level, const Setting* setting, std::string what, std::string fix);

/// docs/preflight.md.
std::string preflight_page(const Catalogue& catalogue);

}  // namespace mw::preflight
