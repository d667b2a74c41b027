#include "read/interpret/start_banner.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/checksum.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kCompared = 64;  // bytes

/// Runs of digits count as one; 0: the line is empty.
uint64_t hash_of(std::string_view text) {
  if (text.empty()) return 0;
  uint64_t hash = fnv1a("");
  bool number = false;
  for (const char c : text.substr(0, kCompared)) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit) hash = fnv1a({&c, 1}, hash);
    if (digit && !number) hash = fnv1a("#", hash);
    number = digit;
  }
  return hash | 1;
}

/// "PyTorch: 2.6.0+cu124", "GPU 0: ...": a part of the environment, and a number.
bool names_environment(std::string_view text) {
  constexpr std::array<std::string_view, 9> kParts = {"python", "torch", "cuda",       "gpu", "transformers",
                                                      "rocm",   "npu",   "tensorflow", "peft"};
  const bool numbered = std::any_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return numbered && contains(text, ": ") && std::any_of(kParts.begin(), kParts.end(), [text](std::string_view part) {
           return contains_folded(text, part);
         });
}

/// What a logger put before its message: "INFO | __main__ | ", "train - INFO - ".
std::string_view message_of(std::string_view text) {
  for (const std::string_view edge : {std::string_view(" | "), std::string_view(" - ")}) {
    const size_t at = text.rfind(edge);
    if (at != std::string_view::npos) text.remove_prefix(at + edge.size());
  }
  return trim(text);
}

}  // namespace

bool announces_work(std::string_view text) {
  constexpr std::array<std::string_view, 11> kBegins = {"Loading ",     "Initializing ", "Initialising ", "Preparing ",
                                                        "Creating ",    "Building ",     "Setting up ",   "Starting ",
                                                        "Downloading ", "Wrapping ",     "Compiling "};
  text = trim(text);
  if (text.ends_with("...") || text.ends_with("\u2026")) return true;
  static_assert(std::all_of(kBegins.begin(), kBegins.end(),
                            [](std::string_view word) { return word.find("ing ") != std::string_view::npos; }));
  if (!contains(text, "ing ")) return false;  // which each of them has; few lines need be cut
  text = message_of(text);
  return std::any_of(kBegins.begin(), kBegins.end(), [text](std::string_view word) { return text.starts_with(word); });
}

bool StartBanner::collect(uint64_t hash, std::string_view text, Time at) {
  if (lines_.empty()) last_begin_ = at;
  lines_.push_back(hash);
  if (names_environment(text)) ++named_;
  if (lines_.size() == kLines) usable_ = named_ >= kNamed && last_begin_.known();
  return usable_;
}

std::optional<FirstLines::Place> StartBanner::read(std::string_view text, uint64_t number, Time at) {
  if (number > kReach) usable_ = false;
  if (!usable_) return std::nullopt;
  text = trim(text);
  const uint64_t hash = hash_of(text);
  if (hash == 0) return std::nullopt;
  if (lines_.size() < kLines) {
    collect(hash, text, at);
    return std::nullopt;
  }
  if (hash != lines_[same_]) same_ = 0;
  if (hash == lines_[same_] && same_++ == 0) {
    begin_ = {number, at};
    left_open_ = under_way_;
  }
  under_way_ = announces_work(text);
  if (same_ < kLines) return std::nullopt;
  same_ = 0;
  const bool later = begin_.at.known() && (begin_.at - last_begin_).seconds() > kApart;
  if (!later) return std::nullopt;
  last_begin_ = begin_.at;
  return left_open_ ? std::optional<FirstLines::Place>(begin_) : std::nullopt;
}

}  // namespace mw
