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
};

/// kInvalid: it is not one checkpoint, no checkpoint at all, or a part of one.
Result<PushTarget> what_to_push(Disk& disk, const KnowledgeBase& knowledge, const PushRequest& request);

}  // namespace mw
