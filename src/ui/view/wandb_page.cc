#include "ui/view/wandb_page.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kLongest = 300;  // bytes

bool plain(std::string_view text) {
  return !text.empty() && text.size() <= kLongest && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("-_.:/").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

}  // namespace

std::string wandb_page(const State& state) {
  const auto value = [&state](const char* key) {
    const auto at = state.config.find(key);
    return at == state.config.end() ? std::string() : at->second;
  };
  std::string page = value("wandb_page");
  if (!page.starts_with("https://")) page.clear();
  const std::string entity = value("run/entity"), project = value("run/project"), id = value("run/id");
  if (page.empty() && !entity.empty() && !project.empty() && !id.empty())
    page = cat("https://wandb.ai/", entity, "/", project, "/runs/", id);
  return plain(page) ? page : "";
}

}  // namespace mw
