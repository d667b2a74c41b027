#include "act/fleet/fleet_store.h"

#include <algorithm>

#include "act/vault/sealed.h"
#include "base/json.h"
#include "base/text.h"

namespace mw::fleet {
namespace {

using When = PutCondition::When;

constexpr std::string_view kRunSchema = "midwatch.fleet-run/1", kControlSchema = "midwatch.fleet-epoch/1",
                           kBeatSchema = "midwatch.heartbeat/1", kJournalSchema = "midwatch.fleet-journal/1";
constexpr size_t kText = 500;  // bytes of a text in words

std::string padded(int64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(15 - std::min<size_t>(15, digits.size()), '0') + digits;
}

bool is_lost(const Error& error) { return error.code == Error::Code::kIo || error.code == Error::Code::kInterrupted; }

std::string key_of(const std::string& prefix, std::string_view rest) {
  return prefix.empty() ? cat("fleet/", rest) : cat(prefix, "/fleet/", rest);
}

std::optional<JournalEntry> parse_entry(std::string_view text) {
  const auto json = vault::unseal(kJournalSchema, text);
  if (!json.ok()) return std::nullopt;
  const auto word = [&](std::string_view key) { return clip(json->string_or(key, ""), kText); };
  JournalEntry out;
  out.epoch = json->integer_or("epoch", 0);
  out.serial = json->integer_or("serial", 0);
  out.owner = word("owner");
  out.what = word("what");
  out.why = word("why");
  out.provider = word("provider");
  out.instance = word("instance");
  out.label = word("label");
  out.at = parse_time(word("at")).value_or(Time{});
  return out;
}

}  // namespace

std::string FleetStore::under(std::string_view rest) const { return key_of(prefix_, rest); }

Result<StoredSpec> FleetStore::spec() {
  // The tag is not newer than the content, so that a swap by it is never wrong.
  const auto info = store_.head(under("run.json"));
  const bool none = !info.ok() && info.error().code == Error::Code::kNotFound;
  if (!info.ok() && !none) return info.error();
  const auto text = get_small(store_, under("run.json"), kFleetBytes);
  if (!text.ok()) return text.error();  // S3 says why to a GET only: there may be no such bucket
  if (none) return Error{Error::Code::kIo, "run.json came into the store just now", "Try again."};
  const auto body = vault::unsealed(kRunSchema, *text);
  if (!body.ok()) return body.error();
  const auto json = vault::unseal(kRunSchema, *text);
  if (!json.ok()) return json.error();
  return StoredSpec{json->string_or("run", ""), json->string_or("id", ""), json->string_or("digest", ""),
                    std::string(*body), info->etag};
}

Result<void> FleetStore::put_spec(const FleetSpec& spec, std::string_view run_id, std::string_view digest,
                                  const std::string& over) {
  const std::string text = vault::sealed(kRunSchema, fleet_spec_json(spec, run_id, digest));
  const PutCondition condition = over.empty() ? PutCondition{When::kAbsent, ""} : PutCondition{When::kMatches, over};
  const auto put = store_.put(under("run.json"), text, condition);
  if (put.ok() && put->stored) return {};
  if (!put.ok() && !is_lost(put.error())) return put.error();
  // The answer may be lost of a request that was carried out, and of one that was sent again by itself.
  const auto there = get_small(store_, under("run.json"), kFleetBytes);
  if (there.ok() && *there == text) return {};
  if (!put.ok()) return put.error();
  return Error{Error::Code::kDenied, "somebody else put a specification there at the same moment",
               "Nothing was written over. midwatch fleet status shows theirs; init again puts yours there."};
}

Result<FleetStore::Held> FleetStore::control() {
  // A garbled answer is not a damaged object: it is read twice.
  auto held = find();
  return held.ok() || held.error().code != Error::Code::kInvalid ? held : find();
}

Result<FleetStore::Held> FleetStore::find() {
  Held out;
  const std::string key = under("epoch.json");
  const auto info = store_.head(key);
  if (!info.ok() && info.error().code == Error::Code::kNotFound) return out;
  if (!info.ok()) return info.error();
  // The tag is not newer than the content, so that a swap by it is never wrong.
  const auto text = get_small(store_, key, kFleetBytes);
  if (!text.ok()) return text.error();
  const auto body = vault::unsealed(kControlSchema, *text);
  if (!body.ok()) return Error{Error::Code::kInvalid, cat("epoch.json cannot be read: ", body.error().what), ""};
  auto control = parse_control(*body);
  if (!control.ok()) return control.error();
  out.etag = info->etag;
  out.control = std::move(*control);
  return out;
}

Result<FleetStore::Swap> FleetStore::swap(Held& from, Control to, const std::string& owner) {
  to.serial = from.control ? from.control->serial + 1 : 1;
  to.owner = owner;
  const std::string body = control_json(to);
  const PutCondition condition =
      from.control ? PutCondition{When::kMatches, from.etag} : PutCondition{When::kAbsent, ""};
  const auto put = store_.put(under("epoch.json"), vault::sealed(kControlSchema, body), condition);
  if (!put.ok() && !is_lost(put.error())) return put.error();
  if (put.ok() && put->stored) {
    from = {std::move(to), put->etag};
    return Swap::kWon;
  }
  // The condition did not hold, or the answer was lost: what lies there says whether this very change was made.
  auto now = control();
  if (!now.ok()) return now.error();
  const bool ours = now->control && control_json(*now->control) == body;
  if (!ours && !put.ok() && now->control && from.control && now->control->serial == from.control->serial) {
    return put.error();  // nothing changed yet, and the request may still be under way
  }
  if (!ours) return Swap::kLost;
  from = std::move(*now);
  return Swap::kWon;
}

Result<FleetStore::Beat> FleetStore::heartbeat(std::string_view nonce) {
  Beat out;
  const std::string key = under(cat("machines/", nonce, ".json"));
  for (int tries = 0; tries < 2; ++tries) {
    const auto info = store_.head(key);
    if (!info.ok() && info.error().code == Error::Code::kNotFound) return out;
    if (!info.ok()) return info.error();
    const auto text = get_small(store_, key, kFleetBytes);
    if (!text.ok()) return text.error();
    const auto body = vault::unsealed(kBeatSchema, *text);
    auto beat = body.ok() ? parse_heartbeat(*body) : Result<Heartbeat>(body.error());
    if (beat.ok() && beat->machine == nonce) {
      // Of two that follow each other it is the earlier time: a heartbeat never looks younger than it is.
      out.changed = info->changed;
      out.beat = std::move(*beat);
      out.trouble.clear();
      return out;
    }
    out.trouble = beat.ok() ? "it is of another machine" : beat.error().what;
  }
  return out;
}

Result<void> FleetStore::record(const JournalEntry& entry) {
  std::string body;
  {
    JsonWriter json(body);
    json.begin_object().key("epoch").integer(entry.epoch).key("serial").integer(entry.serial);
    json.key("owner").string(entry.owner).key("what").string(entry.what).key("why").string(entry.why);
    json.key("provider").string(entry.provider).key("instance").string(entry.instance);
    json.key("label").string(entry.label).key("at").string(format_utc(entry.at)).end_object();
  }
  const std::string key = under(
      cat("journal/", padded(entry.epoch), "-", padded(entry.serial), "-", entry.what, "-", entry.owner, ".json"));
  const auto put = store_.put(key, vault::sealed(kJournalSchema, body), {When::kAlways});
  if (!put.ok()) return put.error();
  return {};
}

Result<std::vector<JournalEntry>> FleetStore::journal(size_t limit) {
  const auto listed = list_all(store_, under("journal/"));
  if (!listed.ok()) return listed.error();
  std::vector<JournalEntry> out;
  const size_t from = listed->size() - std::min(limit, listed->size());
  for (size_t i = from; i < listed->size(); ++i) {
    const auto text = get_small(store_, (*listed)[i].key, kFleetBytes);
    if (!text.ok() && text.error().code == Error::Code::kNotFound) continue;
    if (!text.ok()) return text.error();
    if (auto entry = parse_entry(*text)) out.push_back(std::move(*entry));
  }
  return out;
}

Result<Time> FleetStore::now(const std::string& owner) {
  const std::string key = under(cat("clock/", owner));
  const auto put = store_.put(key, owner, {When::kAlways});
  if (!put.ok()) return put.error();
  const auto info = store_.head(key);
  if (!info.ok()) return info.error();
  (void)store_.remove(key).ok();
  if (!info->changed.known())
    return Error{Error::Code::kUnsupported, "this store does not say when it got an object", ""};
  return info->changed;
}

Result<bool> FleetStore::keeps_conditions(const std::string& owner) {
  const std::string key = under(cat("clock/", owner, "-try"));
  const auto refused = [](const Error& error) {
    return error.code == Error::Code::kUnsupported || error.code == Error::Code::kInvalid;
  };
  bool keeps = true;
  std::string etag = "00000000000000000000000000000000";
  const auto attempt = [&](PutCondition condition, bool wanted) -> Result<void> {
    const auto put = store_.put(key, wanted ? "yes" : "no", condition);
    if (!put.ok() && !refused(put.error())) return put.error();
    keeps = keeps && put.ok() && put->stored == wanted;
    if (put.ok() && wanted) etag = put->etag;
    return {};
  };
  MW_TRY(store_.remove(key));
  MW_TRY(attempt({When::kMatches, etag}, false));
  MW_TRY(attempt({When::kAbsent, ""}, true));
  MW_TRY(attempt({When::kAbsent, ""}, false));
  MW_TRY(attempt({When::kMatches, "00000000000000000000000000000000"}, false));
  MW_TRY(attempt({When::kMatches, etag}, true));
  MW_TRY(store_.remove(key));
  return keeps;
}

Result<void> put_heartbeat(ObjectStore& store, const std::string& prefix, const Heartbeat& beat) {
  const std::string key = key_of(prefix, cat("machines/", beat.machine, ".json"));
  const auto put = store.put(key, vault::sealed(kBeatSchema, heartbeat_json(beat)), {When::kAlways});
  if (!put.ok()) return put.error();
  return {};
}

}  // namespace mw::fleet
