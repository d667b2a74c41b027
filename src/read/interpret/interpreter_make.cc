// Line shapes that matched become events.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/one_of.h"
#include "base/text.h"
#include "core/attempts.h"
#include "core/trajectory.h"
#include "read/interpret/interpreter.h"
#include "read/interpret/interpreter_fields.h"

namespace mw {
namespace {

constexpr size_t kMostDigits = 6;    // of hours, minutes or seconds in a bar
constexpr size_t kPathLimit = 400;   // bytes of a path in an event
constexpr size_t kErrorLimit = 200;  // bytes of a tool's error

int64_t rounded(double value) { return std::isfinite(value) && std::fabs(value) < 1e15 ? std::llround(value) : 0; }

// Whose fault an error of a tool call is. A call that names a function's arguments wrongly, or is no valid call at all,
// is the model's; what breaks behind the call is the environment's.
event::ToolCalled::Outcome judge_error(std::string_view error) {
  using Outcome = event::ToolCalled::Outcome;
  const std::string folded = to_lower(error.substr(0, kErrorLimit * 2));
  const auto has = [&](std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return contains(folded, word); });
  };
  if (trim(error).empty()) return Outcome::kOk;
  if (has({"timeout", "timed out", "deadline"})) return Outcome::kTimeout;
  if (has({"connection", "refused", "unreachable", "unavailable", "reset by peer", "resolve", "http 5", "server error",
           "502", "503", "rate limit", "quota", "ssl", "certificate", "no space", "permission denied"})) {
    return Outcome::kEnvironmentError;
  }
  // Wrong arguments, wrong syntax, and asking for what is not there or not allowed.
  if (has({"unexpected keyword argument",
           "required positional argument",
           "missing required",
           "unknown tool",
           "unknown function",
           "not a valid tool",
           "invalid",
           "jsondecodeerror",
           "json.decoder",
           "syntaxerror",
           "nameerror",
           "typeerror",
           "valueerror",
           "keyerror",
           "attributeerror",
           "indexerror",
           "no such tool",
           "unknown action",
           "expecting value",
           "not found",
           "does not exist",
           "cannot be",
           "must be",
           "not allowed"})) {
    return Outcome::kModelError;
  }
  if (has({"ok", "success", "none"}) && folded.size() < 8) return Outcome::kOk;
  return Outcome::kEnvironmentError;
}

event::Ended::How how_named(std::string_view name) {
  if (name == "complete") return event::Ended::How::kComplete;
  if (name == "interrupted") return event::Ended::How::kInterrupted;
  if (name == "failed") return event::Ended::How::kFailed;
  if (name == "stopped") return event::Ended::How::kStopped;
  return event::Ended::How::kExit;
}

/// An exception that stands so close before the word of a failure is its reason.
constexpr uint64_t kBeforeEnd = 20;  // lines

constexpr int64_t kSignalled = 128;  // statuses from here on are a shell's for a signal

bool fails(event::Ended::How how, int64_t code) {
  return how == event::Ended::How::kFailed || (how == event::Ended::How::kExit && code != 0);
}

/// Seconds that a bar of tqdm's shape says it has taken: "| 12/100 [01:02:33<09:10, 3.1s/it]". -1: it does not say.
double elapsed_of_bar(std::string_view line) {
  const size_t open = line.rfind('['), end = line.find('<', open == std::string_view::npos ? line.size() : open);
  if (open == std::string_view::npos || end == std::string_view::npos ||
      line.rfind('|', open) == std::string_view::npos)
    return -1;
  double seconds = 0, part = 0;
  size_t digits = 0, colons = 0;
  for (const char c : line.substr(open + 1, end - open - 1)) {
    if (c >= '0' && c <= '9' && ++digits <= kMostDigits) {
      part = part * 10 + (c - '0');
    } else if (c == ':' && digits > 0 && ++colons <= 2) {
      seconds = (seconds + part) * 60;
      part = 0;
      digits = 0;
    } else {
      return -1;
    }
  }
  return colons == 0 || digits == 0 ? -1 : seconds + part;
}

}  // namespace

bool loose_number(std::string_view text, double* value) {
  text = trim(text);
  if (metric_number(text, value)) return true;
  if (text.empty()) return false;
  double factor = 0;
  switch (text.back()) {
    case 'k':
    case 'K':
      factor = 1e3;
      break;
    case 'M':
      factor = 1e6;
      break;
    case 'G':
      factor = 1e9;
      break;
    case '%':
      factor = 1;
      break;
    default:
      return false;
  }
  if (!metric_number(text.substr(0, text.size() - 1), value)) return false;
  *value *= factor;
  return true;
}

std::string_view Fields::text(std::string_view name) const {
  if (regex_ != nullptr) {
    const auto& names = regex_->names();
    for (size_t i = 0; i < names.size() && i < captures_.size(); ++i) {
      if (names[i] == name && !captures_[i].empty()) return captures_[i];
    }
  }
  return shape_.constant(name);
}

double Fields::number(std::string_view name, double otherwise) const {
  double value = 0;
  return loose_number(text(name), &value) ? value : otherwise;
}

int64_t Fields::integer(std::string_view name, int64_t otherwise) const {
  double value = 0;
  return loose_number(text(name), &value) ? rounded(value) : otherwise;
}

const std::vector<std::string>& Fields::names() const {
  static const std::vector<std::string> kNoNames;
  return regex_ != nullptr ? regex_->names() : kNoNames;
}

bool Fields::reserved(std::string_view name) {
  static constexpr std::array<std::string_view, 19> kReserved = {
      "step", "body", "title", "total", "done",     "what",    "seconds", "phase", "path", "version",
      "code", "key",  "value", "rule",  "function", "outcome", "error",   "why",   "actor"};
  constexpr size_t kLongest = 8;
  return name.empty() || name[0] == '_' || (name.size() <= kLongest && is_one_of(name, kReserved));
}

void Interpreter::make(size_t dialect, const Shape& shape, const Fields& fields, const LogLine& line,
                       std::string_view text, size_t match_end) {
  switch (shape.make) {
    case Maker::kMetrics:
    case Maker::kTable:
      make_record(shape, fields, line, text, match_end);
      break;
    case Maker::kReadings:
      make_readings(shape, fields, line);
      break;
    case Maker::kScores:
      make_scores(fields);
      break;
    case Maker::kCounter:
      count(line);
      break;
    case Maker::kProgress:
      make_progress(fields, line);
      break;
    case Maker::kTool:
      make_tool(fields, line);
      break;
    case Maker::kFormat:
      make_format(fields, line);
      break;
    case Maker::kConfigured:
      make_configured(fields, line);
      break;
    case Maker::kVersion: {
      const Dialect& of = index_.book->dialects()[dialect];
      std::string version = clean_.take(fields.text("version"), 60);
      recogniser_.set_version(dialect, version);
      put(event::Recognised{of.framework, std::move(version), 0.9}, line.number, line.at);
      break;
    }
    case Maker::kSampleBegin:
      begin_sample(fields, line);
      break;
    case Maker::kSampleEnd:
      samples_end_ = samples_end_ || sample_lines_ > 0;
      sample_lines_ = 0;
      break;
    case Maker::kQuiet:
      break;
    default:
      make_simple(shape, fields, line);
  }
}

void Interpreter::make_simple(const Shape& shape, const Fields& fields, const LogLine& line) {
  int64_t step = fields.integer("step", kNoStep);
  if (shape.make == Maker::kStep && step == kNoStep) {  // the line says that a step begins, not which
    const int64_t by = fields.integer("by", 1);
    step = records_.current() == kNoStep ? std::max<int64_t>(by, 1) : records_.current() + by;
    step -= records_.offset();
  }
  const int64_t counted = step == kNoStep ? kNoStep : step + records_.offset();
  const double seconds = fields.number("seconds", 0) * fields.number("scale", 1);
  switch (shape.make) {
    case Maker::kStep:
      if (step == kNoStep) break;
      if (records_.waits(step, {line.at, where(line.number), event::StepBegan{counted}})) break;
      records_.set_step(step);
      if (fields.flag("done")) records_.steps_done(step);
      plan(fields, line);
      if (!speaker_) generic_.heading_at(line.number);  // "Step 3/40" is said by many
      put(event::StepBegan{counted}, line.number, line.at);
      break;
    case Maker::kPlan:
      if (fields.integer("total", 0) <= 0) break;
      records_.set_plan(fields.integer("total", 0));
      put(event::Planned{fields.integer("total", 0)}, line.number, line.at);
      break;
    case Maker::kAttempt:
      if (step != kNoStep) records_.resumed(step);
      if (fields.text("why") == kKeeperBegan) records_.another_process();
      begin_attempt(fields.has("why") ? fields.text("why") : line.text, line);
      break;
    case Maker::kResumed:
      if (step != kNoStep) records_.resumed(step);
      if (doubted_trace() != 0) emit_temporary_program(false);
      put(event::Resumed{step, clean_.take(fields.text("path"), kPathLimit)}, line.number, line.at);
      break;
    case Maker::kPhaseBegin:
      if (std::exchange(announced_, fields.text("phase") == "eval") && fields.flag("announced")) break;
      put(event::PhaseBegan{clean_.take(fields.text("phase"), 40)}, line.number, line.at);
      break;
    case Maker::kPhaseEnd:
      put(event::PhaseEnded{clean_.take(fields.text("phase"), 40), seconds, counted}, line.number, line.at);
      break;
    case Maker::kCheckpoint:
      make_checkpoint(fields, step, line);
      break;
    case Maker::kSync:
      put(event::WeightsSynced{fields.integer("version", kNoStep), seconds}, line.number, line.at);
      break;
    case Maker::kEnded:
      make_ended(fields, line);
      break;
    default:
      break;
  }
}

void Interpreter::make_ended(const Fields& fields, const LogLine& line) {
  code_done();
  if (fields.flag("last")) {  // nobody goes on with a traceback: what it says comes before the end that it caused
    for (auto& [key, stream] : streams_) end_trace(*stream);
  }
  if (fails(how_named(fields.text("how")), fields.integer("code", 0))) {
    // A program that was killed did not end of the code that it ran last.
    const int64_t code = fields.integer("code", 0);
    emit_temporary_program(code > 0 && code < kSignalled);
    if (line.number <= last_exception_.number + kBeforeEnd) emit_last_exception();
  } else if (how_named(fields.text("how")) == event::Ended::How::kComplete) {
    went_on(line);
  }
  first_lines_.failed();
  loop_.failed();
  cell_tables_.ended();
  put(event::Ended{how_named(fields.text("how")), fields.integer("code", 0), clean_.take(line.text, kTextLimit)},
      line.number, line.at);
}

// A line of steps or metrics that also says how many steps there will be.
void Interpreter::plan(const Fields& fields, const LogLine& line) {
  const int64_t total = fields.integer("total", 0);
  if (total <= 0 || total == steps_total_) return;
  steps_total_ = total;
  put(event::Planned{total}, line.number, line.at);
}

/// A bar of fewer steps than the plan has, or one that begins after that of the steps came to its end, is that of an
/// evaluation or a prediction, until records of training come while it moves.
bool Interpreter::is_other_loop(const event::Progressed& bar) {
  // One that is full when it is first seen had no step between its beginning and its end.
  const bool begins = bar.done <= 1 || bar.done == bar.total, goes_on = other_.total == bar.total;
  if (!(begins || goes_on) || (bar.total > steps_total_ && !steps_complete_)) return bar.total < steps_total_;
  other_ = {bar.total, bar.done, goes_on && bar.done >= other_.done && other_.first > 0 ? other_.first : bar.done};
  return true;
}

/// A bar that is drawn as that of the steps is, of another loop: it says nothing of them.
constexpr std::string_view kOtherLoop = "another loop";

/// Nobody trains so many steps a second: texts were tokenised, of which the bar is drawn as that of the steps.
bool is_too_fast(const event::Progressed& bar) {
  constexpr double kFastest = 200;
  return bar.elapsed >= 0 && static_cast<double>(bar.done) >= kFastest * std::max(bar.elapsed, 1.0);
}

void Interpreter::make_progress(const Fields& fields, const LogLine& line) {
  event::Progressed body;
  const std::string_view title = trim(fields.text("what")).substr(0, 80 + kRedactMargin);
  if (title != bar_title_) {
    bar_title_ = title;
    bar_what_ = clip(redact_secrets(sanitize_utf8(title)), 80);
  }
  body.what = bar_what_;
  if (bar_title_.starts_with("Loading ")) loop_.loads();
  body.done = fields.integer("done", 0);
  body.total = fields.integer("total", 0);
  body.elapsed = elapsed_of_bar(line.text);
  if (records_.is_outer_bar(body.total)) {
    if (steps_total_ == body.total) put(event::Planned{steps_total_ = 0}, line.number, line.at);
    body.what = kOtherLoop;
  } else if (fields.flag("steps") && body.total > 0 && body.done <= body.total) {
    const bool first = steps_total_ == 0 || (prepared_ && body.done <= 1);
    if (steps_total_ != body.total && (first || !is_other_loop(body))) {
      steps_total_ = body.total;
      put(event::Planned{body.total}, line.number, line.at);
    }
    if (steps_total_ == body.total) {
      other_ = {};
      steps_complete_ = body.done == body.total;
      prepared_ = steps_complete_ && is_too_fast(body);
      const bool again = loop_.bar(body.done, body.elapsed);
      records_.steps_done(body.done, body.total);
      if (again) put(event::AttemptBegan{std::string(kLoopAgain)}, line.number, line.at);
      end_scores(body.done, line.number, line.at);
      if (!records_.counting()) records_.set_step(body.done - records_.offset());
    } else {
      body.what = kOtherLoop;
    }
  }
  constexpr size_t kBarLimit = 256;  // different bars that are reported
  auto known = bars_.find(body.what);
  if (known == bars_.end()) {
    if (bars_.size() >= kBarLimit) return;
    known = bars_.emplace(body.what, std::make_pair(int64_t{-1}, int64_t{-1})).first;
  }
  if (known->second == std::make_pair(body.done, body.total)) return;
  // Bars of many short items would drown everything: besides first and last, one in a hundred of a long one is enough.
  const int64_t grain = std::max<int64_t>(1, body.total / 200);
  const bool anew = known->second.second != body.total || body.done < known->second.first;
  if (!anew && body.done != body.total && body.done / grain == known->second.first / grain && !fields.flag("steps")) {
    return;
  }
  known->second = {body.done, body.total};
  put(std::move(body), line.number, line.at);
}

/// How far the work between two steps has come, in a line of no known shape.
void Interpreter::count(const LogLine& line) {
  const auto counted = counted_in(line.text);
  if (!counted) return;
  std::string what = clip(redact_secrets(sanitize_utf8(counted->what)), 80);
  if (line.pid >= 0) what += cat(" of process ", line.pid);
  if (counters_.moves(what, counted->done, counted->total))
    put(event::Counted{std::move(what), counted->done, counted->total}, line.number, line.at);
}

/// The figures of one rollout: they wait for no step and are none of a step's record.
void Interpreter::add_rollout(const LogLine& line) {
  event::Measured body;
  for (const RowNumber& number : metrics_.numbers())
    body.readings.push_back({"", std::string(number.key), number.value});
  if (!body.readings.empty()) put(std::move(body), line.number, line.at);
}

void Interpreter::make_readings(const Shape& shape, const Fields& fields, const LogLine& line) {
  plan(fields, line);
  metrics_.clear();
  const auto& names = fields.names();
  std::string raw;
  for (size_t i = 0; i < names.size(); ++i) {
    double value = 0;
    if (Fields::reserved(names[i]) || !loose_number(fields.capture(i), &value)) continue;
    raw.assign(fields.text("prefix"));
    for (size_t k = 0; k < names[i].size(); ++k) {
      const bool slash = names[i][k] == '_' && k + 1 < names[i].size() && names[i][k + 1] == '_';
      raw.push_back(slash ? '/' : names[i][k]);
      k += slash ? 1 : 0;
    }
    metrics_.add(raw, value);
  }
  if (fields.text("prefix") == kTrajectory) return add_rollout(line);
  Pending as;
  as.step = fields.integer("step", kNoStep);
  as.policy = shape.policy;
  as.eval = fields.flag("eval");
  as.number = line.number;
  as.at = line.at;
  // A line that only looks like some trainer's may say more, in words of its own.
  if (!speaker_ && !as.eval) {
    MetricLine own;
    const GenericReader::Found found = generic_.read(line.text, line.number, own, line.rare);
    if (found.record && found.step == as.step && generic_.rewards_in(own) > generic_.rewards_in(metrics_)) {
      recogniser_.unknown_trainer();
      own_loop_ = true;
      return add_record(own, as);
    }
  }
  add_record(metrics_, as);
}

void Interpreter::make_scores(const Fields& fields) {
  constexpr size_t kScoreName = 80;
  const std::string_view name = fields.has("name") ? fields.text("name") : "scores";
  scores_.add(clean_.take(cat(fields.text("prefix"), name), kScoreName), fields.text("scores"));
}

/// The step that the scores so far are of is done.
void Interpreter::end_scores(int64_t step, uint64_t number, Time at) {
  if (scores_.empty() || step <= 0) return;
  const std::vector<RowNumber> means = scores_.means();
  Record record;
  record.numbers = means;
  record.names = records_.names_of(means);
  record.step = step - records_.offset();
  record.where = where(number);
  record.at = at;
  records_.add(record);
  scores_.clear();
}

void Interpreter::make_tool(const Fields& fields, const LogLine& line) {
  using Outcome = event::ToolCalled::Outcome;
  event::ToolCalled body;
  body.function = clean_.take(fields.text("function"), 80);
  body.seconds = fields.has("seconds") ? fields.number("seconds", -1) * fields.number("scale", 1) : -1;
  body.error = clean_.take(trim(fields.text("error")), kErrorLimit);
  const std::string_view outcome = fields.text("outcome");
  if (outcome == "timeout") {
    body.outcome = Outcome::kTimeout;
  } else if (outcome == "model-error") {
    body.outcome = Outcome::kModelError;
  } else if (outcome == "environment-error") {
    body.outcome = Outcome::kEnvironmentError;
  } else if (outcome == "auto" || (outcome.empty() && fields.has("error"))) {
    body.outcome = judge_error(fields.text("error"));
  }
  if (fields.has("code")) return begin_code(std::move(body), fields, line);
  put(std::move(body), line.number, line.at);
}

void Interpreter::make_format(const Fields& fields, const LogLine& line) {
  event::FormatJudged body;
  body.rule = clean_.take(fields.text("rule"), 80);
  body.passed = static_cast<uint64_t>(std::max<int64_t>(0, fields.integer("passed", 0)));
  body.failed = static_cast<uint64_t>(std::max<int64_t>(0, fields.integer("failed", 0)));
  if (fields.has("verdict")) {
    const std::string verdict = to_lower(fields.text("verdict"));
    const bool passed = verdict == "ok" || verdict == "true" || verdict == "1" || verdict == "pass" ||
                        verdict == "passed" || verdict == "valid" || verdict == "1.0";
    (passed ? body.passed : body.failed) += 1;
  }
  put(std::move(body), line.number, line.at);
  if (fields.flag("quotes")) begin_sample(fields, line);  // the answer's text follows
}

void Interpreter::make_configured(const Fields& fields, const LogLine& line) {
  if (fields.has("key")) {
    configure(fields.text("key"), fields.text("value"), where(line.number), line.at);
    return;
  }
  const auto& names = fields.names();
  for (size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty() && names[i][0] != '_' && !fields.capture(i).empty()) {
      configure(names[i], fields.capture(i), where(line.number), line.at);
    }
  }
}

}  // namespace mw
