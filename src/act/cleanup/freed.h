// What a person asked to be freed, and what came of it: between the verb and the midwatch that watches the run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "act/cleanup/free_plan.h"
#include "base/result.h"
#include "base/time.h"
#include "core/event_writer.h"
#include "core/state.h"
#include "platform/disk.h"

namespace mw {

inline constexpr std::string_view kFreedFile = "freed.json";  ///< in a run's folder: of the last request
inline constexpr std::string_view kFreeDeed = "free-space";   ///< in the journal

struct Freed {
  struct Item {
    std::string path;
    int64_t bytes = 0;  ///< of disk that it took
    bool ok = false;
    std::string text;  ///< what came of it
  };
  Time asked;  ///< which request (RunAsk::at)
  std::vector<Item> items;
};

std::string freed_text(const Freed& freed);
/// kInvalid with what is wrong.
Result<Freed> parse_freed(std::string_view text);

std::string path_of(const FreeItem& item);
/// Writes down that it goes. After an error it must not.
Result<uint32_t> intend_to_free(EventWriter& writer, const FreeItem& item, uint32_t incident);
/// Writes down what came of it.
Freed::Item note_freed(EventWriter& writer, uint32_t deed, const FreeItem& item, const Result<Removed>& removed);

/// Whether a deletion that nobody saw the end of was done: what is gone is gone, and the rest is planned anew. Deleting
/// it again does no harm, as only what is still the very thing goes.
void settle_freeing(Disk& disk, const State& state, EventWriter& writer);

/// What RunAsk::text says in a request of kFree: words on its first line, with commas between (none: those of the
/// settings), a path on each of the others; nothing else goes.
struct FreeAsk {
  std::vector<std::string> words, paths;
};
std::string free_ask_text(const FreeAsk& ask);
FreeAsk parse_free_ask(std::string_view text);
/// Those of the plan that are asked for.
std::vector<FreeItem> asked_of(std::vector<FreeItem> plan, const std::vector<std::string>& paths);

}  // namespace mw
