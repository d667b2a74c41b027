// Kubernetes through the kubectl of the PATH: a machine is a Job of one pod that is never started again. Its values of
// the environment are a Secret beside it, so that the manifest can be shown and no argument holds any.
#include <algorithm>

#include "act/fleet/rest.h"
#include "base/numbers.h"
#include "base/text.h"

namespace mw::fleet {
namespace {

constexpr Duration kLimit = Duration::seconds(60);  // of one call
constexpr size_t kOutput = size_t{16} << 20;        // bytes
constexpr std::string_view kOwn = "app.kubernetes.io/managed-by=midwatch";
constexpr std::string_view kOwnKey = "app.kubernetes.io/managed-by";
constexpr std::string_view kJobKey = "midwatch/job";      // a label: which job it belongs to
constexpr std::string_view kLabelKey = "midwatch/label";  // an annotation: midwatch's label is too long for a label
constexpr std::string_view kDefaultGpu = "nvidia.com/gpu";
constexpr int64_t kDefaultGrace = 120;  // seconds from SIGTERM to SIGKILL

/// The name of a job is at most 63 bytes, so the run's name is not part of it. Of one label there is one name: a job
/// that is made twice is refused by the API.
std::string job_name(const Label& label) { return cat("midwatch-", label.id, "-", label.epoch, "-", label.nonce); }

const Json* at(const Json* json, std::initializer_list<std::string_view> path) {
  for (const std::string_view key : path) json = json == nullptr ? nullptr : json->find(key);
  return json;
}

std::string text_at(const Json& json, std::initializer_list<std::string_view> path) {
  const Json* const found = at(&json, path);
  return found != nullptr && found->is_string() ? clip(found->string(), 300) : "";
}

bool has_condition(const Json& json, std::string_view type, std::string* reason = nullptr) {
  const Json* const conditions = at(&json, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) return false;
  for (const Json& one : conditions->items()) {
    const std::string status = one.string_or("status", "");
    if (one.string_or("type", "") != type || (type == "PodScheduled" ? status != "False" : status != "True")) continue;
    if (reason != nullptr) *reason = text_of(one, "reason");
    return true;
  }
  return false;
}

/// Why a container waits ("ImagePullBackOff", "CreateContainerConfigError", "ContainerCreating"); "": none waits.
std::string waiting_reason(const Json& pod) {
  const Json* const containers = at(&pod, {"status", "containerStatuses"});
  if (containers == nullptr || !containers->is_array()) return "";
  for (const Json& one : containers->items()) {
    std::string reason = text_at(one, {"state", "waiting", "reason"});
    if (!reason.empty()) return reason;
  }
  return "";
}

/// What a pod says of a machine. A pod that is over is "stopped": its job and its secret are still to be given back.
void classify_pod(const Json& pod, Instance& out) {
  const std::string phase = text_at(pod, {"status", "phase"});
  std::string reason;
  out.says = phase;
  if (phase == "Pending") {
    out.state = InstanceState::kProvisioning;
    if (has_condition(pod, "PodScheduled", &reason)) out.says = reason.empty() ? "not scheduled" : reason;
    if (const std::string waits = waiting_reason(pod); !waits.empty()) out.says = waits;
  } else if (phase == "Failed" || phase == "Succeeded") {
    out.state = InstanceState::kStopped;
    if (has_condition(pod, "DisruptionTarget", &reason)) out.says = reason;
    if (const std::string why = text_at(pod, {"status", "reason"}); !why.empty()) out.says = why;
  } else if (phase == "Unknown" || text_at(pod, {"status", "reason"}) == "NodeLost") {
    out.state = InstanceState::kLost;
  } else {
    out.state = InstanceState::kRunning;
  }
  // One on a node that does not answer stays so until that comes back, or a person deletes it by force.
  if (!text_at(pod, {"metadata", "deletionTimestamp"}).empty()) out.says = cat("Terminating, ", out.says);
}

class KubernetesProvider final : public Provider {
 public:
  KubernetesProvider(const ProviderSpec& spec, const ProviderDoors& doors, int64_t grace)
      : spec_(spec), doors_(doors), grace_(grace) {}

  const std::string& name() const override { return spec_.name; }

  Result<std::vector<Offer>> search(const MachineWants& wants) override {
    if (wants.image.empty()) return Error{Error::Code::kInvalid, "[machine] needs an image for Kubernetes", ""};
    // What cannot be scheduled yet waits: there is always one offer.
    return std::vector<Offer>{standing_offer(spec_, "namespace", "default")};
  }

  Result<Instance> create(const Offer&, const Order& order) override {
    const auto text = manifest(order);
    if (!text.ok()) return text.error();
    ProgramRequest request = kubectl({"create", "-f", "-", "-o", "name"});
    request.input = *text;
    const auto output = call(std::move(request), order.environment);
    const std::string job = job_name(*parse_label(order.label));
    if (!output.ok()) {
      // A secret without its job would stay for ever.
      if (output.error().code != Error::Code::kIo)
        (void)call(kubectl({"delete", "secret", job, "--ignore-not-found"}), {});
      return output.error();
    }
    Instance out;
    out.id = job;
    out.label = order.label;
    out.price = spec_.price;
    return out;
  }

  Result<Listing> list() override {
    const auto output = call(kubectl({"get", "jobs,pods", "-l", std::string(kOwn), "-o", "json"}), {});
    if (!output.ok()) return output.error();
    const auto json = Json::parse(json_within(*output));
    const Json* const items = json.ok() ? json->find("items") : nullptr;
    if (items == nullptr || !items->is_array() || items->items().size() > kMostMachines) {
      return Error{Error::Code::kIo, "kubectl's answer has no items", ""};
    }
    std::map<std::string, Instance> found;
    for (const bool pods : {false, true}) {
      for (const Json& one : items->items()) {
        if ((one.string_or("kind", "") == "Pod") != pods) continue;
        const std::string job = text_at(one, {"metadata", "labels", kJobKey});
        const std::string label = text_at(one, {"metadata", "annotations", kLabelKey});
        if (job.empty() || !label.starts_with("midwatch-")) continue;
        Instance& instance = found[job];
        if (pods) {
          classify_pod(one, instance);
          instance.host = text_at(one, {"spec", "nodeName"});
        } else {
          classify_job(one, instance);
        }
        instance.id = job;
        instance.label = label;
        instance.price = instance.state == InstanceState::kRunning ? spec_.price : 0;
      }
    }
    Listing out;
    for (auto& [job, instance] : found) out.push_back(std::move(instance));
    return out;
  }

  Result<void> destroy(const Instance& instance) override {
    const auto label = parse_label(instance.label);
    const std::string job = label ? job_name(*label) : instance.id;
    if (!job.starts_with("midwatch-")) return Error{Error::Code::kInvalid, "this is no job of midwatch's", ""};
    // In the foreground: the job stays listed until its pod has ended.
    const auto output = call(kubectl({"delete", "jobs,pods,secrets", "-l", cat(kJobKey, "=", job),
                                      "--cascade=foreground", "--wait=false", "--ignore-not-found"}),
                             {});
    return output.ok() ? Result<void>() : output.error();
  }

  Result<std::string> preview(const Offer&, const Order& order) override { return manifest(order); }

 private:
  static void classify_job(const Json& job, Instance& out) {
    std::string reason;
    out.state = InstanceState::kProvisioning;
    out.says = "no pod yet";
    if (has_condition(job, "Failed", &reason) || has_condition(job, "Complete", &reason)) {
      out.state = InstanceState::kStopped;
      out.says = reason.empty() ? "it has ended" : reason;
    }
  }

  ProgramRequest kubectl(std::vector<std::string> words) const {
    ProgramRequest out;
    out.command = {"kubectl"};
    if (!spec_.value("context").empty()) out.command.push_back(cat("--context=", spec_.value("context")));
    if (!spec_.value("namespace").empty()) out.command.push_back(cat("--namespace=", spec_.value("namespace")));
    out.command.insert(out.command.end(), words.begin(), words.end());
    out.limit = kLimit;
    out.output_limit = kOutput;
    return out;
  }

  void write_metadata(JsonWriter& json, const std::string& job, const std::string& label) const {
    json.key("metadata").begin_object().key("name").string(job);
    write_marks(json, job, label);
    json.end_object();
  }
  static void write_marks(JsonWriter& json, const std::string& job, const std::string& label) {
    json.key("labels").begin_object().key(kOwnKey).string("midwatch").key(kJobKey).string(job).end_object();
    json.key("annotations").begin_object().key(kLabelKey).string(label).end_object();
  }

  /// A List of a Secret and a Job. kInvalid: the label is none of midwatch's.
  Result<std::string> manifest(const Order& order) const {
    const auto label = parse_label(order.label);
    if (!label) return Error{Error::Code::kInvalid, "this is no label of midwatch's", ""};
    const std::string job = job_name(*label);
    std::string out;
    {
      JsonWriter json(out);
      json.begin_object().key("apiVersion").string("v1").key("kind").string("List").key("items").begin_array();
      json.begin_object().key("apiVersion").string("v1").key("kind").string("Secret");
      write_metadata(json, job, order.label);
      json.key("stringData").begin_object();
      for (const auto& [key, content] : order.environment) json.key(key).string(content);
      json.end_object().end_object();
      json.begin_object().key("apiVersion").string("batch/v1").key("kind").string("Job");
      write_metadata(json, job, order.label);
      write_job(json, job, order);
      json.end_object().end_array().end_object();
    }
    return out + "\n";
  }

  void write_job(JsonWriter& json, const std::string& job, const Order& order) const {
    json.key("spec").begin_object().key("backoffLimit").integer(0).key("template").begin_object();
    json.key("metadata").begin_object();
    write_marks(json, job, order.label);
    json.end_object().key("spec").begin_object().key("restartPolicy").string("Never");
    json.key("terminationGracePeriodSeconds").integer(grace_).key("containers").begin_array().begin_object();
    json.key("name").string("midwatch").key("image").string(order.wants.image);
    json.key("command").begin_array().string("sh").string("-c").string(order.start).end_array();
    json.key("envFrom").begin_array().begin_object().key("secretRef").begin_object().key("name").string(job);
    json.end_object().end_object().end_array().key("resources").begin_object().key("limits").begin_object();
    if (order.wants.count > 0) {
      const std::string gpu = spec_.value("gpu_resource");
      json.key(gpu.empty() ? kDefaultGpu : std::string_view(gpu)).integer(order.wants.count);
    }
    if (order.wants.disk > 0) json.key("ephemeral-storage").string(std::to_string(order.wants.disk));
    json.end_object().end_object().end_object().end_array().end_object().end_object().end_object();
  }

  /// kInvalid, kDenied, kFull: the API refused. kIo, kInterrupted: nobody knows.
  Result<std::string> call(const ProgramRequest& request, const std::map<std::string, std::string>& secrets) const {
    const auto end = doors_.run(request);
    if (!end.ok()) return end.error();
    if (end->late) return Error{Error::Code::kInterrupted, "kubectl did not end in time", ""};
    if (end->dropped > 0) return Error{Error::Code::kIo, "kubectl's answer is longer than any answer", ""};
    if (end->code == 0) return end->output;
    KnownSecrets known;
    for (const auto& [key, content] : secrets) known.learn(key, content);
    const std::string said = clip(redact_secrets(known.hide(clip(trim(end->output), 800))), 200);
    const auto says = [&](std::string_view word) { return contains(end->output, word); };
    // Of several objects one may have been made: then it is for the list to say.
    const bool one_made = says("job.batch/");
    const Error::Code code =
        one_made                                                                   ? Error::Code::kIo
        : says("exceeded quota")                                                   ? Error::Code::kFull
        : says("(Forbidden)") || says("Unauthorized") || says("must be logged in") ? Error::Code::kDenied
        : says("\" is invalid:") || says("(Invalid)") || says("(BadRequest)") || says("error validating")
            ? Error::Code::kInvalid
            : Error::Code::kIo;
    return Error{code, cat("kubectl: ", said), ""};
  }

  const ProviderSpec spec_;
  const ProviderDoors doors_;
  const int64_t grace_;
};

}  // namespace

Result<std::unique_ptr<Provider>> make_kubernetes_provider(const ProviderSpec& spec, const ProviderDoors& doors) {
  int64_t grace = kDefaultGrace;
  if (const auto found = spec.values.find("grace"); found != spec.values.end()) {
    const auto seconds = parse_int(found->second);
    if (!seconds || *seconds < 1 || *seconds > 3600) {
      return Error{Error::Code::kInvalid, "grace takes a text with seconds from 1 to 3600, as \"120\"", ""};
    }
    grace = *seconds;
  }
  return std::unique_ptr<Provider>(std::make_unique<KubernetesProvider>(spec, doors, grace));
}

}  // namespace mw::fleet
