#include "core/event.h"

#include <utility>

namespace mw {

EventBody::EventBody() = default;
EventBody::EventBody(const EventBody& other) = default;
EventBody::EventBody(EventBody&& other) noexcept = default;
EventBody& EventBody::operator=(const EventBody& other) = default;
EventBody& EventBody::operator=(EventBody&& other) noexcept = default;
EventBody::~EventBody() = default;
template <typename One>
requires kIsOneOf<One, AnyBody> EventBody::EventBody(One one) : AnyBody(std::move(one)) {}
template EventBody::EventBody(event::SourceOpened);
template EventBody::EventBody(event::SourceProblem);
template EventBody::EventBody(event::SourceEnded);
template EventBody::EventBody(event::Recognised);
template EventBody::EventBody(event::SourceHead);
template EventBody::EventBody(event::ReadAs);
template EventBody::EventBody(event::ClockLacks);
template EventBody::EventBody(event::Configured);
template EventBody::EventBody(event::AttemptBegan);
template EventBody::EventBody(event::Resumed);
template EventBody::EventBody(event::Planned);
template EventBody::EventBody(event::StepBegan);
template EventBody::EventBody(event::PhaseBegan);
template EventBody::EventBody(event::PhaseEnded);
template EventBody::EventBody(event::Progressed);
template EventBody::EventBody(event::Counted);
template EventBody::EventBody(event::Measured);
template EventBody::EventBody(event::CheckpointSaved);
template EventBody::EventBody(event::CheckpointSeen);
template EventBody::EventBody(event::CheckpointRead);
template EventBody::EventBody(event::PointerSeen);
template EventBody::EventBody(event::SavesAs);
template EventBody::EventBody(event::WeightsSynced);
template EventBody::EventBody(event::Ended);
template EventBody::EventBody(event::Matched);
template EventBody::EventBody(event::TraceSeen);
template EventBody::EventBody(event::Logged);
template EventBody::EventBody(event::FormatJudged);
template EventBody::EventBody(event::ToolCalled);
template EventBody::EventBody(event::ComponentSaw);
template EventBody::EventBody(event::Ticked);
template EventBody::EventBody(event::Closed);
template EventBody::EventBody(event::IncidentOpened);
template EventBody::EventBody(event::IncidentChanged);
template EventBody::EventBody(event::IncidentClosed);
template EventBody::EventBody(event::VerdictGiven);
template EventBody::EventBody(event::Note);
template EventBody::EventBody(event::Changed);
template EventBody::EventBody(event::Intended);
template EventBody::EventBody(event::Acted);
template EventBody::EventBody(event::WatchBegan);
template EventBody::EventBody(event::AttemptStarted);
template EventBody::EventBody(event::AttemptExited);
template EventBody::EventBody(event::Requested);
template EventBody::EventBody(event::Asked);
template EventBody::EventBody(event::Answered);
template EventBody::EventBody(event::Decided);
template EventBody::EventBody(event::Tripped);
template EventBody::EventBody(event::MembersSeen);

Event::Event() = default;
Event::Event(Time when, Where place, Body what, Time heard)
    : at(when), where(place), body(std::move(what)), received(heard) {}
Event::Event(const Event& other) = default;
Event::Event(Event&& other) noexcept = default;
Event& Event::operator=(const Event& other) = default;
Event& Event::operator=(Event&& other) noexcept = default;
Event::~Event() = default;

}  // namespace mw
