// The [signals] section of midwatch.toml.
#pragma once

#include <map>
#include <string>

#include "app/config/config.h"
#include "read/books/knowledge_base.h"

namespace mw {

/// What the trainer's own names of metrics mean: signal by name, as the file says.
std::map<std::string, std::string> own_names(const Config& config);

/// The rules and the names of a file that has no problems hold from here on. Before anything is read.
void learn_settings(const Config& config, KnowledgeBase& knowledge);

}  // namespace mw
