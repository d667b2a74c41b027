// midwatch.toml on its way to what uses it: found, read, and put into requests.
#pragma once

#include <memory>
#include <string>

#include "api/requests.h"
#include "app/config/config.h"
#include "base/result.h"
#include "platform/disk.h"
#include "read/books/knowledge_base.h"

namespace mw {

/// Largest file that is read, in bytes.
inline constexpr size_t kConfigBytesLimit = size_t{1} << 20;

/// The settings that `file` names: "" is midwatch.toml in the working directory if there is one, "none" is none. An
/// error when a named file cannot be read; problems within the file are the Config's.
Result<Config> load_config(Disk& disk, const std::string& file);

void apply(const Config& config, RunRequest& request);
void apply(const Config& config, AttachRequest& request);

/// The secret's value; an error names where it should have been and never what it was.
Result<std::string> reveal(Disk& disk, const Secret& secret);

/// All about a file for `midwatch config`: its problems, and what it names that is not there.
ConfigAnswer config_answer(Disk& disk, const Config& config);
/// What else a run would be refused for: the knowledge that it names, loaded with `loaded`, and its dialect.
void add_knowledge_problem(const Config& config, const Result<void>& loaded, const std::unique_ptr<KnowledgeBase>& base,
                           ConfigAnswer& answer);

}  // namespace mw
