// decode_event() takes any bytes; what it takes for an event is written and read back as the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "core/event_codec.h"
#include "core/state.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  mw::Event event;
  if (mw::decode_event(bytes, event) != mw::Decoded::kEvent) return 0;
  std::string first, second;
  mw::encode_event(event, first);
  mw::Event again;
  MW_CHECK(mw::decode_event(first, again) == mw::Decoded::kEvent);
  mw::encode_event(again, second);
  MW_CHECK(first == second);
  event.where.source %= 8;  // as the watch itself numbers them
  if (auto* opened = std::get_if<mw::event::SourceOpened>(&event.body)) opened->source %= 8;
  mw::State state;
  mw::fold(state, event);
  mw::fold(state, event);
  (void)state.steps();
  return 0;
}
