// TemplateMiner on any lines: the number of templates and their size stay bounded.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "read/lines/template_miner.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  mw::TemplateMiner miner;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = text.find('\n', at) == std::string_view::npos ? text.size() : text.find('\n', at);
    const uint32_t id = miner.add(text.substr(at, end - at));
    MW_CHECK(id <= mw::TemplateMiner::kTemplateLimit);
    MW_CHECK(miner.text(id).size() < 3 * 4096 + 3 * mw::TemplateMiner::kTokenLimit);
    at = end + 1;
  }
  return 0;
}
