#include "act/fleet/provider.h"
#include "base/text.h"

namespace mw::fleet {

const std::vector<std::string>& provider_kinds() {
  static const std::vector<std::string> kKinds = {"command", "local", "ssh", "slurm"};
  return kKinds;
}

Result<std::unique_ptr<Provider>> make_provider(const ProviderSpec& spec) {
  if (spec.kind == "command") return make_command_provider(spec);
  if (spec.kind == "local" || spec.kind == "ssh") return make_host_provider(spec);
  if (spec.kind == "slurm") return make_slurm_provider(spec);
  std::string kinds;
  for (const std::string& kind : provider_kinds()) kinds += cat(kinds.empty() ? "" : ", ", kind);
  return Error{Error::Code::kInvalid, cat("there is no kind of provider \"", clip(spec.kind, 60), "\""),
               cat("There are: ", kinds, ".")};
}

}  // namespace mw::fleet
