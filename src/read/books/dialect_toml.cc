// Dialect files (docs/formats/dialect.md) as values.
#include <array>
#include <cmath>

#include "base/text.h"
#include "base/toml.h"
#include "core/signal.h"
#include "read/books/dialect_book.h"

namespace mw {
namespace {

constexpr size_t kLiteralLeast = 3;  // bytes; shorter literals are in nearly every line

struct MakerName {
  std::string_view name;
  Maker maker;
};
constexpr std::array<MakerName, 22> kMakers = {{
    {"metrics", Maker::kMetrics},
    {"table", Maker::kTable},
    {"readings", Maker::kReadings},
    {"scores", Maker::kScores},
    {"step", Maker::kStep},
    {"plan", Maker::kPlan},
    {"progress", Maker::kProgress},
    {"counter", Maker::kCounter},
    {"attempt", Maker::kAttempt},
    {"resumed", Maker::kResumed},
    {"phase-begin", Maker::kPhaseBegin},
    {"phase-end", Maker::kPhaseEnd},
    {"checkpoint", Maker::kCheckpoint},
    {"sync", Maker::kSync},
    {"ended", Maker::kEnded},
    {"configured", Maker::kConfigured},
    {"version", Maker::kVersion},
    {"format", Maker::kFormat},
    {"tool", Maker::kTool},
    {"sample-begin", Maker::kSampleBegin},
    {"sample-end", Maker::kSampleEnd},
    {"quiet", Maker::kQuiet},
}};

std::optional<Maker> maker_named(std::string_view name) {
  for (const MakerName& row : kMakers) {
    if (row.name == name) return row.maker;
  }
  return std::nullopt;
}

std::string constant_text(const Toml& value) {
  switch (value.kind()) {
    case Toml::Kind::kString:
      return value.text();
    case Toml::Kind::kBoolean:
      return value.boolean() ? "true" : "false";
    case Toml::Kind::kInteger:
      return std::to_string(value.integer());
    case Toml::Kind::kFloat:
      return format_double(value.number());
    case Toml::Kind::kTable:
    case Toml::Kind::kArray:
      break;
  }
  return {};
}

class Reader {
 public:
  Reader(std::string_view path, bool built_in) : path_(path), built_in_(built_in) {}

  Result<Dialect> read(const Toml& root);

 private:
  Result<void> head(const Toml& root, Dialect& out);
  Result<void> sign(const Toml& table, Dialect& out);
  Result<void> shape(const Toml& table, Dialect& out);
  Result<void> policy(const Toml& table, Shape& shape);
  Result<void> steps(const Toml& table, Dialect& out);
  Result<void> checkpoints(const Toml& table, Dialect& out);
  Result<void> resume(const Toml& table, Dialect& out);
  Result<void> metric(std::string_view raw, const Toml& value, Dialect& out);
  Result<void> share(const Toml& table, Dialect& out);
  Result<void> sample(const Toml& table, Dialect& out);
  Result<void> names(const Toml& root, std::string_view key, std::vector<std::string>& out);
  template <typename Each>
  Result<void> each(const Toml& root, std::string_view key, const Each& take);

  std::string_view path_;
  bool built_in_;
};

template <typename Each>
Result<void> Reader::each(const Toml& root, std::string_view key, const Each& take) {
  const Toml* list = root.find(key);
  if (list == nullptr) return {};
  if (!list->is_array()) return list->error(path_, cat("\"", key, "\" must be an array of tables ([[", key, "]])"));
  for (const Toml& item : list->items()) {
    if (!item.is_table()) return item.error(path_, cat("\"", key, "\" must hold tables"));
    MW_TRY(take(item));
  }
  return {};
}

Result<void> Reader::names(const Toml& root, std::string_view key, std::vector<std::string>& out) {
  const Toml* value = root.find(key);
  if (value == nullptr) return {};
  auto texts = value->texts(path_);
  if (!texts.ok()) return texts.error();
  out = std::move(*texts);
  return {};
}

Result<void> Reader::head(const Toml& root, Dialect& out) {
  out.id = root.text_or("id", "");
  out.title = root.text_or("title", out.id);
  out.framework = root.text_or("framework", out.id);
  out.extends = root.text_or("extends", "");
  out.base = root.boolean_or("base", false);
  if (out.id.empty()) return root.error(path_, "\"id\" is missing");
  const std::string family = root.text_or("family", "");
  if (family == "trainer") {
    out.family = Dialect::Family::kTrainer;
  } else if (family == "engine") {
    out.family = Dialect::Family::kEngine;
  } else if (family == "layer") {
    out.family = Dialect::Family::kLayer;
  } else {
    return root.error(path_, "\"family\" must be \"trainer\", \"engine\" or \"layer\"");
  }
  MW_TRY(names(root, "eval", out.eval));
  MW_TRY(names(root, "ignore", out.ignore));
  return names(root, "sampled", out.sampled);
}

Result<void> Reader::sign(const Toml& table, Dialect& out) {
  MW_TRY(table.check_keys(path_, {"text", "texts", "regex", "in", "weight", "literal"}));
  Sign sign;
  std::vector<std::string> patterns;
  MW_TRY(names(table, "texts", patterns));
  if (const Toml* text = table.find("text"); text != nullptr) patterns.push_back(text->text());
  if (const Toml* regex = table.find("regex"); regex != nullptr) {
    if (!patterns.empty()) return table.error(path_, "a sign has \"text\", \"texts\" or \"regex\", not several");
    patterns.push_back(regex->text());
    sign.regex = true;
    if (!built_in_) {
      auto compiled = Regex::compile(patterns.back());
      if (!compiled.ok()) return table.error(path_, compiled.error().what);
    }
  }
  const std::string in = table.text_or("in", "line");
  if (in == "line") {
    sign.in = Sign::In::kLine;
  } else if (in == "metric") {
    sign.in = Sign::In::kMetric;
  } else if (in == "config") {
    sign.in = Sign::In::kConfig;
  } else if (in == "file") {
    sign.in = Sign::In::kFile;
  } else {
    return table.error(path_, "\"in\" must be \"line\", \"metric\", \"config\" or \"file\"");
  }
  sign.weight = table.number_or("weight", 1);
  if (patterns.empty()) return table.error(path_, "a sign needs \"text\", \"texts\" or \"regex\"");
  for (std::string& pattern : patterns) {
    if (pattern.empty()) return table.error(path_, "a sign's text is empty");
    if (sign.in == Sign::In::kLine && !sign.regex && pattern.size() < kLiteralLeast) {
      return table.error(path_, "a sign in lines needs at least 3 bytes of text");
    }
    sign.pattern = std::move(pattern);
    out.signs.push_back(sign);
  }
  return {};
}

Result<void> Reader::policy(const Toml& table, Shape& shape) {
  const std::string_view name = shape.constant("policy");
  if (name.empty() || name == "current") {
    shape.policy = StepPolicy::kCurrent;
  } else if (name == "next") {
    shape.policy = StepPolicy::kNext;
  } else if (name == "count") {
    shape.policy = StepPolicy::kCount;
  } else if (name == "rollout") {
    shape.policy = StepPolicy::kRollout;
  } else {
    return table.error(path_, "\"policy\" must be \"current\", \"next\" or \"count\"");
  }
  return {};
}

Result<void> Reader::shape(const Toml& table, Dialect& out) {
  MW_TRY(table.check_keys(path_, {"make", "literal", "literals", "regex", "on", "only", "with"}));
  Shape shape;
  const auto maker = maker_named(table.text_or("make", ""));
  if (!maker) return table.error(path_, cat("unknown \"make\": \"", table.text_or("make", ""), "\""));
  shape.make = *maker;
  MW_TRY(names(table, table.find("literal") != nullptr ? "literal" : "literals", shape.literals));
  if (shape.literals.empty()) return table.error(path_, "a line shape needs a \"literal\"");
  for (const std::string& literal : shape.literals) {
    if (literal.size() < kLiteralLeast) return table.error(path_, "a \"literal\" needs at least 3 bytes");
  }
  shape.regex = table.text_or("regex", "");
  const std::string on = table.text_or("on", "message");
  if (on != "message" && on != "line") return table.error(path_, "\"on\" must be \"message\" or \"line\"");
  shape.on_line = on == "line";
  shape.only = table.boolean_or("only", false);
  if (const Toml* with = table.find("with"); with != nullptr) {
    if (!with->is_table()) return with->error(path_, "\"with\" must be a table");
    for (const auto& [key, value] : with->members()) shape.with.emplace_back(key, constant_text(value));
  }
  MW_TRY(policy(table, shape));
  out.shapes.push_back(std::move(shape));
  return {};
}

Result<void> Reader::steps(const Toml& table, Dialect& out) {
  MW_TRY(table.check_keys(path_, {"keys", "offset", "count"}));
  MW_TRY(names(table, "keys", out.step_keys));
  out.step_offset = std::llround(table.number_or("offset", 0));
  out.count_steps = table.boolean_or("count", false);
  return {};
}

Result<void> Reader::checkpoints(const Toml& table, Dialect& out) {
  MW_TRY(table.check_keys(path_, {"folder", "pointer", "pointer_text", "below", "counts_saves", "takes_any_folder"}));
  CheckpointLayout& layout = out.checkpoints;
  layout.folder = table.text_or("folder", "");
  layout.pointer = table.text_or("pointer", "");
  layout.pointer_text = table.text_or("pointer_text", "{step}");
  layout.below = table.text_or("below", "");
  layout.counts_saves = table.boolean_or("counts_saves", false);
  layout.takes_any_folder = table.boolean_or("takes_any_folder", false);
  const bool unnamed = table.find("folder") == nullptr && layout.takes_any_folder;  // that alone may be said
  if (!unnamed && !is_step_pattern(layout.folder)) {
    return table.error(path_, "\"folder\" must be one name with {step} or {step:07} in it");
  }
  if (layout.below.find('/') != std::string::npos) return table.error(path_, "\"below\" must be a folder's name");
  if (layout.pointer.find('/') != std::string::npos) return table.error(path_, "\"pointer\" must be a file's name");
  if (with_step(layout.pointer_text, 1) == layout.pointer_text) {
    return table.error(path_, "\"pointer_text\" must have {step} in it");
  }
  return {};
}

Result<void> Reader::resume(const Toml& table, Dialect& out) {
  MW_TRY(table.check_keys(path_, {"when", "words"}));
  if (table.find("words") == nullptr) return table.error(path_, "\"words\" is missing ([]: it resumes by itself)");
  ResumeWords resume;
  resume.when = table.text_or("when", "");
  MW_TRY(names(table, "words", resume.words));
  out.checkpoints.resume.push_back(std::move(resume));
  return {};
}

Result<void> Reader::metric(std::string_view raw, const Toml& value, Dialect& out) {
  MetricRule rule;
  rule.raw = raw;
  rule.rank = value.line();
  if (value.is_string()) {
    rule.signal = value.text();
  } else if (value.is_table()) {
    MW_TRY(value.check_keys(path_, {"signal", "scale", "offset", "part", "minus", "note"}));
    rule.signal = value.text_or("signal", "");
    rule.scale = value.number_or("scale", 1);
    rule.offset = value.number_or("offset", 0);
    rule.part = value.boolean_or("part", false);
    rule.minus = value.text_or("minus", "");
    rule.note = value.text_or("note", "");
  }
  if (rule.signal.empty()) return value.error(path_, cat("\"", raw, "\" needs a signal's name"));
  const bool raw_star = raw.find('*') != std::string_view::npos;
  const bool signal_star = rule.signal.find('*') != std::string::npos;
  if (signal_star && !raw_star) return value.error(path_, cat("\"", rule.signal, "\" needs a '*' in \"", raw, "\""));
  const std::string probe = signal_star ? rule.signal.substr(0, rule.signal.find('*')) + "x" : rule.signal;
  if (find_signal(probe) == nullptr) {
    return value.error(path_, cat("no canonical signal is called \"", rule.signal, "\" (see docs/signals.md)"));
  }
  out.metrics.push_back(std::move(rule));
  return {};
}

Result<void> Reader::share(const Toml& table, Dialect& out) {
  MW_TRY(table.check_keys(path_, {"signal", "counted", "rest", "of", "zero_with"}));
  ShareRule rule;
  rule.signal = table.text_or("signal", "");
  rule.counted = table.text_or("counted", "");
  rule.rest = table.text_or("rest", "");
  rule.of = table.text_or("of", "");
  rule.zero_with = table.text_or("zero_with", "");
  const SignalRow* signal = find_signal(rule.signal);
  if (signal == nullptr || signal->unit != "ratio") {
    return table.error(path_, "a share needs the \"signal\" of a ratio (see docs/signals.md)");
  }
  if (rule.counted.empty()) return table.error(path_, "a share needs what is \"counted\"");
  if (rule.rest.empty() == rule.of.empty()) return table.error(path_, "a share needs either \"rest\" or \"of\"");
  if (out.shares.size() >= ShareRule::kLimit) return table.error(path_, "a dialect has at most 8 shares");
  out.shares.push_back(std::move(rule));
  return {};
}

Result<void> Reader::sample(const Toml& table, Dialect& out) {
  MW_TRY(table.check_keys(path_, {"line", "lines", "expect"}));
  Dialect::Sample sample;
  sample.text = table.text_or("line", table.text_or("lines", ""));
  if (sample.text.empty()) return table.error(path_, "a sample needs a \"line\"");
  if (table.find("expect") == nullptr) return table.error(path_, "a sample needs \"expect\" (\"\" for nothing)");
  sample.expect = table.text_or("expect", "");
  sample.line = table.line();
  out.samples.push_back(std::move(sample));
  return {};
}

Result<Dialect> Reader::read(const Toml& root) {
  Dialect out;
  MW_TRY(root.check_keys(path_, {"id", "title", "family", "framework", "extends", "base", "eval", "ignore", "sampled",
                                 "steps", "sign", "line", "metrics", "share", "sample", "checkpoints", "resume"}));
  MW_TRY(head(root, out));
  if (const Toml* table = root.find("steps"); table != nullptr) MW_TRY(steps(*table, out));
  if (const Toml* table = root.find("checkpoints"); table != nullptr) MW_TRY(checkpoints(*table, out));
  MW_TRY(each(root, "resume", [&](const Toml& table) { return resume(table, out); }));
  MW_TRY(each(root, "sign", [&](const Toml& table) { return sign(table, out); }));
  MW_TRY(each(root, "line", [&](const Toml& table) { return shape(table, out); }));
  MW_TRY(each(root, "share", [&](const Toml& table) { return share(table, out); }));
  MW_TRY(each(root, "sample", [&](const Toml& table) { return sample(table, out); }));
  if (const Toml* table = root.find("metrics"); table != nullptr) {
    for (const auto& [raw, value] : table->members()) MW_TRY(metric(raw, value, out));
  }
  return out;
}

}  // namespace

Result<Dialect> parse_dialect(std::string_view toml, std::string_view path, bool built_in) {
  auto root = Toml::parse(toml, path);
  if (!root.ok()) return root.error();
  return Reader(path, built_in).read(*root);
}

}  // namespace mw
