#include "read/interpret/generic.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/byte_set.h"
#include "base/numbers.h"
#include "base/text.h"
#include "read/files/row_builder.h"
#include "read/interpret/narrow_punctuation.h"
#include "read/lines/answer_text.h"
#include "read/lines/held_out.h"
#include "read/lines/logged_message.h"
#include "read/lines/reward_list.h"
#include "read/lines/table_frame.h"

namespace mw {
namespace {

constexpr size_t kPairBytes = 20;  // of a line that has figures before a dict
constexpr size_t kNone = std::string_view::npos;
constexpr size_t kKnownLimit = 4096;  // names that are remembered
constexpr size_t kLoggerTexts = 6;    // time, level, name, message, … of a logger that writes JSON

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// Settings, as dumps of them name them. A record with several of these is a dump.
constexpr std::array<std::string_view, 26> kSettingNames = {
    "batch_size",   "num_epochs", "epochs",     "seed",          "gamma",
    "lam",          "clip_range", "max_length", "lora_r",        "lora_alpha",
    "beta",         "beta1",      "beta2",      "eps",           "weight_decay",
    "warmup_steps", "max_steps",  "save_steps", "logging_steps", "num_generations",
    "temperature",  "top_p",      "top_k",      "num_workers",   "vocab_size",
    "hidden_size"};

/// A row or a frame of a drawn table (U+2500 to U+257F, or ASCII).
bool is_drawn(std::string_view text) {
  if (text.empty() || text[0] == '|') return !text.empty();
  return text.starts_with("\xe2\x94") || text.starts_with("\xe2\x95");
}

bool is_number_sign(std::string_view text) {
  return text.size() > 1 && (text[0] == '-' || text[0] == '.') && is_digit(text[1]);
}

/// "Finished. loss = 0.5": a sentence that ends is no part of the next name. ("Grad. Norm" is one name.)
void end_sentences(std::string& text) {
  constexpr size_t kWord = 5;
  for (size_t at = text.find(". "); at != kNone; at = text.find(". ", at + 1)) {
    size_t begin = at;
    while (begin > 0 && is_letter(text[begin - 1])) --begin;
    if (at - begin >= kWord || (at > 0 && is_digit(text[at - 1]))) text[at] = ',';
  }
}

/// "R=0.41, L=0.59": a reward and a loss where one stands beside the other, in a line that says which step it is of.
bool whole_names(std::string_view text, std::string& out) {
  static constexpr ByteSet kBefore(" ,|[("), kBehind("=:");
  const auto stands = [text](char letter, size_t at) {
    return text[at] == letter && (at == 0 || kBefore.holds(text[at - 1])) && at + 1 < text.size() &&
           kBehind.holds(text[at + 1]);
  };
  size_t reward = kNone, loss = kNone;
  for (size_t i = 0; i < text.size(); ++i) {
    if (stands('R', i)) reward = i;
    if (stands('L', i)) loss = i;
  }
  if (reward == kNone || (loss == kNone && !contains_folded(text, "loss"))) return false;
  out.assign(text);
  const size_t first = loss == kNone ? reward : std::min(reward, loss),
               last = loss == kNone ? reward : std::max(reward, loss);
  out.replace(last, 1, last == reward ? "reward" : "loss");
  if (first != last) out.replace(first, 1, first == reward ? "reward" : "loss");
  return true;
}

bool names_step(const RowNumber& reading) {
  return reading.key == "step" || reading.key == "global_step" || reading.key == "iteration";
}

/// Too long or of too many words for the name of a figure.
bool is_wordy(std::string_view key) { return key.size() > 60 || std::count(key.begin(), key.end(), ' ') > 4; }

/// How many of its names are those of settings.
size_t settings_in(const MetricLine& line) {
  size_t count = 0;
  std::string name;
  for (const RowNumber& reading : line.numbers()) {
    if (is_wordy(reading.key)) continue;
    normal_name(reading.key, name);
    count += std::find(kSettingNames.begin(), kSettingNames.end(), name) != kSettingNames.end();
  }
  return count;
}

/// Nothing but brackets, bullets and the like stands before the step: "* (global step 50: loss: 0.5".
bool leads_line(std::string_view text, const StepPlace& at) {
  const std::string_view before = text.substr(0, at.begin);
  return std::none_of(before.begin(), before.end(),
                      [](char c) { return is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80; });
}

/// "[run_7]" before a step is the name of the run or of what speaks, no part of the first figure's.
bool is_tag(std::string_view before) {
  return before.size() > 2 && before.front() == '[' && before.find_first_of("]=:") == before.size() - 1 &&
         before.back() == ']';
}

/// The line without what says its step, which would stand before the words that say what it is of. In `scratch`.
std::string_view without_place(std::string_view text, const StepPlace& at, std::string& scratch) {
  if (!at.known() || at.end == 0) return text;
  std::string_view after = text.substr(at.end);
  const size_t first = after.find_first_not_of(" :.,;>|-");
  after.remove_prefix(std::min(first, after.size()));
  scratch = cat(text.substr(0, at.begin), after);
  return scratch;
}

/// A line that says nothing but that an evaluation, or its results, follow: "=== Evaluation ===".
bool announces_evaluation(std::string_view text) {
  constexpr size_t kBytes = 60;
  if (text.size() > kBytes) return false;
  const size_t first = text.find_first_not_of("=-#*[( ");
  return first != kNone && std::string_view("eEvVhH").find(text[first]) != kNone && says_held_out(text);
}

/// "[step 3/200] rewards=['0.8', '0.01'] loss=0.5"
void add_listed(const RewardList& rewards, MetricLine& out) {
  const auto numbers = out.numbers();
  const bool said =
      std::any_of(numbers.begin(), numbers.end(), [](const RowNumber& one) { return one.key == "reward"; });
  if (!said) out.add("reward", rewards.mean);
  out.add("reward_max", rewards.most);
  out.add("reward_min", rewards.least);
}

bool is_reward(std::string_view signal) {
  return signal.starts_with("reward.") || signal.starts_with("return.") || signal.starts_with("accuracy.");
}

}  // namespace

const GenericReader::Known& GenericReader::known(std::string_view key) {
  // The same names come again in the same order: mostly the one that came behind the last one before.
  if (last_known_ != nullptr && last_known_->next != nullptr && last_known_->next->name == key) {
    last_known_ = last_known_->next;
    return *last_known_;
  }
  name_.assign(key);
  auto found = known_.find(name_);
  if (found == known_.end()) {
    if (known_.size() >= kKnownLimit) {
      known_.clear();
      last_known_ = nullptr;
    }
    const std::string figure = held_out_figure(key);
    found = known_
                .emplace(name_,
                         Known{name_, of_learning(key), !figure.empty() && of_learning(figure), false, false, nullptr})
                .first;
    found->second.step = step_key_rank(key) >= 0;
    found->second.reward = found->second.learning && is_reward(book_.generic_meaning(key).signal);
  }
  if (last_known_ != nullptr) last_known_->next = &found->second;
  last_known_ = &found->second;
  return *last_known_;
}

bool GenericReader::of_learning(std::string_view key) const {
  return is_of_learning(book_.generic_meaning(key).signal);
}

bool GenericReader::is_of_learning(std::string_view signal) {
  // Only what learning is about makes a line a trainer's: engines print lengths, times and throughput, too.
  static constexpr std::array<std::string_view, 10> kLearning = {
      "reward.", "return.", "advantage.", "loss.", "entropy", "kl.", "grad_norm", "clip.", "ratio.", "accuracy."};
  return std::any_of(kLearning.begin(), kLearning.end(),
                     [signal](std::string_view part) { return signal.starts_with(part); });
}

bool GenericReader::is_record(std::string_view text, const MetricLine& out, bool placed, MetricLine::Form form,
                              uint64_t number) {
  size_t known = 0;
  size_t wordy = 0;
  known_rewards_ = 0;
  for (const RowNumber& reading : out.numbers()) {
    const bool words = is_wordy(reading.key);
    wordy += words;
    if (words || !well_known(reading.key)) continue;
    ++known;
    known_rewards_ += last_known_->reward;
  }
  const size_t count = out.numbers().size();
  known_names_ = known;
  const bool under = !placed && heading_line_ != 0 && number - heading_line_ <= kStepReach;
  if (known == 0 && under && stands_beside(text, out)) {
    known_names_ = 1;
    return true;
  }
  if (known == 0 || wordy * 2 > count) return false;
  if (!placed) {
    const size_t settings = settings_in(out);
    if (settings >= 2 && settings >= known) return false;
  }
  if (!placed && is_one_answer(text, out)) return false;
  if (form == MetricLine::Form::kDict) {
    if (known >= 2 && says_step(out, true) && out.texts().size() <= count + kLoggerTexts) return true;
    return out.texts().size() <= count && (known >= 2 || placed || (known == 1 && count <= 4));
  }
  if (placed || known >= 2) return true;
  // One value alone: under a step's heading, and nothing else in the line.
  const bool alone = under && text.size() < kAloneBytes;
  blocks_ = blocks_ || alone;
  return alone;
}

/// Figures of an evaluation alone: "step 20: val_acc=0.35", and "Held-out accuracy: 35%" once there was training.
bool GenericReader::is_held_out_record(std::string_view text, const MetricLine& out, bool placed) {
  constexpr size_t kFigures = 12, kBytes = 100;
  const auto& numbers = out.numbers();
  if (numbers.size() > kFigures) return false;
  const auto held_out = [this](const RowNumber& one) { return known(one.key).held_out; };
  if (std::none_of(numbers.begin(), numbers.end(), held_out)) return false;
  if (placed || std::any_of(numbers.begin(), numbers.end(), names_step)) return true;
  const size_t at = static_cast<size_t>(numbers[0].key.data() - text.data());
  const std::string_view before = text.substr(0, std::min(at, text.size()));
  return trained_ && text.size() <= kBytes && held_out(numbers[0]) &&
         std::none_of(before.begin(), before.end(), is_letter);
}

/// Whether one of its names carries the step. In a dict every name does that would in a row of a structured file.
bool GenericReader::says_step(const MetricLine& record, bool dict) {
  const auto numbers = record.numbers();
  if (!dict) return std::any_of(numbers.begin(), numbers.end(), names_step);
  const bool may =
      std::any_of(numbers.begin(), numbers.end(), [this](const RowNumber& one) { return known(one.key).step; });
  return may && find_step_and_time(numbers, {}).step != kNoStep;
}

bool GenericReader::may_be_named(const MetricLine& dict) {
  return dict.numbers().size() >= 2 && dict.texts().size() <= dict.numbers().size() && settings_in(dict) < 2;
}

bool GenericReader::accepts(const MetricLine& block) {
  size_t known = 0;
  for (const RowNumber& reading : block.numbers()) known += well_known(reading.key);
  return known >= 2;
}

/// "Epoch 2 complete:" and the like, with figures below it, of a trainer that counts nothing but epochs.
bool GenericReader::sums_up_epoch(std::string_view text, const StepPlace& at) const {
  static constexpr std::array<std::string_view, 7> kWords = {"complete", "finished", "done", "summary",
                                                             "result",   "metrics",  "end"};
  if (at.epoch == kNoStep || at.step != kNoStep || has_steps_ || !text.ends_with(':')) return false;
  const std::string rest = to_lower(text.substr(at.end));
  return text.size() < kHeadingBytes &&
         std::any_of(kWords.begin(), kWords.end(), [&rest](std::string_view word) { return contains(rest, word); });
}

/// A line that only says which step begins: "=== Step 10 ===", "Starting step 10".
bool GenericReader::is_heading(std::string_view text, const StepPlace& at) {
  static constexpr std::array<std::string_view, 12> kOther = {"next",   "every", "until", "resum", "load",   "save",
                                                              "saving", "skip",  "eval",  "valid", "warmup", "total"};
  if (text.size() >= kHeadingBytes || at.step == kNoStep || at.word == "it") return false;
  // A batch is mostly one of many in a step; the rollouts are generated once.
  if (at.word == "batch" && !contains_folded(text.substr(0, at.begin), "rollout")) return false;
  if (at.word == "steps" && at.step_total == 0) return false;  // "steps: 60" is a setting
  const std::string rest = to_lower(cat(text.substr(0, at.begin), " ", without_epoch(text.substr(at.end))));
  if (rest.find('=') != kNone && rest.find("==") == kNone) return false;  // a dump of settings
  return std::none_of(kOther.begin(), kOther.end(), [&rest](std::string_view word) { return contains(rest, word); });
}

/// The pairs of a line, once what says the step is cut out of it.
MetricLine::Form GenericReader::read_pairs(std::string_view text, const StepPlace& at, MetricLine& out) {
  if (at.end > 0) {
    constexpr std::string_view kBetween = " :.,;>|-";
    std::string_view after = text.substr(at.end);
    while (!after.empty() && kBetween.find(after.front()) != kNone && !is_number_sign(after)) after.remove_prefix(1);
    std::string_view before = trim(text.substr(0, at.begin));
    if (is_tag(before)) before = {};
    bool names_value = false;  // "Loss at step 12: 0.5"
    for (const std::string_view where : {" at", " for", " @"}) {
      if (!before.ends_with(where) || after.empty() || (!is_digit(after[0]) && !is_number_sign(after))) continue;
      before.remove_suffix(where.size());
      names_value = true;
    }
    pairs_ = cat(before, names_value ? ": " : at.begin > 0 ? " , " : "", after);
    end_sentences(pairs_);
    text = pairs_;
  }
  const size_t dots = heading_line_ != 0 ? find_part(text, " ...") : kNone;
  const size_t end = std::min(dots == kNone ? kNone : text.find_first_not_of(". ", dots + 1), text.size());
  if (end < text.size() && (is_digit(text[end]) || text[end] == '-')) {  // "reward ..... 0.5"
    pairs_ = cat(text.substr(0, dots), ": ", text.substr(end));
    text = pairs_;
  }
  MetricLine::Form form = MetricLine::Form::kNone;
  static constexpr ByteSet kSeparators(":=|");
  if (at.known() || kSeparators.any_in(text)) form = out.read(text);
  // "iter 10 loss 0.5 reward 0.25", and "loss\t0.5" under a heading
  const auto column = [&] {
    return indented_ || text.starts_with("* ") || text.starts_with("- ") || text.find('\t') != kNone ||
           contains(text, "  ");
  };
  const bool under = form == MetricLine::Form::kNone && heading_line_ != 0 && text.size() < kHeadingBytes && column();
  if (!at.known() && !under) return form;
  words_.clear();
  words_.read_words(text);
  const size_t known = known_in(out);
  const bool beside = under && known == 0 && stands_beside(text, words_);  // "response_length   412.5"
  if (words_.numbers().size() > known && (beside || known_in(words_) > known)) {
    out.clear();
    out.read_words(text);
    form = MetricLine::Form::kCommas;
  }
  return form;
}

bool GenericReader::has_loss(const MetricLine& line) {
  const auto loss = [this](const RowNumber& one) { return book_.generic_meaning(one.key).signal.starts_with("loss."); };
  return known_in(line) >= 2 && std::any_of(line.numbers().begin(), line.numbers().end(), loss);
}

size_t GenericReader::rewards_in(const MetricLine& line) const {
  return static_cast<size_t>(std::count_if(line.numbers().begin(), line.numbers().end(), [this](const RowNumber& one) {
    const std::string& signal = book_.generic_meaning(one.key).signal;
    return signal.starts_with("reward.") || signal.starts_with("return.");
  }));
}

bool GenericReader::begins_record(std::string_view text) {
  text = trim(text);
  if (text.size() < 5 || text.size() > kLineLimit || std::none_of(text.begin(), text.end(), is_digit)) return false;
  const StepPlace at = find_place(text);
  const bool placed = (at.step != kNoStep || at.epoch != kNoStep) && at.end > 0;
  const bool drawn = is_drawn(text);  // a row may hold the step
  if (at.step != kNoStep && placed && is_heading(text, at))
    return !drawn || text.find("\u2500") != kNone || text.find("\u2550") != kNone;
  if (drawn) return false;
  begun_.clear();
  (void)read_pairs(text, placed ? at : StepPlace{}, begun_);
  return known_in(begun_) >= (placed ? 1 : 2);
}

bool GenericReader::says_its_step(std::string_view text) {
  const StepPlace at = find_place(trim(text));
  return at.step != kNoStep && at.end > 0 && begins_record(text);
}

size_t GenericReader::known_in(const MetricLine& line) {
  return static_cast<size_t>(std::count_if(line.numbers().begin(), line.numbers().end(),
                                           [this](const RowNumber& one) { return well_known(one.key); }));
}

MetricLine::Form GenericReader::read_values(std::string_view text, const StepPlace& at, MetricLine& out) {
  const size_t brace = text.find('{');
  const bool dict = brace != kNone && brace + 2 < text.size() && (text[brace + 1] == '\'' || text[brace + 1] == '"');
  if (!dict) return read_pairs(text, at, out);
  const MetricLine::Form form = out.read(text.substr(brace));
  if (brace == 0 && out.open() && text.ends_with(',')) return MetricLine::Form::kNone;  // it goes on, a key to a line
  if (form == MetricLine::Form::kNone || brace < kPairBytes || at.end > brace) return form;
  begun_.clear();  // "loss: 0.5, entropy: 0.25, rewards: {'total': 12, 'mean': 0.5}"
  (void)read_pairs(text.substr(0, brace), at, begun_);
  if (known_in(begun_) < 2) return form;
  for (const RowNumber& one : begun_.numbers()) {
    const auto numbers = out.numbers();
    const auto same = [&one](const RowNumber& other) { return other.key == one.key; };
    if (std::none_of(numbers.begin(), numbers.end(), same)) out.add(one.key, one.value);
  }
  return form;
}

/// A record that says its step so plainly that it is believed beside a known trainer's own shapes.
bool GenericReader::is_numbered(std::string_view text, const Found& found, const StepPlace& at, const MetricLine& out) {
  const bool stated = found.step != kNoStep || says_step(out, found.whole_dict);
  const bool of_total = at.step != kNoStep && at.step_total > 1;  // "step=12/320 loss=0.5"
  const bool leads =
      at.step != kNoStep && leads_line(text, at) && out.numbers().size() > 1;  // "Step 12 | Loss: 0.5 | LR: 1e-6"
  // "Step 12 | reward: 0.5"
  const bool cells = at.step != kNoStep && at.begin == 0 && trim(text.substr(at.end)).starts_with('|');
  const size_t least = of_total || leads || cells ? 1 : 2;
  return stated && (known_names_ >= least || accepts(out));
}

/// The line is of one environment, turn or sample, whose steps and rewards are none of the training's. `worded`: a
/// record that says it is an evaluation's.
bool GenericReader::is_environments(std::string_view text, const StepPlace& at, bool trains, bool worded) {
  const bool rewards = trains && known_rewards_ > 0 && !worded;
  if (rewards && known_names_ > known_rewards_) environments_.trained(text, at);
  if (trains ? known_rewards_ < known_names_ : !is_heading(text, at)) return false;
  return EnvironmentLines::is_named(text, at) || (rewards && environments_.is_others(text, at));
}

/// Whether a figure of the record has decimals behind a point, as most programs write them.
void GenericReader::note_point(const MetricLine& record) {
  if (!pointed_.empty()) return;
  const auto numbers = record.numbers();
  const auto fraction = [](const RowNumber& one) {
    return std::isfinite(one.value) && one.value != std::floor(one.value);
  };
  if (std::any_of(numbers.begin(), numbers.end(), fraction)) commas_.saw_point();
}

/// The message of the line, with ASCII punctuation and points before decimals.
std::string_view GenericReader::in_plain(std::string_view text, RareBytes rare) {
  if (logged_message(text, said_) && said_.size() >= 5) text = trim(said_);
  if (rare.may_be_wide() && narrow_punctuation(text, narrow_)) text = narrow_;
  if (commas_.read(
          text, [this](std::string_view name) { return well_known(name); }, pointed_))
    text = pointed_;
  return text;
}

/// Whether the record that was found is an evaluation's. `worded`: it says so.
bool GenericReader::is_held_out(std::string_view text, uint64_t number, const StepPlace& at, bool bars, bool worded) {
  const bool under = !at.known() && held_out_line_ != 0 && number - held_out_line_ <= kHeldOutReach;
  const bool held_out =
      !bars && (known_names_ == 0 || under || worded || says_held_out(without_place(text, at, placeless_)));
  trained_ = trained_ || !held_out;
  if (!held_out && at.step != kNoStep && known_rewards_ == 0) rounds_.trained(at.step);
  if (!held_out) held_out_line_ = 0;
  return held_out;
}

GenericReader::Found GenericReader::read_line(std::string_view line, uint64_t number, MetricLine& out, RareBytes rare) {
  Found found;
  out.clear();
  pointed_.clear();
  std::string_view text = trim(line);
  if (text.size() < 5 || text.size() > kLineLimit) return found;
  indented_ = (heading_line_ != 0 && enter_cell(text)) || line.starts_with("  ") || line.starts_with('\t');
  if (rare.may_hold('*') && is_markdown_step(text)) return found;
  if (std::none_of(text.begin(), text.end(), is_digit) && !(text.size() < kHeadingBytes && ends_non_finite(text))) {
    if (announces_evaluation(text)) held_out_line_ = number;
    return found;
  }
  text = in_plain(text, rare);
  StepPlace at = find_place(text, rare);
  const auto rewards = read_reward_list(text);
  if (rewards && at.step == kNoStep) {
    if (!placed_list_) found.listed = rewards->mean;
    return found;
  }
  bracket_place(text, at);
  if (at.known() && whole_names(text, named_)) {
    text = named_;
    at = find_place(text, rare);
  }
  size_t bar = 0;
  const bool bars = rare.may_hold('%') && is_bar(text, &bar);
  const MetricLine::Form form = bars ? (note_bar_of_epoch(at), read_bar(text, bar, out)) : read_values(text, at, out);
  placed_list_ = placed_list_ || (rewards && !bars);
  if (rewards && !bars) add_listed(*rewards, out);
  const bool trains = form != MetricLine::Form::kNone && is_record(text, out, at.known(), form, number);
  const bool worded = trains && !bars && says_held_out(text);
  if (!bars && form != MetricLine::Form::kDict && is_environments(text, at, trains, worded)) {
    out.clear();
    return found;
  }
  const bool record = trains || (!bars && form != MetricLine::Form::kNone && known_names_ == 0 &&
                                 is_held_out_record(text, out, at.known()));
  has_steps_ = has_steps_ || (record && at.step != kNoStep);
  const bool epoch = !record && !bars && begins_epoch(text, at);
  const bool heading = epoch || (!record && !bars && is_heading(text, at) && lower(text[0]) != 'e');
  if (at.known() && (record || heading)) {
    found.step = over_epochs(at, &found.total);
    if (at.epoch != kNoStep && at.step != kNoStep) found.epoch_length = at.step_total;
    found.heading = heading;
    heading_line_ = number;
  }
  if (record) found.held_out = is_held_out(text, number, at, bars, worded);
  if (!record && announces_evaluation(text)) held_out_line_ = number;
  if (!record && !heading && !counts_epochs_) found.total = find_plan(text);
  if (record && !commas_.knows_points()) note_point(out);
  found.record = record;
  found.barred = record && bars;
  found.stale = found.barred && redrawn_;
  found.whole_dict = record && form == MetricLine::Form::kDict && text.front() == '{' && text.back() == '}';
  found.numbered = record && !bars && is_numbered(text, found, at, out);
  const bool beside = known_names_ > known_rewards_;  // what no answer's scores have
  found.of_training = found.barred ? titled_ || (known_rewards_ > 0 && beside) : found.whole_dict && beside;
  if (!record) out.clear();
  return found;
}

}  // namespace mw
