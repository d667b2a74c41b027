// A dialect says how one framework speaks: data, one file of knowledge/dialects each (docs/formats/dialect.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/checkpoint_layout.h"
#include "core/event.h"

namespace mw {

/// A sign by which a framework is recognised: a literal (or regex) in a log line, a metric name, a config key or a file
/// name. `weight` is the evidence in favour, in the sense of log-odds; 1 is a hint, 5 nobody else says this.
struct Sign {
  enum class In : uint8_t { kLine, kMetric, kConfig, kFile };
  In in = In::kLine;
  std::string pattern;  ///< metric, config, file: one '*' at either end allowed
  bool regex = false;
  double weight = 1;
};

/// What a line shape becomes; the words of docs/formats/dialect.md in the same order.
enum class Maker : uint8_t {
  kMetrics,
  kTable,
  kReadings,
  kScores,
  kStep,
  kPlan,
  kProgress,
  kCounter,
  kAttempt,
  kResumed,
  kPhaseBegin,
  kPhaseEnd,
  kCheckpoint,
  kSync,
  kEnded,
  kConfigured,
  kVersion,
  kFormat,
  kTool,
  kSampleBegin,
  kSampleEnd,
  kQuiet,
};

/// Where a metric record without a step of its own gets one. kRollout: its number counts rollouts, each of which may be
/// trained on in several steps. kUnnamed: as kCurrent, and counted where no line of the log names a step.
enum class StepPolicy : uint8_t { kCurrent, kNext, kCount, kRollout, kUnnamed };

/// A log line shape. Captures (?P<name>...) of the regex fill the event's fields.
struct Shape {
  Maker make = Maker::kQuiet;
  std::vector<std::string> literals;  ///< one of them must be in the raw line
  std::string regex;                  ///< RE2; empty: a literal is enough
  bool on_line = false;               ///< the regex runs on the whole line, not on the message
  bool only = false;                  ///< counts only while its dialect is the recognised one
  StepPolicy policy = StepPolicy::kCurrent;
  std::vector<std::pair<std::string, std::string>> with;  ///< constants: ("phase","rollout"), ("scale","0.001")

  /// The constant of that name, or "".
  std::string_view constant(std::string_view name) const;
};

struct MetricRule {
  std::string raw;     ///< exact name, or with one '*' at either end ("timing_s/*")
  std::string signal;  ///< canonical; may end in '*' when raw does: the star's text is carried over
  double scale = 1;
  double offset = 0;  ///< added after scaling (1 - x: scale -1, offset 1)
  bool part = false;  ///< adds to the other parts of its signal in the same record
  std::string minus;  ///< raw name of the same record whose value is taken off first (a prompt's length)
  uint32_t rank = 0;  ///< of several names of one signal in a record the lowest counts: the line in the file
  std::string note;   ///< what this framework means by it, where that differs
};

/// A share that is not written itself: counts of a record, of those and others or of a setting.
struct ShareRule {
  static constexpr size_t kLimit = 8;  ///< of one dialect

  std::string signal;
  std::string counted;    ///< exact name, or with one '*': those of a record add up
  std::string rest;       ///< name of the same record: the share is that of counted in counted and rest
  std::string of;         ///< or: the setting that counted is a share of
  std::string zero_with;  ///< a record that has this name and nothing counted says 0, in a run that counts
};

struct Dialect {
  enum class Family : uint8_t { kTrainer, kEngine, kLayer };

  std::string id;  ///< "verl"; the file's name
  std::string title;
  Family family = Family::kTrainer;
  std::string framework;  ///< what the run is said to be; the id unless the file says else
  bool base = false;      ///< others build upon it: gives way to any other trainer that surely speaks
  std::string extends;    ///< id of a dialect whose shapes and metric rules count here, too; "" for none
  std::vector<Sign> signs;
  std::vector<Shape> shapes;
  std::vector<MetricRule> metrics;
  std::vector<ShareRule> shares;
  std::vector<std::string> step_keys;  ///< metric names that carry the step, best first
  int64_t step_offset = 0;             ///< added to a step as written
  bool count_steps = false;            ///< records without a step are counted
  std::vector<std::string> eval;       ///< names of held-out evaluations, one '*' at either end allowed
  std::vector<std::string> ignore;     ///< raw names that are not signals (ids, flags)
  std::vector<std::string> sampled;    ///< names whose own step counts samples of the machine, not steps of training
  CheckpointLayout checkpoints;        ///< unknown when the file does not say
  struct Sample {
    std::string text;    ///< one line or several
    std::string expect;  ///< "event field=value; ..." as in docs/formats/dialect.md
    uint32_t line = 0;   ///< in the dialect file
  };
  std::vector<Sample> samples;
};

/// True when `name` is `pattern`, where one '*' anywhere in the pattern stands for any text but none. `star` (may be
/// nullptr) gets that text.
bool name_matches(std::string_view pattern, std::string_view name, std::string_view* star = nullptr);

}  // namespace mw
