// Every dialect's and rule set's own sample lines, read as docs/formats/dialect.md says ("What a sample expects").
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "read/books/dialect_book.h"
#include "read/interpret/interpreter.h"

namespace mw {
namespace {

struct SampleEvent {  // an event as the expectation of a sample states it
  std::string name;
  std::map<std::string, std::string> fields;
};

std::string step_text(int64_t step) { return step == kNoStep ? "none" : std::to_string(step); }
std::string flag_text(bool flag) { return flag ? "true" : "false"; }

struct EventLister {
  std::vector<SampleEvent>& out;

  void add(std::string name, std::map<std::string, std::string> fields) const {
    out.push_back({std::move(name), std::move(fields)});
  }
  void operator()(const event::Measured& e) const {
    std::map<std::string, std::string> fields = {{"step", step_text(e.step)}, {"eval", flag_text(e.eval)}};
    for (const Reading& reading : e.readings) {
      if (!reading.signal().empty()) fields[reading.signal()] = format_double(reading.value);
      fields["raw:" + reading.raw()] = format_double(reading.value);
    }
    add("measured", std::move(fields));
  }
  void operator()(const event::StepBegan& e) const { add("step", {{"step", step_text(e.step)}}); }
  void operator()(const event::Planned& e) const { add("planned", {{"total", std::to_string(e.total_steps)}}); }
  void operator()(const event::Progressed& e) const {
    add("progressed", {{"done", std::to_string(e.done)},
                       {"total", std::to_string(e.total)},
                       {"what", e.what},
                       {"elapsed", format_double(e.elapsed)}});
  }
  void operator()(const event::Counted& e) const {
    add("counted", {{"what", e.what}, {"done", std::to_string(e.done)}, {"total", std::to_string(e.total)}});
  }
  void operator()(const event::AttemptBegan& e) const { add("attempt", {{"why", e.why}}); }
  void operator()(const event::Resumed& e) const { add("resumed", {{"step", step_text(e.step)}, {"path", e.path}}); }
  void operator()(const event::PhaseBegan& e) const { add("phase-began", {{"phase", e.phase}}); }
  void operator()(const event::PhaseEnded& e) const {
    add("phase-ended", {{"phase", e.phase}, {"seconds", format_double(e.seconds)}, {"step", step_text(e.step)}});
  }
  void operator()(const event::CheckpointSaved& e) const {
    add("checkpoint", {{"step", step_text(e.step)}, {"path", e.path}, {"complete", flag_text(e.complete)}});
  }
  void operator()(const event::CheckpointSeen& e) const {
    if (is_gone(e)) add("checkpoint-gone", {{"step", step_text(e.step)}, {"path", e.path}});
  }
  void operator()(const event::WeightsSynced& e) const {
    add("synced", {{"version", step_text(e.version)}, {"seconds", format_double(e.seconds)}});
  }
  void operator()(const event::Ended& e) const {
    constexpr std::string_view kHow[] = {"complete", "exit", "interrupted", "failed", "stopped"};
    add("ended", {{"how", std::string(kHow[static_cast<size_t>(e.how)])}, {"code", std::to_string(e.code)}});
  }
  void operator()(const event::Configured& e) const { add("configured", {{"key", e.key}, {"value", e.value}}); }
  void operator()(const event::Recognised& e) const {
    add("recognised", {{"framework", e.framework}, {"version", e.version}});
  }
  void operator()(const event::FormatJudged& e) const {
    add("format", {{"rule", e.rule}, {"passed", std::to_string(e.passed)}, {"failed", std::to_string(e.failed)}});
  }
  void operator()(const event::ToolCalled& e) const {
    constexpr std::string_view kOutcome[] = {"ok", "model-error", "environment-error", "timeout"};
    add("tool", {{"function", e.function},
                 {"seconds", format_double(e.seconds)},
                 {"outcome", std::string(kOutcome[static_cast<size_t>(e.outcome)])},
                 {"error", e.error}});
  }
  template <typename Other>
  void operator()(const Other&) const {}  // what a sample does not speak of: templates, tracebacks, signatures
};

struct Listener : EventSink {
  std::vector<SampleEvent> events;
  void put(Event&& event) override { std::visit(EventLister{events}, event.body); }
};

// "event field=value 'field'='quoted value'; event ..." taken apart.
std::vector<SampleEvent> parse_expectation(std::string_view text) {
  std::vector<SampleEvent> out;
  std::string word, key;
  bool quoted = false, fresh = true;
  const auto end_word = [&] {
    if (fresh && !word.empty()) {
      out.push_back({word, {}});
      fresh = false;
    } else if (!key.empty() && !out.empty()) {
      out.back().fields[key] = word;
    }
    word.clear();
    key.clear();
  };
  for (const char c : text) {
    if (c == '\'') {
      quoted = !quoted;
    } else if (!quoted && (c == ' ' || c == ';')) {
      end_word();
      fresh = fresh || c == ';';
    } else if (!quoted && c == '=' && key.empty() && !fresh) {
      key = std::move(word);
      word.clear();
    } else {
      word.push_back(c);
    }
  }
  end_word();
  return out;
}

bool same_value(const std::string& wanted, const std::string& got) {
  if (wanted == got) return true;
  const auto a = parse_double(wanted), b = parse_double(got);
  if (!a || !b) return false;
  if (std::isnan(*a) || std::isnan(*b)) return std::isnan(*a) && std::isnan(*b);
  return std::fabs(*a - *b) <= 1e-9 * std::max(1.0, std::fabs(*a));
}

std::string shown(const std::vector<SampleEvent>& all) {
  std::string out;
  for (const SampleEvent& event : all) {
    out += cat(out.empty() ? "" : "; ", event.name);
    for (const auto& [key, value] : event.fields) out += cat(" ", key, "=", value);
  }
  return out;
}

bool as_expected(const std::vector<SampleEvent>& wanted, const std::vector<SampleEvent>& got) {
  if (wanted.size() != got.size()) return false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].name != got[i].name) return false;
    for (const auto& [key, value] : wanted[i].fields) {
      const auto found = got[i].fields.find(key);
      if (found == got[i].fields.end() || !same_value(value, found->second)) return false;
    }
  }
  return true;
}

// What one sample makes while its dialect is the recognised one.
std::vector<SampleEvent> read_sample(const PatternIndex& pattern_index, const PatternSet& patterns, size_t dialect,
                                     const std::string& text) {
  Recogniser recogniser(*pattern_index.book);
  const auto& signs = pattern_index.book->dialects()[dialect].signs;
  for (size_t i = 0; i < signs.size(); ++i) recogniser.sign(dialect, i);
  TemplateMiner miner;
  Listener listener;
  Interpreter interpreter(pattern_index, recogniser, miner, listener, 0);
  std::istringstream lines(text);
  std::string line;
  uint64_t number = 0;
  std::vector<uint32_t> ids;
  while (std::getline(lines, line)) {
    ids.clear();
    patterns.match_line(line, ids);
    interpreter.line(line, ++number, ids);
  }
  interpreter.finish();
  return listener.events;
}

TEST_CASE("every dialect understands its own samples") {
  const auto book = DialectBook::built_in();
  REQUIRE_MESSAGE(book.ok(), (book.ok() ? "" : book.error().what));
  const Knowledge knowledge;
  std::vector<Pattern> list = book->patterns(0);
  PatternIndex pattern_index;
  pattern_index.book = &*book;
  pattern_index.knowledge = &knowledge;
  pattern_index.signature_first = static_cast<uint32_t>(list.size());
  const auto patterns = PatternSet::compile(list);
  REQUIRE(patterns.ok());
  size_t samples = 0;
  for (size_t d = 0; d < book->dialects().size(); ++d) {
    const Dialect& dialect = book->dialects()[d];
    for (const Dialect::Sample& sample : dialect.samples) {
      const auto got = read_sample(pattern_index, *patterns, d, sample.text);
      const std::string what = cat(dialect.id, ".toml:", sample.line, " wants \"", sample.expect, "\", got \"",
                                   shown(got), "\" from \"", sample.text, "\"");
      CHECK_MESSAGE(as_expected(parse_expectation(sample.expect), got), what);
      ++samples;
    }
  }
  CHECK(samples > 100);
}

TEST_CASE("every trainer and engine shows at least three samples") {
  const auto book = DialectBook::built_in();
  REQUIRE(book.ok());
  for (const Dialect& dialect : book->dialects()) {
    if (dialect.family == Dialect::Family::kLayer || !dialect.extends.empty()) continue;
    CAPTURE(dialect.id);
    CHECK(dialect.samples.size() >= 3);
  }
}

}  // namespace
}  // namespace mw
