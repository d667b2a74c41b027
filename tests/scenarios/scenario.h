// A run in words: series over steps, and what must follow from them and what must not. README.md has the grammar.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/event.h"
#include "core/incident.h"
#include "core/knowledge.h"

namespace mw::scenario {

struct Expectation {
  std::string kind;
  Severity severity = Severity::kWarning;
  std::optional<std::pair<int64_t, int64_t>> onset;
  std::string cause;         ///< must be the first that the finding suggests; "" when not said
  std::optional<bool> over;  ///< resolved in the end, or not
};

struct Scenario {
  std::string name;
  std::vector<Event> events;  ///< without the closing one
  std::vector<Expectation> expects;
  std::vector<std::string> allows;
  std::vector<UserRule> rules;
};

/// Parses a file of scenarios. An error names the line.
Result<std::vector<Scenario>> parse(std::string_view text);

}  // namespace mw::scenario
