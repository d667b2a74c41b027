// The door to whoever rents machines out. One file a kind in providers/.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/fleet/decide.h"
#include "core/fleet/fleet_spec.h"
#include "platform/http.h"
#include "platform/program.h"

namespace mw::fleet {

struct Instance {
  std::string id, label, host;
  InstanceState state = InstanceState::kProvisioning;
  double price = 0;  ///< an hour; 0: not stated
  std::string says;  ///< the provider's own word for its state
  /// In place of what runs on a host of one's own that does not answer: whatever that is, it costs nothing, and a
  /// machine with an older epoch ends itself. It has neither id nor label.
  bool unreachable = false;
};

/// What a provider has of this account, and what of it could not be seen.
struct Listing {
  std::vector<Instance> instances;
  /// What it left out, and what it cannot see, a sentence each, for people: nothing else may say it.
  std::vector<std::string> notes;
  /// False: an instance of this account may be missing here. Then what is not listed is not gone.
  bool whole = true;

  void push_back(Instance one) { instances.push_back(std::move(one)); }
  size_t size() const { return instances.size(); }
  auto begin() const { return instances.begin(); }
  auto end() const { return instances.end(); }
};

/// What a new machine is to be and to run.
struct Order {
  std::string label;
  std::string start;                               ///< shell text
  std::map<std::string, std::string> environment;  ///< may hold secrets: it goes into no log, argument or label
  MachineWants wants;
};

/// Errors: kDenied (key, rights), kInvalid and kFull (refused: nothing was rented), kNotFound (the offer is gone), and
/// kIo, kInterrupted: whether it was done is not known.
class Provider {
 public:
  virtual ~Provider() = default;
  virtual const std::string& name() const = 0;
  /// What may be rented now, in any order; the caller filters and ranks. Offer::provider is name().
  virtual Result<std::vector<Offer>> search(const MachineWants& wants) = 0;
  /// Rents, once: it tries nothing again by itself, as a request without an answer may have been carried out.
  virtual Result<Instance> create(const Offer& offer, const Order& order) = 0;
  /// All instances of this account whose label begins with "midwatch-", those that are stopped included. One that was
  /// just created may be missing for a while, and one that was destroyed may still be listed. All, or an error, or a
  /// list that says that it is not all.
  virtual Result<Listing> list() = 0;
  /// Gives it back. One that is gone already is no error. That it is gone is seen by list().
  virtual Result<void> destroy(const Instance& instance) = 0;
  /// What create() would send, for people to read; "": the provider has nothing to show. It shows the values of the
  /// environment as they stand in `order`, so the caller gives it one without secrets.
  virtual Result<std::string> preview(const Offer& offer, const Order& order) {
    return static_cast<void>(offer), static_cast<void>(order), std::string();
  }
};

/// What providers reach the world by.
struct ProviderDoors {
  std::shared_ptr<Http> http;
  std::function<Result<ProgramEnd>(const ProgramRequest& request)> run;
  std::function<std::optional<std::string>(const std::string& name)> variable;  ///< of the environment
  std::function<void(Duration)> pause;
  Duration deadline = Duration::seconds(60);  ///< of one HTTP request
};
ProviderDoors real_provider_doors();

/// kInvalid: a kind that is not known, a setting that is missing or not of this kind, or a key that is not set.
Result<std::unique_ptr<Provider>> make_provider(const ProviderSpec& spec);
Result<std::unique_ptr<Provider>> make_provider(const ProviderSpec& spec, const ProviderDoors& doors);
/// The kinds that there are.
const std::vector<std::string>& provider_kinds();

/// The offer of a provider that always takes one more, as it queues what cannot run yet or chooses by itself. Its id is
/// the setting `key`, or `otherwise`.
Offer standing_offer(const ProviderSpec& spec, std::string_view key, std::string_view otherwise);

// One a file.
Result<std::unique_ptr<Provider>> make_command_provider(const ProviderSpec& spec);
Result<std::unique_ptr<Provider>> make_host_provider(const ProviderSpec& spec);  ///< "local" and "ssh"
Result<std::unique_ptr<Provider>> make_slurm_provider(const ProviderSpec& spec);
Result<std::unique_ptr<Provider>> make_vast_provider(const ProviderSpec& spec, const ProviderDoors& doors);
Result<std::unique_ptr<Provider>> make_runpod_provider(const ProviderSpec& spec, const ProviderDoors& doors);
Result<std::unique_ptr<Provider>> make_prime_provider(const ProviderSpec& spec, const ProviderDoors& doors);
Result<std::unique_ptr<Provider>> make_lambda_provider(const ProviderSpec& spec, const ProviderDoors& doors);
Result<std::unique_ptr<Provider>> make_kubernetes_provider(const ProviderSpec& spec, const ProviderDoors& doors);
Result<std::unique_ptr<Provider>> make_skypilot_provider(const ProviderSpec& spec, const ProviderDoors& doors);

}  // namespace mw::fleet
