// Records and settings of structured files.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/numbers.h"
#include "base/text.h"
#include "read/interpret/interpreter.h"
#include "read/interpret/record_kind.h"
#include "read/lines/logged_message.h"

namespace mw {
/// "global_step/max_steps": "34/660": the step that a row states as text, and how many there will be.
void Interpreter::step_in_text(const Row& row, Record& record) {
  for (const RowText& text : row.texts) {
    const size_t slash = text.value.find('/');
    if (slash == std::string_view::npos || !contains(text.key, "step")) continue;
    const auto step = parse_int(text.value.substr(0, slash)), total = parse_int(text.value.substr(slash + 1));
    if (!step || !total || *step < 0 || *total < *step || *total < 1) continue;
    record.step = *step;
    if (*total != steps_total_) put(event::Planned{steps_total_ = *total}, row.number, row.at);
    return;
  }
}

/// A record that says how the run was begun. One of a later step is of that step, whatever it calls itself.
bool Interpreter::settings_of(const Row& row) {
  if (row.step != kNoStep && row.step != 0) return false;
  const auto say = [&](std::string_view key, std::string_view value) {
    if (names_kind(key) || is_logger_name(key)) return;  // its time, its level
    if (key.starts_with("config/")) key.remove_prefix(7);
    recogniser_.name(Sign::In::kConfig, key);
    configure(key, value, where(row.number), row.at);
  };
  for (const RowText& text : row.texts) say(text.key, text.value);
  for (const RowNumber& one : row.numbers) say(one.key, format_double(one.value));
  recogniser_.unknown_trainer();
  follow_speaker();
  return true;
}

/// Of the lines of one arm: those that name it, and those below its heading that name none.
bool Interpreter::of_wanted_arm(std::string_view text) {
  arms_.note_heading(text);
  return arms_.wanted(arms_.of_line(text));
}

/// Is the record of an arm of the experiment that is not read? That the arm goes on is a sign of life.
bool Interpreter::of_other_arm(std::string_view arm, int64_t step, std::span<const RowNumber> numbers, uint64_t number,
                               Time at) {
  const Arms::Take take = arms_.take(arm, step, numbers);
  if (take == Arms::Take::kOther) put(event::Measured{}, number, at);
  return take != Arms::Take::kTake;
}

void Interpreter::row(const Row& row, bool failed) {
  const RecordKind kind = kind_of_record(row);
  if (kind == RecordKind::kAction || (kind == RecordKind::kSettings && settings_of(row))) return;
  number_ = row.number;
  if (kind == RecordKind::kTraining && !failed && AnswerRows::is_answer(row)) {
    if (answer_rows_.add(row)) record_answers(row.number, row.at);
  } else if (!record_row(row, kind == RecordKind::kHeldOut, failed)) {
    return;
  }
  answers_.row(row.texts);
  if (answers_.due()) emit_answers();
}

/// What many answers earned in the mean, as one record.
void Interpreter::record_answers(uint64_t number, Time at) {
  const std::vector<RowNumber> means = answer_rows_.take();
  record_row(Row{number, kNoStep, at, means, {}, false}, false);
}

/// Of a rank beside the leading one only what is no number counts: where one rank has NaN, all will. False: nothing
/// did.
bool Interpreter::record_row(const Row& all, bool held_out, bool failed) {
  Row row = all;
  std::vector<RowNumber> broken;
  if (!ranks_.leads(all.numbers, all.step)) {
    std::copy_if(all.numbers.begin(), all.numbers.end(), std::back_inserter(broken),
                 [](const RowNumber& one) { return !std::isfinite(one.value); });
    if (broken.empty()) return false;
    row.numbers = broken;
  }
  const auto names = records_.names_of(row.numbers);
  recogniser_.names(names);
  recogniser_.unknown_trainer();
  const std::string_view arm = arms_.of_row(row.numbers, names, row.texts);
  if (!arms_.wanted(arm)) return false;
  const int64_t stated = stated_step(names, row.numbers);
  if (!held_out && broken.empty() &&
      of_other_arm(arm, stated != kNoStep ? stated : row.step, row.numbers, row.number, row.at))
    return false;
  follow_speaker();
  Record record;
  record.numbers = row.numbers;
  record.names = names;
  record.format_step = row.step;
  record.of_machine = row.of_machine;
  record.from_file = true;
  record.eval = held_out;
  record.stale = failed;  // its step is all that it says
  record.where = where(row.number);
  record.at = row.at;
  step_in_text(row, record);
  records_.add(record);
  return true;
}

void Interpreter::emit_answers() {
  for (event::FormatJudged& judged : answers_.take()) put(std::move(judged), number_, {});
}

void Interpreter::property(std::string_view key, std::string_view value) {
  std::string_view name = key;
  if (name.substr(0, 7) == "config/") name = name.substr(7);
  recogniser_.name(Sign::In::kConfig, name);
  recogniser_.unknown_trainer();
  follow_speaker();
  configure_clean(name, clip(sanitize_utf8(trim(value)), kSettingBytes), where(0),
                  {});  // the decoder has seen to secrets
  count_document(key, value);
}

/// trainer_state.json says how far its run had come, also where its log has no record of that step.
void Interpreter::count_document(std::string_view key, std::string_view value) {
  if (key != "document/global_step" && key != "document/max_steps") return;
  (key == "document/global_step" ? document_done_ : document_total_) = parse_int(trim(value)).value_or(0);
  if (document_done_ <= 0 || document_total_ < document_done_) return;
  put(event::Progressed{"", document_done_, document_total_}, 0, {});
}

void Interpreter::ended(int64_t code, Time at) {
  event::Ended body;
  body.how = code == 0 ? event::Ended::How::kComplete : event::Ended::How::kExit;
  body.code = code;
  put(std::move(body), number_, at);
}

}  // namespace mw
