// How an attempt can have ended, as far as what follows differs.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace mw {

enum class EndClass : uint8_t {
  kUnknown,        ///< a failure of which nothing more is known
  kTransient,      ///< a failure of what surrounds the training: engine, network, Ray, GPU, host
  kDiesAtOnce,     ///< it ended within a minute of its start and never trained
  kBeforeStep,     ///< a failure that is known to repeat, before the first step
  kSameStep,       ///< the same failure twice at the same step, or right behind a resume
  kNeedsChange,    ///< a failure that needs something done first
  kPoisoned,       ///< it trained on poisoned data, or its numbers were no longer finite
  kHung,           ///< no step was done, and nothing else
  kBadResume,      ///< it began from nothing although an earlier attempt saved a checkpoint
  kRule,           ///< a rule of the user's own ended it
  kProvider,       ///< the provider took the machine
  kInterrupted,    ///< somebody else ended it: SIGINT, SIGTERM, timeout(1)
  kStopRequested,  ///< a person, or the end of the watch
  kComponent,      ///< midwatch, as a component that it starts itself did not come back
  kElsewhere,      ///< it was only a client, and the training may go on elsewhere
  kNotStarted,     ///< the command could not be started
  kFinished,       ///< exit status 0, or complete by its output
  kFellShort,      ///< exit status 0 far short of its plan
};

struct EndClassRow {
  EndClass end;
  std::string_view word;     ///< in the journal and in --json
  std::string_view meaning;  ///< for people, after "An attempt that "
  std::string_view change;   ///< what changes what is done then, in Markdown; "" when nothing does
};
/// One row for each class, in the order of docs/restart-policy.md.
std::span<const EndClassRow> end_classes();
std::string_view end_class_word(EndClass end);
/// kUnknown for a word that this version does not know.
EndClass end_class_of(std::string_view word);

}  // namespace mw
