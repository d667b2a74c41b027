// SkyPilot through the sky of the PATH: a machine is a cluster of one node, whose name is midwatch's label. Values of
// the environment are handed to sky in its own environment and named by --secret, so that no argument holds any.
#include <algorithm>

#include "act/fleet/rest.h"
#include "base/text.h"

namespace mw::fleet {
namespace {

constexpr Duration kLimit = Duration::seconds(120);         // of one call
constexpr Duration kLaunchLimit = Duration::seconds(1800);  // sky waits until the machine is there
constexpr size_t kOutput = size_t{8} << 20;                 // bytes
constexpr int64_t kGB = 1'000'000'000;

InstanceState state_of(std::string_view status) {
  if (contains(status, "INIT") || contains(status, "PENDING")) return InstanceState::kProvisioning;
  if (contains(status, "STOPPED")) return InstanceState::kStopped;
  return InstanceState::kRunning;  // UP, and an unknown word, which may cost something
}

class SkypilotProvider final : public Provider {
 public:
  SkypilotProvider(const ProviderSpec& spec, const ProviderDoors& doors) : spec_(spec), doors_(doors) {}

  const std::string& name() const override { return spec_.name; }

  Result<std::vector<Offer>> search(const MachineWants&) override {
    return std::vector<Offer>{standing_offer(spec_, "infra", "any")};
  }

  Result<Instance> create(const Offer&, const Order& order) override {
    ProgramRequest request;
    request.command = {"sky", "launch", "--yes", "--detach-run", "--cluster", order.label};
    for (const auto& [key, content] : order.environment) {
      request.command.insert(request.command.end(), {"--secret", key});
      request.environment[key] = content;
    }
    request.command.emplace_back("/dev/stdin");
    request.input = task_of(order);
    request.limit = kLaunchLimit;
    const auto end = doors_.run(request);
    if (!end.ok()) return end.error();
    if (end->late) return Error{Error::Code::kInterrupted, "sky launch did not end in time", ""};
    if (end->code != 0) {
      // sky gives back what it could not set up, and says of no error that it did: the list knows.
      const bool none =
          contains(end->output, "ResourcesUnavailableError") || contains(end->output, "Failed to provision all");
      return Error{none ? Error::Code::kFull : Error::Code::kIo, cat("sky launch ended with status ", end->code), ""};
    }
    Instance out;
    out.id = out.label = order.label;
    out.price = spec_.price;
    return out;
  }

  Result<Listing> list() override {
    const auto output = call({"sky", "status", "--refresh", "--output", "json"});
    if (!output.ok()) return output.error();
    const auto json = Json::parse(json_within(*output));
    const Json* clusters = json.ok() ? &*json : nullptr;
    if (clusters != nullptr && clusters->is_object()) clusters = clusters->find("clusters");
    if (clusters == nullptr || !clusters->is_array() || clusters->items().size() > kMostMachines) {
      return Error{Error::Code::kIo, "sky's answer has no clusters", "It must be a SkyPilot whose status prints JSON."};
    }
    Listing out;
    for (const Json& one : clusters->items()) {
      Instance instance;
      instance.id = instance.label = text_of(one, "name");
      if (instance.id.empty()) return Error{Error::Code::kIo, "a cluster has no name", ""};
      if (!instance.label.starts_with("midwatch-")) continue;
      instance.says = text_of(one, "status");
      instance.state = state_of(instance.says);
      instance.price = spec_.price;
      out.push_back(std::move(instance));
    }
    return out;
  }

  Result<void> destroy(const Instance& instance) override {
    if (!parse_label(instance.id)) return Error{Error::Code::kInvalid, "this is no cluster of midwatch's", ""};
    const auto output = call({"sky", "down", "--yes", instance.id});
    return output.ok() ? Result<void>() : output.error();
  }

  Result<std::string> preview(const Offer&, const Order& order) override { return task_of(order); }

 private:
  /// The task file: JSON, which is YAML.
  std::string task_of(const Order& order) const {
    std::string out;
    {
      JsonWriter json(out);
      json.begin_object().key("name").string("midwatch").key("num_nodes").integer(1).key("resources").begin_object();
      const std::string gpu = spec_.value("gpu").empty() ? order.wants.gpu : spec_.value("gpu");
      if (!gpu.empty()) json.key("accelerators").string(cat(gpu, ":", std::max<int64_t>(order.wants.count, 1)));
      if (!spec_.value("infra").empty()) json.key("infra").string(spec_.value("infra"));
      if (!order.wants.image.empty()) json.key("image_id").string(cat("docker:", order.wants.image));
      if (order.wants.disk > 0) json.key("disk_size").integer((order.wants.disk + kGB - 1) / kGB);
      json.key("use_spot")
          .boolean(spec_.value("market") == "spot")
          .end_object()
          .key("run")
          .string(order.start)
          .end_object();
    }
    return out + "\n";
  }

  Result<std::string> call(std::vector<std::string> command) const {
    ProgramRequest request;
    const std::string what = cat(command[0], " ", command[1]);
    request.command = std::move(command);
    request.limit = kLimit;
    request.output_limit = kOutput;
    const auto end = doors_.run(request);
    if (!end.ok()) return end.error();
    if (end->late) return Error{Error::Code::kInterrupted, cat(what, " did not end in time"), ""};
    if (end->dropped > 0) return Error{Error::Code::kIo, cat(what, " prints more than any answer"), ""};
    if (end->code == 0 || (contains(what, "down") && contains(end->output, "not found"))) return end->output;
    return Error{Error::Code::kIo, cat(what, ": ", redact_secrets(clip(trim(end->output), 200))), ""};
  }

  const ProviderSpec spec_;
  const ProviderDoors doors_;
};

}  // namespace

Result<std::unique_ptr<Provider>> make_skypilot_provider(const ProviderSpec& spec, const ProviderDoors& doors) {
  return std::unique_ptr<Provider>(std::make_unique<SkypilotProvider>(spec, doors));
}

}  // namespace mw::fleet
