// Which checkpoint a person means who says what to push.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "api/shipping.h"
#include "base/result.h"
#include "core/event.h"
#include "platform/disk.h"
#include "read/books/knowledge_base.h"

namespace mw {

/// The step that a folder's name says: as a framework would write it, else the number at its end.
struct NamedStep {
  int64_t step = kNoStep;
  std::string layout, framework;
  std::vector<std::string> may_be;  ///< frameworks that name theirs so
};

struct PushTarget {
  std::string path;  ///< of a folder, or of a file
  NamedStep named;
  std::vector<std::string> beside;  ///< the checkpoints nearest to it, with which it was compared
  std::vector<std::string> notes;   ///< why it, and not a later one; what its trainer cannot do with it
};

/// kInvalid: it is not one checkpoint, no checkpoint at all, or a part of one. Likewise, unless `request.suspect`,
/// where it is suspect, and where it lacks what a resume needs and one before it has all.
Result<PushTarget> what_to_push(Disk& disk, const KnowledgeBase& knowledge, const PushRequest& request);

}  // namespace mw
