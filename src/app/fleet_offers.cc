#include "app/fleet_offers.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "act/fleet/provider.h"
#include "app/harbour.h"
#include "base/text.h"
#include "core/fleet/decide.h"

namespace mw {
namespace {

constexpr double kAny = 1e9;  // of a price: nobody asks so much

struct Cloud {
  const char* kind;
  const char* key;
};
constexpr std::array<Cloud, 4> kClouds = {
    Cloud{"vast", "VAST_API_KEY"},
    {"runpod", "RUNPOD_API_KEY"},
    {"prime", "PRIME_API_KEY"},
    {"lambda", "LAMBDA_API_KEY"},
};

std::vector<std::string> kinds_of(const FleetRequest& request) {
  if (!request.provider.empty()) return {request.provider};
  std::vector<std::string> out;
  for (const Cloud& one : kClouds) {
    if (!variable(one.key).value_or("").empty()) out.emplace_back(one.kind);
  }
  return out;
}

/// What a kind needs to rent is not needed to look.
fleet::ProviderSpec spec_of(const std::string& kind, const std::string& endpoint) {
  fleet::ProviderSpec spec;
  spec.kind = spec.name = kind;
  if (!endpoint.empty()) spec.values["endpoint"] = endpoint;
  if (kind == "prime") spec.values["template"] = "none";
  if (kind == "lambda") spec.values["ssh_key"] = "none";
  return spec;
}

}  // namespace

Result<FleetAnswer> search_offers(const FleetRequest& request) {
  const std::vector<std::string> kinds = kinds_of(request);
  if (kinds.empty()) {
    std::string keys;
    for (const Cloud& one : kClouds) keys += cat(keys.empty() ? "" : ", ", one.key);
    return Error{Error::Code::kInvalid, "no provider's key is in the environment",
                 cat("Set one of ", keys, ", or name a specification: midwatch fleet offers run.toml")};
  }
  fleet::FleetSpec wanted;
  wanted.wants = request.wants;
  if (wanted.wants.image.empty()) wanted.wants.image = "none";  // needed to rent
  wanted.wants.count = std::max<int64_t>(1, wanted.wants.count);
  wanted.limits.price_per_hour = request.max_price > 0 ? request.max_price : kAny;
  wanted.limits.spend = kAny;
  FleetAnswer answer;
  const Time now = make_posix_clock()->now();
  for (const std::string& kind : kinds) {
    const auto provider = fleet::make_provider(spec_of(kind, request.endpoint));
    if (!provider.ok() && kinds.size() == 1) return provider.error();
    auto found =
        provider.ok() ? (*provider)->search(wanted.wants) : Result<std::vector<fleet::Offer>>(provider.error());
    if (!found.ok()) {
      answer.notes.push_back(cat(kind, " has no answer: ", found.error().what));
      answer.all_seen = false;
      continue;
    }
    std::vector<std::string> why;
    for (fleet::Offer& one : ranked(wanted, {}, now, std::move(*found), why)) answer.offers.push_back(std::move(one));
    for (const std::string& one : why) answer.notes.push_back(cat(kind, " has nothing: ", one));
  }
  return answer;
}

}  // namespace mw
