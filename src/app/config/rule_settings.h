// The [rule.NAME] sections of midwatch.toml, and of the files of a knowledge folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/config/config.h"
#include "base/result.h"
#include "core/knowledge.h"

namespace mw {

/// The rules of a person's own, in byte order of their names. The file has no problems.
std::vector<UserRule> user_rules(const Config& config);
/// What the table of keys cannot say: bounds that are missing, or leave nothing that is good.
std::vector<ConfigProblem> rule_problems(const Config& config);

/// The rules of a file of [rule.NAME] tables, which holds nothing else. `path` names it in messages.
Result<std::vector<UserRule>> read_user_rules(std::string_view text, const std::string& path);

}  // namespace mw
