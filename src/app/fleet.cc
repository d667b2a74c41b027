#include "app/fleet.h"

#include <memory>
#include <optional>

#include "act/fleet/beat.h"
#include "act/fleet/controller.h"
#include "act/fleet/wandb.h"
#include "act/vault/catalogue.h"
#include "app/fleet_beat.h"
#include "app/harbour.h"
#include "base/digest.h"
#include "base/text.h"
#include "platform/durable.h"
#include "platform/paths.h"
#include "platform/real/posix_disk.h"

namespace mw {
namespace {

using What = FleetRequest::What;

StoreAddress address_of(const fleet::FleetSpec& spec) {
  StoreAddress address;
  address.place = spec.store;
  address.endpoint = spec.endpoint;
  address.region = spec.region;
  address.profile = spec.profile;
  return address;
}

/// A run, its store and its providers, from the file that describes it.
class Desk {
 public:
  static Result<std::unique_ptr<Desk>> open(Disk& disk, const std::string& file) {
    auto text = read_small(disk, file);
    if (!text.ok()) return text.error();
    auto spec = fleet::parse_fleet_spec(*text, file);
    if (!spec.ok()) return spec.error();
    if (!contains(spec->store, "://")) spec->store = absolute_path(spec->store, folder_of(absolute_path(file)));
    auto desk = std::unique_ptr<Desk>(new Desk(disk, std::move(*spec), content_hash(*text)));
    auto harbour = open_harbour(disk, address_of(desk->spec_));
    if (!harbour.ok()) return harbour.error();
    desk->harbour_ = std::move(*harbour);
    desk->books_ = std::make_unique<fleet::FleetStore>(*desk->harbour_->store, desk->harbour_->prefix);
    for (const fleet::ProviderSpec& one : desk->spec_.providers) {
      auto provider = fleet::make_provider(one);
      if (!provider.ok()) return provider.error();
      desk->providers_.push_back(std::move(*provider));
    }
    desk->owner_ = random_word();
    return desk;
  }

  Result<FleetAnswer> init() {
    const auto keeps = books_->keeps_conditions(owner_);
    if (!keeps.ok()) return keeps.error();
    if (!*keeps) {
      return Error{Error::Code::kUnsupported,
                   cat("this store does not keep conditional writes, so that two controllers could rent two machines"),
                   "Use AWS S3, Cloudflare R2, Ceph, MinIO, or a folder that both machines see."};
    }
    const auto now = books_->now(owner_);
    if (!now.ok()) return now.error();
    const auto there = books_->spec();
    if (!there.ok() && there.error().code != Error::Code::kNotFound) return there.error();
    if (there.ok() && there->name != spec_.name) {
      return Error{Error::Code::kInvalid, cat("this place belongs to the run ", there->name), "Use another one."};
    }
    id_ = there.ok() ? there->id : random_word().substr(0, 8);
    MW_TRY(books_->put_spec(spec_, id_, digest_));
    auto answer = check(What::kStatus);
    if (answer.ok()) answer->done.insert(answer->done.begin(), there.ok() ? "changed its specification" : "began it");
    return answer;
  }

  /// The specification is the one that was put into the store, so that no two controllers go by different limits.
  Result<void> know() {
    const auto there = books_->spec();
    if (!there.ok() && there.error().code == Error::Code::kNotFound) {
      return Error{Error::Code::kInvalid, cat("the store knows no run at ", spec_.store),
                   "Run midwatch fleet init first."};
    }
    if (!there.ok()) return there.error();
    if (there->digest != digest_) {
      return Error{Error::Code::kInvalid, "this specification is not the one in the store",
                   "midwatch fleet init puts it there; all controllers must have the same file."};
    }
    id_ = there->id;
    return {};
  }

  Result<FleetAnswer> check(What what) {
    const auto plan = plan_of();
    if (!plan.ok()) return plan.error();
    bool changed = false;
    if (what == What::kLaunch || what == What::kStop) {
      const auto done = what == What::kLaunch ? fleet::launch_run(doors(), *plan) : fleet::stop_run(doors(), *plan);
      if (!done.ok()) return done.error();
      changed = *done;
    }
    const bool acts = what != What::kStatus && what != What::kOffers && what != What::kOrphans;
    auto result = acts ? fleet::check_run(doors(), *plan) : fleet::see_run(doors(), *plan);
    if (!result.ok()) return result.error();
    FleetAnswer answer = answer_of(std::move(*result));
    if (changed) answer.done.insert(answer.done.begin(), what == What::kLaunch ? "launched it" : "stopped it");
    if (what == What::kLaunch && !changed) answer.notes.emplace_back("it was launched already");
    if (what == What::kStop && !changed) answer.notes.emplace_back("it has no machine, or was stopped already");
    return answer;
  }

  Result<FleetAnswer> offers() {
    auto answer = check(What::kOffers);
    if (!answer.ok()) return answer;
    for (const auto& provider : providers_) {
      auto found = provider->search(spec_.wants);
      if (!found.ok()) {
        answer->notes.push_back(cat(provider->name(), " has no answer: ", found.error().what));
        continue;
      }
      std::vector<std::string> why;
      for (fleet::Offer& one : ranked(spec_, answer->control, answer->seen.now, std::move(*found), why)) {
        answer->offers.push_back(std::move(one));
      }
      for (const std::string& one : why) answer->notes.push_back(cat(provider->name(), " has nothing: ", one));
    }
    return answer;
  }

  /// What launching would send to the first provider that has something to rent. Nothing is rented, and names stand in
  /// place of the values of the environment.
  Result<FleetAnswer> preview() {
    auto answer = offers();
    if (!answer.ok() || answer->offers.empty()) return answer;
    const fleet::Offer& offer = answer->offers.front();
    fleet::Rental rental;
    rental.epoch = answer->control.epoch + 1;
    rental.nonce = "0000000000000000";
    fleet::Order order;
    order.label = fleet::label_text({spec_.name, id_, rental.epoch, rental.nonce});
    order.start = spec_.start;
    order.wants = spec_.wants;
    for (const std::string& name : spec_.environment) order.environment[name] = cat("<", name, ">");
    for (const auto& [name, value] : fleet::machine_environment(spec_, rental, order.label)) {
      order.environment[name] = value;
    }
    for (const auto& provider : providers_) {
      if (provider->name() != offer.provider) continue;
      const auto text = provider->preview(offer, order);
      if (!text.ok()) return text.error();
      answer->preview = text->empty() ? cat(offer.provider, " has nothing to show\n") : *text;
    }
    return answer;
  }

  Result<FleetAnswer> orphans() {
    const auto plan = plan_of();
    if (!plan.ok()) return plan.error();
    auto answer = check(What::kOrphans);
    if (!answer.ok()) return answer;
    const auto found = fleet::find_orphans(doors(), *plan, answer->notes);
    if (!found.ok()) return found.error();
    for (const fleet::Orphan& one : *found) {
      answer->orphans.push_back({one.provider, one.instance.id, one.instance.label, one.run,
                                 std::string(fleet::word_of(one.instance.state)), one.ours});
    }
    return answer;
  }

  Result<FleetAnswer> adopt(const FleetRequest& request) {
    const auto plan = plan_of();
    if (!plan.ok()) return plan.error();
    const auto rental = fleet::adopt_instance(doors(), *plan, request.provider, request.instance);
    if (!rental.ok()) return rental.error();
    auto answer = check(What::kStatus);
    if (!answer.ok()) return answer;
    const std::string label = fleet::label_text({spec_.name, id_, rental->epoch, rental->nonce});
    for (const auto& [name, value] : fleet::machine_environment(spec_, *rental, label)) {
      answer->environment.emplace_back(name, value);
    }
    answer->done.insert(answer->done.begin(), cat("took ", request.instance, " as the run's machine"));
    return answer;
  }

 private:
  Desk(Disk& disk, fleet::FleetSpec spec, std::string digest)
      : disk_(disk), spec_(std::move(spec)), digest_(std::move(digest)) {}

  fleet::ControllerDoors doors() const {
    fleet::ControllerDoors out{*books_, providers_, random_word};
    if (!spec_.wandb.project.empty()) out.wandb = [this](const std::string& run) { return ask_wandb(run); };
    return out;
  }

  Result<fleet::WandbWord> ask_wandb(const std::string& run) const {
    const auto key = variable("WANDB_API_KEY");
    if (!key || key->empty()) return Error{Error::Code::kInvalid, "WANDB_API_KEY is not set for the controller", ""};
    const std::string& id = spec_.wandb.run.empty() ? run : spec_.wandb.run;
    if (id.empty()) return Error{Error::Code::kInvalid, "the run's id there is not known", ""};
    return fleet::ask_wandb(*harbour_->http, {spec_.wandb.endpoint, spec_.wandb.entity, spec_.wandb.project, id, *key});
  }

  /// A variable that is named and not set is an error before anything is rented.
  Result<fleet::ControllerPlan> plan_of() const {
    std::map<std::string, std::string> environment;
    for (const std::string& name : spec_.environment) {
      const auto value = variable(name);
      if (!value) {
        return Error{Error::Code::kInvalid, cat("the variable ", name, " is named in environment and not set"),
                     "Set it for the controller."};
      }
      environment[name] = *value;
    }
    return fleet::ControllerPlan{spec_, id_, std::move(environment), owner_};
  }

  FleetAnswer answer_of(fleet::CheckResult result) {
    FleetAnswer answer;
    answer.run = spec_.name;
    answer.store = spec_.store;
    answer.id = id_;
    answer.cost = fleet::cost_of(result.control, result.seen.now);
    answer.limit = spec_.limits.spend;
    answer.control = std::move(result.control);
    answer.verdict = std::move(result.verdict);
    answer.seen = std::move(result.seen);
    answer.done = std::move(result.done);
    answer.waits = std::move(result.waits);
    answer.person = result.person;
    answer.notes = std::move(result.notes);
    const vault::VaultDoors vault = harbour_->doors(disk_, address_of(spec_));
    const auto found = vault::read_catalogue(vault, {harbour_->prefix}, false);
    if (!found.ok()) answer.notes.push_back(cat("the checkpoints cannot be listed: ", found.error().what));
    for (size_t i = 0; found.ok() && i < found->checkpoints.size(); ++i) {
      const vault::RemoteCheckpoint& one = found->checkpoints[i];
      if (!one.trouble.empty() || one.manifest.step <= answer.newest) continue;
      answer.newest = one.manifest.step;
      answer.pushed = one.manifest.pushed;
    }
    return answer;
  }

  Disk& disk_;
  const fleet::FleetSpec spec_;
  const std::string digest_;
  std::unique_ptr<Harbour> harbour_;
  std::unique_ptr<fleet::FleetStore> books_;
  std::vector<std::unique_ptr<fleet::Provider>> providers_;
  std::string owner_, id_;
};

}  // namespace

Result<FleetAnswer> manage_fleet(Disk& disk, const FleetRequest& request) {
  if (request.what == What::kUnfit) {
    MW_TRY(say_unfit(disk, request.reason));
    FleetAnswer answer;
    answer.done.emplace_back("said that this machine is not fit for its run");
    return answer;
  }
  const auto desk = Desk::open(disk, request.file);
  if (!desk.ok()) return desk.error();
  if (request.what == What::kInit) return (*desk)->init();
  MW_TRY((*desk)->know());
  if (request.what == What::kOffers) return (*desk)->offers();
  if (request.what == What::kPreview) return (*desk)->preview();
  if (request.what == What::kOrphans) return (*desk)->orphans();
  if (request.what == What::kAdopt) return (*desk)->adopt(request);
  if (request.what != What::kWatch || request.every.ns <= 0) return (*desk)->check(request.what);
  for (;;) {  // until a signal ends it: killed anywhere, the next one goes on with what was begun
    request.checked((*desk)->check(What::kWatch));
    sleep_for(request.every);
  }
}

}  // namespace mw
