// Writes the actions of a person's own command into the journal of a run that nobody watches.
#pragma once

#include <utility>

#include "core/event_writer.h"
#include "core/state.h"
#include "platform/clock.h"
#include "read/recorder.h"

namespace mw {

/// Over a journal that nobody else has open.
class JournalPages final : public EventWriter {
 public:
  JournalPages(Recorder& recorder, Clock& clock, State& state) : recorder_(recorder), clock_(clock), state_(state) {}
  Result<uint32_t> intend(event::Intended intent) override {
    intent.id = state_.last_action + 1;
    const uint32_t id = intent.id;
    put(clock_.now(), std::move(intent));
    MW_TRY(recorder_.sync());
    return id;
  }
  void acted(event::Acted outcome) override { put(clock_.now(), std::move(outcome)); }
  Result<void> note(event::Note words, Time at) override {
    put(at, std::move(words));
    return recorder_.sync();
  }
  using EventWriter::record;
  Result<void> record(SupervisionEvent event, Time at) override {
    std::visit([&](auto& body) { put(at.known() ? at : clock_.now(), std::move(body)); }, event);
    return recorder_.sync();
  }
  Result<void> sync() override { return recorder_.sync(); }

 private:
  template <typename Body>
  void put(Time at, Body body) {
    const Event event{at, {}, std::move(body), clock_.now()};
    recorder_.record(event);
    fold(state_, event);
  }
  Recorder& recorder_;
  Clock& clock_;
  State& state_;
};

}  // namespace mw
