#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/text.h"
#include "core/detect/detector.h"
#include "core/state.h"
#include "scenario.h"

namespace {

using mw::Finding;
using mw::Severity;
using mw::scenario::Expectation;
using mw::scenario::Scenario;

const std::filesystem::path kFolder = MW_SOURCE_DIR "/tests/scenarios";

std::vector<Finding> findings_of(const std::vector<mw::Event>& events, size_t count) {
  mw::State state;
  for (size_t i = 0; i < count; ++i) mw::fold(state, events[i]);
  mw::Event closed;
  closed.body = mw::event::Closed{};
  mw::fold(state, closed);
  std::vector<Finding> findings;
  for (const mw::Detector* detector : mw::all_detectors()) detector->judge(state, {}, findings);
  return findings;
}

std::string told(const Finding& finding) {
  return mw::cat(finding.kind, " ", mw::severity_name(finding.severity), " onset ", finding.onset.step, " detected ",
                 finding.detected.step, finding.suggests.empty() ? "" : " cause ",
                 finding.suggests.empty() ? "" : finding.suggests.front().cause, ": ", finding.summary);
}

std::string told(const Expectation& expected) {
  std::string text = mw::cat(expected.kind, " ", mw::severity_name(expected.severity));
  if (expected.onset) text += mw::cat(" onset ", expected.onset->first, "..", expected.onset->second);
  if (!expected.cause.empty()) text += " cause " + expected.cause;
  return text;
}

bool fits(const Expectation& expected, const Finding& finding) {
  if (finding.kind != expected.kind || finding.severity != expected.severity) return false;
  if (expected.onset && (finding.onset.step < expected.onset->first || finding.onset.step > expected.onset->second))
    return false;
  return expected.cause.empty() || (!finding.suggests.empty() && finding.suggests.front().cause == expected.cause);
}

/// The events up to the record at which the finding was made; all of them when it is not of a record.
size_t events_until(const Scenario& scenario, const Finding& finding) {
  for (size_t i = 0; i < scenario.events.size(); ++i) {
    if (scenario.events[i].where == finding.detected.where) return i + 1;
  }
  return scenario.events.size();
}

void check(const Scenario& scenario) {
  const std::vector<Finding> findings = findings_of(scenario.events, scenario.events.size());
  for (const Expectation& expected : scenario.expects) {
    const bool found =
        std::any_of(findings.begin(), findings.end(), [&](const Finding& f) { return fits(expected, f); });
    CHECK_MESSAGE(found, scenario.name << ": expected " << told(expected));
    if (found) continue;
    for (const Finding& finding : findings) MESSAGE("  found " << told(finding));
  }
  for (const Finding& finding : findings) {
    const bool wanted = std::any_of(scenario.expects.begin(), scenario.expects.end(),
                                    [&](const Expectation& e) { return e.kind == finding.kind; });
    const bool allowed =
        std::find(scenario.allows.begin(), scenario.allows.end(), finding.kind) != scenario.allows.end();
    CHECK_MESSAGE((wanted || allowed || finding.severity == Severity::kInfo),
                  scenario.name << ": not expected: " << told(finding));
    const std::vector<Finding> then = findings_of(scenario.events, events_until(scenario, finding));
    const bool causal = std::any_of(then.begin(), then.end(), [&](const Finding& f) {
      return f.kind == finding.kind && f.onset.step == finding.onset.step;
    });
    CHECK_MESSAGE(causal, scenario.name << ": not told when it was detected: " << told(finding));
  }
}

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> files() {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".scenario") out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("each run in words is judged as it says") {
  size_t runs = 0;
  for (const auto& path : files()) {
    CAPTURE(path.filename().string());
    const auto scenarios = mw::scenario::parse(read(path));
    REQUIRE_MESSAGE(scenarios.ok(), (scenarios.ok() ? std::string() : scenarios.error().what));
    for (const Scenario& scenario : scenarios.value()) {
      check(scenario);
      ++runs;
    }
  }
  CHECK(runs >= 40);
}

TEST_CASE("every detector has a run that it must tell and one that it must not, or a unit test of its own") {
  for (const mw::Detector* detector : mw::all_detectors()) {
    CAPTURE(detector->name);
    std::string stem(detector->name);
    std::replace(stem.begin(), stem.end(), '-', '_');
    const auto unit = std::filesystem::path(MW_SOURCE_DIR "/src/core/detect") / (stem + "_test.cc");
    const auto path = kFolder / mw::cat(detector->name, ".scenario");
    if (!std::filesystem::exists(path)) {
      WARN_MESSAGE(std::filesystem::exists(unit), "no scenario file and no unit test");
      continue;
    }
    const auto scenarios = mw::scenario::parse(read(path));
    REQUIRE(scenarios.ok());
    bool fires = false, silent = false;
    for (const Scenario& scenario : scenarios.value()) {
      bool own = false;
      for (const Expectation& e : scenario.expects) {
        own |= e.severity != Severity::kInfo &&
               std::find(detector->kinds.begin(), detector->kinds.end(), e.kind) != detector->kinds.end();
      }
      (own ? fires : silent) = true;
    }
    CHECK(fires);
    CHECK(silent);
  }
}

TEST_CASE("the table of each detector is filled in") {
  std::set<std::string_view> names;
  for (const mw::Detector* detector : mw::all_detectors()) {
    CAPTURE(detector->name);
    CHECK(names.insert(detector->name).second);
    CHECK_FALSE(detector->summary.empty());
    CHECK_FALSE(detector->kinds.empty());
    for (const mw::Knob& knob : detector->knobs) {
      CAPTURE(knob.name);
      CHECK_FALSE(knob.name.empty());
      CHECK_FALSE(knob.unit.empty());
      CHECK_FALSE(knob.reason.empty());
      CHECK_FALSE(knob.source.empty());
    }
  }
}
