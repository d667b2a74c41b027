// Lambda Cloud by its REST API, which has no spot machines. An instance is found again by its name. What it runs is
// handed over as user data for cloud-init.
#include <algorithm>

#include "act/fleet/rest.h"
#include "act/fleet/shell_word.h"
#include "base/numbers.h"
#include "base/text.h"

namespace mw::fleet {
namespace {

constexpr RestApi::Place kPlace{"https://cloud.lambdalabs.com", "LAMBDA_API_KEY"};
constexpr size_t kMostName = 64;  // bytes
constexpr double kGiB = 1 << 30;

/// "preempted" and "unhealthy" are paid for until they are "terminated".
InstanceState state_of(std::string_view status) {
  if (status == "terminated") return InstanceState::kGone;
  if (status == "preempted") return InstanceState::kStopped;
  if (status == "unhealthy") return InstanceState::kLost;
  return status == "booting" ? InstanceState::kProvisioning : InstanceState::kRunning;
}

/// The memory in "H100 (80 GB SXM5)".
int64_t memory_of(std::string_view text) {
  const size_t at = text.find(" GB");
  const size_t open = text.find('(');
  if (at == std::string_view::npos || open == std::string_view::npos || open >= at) return 0;
  const auto number = parse_int(text.substr(open + 1, at - open - 1));
  return number && *number > 0 && *number < 100'000 ? *number * (int64_t{1} << 30) : 0;
}

class LambdaProvider final : public Provider {
 public:
  LambdaProvider(const ProviderSpec& spec, RestApi api)
      : name_(spec.name), api_(std::move(api)), ssh_key_(spec.values.at("ssh_key")) {
    gpu_ = spec.value("gpu");
  }

  const std::string& name() const override { return name_; }

  Result<std::vector<Offer>> search(const MachineWants&) override {
    const auto answer = api_.read("GET", "/api/v1/instance-types");
    if (!answer.ok()) return answer.error();
    const Json* const types = answer->find("data");
    if (types == nullptr || !types->is_object() || types->members().size() > kMostMachines) {
      return Error{Error::Code::kIo, "its answer has no kinds of machine", ""};
    }
    std::vector<Offer> out;
    for (const auto& [name, one] : types->members()) {
      const Json* const regions = one.find("regions_with_capacity_available");
      const Json* const type = one.find("instance_type");
      if (regions == nullptr || !regions->is_array() || type == nullptr) continue;
      for (const Json& region : regions->items()) {
        if (auto offer = offer_of(clip(name, 100), *type, text_of(region, "name"))) out.push_back(std::move(*offer));
      }
    }
    return out;
  }

  Result<Instance> create(const Offer& offer, const Order& order) override {
    if (order.label.size() > kMostName) {
      return Error{Error::Code::kInvalid, cat("the label is longer than the ", kMostName, " bytes of a name at Lambda"),
                   "Give the run a shorter name."};
    }
    RestApi api = api_;
    api.hide(order.environment);
    const auto answer = api.write("POST", "/api/v1/instance-operations/launch", body_of(offer, order));
    if (!answer.ok()) return answer.error();
    if (!answer->ok()) return refused(api, *answer);
    const Json* const data = answer->json.find("data");
    const Json* const ids = data == nullptr ? nullptr : data->find("instance_ids");
    if (ids == nullptr || !ids->is_array() || ids->items().size() != 1 || !ids->items().front().is_string()) {
      return Error{Error::Code::kIo, "its answer has no instance", ""};
    }
    Instance out;
    out.id = clip(ids->items().front().string(), 100);
    out.label = order.label;
    out.price = offer.price;
    return out;
  }

  Result<Listing> list() override {
    const auto answer = api_.read("GET", "/api/v1/instances");
    if (!answer.ok()) return answer.error();
    const Json* const instances = answer->find("data");
    if (instances == nullptr || !instances->is_array() || instances->items().size() > kMostMachines) {
      return Error{Error::Code::kIo, "its answer has no instances", ""};
    }
    Listing out;
    for (const Json& one : instances->items()) {
      Instance instance;
      instance.id = text_of(one, "id");
      if (instance.id.empty()) return Error{Error::Code::kIo, "an instance has no id", ""};
      instance.label = text_of(one, "name");
      if (!instance.label.starts_with("midwatch-")) continue;
      instance.says = text_of(one, "status");
      instance.state = state_of(instance.says);
      if (const Json* const type = one.find("instance_type")) {
        instance.price = std::max(type->number_or("price_cents_per_hour", 0), 0.0) / 100;
      }
      out.push_back(std::move(instance));
    }
    return out;
  }

  Result<void> destroy(const Instance& instance) override {
    std::string body;
    JsonWriter(body).begin_object().key("instance_ids").begin_array().string(instance.id).end_array().end_object();
    const auto answer = api_.write("POST", "/api/v1/instance-operations/terminate", body);
    if (!answer.ok()) return answer.error();
    if (answer->ok() || answer->status == 404) return {};
    return api_.refusal("giving back", *answer);
  }

  Result<std::string> preview(const Offer& offer, const Order& order) override {
    return cat("POST /api/v1/instance-operations/launch\n", body_of(offer, order), "\n");
  }

 private:
  static Error refused(const RestApi& api, const RestAnswer& answer) {
    Error out = api.refusal("the request", answer);
    const Json* const error = answer.json.find("error");
    const std::string code = error == nullptr ? "" : error->string_or("code", "");
    if (contains(code, "insufficient-capacity") || contains(code, "quota")) out.code = Error::Code::kFull;
    return out;
  }

  std::optional<Offer> offer_of(const std::string& name, const Json& type, const std::string& region) const {
    const double cents = type.number_or("price_cents_per_hour", -1);
    if (name.empty() || region.empty() || !(cents >= 0) || contains(name, "@")) return std::nullopt;
    if (!gpu_.empty() && name != gpu_) return std::nullopt;
    Offer out;
    out.id = cat(name, "@", region);
    out.provider = name_;
    out.price = cents / 100;
    out.region = region;
    const std::string described = type.string_or("gpu_description", type.string_or("description", ""));
    out.gpu = cat(name, " ", clip(described, 100));
    out.gpu_memory = memory_of(described);
    if (const Json* const specs = type.find("specs")) {
      out.count = specs->integer_or("gpus", 0);
      const double disk = specs->number_or("storage_gib", 0) * kGiB;
      out.disk = disk > 0 && disk < 1e17 ? static_cast<int64_t>(disk) : 0;
    }
    return out;
  }

  std::string body_of(const Offer& offer, const Order& order) const {
    const size_t at = offer.id.find('@');
    std::string script = "#!/bin/sh\n";
    for (const auto& [key, value] : order.environment) script += cat("export ", key, "=", shell_word(value), "\n");
    script += cat(order.start, "\n");
    std::string out;
    JsonWriter json(out);
    json.begin_object().key("region_name").string(at == std::string::npos ? "" : offer.id.substr(at + 1));
    json.key("instance_type_name").string(offer.id.substr(0, at)).key("ssh_key_names").begin_array().string(ssh_key_);
    json.end_array().key("file_system_names").begin_array().end_array().key("quantity").integer(1);
    json.key("name").string(order.label).key("user_data").string(script).end_object();
    return out;
  }

  const std::string name_;
  const RestApi api_;
  const std::string ssh_key_;
  std::string gpu_;
};

}  // namespace

Result<std::unique_ptr<Provider>> make_lambda_provider(const ProviderSpec& spec, const ProviderDoors& doors) {
  if (spec.values.count("ssh_key") == 0) {
    return Error{Error::Code::kInvalid, "a provider of kind lambda needs an ssh_key, the name of one of the account",
                 ""};
  }
  auto api = RestApi::open(spec, doors, kPlace);
  if (!api.ok()) return api.error();
  return std::unique_ptr<Provider>(std::make_unique<LambdaProvider>(spec, std::move(*api)));
}

}  // namespace mw::fleet
