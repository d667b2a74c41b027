// What a person asks of a run.
#pragma once

#include <string>

#include "base/time.h"

namespace mw {

/// What a person asks of a run that is being watched.
struct RunAsk {
  enum class What { kTell, kPause, kResume, kStop, kKill, kCleanup, kApprove };
  What what = What::kTell;
  std::string who;   ///< "mira@node7"; "" = whoever asks
  std::string text;  ///< of kTell; of kCleanup, see cleanup_result.h
  Time at;           ///< unknown: now
  std::string kind;  ///< of kTell, a kind of core/notes.h: "", "lesson", "tag", "untag"
};

}  // namespace mw
