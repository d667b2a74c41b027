#include "app/note_by_hand.h"

#include "act/supervise/inbox.h"
#include "app/journal_pages.h"
#include "base/text.h"
#include "core/state.h"
#include "platform/lock.h"

namespace mw {

Result<void> note_by_hand(Disk& disk, const std::string& run_folder, const RunAsk& ask) {
  const auto locks = make_posix_locks();
  const std::string home = folder_of(folder_of(run_folder));
  auto recorder = Recorder::open(disk, *locks, home, std::string(basename(run_folder)), {run_folder});
  if (!recorder.ok()) return recorder.error();
  State state;
  MW_TRY((*recorder)->replay_into(state));
  const auto clock = make_posix_clock();
  JournalPages pages(**recorder, *clock, state);
  take_notes(disk, run_folder, state, pages);  // that somebody left for a midwatch which did not take them
  if (!ask.kind.empty()) MW_TRY(pages.record(event::Requested{ask.kind, ask.who}, ask.at));
  return pages.note({ask.who, redact_secrets(clip(ask.text, kTextLimit))}, ask.at);
}

}  // namespace mw
