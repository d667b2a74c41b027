#include "read/interpret/generic.h"

#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "base/text.h"
#include "read/lines/reward_list.h"

namespace mw {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kKnownLimit = 4096;   // names that are remembered
constexpr size_t kPlaceBytes = 120;    // of a line in which it says where it is
constexpr size_t kHeadingBytes = 120;  // of a line that only says which step begins
// A part of the reward, so that it speaks for the reward only where nothing else does.
constexpr int64_t kStepLimit = 1'000'000'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// Words that count steps, the surest first; the number is their rank.
struct StepWord {
  std::string_view word;
  int rank;
};
constexpr std::array<StepWord, 13> kStepWords = {{{"global_step", 0},
                                                  {"global step", 0},
                                                  {"step", 1},
                                                  {"steps", 1},
                                                  {"iteration", 2},
                                                  {"iter", 2},
                                                  {"update", 2},
                                                  {"it", 3},
                                                  {"batch", 4},
                                                  {"episode", 5},
                                                  {"round", 5},
                                                  {"epoch", 9},
                                                  {"ep", 9}}};

// Settings, as dumps of them name them. A record with several of these is a dump.
constexpr std::array<std::string_view, 26> kSettingNames = {
    "batch_size",   "num_epochs", "epochs",     "seed",          "gamma",
    "lam",          "clip_range", "max_length", "lora_r",        "lora_alpha",
    "beta",         "beta1",      "beta2",      "eps",           "weight_decay",
    "warmup_steps", "max_steps",  "save_steps", "logging_steps", "num_generations",
    "temperature",  "top_p",      "top_k",      "num_workers",   "vocab_size",
    "hidden_size"};

// The number after a step word: "step 12", "step: 12", "step=12", "[step 12/100]", "Epoch:[1/1](3/97)". Returns how far
// it reads; 0 when there is none.
size_t number_after(std::string_view text, size_t at, int64_t* value, int64_t* total) {
  size_t i = at;
  size_t skipped = 0;
  while (i < text.size() && skipped < 4 &&
         (text[i] == ' ' || text[i] == ':' || text[i] == '=' || text[i] == '[' || text[i] == '(' || text[i] == '#')) {
    ++i;
    ++skipped;
  }
  if (i == at || i >= text.size() || !is_digit(text[i])) return 0;
  int64_t n = 0;
  size_t digits = 0;
  while (i < text.size() && is_digit(text[i]) && n < kStepLimit) {
    n = n * 10 + (text[i++] - '0');
    ++digits;
  }
  if (i < text.size() && (text[i] == '.' && i + 1 < text.size() && is_digit(text[i + 1]))) return 0;  // "epoch 0.5"
  if (i < text.size() && (is_letter(text[i]) || text[i] == '%')) return 0;                            // "step 3s"
  *value = n;
  *total = 0;
  size_t slash = i;
  while (slash < text.size() && text[slash] == ' ') ++slash;
  if (slash < text.size() && text[slash] == '/') {
    ++slash;
    while (slash < text.size() && text[slash] == ' ') ++slash;
    int64_t m = 0;
    const size_t from = slash;
    while (slash < text.size() && is_digit(text[slash]) && m < kStepLimit) m = m * 10 + (text[slash++] - '0');
    if (slash > from) {
      *total = m;
      i = slash;
    }
  }
  return i;
}

// A progress bar with values behind its times: "12%|#  | 12/100 [00:10<01:20, 1.1it/s, loss=0.5]".
bool is_bar(std::string_view text, size_t* done_at) {
  const size_t open = text.find("%|");
  if (open == kNone) return false;
  const size_t close = text.find("| ", open + 2);
  if (close == kNone || close + 2 >= text.size() || !is_digit(text[close + 2])) return false;
  *done_at = close + 1;
  return text.find('[', close) != kNone;
}

/// A bar over held-out questions is not the training's.
bool evaluates(std::string_view title) {
  static constexpr std::array<std::string_view, 4> kWords = {"eval", "valid", "test", "benchmark"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [title](std::string_view word) { return contains_folded(title, word); });
}

}  // namespace

void normal_name(std::string_view raw, std::string& out) {
  static constexpr std::array<std::string_view, 14> kLeads = {"train/",  "training/", "metrics/", "stats/", "actor/",
                                                              "policy/", "rollout/",  "trainer/", "train_", "grpo/",
                                                              "ppo/",    "rl/",       "loss/",    "avg/"};
  out.clear();
  for (const char c : raw) {
    const char folded = lower(c);
    const bool gap = folded == ' ' || folded == '-' || folded == '.' || folded == '_';
    if (gap && (out.empty() || out.back() == '_')) continue;
    out.push_back(gap ? '_' : folded);
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  for (int i = 0; i < 2; ++i) {
    for (const std::string_view lead : kLeads) {
      if (out.size() > lead.size() && out.compare(0, lead.size(), lead) == 0) {
        out.erase(0, lead.size());
        break;
      }
    }
  }
}

bool GenericReader::well_known(std::string_view key) {
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  if (known_.size() >= kKnownLimit) known_.clear();
  const Meaning means = book_.generic_meaning(key);
  // Only what learning is about makes a line a trainer's: engines print lengths, times and throughput, too.
  static constexpr std::array<std::string_view, 10> kLearning = {
      "reward.", "return.", "advantage.", "loss.", "entropy", "kl.", "grad_norm", "clip.", "ratio.", "accuracy."};
  const bool known = std::any_of(kLearning.begin(), kLearning.end(),
                                 [&](std::string_view part) { return means.signal.rfind(part, 0) == 0; });
  known_.emplace(std::string(key), known);
  return known;
}

bool GenericReader::bar_place(std::string_view text, Place& place) {
  size_t at = 0;
  if (!is_bar(text, &at)) return false;
  if (number_after(text, at, &place.step, &place.step_total) == 0 || place.step_total == 0) {
    place = Place();
    return false;
  }
  place.word = "it";
  // "Iter 5 groups:  20%|": the bar goes over the parts of a step; "Epoch 2:  20%|": over the steps of an epoch.
  const Place title = GenericReader::worded_place(text.substr(0, std::min(text.find("%|"), kPlaceBytes)));
  if (title.step != kNoStep) {
    place = title;
  } else if (title.epoch != kNoStep) {
    place.epoch = title.epoch;
    place.epoch_total = title.epoch_total;
  }
  return true;
}

/// "[run-a]  12/100 | loss=0.5": nothing but a count before the values.
bool GenericReader::count_place(std::string_view text, Place& place) {
  std::string_view rest = text;
  if (rest.starts_with('[')) {
    const size_t close = rest.substr(0, kPlaceBytes).find(']');
    const bool counts = rest.size() > 1 && is_digit(rest[1]) && rest.substr(0, close).find('/') != kNone;
    if (close == kNone) return false;
    rest = counts ? rest.substr(1) : trim(rest.substr(close + 1));
  }
  if (rest.empty() || !is_digit(rest[0])) return false;
  Place found;
  std::string padded = cat(" ", rest.substr(0, kPlaceBytes));
  const size_t end = number_after(padded, 0, &found.step, &found.step_total);
  if (end == 0 || found.step_total <= 1 || found.step > found.step_total) return false;
  size_t next = end;
  while (next < padded.size() && padded[next] == ' ') ++next;
  if (next >= padded.size() || std::string_view("|]:-,").find(padded[next]) == kNone) return false;
  found.word = "it";
  place = found;
  return true;
}

GenericReader::Place GenericReader::place(std::string_view text) {
  Place best;
  if (bar_place(text, best)) return best;
  best = worded_place(text);
  if (best.step == kNoStep && best.epoch == kNoStep) count_place(text, best);
  return best;
}

GenericReader::Place GenericReader::worded_place(std::string_view text) {
  Place best;
  int best_rank = 100;
  const std::string_view head = text.substr(0, kPlaceBytes);
  for (size_t i = 0; i < head.size(); ++i) {
    const bool word_begins = is_letter(head[i]) && (i == 0 || (!is_letter(head[i - 1]) && head[i - 1] != '_'));
    if (!word_begins) continue;
    for (const StepWord& step : kStepWords) {
      const size_t size = step.word.size();
      if (i + size > head.size()) continue;
      bool same = true;
      for (size_t k = 0; k < size && same; ++k) same = lower(head[i + k]) == step.word[k];
      if (!same) continue;
      int64_t value = 0;
      int64_t total = 0;
      const size_t end = number_after(head, i + size, &value, &total);
      if (end == 0) continue;
      if (step.rank == 9) {
        if (best.epoch == kNoStep) {
          best.epoch = value;
          best.epoch_total = total;
          size_t next = end;  // "Epoch:[1/2](30/900)": the second pair counts steps
          while (next < head.size() && (head[next] == ']' || head[next] == ')' || head[next] == ' ')) ++next;
          if (next < head.size() && head[next] == '(' && best.step == kNoStep) {
            int64_t inner = 0;
            int64_t inner_total = 0;
            if (number_after(head, next, &inner, &inner_total) != 0 && inner_total > 0) {
              best.step = inner;
              best.step_total = inner_total;
              best.word = "batch";
              best_rank = 4;
            }
          }
        }
      } else if (step.rank < best_rank) {
        best_rank = step.rank;
        best.step = value;
        best.step_total = total;
        best.word = step.word;
      }
      break;
    }
  }
  return best;
}

// Steps that begin again in every epoch go on counting; trainers without steps count epochs.
int64_t GenericReader::over_epochs(const Place& place, int64_t* total) {
  if (place.step == kNoStep) {
    *total = place.epoch_total;
    return place.epoch;
  }
  *total = place.step_total;
  if (place.epoch == kNoStep || place.word == "global_step" || place.word == "global step") return place.step;
  if (last_epoch_ != kNoStep && place.epoch > last_epoch_ && place.step < last_step_) {
    base_ += place.step_total > 0 ? place.step_total : last_step_ + 1;
  } else if (last_epoch_ != kNoStep && place.epoch < last_epoch_) {
    base_ = 0;
  }
  last_epoch_ = place.epoch;
  last_step_ = place.step;
  if (place.epoch_total > 1 && place.step_total > 0) *total = place.step_total * place.epoch_total;
  return base_ + place.step;
}

bool GenericReader::is_record(std::string_view text, const MetricLine& out, bool placed, MetricLine::Form form,
                              uint64_t number) {
  size_t known = 0;
  size_t settings = 0;
  size_t wordy = 0;
  std::string name;
  for (const RowNumber& reading : out.numbers()) {
    if (reading.key.size() > 60 || std::count(reading.key.begin(), reading.key.end(), ' ') > 4) {
      ++wordy;
      continue;
    }
    known += well_known(reading.key);
    normal_name(reading.key, name);
    settings += std::find(kSettingNames.begin(), kSettingNames.end(), name) != kSettingNames.end();
  }
  const size_t count = out.numbers().size();
  if (known == 0 || wordy * 2 > count) return false;
  if (settings >= 2 && settings >= known && !placed) return false;
  if (form == MetricLine::Form::kDict) {
    return out.texts().size() <= count && (known >= 2 || placed || (known == 1 && count <= 4));
  }
  if (placed || known >= 2) return true;
  // One value alone: under a step's heading, and nothing else in the line.
  return heading_line_ != 0 && number - heading_line_ <= kStepReach && text.size() < 80;
}

bool GenericReader::accepts(const MetricLine& block) {
  size_t known = 0;
  for (const RowNumber& reading : block.numbers()) known += well_known(reading.key);
  return known >= 2;
}

GenericReader::Found GenericReader::read(std::string_view text, uint64_t number, MetricLine& out) {
  Found found;
  out.clear();
  text = trim(text);
  if (text.size() < 5 || text.size() > kLineLimit) return found;
  // "**Step 1: add the eggs**": Markdown is a model's answer that was printed.
  if (text.starts_with("**") && is_letter(text[2]) && text.find("**", 2) != kNone) return found;
  const bool digits = std::any_of(text.begin(), text.end(), is_digit);
  if (!digits) return found;
  if (const auto rewards = read_reward_list(text)) {
    found.listed = rewards->mean;
    return found;
  }
  const Place at = place(text);
  const bool placed = at.step != kNoStep || at.epoch != kNoStep;
  const size_t brace = text.find('{');
  MetricLine::Form form = MetricLine::Form::kNone;
  size_t bar = 0;
  if (is_bar(text, &bar)) {
    if (evaluates(text.substr(0, text.find("%|")))) return found;
    const size_t values = text.find(", ", text.find('[', bar));
    const size_t end = text.rfind(']');
    if (values == kNone || end == kNone || end < values) return found;
    out.read_commas(text.substr(values + 2, end - values - 2));
    form = out.numbers().empty() ? MetricLine::Form::kNone : MetricLine::Form::kCommas;
  } else if (brace != kNone && brace + 2 < text.size() && (text[brace + 1] == '\'' || text[brace + 1] == '"')) {
    form = out.read(text.substr(brace));
  } else if (text.find_first_of(":=|") != kNone || placed) {
    form = out.read(text);
  }
  if (placed && out.numbers().size() < 2) {  // "iter 10 loss 0.5 reward 0.25"
    MetricLine words;
    words.read_words(text);
    if (words.numbers().size() > out.numbers().size() + 1) {
      out.clear();
      out.read_words(text);
      form = MetricLine::Form::kCommas;
    }
  }
  const bool record = form != MetricLine::Form::kNone && is_record(text, out, placed, form, number);
  if (placed &&
      (record || (text.size() < kHeadingBytes && at.step != kNoStep && at.word != "it" && lower(text[0]) != 'e'))) {
    found.step = over_epochs(at, &found.total);
    found.heading = !record;
    heading_line_ = number;
  }
  found.record = record;
  found.numbered = record && found.step != kNoStep && bar == 0 && accepts(out);
  if (!record) out.clear();
  return found;
}

}  // namespace mw
