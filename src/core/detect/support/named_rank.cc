#include "core/detect/support/named_rank.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "core/trace_frame.h"

namespace mw::detect {
namespace {

constexpr std::string_view kListed = "torchelastic-child-failed";
// An exception further back than this from the launcher's word is another one: the agent looks at its ranks every few
// seconds, and a step that waits for a lost rank gives up after half an hour.
constexpr double kNamedSeconds = 3600;
constexpr uint64_t kNamedLines = 5000;

std::optional<int64_t> number_after(std::string_view text, std::string_view word) {
  const size_t at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  size_t end = at + word.size();
  while (end < text.size() && (text[end] == ' ' || text[end] == ':')) ++end;
  int64_t value = 0;
  const size_t first = end;
  for (; end < text.size() && text[end] >= '0' && text[end] <= '9' && end - first < 12; ++end) {
    value = value * 10 + (text[end] - '0');
  }
  return end > first ? std::optional(value) : std::nullopt;
}

/// Is it the word of a process that ended by itself, with an exception? One that a signal ended has a negative status.
bool ended_by_exception(std::string_view text) {
  const auto code = number_after(text, "exitcode");
  return code && *code == 1;
}

/// A failure that a rank has of its own, rather than of another rank's.
bool of_its_own(const Symptom& symptom) {
  const std::string kind = kind_of(symptom);
  return is_root(symptom) && kind != "collective-timeout" && kind != "network" && kind != "worker-lost";
}

bool close_before(const Symptom& symptom, const Symptom& word) {
  if (symptom.order >= word.order || symptom.moment.attempt != word.moment.attempt) return false;
  const bool clocked = symptom.moment.at.known() && word.moment.at.known();
  if (clocked) return (word.moment.at - symptom.moment.at).seconds() <= kNamedSeconds;
  return symptom.moment.where.source != word.moment.where.source ||
         word.moment.where.line <= symptom.last_line + kNamedLines;
}

/// All ranks may fail alike: then the one that said so first is as good as the one that the launcher met first.
Symptom& first_alike(std::vector<Symptom>& symptoms, Symptom& own) {
  if (own.trace == nullptr) return own;
  const auto& said = own.trace->trace;
  for (Symptom& symptom : symptoms) {
    if (&symptom == &own) break;
    const bool alike = symptom.trace != nullptr && symptom.moment.attempt == own.moment.attempt && !symptom.teardown &&
                       symptom.trace->trace.exception == said.exception && symptom.trace->trace.message == said.message;
    if (alike) return symptom;
  }
  return own;
}

}  // namespace

void mark_named_ranks(std::vector<Symptom>& symptoms) {
  for (const Symptom& word : symptoms) {
    if (word.signature == nullptr || word.signature->id != kListed || !ended_by_exception(word.text)) continue;
    const auto rank = number_after(word.text, "local_rank"), pid = number_after(word.text, "pid");
    Symptom* own = nullptr;  // the first that ended it as it is, or else the last that it seemed to outlive
    for (Symptom& symptom : symptoms) {
      const TraceState* trace = symptom.trace != nullptr ? symptom.trace : symptom.within;
      if (trace == nullptr || symptom.teardown || !close_before(symptom, word)) continue;
      const int64_t speaker = trace->trace.pid;
      const bool same = (pid && speaker == *pid) || (rank && speaker == pid_of_rank(*rank));
      if (!same || (own != nullptr && !own->survived)) continue;
      if (of_its_own(symptom)) own = &symptom;  // asked last, as it goes through the exception's words
    }
    if (own != nullptr) own = &first_alike(symptoms, *own);
    if (own == nullptr) continue;
    own->survived = false;
    own->named = true;
  }
}

}  // namespace mw::detect
