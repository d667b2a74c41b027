#include "core/event.h"

#include <utility>

namespace mw {

Event::Event() = default;
Event::Event(Time when, Where place, Body what, Time heard)
    : at(when), where(place), body(std::move(what)), received(heard) {}
Event::Event(const Event& other) = default;
Event::Event(Event&& other) noexcept = default;
Event& Event::operator=(const Event& other) = default;
Event& Event::operator=(Event&& other) noexcept = default;
Event::~Event() = default;

}  // namespace mw
