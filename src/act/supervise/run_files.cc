#include "act/supervise/run_files.h"

#include "base/text.h"
#include "platform/durable.h"

namespace mw {

std::string run_spec_path(Disk& disk, const std::string& run_folder) {
  for (const std::string_view name : {kRunSpecFile, kOldRunSpecFile}) {
    std::string path = cat(run_folder, "/", name);
    if (disk.info(path).ok()) return path;
  }
  return "";
}

Result<std::string> read_run_spec(Disk& disk, const std::string& run_folder) {
  auto text = read_small(disk, cat(run_folder, "/", kRunSpecFile));
  if (text.ok() || text.error().code != Error::Code::kNotFound) return text;
  auto old = read_small(disk, cat(run_folder, "/", kOldRunSpecFile));
  return old.ok() ? old : text;
}

Result<RunSpec> load_run_spec(Disk& disk, const std::string& run_folder) {
  const auto text = read_run_spec(disk, run_folder);
  return text.ok() ? parse_run_spec(*text) : Result<RunSpec>(text.error());
}

}  // namespace mw
