#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "act/fleet/provider.h"
#include "base/text.h"

namespace mw::fleet {
namespace {

using Maker = Result<std::unique_ptr<Provider>> (*)(const ProviderSpec&, const ProviderDoors&);

struct Kind {
  std::string_view word;
  std::vector<std::string_view> settings;  ///< of ProviderSpec::values
  Maker make;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> kKinds = {
      {"command", {}, [](const ProviderSpec& spec, const ProviderDoors&) { return make_command_provider(spec); }},
      {"local", {"folder"}, [](const ProviderSpec& spec, const ProviderDoors&) { return make_host_provider(spec); }},
      {"ssh",
       {"folder", "config"},
       [](const ProviderSpec& spec, const ProviderDoors&) { return make_host_provider(spec); }},
      {"slurm",
       {"folder", "partition", "account", "qos", "time", "gres"},
       [](const ProviderSpec& spec, const ProviderDoors&) { return make_slurm_provider(spec); }},
      {"vast", {"endpoint", "key_file", "gpu", "market", "bid_margin"}, make_vast_provider},
      {"runpod", {"endpoint", "key_file", "gpu", "market", "bid_margin", "cloud"}, make_runpod_provider},
      {"kubernetes", {"context", "namespace", "gpu_resource", "grace"}, make_kubernetes_provider},
      {"prime", {"endpoint", "key_file", "gpu", "template", "market"}, make_prime_provider},
      {"lambda", {"endpoint", "key_file", "gpu", "ssh_key"}, make_lambda_provider},
      {"skypilot", {"gpu", "market", "infra"}, make_skypilot_provider},
  };
  return kKinds;
}

Error wrong(std::string what, std::string hint = "") {
  return {Error::Code::kInvalid, std::move(what), std::move(hint)};
}

}  // namespace

ProviderDoors real_provider_doors() {
  ProviderDoors out;
  out.http = make_http();  // on a connection that was kept, libcurl would send a request a second time by itself
  out.run = run_program;
  out.variable = [](const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  out.pause = [](Duration time) { std::this_thread::sleep_for(std::chrono::nanoseconds(time.ns)); };
  return out;
}

const std::vector<std::string>& provider_kinds() {
  static const std::vector<std::string> kWords = [] {
    std::vector<std::string> out;
    for (const Kind& kind : kinds()) out.emplace_back(kind.word);
    return out;
  }();
  return kWords;
}

Result<std::unique_ptr<Provider>> make_provider(const ProviderSpec& spec) {
  return make_provider(spec, real_provider_doors());
}

Result<std::unique_ptr<Provider>> make_provider(const ProviderSpec& spec, const ProviderDoors& doors) {
  const auto kind =
      std::find_if(kinds().begin(), kinds().end(), [&](const Kind& one) { return one.word == spec.kind; });
  if (kind == kinds().end()) {
    std::string words;
    for (const std::string& one : provider_kinds()) words += cat(words.empty() ? "" : ", ", one);
    return wrong(cat("there is no kind of provider \"", clip(spec.kind, 60), "\""), cat("There are: ", words, "."));
  }
  for (const auto& [key, value] : spec.values) {
    if (std::find(kind->settings.begin(), kind->settings.end(), key) == kind->settings.end()) {
      return wrong(cat("a provider of kind ", kind->word, " has no setting ", key));
    }
  }
  const auto market = spec.values.find("market");
  if (market != spec.values.end() && market->second != "spot" && market->second != "on-demand") {
    return wrong("market takes spot or on-demand");
  }
  return kind->make(spec, doors);
}

Offer standing_offer(const ProviderSpec& spec, std::string_view key, std::string_view otherwise) {
  Offer offer;
  offer.id = spec.value(key).empty() ? std::string(otherwise) : spec.value(key);
  offer.provider = spec.name;
  offer.price = spec.price;
  return offer;
}

}  // namespace mw::fleet
