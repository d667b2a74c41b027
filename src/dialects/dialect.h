// A dialect says how one framework speaks: data, one file of knowledge/dialects each (docs/formats/dialect.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "core/event.h"

namespace mw {

/// A sign by which a framework is recognised: a literal (or regex) in a log line, a metric name, a config key or a file
/// name. `weight` is the evidence in favour, in the sense of log-odds; 1 is a hint, 5 nobody else says this.
struct Sign {
  enum class In { kLine, kMetric, kConfig, kFile };
  In in = In::kLine;
  std::string pattern;
  bool regex = false;
  double weight = 1;
};

/// A log line shape. `make` names the event; captures (?P<name>...) fill its fields.
struct Shape {
  std::string name;
  std::string make;     ///< see docs/formats/dialect.md: "step", "metrics-dict", "metrics-pairs", "phase-end", ...
  std::string pattern;  ///< RE2, on the message part of the line
  std::string literal;  ///< must be in the line; speeds up the scan and is enough when `pattern` is empty
  std::vector<std::pair<std::string, std::string>> with;  ///< constants: ("phase","rollout"), ("scale","0.001")
};

struct MetricRule {
  std::string raw;     ///< exact name, or with one '*' at either end ("timing_s/*")
  std::string signal;  ///< canonical; may end in '*' when raw does: the star's text is carried over
  double scale = 1;
  double offset = 0;   ///< added after scaling: scale = -1, offset = 1 turns "share kept" into "share dropped"
  std::string note;  ///< what this framework means by it, where that differs
};

struct Dialect {
  std::string id;      ///< "verl"; the file's name
  std::string title;
  std::string family;  ///< "trainer", "engine", "layer" (Ray, torchrun, ...): only trainers name the framework,
                       ///< an engine does when no trainer speaks
  std::string framework;  ///< what the run is said to be; empty: the id ("custom" for a trainer outside the list)
  std::vector<Sign> signs;
  std::vector<Shape> shapes;
  std::vector<MetricRule> metrics;
  std::vector<std::string> step_keys;    ///< metric names that carry the step, best first
  double step_offset = 0;                ///< added to the step as written
  std::vector<std::string> ignore;       ///< raw names that are not signals (ids, flags)
  struct Sample {
    std::string line;
    std::string expect;  ///< "event field=value ..." as in docs/formats/dialect.md
  };
  std::vector<Sample> samples;
};

}  // namespace mw
