#include "core/fleet/fleet_spec.h"

#include <algorithm>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "base/toml.h"
#include "base/units.h"

namespace mw::fleet {
namespace {

constexpr size_t kNameBytes = 40;
constexpr size_t kMostProviders = 16;

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > kNameBytes || text.front() == '-' || text.back() == '-') return false;
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

bool is_variable(std::string_view text) {
  if (text.empty() || (text.front() >= '0' && text.front() <= '9')) return false;
  return text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
         std::string_view::npos;
}

/// Takes members of one table, and keeps the first thing that is wrong.
class Taker {
 public:
  Taker(const Toml& table, std::string_view path) : table_(table), path_(path) {}

  void text(std::string_view key, std::string& into) {
    const Toml* const value = table_.find(key);
    if (value == nullptr) return;
    if (!value->is_string()) return fail(*value, cat(key, " takes a text"));
    into = value->text();
  }
  void texts(std::string_view key, std::vector<std::string>& into) {
    const Toml* const value = table_.find(key);
    if (value == nullptr) return;
    auto all = value->texts(path_);
    if (!all.ok()) return fail(*value, cat(key, " takes a list of texts"));
    into = std::move(*all);
  }
  void number(std::string_view key, double& into, double least, double most) {
    const Toml* const value = table_.find(key);
    if (value == nullptr) return;
    const bool is = value->kind() == Toml::Kind::kInteger || value->kind() == Toml::Kind::kFloat;
    if (!is || !(value->number() >= least && value->number() <= most)) {
      return fail(*value, cat(key, " takes a number from ", least, " to ", most));
    }
    into = value->number();
  }
  void count(std::string_view key, int64_t& into, int64_t least, int64_t most) {
    const Toml* const value = table_.find(key);
    if (value == nullptr) return;
    if (value->kind() != Toml::Kind::kInteger || value->integer() < least || value->integer() > most) {
      return fail(*value, cat(key, " takes a whole number from ", least, " to ", most));
    }
    into = value->integer();
  }
  void size(std::string_view key, int64_t& into) {
    const Toml* const value = table_.find(key);
    if (value == nullptr) return;
    const auto bytes = parse_size(value->text());
    if (!bytes.ok()) return fail(*value, cat(key, ": ", bytes.error().what));
    into = *bytes;
  }
  void duration(std::string_view key, Duration& into, Duration least) {
    const Toml* const value = table_.find(key);
    if (value == nullptr) return;
    const auto time = parse_duration(value->text());
    if (!time.ok()) return fail(*value, cat(key, ": ", time.error().what));
    if (*time < least) return fail(*value, cat(key, " is at least ", duration_text(least)));
    into = *time;
  }
  void fail(const Toml& at, std::string_view what) {
    if (problem_.ok()) problem_ = at.error(path_, what);
  }
  void fail(std::string_view what) { fail(table_, what); }
  Result<void> known(const std::vector<std::string_view>& keys) {
    MW_TRY(problem_);
    return table_.check_keys(path_, keys);
  }

 private:
  const Toml& table_;
  std::string_view path_;
  Result<void> problem_;
};

Result<void> take_wants(const Toml& table, std::string_view path, MachineWants& into) {
  Taker take(table, path);
  take.text("gpu", into.gpu);
  take.text("image", into.image);
  take.count("count", into.count, 0, 1024);
  take.size("gpu_memory", into.gpu_memory);
  take.size("disk", into.disk);
  take.number("reliability", into.reliability, 0, 1);
  take.texts("regions", into.regions);
  return take.known({"gpu", "image", "count", "gpu_memory", "disk", "reliability", "regions"});
}

Result<void> take_limits(const Toml& table, std::string_view path, FleetLimits& into) {
  Taker take(table, path);
  for (const std::string_view key : {"price_per_hour", "spend"}) {
    if (table.find(key) == nullptr) take.fail(cat("[limits] needs ", key));
  }
  take.number("price_per_hour", into.price_per_hour, 0, 1e5);
  take.number("spend", into.spend, 0, 1e8);
  take.count("rents_per_hour", into.rents_per_hour, 1, kMostRents);
  take.count("rents", into.rents, 1, kMostRents);
  take.duration("reserve", into.reserve, {});
  take.duration("ahead", into.ahead, {});
  return take.known({"price_per_hour", "spend", "rents_per_hour", "rents", "reserve", "ahead"});
}

Result<void> take_patience(const Toml& table, std::string_view path, Patience& into) {
  Taker take(table, path);
  take.duration("silence", into.silence, Duration::seconds(1));
  take.duration("start", into.start, Duration::seconds(1));
  take.duration("settle", into.settle, Duration::seconds(1));
  take.duration("keep_failed", into.keep_failed, {});
  return take.known({"silence", "start", "settle", "keep_failed"});
}

Result<void> take_wandb(const Toml& table, std::string_view path, WandbSpec& into) {
  Taker take(table, path);
  take.text("entity", into.entity);
  take.text("project", into.project);
  take.text("run", into.run);
  take.text("endpoint", into.endpoint);
  if (into.entity.empty() || into.project.empty()) take.fail("[wandb] needs entity and project");
  const bool here = into.endpoint.starts_with("http://127.0.0.1:") || into.endpoint.starts_with("http://localhost:");
  if (!into.endpoint.starts_with("https://") && !here) take.fail("the endpoint would carry the key for all to read");
  return take.known({"entity", "project", "run", "endpoint"});
}

Result<ProviderSpec> take_provider(const Toml& table, std::string_view path) {
  ProviderSpec out;
  Taker take(table, path);
  take.text("kind", out.kind);
  take.number("price", out.price, 0, 1e5);
  take.texts("command", out.words);
  take.texts("hosts", out.words);
  out.name = out.kind;
  take.text("name", out.name);
  std::vector<std::string_view> keys = {"kind", "name", "price", "command", "hosts"};
  // Which of them a kind takes, its maker says (act/fleet/providers/kinds.cc).
  for (const std::string_view key :
       {"folder", "partition", "account", "qos", "time", "gres", "config", "endpoint", "key_file", "gpu", "market",
        "cloud", "template", "ssh_key", "context", "namespace", "gpu_resource", "grace", "infra"}) {
    keys.push_back(key);
    std::string value;
    take.text(key, value);
    if (!value.empty()) out.values.emplace(key, value);
  }
  double margin = -1;
  keys.push_back("bid_margin");
  take.number("bid_margin", margin, 0, 10);
  if (margin >= 0) out.values.emplace("bid_margin", format_short(margin));
  if (out.kind.empty()) take.fail("a provider needs a kind");
  if (!is_name(out.name)) take.fail("a provider's name has a-z, 0-9 and '-', at most 40 of them");
  MW_TRY(take.known(keys));
  return out;
}

Result<void> take_tables(const Toml& root, std::string_view path, FleetSpec& spec) {
  const Toml* const limits = root.find("limits");
  if (limits == nullptr) return root.error(path, "[limits] is missing: what may it cost?");
  MW_TRY(take_limits(*limits, path, spec.limits));
  if (const Toml* const wants = root.find("machine")) MW_TRY(take_wants(*wants, path, spec.wants));
  if (const Toml* const patience = root.find("patience")) MW_TRY(take_patience(*patience, path, spec.patience));
  if (const Toml* const wandb = root.find("wandb")) MW_TRY(take_wandb(*wandb, path, spec.wandb));
  const Toml* const providers = root.find("provider");
  if (providers == nullptr || providers->items().empty() || providers->items().size() > kMostProviders) {
    return root.error(path, cat("it takes from 1 to ", kMostProviders, " [[provider]]"));
  }
  std::set<std::string> names;
  for (const Toml& one : providers->items()) {
    auto provider = take_provider(one, path);
    if (!provider.ok()) return provider.error();
    if (!names.insert(provider->name).second) return one.error(path, "two providers have one name");
    spec.providers.push_back(std::move(*provider));
  }
  return {};
}

/// 0: there is none. A list of variables looks like a name that is followed by its value: the names are taken out
/// before.
int64_t line_of_secret(std::string_view text, const std::vector<std::string>& variables) {
  std::string rest(text);
  for (const std::string& name : variables) {
    if (!is_variable(name) || redact_secrets(name) != name) continue;
    for (const char quote : {'"', '\''}) {
      const std::string word = cat(std::string(1, quote), name, std::string(1, quote));
      for (size_t at = rest.find(word); at != std::string::npos; at = rest.find(word, at))
        rest.replace(at, word.size(), 2, quote);
    }
  }
  const std::string shown = redact_secrets(rest);
  if (shown == rest) return 0;
  const auto differ = std::mismatch(rest.begin(), rest.end(), shown.begin(), shown.end());
  return 1 + std::count(rest.begin(), differ.first, '\n');
}

}  // namespace

Result<FleetSpec> parse_fleet_spec(std::string_view text, std::string_view path) {
  const auto root = Toml::parse(text, path);
  if (!root.ok()) return root.error();
  FleetSpec spec;
  Taker take(*root, path);
  take.text("name", spec.name);
  take.text("store", spec.store);
  take.text("endpoint", spec.endpoint);
  take.text("region", spec.region);
  take.text("profile", spec.profile);
  take.text("start", spec.start);
  take.texts("environment", spec.environment);
  if (!is_name(spec.name)) take.fail("name takes a-z, 0-9 and '-', at most 40 of them");
  if (spec.store.empty()) take.fail("store is missing: s3://BUCKET/RUN, or a folder");
  if (spec.start.empty()) take.fail("start is missing: what a new machine runs");
  for (const std::string& name : spec.environment) {
    if (!is_variable(name)) take.fail("environment takes names of variables, without values");
  }
  if (const int64_t line = line_of_secret(text, spec.environment); line > 0) {
    take.fail(cat("there is a secret in line ", line,
                  ": name its variable in `environment`, and set that for the controller"));
  }
  MW_TRY(take.known({"name", "store", "endpoint", "region", "profile", "start", "environment", "machine", "limits",
                     "patience", "wandb", "provider"}));
  MW_TRY(take_tables(*root, path, spec));
  return spec;
}

Result<FleetSpec> parse_fleet_spec_json(std::string_view text) {
  const auto json = Json::parse(text);
  if (!json.ok()) return json.error();
  FleetSpec spec;
  spec.name = json->string_or("run", "");
  if (!is_name(spec.name)) return Error{Error::Code::kInvalid, "run.json names no run", ""};
  const Json none;
  const auto table = [&](std::string_view key) -> const Json& {
    const Json* const found = json->find(key);
    return found == nullptr ? none : *found;
  };
  const auto time = [](const Json& from, std::string_view key, Duration& out) {
    const double seconds = from.number_or(key, -1);
    if (seconds >= 0 && seconds <= 1e9) out = Duration::seconds(seconds);
  };
  const Json& limits = table("limits");
  spec.limits.price_per_hour = limits.number_or("price_per_hour", 0);
  spec.limits.spend = limits.number_or("spend", 0);
  spec.limits.rents_per_hour = limits.integer_or("rents_per_hour", spec.limits.rents_per_hour);
  spec.limits.rents = limits.integer_or("rents", spec.limits.rents);
  time(limits, "ahead_s", spec.limits.ahead);
  const Json& patience = table("patience");
  time(patience, "silence_s", spec.patience.silence);
  time(patience, "start_s", spec.patience.start);
  time(patience, "settle_s", spec.patience.settle);
  time(patience, "keep_failed_s", spec.patience.keep_failed);
  return spec;
}

std::string fleet_spec_json(const FleetSpec& spec, std::string_view run_id, std::string_view digest) {
  std::string body;
  {
    JsonWriter json(body);
    json.begin_object().key("run").string(spec.name).key("id").string(run_id).key("digest").string(digest);
    json.key("start").string(spec.start).key("limits").begin_object();
    json.key("price_per_hour").number(spec.limits.price_per_hour).key("spend").number(spec.limits.spend);
    json.key("rents_per_hour").integer(spec.limits.rents_per_hour).key("rents").integer(spec.limits.rents);
    json.key("ahead_s").number(spec.limits.ahead.seconds());
    json.end_object().key("patience").begin_object();
    json.key("silence_s").number(spec.patience.silence.seconds()).key("start_s").number(spec.patience.start.seconds());
    json.key("settle_s").number(spec.patience.settle.seconds());
    json.key("keep_failed_s").number(spec.patience.keep_failed.seconds()).end_object();
    json.key("machine").begin_object().key("gpu").string(spec.wants.gpu).key("count").integer(spec.wants.count);
    json.end_object().key("providers").begin_array();
    for (const ProviderSpec& one : spec.providers) json.string(one.name);
    json.end_array().end_object();
  }
  return body;
}

}  // namespace mw::fleet
