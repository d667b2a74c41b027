#include "read/files/text_log.h"

#include <algorithm>

#include "base/secrets.h"
#include "base/text.h"
#include "read/lines/wrapped_line.h"

namespace mw {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kLastTextBytes = 400;
constexpr size_t kLastLineBytes = 4096;  // at the end of a block: its last line that is not blank is sought in them

}  // namespace

void TextLog::expect(std::string_view head) {
  if (auto wrap = find_terminal_wrap(head)) terminal_.emplace(std::move(*wrap));
}

void TextLog::resume(uint64_t bytes, uint64_t lines) {
  consumed_ = bytes;
  lines_ = lines;
}

size_t TextLog::hit(std::string_view line, size_t offset, size_t line_index, std::span<const uint32_t> ids) {
  if (line.size() > kLineLimit) {
    too_long();
    line = line.substr(0, kLineLimit);
  }
  const uint64_t number = joined_ ? terminal_->numbers()[line_index] : lines_ + line_index + 1;
  interpreter_.behind(context_, {line.data() - offset, offset}, block_keys_);
  const size_t want = interpreter_.line(line, number, ids);
  want_until_ = std::max(want_until_, (joined_ ? last_joined_ : number) + want);
  return want;
}

void TextLog::too_long() {
  if (reported_long_) return;
  reported_long_ = true;
  event::SourceProblem problem;
  problem.problem = "line-too-long";
  problem.detail = "a line is longer than 1 MiB; its rest is not looked at";
  sink_.put({{}, {source_, lines_ + 1}, std::move(problem)});
}

/// The text of lines that a container's log driver or a collector wrapped, line by line; nullopt when there is none.
std::optional<std::string> TextLog::unwrapped(std::string_view bytes) {
  if (!wrapped_ && !may_be_wrapped(bytes)) return std::nullopt;
  std::string out;
  bool any = false;
  for (std::string_view rest = bytes; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    const std::string_view line = rest.substr(0, end);
    const bool wraps = may_be_wrapped(line) && unwrap_line(trim(line), out);
    if (!wraps && !any && !wrapped_) return std::nullopt;
    if (!wraps) out.append(line);
    any = any || wraps;
    rest.remove_prefix(end);
  }
  wrapped_ = wrapped_ || any;
  return out;
}

// Whole lines (the last may lack its end).
void TextLog::block(std::string_view bytes) {
  if (bytes.empty()) return;
  consumed_ += bytes.size();
  if (terminal_ && bytes.ends_with('\n')) {
    const uint64_t count = count_lines(bytes);
    scan_joined(terminal_->join(bytes, lines_ + 1), lines_ + count);
    lines_ += count;
    return;
  }
  if (terminal_) scan_joined(terminal_->rest(), lines_);
  const auto inner = unwrapped(bytes);
  if (inner) bytes = *inner;
  scan(bytes);
  lines_ += count_lines(bytes);
}

/// Lines that were put together, of a block whose last line is `last`.
void TextLog::scan_joined(const std::string& whole, uint64_t last) {
  if (whole.empty()) return;
  joined_ = true;
  last_joined_ = last;
  scan(whole);
  joined_ = false;
}

void TextLog::scan(std::string_view bytes) {
  remember(bytes);
  block_keys_ = keys_ || may_hold_key(bytes);
  const uint64_t wanted = want_until_ > lines_ ? want_until_ - lines_ : interpreter_.wants_all_lines() ? 1 : 0;
  patterns_.scan(bytes, *this, wanted);
  keep_context(bytes);
}

/// Of what was read, for the lines that come: a key or a long value may go over several.
void TextLog::keep_context(std::string_view bytes) {
  constexpr size_t kBytes = CleanLine::kContextBytes;
  if (bytes.size() < kBytes) {
    context_.append(bytes);
    if (context_.size() > 4 * kBytes) context_.erase(0, context_.size() - kBytes);
  } else {
    context_.assign(bytes.substr(bytes.size() - kBytes));
  }
  keys_ = block_keys_ && may_hold_key(context_);
}

void TextLog::remember(std::string_view bytes) {
  std::string_view tail = bytes.substr(bytes.size() - std::min(bytes.size(), kLastLineBytes));
  while (!tail.empty()) {
    tail = trim(tail);
    const size_t cut = tail.find_last_of("\r\n");
    const std::string_view line = trim(cut == kNone ? tail : tail.substr(cut + 1));
    if (!line.empty()) {
      last_.assign(line.substr(0, kLastTextBytes + kRedactMargin));
      return;
    }
    if (cut == kNone) return;
    tail = tail.substr(0, cut);
  }
}

std::string TextLog::last_text() const {
  std::string clean;
  return clip(redact_secrets(sanitize_utf8(strip_ansi(last_, clean))), kLastTextBytes);
}

void TextLog::hold(std::string_view rest) {
  carry_.append(rest);
  if (carry_.size() > kPieceBytes) flush_pieces();
  if (carry_.size() <= kLineLimit) return;
  too_long();
  const uint64_t line = lines_;
  std::string whole;
  whole.swap(carry_);
  block(whole);
  lines_ = line;
  skipping_ = true;
}

void TextLog::flush_pieces() {
  const size_t cut = carry_.rfind('\r');
  if (cut == kNone || cut + 1 == carry_.size()) return;  // a '\r' at the very end may be half of a line end
  std::string pieces = carry_.substr(0, cut + 1);
  carry_.erase(0, cut + 1);
  const uint64_t line = lines_;
  block(pieces);
  lines_ = line;
}

void TextLog::feed(std::string_view bytes) {
  if (bytes.empty()) return;
  if (skipping_) {
    const size_t end = bytes.find('\n');
    consumed_ += std::min(end, bytes.size() - 1) + 1;
    if (end == kNone) return;
    skipping_ = false;
    ++lines_;
    bytes.remove_prefix(end + 1);
  }
  if (bytes.empty()) return;
  if (!carry_.empty()) {
    const size_t end = bytes.find('\n');
    if (end == kNone) return hold(bytes);
    carry_.append(bytes.substr(0, end + 1));
    bytes.remove_prefix(end + 1);
    std::string line;
    line.swap(carry_);
    block(line);
  }
  const size_t end = bytes.rfind('\n');
  if (end == kNone) return hold(bytes);
  block(bytes.substr(0, end + 1));
  if (end + 1 < bytes.size()) hold(bytes.substr(end + 1));
}

void TextLog::end_trace() {
  interpreter_.behind(context_, {}, keys_);  // the block that it was in is gone
  interpreter_.line("{}", lines_, {});
}

void TextLog::finish() {
  torn_ = !carry_.empty() || skipping_;
  if (!carry_.empty()) {
    std::string line;
    line.swap(carry_);
    block(line);
    ++lines_;
  }
  if (terminal_) scan_joined(terminal_->rest(), lines_);
  interpreter_.finish();
}

}  // namespace mw
