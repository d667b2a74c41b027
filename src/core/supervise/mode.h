// How far midwatch goes by itself.
#pragma once

#include <string_view>

namespace mw {

enum class Mode {
  kWatch,  ///< it says what it would have done
  kAsk,    ///< it says what it would do, and waits until a person lets it
  kAct,
};

constexpr std::string_view mode_name(Mode mode) {
  return mode == Mode::kWatch ? "watch" : mode == Mode::kAsk ? "ask" : "act";
}
/// What is none of the names is taken for "act", which is what midwatch did before there were any.
constexpr Mode mode_of(std::string_view name) {
  return name == "watch" ? Mode::kWatch : name == "ask" ? Mode::kAsk : Mode::kAct;
}

}  // namespace mw
