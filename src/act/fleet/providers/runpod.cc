// RunPod by its GraphQL API, which has spot pods where the REST API has none. An error comes in an answer of status
// 200. A pod is found again by its name. docs/fleet.md says what is not certain.
#include <algorithm>

#include "act/fleet/rest.h"
#include "base/text.h"

namespace mw::fleet {
namespace {

constexpr RestApi::Place kPlace{"https://api.runpod.io", "RUNPOD_API_KEY"};
constexpr std::string_view kPath = "/graphql";
constexpr double kGiB = 1 << 30;
constexpr int64_t kDefaultDisk = 50;  // GB

/// What the container runs: the start script, which is handed SIGTERM, and then nothing, as a container that ends is
/// started again by RunPod, with the script from its beginning.
constexpr std::string_view kCommand =
    "sh -c 'sh -c \"$MIDWATCH_FLEET_START\" & child=$!; trap \"kill -TERM $child\" TERM INT; "
    "wait $child; wait $child; trap - TERM; exec sleep infinity'";

/// A text of a query: what JSON escapes, GraphQL does alike.
std::string quoted(std::string_view text) {
  std::string out;
  JsonWriter(out).string(text);
  return out;
}

InstanceState state_of(const Json& json) {
  const std::string status = json.string_or("desiredStatus", "");
  if (status == "TERMINATED") return InstanceState::kGone;
  if (status == "EXITED" || status == "PAUSED") return InstanceState::kStopped;
  if (status == "DEAD") return InstanceState::kLost;
  if (status == "CREATED" || status == "RESTARTING") return InstanceState::kProvisioning;
  const Json* const runtime = json.find("runtime");
  const bool runs = runtime != nullptr && runtime->is_object();
  return status == "RUNNING" && !runs ? InstanceState::kProvisioning : InstanceState::kRunning;
}

/// Did the API refuse for sure? Its other errors may have come after the pod was made.
Error::Code code_of(const Json& error, std::string_view message) {
  const Json* const extensions = error.find("extensions");
  const std::string code = extensions == nullptr ? "" : extensions->string_or("code", "");
  if (code == "UNAUTHENTICATED" || code == "FORBIDDEN") return Error::Code::kDenied;
  if (code == "GRAPHQL_VALIDATION_FAILED" || code == "GRAPHQL_PARSE_FAILED" || code == "BAD_USER_INPUT") {
    return Error::Code::kInvalid;
  }
  for (const std::string_view full :
       {"no longer any instances available", "no instances available", "does not have the resources"}) {
    if (contains_folded(message, full)) return Error::Code::kFull;
  }
  return Error::Code::kIo;
}

class RunpodProvider final : public Provider {
 public:
  RunpodProvider(const ProviderSpec& spec, RestApi api)
      : name_(spec.name), api_(std::move(api)), margin_(bid_margin_of(spec)) {
    spot_ = spec.value("market") == "spot";
    gpu_ = spec.value("gpu");
    cloud_ = spec.value("cloud").empty() ? "secure" : spec.value("cloud");
  }

  const std::string& name() const override { return name_; }

  Result<std::vector<Offer>> search(const MachineWants& wants) override {
    if (wants.image.empty()) return Error{Error::Code::kInvalid, "[machine] needs an image for RunPod", ""};
    const int64_t count = std::max<int64_t>(wants.count, 1);
    const auto data =
        ask(cat("query { gpuTypes { id displayName memoryInGb secureCloud communityCloud securePrice ",
                "communityPrice secureSpotPrice communitySpotPrice maxGpuCount lowestPrice(input: {gpuCount: ", count,
                "}) { minimumBidPrice uninterruptablePrice } } }"));
    if (!data.ok()) return data.error();
    const Json* const types = data->find("gpuTypes");
    if (types == nullptr || !types->is_array() || types->items().size() > kMostMachines) {
      return Error{Error::Code::kIo, "its answer has no kinds of GPU", ""};
    }
    std::vector<Offer> out;
    for (const Json& one : types->items()) {
      if (auto offer = offer_of(one, count)) out.push_back(std::move(*offer));
    }
    return out;
  }

  Result<Instance> create(const Offer& offer, const Order& order) override {
    RestApi api = api_;
    api.hide(order.environment);
    const auto answer = api.write("POST", kPath, body_of(mutation(offer, order)));
    if (!answer.ok()) return answer.error();
    if (!answer->ok()) return api.refusal("the request", *answer);
    const auto data = data_of(api, *answer);
    if (!data.ok()) return data.error();
    const Json* const pod = data->find(spot_ ? "podRentInterruptable" : "podFindAndDeployOnDemand");
    const std::string id = pod == nullptr ? "" : text_of(*pod, "id");
    if (id.empty()) return Error{Error::Code::kIo, "its answer has no pod", ""};
    Instance out;
    out.id = id;
    out.label = order.label;
    out.host = text_of(*pod, "machineId");
    out.price = std::max(pod->number_or("costPerHr", 0), 0.0);
    return out;
  }

  Result<Listing> list() override {
    const auto data =
        ask("query { myself { pods { id name desiredStatus lastStatusChange costPerHr machineId podType "
            "runtime { ports { privatePort } } } } }");
    if (!data.ok()) return data.error();
    const Json* const myself = data->find("myself");
    const Json* const pods = myself == nullptr ? nullptr : myself->find("pods");
    if (pods == nullptr || !pods->is_array() || pods->items().size() > kMostMachines) {
      return Error{Error::Code::kIo, "its answer has no pods", ""};
    }
    Listing out;
    for (const Json& one : pods->items()) {
      Instance instance;
      instance.id = text_of(one, "id");
      instance.label = text_of(one, "name");
      if (instance.id.empty()) return Error{Error::Code::kIo, "a pod has no id", ""};
      if (!instance.label.starts_with("midwatch-")) continue;
      instance.host = text_of(one, "machineId");
      instance.price = std::max(one.number_or("costPerHr", 0), 0.0);
      instance.state = state_of(one);
      instance.says =
          cat(text_of(one, "desiredStatus"), instance.state == InstanceState::kProvisioning ? ", no runtime yet" : "");
      out.push_back(std::move(instance));
    }
    return out;
  }

  Result<void> destroy(const Instance& instance) override {
    const auto answer =
        api_.write("POST", kPath, body_of(cat("mutation { podTerminate(input: {podId: ", quoted(instance.id), "}) }")));
    if (!answer.ok()) return answer.error();
    if (!answer->ok()) return api_.refusal("giving back", *answer);
    const auto data = data_of(api_, *answer);
    const bool gone = !data.ok() && (contains_folded(data.error().what, "not found") ||
                                     contains_folded(data.error().what, "not exist"));
    return data.ok() || gone ? Result<void>() : data.error();
  }

  Result<std::string> preview(const Offer& offer, const Order& order) override {
    return cat("POST ", kPath, "\n", mutation(offer, order), "\n");
  }

 private:
  static std::string body_of(std::string_view query) {
    std::string out;
    JsonWriter(out).begin_object().key("query").string(query).end_object();
    return out;
  }

  Result<Json> ask(const std::string& query) const {
    const auto answer = api_.read("POST", kPath, body_of(query));
    if (!answer.ok()) return answer.error();
    return data_of(api_, *answer);
  }
  static Result<Json> data_of(const RestApi& api, const RestAnswer& answer) {
    if (!answer.is_json) return Error{Error::Code::kIo, "its answer is no JSON", ""};
    return data_of(api, answer.json);
  }
  static Result<Json> data_of(const RestApi& api, const Json& json) {
    const Json* const errors = json.find("errors");
    if (errors != nullptr && errors->is_array() && !errors->items().empty()) {
      const std::string message = message_of(*errors);
      return Error{code_of(errors->items().front(), message), cat("it says: ", api.shown(message)), ""};
    }
    const Json* const data = json.find("data");
    if (data == nullptr || !data->is_object()) return Error{Error::Code::kIo, "its answer has no data", ""};
    return *data;
  }

  /// nullopt: of that kind nothing is to be had.
  std::optional<Offer> offer_of(const Json& json, int64_t count) const {
    const bool secure = cloud_ == "secure", community = cloud_ == "community";
    if (secure && !json.boolean_or("secureCloud", true)) return std::nullopt;
    if (community && !json.boolean_or("communityCloud", true)) return std::nullopt;
    const Json* const lowest = json.find("lowestPrice");
    if (lowest == nullptr || !lowest->is_object() || json.integer_or("maxGpuCount", count) < count) return std::nullopt;
    double least = lowest->number_or(spot_ ? "minimumBidPrice" : "uninterruptablePrice", -1);
    if (!(least > 0)) return std::nullopt;  // none is free
    const double own = json.number_or(secure      ? (spot_ ? "secureSpotPrice" : "securePrice")
                                      : community ? (spot_ ? "communitySpotPrice" : "communityPrice")
                                                  : "",
                                      -1);
    // The lowest price may be that of the other cloud.
    if (own > 0) least = std::max(least, own);
    const double each = spot_ ? least * (1 + margin_) : least;
    Offer out;
    out.id = text_of(json, "id");
    if (out.id.empty() || contains(out.id, "@")) return std::nullopt;
    if (spot_) out.id += cat("@", format_short(each));
    out.provider = name_;
    out.price = each * static_cast<double>(count);
    out.gpu = cat(text_of(json, "id"), " ", text_of(json, "displayName"));
    if (!gpu_.empty() && text_of(json, "id") != gpu_) return std::nullopt;
    out.count = count;
    const double memory = json.number_or("memoryInGb", 0) * kGiB;
    out.gpu_memory = memory > 0 && memory < 1e15 ? static_cast<int64_t>(memory) : 0;
    return out;
  }

  std::string mutation(const Offer& offer, const Order& order) const {
    const size_t at = offer.id.find('@');
    std::string cloud = cloud_;
    std::transform(cloud.begin(), cloud.end(), cloud.begin(), [](char c) { return static_cast<char>(c - 'a' + 'A'); });
    const int64_t disk = order.wants.disk > 0 ? (order.wants.disk + 999'999'999) / 1'000'000'000 : kDefaultDisk;
    std::string out = cat("mutation { ", spot_ ? "podRentInterruptable" : "podFindAndDeployOnDemand", "(input: {");
    if (spot_ && at != std::string::npos) out += cat("bidPerGpu: ", offer.id.substr(at + 1), ", ");
    out += cat("cloudType: ", cloud, ", gpuTypeId: ", quoted(offer.id.substr(0, at)),
               ", gpuCount: ", std::max<int64_t>(order.wants.count, 1), ", name: ", quoted(order.label),
               ", imageName: ", quoted(order.wants.image), ", containerDiskInGb: ", disk,
               ", volumeInGb: 0, dockerArgs: ", quoted(kCommand), ", env: [");
    for (const auto& [key, value] : order.environment)
      out += cat("{key: ", quoted(key), ", value: ", quoted(value), "}, ");
    return out +
           cat("{key: ", quoted(kStartVariable), ", value: ", quoted(order.start), "}]}) { id machineId costPerHr } }");
  }

  const std::string name_;
  const RestApi api_;
  const double margin_;
  bool spot_ = false;
  std::string gpu_, cloud_;
};

}  // namespace

Result<std::unique_ptr<Provider>> make_runpod_provider(const ProviderSpec& spec, const ProviderDoors& doors) {
  const auto cloud = spec.values.find("cloud");
  if (cloud != spec.values.end() && cloud->second != "secure" && cloud->second != "community" &&
      cloud->second != "all") {
    return Error{Error::Code::kInvalid, "cloud takes secure, community or all", ""};
  }
  auto api = RestApi::open(spec, doors, kPlace);
  if (!api.ok()) return api.error();
  return std::unique_ptr<Provider>(std::make_unique<RunpodProvider>(spec, std::move(*api)));
}

}  // namespace mw::fleet
