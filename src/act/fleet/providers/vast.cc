// Vast.ai by its REST API. An instance is found again by its label, which is set when it is rented. Facts of the API
// are those of its command line client and of those who use it; docs/fleet.md says what is not certain.
#include <algorithm>

#include "act/fleet/rest.h"
#include "base/text.h"

namespace mw::fleet {
namespace {

constexpr RestApi::Place kPlace{"https://console.vast.ai", "VAST_API_KEY"};
constexpr int64_t kOffers = 200;     // of one search, the cheapest ones
constexpr int64_t kPage = 25;        // instances of one answer
constexpr size_t kMostStart = 4048;  // bytes of the start script
constexpr double kDefaultDisk = 50;  // GB
constexpr double kGB = 1e9, kMiB = 1 << 20;

bool is_stopped(const Json& json) {
  const std::string current = json.string_or("cur_state", "");
  return current == "stopped" && json.string_or("intended_status", "stopped") == "stopped";
}

/// `actual_status` is null until the host has heard of it.
InstanceState state_of(const Json& json) {
  const std::string status = json.string_or("actual_status", "");
  if (status == "offline" || status == "unknown") return InstanceState::kLost;
  if (status == "exited" || status == "stopped" || is_stopped(json)) return InstanceState::kStopped;
  const bool coming = status.empty() || status == "created" || status == "loading" || status == "rebooting";
  return coming ? InstanceState::kProvisioning : InstanceState::kRunning;  // an unknown word may cost something
}

/// "Sweden, SE" is SE.
std::string region_of(const Json& json) {
  const std::string place = json.string_or("geolocation", "");
  const size_t comma = place.rfind(',');
  return clip(trim(comma == std::string::npos ? std::string_view(place) : std::string_view(place).substr(comma + 1)),
              40);
}

class VastProvider final : public Provider {
 public:
  VastProvider(const ProviderSpec& spec, RestApi api)
      : name_(spec.name), api_(std::move(api)), margin_(bid_margin_of(spec)) {
    gpu_ = spec.value("gpu");
    spot_ = spec.value("market") == "spot";
  }

  const std::string& name() const override { return name_; }

  Result<std::vector<Offer>> search(const MachineWants& wants) override {
    if (wants.image.empty()) return Error{Error::Code::kInvalid, "[machine] needs an image for Vast.ai", ""};
    const auto answer = api_.read("POST", "/api/v0/bundles/", query(wants));
    if (!answer.ok()) return answer.error();
    const Json* const offers = answer->find("offers");
    if (offers == nullptr || !offers->is_array() || offers->items().size() > kMostMachines) {
      return Error{Error::Code::kIo, "its answer has no offers", ""};
    }
    std::vector<Offer> out;
    for (const Json& one : offers->items()) {
      if (auto offer = offer_of(one, wants)) out.push_back(std::move(*offer));
    }
    return out;
  }

  Result<Instance> create(const Offer& offer, const Order& order) override {
    if (order.start.size() > kMostStart) {
      return Error{Error::Code::kInvalid, cat("Vast.ai takes at most ", kMostStart, " bytes of start"), ""};
    }
    RestApi api = api_;
    api.hide(order.environment);
    const auto answer =
        api.write("PUT", cat("/api/v0/asks/", percent_encode(number_of(offer)), "/"), body_of(offer, order));
    if (!answer.ok()) return answer.error();
    const std::string id = text_of(answer->json, "new_contract");
    const bool success = answer->ok() && answer->json.boolean_or("success", false);
    if (success && !id.empty()) {
      Instance out;
      out.id = id;
      out.label = order.label;
      out.host = offer.host;
      out.price = offer.price;
      return out;
    }
    // Too low a bid is an error and makes an instance all the same, which is stopped and paid for.
    if (!id.empty()) return take_back(api, id, *answer);
    if (answer->ok() && !answer->is_json) return Error{Error::Code::kIo, "its answer is no JSON", ""};
    if (answer->ok() && success) return Error{Error::Code::kIo, "its answer has no number of the instance", ""};
    if (!answer->ok()) return api.refusal("the request", *answer);
    return Error{Error::Code::kIo, cat("it did not rent: ", api.shown(message_of(answer->json))), ""};
  }

  Result<Listing> list() override {
    Listing out;
    std::string after;
    for (size_t pages = 0; pages < kMostMachines / kPage; ++pages) {
      std::string path = cat("/api/v1/instances/?limit=", kPage);
      if (!after.empty()) path += cat("&after_token=", percent_encode(after));
      const auto answer = api_.read("GET", path);
      if (!answer.ok()) return answer.error();
      const Json* const instances = answer->find("instances");
      if (instances == nullptr || !instances->is_array()) return Error{Error::Code::kIo, "its answer has no list", ""};
      for (const Json& one : instances->items()) {
        auto instance = instance_of(one);
        if (!instance.ok()) return instance.error();
        if (instance->label.starts_with("midwatch-")) out.push_back(std::move(*instance));
      }
      after = text_of(*answer, "next_token");
      if (after.empty()) return out;
    }
    return Error{Error::Code::kIo, "its list does not end", ""};
  }

  Result<void> destroy(const Instance& instance) override { return end(api_, instance.id); }

  Result<std::string> preview(const Offer& offer, const Order& order) override {
    return cat("PUT /api/v0/asks/", number_of(offer), "/\n", body_of(offer, order), "\n");
  }

 private:
  /// The offer's id is that of Vast.ai, with the bid behind an '@' where one is placed.
  static std::string number_of(const Offer& offer) { return offer.id.substr(0, offer.id.find('@')); }

  std::string query(const MachineWants& wants) const {
    std::string out;
    JsonWriter json(out);
    const auto test = [&](std::string_view key, std::string_view how) -> JsonWriter& {
      return json.key(key).begin_object().key(how);
    };
    json.begin_object();
    test("rentable", "eq").boolean(true).end_object();
    test("rented", "eq").boolean(false).end_object();
    test("verified", "eq").boolean(true).end_object();
    test("external", "eq").boolean(false).end_object();
    if (wants.count > 0) test("num_gpus", "eq").integer(wants.count).end_object();
    if (wants.gpu_memory > 0) test("gpu_ram", "gte").number(static_cast<double>(wants.gpu_memory) / kMiB).end_object();
    if (wants.disk > 0) test("disk_space", "gte").number(disk_of(wants)).end_object();
    if (wants.reliability > 0) test("reliability2", "gte").number(wants.reliability).end_object();
    const std::string gpu = gpu_.empty() ? wants.gpu : gpu_;
    if (!gpu.empty()) {
      std::string name = gpu;
      std::replace(name.begin(), name.end(), '_', ' ');
      test("gpu_name", "in").begin_array();
      for (const std::string_view kind : {"", " SXM", " SXM2", " SXM4", " SXM5", " PCIE", " NVL"})
        json.string(cat(name, kind));
      json.end_array().end_object();
    }
    json.key("allocated_storage").number(disk_of(wants)).key("limit").integer(kOffers);
    json.key("order").begin_array().begin_array().string("dph_total").string("asc").end_array().end_array();
    json.key("type").string(spot_ ? "bid" : "on-demand").end_object();
    return out;
  }

  static double disk_of(const MachineWants& wants) {
    return wants.disk > 0 ? static_cast<double>(wants.disk) / kGB : kDefaultDisk;
  }

  /// nullopt: it has no id or price, or is rented.
  std::optional<Offer> offer_of(const Json& json, const MachineWants& wants) const {
    Offer out;
    out.id = text_of(json, "id");
    out.provider = name_;
    out.host = text_of(json, "machine_id");
    const double total = json.number_or("dph_total", -1), base = json.number_or("dph_base", -1);
    out.price = total;
    if (spot_) {
      const double least = json.number_or("min_bid", -1);
      if (!(least >= 0)) return std::nullopt;
      const double bid = least * (1 + margin_);
      out.price = bid + (base >= 0 && total > base ? total - base : 0);  // what the disk costs is no part of the bid
      out.id += cat("@", format_short(bid));
    }
    if (text_of(json, "id").empty() || !(out.price >= 0) || json.boolean_or("rented", false)) return std::nullopt;
    out.gpu = gpu_.empty() ? clip(json.string_or("gpu_name", ""), 60) : wants.gpu;
    out.region = region_of(json);
    out.count = json.integer_or("num_gpus", 0);
    const auto bytes = [&](std::string_view key, double unit) {
      const double value = json.number_or(key, 0) * unit;
      return value > 0 && value < 1e15 ? static_cast<int64_t>(value) : 0;
    };
    out.gpu_memory = bytes("gpu_ram", kMiB);
    out.disk = bytes("disk_space", kGB);
    out.reliability = json.number_or("reliability2", json.number_or("reliability", -1));
    return out;
  }

  std::string body_of(const Offer& offer, const Order& order) const {
    std::string out;
    JsonWriter json(out);
    json.begin_object().key("client_id").string("me").key("image").string(order.wants.image).key("env").begin_object();
    for (const auto& [key, value] : order.environment) json.key(key).string(value);
    json.end_object().key("price");
    // Without a price a machine that was searched for by bids would be rented on demand.
    const size_t at = offer.id.find('@');
    if (at == std::string::npos) {
      json.null();
    } else {
      json.raw(offer.id.substr(at + 1));
    }
    json.key("disk").number(disk_of(order.wants)).key("label").string(order.label).key("onstart").string(order.start);
    json.key("runtype").string("ssh").key("cancel_unavail").boolean(true).key("force").boolean(false).end_object();
    return out;
  }

  static Result<Instance> instance_of(const Json& json) {
    Instance out;
    out.id = text_of(json, "id");
    if (out.id.empty()) return Error{Error::Code::kIo, "an instance has no id", ""};
    out.label = text_of(json, "label");
    out.host = text_of(json, "machine_id");
    out.state = state_of(json);
    out.says = text_of(json, "actual_status");
    if (const std::string message = text_of(json, "status_msg"); !message.empty()) {
      out.says += cat(out.says.empty() ? "" : ", ", clip(redact_secrets(message), 160));
    }
    if (out.state == InstanceState::kStopped) out.says += cat(out.says.empty() ? "" : ", ", "stopped or outbid");
    const double price = json.number_or("dph_total", 0);
    out.price = price >= 0 ? price : 0;
    return out;
  }

  static Result<Instance> take_back(const RestApi& api, const std::string& id, const RestAnswer& answer) {
    const auto ended = end(api, id);
    if (!ended.ok())
      return Error{Error::Code::kIo, cat("it was not rented, and is still there: ", ended.error().what), ""};
    return Error{Error::Code::kFull, cat("it was not rented: ", api.shown(message_of(answer.json))), ""};
  }

  static Result<void> end(const RestApi& api, const std::string& id) {
    const auto answer = api.write("DELETE", cat("/api/v0/instances/", percent_encode(id), "/"), "{}");
    if (!answer.ok()) return answer.error();
    const bool gone = answer->status == 404 || answer->json.string_or("error", "") == "no_such_instance";
    if (gone) return {};
    if (!answer->ok()) return api.refusal("giving back", *answer);
    if (answer->is_json && answer->json.boolean_or("success", false)) return {};
    return Error{Error::Code::kIo, cat("it was not given back: ", api.shown(message_of(answer->json))), ""};
  }

  const std::string name_;
  const RestApi api_;
  const double margin_;
  std::string gpu_;
  bool spot_ = false;
};

}  // namespace

Result<std::unique_ptr<Provider>> make_vast_provider(const ProviderSpec& spec, const ProviderDoors& doors) {
  auto api = RestApi::open(spec, doors, kPlace);
  if (!api.ok()) return api.error();
  return std::unique_ptr<Provider>(std::make_unique<VastProvider>(spec, std::move(*api)));
}

}  // namespace mw::fleet
