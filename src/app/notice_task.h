// Ends a run whose machine is about to be taken away, in time for what is saved to reach its store.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "act/supervise/supervisor.h"
#include "core/task.h"
#include "platform/doors.h"
#include "sense/notices/end_notice.h"

namespace mw {

class NoticeTask : public Task {
 public:
  /// What the machine is taken away for; "": nobody said so.
  virtual const std::string& taken_away() const = 0;
  /// How long the machine is still there, where notice was given; 0: it goes at once.
  virtual std::optional<Duration> leaves() const = 0;
};

/// `acts`: the command is asked to end (SIGTERM, then as at any stop) when less is left than it needs to end and to
/// ship; else the notice is only said. nullptr: nobody here gives notice.
std::unique_ptr<NoticeTask> notice_task(const Doors& doors, Supervisor& supervisor,
                                        std::vector<std::shared_ptr<NoticeSource>> sources, bool acts,
                                        std::function<void(const std::string& sentence)> say);

}  // namespace mw
