#include "core/error_face.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/numbers.h"
#include "base/text.h"
#include "core/detect/support/failure_chain.h"
#include "core/trace_frame.h"

namespace mw {
namespace {

constexpr int64_t kShift = 10;        // lines by which an edit above moves a place
constexpr size_t kMessageKept = 400;  // bytes: the end of a long message repeats data
constexpr size_t kNameKept = 40;      // bytes of what ended
constexpr size_t kSentence = 4;       // words from which on a part may differ
constexpr double kAlike = 0.6;        // of the words

bool is_of_word(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return byte >= 0x80 || (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
         (letter >= 'A' && letter <= 'Z') || letter == '_';
}

/// The words of a message without those that hold a digit (counts, addresses, identifiers), sorted.
std::vector<std::string_view> words_of(std::string_view message) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < message.size();) {
    size_t end = at;
    bool counts = false;
    for (; end < message.size() && is_of_word(message[end]); ++end) {
      counts = counts || (message[end] >= '0' && message[end] <= '9');
    }
    if (end > at && !counts) words.push_back(message.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  std::sort(words.begin(), words.end());
  return words;
}

/// What ended, as a launcher says it: "Trainer" of "Trainer failed with exit code -9"; "" of any other sentence.
std::string_view ended_part(std::string_view message) {
  static constexpr std::array<std::string_view, 5> kEnds = {" failed with exit code", " exited with exit code",
                                                            " exited with code", " failed with code",
                                                            " died with exit code"};
  for (const std::string_view end : kEnds) {
    const size_t at = message.find(end);
    if (at != std::string_view::npos && at <= kNameKept) return message.substr(0, at);
  }
  return {};
}

bool messages_differ(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty() || a == b) return false;
  const std::vector<std::string_view> left = words_of(a), right = words_of(b);
  const std::string_view part = ended_part(a), other = ended_part(b);
  if (!part.empty() && !other.empty() && words_of(part) != words_of(other)) return true;
  std::vector<std::string_view> shared;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(shared));
  const size_t most = std::max(left.size(), right.size());
  if (most < kSentence) return shared.size() != most;
  return static_cast<double>(shared.size()) < kAlike * static_cast<double>(most);
}

bool places_differ(const ErrorFace& a, const ErrorFace& b) {
  if (a.file.empty() || b.file.empty()) return false;
  if (a.file != b.file || a.function != b.function) return true;
  return a.line > 0 && b.line > 0 && std::max(a.line, b.line) - std::min(a.line, b.line) > kShift;
}

}  // namespace

ErrorFace face_of(std::string_view exception, std::string_view message, std::string_view place) {
  ErrorFace face;
  face.exception = exception;
  face.message = trim(message).substr(0, kMessageKept);
  const std::string_view frame = own_frame(place);
  const size_t in = frame.find(" in ");
  const std::string_view where = frame.substr(0, in);
  if (in != std::string_view::npos) face.function = frame.substr(in + 4);
  const size_t colon = where.rfind(':');
  if (colon != std::string_view::npos) face.line = parse_int(where.substr(colon + 1)).value_or(0);
  face.file = basename(where.substr(0, colon));
  return face;
}

const TraceState* trace_around(const State& state, const Where& where) {
  if (where.line == 0 || where.source >= state.sources.size()) return nullptr;
  const auto around = std::find_if(state.traces.begin(), state.traces.end(), [&where](const TraceState& seen) {
    return seen.moment.where.source == where.source && !seen.trace.sample && !seen.trace.handled &&
           seen.moment.where.line <= where.line && where.line <= seen.trace.last_line;
  });
  return around == state.traces.end() ? nullptr : &*around;
}

ErrorFace error_at(const State& state, std::string_view kind, const Where& where) {
  static constexpr std::array<std::string_view, 9> kMany = {"crash",       "code-error",        "config-error",
                                                            "data-error",  "network",           "dependency-broken",
                                                            "credentials", "environment-fault", "checkpoint-failed"};
  if (std::find(kMany.begin(), kMany.end(), kind) == kMany.end()) return {};
  const auto raised = std::find_if(state.traces.begin(), state.traces.end(),
                                   [&where](const TraceState& one) { return one.moment.where == where; });
  if (raised == state.traces.end()) return {};
  return face_of(detect::bare_exception(raised->trace.exception), raised->trace.message, raised->trace.frame);
}

bool differ(const ErrorFace& a, const ErrorFace& b) {
  if (!a.exception.empty() && !b.exception.empty() && a.exception != b.exception) return true;
  return places_differ(a, b) || messages_differ(a.message, b.message);
}

}  // namespace mw
