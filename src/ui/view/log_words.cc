#include "ui/view/log_words.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kHead = 200;       // bytes within which a header or a progress bar ends
constexpr size_t kLineNumber = 12;  // bytes of a line's number in such a header

/// "[33m", what is left of a colour once its escape is gone.
std::string_view without_colour(std::string_view text) {
  while (text.starts_with('[')) {
    const size_t end = text.find_first_not_of("0123456789;", 1);
    if (end == std::string_view::npos || end == 1 || text[end] != 'm') break;
    text.remove_prefix(end + 1);
  }
  return text;
}

std::string_view without_bar(std::string_view text) {
  for (const std::string_view bar : {"it/s]", "s/it]", "?it/s]"}) {
    const size_t at = text.find(bar);
    if (at < kHead) text = trim(text.substr(at + bar.size()));
  }
  const bool begun = text.find("%|") < 12;  // a bar that is cut before its end says nothing more
  return begun ? std::string_view() : text;
}

std::string_view without_header(std::string_view text) {
  const size_t file = text.find(".cpp:");
  if (file >= kHead) return text;
  const size_t end = text.find("] ", file);
  return end != std::string_view::npos && end - file < kLineNumber ? trim(text.substr(end + 2)) : text;
}

/// Where the quote of "seen first: X" begins; npos of other reasons.
size_t quote_of(std::string_view reason) {
  if (!reason.starts_with("seen") && !reason.starts_with("raised: ")) return std::string_view::npos;
  const size_t colon = reason.find(": ");
  return colon == std::string_view::npos ? colon : colon + 2;
}

}  // namespace

std::string log_words(std::string_view text) {
  text = without_header(trim(without_colour(trim(text))));
  text = without_colour(without_bar(text));
  std::string words;
  for (const char c : text) {
    if (c == ' ' && words.ends_with(' ')) continue;
    words += c;
  }
  const bool any = std::any_of(words.begin(), words.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0;
  });
  return any ? words : "";
}

bool points_on(std::string_view words) {
  static constexpr std::array<std::string_view, 6> kFrames{"in ",    "File \"",          "raise ",
                                                           "raise(", "terminate called", "return "};
  return contains(words, "See stack trace") || contains(words, "See root cause") ||
         std::any_of(kFrames.begin(), kFrames.end(), [&](std::string_view frame) { return words.starts_with(frame); });
}

std::string quoted_words(std::string_view reason) {
  const size_t at = quote_of(reason);
  if (at == std::string_view::npos) return "";
  std::string words = log_words(reason.substr(at));
  return points_on(words) ? "" : words;
}

std::string reason_words(std::string_view reason) {
  const size_t at = quote_of(reason);
  if (at == std::string_view::npos) return std::string(reason);
  const std::string words = quoted_words(reason);
  return words.empty() ? "" : cat(reason.substr(0, at), words);
}

}  // namespace mw
