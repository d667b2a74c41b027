#include "app/store_runs.h"

#include <algorithm>

#include "base/text.h"

namespace mw {
namespace {

constexpr std::string_view kSpecification = "fleet/run.json", kManifests = "manifests/";
constexpr int kPages = 20;    // of a listing, 1,000 names each
constexpr size_t kNamed = 5;  // runs

std::string below(const Harbour& harbour) { return harbour.prefix.empty() ? "" : cat(harbour.prefix, "/"); }

}  // namespace

std::optional<std::string> run_of_key(std::string_view key) {
  if (key == kSpecification || key.ends_with(cat("/", kSpecification)))
    return std::string(key.substr(0, key.size() - std::min(key.size(), kSpecification.size() + 1)));
  const size_t folder = key.rfind('/') == std::string_view::npos ? 0 : key.rfind('/') + 1;
  const std::string_view path = key.substr(0, folder);
  if (!key.ends_with(".json") || !(path == kManifests || path.ends_with(cat("/", kManifests)))) return std::nullopt;
  return std::string(path.substr(0, path.size() - std::min(path.size(), kManifests.size() + 1)));
}

Result<std::set<std::string>> prefixes_below(Harbour& harbour) {
  const auto listed = list_all(*harbour.store, below(harbour));
  if (!listed.ok()) return listed.error();
  std::set<std::string> out;
  for (const ObjectInfo& one : *listed) {
    if (auto run = run_of_key(one.key)) out.insert(std::move(*run));
  }
  return out;
}

std::string named_runs_below(Harbour& harbour) {
  const std::string prefix = below(harbour);
  std::set<std::string> runs;
  std::string from;
  for (int page = 0; page < kPages; ++page) {
    const auto listed = harbour.store->list(prefix, from);
    if (!listed.ok()) break;
    for (const ObjectInfo& one : listed->objects) {
      const auto run = run_of_key(one.key);
      if (run && run->size() > prefix.size()) runs.insert(run->substr(prefix.size()));
    }
    from = listed->next;
    if (from.empty()) break;
  }
  std::string out;
  size_t named = 0;
  for (const std::string& run : runs) {
    if (++named > kNamed) return cat(out, " and ", runs.size() - kNamed, " more");
    out += cat(out.empty() ? "" : ", ", run);
  }
  return out;
}

Error runs_lie_below(const std::string& place, const std::string& runs) {
  const std::string first = runs.substr(0, std::min(runs.find(", "), runs.find(" and ")));
  return {Error::Code::kNotFound, cat(place, " has no checkpoint of its own, and runs lie below it: ", runs),
          cat("Name the place of the run that is meant, such as ", place, "/", first, ".")};
}

}  // namespace mw
