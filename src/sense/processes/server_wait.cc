#include "sense/processes/server_wait.h"

#include <algorithm>

#include "base/text.h"
#include "core/components.h"
#include "sense/processes/addresses.h"

namespace mw {
namespace {

using components::port_of;

constexpr size_t kAwaited = 8;  // servers, those that were declared first
constexpr Duration kHeardTimeout = Duration::seconds(2);

bool is_local(const std::string& address) {
  return contains(address, "//127.") || contains(address, "//localhost") || contains(address, "//[::1]");
}

/// It worked once: what never did is a wrong address, or not needed.
bool worked(const State& state, const std::string& name) {
  return std::any_of(state.components.begin(), state.components.end(), [&name](const ComponentState& part) {
    const bool well = part.last.health == event::ComponentSaw::Health::kWell;
    return part.last.component == name && (well || !part.troubles.empty());
  });
}

/// Near addresses of servers that did not answer, as the trainer's own lines of the last attempt name them.
std::vector<std::string> complained_of(const State& state, const Knowledge& knowledge) {
  std::vector<std::string> found;
  for (const SignatureState& seen : state.signatures) {
    const Signature* signature = knowledge.find(seen.id);
    if (seen.sample || signature == nullptr) continue;
    if (!speaks_of_servers(*signature)) continue;
    for (const SignatureState::Match& match : seen.matches) {
      if (match.moment.attempt + 1U != state.attempts.size() || state.by_host(match.moment.where)) continue;
      for (std::string& address : components::addresses_in(match.text)) found.push_back(std::move(address));
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace

void ServerWait::add(const components::Target& target, Duration longest) {
  if (awaited_.size() >= kAwaited) return;
  awaited_.push_back(std::make_unique<Awaited>());
  awaited_.back()->target = target;
  awaited_.back()->longest = longest;
}

void ServerWait::list(const State& state) {
  awaited_.clear();
  for (const components::Target& target : scope_.declared) {
    if (target.address.empty() || !worked(state, target.name)) continue;
    if (!is_local(target.address) || scope_.elsewhere(port_of(target.address))) add(target, target.ready_within);
  }
  for (const std::string& address : complained_of(state, scope_.knowledge)) {
    const int64_t port = port_of(address);
    const bool known = std::any_of(scope_.declared.begin(), scope_.declared.end(),
                                   [port](const auto& target) { return port_of(target.address) == port; });
    if (known || !scope_.elsewhere(port)) continue;
    components::Target target;
    target.name = cat("the server at ", address);
    target.kind = "other";
    target.address = cat("http://", address);
    target.timeout = kHeardTimeout;
    add(target, kHeard);
  }
}

void ServerWait::report(const std::string& sentence, EventWriter& writer) const {
  scope_.say(sentence);
  (void)writer.note({"midwatch", sentence}, clock_.now()).ok();
}

/// True when the next attempt need not wait for it.
bool ServerWait::poll(Awaited& one, EventWriter& writer) {
  if (one.there) return true;
  const Duration now = clock_.steady(), waited{now.ns - since_.ns};
  const auto answer = one.call.take();
  // Of one that nobody declared only its address is known, not what it should answer.
  const bool answers = answer && (one.target.declared ? components::works(*answer)
                                                      : answer->health.how == components::Reply::How::kAnswered);
  if (answers || waited >= one.longest) {
    one.there = true;
    if (one.reported) {
      report(cat(one.target.name, answers ? " answers again after " : " has not answered for ", format_duration(waited),
                 answers ? "" : ": the next attempt begins without it"),
             writer);
    }
    return true;
  }
  if (answer && !one.reported) {
    one.reported = true;
    report(cat("the next attempt waits for ", one.target.name, ", which does not answer, for at most ",
               format_duration(one.longest)),
           writer);
  }
  if (one.call.started() || now < one.due) return false;
  one.due = {now.ns + kAgain.ns};
  one.call.start([http = scope_.http, target = one.target] { return components::ask(*http, target); });
  return false;
}

bool ServerWait::may_begin(const State& state, EventWriter& writer) {
  if (state.attempts.empty()) return true;
  if (std::exchange(attempt_, state.attempts.size()) != state.attempts.size()) {
    since_ = clock_.steady();
    list(state);
  }
  bool all = true;
  for (const auto& one : awaited_) all = poll(*one, writer) && all;
  return all;
}

bool ServerWait::asking() const {
  return std::any_of(awaited_.begin(), awaited_.end(), [](const auto& one) { return one->call.busy(); });
}

}  // namespace mw
