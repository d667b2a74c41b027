#include "core/supervise/action_kind.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <string_view>

#include "core/fold_actions.h"

namespace mw {
namespace {

TEST_CASE("each action has one row; what is given up says so") {
  std::set<std::string_view> words;
  for (const ActionKind& kind : action_kinds()) {
    CHECK(words.insert(kind.word).second);
    CHECK(action_kind(kind.word) == &kind);
    CHECK((kind.in_doubt == InDoubt::kGiveUp) == !kind.outcome.empty());
  }
  CHECK(action_kind("dance") == nullptr);
}

TEST_CASE("an intent without an outcome is in doubt for the one who carries it out, and for nobody else") {
  for (const ActionKind& kind : action_kinds()) {
    State state;
    fold(state, {{}, {}, event::Intended{1, std::string(kind.word), "x", 0, ""}});
    for (const Executor who : {Executor::kSupervisor, Executor::kComponent, Executor::kCleanup, Executor::kNotifier,
                               Executor::kEvidence, Executor::kPerson}) {
      CHECK(in_doubt(state, who).size() == (who == kind.executor ? 1 : 0));
    }
    fold(state, {{}, {}, event::Acted{1, true, "", 0}});
    CHECK(in_doubt(state, kind.executor).empty());
  }
  State state;
  fold(state, {{}, {}, event::Intended{1, "dance", "x", 0, ""}});
  CHECK(in_doubt(state, Executor::kSupervisor).size() == 1);  // of a later version: settled, too
}

}  // namespace
}  // namespace mw
