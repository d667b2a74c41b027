#include "sense/preflight/catalogue.h"

#include <utility>

#include "read/books/embedded.h"

namespace mw::preflight {

Result<Knowledge> load_knowledge() {
  Knowledge out;
  for (const EmbeddedFile& file : embedded_files("preflight/")) {
    if (file.path == "preflight/models.toml") {
      auto models = parse_models(file.bytes, file.path);
      if (!models.ok()) return models.error();
      out.models = std::move(*models);
      continue;
    }
    auto framework = Framework::parse(file.bytes, file.path);
    if (!framework.ok()) return framework.error();
    if (framework->id.empty()) {
      out.catalogue.rules.insert(out.catalogue.rules.end(), framework->rules.begin(), framework->rules.end());
    } else {
      out.catalogue.frameworks.push_back(std::move(*framework));
    }
  }
  return out;
}

}  // namespace mw::preflight
