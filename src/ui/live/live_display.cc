#include "ui/live/live_display.h"

#include <utility>

#include "base/text.h"
#include "ui/live/live_lines.h"

namespace mw {
namespace {

constexpr size_t kPendingLimit = 1U << 20;  // bytes; more output waits for the terminal, more sentences are dropped
constexpr int kPatience = 20;               // ms that output may wait for the terminal in one turn of the watch

}  // namespace

std::unique_ptr<LiveDisplay> LiveDisplay::make(const Console& console, std::string watched) {
  if (console.live == nullptr) return nullptr;
  return std::unique_ptr<LiveDisplay>(new LiveDisplay(console, std::move(watched)));
}

LiveDisplay::LiveDisplay(const Console& console, std::string watched)
    : console_(console), terminal_(*console.live), watched_(std::move(watched)) {
  console.flush();
  std::fflush(stderr);
  terminal_.on_suspend("");
}

LiveDisplay::~LiveDisplay() { close(); }

/// Somebody suspended midwatch, by which the status lines were taken away.
void LiveDisplay::note_suspension() {
  if (terminal_.resumed()) screen_.was_erased();
}

/// False when something is left that the terminal does not take.
bool LiveDisplay::flush(int patience_ms) {
  size_t at = 0;
  bool waited = false;
  while (at < pending_.size() && !gone_) {
    const auto wrote = terminal_.write(std::string_view(pending_).substr(at));
    gone_ = !wrote;
    if (wrote) at += *wrote;
    if (!wrote || *wrote > 0) {
      waited = false;
      continue;
    }
    if (patience_ms == 0 || waited) break;
    terminal_.wait(patience_ms);
    waited = patience_ms > 0;  // below 0: until it takes something
  }
  if (gone_) at = pending_.size();
  pending_.erase(0, at);
  return pending_.empty();
}

void LiveDisplay::put(const std::string& bytes) {
  pending_ += bytes;
  terminal_.on_suspend(screen_.erasure());
  flush(0);
}

void LiveDisplay::output(std::string_view bytes) {
  note_suspension();
  if (closed_) return console_.out(bytes);
  if (pending_.size() > kPendingLimit) flush(-1);
  put(screen_.output(bytes, terminal_.size()));
}

bool LiveDisplay::takes_output() { return flush(kPatience); }

void LiveDisplay::say(std::string_view lines) {
  if (closed_) return console_.err(lines);
  note_suspension();
  if (pending_.size() <= kPendingLimit) put(screen_.say(lines, terminal_.size()));
}

void LiveDisplay::show(const State& state, const LiveFacts& facts) {
  if (closed_ || !flush(0)) return;
  note_suspension();
  const ScreenSize size = terminal_.size();
  if (!terminal_.foreground()) return put(screen_.show({}, size));
  const size_t cells = size.columns > 1 ? size.columns - 1 : 1;  // a full row would make some terminals go to the next
  put(screen_.show(live_lines(state, facts, watched_, cells, console_), size));
}

void LiveDisplay::close() {
  if (std::exchange(closed_, true)) return;
  note_suspension();
  put(screen_.close());
  flush(-1);
  terminal_.end();
}

}  // namespace mw
