#include "core/fold_actions.h"

#include <algorithm>

#include "base/text.h"
#include "core/bounded.h"

namespace mw {
namespace {

uint16_t running_attempt(const State& state) {
  return static_cast<uint16_t>(state.attempts.empty() ? 0 : state.attempts.size() - 1);
}

}  // namespace

void fold_action(State& state, const Event& event, const event::Note& note) {
  make_room(state.notes, State::kNoteLimit);
  const int64_t step = state.attempts.empty() ? kNoStep : state.attempts.back().last_step;
  state.notes.emplace_back(Moment{step, event.at, event.where, running_attempt(state), false},
                           event::Note{clip(note.who, 200), clip(note.text, kTextLimit)});
}

void fold_action(State& state, const Event&, const event::Changed& changed) {
  make_room(state.changes, State::kChangeLimit);
  state.changes.push_back({changed.attempt, clip(changed.what, 64), clip(changed.name, 500),
                           clip(changed.before, kTextLimit), clip(changed.after, kTextLimit)});
}

void fold_action(State& state, const Event& event, const event::Intended& intended) {
  make_room(state.actions, State::kActionLimit);
  ActionState action;
  action.at = event.at;
  action.attempt = running_attempt(state);
  action.intent = {intended.id, clip(intended.action, 64), clip(intended.target, 500), intended.incident,
                   clip(intended.why, kTextLimit)};
  state.actions.push_back(std::move(action));
  state.last_action = std::max(state.last_action, intended.id);
}

void fold_action(State& state, const Event& event, const event::Acted& acted) {
  const auto known = std::find_if(state.actions.rbegin(), state.actions.rend(),
                                  [&acted](const ActionState& action) { return action.intent.id == acted.id; });
  if (known == state.actions.rend()) return;
  known->done = true;
  known->done_at = event.at;
  known->ok = acted.ok;
  known->begun = acted.begun;
  known->outcome = clip(acted.text, kTextLimit);
  known->seconds = acted.seconds;
  if (acted.ok && (known->intent.action == "pause" || known->intent.action == "resume")) {
    state.supervision.paused = known->intent.action == "pause";
  }
}

}  // namespace mw
