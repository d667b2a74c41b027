#include "ui/view/incident_chains.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace mw {
namespace {

Incident made(uint32_t id, const std::string& kind, int64_t step, std::vector<uint32_t> followed_by,
              Severity severity = Severity::kWarning) {
  Incident incident;
  incident.id = id;
  incident.kind = kind;
  incident.severity = severity;
  incident.onset.step = step;
  incident.followed_by = std::move(followed_by);
  return incident;
}

std::vector<uint32_t> ids(const std::vector<const Incident*>& chain) {
  std::vector<uint32_t> out;
  out.reserve(chain.size());
  for (const Incident* incident : chain) out.push_back(incident->id);
  return out;
}

}  // namespace

TEST_CASE("what led to what is one failure") {
  State state;
  state.incidents = {made(1, "engine-dead", 20, {2, 4}), made(2, "zero-reward", 21, {3}),
                     made(3, "zero-advantage", 21, {}), made(4, "stall", 24, {}), made(5, "kl-runaway", 30, {})};
  const IncidentChains chains(state);
  CHECK(ids(chains.chain_of(state.incidents[2])) == std::vector<uint32_t>{1, 2, 3, 4});
  CHECK(ids(chains.chain_of(state.incidents[4])) == std::vector<uint32_t>{5});
  CHECK(chains.cause_of(state.incidents[0]) == nullptr);
  REQUIRE(chains.cause_of(state.incidents[2]) != nullptr);
  CHECK(chains.cause_of(state.incidents[2])->id == 2);
  CHECK(chain_words(chains, state.incidents[1]) == " It came of #1 engine-dead. It led to #3 zero-advantage.");
  CHECK(chain_words(chains, state.incidents[3]) == " It came of #1 engine-dead.");
  CHECK(chain_words(chains, state.incidents[0]) == " It led to #2 zero-reward, #3 zero-advantage and #4 stall.");
  CHECK(chain_words(chains, state.incidents[4]).empty());
}

TEST_CASE("of several causes the last one before counts, and information is none") {
  State state;
  state.incidents = {made(1, "network", 2, {4}, Severity::kInfo), made(2, "kl-runaway", 10, {4}),
                     made(3, "policy-mismatch", 12, {4}), made(4, "reward-collapse", 15, {})};
  const IncidentChains chains(state);
  CHECK(chains.cause_of(state.incidents[3])->id == 3);
  CHECK(ids(chains.chain_of(state.incidents[3])) == std::vector<uint32_t>{3, 4});
}

TEST_CASE("what failed around the trainer counts beside the last sign of learning, and leads") {
  State state;
  state.incidents = {made(1, "network", 40, {2, 4}), made(2, "zero-reward", 41, {4}),
                     made(3, "environment-fault", 42, {4}), made(4, "reward-collapse", 45, {5}),
                     made(5, "zero-advantage", 46, {})};
  const IncidentChains chains(state);
  CHECK(ids(chains.chain_of(state.incidents[4])) == std::vector<uint32_t>{1, 2, 3, 4, 5});
  CHECK(ids(chains.causes_of(state.incidents[3])) == std::vector<uint32_t>{1, 3});
  CHECK(ids(chains.effects_of(state.incidents[1])).empty());
  CHECK(ids(chains.effects_of(state.incidents[0])) == std::vector<uint32_t>{2, 4, 5});
  CHECK(chain_words(chains, state.incidents[2]) == " It led to #4 reward-collapse and #5 zero-advantage.");
}

}  // namespace mw
