#include "core/detect/support/join_traces.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "core/trace_frame.h"

namespace mw::detect {
namespace {

/// PyTorch's own word of a rank ("[Rank 3] Watchdog caught ...") is none of another rank's traceback.
bool of_another_rank(std::string_view text, int64_t pid) {
  constexpr std::string_view kRank = "Rank ";
  constexpr size_t kWithin = 120;
  const size_t at = text.substr(0, kWithin).find(kRank);
  if (pid >= -1 || at == std::string_view::npos) return false;  // the traceback's lines name no rank
  size_t end = at + kRank.size();
  int64_t rank = 0;
  constexpr int64_t kRanks = 1'000'000;
  for (; end < text.size() && text[end] >= '0' && text[end] <= '9' && rank < kRanks; ++end) {
    rank = rank * 10 + (text[end] - '0');
  }
  return end > at + kRank.size() && end < text.size() && text[end] == ']' && pid_of_rank(rank) != pid;
}

bool covers(const Symptom& trace, const Symptom& line) {
  return trace.trace != nullptr && trace.moment.where.source == line.moment.where.source &&
         line.moment.where.line >= trace.moment.where.line && line.moment.where.line <= trace.last_line &&
         !of_another_rank(line.text, trace.trace->trace.pid);
}

/// The line is the exception's own, or of its message.
bool is_words_of(const Symptom& line, const event::TraceSeen& trace) {
  constexpr size_t kCompared = 48;
  const std::string_view text = trim(line.text);
  if (!trace.exception.empty() && contains(text, trace.exception)) {
    return trace.message.empty() ||
           contains(text, trim(trace.message).substr(0, trace.message.find('\n')).substr(0, kCompared));
  }
  return !text.empty() && contains(trace.message, text.substr(0, kCompared));
}

/// The tracebacks that a line stands in. Those of several processes may be mixed line by line: then the line is of
/// those whose words it has, where it has any's.
std::vector<size_t> traces_around(const std::vector<Symptom>& symptoms, const Symptom& line) {
  std::vector<size_t> around;
  for (size_t i = 0; i < symptoms.size(); ++i) {
    if (covers(symptoms[i], line)) around.push_back(i);
  }
  if (around.size() < 2) return around;
  std::vector<size_t> own;
  for (const size_t i : around) {
    if (is_words_of(line, symptoms[i].trace->trace)) own.push_back(i);
  }
  return own.empty() ? around : own;
}

}  // namespace

void join_traces(std::vector<Symptom>& symptoms) {
  std::vector<bool> explained(symptoms.size(), false);
  for (Symptom& symptom : symptoms) {
    if (symptom.signature == nullptr) continue;
    for (const size_t i : traces_around(symptoms, symptom)) {
      const Symptom& trace = symptoms[i];
      // A signature that only wraps whatever failed ("crash") leaves the word to the exception, if that says of what.
      const bool says_what = symptom.signature->role == Role::kRoot || symptom.signature->kind != "crash";
      if (says_what || (!is_root(trace) && kind_of(trace) == "crash")) {
        explained[i] = true;
        symptom.within = trace.trace;
      }
      if (symptom.signature->role == Role::kRoot) {
        symptom.moment = trace.moment;
        symptom.order = std::min(symptom.order, trace.order);
        symptom.last_line = std::max(symptom.last_line, trace.last_line);
      }
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < symptoms.size(); ++i) {
    if (explained[i]) continue;
    if (kept != i) symptoms[kept] = std::move(symptoms[i]);
    ++kept;
  }
  symptoms.resize(kept);
}

}  // namespace mw::detect
