// Where a command's own words say that it saves: "--output_dir out", "trainer.default_local_dir=ckpts".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mw {

/// Is it the name of an option or a setting that says where a trainer saves?
bool names_output(std::string_view option);

/// The folders that these words name so, relative ones from `folder` on; also within one word that a shell takes apart.
/// What a shell has still to fill in is left out.
std::vector<std::string> output_folders(const std::vector<std::string>& words, const std::string& folder);

}  // namespace mw
