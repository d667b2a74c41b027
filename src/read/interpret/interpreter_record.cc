// Metric records out of lines: on one line and over several.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "read/interpret/interpreter.h"
#include "read/interpret/interpreter_fields.h"
#include "read/interpret/resume_line.h"
#include "read/interpret/save_line.h"

namespace mw {
namespace {

constexpr size_t kPathLimit = 400;  // bytes of a path in an event

}  // namespace

void Interpreter::make_record(const Shape& shape, const Fields& fields, const LogLine& line, std::string_view text,
                              size_t match_end) {
  if (pending_.kind != Pending::Kind::kNone) pending_done();
  if (beside_rows_ && fields.flag("micro")) return add_broken(fields.text("body"), line);
  plan(fields, line);
  Pending as;
  as.step = fields.integer("step", kNoStep);
  as.policy = shape.policy;
  as.eval = fields.flag("eval");
  as.prefix = std::string(fields.text("prefix"));
  if (const size_t at = as.prefix.find("{title}"); at != std::string::npos) {
    as.prefix.replace(at, 7, fields.text("title"));
  }
  as.number = line.number;
  as.at = line.at;
  as.pid = line.pid;
  if (shape.make == Maker::kTable) {
    as.kind = Pending::Kind::kTable;
    pending_ = std::move(as);
    table_.clear();
    return;
  }
  std::string_view body = text.substr(std::min(match_end, text.size()));
  if (const std::string_view captured = fields.text("body");
      !captured.empty() && captured.data() >= text.data() && captured.data() <= text.data() + text.size()) {
    body = text.substr(static_cast<size_t>(captured.data() - text.data()));
  }
  body = trim(body);
  if (body.empty()) {  // the record is in the next lines
    as.kind = Pending::Kind::kTable;
    pending_ = std::move(as);
    table_.clear();
    return;
  }
  metrics_.read(body);
  if (fields.flag("ended")) {
    cell_tables_.ended();
    put(event::Ended{event::Ended::How::kComplete, 0, clean_.take(line.text, kTextLimit)}, line.number, line.at);
  }
  if (metrics_.open()) {
    as.kind = Pending::Kind::kDict;
    as.text = std::string(body.substr(0, kPendingBytes));
    pending_ = std::move(as);
    return;
  }
  as.stale = !as.eval && find_part(text, "%|") != std::string_view::npos && bar_.again(body, metrics_.numbers());
  add_record(metrics_, as);
}

/// Of a part of a step whose record comes as a row: what is no number, as the step may never come to its record.
void Interpreter::add_broken(std::string_view body, const LogLine& line) {
  if (!contains(body, "nan") && !contains(body, "inf")) return;  // most
  metrics_.read(body);
  std::vector<RowNumber> broken;
  for (const RowNumber& one : metrics_.numbers()) {
    if (!std::isfinite(one.value)) broken.push_back(one);
  }
  if (broken.empty()) return;
  Record record;
  record.numbers = broken;
  record.names = records_.names_of(broken);
  record.where = where(line.number);
  record.at = line.at;
  records_.add(record);
}

namespace {

/// Does a row name what its table has already?
bool repeats(const MetricLine& row, const MetricLine& table) {
  return std::any_of(row.numbers().begin(), row.numbers().end(), [&table](const RowNumber& number) {
    return std::any_of(table.numbers().begin(), table.numbers().end(),
                       [&number](const RowNumber& known) { return known.key == number.key; });
  });
}

std::vector<std::pair<std::string, double>> copy_of(const MetricLine& row) {
  std::vector<std::pair<std::string, double>> kept;
  for (const RowNumber& number : row.numbers()) kept.emplace_back(number.key, number.value);
  return kept;
}

}  // namespace

/// The next line of a dict that goes over several.
bool Interpreter::pending_dict_takes(const LogLine& line) {
  const bool stamped = line.level != Level::kNone && line.at.known();
  if (stamped || contains(line.text, "Traceback (most") || pending_.text.size() + line.text.size() > kPendingBytes) {
    pending_done();
    return false;
  }
  const std::string_view text = trim(line.text);
  // An answer that is cut within "{" looks like a dict whose end never comes: what follows it is not its own.
  if (pending_.brackets &&
      (!pending_.brackets->goes_on_with(text) || generic_.begins_record(text) || read_save(text))) {
    pending_ = Pending();
    return false;
  }
  if (!pending_.brackets && pending_.text == "{" && !text.starts_with('"') &&
      !text.starts_with('\'')) {  // not of a dict
    pending_ = Pending();
    return false;
  }
  pending_.text.push_back(' ');
  pending_.text.append(line.text);
  if (pending_.brackets) pending_.brackets->read(text);
  if (line.text.find('}') == std::string_view::npos) return true;
  metrics_.read(pending_.text);
  if (!metrics_.open()) pending_done();
  return true;
}

/// The table that is open is done, and one of an unknown trainer begins with `row`.
void Interpreter::begin_table_with(const MetricLine& row, const LogLine& line) {
  Pending next;
  next.kind = Pending::Kind::kTable;
  next.unknown = next.rows = true;
  next.number = line.number;
  next.at = line.at;
  next.pid = line.pid;
  const std::vector<std::pair<std::string, double>> kept = copy_of(row);
  pending_done();
  pending_ = std::move(next);
  for (const auto& [key, value] : kept) table_.add(key, value);
}

// Takes the next line of a record that goes over several. False: the line is not the record's (which is then done).
bool Interpreter::pending_takes(const LogLine& line) {
  if (line.pid != pending_.pid) return false;  // another process cuts in
  if (++pending_.lines > kTableLines) {
    pending_done();
    return false;
  }
  if (pending_.kind == Pending::Kind::kDict) return pending_dict_takes(line);
  const std::string_view text = trim(line.text);
  if (!text.empty() && text[0] == '{' && !pending_.rows) {
    pending_.kind = Pending::Kind::kDict;
    pending_.text = std::string(text.substr(0, kPendingBytes));
    pending_.brackets.emplace().read(pending_.text);
    metrics_.read(pending_.text);
    if (!metrics_.open()) pending_done();
    return true;
  }
  // A line that is a record by itself, or the heading of the next step, is no row.
  if (pending_.unknown && (generic_.begins_record(text) || read_save(text))) {
    pending_done();
    return false;
  }
  if (is_table_frame(text)) {
    pending_.boxed = static_cast<unsigned char>(text[0]) >= 0x80 && !is_bottom_frame(text);
    return true;
  }
  if (text.empty() && !pending_.rows) return true;
  const size_t before = table_.numbers().size();
  MetricLine& row = metrics_;
  row.clear();
  // Under a bare rule "a=1 | b=2" may be anything; a row of a drawn table begins with its border.
  const bool drawn = !text.empty() && (text[0] == '|' || static_cast<unsigned char>(text[0]) >= 0x80);
  const bool cells = (drawn || !pending_.unknown) && row.read_cells(text);
  const bool logged = line.level != Level::kNone && line.at.known();
  if (!cells && pending_.rows && logged && !pending_.logged) {  // a logger speaks: the table is over
    pending_done();
    return false;
  }
  // What stands among or below rows with cells is not of their table.
  if (!cells && !pending_.drawn) row.read_field(text, true);
  if (pending_.unknown && repeats(row, table_)) {  // the next table, without a word between
    begin_table_with(row, line);
    return true;
  }
  for (const RowNumber& number : row.numbers()) table_.add(number.key, number.value);
  if (table_.numbers().size() > before || cells) {
    if (!pending_.rows) pending_.logged = logged && !cells;
    pending_.drawn = pending_.drawn || cells;
    pending_.rows = true;
    pending_.foreign = 0;
    return true;
  }
  if (pending_.boxed && pending_.rows && ++pending_.foreign <= kForeignLines) return false;  // printed into the box
  // A title, or another logger's words; what stands under a rule of nobody's table is read for what it says.
  if (!pending_.rows && pending_.lines < 4) return !pending_.unknown;
  pending_done();
  return false;
}

void Interpreter::pending_done() {
  Pending as = std::move(pending_);
  pending_ = Pending();
  if (as.kind == Pending::Kind::kTable) {
    if (!as.unknown || generic_.accepts(table_)) add_record(table_, as);
    table_.clear();
    return;
  }
  metrics_.read(as.text);
  if (as.unknown && !generic_.accepts(metrics_)) return;
  if (metrics_.open()) records_.lost_record();
  add_record(metrics_, as);
}

/// Is the record one of the loop whose bar is not that of the steps? The training before may have left its last records
/// in a buffer, and their epochs rise; no evaluation lets records of a training out while its bar moves.
bool Interpreter::trains_in_other_loop(const MetricLine& metrics) const {
  const bool trains = std::any_of(metrics.numbers().begin(), metrics.numbers().end(),
                                  [](const RowNumber& number) { return number.key == "learning_rate"; });
  if (!trains) return false;
  const bool moves = other_.done > 0 && other_.done < other_.total, over = steps_complete_ || loop_.may_be_another();
  switch (records_.epoch_turn(metrics.numbers())) {
    case StepCounter::Turn::kBack:
      return over || moves;
    case StepCounter::Turn::kOn:
      // One that was done is given more steps, or one that failed other ones.
      return over && moves && (other_.total > steps_total_ || loop_.may_be_another());
    case StepCounter::Turn::kUnknown:
      return over && moves;
  }
  return false;
}

/// Another training, whose bar has other steps than the one before: its steps are counted from here on.
void Interpreter::follow_other_loop(const Pending& as) {
  const OtherLoop bar = std::exchange(other_, {});
  steps_total_ = bar.total;
  steps_complete_ = false;
  loop_ = {};
  records_.steps_done(0);
  put(event::AttemptBegan{std::string(kLoopAgain)}, as.number, as.at);
  put(event::Planned{steps_total_}, as.number, as.at);
  if (bar.first < bar.done) records_.steps_done(bar.first, steps_total_);
  records_.steps_done(bar.done, steps_total_);
}

namespace {

/// "{'step': 512, 'loss': 512, 'reward': 512}": how many points of each there are, and no record.
bool counts_points(std::span<const RowNumber> numbers) {
  constexpr size_t kNames = 3;
  constexpr double kMany = 10;  // a first step may have all of its figures alike
  if (numbers.size() < kNames || numbers[0].value < kMany || numbers[0].value != std::floor(numbers[0].value))
    return false;
  return std::all_of(numbers.begin(), numbers.end(),
                     [&numbers](const RowNumber& one) { return one.value == numbers[0].value; });
}

}  // namespace

void Interpreter::add_record(const MetricLine& metrics, const Pending& as) {
  if (metrics.numbers().empty() || counts_points(metrics.numbers())) return;
  const auto names = records_.names_of(metrics.numbers());
  recogniser_.names(names);
  follow_speaker();
  if (other_.total > 0 && !as.eval && trains_in_other_loop(metrics)) follow_other_loop(as);
  Record record;
  record.numbers = metrics.numbers();
  record.names = names;
  record.prefix = as.prefix;
  record.step = as.step;
  record.format_step = as.format_step;
  record.policy = as.policy;
  record.eval = as.eval;
  record.stale = as.stale;
  record.where = where(as.number);
  record.at = as.at;
  // A record of the step that the answers so far were scored for ends it. One without a step may be anybody's.
  std::vector<RowNumber> all;
  const bool ends_step = !as.eval && !as.stale && as.prefix.empty() && (as.step != kNoStep || records_.counting());
  if (ends_step && !scores_.empty()) {
    const std::vector<RowNumber> means = scores_.means();
    all.assign(metrics.numbers().begin(), metrics.numbers().end());
    all.insert(all.end(), means.begin(), means.end());
    record.numbers = all;
    record.names = records_.names_of(all);
  }
  records_.add(record);
  if (!all.empty()) scores_.clear();
  finish_save(metrics, as);
}

// A table or a dict of an unknown trainer begins here; whether it is a metric record is seen at its end.
bool Interpreter::begin_block(const LogLine& line) {
  const std::string_view text = trim(line.text);
  const bool frame = text.size() >= 10 && is_table_frame(text);
  const bool dict = text == "{" || (text.size() > 3 && text[0] == '{' && (text[1] == '\'' || text[1] == '"'));
  if (!frame && !dict) return false;
  if (pending_.kind != Pending::Kind::kNone) pending_done();
  Pending as;
  as.unknown = true;
  as.number = line.number;
  as.at = line.at;
  as.pid = line.pid;
  if (frame) {
    as.kind = Pending::Kind::kTable;
    table_.clear();
  } else {
    metrics_.read(text);
    if (!metrics_.open()) return false;
    as.kind = Pending::Kind::kDict;
    as.text = std::string(text.substr(0, kPendingBytes));
    as.brackets.emplace().read(as.text);
  }
  pending_ = std::move(as);
  return true;
}

/// Whether a row in a notebook is a record of the training, which may be another one than that of the table before.
bool Interpreter::is_row_of_training(const LogLine& line, int64_t step) {
  // Behind the records of a known trainer only its own tables are the training's: others sum up, or show it once more.
  if (trainer_known() && own_record_ && !columns_.of_trainer()) return false;
  const bool complete = cell_tables_.trains() && steps_complete_;  // as the bar of the training before says
  switch (cell_tables_.row(columns_.tables(), step, metrics_.numbers())) {
    case CellTables::Row::kShownBefore:
      return false;
    case CellTables::Row::kOfAnother:
      if (complete) put(event::Ended{event::Ended::How::kComplete, 0, ""}, line.number, line.at);
      records_.another_process();
      begin_attempt(cat("Starting the notebook's no. ", cell_tables_.trainings(), " training"), line);
      return true;
    case CellTables::Row::kNext:
      break;
  }
  return true;
}

/// A table with a head of names, as notebooks show it.
bool Interpreter::make_columns(const LogLine& line) {
  const auto measured = [this](std::string_view name) { return generic_.measures(name); };
  int64_t step = kNoStep;
  const ColumnTable::Took took = columns_.take(line.text, measured, metrics_, &step);
  if (took != ColumnTable::Took::kRow) return took == ColumnTable::Took::kHead;
  if (of_cells_ && !is_row_of_training(line, step)) return true;
  recogniser_.unknown_trainer();
  own_loop_ = true;
  Pending as;
  as.step = step;
  as.number = line.number;
  as.at = line.at;
  add_record(metrics_, as);
  return true;
}

/// The run's log says so.
void Interpreter::checkpoint_gone(int64_t step, std::string_view path, std::string_view why, const LogLine& line) {
  event::CheckpointSeen gone;
  gone.step = step;
  gone.path = clean_.take(basename(path), kPathLimit);
  gone.what = why;
  gone.sign = kGoneSign;
  put(std::move(gone), line.number, line.at);
}

/// A save of a trainer that its dialect describes.
void Interpreter::make_checkpoint(const Fields& fields, int64_t step, const LogLine& line) {
  if (fields.flag("background")) {  // the record of a step says nothing of its save
    begun_save_ = {};
    saves_go_on_ = true;
    return;
  }
  if (fields.flag("deleted")) return checkpoint_gone(step, fields.text("path"), "its trainer deleted it", line);
  if (step != kNoStep) records_.saved(step);
  event::CheckpointSaved save{step, clean_.take(fields.text("path"), kPathLimit), fields.text("complete") != "false"};
  save_ends_with_ = fields.text("until_record");
  const bool ends_with_record = !save_ends_with_.empty() && !saves_go_on_ && !save.complete;
  begun_save_ = ends_with_record ? save : event::CheckpointSaved();
  put(std::move(save), line.number, line.at);
}

/// The record of a step that a save had begun at, or that part of it which is printed behind the save: the save has
/// returned.
void Interpreter::finish_save(const MetricLine& metrics, const Pending& as) {
  if (as.eval || begun_save_.step == kNoStep) return;
  const int64_t step = as.step != kNoStep ? as.step : records_.current();
  const auto shows = [&](const RowNumber& number) { return cat(as.prefix, number.key) == save_ends_with_; };
  const bool whole = save_ends_with_ == "true";
  if (begun_save_.step != step || (!whole && std::none_of(metrics.numbers().begin(), metrics.numbers().end(), shows)))
    return;
  begun_save_.complete = true;
  put(std::exchange(begun_save_, {}), as.number, as.at);
}

/// A save of a trainer that nobody described.
bool Interpreter::make_save(const LogLine& line) {
  if (trainer_known()) return false;
  const auto save = read_save(line.text, line.rare);
  const auto removal = save ? std::nullopt : read_removal(line.text);
  if (removal) {
    std::string_view path = removal->path;
    while (path.ends_with('/')) path.remove_suffix(1);
    checkpoint_gone(removal->step, path, "its trainer deleted it", line);
  }
  if (!save) return removal.has_value();
  if (save->step != kNoStep) generic_.saw_step(save->step);
  put(event::CheckpointSaved{save->step, clean_.take(save->path, kPathLimit), save->complete}, line.number, line.at);
  return true;
}

/// A trainer that nobody described goes on from a checkpoint.
bool Interpreter::make_resume(const LogLine& line) {
  if (trainer_known()) return false;
  const auto resume = read_resume(line.text);
  if (!resume) return false;
  // What is loaded behind the step that it is of is loaded for something else.
  if (resume->only_loaded && records_.current() != kNoStep && resume->step <= records_.current()) return false;
  if (resume->step != kNoStep) records_.resumed(resume->step);
  if (doubted_trace() != 0) emit_temporary_program(false);
  put(event::Resumed{resume->step, clean_.take(resume->path, kPathLimit)}, line.number, line.at);
  return true;
}

/// "step 5 done" below the step's figures: those that come are of the next one. Where nothing stood above the first
/// such line, or a line says which step begins, the figures stand below.
void Interpreter::note_heading(const LogLine& line, int64_t step) {
  constexpr uint64_t kAbove = 3;  // lines
  constexpr std::array<std::string_view, 4> kDone = {"done", "finished", "complete", "took "};
  const bool done = !line.text.ends_with(':') && std::any_of(kDone.begin(), kDone.end(), [&line](auto word) {
    return contains_folded(line.text, word);
  });
  const bool above = placeless_line_ != 0 && line.number <= placeless_line_ + kAbove;
  if (!done) {
    closes_steps_ = false;
  } else if (closed_step_ == kNoStep) {
    closes_steps_ = above && records_.current() == kNoStep;
  }
  if (done && closed_step_ != kNoStep && step > closed_step_) step_stride_ = step - closed_step_;
  closed_step_ = done ? step : closed_step_;
}

}  // namespace mw
