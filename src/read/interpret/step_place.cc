#include "read/interpret/step_place.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <string>

#include "base/numbers.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kPlaceBytes = 120;  // of a line in which it says where it is
constexpr int64_t kStepLimit = 1'000'000'000;
constexpr int kEpochRank = 9;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_wide(char c) { return static_cast<unsigned char>(c) >= 0x80; }  // a byte of a letter beyond ASCII
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

constexpr std::string_view kGlobal = "global";  // in brackets beside another counter: "Iter 5/20 (global 105)"

// Words that count steps, the surest first; the number is their rank.
struct StepWord {
  std::string_view word;
  int rank;
};
constexpr std::array kStepWords = {StepWord{"global_step", 0},
                                   StepWord{"global step", 0},
                                   StepWord{kGlobal, 0},
                                   StepWord{"step", 1},
                                   StepWord{"steps", 1},
                                   StepWord{"train_step", 1},
                                   StepWord{"training_step", 1},
                                   StepWord{"optimizer_step", 1},
                                   StepWord{"training_iteration", 2},
                                   StepWord{"训练步", 1},
                                   StepWord{"步骤", 1},
                                   StepWord{"步数", 1},
                                   StepWord{"步", 1},
                                   StepWord{"ステップ", 1},
                                   StepWord{"스텝", 1},
                                   StepWord{"schritt", 1},
                                   StepWord{"шаг", 1},
                                   StepWord{"Шаг", 1},
                                   StepWord{"étape", 1},
                                   StepWord{"paso", 1},
                                   StepWord{"passo", 1},
                                   StepWord{"iteration", 2},
                                   StepWord{"iter", 2},
                                   StepWord{"iters", 2},
                                   StepWord{"迭代", 2},
                                   StepWord{"update", 2},
                                   StepWord{"it", 3},
                                   StepWord{"batch", 4},
                                   StepWord{"episode", 5},
                                   StepWord{"round", 5},
                                   StepWord{"epoch", kEpochRank},
                                   StepWord{"ep", kEpochRank}};

/// Which of them begin with that byte, in either case, a bit for each: most words of a line are passed over by it.
constexpr std::array<uint32_t, 256> kBegins = [] {
  static_assert(kStepWords.size() <= 32);
  std::array<uint32_t, 256> begins{};
  for (size_t i = 0; i < kStepWords.size(); ++i) {
    const char first = kStepWords[i].word[0];
    begins[static_cast<unsigned char>(first)] |= uint32_t{1} << i;
    if (first >= 'a' && first <= 'z') begins[static_cast<unsigned char>(first - 32)] |= uint32_t{1} << i;
  }
  return begins;
}();

/// Digits from `*at` on, in groups of thousands or not; nullopt when there is none. `*at` goes behind them.
std::optional<int64_t> digits(std::string_view text, size_t* at) {
  size_t i = *at;
  int64_t n = 0;
  while (i < text.size() && n < kStepLimit) {
    const bool group = text[i] == ',' && i > *at && i + 3 < text.size() && is_digit(text[i + 1]) &&
                       is_digit(text[i + 2]) && is_digit(text[i + 3]) &&
                       (i + 4 == text.size() || !is_digit(text[i + 4]));
    if (group) ++i;
    if (!is_digit(text[i])) break;
    n = n * 10 + (text[i++] - '0');
  }
  if (i == *at) return std::nullopt;
  *at = i;
  return n;
}

/// "3k", "1.5k": thousands, where `n` was read before `*at`.
bool thousands(std::string_view text, size_t* at, int64_t* n) {
  size_t i = *at;
  int64_t below = 0, unit = 1000;
  if (i < text.size() && text[i] == '.') {
    for (++i; i < text.size() && is_digit(text[i]) && unit > 1; ++i) below += (text[i] - '0') * (unit /= 10);
  }
  if (i >= text.size() || lower(text[i]) != 'k' || text[i - 1] == '.') return false;
  if (i + 1 < text.size() && (is_letter(text[i + 1]) || is_digit(text[i + 1]))) return false;
  *n = *n * 1000 + below;
  *at = i + 1;
  return true;
}

/// "1.41e+04", "12e3": a whole number that a float's format wrote, which begins at `begin`. `*at` goes behind it.
bool with_exponent(std::string_view text, size_t begin, size_t* at, int64_t* n) {
  size_t i = *at;
  if (i < text.size() && text[i] == '.') {
    for (++i; i < text.size() && is_digit(text[i]);) ++i;
  }
  if (i >= text.size() || lower(text[i]) != 'e') return false;
  size_t end = i + 1;
  if (end < text.size() && (text[end] == '+' || text[end] == '-')) ++end;
  const size_t first = end;
  while (end < text.size() && is_digit(text[end])) ++end;
  if (end == first || end > first + 3 || (end < text.size() && (is_letter(text[end]) || text[end] == '.')))
    return false;
  const auto value = parse_double(text.substr(begin, end - begin));
  if (!value || !(*value >= 0) || *value > static_cast<double>(kStepLimit) || *value != std::floor(*value))
    return false;
  *n = static_cast<int64_t>(*value);
  *at = end;
  return true;
}

/// "step12:", "iter0003 loss", "train_step_12 |": digits right behind the word, which are no part of a file's name.
bool is_glued(std::string_view text, size_t begin, size_t at) {
  constexpr std::string_view kBefore = "/\\-.=", kBehind = " \t:/])|,";
  if (begin > 0 && kBefore.find(text[begin - 1]) != kNone) return false;
  const size_t first = at < text.size() && text[at] == '_' ? at + 1 : at;
  const size_t end = text.find_first_not_of("0123456789", std::min(first, text.size()));
  if (end == first || end == kNone || kBehind.find(text[end]) == kNone) return false;
  return text[end] != '/' || (end + 1 < text.size() && is_digit(text[end + 1]));
}

// The number after a step word: "step 12", "step: 12", "step=12", "[step 12/100]", "Epoch:[1/1](3/97)". Returns how far
// it reads; 0 when there is none.
size_t number_after(std::string_view text, size_t at, int64_t* value, int64_t* total) {
  constexpr std::string_view kBetween = " :=[(#\t";
  size_t i = at;
  if (i + 1 < text.size() && text[i] == '.' && is_digit(text[i + 1])) ++i;  // "step.12"
  while (i < text.size() && i - at < 4 && kBetween.find(text[i]) != kNone) ++i;
  while (i < text.size() && (text[i] == ' ' || text[i] == '\t')) ++i;  // "step:     12"
  if (i == at || i >= text.size()) return 0;
  const size_t begin = i;
  const auto n = digits(text, &i);
  if (!n) return 0;
  *value = *n;
  if (!thousands(text, &i, value) && !with_exponent(text, begin, &i, value)) {
    if (i + 1 < text.size() && text[i] == '.' && is_digit(text[i + 1])) return 0;  // "epoch 0.5"
    if (i < text.size() && (is_letter(text[i]) || text[i] == '%')) return 0;       // "step 3s"
  }
  *total = 0;
  size_t slash = i;
  while (slash < text.size() && text[slash] == ' ') ++slash;
  const bool of = text.substr(std::min(slash, text.size())).starts_with("of ");
  if (of || (slash < text.size() && text[slash] == '/')) {
    slash += of ? 2 : 1;
    while (slash < text.size() && text[slash] == ' ') ++slash;
    if (const auto m = digits(text, &slash)) {
      *total = *m;
      thousands(text, &slash, total);
      i = slash;
    }
  }
  return i;
}

/// The number that is_glued() has found.
size_t glued_number(std::string_view text, size_t at, int64_t* value, int64_t* total) {
  if (text[at] == '_') ++at;
  const std::string padded = cat(" ", text.substr(at));
  const size_t end = number_after(padded, 0, value, total);
  return end == 0 ? 0 : at + end - 1;
}

/// The brackets around text[begin, end) belong to it, and what closes it.
void widen(std::string_view text, StepPlace& place) {
  constexpr std::string_view kOpen = "[(<#", kClose = "])>";
  while (place.begin > 0 && (kOpen.find(text[place.begin - 1]) != kNone || text[place.begin - 1] == ' ')) --place.begin;
  while (place.end < text.size() && (kClose.find(text[place.end]) != kNone || text[place.end] == ' ')) ++place.end;
}

struct Candidate {
  int rank;
  size_t begin, end;
  int64_t value, total;
  std::string_view word;
};

/// "episode steps: 13" says how long an episode was.
bool is_length(std::string_view head, size_t i) {
  constexpr std::string_view kOf = "episode ";
  return i >= kOf.size() && contains_folded(head.substr(i - kOf.size(), kOf.size()), kOf) && lower(head[i]) == 's';
}

/// "resample/step: 10" and "tokens/step: 512" are rates; "train/step: 10" is a step.
bool is_rate(std::string_view head, size_t i) {
  if (i < 2 || head[i - 1] != '/' || !is_letter(head[i - 2])) return false;
  size_t begin = i - 1;
  while (begin > 0 && (is_letter(head[begin - 1]) || head[begin - 1] == '_')) --begin;
  static constexpr std::array<std::string_view, 7> kOwners = {"train",    "trainer", "training", "global",
                                                              "progress", "actor",   "state"};
  const std::string owner = to_lower(head.substr(begin, i - 1 - begin));
  return std::find(kOwners.begin(), kOwners.end(), owner) == kOwners.end();
}

/// "no failure from iteration 25 onward", "best since step 40": what was said before, and no place.
bool looks_back(std::string_view head, size_t begin, size_t end) {
  const auto follows = [&head, begin](std::string_view word) {
    return begin >= word.size() && head.substr(begin - word.size(), word.size()) == word &&
           (begin == word.size() || !is_letter(head[begin - word.size() - 1]));
  };
  return follows("since ") || (follows("from ") && head.substr(std::min(end, head.size())).starts_with(" on"));
}

/// The step word at `i` and its number; nullopt when there is none.
std::optional<Candidate> word_at(std::string_view head, size_t i) {
  uint32_t left = kBegins[static_cast<unsigned char>(head[i])];
  if (left == 0) return std::nullopt;
  const bool begins = (is_letter(head[i]) && (i == 0 || (!is_letter(head[i - 1]) && head[i - 1] != '_'))) ||
                      (is_wide(head[i]) && (head[i] & 0x40) != 0);
  if (!begins) return std::nullopt;
  for (; left != 0; left &= left - 1) {
    const StepWord& step = kStepWords[static_cast<size_t>(std::countr_zero(left))];
    const size_t size = step.word.size();
    if (i + size > head.size()) continue;
    const bool same = std::equal(step.word.begin(), step.word.end(), head.begin() + static_cast<ptrdiff_t>(i),
                                 [](char a, char b) { return a == lower(b) || a == b; });
    if (!same) continue;
    if (is_length(head, i) || is_rate(head, i)) continue;
    if (step.word == kGlobal && (i == 0 || (head[i - 1] != '(' && head[i - 1] != '['))) continue;
    constexpr std::string_view kMode = "(train)";  // "Epoch(train) [1][20/735]"
    const size_t mode = head.substr(i + size).starts_with(kMode) ? kMode.size() : 0;
    Candidate found{step.rank, i, 0, 0, 0, step.word};
    found.end = number_after(head, i + size + mode, &found.value, &found.total);
    constexpr int kGlued = 2;  // rank of the least sure word that digits may be glued to
    if (found.end == 0 && step.rank <= kGlued && is_glued(head, i, i + size))
      found.end = glued_number(head, i + size, &found.value, &found.total);
    if (found.end > 0) return looks_back(head, i, found.end) ? std::nullopt : std::optional(found);
  }
  return std::nullopt;
}

/// "Epoch:[1/2](30/900)": the second pair counts steps.
void pair_after_epoch(std::string_view head, size_t end, StepPlace& place, int* rank) {
  size_t next = end;
  while (next < head.size() && (head[next] == ']' || head[next] == ')' || head[next] == ' ')) ++next;
  if (next >= head.size() || (head[next] != '(' && head[next] != '[') || place.step != kNoStep) return;
  int64_t inner = 0, inner_total = 0;
  const size_t inner_end = number_after(head, next, &inner, &inner_total);
  if (inner_end == 0 || inner_total <= 0) return;
  place.step = inner;
  place.step_total = inner_total;
  place.word = "batch";
  place.end = inner_end;
  *rank = 4;
}

/// "第 12 步": the word stands behind the number.
bool counted_before_word(std::string_view head, StepPlace& place) {
  constexpr std::string_view kOrdinal = "第";
  const size_t at = find_part(head, kOrdinal);
  if (at == kNone) return false;
  int64_t value = 0, total = 0;
  const std::string padded = cat(" ", head.substr(at + kOrdinal.size()));
  size_t end = number_after(padded, 0, &value, &total);
  if (end == 0) return false;
  while (end < padded.size() && padded[end] == ' ') ++end;
  for (const std::string_view word : {"步", "次迭代", "轮"}) {
    if (!std::string_view(padded).substr(end).starts_with(word)) continue;
    place.step = value;
    place.step_total = total;
    place.word = "step";
    place.begin = at;
    place.end = at + kOrdinal.size() + end - 1 + word.size();
    return true;
  }
  return false;
}

StepPlace worded_place(std::string_view text, RareBytes rare) {
  StepPlace best;
  int best_rank = 100;
  const std::string_view head = text.substr(0, kPlaceBytes);
  if (rare.may_be_wide() && counted_before_word(head, best)) return best;
  for (size_t i = 0; i < head.size(); ++i) {
    if (kBegins[static_cast<unsigned char>(head[i])] == 0) continue;
    if (i > 0 && is_letter(head[i - 1]) && is_letter(head[i])) continue;  // within a word
    const auto found = word_at(head, i);
    if (!found) continue;
    const bool first = best_rank == 100 && best.epoch == kNoStep;
    if (found->rank == kEpochRank) {
      if (best.epoch != kNoStep) continue;
      best.epoch = found->value;
      best.epoch_total = found->total;
      if (first) best.begin = found->begin;
      best.end = std::max(best.end, found->end);
      pair_after_epoch(head, found->end, best, &best_rank);
    } else if (found->rank < best_rank) {
      // An epoch and the step in it are one place where they stand beside each other.
      const bool apart = !first && found->begin > best.end + 4;
      if (first || apart) best.begin = found->begin;
      best.end = found->end;
      best_rank = found->rank;
      best.step = found->value;
      best.step_total = found->total;
      best.word = found->word;
    }
  }
  return best;
}

bool bar_place(std::string_view text, StepPlace& place) {
  size_t at = 0;
  if (!is_bar(text, &at)) return false;
  StepPlace found;
  if (number_after(text, at, &found.step, &found.step_total) == 0 || found.step_total == 0) return false;
  found.word = "it";
  // "Iter 5 groups:  20%|": the bar goes over the parts of a step; "Epoch 2:  20%|": over the steps of an epoch.
  StepPlace title = worded_place(text.substr(0, std::min(text.find("%|"), kPlaceBytes)), {});
  if (title.step != kNoStep) {
    found = title;
  } else if (title.epoch != kNoStep) {
    found.epoch = title.epoch;
    found.epoch_total = title.epoch_total;
  }
  found.begin = found.end = 0;
  place = found;
  return true;
}

/// "[run-a]  12/100 | loss=0.5", "(train) 12/100 - loss", "[####--] 12/100 loss=0.5": nothing but a count.
bool count_place(std::string_view text, StepPlace& place) {
  constexpr std::string_view kOpen = "[(", kBehind = "|]:-,[";
  size_t at = 0;
  const bool tagged = !text.empty() && kOpen.find(text[0]) != kNone;
  if (tagged) {
    const size_t close = text.substr(0, kPlaceBytes).find(text[0] == '[' ? ']' : ')');
    if (close == kNone) return false;
    const size_t first = std::min(text.find_first_not_of(' ', 1), text.size() - 1);
    const bool counts = is_digit(text[first]) && text.substr(0, close).find('/') != kNone;
    at = counts ? first : close + 1;
    while (at < text.size() && text[at] == ' ') ++at;
  }
  if (at >= text.size() || !is_digit(text[at])) return false;
  StepPlace found;
  const std::string padded = cat(" ", text.substr(at, kPlaceBytes));
  const size_t end = number_after(padded, 0, &found.step, &found.step_total);
  if (end == 0 || found.step_total <= 1 || found.step > found.step_total) return false;
  size_t next = end;
  while (next < padded.size() && padded[next] == ' ') ++next;
  if (next >= padded.size() || (kBehind.find(padded[next]) == kNone && !(tagged && is_letter(padded[next]))))
    return false;
  found.word = "it";
  found.begin = at;
  found.end = at + end - 1;
  place = found;
  return true;
}

/// "s=12 loss=0.5": a letter for the step begins the line, and figures follow.
bool letter_place(std::string_view text, StepPlace& place) {
  if (text.size() < 4 || lower(text[0]) != 's' || (text[1] != '=' && text[1] != ':')) return false;
  StepPlace found;
  const size_t end = number_after(text, 1, &found.step, &found.step_total);
  if (end == 0 || end >= text.size() || !contains(text.substr(end), "=")) return false;
  found.word = "it";
  found.end = end;
  place = found;
  return true;
}

}  // namespace

std::string_view without_epoch(std::string_view after) {
  constexpr std::string_view kEpoch = "epoch=";
  const size_t name = after.find_first_not_of(", ");
  if (name == kNone || !after.substr(name).starts_with(kEpoch)) return after;
  const size_t end = after.find_first_not_of("0123456789.", name + kEpoch.size());
  return end == kNone ? std::string_view() : after.substr(end);
}

bool is_bar(std::string_view text, size_t* done_at) {
  const size_t open = find_part(text, "%|");
  if (open == kNone) return false;
  const size_t close = text.find("| ", open + 2);
  if (close == kNone || close + 2 >= text.size() || !is_digit(text[close + 2])) return false;
  *done_at = close + 1;
  return text.find('[', close) != kNone;
}

StepPlace find_place(std::string_view text, RareBytes rare) {
  StepPlace best;
  if (rare.may_hold('%') && bar_place(text, best)) return best;
  best = worded_place(text, rare);
  if (!best.known() && !letter_place(text, best)) count_place(text, best);
  // "3916/5000: episode: 56, ...": episodes are counted beside the steps that they consist of.
  StepPlace count;
  const bool beside = best.word == "episode" && is_digit(text[0]) && count_place(text, count);
  if (beside && count.step >= best.step) best = count;
  if (best.end > 0) widen(text, best);
  return best;
}

int64_t find_plan(std::string_view text) {
  constexpr std::array<std::string_view, 9> kNames = {"total steps", "total_steps", "num_steps",
                                                      "num steps",   "max_steps",   "training steps",
                                                      "n_steps",     "max steps",   "total iterations"};
  constexpr std::string_view kFirst = "tTnNmM";  // letters of them
  text = trim(text);
  if (text.empty() || kFirst.find(text[0]) == kNone) return 0;
  const std::string folded = to_lower(text.substr(0, 40));
  for (const std::string_view name : kNames) {
    if (!folded.starts_with(name)) continue;
    std::string_view rest = trim(std::string_view(folded).substr(name.size()));
    if (rest.empty() || (rest[0] != ':' && rest[0] != '=')) return 0;
    rest = trim(rest.substr(1));
    size_t at = 0;
    const auto value = digits(rest, &at);
    return value && at == rest.size() && *value > 1 && *value < kStepLimit ? *value : 0;
  }
  return 0;
}

}  // namespace mw
