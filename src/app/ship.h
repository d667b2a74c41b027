// A person's `midwatch checkpoint push`, `pull` and `remote`: the doors that act/vault needs, by an address.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "act/vault/push.h"
#include "api/shipping.h"
#include "base/result.h"
#include "core/retention.h"
#include "platform/disk.h"
#include "read/books/knowledge_base.h"

namespace mw {

/// kInvalid: the checkpoint is broken, still being written, or its step is not known; or the address is none.
Result<PushAnswer> ship_checkpoint(Disk& disk, const KnowledgeBase& knowledge, const PushRequest& request);
Result<PullAnswer> fetch_checkpoint(Disk& disk, const PullRequest& request);
/// `folder` of the options with what belongs to the same step and lies beside it; where it is one of several roles, the
/// one that stands for them. kInvalid: a part is not there.
Result<void> add_parts(Disk& disk, vault::PushOptions& options);
/// What this process's environment says of the run that it belongs to: "wandb_run_id", "machine", …
std::vector<std::pair<std::string, std::string>> run_facts();
Result<RemoteAnswer> shipped_checkpoints(Disk& disk, const RemoteRequest& request);
/// Asks a store which steps it has with all their files. May be called from any thread.
std::function<Result<StoreSteps>()> steps_in_store(StoreAddress address);

}  // namespace mw
