#include "app/fleet_desk.h"

#include <map>
#include <optional>
#include <utility>

#include "act/fleet/beat.h"
#include "act/fleet/wandb.h"
#include "act/vault/catalogue.h"
#include "app/store_mark.h"
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

}  // namespace

FleetDesk::FleetDesk(Disk& disk, fleet::FleetSpec spec, StoreAddress address, std::string digest)
    : disk_(disk),
      spec_(std::move(spec)),
      address_(std::move(address)),
      digest_(std::move(digest)),
      owner_(random_word()) {}

Result<void> FleetDesk::reach() {
  auto harbour = open_harbour(disk_, address_);
  if (!harbour.ok()) return harbour.error();
  harbour_ = std::move(*harbour);
  books_ = std::make_unique<fleet::FleetStore>(*harbour_->store, harbour_->prefix);
  return {};
}

Result<std::unique_ptr<FleetDesk>> FleetDesk::open(Disk& disk, const std::string& file) {
  auto text = read_small(disk, file);
  if (!text.ok()) return text.error();
  auto spec = fleet::parse_fleet_spec(*text, file);
  if (!spec.ok()) return Error{spec.error().code, spec.error().what, "Mend it; docs/fleet.md has the file."};
  if (!contains(spec->store, "://")) spec->store = absolute_path(spec->store, folder_of(absolute_path(file)));
  StoreAddress address = address_of(*spec);
  auto desk =
      std::unique_ptr<FleetDesk>(new FleetDesk(disk, std::move(*spec), std::move(address), content_hash(*text)));
  MW_TRY(desk->reach());
  for (const fleet::ProviderSpec& one : desk->spec_.providers) {
    auto provider = fleet::make_provider(one);
    if (!provider.ok()) return provider.error();
    desk->providers_.push_back(std::move(*provider));
  }
  return desk;
}

Result<std::unique_ptr<FleetDesk>> FleetDesk::open_stored(Disk& disk, const StoreAddress& store) {
  auto desk = std::unique_ptr<FleetDesk>(new FleetDesk(disk, {}, store, ""));
  MW_TRY(desk->reach());
  const auto there = desk->books_->spec();
  if (!there.ok()) return there.error();
  auto spec = fleet::parse_fleet_spec_json(there->text);
  if (!spec.ok()) return spec.error();
  desk->spec_ = std::move(*spec);
  desk->spec_.store = store.place;
  desk->id_ = there->id;
  desk->digest_ = there->digest;
  return desk;
}

Result<FleetAnswer> FleetDesk::init() {
  // Begun a second time beside a share that is not mounted, the run would have two stores, and two machines.
  if (!remembered_run(disk_, spec_.store).empty() && !looks_unmounted(disk_, spec_.store).empty())
    return no_run_in_store(disk_, spec_.store);
  const auto keeps = books_->keeps_conditions(owner_);
  if (!keeps.ok()) return keeps.error();
  if (!*keeps) {
    return Error{Error::Code::kUnsupported,
                 cat("this store does not keep conditional writes, so that two controllers could rent two machines"),
                 "Use AWS S3, Cloudflare R2, Ceph, MinIO, or a folder that both machines see. Backblaze B2 has none."};
  }
  const auto now = books_->now(owner_);
  if (!now.ok()) return now.error();
  const auto there = books_->spec();
  if (!there.ok() && there.error().code != Error::Code::kNotFound) return there.error();
  if (there.ok() && there->name != spec_.name) {
    return Error{Error::Code::kInvalid, cat("this place belongs to the run ", there->name), "Use another one."};
  }
  id_ = there.ok() ? there->id : random_word().substr(0, 8);
  if (const auto put = books_->put_spec(spec_, id_, digest_, there.ok() ? there->etag : ""); !put.ok()) {
    // Whoever put the very same file there at the same moment has done what was wanted.
    const auto other = books_->spec();
    if (put.error().code != Error::Code::kDenied || !other.ok() || other->digest != digest_) return put.error();
    id_ = other->id;
  }
  remember_store(disk_, spec_.store, spec_.name);
  auto answer = check(What::kStatus);
  if (answer.ok()) answer->done.insert(answer->done.begin(), there.ok() ? "changed its specification" : "began it");
  return answer;
}

Result<void> FleetDesk::know() {
  const auto there = books_->spec();
  if (!there.ok() && there.error().code == Error::Code::kNotFound) {
    return no_run_in_store(disk_, spec_.store);
  }
  if (!there.ok()) return there.error();
  if (there->digest != digest_) {
    return Error{Error::Code::kInvalid, "this specification is not the one in the store",
                 "midwatch fleet init puts it there; all controllers must have the same file."};
  }
  id_ = there->id;
  remember_store(disk_, spec_.store, spec_.name);
  return {};
}

Result<FleetAnswer> FleetDesk::check(What what) {
  const bool acts = what != What::kStatus && what != What::kOffers && what != What::kOrphans && what != What::kPreview;
  const auto plan = plan_of(acts);
  if (!plan.ok()) return plan.error();
  bool changed = false;
  if (what == What::kLaunch || what == What::kStop) {
    const auto done = what == What::kLaunch ? fleet::launch_run(doors(), *plan) : fleet::stop_run(doors(), *plan);
    if (!done.ok()) return done.error();
    changed = *done;
  }
  auto result = acts ? fleet::check_run(doors(), *plan) : fleet::see_run(doors(), *plan);
  if (!result.ok()) return result.error();
  FleetAnswer answer = answer_of(std::move(*result));
  if (what == What::kStatus) MW_TRY(add_legs(answer));
  if (changed) answer.done.insert(answer.done.begin(), what == What::kLaunch ? "launched it" : "stopped it");
  if (what == What::kLaunch && !changed) answer.notes.emplace_back("it was launched already");
  if (what == What::kStop && !changed) answer.notes.emplace_back("it has no machine, or was stopped already");
  return answer;
}

Result<FleetAnswer> FleetDesk::offers() {
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

Result<FleetAnswer> FleetDesk::preview() {
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

Result<FleetAnswer> FleetDesk::orphans() {
  const auto plan = plan_of(false);
  if (!plan.ok()) return plan.error();
  auto answer = check(What::kOrphans);
  if (!answer.ok()) return answer;
  const auto found = fleet::find_orphans(doors(), *plan, answer->notes, answer->all_seen);
  if (!found.ok()) return found.error();
  for (const fleet::Orphan& one : *found) {
    answer->orphans.push_back({one.provider, one.instance.id, one.instance.label, one.run,
                               std::string(fleet::word_of(one.instance.state)), one.ours});
  }
  return answer;
}

Result<FleetAnswer> FleetDesk::adopt(const FleetRequest& request) {
  const auto plan = plan_of(true);
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

fleet::ControllerDoors FleetDesk::doors() const {
  fleet::ControllerDoors out{*books_, providers_, random_word};
  if (!spec_.wandb.project.empty()) out.wandb = [this](const std::string& run) { return ask_wandb(run); };
  out.pause = sleep_for;
  out.own_clock = [this] { return harbour_->clock->now(); };
  // Lustre, CephFS and others take a file's time from the machine that writes it.
  out.one_clock = spec_.store.starts_with("s3://");
  return out;
}

Result<fleet::WandbWord> FleetDesk::ask_wandb(const std::string& run) const {
  const auto key = variable("WANDB_API_KEY");
  if (!key || key->empty()) return Error{Error::Code::kInvalid, "WANDB_API_KEY is not set for the controller", ""};
  const std::string& id = spec_.wandb.run.empty() ? run : spec_.wandb.run;
  if (id.empty()) return Error{Error::Code::kInvalid, "the run's id there is not known", ""};
  return fleet::ask_wandb(*harbour_->http, {spec_.wandb.endpoint, spec_.wandb.entity, spec_.wandb.project, id, *key});
}

Result<fleet::ControllerPlan> FleetDesk::plan_of(bool rents) const {
  std::map<std::string, std::string> environment;
  for (const std::string& name : spec_.environment) {
    const auto value = variable(name);
    if (!value && !rents) continue;
    if (!value) {
      return Error{Error::Code::kInvalid, cat("the variable ", name, " is named in environment and not set"),
                   "Set it for the controller."};
    }
    environment[name] = *value;
  }
  return fleet::ControllerPlan{spec_, id_, std::move(environment), owner_};
}

/// What each machine of the run said last.
Result<void> FleetDesk::add_legs(FleetAnswer& answer) {
  std::map<std::string, fleet::LastBeat> beats;
  for (const fleet::Rental& rental : answer.control.rentals) {
    auto beat = books_->heartbeat(rental.nonce);
    if (!beat.ok()) return beat.error();
    if (beat->beat) beats[rental.nonce] = {std::move(*beat->beat), beat->changed};
  }
  answer.legs = fleet::legs_of(answer.control, beats, answer.seen.now);
  return {};
}

FleetAnswer FleetDesk::answer_of(fleet::CheckResult result) {
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
  answer.all_seen = result.all_seen;
  const auto found = vault::read_catalogue(vault(), {harbour_->prefix}, false);
  if (!found.ok()) answer.notes.push_back(cat("the checkpoints cannot be listed: ", found.error().what));
  if (const auto* newest = found.ok() ? vault::newest_usable(*found) : nullptr) {
    answer.newest = newest->manifest.step;
    answer.pushed = newest->manifest.pushed;
  }
  return answer;
}

}  // namespace mw
