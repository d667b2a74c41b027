// A provider that is a program of the user's own: one call an operation, JSON on its standard input, JSON on its
// standard output (docs/fleet.md).
#include <algorithm>

#include "act/fleet/provider.h"
#include "base/json.h"
#include "base/text.h"
#include "platform/program.h"

namespace mw::fleet {
namespace {

constexpr std::string_view kSchema = "midwatch.provider/1";
constexpr Duration kLimit = Duration::seconds(120);  // of one call
constexpr size_t kMost = 10'000;                     // offers or instances of one answer
constexpr size_t kMostNotes = 20;
constexpr size_t kText = 300;  // bytes of a text in an answer

std::string word(const Json& json, std::string_view key) { return clip(json.string_or(key, ""), kText); }

std::optional<InstanceState> state_of(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(InstanceState::kGone); ++i) {
    if (word_of(static_cast<InstanceState>(i)) == text) return static_cast<InstanceState>(i);
  }
  return std::nullopt;
}

Error wrong(std::string_view operation, std::string_view what) {
  return {Error::Code::kIo, cat("its answer to ", operation, " is wrong: ", what), "docs/fleet.md has the protocol."};
}

/// The last line that begins with '{': what it prints on standard error comes with the rest.
std::string_view last_object(std::string_view output) {
  std::string_view out;
  for (const std::string_view line : split(output, '\n')) {
    if (line.starts_with('{')) out = trim(line);
  }
  return out;
}

/// What it says went wrong, by its word for the kind.
Error own_error(const Json& json) {
  const std::string kind = word(json, "kind");
  const Error::Code code = kind == "denied"    ? Error::Code::kDenied
                           : kind == "refused" ? Error::Code::kInvalid
                           : kind == "full"    ? Error::Code::kFull
                                               : Error::Code::kIo;
  return {code, redact_secrets(word(json, "error")), ""};
}

Result<Instance> parse_instance(std::string_view operation, const Json& json) {
  Instance out;
  out.id = word(json, "id");
  out.label = word(json, "label");
  out.host = word(json, "host");
  out.says = word(json, "says");
  out.price = json.number_or("price", 0);
  const auto state = state_of(json.string_or("state", "provisioning"));
  if (out.id.empty() || !state || !(out.price >= 0))
    return wrong(operation, "an instance has no id, or a state that is none");
  out.state = *state;
  return out;
}

class CommandProvider final : public Provider {
 public:
  explicit CommandProvider(const ProviderSpec& spec) : name_(spec.name), command_(spec.words) {}

  const std::string& name() const override { return name_; }

  Result<std::vector<Offer>> search(const MachineWants& wants) override {
    const auto answer = ask("search", [&](JsonWriter& json) { write_wants(json, wants); });
    if (!answer.ok()) return answer.error();
    const Json* const offers = answer->find("offers");
    if (offers == nullptr || !offers->is_array() || offers->items().size() > kMost) return wrong("search", "no offers");
    std::vector<Offer> out;
    for (const Json& one : offers->items()) {
      Offer offer;
      offer.id = word(one, "id");
      offer.provider = name_;
      offer.host = word(one, "host");
      offer.price = one.number_or("price", -1);
      offer.gpu = word(one, "gpu");
      offer.region = word(one, "region");
      offer.count = one.integer_or("count", 0);
      offer.gpu_memory = one.integer_or("gpu_memory", 0);
      offer.disk = one.integer_or("disk", 0);
      offer.reliability = one.number_or("reliability", -1);
      if (offer.id.empty() || !(offer.price >= 0)) return wrong("search", "an offer has no id or price");
      out.push_back(std::move(offer));
    }
    return out;
  }

  Result<Instance> create(const Offer& offer, const Order& order) override {
    const auto answer = ask("create", [&](JsonWriter& json) {
      json.key("offer").string(offer.id).key("label").string(order.label).key("start").string(order.start);
      json.key("environment").begin_object();
      for (const auto& [key, value] : order.environment) json.key(key).string(value);
      json.end_object();
      write_wants(json, order.wants);
    });
    if (!answer.ok()) return answer.error();
    const Json* const instance = answer->find("instance");
    if (instance == nullptr || !instance->is_object()) return wrong("create", "no instance");
    return parse_instance("create", *instance);
  }

  Result<Listing> list() override {
    const auto answer = ask("list", [](JsonWriter&) {});
    if (!answer.ok()) return answer.error();
    const Json* const instances = answer->find("instances");
    if (instances == nullptr || !instances->is_array() || instances->items().size() > kMost) {
      return wrong("list", "no instances");
    }
    Listing out;
    for (const Json& one : instances->items()) {
      auto instance = parse_instance("list", one);
      if (!instance.ok()) return instance.error();
      out.push_back(std::move(*instance));
    }
    if (const Json* const notes = answer->find("notes"); notes != nullptr && notes->is_array()) {
      for (const Json& one : notes->items()) {
        if (out.notes.size() < kMostNotes && one.is_string())
          out.notes.push_back(clip(redact_secrets(one.string()), 200));
      }
    }
    out.whole = !answer->boolean_or("incomplete", false);
    return out;
  }

  Result<void> destroy(const Instance& instance) override {
    const auto answer = ask(
        "destroy", [&](JsonWriter& json) { json.key("id").string(instance.id).key("label").string(instance.label); });
    if (!answer.ok()) return answer.error();
    return {};
  }

 private:
  static void write_wants(JsonWriter& json, const MachineWants& wants) {
    json.key("machine").begin_object().key("gpu").string(wants.gpu).key("image").string(wants.image);
    json.key("count").integer(wants.count).key("gpu_memory").integer(wants.gpu_memory).key("disk").integer(wants.disk);
    json.key("reliability").number(wants.reliability).key("regions").begin_array();
    for (const std::string& region : wants.regions) json.string(region);
    json.end_array().end_object();
  }

  template <typename Fill>
  Result<Json> ask(std::string_view operation, const Fill& fill) {
    ProgramRequest request;
    request.command = command_;
    request.command.emplace_back(operation);
    request.limit = kLimit;
    request.output_limit = size_t{8} << 20;
    {
      JsonWriter json(request.input);
      json.begin_object().key("schema").string(kSchema).key("operation").string(operation);
      fill(json);
      json.end_object();
    }
    request.input += "\n";
    const auto end = run_program(request);
    if (!end.ok()) return end.error();
    if (end->late) return Error{Error::Code::kInterrupted, cat(operation, " did not end in time"), ""};
    const auto json = Json::parse(last_object(end->output));
    // What it said is shown only as far as it is an error of the protocol: the rest may hold a secret.
    if (json.ok() && json->is_object() && json->find("error") != nullptr) return own_error(*json);
    if (end->code != 0) return Error{Error::Code::kIo, cat(operation, " ended with status ", end->code), ""};
    if (!json.ok() || !json->is_object()) return wrong(operation, "it is no JSON object");
    return json;
  }

  const std::string name_;
  const std::vector<std::string> command_;
};

}  // namespace

Result<std::unique_ptr<Provider>> make_command_provider(const ProviderSpec& spec) {
  if (spec.words.empty()) return Error{Error::Code::kInvalid, "a provider of kind command needs a command", ""};
  return std::unique_ptr<Provider>(std::make_unique<CommandProvider>(spec));
}

}  // namespace mw::fleet
