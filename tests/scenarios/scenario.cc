#include "scenario.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/numbers.h"
#include "base/prng.h"
#include "base/text.h"
#include "core/event_fields.h"
#include "core/pointer_words.h"
#include "core/state.h"

namespace mw::scenario {
namespace {

struct Sample {
  bool present = true;
  double value = 0;
};

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> out;
  for (const std::string_view word : split(text, ' ')) {
    if (!trim(word).empty()) out.push_back(trim(word));
  }
  return out;
}

std::optional<std::pair<double, double>> range_of(std::string_view text) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos) {
    const auto value = parse_double(text);
    if (!value) return std::nullopt;
    return std::pair{*value, *value};
  }
  const auto from = parse_double(text.substr(0, dots)), to = parse_double(text.substr(dots + 2));
  if (!from || !to) return std::nullopt;
  return std::pair{*from, *to};
}

std::optional<Severity> severity_of(std::string_view word) {
  for (const Severity one : {Severity::kInfo, Severity::kWarning, Severity::kCritical}) {
    if (word == severity_name(one)) return one;
  }
  return std::nullopt;
}

std::optional<event::Ended::How> how_of(std::string_view word) {
  using How = event::Ended::How;
  constexpr std::pair<std::string_view, How> kWords[] = {{"complete", How::kComplete},
                                                         {"exit", How::kExit},
                                                         {"interrupted", How::kInterrupted},
                                                         {"failed", How::kFailed},
                                                         {"stopped", How::kStopped}};
  for (const auto& [name, how] : kWords) {
    if (word == name) return how;
  }
  return std::nullopt;
}

/// Reads a scenario file line by line into `out`.
class Reader {
 public:
  Result<std::vector<Scenario>> read(std::string_view text) {
    size_t number = 0;
    for (const std::string_view raw : split(text, '\n')) {
      ++number;
      const std::string_view line = trim(raw);
      if (line.empty() || line.front() == '#') continue;
      const size_t colon = line.find(':');
      if (colon == std::string_view::npos || !take(trim(line.substr(0, colon)), trim(line.substr(colon + 1)))) {
        return Error{Error::Code::kInvalid, cat("line ", number, ": '", line, "' is not understood"),
                     "see tests/scenarios/README.md"};
      }
    }
    finish();
    return std::move(out_);
  }

 private:
  bool take(std::string_view key, std::string_view rest) {
    if (key == "scenario") return begin(rest);
    if (out_.empty()) return false;
    if (key == "config") return config(rest);
    if (key == "steps") return steps(rest);
    if (key == "expect") return expect(rest);
    if (key == "save") return save(rest);
    if (key == "rule") return rule(words(rest));
    if (key == "file") return file(rest);
    if (key == "clock") return clock(rest);
    if (is_happening(key)) {
      flush();
      return happening(key, rest);
    }
    if (key == "allow") {
      for (const std::string_view kind : words(rest)) out_.back().allows.emplace_back(kind);
      return true;
    }
    if (key.substr(0, 5) == "eval ") return eval(key.substr(5), rest);
    return series(key, rest, 1, false);
  }

  bool begin(std::string_view name) {
    finish();
    out_.emplace_back();
    out_.back().name = name;
    prng_ = Prng(7);
    files_.clear();
    file_ = host_ = 0;
    ended_ = false;
    return true;
  }

  bool file(std::string_view rest) {
    flush();
    const auto parts = words(rest);
    if (parts.size() != 2) return false;
    return open(std::string(parts[0]), std::string(parts[1]));
  }

  bool open(const std::string& name, const std::string& kind) {
    file_ = static_cast<uint32_t>(files_.size());
    files_.emplace_back();
    return add(event::SourceOpened{file_, name, kind, 0});
  }

  bool clock(std::string_view rest) {
    flush();
    const auto parts = words(rest);
    const auto seconds = parts.size() == 2 && parts[0] == "every" ? parse_double(parts[1]) : std::nullopt;
    if (!seconds) return false;
    begin_file();
    files_[file_].at = kStart;
    files_[file_].period = Duration::seconds(*seconds);
    return true;
  }

  static bool is_happening(std::string_view key) {
    constexpr std::string_view kWords[] = {"plan", "start", "resume", "saving", "trace",     "sign",  "quiet", "last",
                                           "end",  "host",  "hours",  "gap",    "framework", "error", "exited"};
    return std::find(std::begin(kWords), std::end(kWords), key) != std::end(kWords);
  }

  /// What is no series: one event at this place of the run.
  bool happening(std::string_view key, std::string_view rest) {
    const auto number = parse_int(rest);
    const size_t space = rest.find(' ');
    const std::string first(rest.substr(0, space));
    const std::string more(space == std::string_view::npos ? std::string_view() : trim(rest.substr(space)));
    if (key == "end") return end(first, more);
    if (key == "framework") return put({{}, {}, event::Recognised{first, "", 1}});  // no line says it: all do
    if (key == "start") return add(event::AttemptBegan{std::string(rest)});
    if (key == "sign") {
      const auto times = parse_int(first);
      if (!times) return add(event::Matched{first, more, 1, false});
      const size_t end = more.find(' ');
      const std::string text = end == std::string::npos ? std::string() : more.substr(end + 1);
      return add(event::Matched{more.substr(0, end), text, static_cast<uint64_t>(*times), false});
    }
    if (key == "error") {
      const auto times = parse_int(first);
      return times && add(event::Logged{event::Logged::Level::kError, 1, more, static_cast<uint64_t>(*times)});
    }
    if (key == "host") return host(words(rest));
    if (key == "exited") {  // under midwatch run
      const auto attempt = parse_int(first), status = parse_int(more);
      return attempt && status && add(event::AttemptStarted{*attempt, 4711, "boot"}) &&
             add(event::AttemptExited{*attempt, true, *status, 0, ""});
    }
    if (key == "trace") return add(event::TraceSeen{first, more, "train.py:10 in step", lines() + 1, false, false});
    if (key == "last") {
      event::SourceEnded ended;
      ended.lines = static_cast<int64_t>(lines()) + 1;
      ended.last_text = std::string(rest);
      return add(std::move(ended));
    }
    if (!number) return false;
    if (key == "hours")
      return put({kStart + Duration::seconds(3600.0 * static_cast<double>(*number)), {}, event::Ticked{}});
    if (key == "plan") return add(event::Planned{*number});
    if (key == "resume") return add(event::Resumed{*number, cat("checkpoints/global_step_", *number)});
    if (key == "saving") return add(event::CheckpointSaved{*number, cat("checkpoints/global_step_", *number), false});
    begin_file();
    for (int64_t passed = 60; key == "quiet" && passed < *number; passed += 60) {  // midwatch watched all the while
      const Time at = files_[file_].at + Duration::seconds(static_cast<double>(passed));
      if (!put({at, {}, event::Ticked{}})) return false;
    }
    files_[file_].at = files_[file_].at + Duration::seconds(static_cast<double>(*number));
    return key == "gap" || add(event::Ticked{});
  }

  /// A figure of the machine, or a signature that it shows: "SECONDS SIGNAL THING VALUE", "SECONDS sign ID".
  bool host(const std::vector<std::string_view>& parts) {
    const auto at = parts.empty() ? std::nullopt : parse_double(parts[0]);
    if (!at || parts.size() < 3) return false;
    begin_file();
    if (host_ == 0) {
      host_ = static_cast<uint32_t>(files_.size());
      files_.emplace_back();
      Event opened{{}, {host_, 0}, event::SourceOpened{host_, "host:machine", std::string(kHostKind), 0}};
      auto& events = out_.back().events;
      events.insert(events.begin(), std::move(opened));
    }
    Event event{kStart + Duration::seconds(*at), {host_, ++files_[host_].lines}, event::Ticked{}};
    if (parts[1] == "sign") {
      event.body = event::Matched{std::string(parts[2]), "as the machine shows", 1, false};
      return put_in_time(std::move(event));
    }
    if (parts[1] == "part") {
      event::ComponentSaw saw;
      if (parts.size() < 4 || !enum_from_name(parts[3], saw.health)) return false;
      const size_t slash = parts[2].find('/');  // "engine/2" is another one of several
      saw.kind = std::string(parts[2].substr(0, slash));
      saw.component = cat(saw.kind, " (4711", slash == std::string_view::npos ? "" : parts[2].substr(slash + 1), ")");
      saw.certain = parts.size() > 4 && parts[4] == "certain";
      saw.text = "as the processes show";
      saw.address = "127.0.0.1:8000";
      event.body = std::move(saw);
      return put_in_time(std::move(event));
    }
    if (parts[1] == "checkpoint") {
      const auto step = parse_int(parts[2]);
      event::CheckpointSeen seen;
      if (!step || parts.size() < 4 || !enum_from_name(parts[3], seen.how)) return false;
      seen.step = *step;
      seen.path = cat("/data/global_step_", *step);
      seen.what = "as its files show";
      if (parts.size() > 4) seen.sign = std::string(parts[4]);
      event.body = std::move(seen);
      return put_in_time(std::move(event));
    }
    if (parts[1] == "read" || parts[1] == "pointer") return of_checkpoints(parts, std::move(event));
    const auto value = parts.size() == 4 ? parse_double(parts[3]) : std::nullopt;
    if (!value) return false;
    event.body = event::Measured{kNoStep, false, {{std::string(parts[1]), std::string(parts[2]), *value}}};
    return put_in_time(std::move(event));
  }

  /// "SECONDS read STEP sane|still|suspect|corrupt|skipped", "SECONDS pointer STEP right|wrong|missing|behind".
  bool of_checkpoints(const std::vector<std::string_view>& parts, Event event) {
    const auto step = parts.size() == 4 ? parse_int(parts[2]) : std::nullopt;
    if (!step) return false;
    if (parts[1] == "read") {
      event::CheckpointRead read;
      const bool still = parts[3] == "still";
      if (!enum_from_name(still ? "sane" : parts[3], read.how)) return false;
      read.step = *step;
      read.path = cat("/data/global_step_", *step);
      if (still || read.how != event::CheckpointRead::How::kSane) read.what = "as its bytes show";
      event.body = std::move(read);
    } else {
      event::PointerSeen seen;
      seen.path = "/data/latest";
      seen.step = *step;
      seen.right = parts[3] == "right";
      seen.whole = *step + 20;
      seen.what = seen.right              ? ""
                  : parts[3] == "missing" ? std::string(kPointerMissing)
                  : parts[3] == "behind"  ? pointer_behind(seen.step, seen.whole)
                                          : cat("it names step ", *step, ", which is not there");
      event.body = std::move(seen);
    }
    return put_in_time(std::move(event));
  }

  bool end(const std::string& word, const std::string& code) {
    ended_ = true;
    if (word == "none") return true;
    const auto how = how_of(word);
    const auto status = code.empty() ? std::optional<int64_t>(0) : parse_int(code);
    if (!how || !status) return false;
    return add(event::Ended{*how, *status, ""});
  }

  bool config(std::string_view rest) {
    const auto parts = words(rest);
    if (parts.size() != 2) return false;
    add(event::Configured{std::string(parts[0]), std::string(parts[1])});
    return true;
  }

  bool steps(std::string_view rest) {
    flush();
    const auto parts = words(rest);
    if (parts.empty()) return false;
    const auto range = range_of(parts[0]);
    double by = 1;
    if (parts.size() == 3 && parts[1] == "by") by = parse_double(parts[2]).value_or(0);
    if (!range || by < 1) return false;
    for (double step = range->first; step <= range->second; step += by) steps_.push_back(static_cast<int64_t>(step));
    return true;
  }

  bool expect(std::string_view rest) {
    const auto parts = words(rest);
    if (parts.size() < 2) return false;
    Expectation expectation;
    expectation.kind = parts[0];
    const auto severity = severity_of(parts[1]);
    if (!severity || parts.size() % 2 != 0) return false;
    expectation.severity = *severity;
    for (size_t i = 2; i + 1 < parts.size(); i += 2) {
      const auto range = range_of(parts[i + 1]);
      if (parts[i] == "onset" && range)
        expectation.onset = {static_cast<int64_t>(range->first), static_cast<int64_t>(range->second)};
      else if (parts[i] == "cause")
        expectation.cause = parts[i + 1];
      else if (parts[i] == "ends" && (parts[i + 1] == "over" || parts[i + 1] == "open"))
        expectation.over = parts[i + 1] == "over";
      else
        return false;
    }
    out_.back().expects.push_back(expectation);
    return true;
  }

  /// A rule of the user's own: "NAME SIGNAL below 0.1 above 9 for 5 after 20 severity critical".
  bool rule(const std::vector<std::string_view>& parts) {
    UserRule rule;
    if (parts.size() < 4 || parts.size() % 2 != 0) return false;
    rule.name = parts[0];
    rule.signal = parts[1];
    for (size_t i = 2; i + 1 < parts.size(); i += 2) {
      const auto value = parse_double(parts[i + 1]);
      const auto severity = severity_of(parts[i + 1]);
      if (parts[i] == "severity" && severity) {
        rule.severity = *severity;
        continue;
      }
      if (!value) return false;
      if (parts[i] == "below") {
        rule.below = *value;
      } else if (parts[i] == "above") {
        rule.above = *value;
      } else if (parts[i] == "for") {
        rule.points = static_cast<uint32_t>(*value);
      } else if (parts[i] == "after") {
        rule.after_step = static_cast<int64_t>(*value);
      } else {
        return false;
      }
    }
    out_.back().rules.push_back(std::move(rule));
    return true;
  }

  bool save(std::string_view rest) {
    for (const std::string_view word : words(rest)) {
      const auto step = parse_int(word);
      if (!step) return false;
      saves_.push_back(*step);
    }
    return true;
  }

  bool eval(std::string_view name_and_rhythm, std::string_view rest) {
    const auto parts = words(name_and_rhythm);
    if (parts.size() != 3 || parts[1] != "every") return false;
    return series(parts[0], rest, static_cast<size_t>(parse_int(parts[2]).value_or(1)), true);
  }

  bool series(std::string_view name, std::string_view pieces, size_t every, bool held_out) {
    std::vector<Sample> samples;
    for (const std::string_view piece : split(pieces, ';')) {
      if (!add_piece(words(piece), samples)) return false;
    }
    for (size_t i = 0; i < samples.size() && (i + 1) * every <= steps_.size(); ++i) {
      if (!samples[i].present) continue;
      auto& records = held_out ? evals_ : records_;
      Reading reading{held_out ? std::string() : std::string(name), std::string(name), samples[i].value};
      records[every * (i + 1) - 1].push_back(std::move(reading));
    }
    return true;
  }

  bool add_piece(const std::vector<std::string_view>& parts, std::vector<Sample>& samples) {
    if (parts.empty()) return false;
    const bool present = parts[0] != "-";
    const auto range = present ? range_of(parts[0]) : std::pair{0.0, 0.0};
    double count = 1, noise = 0;
    for (size_t i = 1; i + 1 < parts.size(); i += 2) {
      const auto value = parse_double(parts[i + 1]);
      if (!value) return false;
      if (parts[i] == "over")
        count = *value;
      else if (parts[i] == "noise")
        noise = *value;
      else
        return false;
    }
    if (!range || parts.size() % 2 == 0) return false;
    for (size_t i = 0; static_cast<double>(i) < count; ++i) {
      const double share = count > 1 ? static_cast<double>(i) / (count - 1) : 0;
      const double shake = (prng_.unit() - 0.5) * std::sqrt(12.0) * noise;
      samples.push_back({present, range->first == range->second
                                      ? range->first + shake
                                      : range->first + share * (range->second - range->first) + shake});
    }
    return true;
  }

  /// Turns the collected columns into events, one record per step.
  void flush() {
    for (size_t i = 0; i < steps_.size(); ++i) {
      begin_file();
      files_[file_].at = files_[file_].at + files_[file_].period;
      if (records_.count(i) != 0) add(event::Measured{steps_[i], false, records_[i]});
      if (evals_.count(i) != 0) add(event::Measured{steps_[i], true, evals_[i]});
      if (std::find(saves_.begin(), saves_.end(), steps_[i]) != saves_.end()) {
        add(event::CheckpointSaved{steps_[i], cat("checkpoints/global_step_", steps_[i]), true});
      }
    }
    steps_.clear();
    records_.clear();
    evals_.clear();
    saves_.clear();
  }

  void finish() {
    if (out_.empty()) return;
    flush();
    if (!ended_) add(event::Ended{});
  }

  /// A run that names no files logs to one of metrics.
  void begin_file() {
    if (files_.empty()) open("metrics.jsonl", "jsonl");
  }
  uint64_t lines() const { return files_.empty() ? 1 : files_[file_].lines; }

  /// Always true, so that it can end a rule.
  template <typename Body>
  bool add(Body body) {
    begin_file();
    Event event;
    event.at = files_[file_].period.ns > 0 ? files_[file_].at : Time{};
    event.where = {file_, ++files_[file_].lines};
    event.body = std::move(body);
    return put(std::move(event));
  }

  bool put(Event event) {
    out_.back().events.push_back(std::move(event));
    return true;
  }

  /// What the machine shows comes between the records by the clock, wherever it is written.
  bool put_in_time(Event event) {
    auto& events = out_.back().events;
    auto place = events.end();
    while (place != events.begin() && std::prev(place)->at.known() && std::prev(place)->at > event.at) --place;
    events.insert(place, std::move(event));
    return true;
  }

  struct File {
    Time at;
    Duration period;  ///< between records; 0: they have no times
    uint64_t lines = 0;
  };
  static constexpr Time kStart{1'767'225'600'000'000'000};  // 2026-01-01 00:00:00 UTC

  std::vector<Scenario> out_;
  std::vector<int64_t> steps_;
  std::map<size_t, std::vector<Reading>> records_, evals_;
  std::vector<int64_t> saves_;
  Prng prng_{7};
  std::vector<File> files_;
  uint32_t file_ = 0, host_ = 0;  ///< 0: nothing of the machine is recorded
  bool ended_ = false;
};

}  // namespace

Result<std::vector<Scenario>> parse(std::string_view text) { return Reader().read(text); }

}  // namespace mw::scenario
