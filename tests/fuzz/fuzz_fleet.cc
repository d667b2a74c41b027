// links: act
// All that the fleet reads of others: the specification, what lies in a store, and what providers and W&B answer.
#include "act/fleet/fleet_store.h"
#include "act/fleet/provider.h"
#include "act/fleet/wandb.h"
#include "act/vault/sealed.h"
#include "base/text.h"
#include "core/fleet/control.h"
#include "fuzz.h"
#include "platform/fake/fake_store.h"
#include "sense/notices/end_notice.h"

namespace mw::fleet {
namespace {

constexpr const char* kKinds[] = {"vast", "runpod", "prime", "lambda", "kubernetes", "skypilot"};

/// Answers every request with the same bytes.
class Parrot final : public Http {
 public:
  explicit Parrot(std::string_view text) : text_(text) {}
  Result<HttpAnswer> send(const HttpRequest& request) override {
    HttpAnswer out;
    out.status = 200;
    // Pages would not end: from the second one on the API has nothing.
    if (++requests_ < 4 || request.method != "GET") out.body = text_;
    return out;
  }
  Result<void> mail(const MailRequest&) override { return {}; }

 private:
  const std::string text_;
  int requests_ = 0;
};

void ask_provider(const char* kind, std::string_view text) {
  ProviderSpec spec;
  spec.kind = spec.name = kind;
  if (kind == std::string_view("prime")) spec.values["template"] = "t";
  if (kind == std::string_view("lambda")) spec.values["ssh_key"] = "k";
  ProviderDoors doors;
  doors.http = std::make_shared<Parrot>(text);
  doors.run = [text](const ProgramRequest&) {
    ProgramEnd end;
    end.code = 0;
    end.output = text;
    return Result<ProgramEnd>(end);
  };
  doors.variable = [](const std::string&) { return std::string("key"); };
  doors.pause = [](Duration) {};
  const auto provider = make_provider(spec, doors);
  MW_CHECK(provider.ok());
  Order order;
  order.label = label_text({"run", "0badcafe", 1, "0123456789abcdef"});
  order.wants.image = "i";
  order.wants.gpu = "H100";
  Offer first;
  if (const auto offers = (*provider)->search(order.wants); offers.ok()) {
    for (const Offer& one : *offers) MW_CHECK(!one.id.empty() && one.price >= 0);
    if (!offers->empty()) first = offers->front();
  }
  (void)(*provider)->preview(first, order).ok();
  if (const auto made = (*provider)->create(first, order); made.ok()) MW_CHECK(!made->id.empty());
  if (const auto listed = (*provider)->list(); listed.ok()) {
    for (const Instance& one : *listed) {
      MW_CHECK(!one.id.empty() && one.label.starts_with("midwatch-") && one.price >= 0);
    }
    for (const std::string& note : listed->notes) MW_CHECK(!note.empty());
  }
  (void)(*provider)->destroy({"1", order.label, "", {}, 0, "", false}).ok();
}

void read_store(std::string_view text) {
  if (const auto beat = parse_heartbeat(text); beat.ok()) {
    MW_CHECK(parse_heartbeat(heartbeat_json(*beat)).ok());
  }
  if (const auto control = parse_control(text); control.ok()) {
    const auto again = parse_control(control_json(*control));
    MW_CHECK(again.ok() && again->rentals.size() == control->rentals.size());
  }
  FakeStore objects;
  FleetStore store(objects, "");
  for (const auto& [key, schema] : {std::pair{"fleet/journal/a.json", "midwatch.fleet-journal/1"},
                                    std::pair{"fleet/run.json", "midwatch.fleet-run/1"}}) {
    MW_CHECK(objects.put(key, vault::sealed(schema, text), {}).ok());
  }
  (void)store.journal(10).ok();
  (void)store.spec().ok();
  if (const auto label = parse_label(text)) MW_CHECK(label_text(*label) == text);
  if (const auto word = parse_wandb(text, Time::from_seconds(1.8e9)); word.ok()) {
    MW_CHECK(!word->state.empty() && word->step >= kNoStep);
  }
  if (const auto spec = parse_fleet_spec(text, "run.toml"); spec.ok()) {
    MW_CHECK(!spec->providers.empty() && spec->limits.price_per_hour >= 0);
  }
  (void)parse_aws_notice(text);
  (void)parse_azure_notice(text, "vm");
  (void)parse_mithril_notice(text);
  (void)parse_capacity_block(text);
}

}  // namespace
}  // namespace mw::fleet

std::vector<std::string> mw::fuzz_seeds() {
  using namespace fleet;
  const std::string label = label_text({"run", "0badcafe", 1, "0123456789abcdef"});
  Heartbeat beat;
  beat.epoch = 1;
  beat.machine = "0123456789abcdef";
  Control control;
  control.epoch = 1;
  Rental rental;
  rental.epoch = 1;
  rental.nonce = "0123456789abcdef";
  rental.provider = "vast";
  rental.host = "h";
  rental.instance = "i";
  rental.price = 2;
  rental.asked = Time::from_seconds(1.7e9);
  control.rentals.push_back(std::move(rental));
  return {
      heartbeat_json(beat),
      control_json(control),
      label,
      "name = \"a\"\nstore = \"/s\"\nstart = \"x\"\n[limits]\nprice_per_hour = 1\nspend = 2\n[wandb]\nentity = \"e\"\n"
      "project = \"p\"\n[[provider]]\nkind = \"vast\"\nbid_margin = 0.2\n",
      R"({"offers":[{"id":77,"machine_id":1,"gpu_name":"H100 SXM","num_gpus":1,"gpu_ram":81559,"dph_total":2.0,"min_bid":1}],)"
      R"("success":true,"new_contract":5,"next_token":null,"instances":[{"id":5,"label":")" +
          label + R"(","actual_status":"running"}]})",
      R"({"data":{"gpuTypes":[{"id":"G","memoryInGb":80,"securePrice":2,"lowestPrice":{"uninterruptablePrice":2}}],)"
      R"("podFindAndDeployOnDemand":{"id":"p"},"myself":{"pods":[{"id":"p","name":")" +
          label + R"(","desiredStatus":"RUNNING","runtime":null}]}}})",
      R"({"items":[{"cloudId":"c","gpuType":"H100","provider":"p","gpuCount":1,"prices":{"onDemand":2},"isSpot":false}],)"
      R"("id":"p","data":[{"id":"p","name":")" +
          label + R"(","status":"ACTIVE"}]})",
      R"json({"data":{"gpu_1x":{"instance_type":{"price_cents_per_hour":200,"gpu_description":"H100 (80 GB)"},)json"
      R"("regions_with_capacity_available":[{"name":"us"}]},"instance_ids":["i"]}})",
      R"({"items":[{"kind":"Pod","metadata":{"labels":{"midwatch/job":"j"},"annotations":{"midwatch/label":")" + label +
          R"("}},"status":{"phase":"Pending","containerStatuses":[{"state":{"waiting":{"reason":"ErrImagePull"}}}]}}]})",
      R"([{"name":")" + label + R"(","status":"UP"}])",
      R"({"data":{"project":{"run":{"state":"running","heartbeatAt":"2026-01-06T11:09:50","summaryMetrics":"{\"_step\":9}"}}}})",
      R"({"Events":[{"EventType":"Preempt","Resources":["vm"],"NotBefore":"Mon, 19 Sep 2016 18:29:47 GMT"}]})",
      R"({"action":"terminate","time":"2026-01-15T08:22:00Z"})"};
}

void mw::fuzz_one(std::string_view input) {
  fleet::read_store(input);
  for (const char* kind : fleet::kKinds) fleet::ask_provider(kind, input);
}
