// Prime Intellect by its REST API, which rents out machines of many clouds. A pod is found again by its name. It takes
// no start script: a template of the user's runs what the variable MIDWATCH_FLEET_START holds.
#include <algorithm>

#include "act/fleet/rest.h"
#include "base/text.h"

namespace mw::fleet {
namespace {

constexpr RestApi::Place kPlace{"https://api.primeintellect.ai", "PRIME_API_KEY"};
constexpr size_t kPage = 100;
constexpr double kGB = 1e9, kGiB = 1 << 30;
constexpr int64_t kDefaultDisk = 100;  // GB

InstanceState state_of(const Json& json) {
  const std::string status = json.string_or("status", "");
  if (status == "TERMINATED" || status == "DELETED") return InstanceState::kGone;
  if (status == "STOPPED" || status == "PREEMPTED") return InstanceState::kStopped;
  if (status == "ERROR" || status == "UNKNOWN") return InstanceState::kLost;
  if (status == "PROVISIONING" || status == "PENDING" || status.empty()) return InstanceState::kProvisioning;
  const std::string installation = json.string_or("installationStatus", "FINISHED");
  return status == "ACTIVE" && installation != "FINISHED" ? InstanceState::kProvisioning : InstanceState::kRunning;
}

/// An offer, and what it takes to rent it.
struct Kind {
  std::string cloud, gpu, socket, provider, center, country, security;
  int64_t count = 0;
  double price = 0;
};

class PrimeProvider final : public Provider {
 public:
  PrimeProvider(const ProviderSpec& spec, RestApi api)
      : name_(spec.name), api_(std::move(api)), template_(spec.values.at("template")) {
    gpu_ = spec.value("gpu");
    spot_ = spec.value("market") == "spot";
  }

  const std::string& name() const override { return name_; }

  Result<std::vector<Offer>> search(const MachineWants& wants) override {
    std::string query = "/api/v1/availability/gpus?";
    if (!gpu_.empty()) query += cat("gpu_type=", percent_encode(gpu_), "&");
    if (wants.count > 0) query += cat("gpu_count=", wants.count, "&");
    std::vector<Offer> out;
    kinds_.clear();
    for (size_t page = 1; page <= kMostMachines / kPage; ++page) {
      const auto answer = api_.read("GET", cat(query, "page=", page, "&page_size=", kPage));
      if (!answer.ok()) return answer.error();
      const Json* const items = answer->find("items");
      if (items == nullptr || !items->is_array()) return Error{Error::Code::kIo, "its answer has no offers", ""};
      for (const Json& one : items->items()) take(one, out);
      if (items->items().size() < kPage) return out;
    }
    return Error{Error::Code::kIo, "its offers do not end", ""};
  }

  Result<Instance> create(const Offer& offer, const Order& order) override {
    if (kinds_.count(offer.id) == 0) return Error{Error::Code::kNotFound, "the offer is gone", ""};
    RestApi api = api_;
    api.hide(order.environment);
    const auto answer = api.write("POST", "/api/v1/pods", body_of(offer, order));
    if (!answer.ok()) return answer.error();
    if (!answer->ok()) return api.refusal("the request", *answer);
    const std::string id = text_of(answer->json, "id");
    if (id.empty()) return Error{Error::Code::kIo, "its answer has no pod", ""};
    Instance out;
    out.id = id;
    out.label = order.label;
    out.host = offer.host;
    out.price = std::max(answer->json.number_or("priceHr", offer.price), 0.0);
    return out;
  }

  Result<Listing> list() override {
    Listing out;
    for (size_t offset = 0; offset < kMostMachines; offset += kPage) {
      const auto answer = api_.read("GET", cat("/api/v1/pods?offset=", offset, "&limit=", kPage));
      if (!answer.ok()) return answer.error();
      const Json* const pods = answer->find("data");
      if (pods == nullptr || !pods->is_array()) return Error{Error::Code::kIo, "its answer has no pods", ""};
      for (const Json& one : pods->items()) {
        Instance instance;
        instance.id = text_of(one, "id").empty() ? text_of(one, "podId") : text_of(one, "id");
        if (instance.id.empty()) return Error{Error::Code::kIo, "a pod has no id", ""};
        instance.label = text_of(one, "name");
        if (!instance.label.starts_with("midwatch-")) continue;
        instance.state = state_of(one);
        instance.says = text_of(one, "status");
        if (const std::string why = text_of(one, "installationFailure"); !why.empty()) {
          instance.says += cat(", ", clip(redact_secrets(why), 160));
        }
        instance.price = std::max(one.number_or("priceHr", 0), 0.0);
        out.push_back(std::move(instance));
      }
      if (pods->items().size() < kPage) return out;
    }
    return Error{Error::Code::kIo, "its list does not end", ""};
  }

  Result<void> destroy(const Instance& instance) override {
    const auto answer = api_.write("DELETE", cat("/api/v1/pods/", percent_encode(instance.id)), "");
    if (!answer.ok()) return answer.error();
    if (answer->ok() || answer->status == 404) return {};
    return api_.refusal("giving back", *answer);
  }

  Result<std::string> preview(const Offer& offer, const Order& order) override {
    if (kinds_.count(offer.id) == 0) return Error{Error::Code::kNotFound, "the offer is gone", ""};
    return cat("POST /api/v1/pods\n", body_of(offer, order), "\n");
  }

 private:
  void take(const Json& json, std::vector<Offer>& out) {
    Kind kind{text_of(json, "cloudId"),  text_of(json, "gpuType"),      text_of(json, "socket"),
              text_of(json, "provider"), text_of(json, "dataCenter"),   text_of(json, "country"),
              text_of(json, "security"), json.integer_or("gpuCount", 0)};
    const Json* const prices = json.find("prices");
    if (prices != nullptr) kind.price = prices->number_or("onDemand", prices->number_or("communityPrice", -1));
    const bool none = text_of(json, "stockStatus") == "Unavailable" || json.boolean_or("isSpot", false) != spot_;
    if (kind.cloud.empty() || kind.provider.empty() || prices == nullptr || !(kind.price >= 0) || none) return;
    Offer offer;
    offer.id = cat(kind.provider, "/", kind.cloud, "/", kind.center, "/", kind.socket, "/", kind.count);
    offer.provider = name_;
    offer.price = kind.price;
    offer.gpu = kind.gpu;
    offer.region = kind.country;
    offer.count = kind.count;
    const double memory = json.number_or("gpuMemory", 0) * kGiB;
    offer.gpu_memory = memory > 0 && memory < 1e15 ? static_cast<int64_t>(memory) : 0;
    if (const Json* const disk = json.find("disk")) {
      const double most = disk->number_or("maxCount", 0) * kGB;
      offer.disk = most > 0 && most < 1e17 ? static_cast<int64_t>(most) : 0;
    }
    kinds_[offer.id] = std::move(kind);
    out.push_back(std::move(offer));
  }

  std::string body_of(const Offer& offer, const Order& order) const {
    const Kind& kind = kinds_.at(offer.id);
    std::string out;
    JsonWriter json(out);
    const auto text = [&](std::string_view key, std::string_view value) {
      if (!value.empty()) json.key(key).string(value);
    };
    json.begin_object().key("pod").begin_object();
    text("name", order.label);
    text("cloudId", kind.cloud);
    text("gpuType", kind.gpu);
    text("socket", kind.socket);
    json.key("gpuCount").integer(kind.count).key("diskSize");
    json.integer(order.wants.disk > 0 ? (order.wants.disk + 999'999'999) / 1'000'000'000 : kDefaultDisk);
    text("image", order.wants.image.empty() ? "custom_template" : order.wants.image);
    text("customTemplateId", template_);
    text("dataCenterId", kind.center);
    text("country", kind.country);
    text("security", kind.security);
    json.key("maxPrice").number(kind.price).key("autoRestart").boolean(false).key("envVars").begin_array();
    const auto variable = [&](std::string_view key, std::string_view value) {
      json.begin_object().key("key").string(key).key("value").string(value).end_object();
    };
    for (const auto& [key, value] : order.environment) variable(key, value);
    variable(kStartVariable, order.start);
    json.end_array().end_object().key("provider").begin_object().key("type").string(kind.provider).end_object();
    json.end_object();
    return out;
  }

  const std::string name_;
  const RestApi api_;
  const std::string template_;
  std::string gpu_;
  bool spot_ = false;
  std::map<std::string, Kind> kinds_;  ///< of the last search
};

}  // namespace

Result<std::unique_ptr<Provider>> make_prime_provider(const ProviderSpec& spec, const ProviderDoors& doors) {
  if (spec.values.count("template") == 0) {
    return Error{
        Error::Code::kInvalid, "a provider of kind prime needs a template",
        "Its pods take no start script: make a template that runs sh -c \"$MIDWATCH_FLEET_START\", and name its id."};
  }
  auto api = RestApi::open(spec, doors, kPlace);
  if (!api.ok()) return api.error();
  return std::unique_ptr<Provider>(std::make_unique<PrimeProvider>(spec, std::move(*api)));
}

}  // namespace mw::fleet
