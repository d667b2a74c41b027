#include "read/interpret/first_lines.h"

#include <array>
#include <cctype>

#include "base/checksum.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kCompared =
    48;                          // bytes: what follows in a line are often arguments, which are changed after a failure
constexpr size_t kOfPath = 160;  // of a line that begins with a path, as Python's warnings do
constexpr size_t kLetters = 4;

/// "Sun Aug 17 00:40:32 CEST 2025", as `date` prints it.
bool is_date(std::string_view text) {
  static constexpr std::array<std::string_view, 7> kDays = {"Mon ", "Tue ", "Wed ", "Thu ", "Fri ", "Sat ", "Sun "};
  constexpr size_t kLongest = 40;
  if (text.size() > kLongest || text.find(':') == std::string_view::npos) return false;
  for (const std::string_view day : kDays) {
    if (text.starts_with(day)) return true;
  }
  return false;
}

/// 0: the line says nothing of a program.
uint64_t hash_of(std::string_view text) {
  text = trim(text);
  if (text.empty() || text.front() == '|' || text.front() == '+' || is_date(text) || contains(text, "%|")) return 0;
  const size_t limit = text.front() == '/' ? kOfPath : kCompared;
  uint64_t hash = fnv1a("");
  size_t letters = 0;
  bool number = false;
  for (const char c : text.substr(0, limit)) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isdigit(byte) != 0) {
      if (number) continue;
      number = true;
      hash = fnv1a("#", hash);
      continue;
    }
    number = false;
    if (std::isalpha(byte) != 0 || byte >= 0x80) ++letters;
    hash = fnv1a({&c, 1}, hash);
  }
  return letters < kLetters ? 0 : hash | 1;
}

}  // namespace

std::optional<FirstLines::Place> FirstLines::read(std::string_view text, uint64_t number, Time at) {
  if (collects_ && number > kStart) went_on();
  if (!reads()) return std::nullopt;
  const uint64_t hash = hash_of(text);
  if (hash == 0) return std::nullopt;
  if (collects_ && first_.size() < kLines) {
    usable_ = !text.starts_with("Sender: LSF System");  // its report stands behind the output of a job
    first_.push_back(hash);
    return std::nullopt;
  }
  if (left_ > 0) --left_;
  if (same_ < first_.size() && hash == first_[same_]) {
    if (same_++ == 0) begin_ = {number, at};
  } else {
    same_ = hash == first_.front() ? 1 : 0;
    if (same_ == 1) begin_ = {number, at};
  }
  if (same_ < first_.size()) return std::nullopt;
  same_ = 0;
  usable_ = !collects_;
  left_ = 0;
  return usable_ ? std::optional<Place>(begin_) : std::nullopt;
}

void FirstLines::failed() {
  went_on();
  left_ = usable_ ? kReach : 0;
}

void FirstLines::went_on() {
  if (collects_) usable_ = first_.size() >= kLeast && usable_;
  collects_ = false;
  left_ = 0;
  same_ = 0;
}

}  // namespace mw
