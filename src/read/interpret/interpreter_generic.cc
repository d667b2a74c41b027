// Records of trainers that nobody described, and of known ones that print none of their own: a line, or a dict that
// fills one, as `print(metrics)` writes it.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "core/not_seen.h"
#include "core/signal.h"
#include "read/files/row_builder.h"
#include "read/interpret/interpreter.h"

namespace mw {
namespace {

constexpr size_t kUnreadBytes = 160;  // of a line that is quoted

/// "Starting training with the following configuration: model=… batch=64 lr=1e-6 kl=0.03": what a run is set to, which
/// names a batch and a KL as its records do, and neither reward nor loss.
bool says_settings(std::string_view text) {
  static constexpr std::array<std::string_view, 5> kWords = {"configuration", "hyperparam", "hyper-param",
                                                             "settings:", "config:"};
  const auto says = [text](std::string_view word) { return contains_folded(text, word); };
  return std::any_of(kWords.begin(), kWords.end(), says) && !says("reward") && !says("loss");
}

}  // namespace

/// A dict that fills its line, and that names which only a known trainer's dialect knows make a record. A structured
/// file's row is known by them, too.
bool Interpreter::reads_named_dict(const LogLine& line) {
  const std::string_view text = trim(line.text);
  const bool dict = text.size() > 3 && text.size() <= GenericReader::kLineLimit && text[0] == '{' &&
                    (text[1] == '\'' || text[1] == '"') && text.back() == '}';
  if (!dict) return false;
  metrics_.clear();
  if (metrics_.read_dict(text) != text.size() || !GenericReader::may_be_named(metrics_)) return false;
  const auto names = records_.names_of(metrics_.numbers());
  recogniser_.names(names);
  follow_speaker();
  if (!trainer_known()) return false;
  size_t known = 0, own = 0, learning = 0;
  const std::vector<std::string>& steps = index_.book->dialects()[*speaker_].step_keys;
  for (const KnownName* const name : names) {
    own += std::find(steps.begin(), steps.end(), name->raw) != steps.end();
    const Meaning means = index_.book->meaning(speaker_, name->raw);
    if (means.signal.empty() || means.ignored) continue;
    ++known;
    own += index_.book->generic_meaning(name->raw).signal.empty();
    learning += GenericReader::is_of_learning(means.signal);
  }
  return known >= 2 && own > 0 && learning > 0;
}

bool Interpreter::make_generic(const LogLine& line) {
  if (make_columns(line) || make_save(line) || make_resume(line)) return true;
  // What a notebook prints behind a known trainer's last record is what its writer tries next.
  if (of_cells_ && trainer_known() && own_record_ && !cell_tables_.trains()) return false;
  GenericReader::Found found = generic_.read(line.text, line.number, metrics_, line.rare);
  if (found.record && !found.whole_dict && says_settings(line.text)) return false;
  const bool unsure = found.record ? found.whole_dict && !found.of_training : !found.heading && !found.listed;
  if (unsure && !own_record_ && reads_named_dict(line)) {
    found.record = found.whole_dict = found.of_training = true;
    found.unread_reward = false;
  }
  if (found.held_out && found.total > 0 &&
      found.total != steps_total_) {  // "eval step 3/50": it counts its own batches
    found.step = kNoStep;
    found.total = 0;
  }
  // A known trainer's own shapes say the rest, where it prints any.
  const bool unnamed = found.record && found.step == kNoStep && !found.held_out && !found.barred &&
                       records_.current() == kNoStep && (found.of_training || generic_.has_loss(metrics_));
  const bool counts = found.numbered || ((found.of_training || unnamed) && !own_record_);
  if (trainer_known() && !(found.record && counts)) return false;
  if (found.unread_reward)
    put(event::SourceProblem{std::string(kUnreadReward), clean_.take(trim(line.text), kUnreadBytes)}, line.number,
        line.at);
  if (found.listed) {
    recogniser_.unknown_trainer();
    const Reading mean{std::string(kListedRewards), "rewards/listed", *found.listed};
    put(event::Measured{kNoStep, false, {mean}}, line.number, line.at);
    return true;
  }
  const bool leaps = found.step != kNoStep && !found.held_out && records_.leaps(found.step);
  if (found.epoch_length > 0) records_.set_epoch_length(found.epoch_length);
  if (found.total > 0 && found.total != steps_total_ && !leaps) {
    steps_total_ = found.total;
    put(event::Planned{found.total}, line.number, line.at);
  }
  if (found.heading && found.step != kNoStep) {
    if (records_.waits(found.step, {line.at, where(line.number), event::StepBegan{found.step}})) return true;
    note_heading(line, found.step);
    records_.set_step(found.step);
    put(event::StepBegan{found.step}, line.number, line.at);
  }
  if (found.record) return make_generic_record(found, unnamed, line);
  arms_.note_heading(line.text);
  return found.heading || begin_block(line);
}

/// The record that was read into metrics_.
bool Interpreter::make_generic_record(const GenericReader::Found& found, bool unnamed, const LogLine& line) {
  recogniser_.unknown_trainer();
  own_loop_ = true;
  const auto finite = [](const RowNumber& one) { return std::isfinite(one.value); };
  const auto numbers = metrics_.numbers();
  // Of a dict, the names that say its step and time are those of a structured file's row.
  const StepAndTime said = found.whole_dict ? find_step_and_time(numbers, metrics_.texts()) : StepAndTime{};
  const int64_t step = found.step != kNoStep ? found.step : said.step;
  if (std::all_of(numbers.begin(), numbers.end(), finite) && !ranks_.leads(line.rank, numbers, step)) return true;
  if (!found.held_out && of_other_arm(arms_.of_line(line.text), step, numbers, line.number, line.at)) return true;
  Pending as;
  as.step = found.step;
  as.format_step = said.step;
  if (step == kNoStep && !found.held_out) {
    placeless_line_ = line.number;
    if (unnamed) as.policy = StepPolicy::kUnnamed;
    if (closes_steps_) as.step = closed_step_ + step_stride_;
  }
  as.eval = found.held_out;
  as.stale = found.stale;
  as.number = line.number;
  as.at = line.at.known() ? line.at : said.at;
  add_record(metrics_, as);
  return true;
}

}  // namespace mw
