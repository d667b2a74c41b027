// What goes beside the loop of a watch: ONE table of tasks, in the order of their turns. What is requested comes first,
// then what is seen of the machine, then what is done about it, then who is notified.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "act/cleanup/cleanup_task.h"
#include "act/notify/notifier.h"
#include "act/supervise/adopt.h"
#include "act/supervise/final_scan.h"
#include "act/supervise/supervised_components.h"
#include "act/supervise/supervisor.h"
#include "act/vault/ship_task.h"
#include "api/requests.h"
#include "app/config/config.h"
#include "app/notice_task.h"
#include "core/task.h"
#include "platform/doors.h"
#include "platform/process.h"
#include "read/books/knowledge_base.h"
#include "read/new_content.h"

namespace mw {

using WriteFile = std::function<Result<void>(const std::string& path, std::string_view text)>;

/// What tasks are made from. It outlives them.
struct TaskContext {
  const Doors& doors;
  Processes& processes;
  const KnowledgeBase& knowledge;
  const Config& config;
  std::string folder;  ///< where the run is recorded
  std::function<void(const std::string& sentence)> say;
  bool host = true;          ///< look at the machine under the run
  bool stacks = true;        ///< read stacks of processes of the run, for evidence
  double cost_per_hour = 0;  ///< of the run's machines; 0: not known
  Duration receiving = {};   ///< that onstart spent on the checkpoint that the run begins from
  Notifier* notifier = nullptr;
  ShowLive live = nullptr;  ///< for whoever looks at the run; unset: nobody does

  /// Of a run that midwatch supervises; else nullptr and empty.
  Supervisor* supervisor = nullptr;
  SupervisedComponents* components = nullptr;
  Task* supervision = nullptr;    ///< gives the supervisor its turns
  WriteFile write = nullptr;      ///< into the run's folder
  NewContent* content = nullptr;  ///< of the files that the run itself writes

  /// Of a run that somebody else started.
  Adoption* adoption = nullptr;           ///< nullptr: its process is not known
  int64_t pid = 0;                        ///< likewise 0
  std::vector<std::string> folders = {};  ///< where it writes

  CleanupTask* cleanup = nullptr;   ///< its row sets it
  ShipTask* shipping = nullptr;     ///< likewise, where the run has a store
  FinalScan* final_scan = nullptr;  ///< likewise
  NoticeTask* notices = nullptr;    ///< likewise, where somebody may give notice of the machine's end
};

enum class TaskPhase { kRequests, kSense, kEvidence, kAct, kNotify };

struct TaskRow {
  /// Where it belongs: beside every watch, only with a supervisor, only without.
  enum class Of { kAny, kSupervised, kAttached };
  /// One of the two, or neither where it is not wanted.
  struct Made {
    std::unique_ptr<Task> own;
    Task* other = nullptr;  ///< that somebody else owns
  };
  std::string_view name;
  TaskPhase phase;
  Of of;
  std::string_view does;
  Made (*make)(TaskContext& context);
};
std::span<const TaskRow> task_table();

/// The tasks of one watch, in the order of their turns.
struct Tasks {
  std::vector<std::unique_ptr<Task>> own;
  std::vector<Task*> all;
};
Tasks make_tasks(TaskContext& context);

}  // namespace mw
