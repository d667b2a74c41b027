#include "read/lines/sample_text.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kSpeakerBytes = 32;  // of a line, in which it may name who speaks

/// What speaks, or was said, as printers of samples head it: in brackets, or before a colon. `numbered`: a number may
/// stand between the word and the colon, too.
struct Speaker {
  std::string_view word;
  bool brackets, colon, numbered;
};

constexpr std::array<Speaker, 19> kSpeakers = {
    Speaker{"response", true, true, true},
    Speaker{"completion", true, true, true},
    Speaker{"answer", true, true, true},
    Speaker{"prompt", true, true, false},
    Speaker{"question", true, true, false},
    Speaker{"assistant", true, true, false},
    Speaker{"user", true, true, false},
    Speaker{"human", true, true, false},
    Speaker{"sample", true, false, false},
    Speaker{"generation", true, false, false},
    Speaker{"solution", true, true, false},
    Speaker{"generated text", true, true, true},
    Speaker{"generated answer", true, true, true},
    Speaker{"model output", true, true, true},
    Speaker{"model response", true, true, true},
    Speaker{"model answer", true, true, true},
    Speaker{"sample output", true, true, true},
    Speaker{"sample response", true, true, true},
    Speaker{"sample completion", true, true, true},
};

/// Without the number that follows a word: " 3", " #3", "_3".
std::string_view without_number(std::string_view text) {
  text = trim(text);
  const bool led = !text.empty() && (text.front() == '#' || text.front() == '_');
  std::string_view rest = led ? text.substr(1) : text;
  while (!rest.empty() && std::isdigit(static_cast<unsigned char>(rest.front())) != 0) rest.remove_prefix(1);
  return rest;
}

bool begins_with(std::string_view text, std::string_view word) {
  return text.size() >= word.size() && (text.front() | 0x20) == word.front() &&
         contains_folded(text.substr(0, word.size()), word);
}

bool names_speaker(std::string_view head) {
  const bool bracket = !head.empty() && head.front() == '[';
  if (bracket) head.remove_prefix(1);
  if (head.empty() ||
      std::string_view("rcapquhsgm").find(static_cast<char>(head.front() | 0x20)) == std::string_view::npos)
    return false;
  return std::any_of(kSpeakers.begin(), kSpeakers.end(), [head, bracket](const Speaker& speaker) {
    if (!(bracket ? speaker.brackets : speaker.colon) || !begins_with(head, speaker.word)) return false;
    std::string_view rest = head.substr(speaker.word.size());
    if (bracket || speaker.numbered) rest = without_number(rest);
    return rest.starts_with(bracket ? ']' : ':');
  });
}

}  // namespace

bool holds_sample_text(std::string_view text, RareBytes rare) {
  static constexpr std::array<std::string_view, 6> kTags = {"<|im_start|>", "<|im_end|>",   "<|assistant|>",
                                                            "</think>",     "</tool_call>", "<tool_response>"};
  const size_t first = rare.may_hold('<') ? text.find('<') : std::string_view::npos;
  for (size_t at = first; at != std::string_view::npos; at = text.find('<', at + 1)) {
    const std::string_view rest = text.substr(at);
    if (std::any_of(kTags.begin(), kTags.end(), [rest](std::string_view tag) { return rest.starts_with(tag); })) {
      return true;
    }
  }
  if (names_speaker(trim(text.substr(0, kSpeakerBytes)))) return true;
  const auto holds = [text, rare](std::string_view part) {  // each begins with a byte of RareBytes
    return rare.may_hold(part.front()) && contains(text, part);
  };
  if (holds("```python") || holds("[ground_truth]")) return true;
  if (holds("': '") && (holds("'role': '") || holds("'content': '"))) return true;
  return holds("\": \"") && (holds("\"role\": \"") || holds("\"completion\": \""));
}

}  // namespace mw
