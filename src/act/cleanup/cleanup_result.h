// A person's request for a cleanup, and its result: passed between `midwatch cleanup` and the midwatch that watches the
// run.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "act/cleanup/cleanup_plan.h"
#include "base/result.h"
#include "base/time.h"
#include "core/event_writer.h"
#include "core/state.h"
#include "platform/disk.h"

namespace mw {

inline constexpr std::string_view kCleanupResultFile = "cleanup.json";  ///< in a run's folder: of the last request
inline constexpr std::string_view kCleanupAction = "cleanup";           ///< in the journal

struct CleanupResult {
  struct Item {
    std::string path;
    int64_t bytes = 0;  ///< of disk that it took
    bool ok = false;
    std::string text;  ///< the result, in words
  };
  Time asked;  ///< which request (RunAsk::at)
  std::vector<Item> items;
};

std::string cleanup_result_text(const CleanupResult& result);
/// kInvalid with what is wrong.
Result<CleanupResult> parse_cleanup_result(std::string_view text);

std::string path_of(const CleanupItem& item);
/// Records the intent to delete `item`. After an error it must not be deleted.
Result<uint32_t> intend_to_remove(EventWriter& writer, const CleanupItem& item, uint32_t incident);
/// Records the result of the deletion.
CleanupResult::Item record_removal(EventWriter& writer, uint32_t action, const CleanupItem& item,
                                   const Result<Removed>& removed);

/// Records for each deletion without a recorded result whether the file is gone. What is left is planned anew; deleting
/// it again does no harm, as only the very file that was checked is deleted.
void settle_removals(Disk& disk, const State& state, EventWriter& writer);

/// The paths of all that the run's midwatch meant to delete at some time.
std::set<std::string> removals_of(const State& state);

/// What RunAsk::text says in a request of kCleanup: words on its first line, with commas between (none: those of the
/// settings), a path on each of the others; nothing else is deleted. Rules for old checkpoints are words, too:
/// "keep-last=2", "keep-every=50", "keep-best=reward.mean".
struct CleanupAsk {
  std::vector<std::string> words, paths;
  std::optional<RetentionRules> retention = std::nullopt;  ///< in place of those of the settings
};
std::string cleanup_ask_text(const CleanupAsk& ask);
CleanupAsk parse_cleanup_ask(std::string_view text);
/// The items of the plan whose paths are requested.
std::vector<CleanupItem> asked_of(std::vector<CleanupItem> plan, const std::vector<std::string>& paths);

}  // namespace mw
