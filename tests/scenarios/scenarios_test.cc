#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/text.h"
#include "core/detect/detector.h"
#include "core/incident_kind.h"
#include "core/judge_memory.h"
#include "core/state.h"
#include "read/books/signature_book.h"
#include "scenario.h"

namespace {

using mw::Finding;
using mw::Severity;
using mw::scenario::Expectation;
using mw::scenario::Scenario;

const std::filesystem::path kFolder = MW_SOURCE_DIR "/tests/scenarios";

const mw::Knowledge& knowledge() {
  static const auto book = mw::SignatureBook::load({});
  REQUIRE(book.ok());
  return book->knowledge();
}

/// What is known, and the run's own rules.
mw::Knowledge with_rules(const Scenario& scenario) {
  mw::Knowledge all = knowledge();
  for (const mw::UserRule& rule : scenario.rules) all.add(rule);
  return all;
}

bool is_cause(std::string_view id) { return knowledge().find_cause(id) != nullptr || knowledge().find(id) != nullptr; }

std::vector<Finding> findings_of(const Scenario& scenario, const mw::Knowledge& known, size_t count) {
  const std::vector<mw::Event>& events = scenario.events;
  mw::State state;
  for (size_t i = 0; i < count; ++i) mw::fold(state, events[i]);
  mw::Event closed;
  closed.body = mw::event::Closed{};
  mw::fold(state, closed);
  std::vector<Finding> findings;
  mw::JudgeMemory none;
  for (const mw::Detector* detector : mw::all_detectors()) detector->judge(state, known, none, findings);
  return findings;
}

std::string text_of(const Finding& finding) {
  return mw::cat(finding.kind, " ", mw::severity_name(finding.severity), " onset ", finding.onset.step, " detected ",
                 finding.detected.step, finding.resolved ? " over" : " open", finding.suggests.empty() ? "" : " cause ",
                 finding.suggests.empty() ? "" : finding.suggests.front().cause, ": ", finding.summary);
}

std::string text_of(const Expectation& expected) {
  std::string text = mw::cat(expected.kind, " ", mw::severity_name(expected.severity));
  if (expected.onset) text += mw::cat(" onset ", expected.onset->first, "..", expected.onset->second);
  if (!expected.cause.empty()) text += " cause " + expected.cause;
  if (expected.over) text += *expected.over ? " ends over" : " ends open";
  return text;
}

bool fits(const Expectation& expected, const Finding& finding) {
  if (finding.kind != expected.kind || finding.severity != expected.severity) return false;
  if (expected.onset && (finding.onset.step < expected.onset->first || finding.onset.step > expected.onset->second))
    return false;
  if (expected.over && *expected.over != finding.resolved) return false;
  return expected.cause.empty() || (!finding.suggests.empty() && finding.suggests.front().cause == expected.cause);
}

/// The events up to the record (or, without one, the time) at which the finding was made; else all of them.
size_t events_until(const Scenario& scenario, const Finding& finding) {
  for (size_t i = 0; i < scenario.events.size(); ++i) {
    const mw::Event& event = scenario.events[i];
    if (finding.detected.where.line > 0 && event.where == finding.detected.where) return i + 1;
    if (finding.detected.where.line == 0 && event.at.known() && event.at > finding.detected.at) return i + 1;
  }
  return scenario.events.size();
}

void check(const Scenario& scenario) {
  const mw::Knowledge own = scenario.rules.empty() ? mw::Knowledge() : with_rules(scenario);
  const mw::Knowledge& known = scenario.rules.empty() ? knowledge() : own;
  const std::vector<Finding> findings = findings_of(scenario, known, scenario.events.size());
  for (const Expectation& expected : scenario.expects) {
    const bool found =
        std::any_of(findings.begin(), findings.end(), [&](const Finding& f) { return fits(expected, f); });
    CHECK_MESSAGE(found, scenario.name << ": expected " << text_of(expected));
    if (found) continue;
    for (const Finding& finding : findings) MESSAGE("  found " << text_of(finding));
  }
  for (const Finding& finding : findings) {
    const bool wanted = std::any_of(scenario.expects.begin(), scenario.expects.end(),
                                    [&](const Expectation& e) { return e.kind == finding.kind; });
    const bool allowed =
        std::find(scenario.allows.begin(), scenario.allows.end(), finding.kind) != scenario.allows.end();
    for (const Finding::Suggestion& suggestion : finding.suggests) {
      CHECK_MESSAGE((is_cause(suggestion.cause) || known.find_rule(suggestion.cause) != nullptr),
                    scenario.name << ": knowledge/ has no cause '" << suggestion.cause << "': " << text_of(finding));
    }
    CHECK_MESSAGE((wanted || allowed || finding.severity == Severity::kInfo),
                  scenario.name << ": not expected: " << text_of(finding));
    const std::vector<Finding> then = findings_of(scenario, known, events_until(scenario, finding));
    const bool causal = std::any_of(then.begin(), then.end(), [&](const Finding& f) {
      return f.kind == finding.kind && f.onset.step == finding.onset.step;
    });
    CHECK_MESSAGE(causal, scenario.name << ": not text_of when it was detected: " << text_of(finding));
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

TEST_CASE("every detector has a run that it must report and one that it must not") {
  for (const mw::Detector* detector : mw::all_detectors()) {
    CAPTURE(detector->name);
    const auto path = kFolder / mw::cat(detector->name, ".scenario");
    CHECK_MESSAGE(std::filesystem::exists(path), "no scenario file");
    if (!std::filesystem::exists(path)) continue;
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

/// Words in quotes that are written like an id ("reward-sudden-zero").
std::set<std::string> quoted_ids(const std::string& code) {
  std::set<std::string> ids;
  for (size_t from = code.find('"'); from != std::string::npos; from = code.find('"', from)) {
    const size_t end = code.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-", from + 1);
    if (end == std::string::npos) break;
    const std::string word = code.substr(from + 1, end - from - 1);
    if (code[end] == '"' && word.find('-') != std::string::npos && word.front() != '-' && word.back() != '-')
      ids.insert(word);
    from = end == from + 1 && code[end] == '"' ? end + 1 : end;
  }
  return ids;
}

TEST_CASE("every cause that a detector may suggest is known") {
  std::set<std::string, std::less<>> other;  // what else is written like that
  for (const mw::Detector* detector : mw::all_detectors()) other.emplace(detector->name);
  for (const mw::Signature& signature : knowledge().signatures) other.insert(signature.layer);
  size_t causes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(MW_SOURCE_DIR "/src/core/detect")) {
    if (entry.path().extension() != ".cc" || entry.path().stem().string().ends_with("_test")) continue;
    for (const std::string& id : quoted_ids(read(entry.path()))) {
      if (other.count(id) > 0 || mw::is_incident_kind(id)) continue;
      CHECK_MESSAGE(is_cause(id), entry.path().filename().string() << ": knowledge/ has no cause '" << id << "'");
      ++causes;
    }
  }
  CHECK(causes >= 100);
}

TEST_CASE("an expectation that leaves something out is refused") {
  const auto parses = [](std::string_view line) {
    return mw::scenario::parse(mw::cat("scenario: a run\n", line, "\n")).ok();
  };
  CHECK(parses("expect: stall critical"));
  CHECK(parses("expect: stall critical onset 3..4 cause hang-no-progress-generic"));
  CHECK_FALSE(parses("expect: stall"));
  CHECK_FALSE(parses("expect: stall onset 3..4"));
  CHECK_FALSE(parses("expect: stall severe"));
  CHECK_FALSE(parses("expect: stall critical onset"));
  CHECK_FALSE(parses("expect: stall critical since 3"));
  CHECK(parses("expect: stall critical ends over"));
  CHECK_FALSE(parses("expect: stall critical ends well"));
  CHECK_FALSE(parses("end: somehow"));
  CHECK_FALSE(parses("plan: many"));
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
