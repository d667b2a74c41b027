#include "read/books/dialect_book.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "read/books/embedded.h"
#include "read/interpret/generic.h"

namespace mw {
namespace {

constexpr std::string_view kGeneric = "generic";  // whose metric names everyone may use

// What any Python program says when there is trouble, whatever its dialect: lines with one of these are looked at.
constexpr std::array<std::string_view, 32> kMarkers = {
    "Traceback (most recent call last)", "WARNING", "Warning", " WARN ", "ERROR", "Error: ", "Error ", "Failed to ",
    " failed: ", "CRITICAL", "FATAL", "Fatal", "[W", "Exception:", "Killed", "Terminated", "KeyboardInterrupt",
    "panicked at ", "panic: ", "Exception in thread ", "Unhandled exception. ",
    // as log_level.cc takes them for errors
    "错误", "錯誤", "エラー", "오류", "Ошибка", "ОШИБКА", "FEHLER", "Fehler: ", "ERREUR", "Erreur", "Errore: "};
constexpr size_t kSeveral = SIZE_MAX;  // of only_with_: more than one trainer has the name
constexpr size_t kExtendsLimit = 4;    // dialects that extend one another in a row

/// Is `flat` that name with '_' for '/', as exporters to CSV write it?
bool is_flat(std::string_view flat, std::string_view name) {
  return flat.size() == name.size() && std::equal(flat.begin(), flat.end(), name.begin(),
                                                  [](char a, char b) { return a == b || (a == '_' && b == '/'); });
}

bool matches_any(const std::vector<std::string>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return name_matches(pattern, name); });
}

}  // namespace

std::string_view Shape::constant(std::string_view name) const {
  for (const auto& [key, value] : with) {
    if (key == name) return value;
  }
  return {};
}

bool name_matches(std::string_view pattern, std::string_view name, std::string_view* star) {
  const size_t at = pattern.find('*');
  if (at == std::string_view::npos) return !pattern.empty() && pattern == name;
  const std::string_view head = pattern.substr(0, at), tail = pattern.substr(at + 1);
  if (name.size() <= head.size() + tail.size() || !name.starts_with(head) || !name.ends_with(tail)) return false;
  if (star != nullptr) *star = name.substr(at, name.size() - head.size() - tail.size());
  return true;
}

Result<DialectBook> DialectBook::built_in() {
  DialectBook book;
  for (const EmbeddedFile& file : embedded_files("dialects/")) {
    auto dialect = parse_dialect(file.bytes, file.path, true);
    if (!dialect.ok()) return dialect.error();
    MW_TRY(book.put(std::move(*dialect), file.path, true));
  }
  MW_TRY(book.put_built_in_rules());
  book.index();
  return book;
}

Result<void> DialectBook::put_built_in_rules() {
  for (const EmbeddedFile& file : embedded_files("rules/")) MW_TRY(put_rules(file.bytes, file.path, true));
  return {};
}

Result<void> DialectBook::add(std::string_view toml, std::string_view path) {
  auto dialect = parse_dialect(toml, path);
  if (!dialect.ok()) return dialect.error();
  MW_TRY(put(std::move(*dialect), path, false));
  index();
  return {};
}

Result<void> DialectBook::add_rules(std::string_view toml, std::string_view path) {
  MW_TRY(put_rules(toml, path, false));
  index();
  return {};
}

Result<void> DialectBook::put_rules(std::string_view toml, std::string_view path, bool built_in) {
  auto set = parse_format_rules(toml, path, built_in);
  if (!set.ok()) return set.error();
  MW_TRY(put(set->as_dialect(), path, built_in));
  const auto known =
      std::find_if(rule_sets_.begin(), rule_sets_.end(), [&](const auto& s) { return s->id == set->id; });
  auto kept = std::make_unique<FormatRuleSet>(std::move(*set));
  if (known == rule_sets_.end()) {
    rule_sets_.push_back(std::move(kept));
  } else {
    *known = std::move(kept);
  }
  return {};
}

/// Without index(), which looks at all dialects.
Result<void> DialectBook::put(Dialect dialect, std::string_view path, bool built_in) {
  if (dialect.shapes.size() > UINT16_MAX || dialect.signs.size() > UINT16_MAX || dialects_.size() >= UINT16_MAX) {
    return Error{Error::Code::kLimit, cat(path, ": too many shapes or signs"), "split the dialect"};
  }
  std::vector<std::optional<Regex>> regexes;
  for (const Shape& shape : dialect.shapes) {
    if (shape.regex.empty()) {
      regexes.emplace_back();
      continue;
    }
    if (built_in) {
      regexes.emplace_back(Regex::compile_later(shape.regex));
      continue;
    }
    auto regex = Regex::compile(shape.regex);
    if (!regex.ok()) {
      return Error{regex.error().code, cat(path, ": shape \"", shape.regex, "\": ", regex.error().what),
                   regex.error().hint};
    }
    regexes.emplace_back(std::move(*regex));
  }
  const auto known =
      std::find_if(dialects_.begin(), dialects_.end(), [&](const Dialect& d) { return d.id == dialect.id; });
  if (known == dialects_.end()) {
    dialects_.push_back(std::move(dialect));
    regexes_.push_back(std::move(regexes));
  } else {
    const auto at = known - dialects_.begin();
    *known = std::move(dialect);
    regexes_[static_cast<size_t>(at)] = std::move(regexes);
  }
  return {};
}

void DialectBook::index() {
  rules_.assign(dialects_.size(), {});
  targets_.clear();
  for (size_t d = 0; d < dialects_.size(); ++d) {
    const Dialect& dialect = dialects_[d];
    for (size_t i = 0; i < dialect.signs.size(); ++i) {
      if (dialect.signs[i].in != Sign::In::kLine) continue;
      targets_.push_back({Target::Kind::kSign, static_cast<uint16_t>(d), static_cast<uint16_t>(i)});
    }
    for (size_t i = 0; i < dialect.shapes.size(); ++i) {
      for (size_t k = 0; k < dialect.shapes[i].literals.size(); ++k) {
        targets_.push_back({Target::Kind::kShape, static_cast<uint16_t>(d), static_cast<uint16_t>(i)});
      }
    }
    Rules& rules = rules_[d];
    rules.exact.reserve(dialect.metrics.size());
    for (size_t i = 0; i < dialect.metrics.size(); ++i) {
      const std::string& raw = dialect.metrics[i].raw;
      if (raw.find('*') == std::string::npos) {
        rules.exact.emplace(raw, i);
      } else {
        rules.patterns.push_back(i);
      }
    }
    std::stable_sort(rules.patterns.begin(), rules.patterns.end(),
                     [&](size_t a, size_t b) { return dialect.metrics[a].raw.size() > dialect.metrics[b].raw.size(); });
  }
  for (size_t i = 0; i < kMarkers.size(); ++i) targets_.push_back({Target::Kind::kMarker, 0, static_cast<uint16_t>(i)});
  index_names();
}

void DialectBook::index_names() {
  only_with_.clear();
  size_t names = 0;
  for (const Rules& rules : rules_) names += rules.exact.size();
  only_with_.reserve(names);
  for (size_t d = 0; d < dialects_.size(); ++d) {
    if (dialects_[d].family != Dialect::Family::kTrainer) continue;
    for (const auto& [raw, rule] : rules_[d].exact) {
      const auto [known, fresh] = only_with_.emplace(raw, d);
      if (fresh || known->second == kSeveral) continue;
      const Dialect& other = dialects_[known->second];
      if (other.framework == dialects_[d].framework || other.extends == dialects_[d].id) {
        if (other.extends == dialects_[d].id) known->second = d;  // what the base says, too, is the base's
      } else if (dialects_[d].extends != other.id) {
        known->second = kSeveral;
      }
    }
  }
}

/// The rule for a name that is written flat; it is sought once for each name that a run has.
const MetricRule* DialectBook::flat_rule(size_t dialect, std::string_view raw) const {
  if (raw.find('_') == std::string_view::npos || raw.find('/') != std::string_view::npos) return nullptr;
  const auto& metrics = dialects_[dialect].metrics;
  const auto found =
      std::find_if(metrics.begin(), metrics.end(), [raw](const MetricRule& rule) { return is_flat(raw, rule.raw); });
  return found == metrics.end() ? nullptr : &*found;
}

/// Of a name that nobody writes so, by its whole form.
std::optional<size_t> DialectBook::only_trainer_with_flat(std::string_view raw) const {
  std::optional<size_t> only;
  for (size_t d = 0; d < dialects_.size(); ++d) {
    if (dialects_[d].family != Dialect::Family::kTrainer) continue;
    const MetricRule* const rule = flat_rule(d, raw);
    if (rule == nullptr) continue;
    const auto whole = only_with_.find(rule->raw);
    if (whole == only_with_.end() || whole->second == kSeveral || (only && *only != whole->second)) return std::nullopt;
    only = whole->second;
  }
  return only;
}

std::optional<size_t> DialectBook::only_trainer_with(std::string_view raw) const {
  const auto known = only_with_.find(raw);
  const auto only = known == only_with_.end()   ? only_trainer_with_flat(raw)
                    : known->second == kSeveral ? std::nullopt
                                                : std::optional(known->second);
  if (!only) return std::nullopt;
  const Meaning anyone = generic_meaning(raw);
  if (!anyone.signal.empty() || anyone.ignored) return std::nullopt;
  return only;
}

bool DialectBook::counts(std::optional<size_t> speaker, size_t dialect) const {
  if (!speaker) return true;
  for (size_t i = 0; speaker && i < kExtendsLimit; ++i) {
    if (*speaker == dialect) return true;
    const std::string& base = dialects_[*speaker].extends;
    speaker = base.empty() ? std::nullopt : find(base);
  }
  return false;
}

std::optional<size_t> DialectBook::find(std::string_view id) const {
  for (size_t i = 0; i < dialects_.size(); ++i) {
    if (dialects_[i].id == id) return i;
  }
  for (size_t i = 0; i < dialects_.size(); ++i) {
    if (dialects_[i].framework == id) return i;
  }
  return std::nullopt;
}

std::vector<Pattern> DialectBook::sign_patterns() const {
  std::vector<Pattern> out = patterns(0);
  std::erase_if(out, [this](const Pattern& one) { return targets_[one.id].kind != Target::Kind::kSign; });
  return out;
}

std::vector<Pattern> DialectBook::patterns(uint32_t first_id) const {
  std::vector<Pattern> out;
  out.reserve(targets_.size());
  size_t literal = 0;
  for (size_t t = 0; t < targets_.size(); ++t) {
    const Target& target = targets_[t];
    const auto id = static_cast<uint32_t>(first_id + t);
    if (target.kind == Target::Kind::kMarker) {
      out.push_back({std::string(kMarkers[target.index]), false, id});
      continue;
    }
    const Dialect& dialect = dialects_[target.dialect];
    if (target.kind == Target::Kind::kSign) {
      const Sign& sign = dialect.signs[target.index];
      out.push_back({sign.pattern, sign.regex, id});
      continue;
    }
    const bool same = t > 0 && targets_[t - 1].kind == target.kind && targets_[t - 1].dialect == target.dialect &&
                      targets_[t - 1].index == target.index;
    literal = same ? literal + 1 : 0;
    out.push_back({dialect.shapes[target.index].literals[literal], false, id});
  }
  return out;
}

const Regex* DialectBook::shape_regex(size_t dialect, size_t shape) const {
  const auto& regex = regexes_[dialect][shape];
  return regex ? &*regex : nullptr;
}

/// Does anybody's trainer call the reward as a whole, or a figure of it, so?
bool DialectBook::is_whole_reward(std::string_view raw) const {
  const auto generic = find(kGeneric);
  if (!generic) return false;
  const auto whole = [&](std::string_view name) {
    const auto found = rules_[*generic].exact.find(name);
    if (found == rules_[*generic].exact.end()) return false;
    const std::string& signal = dialects_[*generic].metrics[found->second].signal;
    return signal.starts_with("return.") || (signal.starts_with("reward.") && !signal.starts_with("reward.component."));
  };
  if (whole(raw)) return true;
  std::string name;
  normal_name(raw, name);
  return whole(name);
}

bool DialectBook::look_up(size_t dialect, std::string_view raw, Meaning& meaning) const {
  const Dialect& of = dialects_[dialect];
  const Rules& rules = rules_[dialect];
  const auto take = [&](const MetricRule& rule, std::string_view star) {
    meaning.signal = rule.signal;
    if (const size_t at = meaning.signal.find('*'); at != std::string::npos) {
      meaning.signal = meaning.signal.substr(0, at).append(star);
    }
    meaning.scale = rule.scale;
    meaning.offset = rule.offset;
    meaning.part = rule.part;
    meaning.minus = rule.minus;
    meaning.rank = rule.rank;
    return true;
  };
  if (matches_any(of.eval, raw)) meaning.eval = true;
  if (matches_any(of.sampled, raw)) meaning.sampled = true;
  if (const auto found = rules.exact.find(raw); found != rules.exact.end()) {
    return take(of.metrics[found->second], {});
  }
  if (matches_any(of.ignore, raw)) {
    meaning.ignored = true;
    return true;
  }
  if (const MetricRule* flat = flat_rule(dialect, raw); flat != nullptr) return take(*flat, {});
  for (const size_t i : rules.patterns) {
    std::string_view star;
    if (!name_matches(of.metrics[i].raw, raw, &star)) continue;
    // "rewards/mean" is nobody's component called "mean".
    if (of.metrics[i].signal.starts_with("reward.component.") && is_whole_reward(raw)) continue;
    return take(of.metrics[i], star);
  }
  return meaning.eval || meaning.sampled;
}

bool DialectBook::look_up_own(std::string_view raw, Meaning& meaning) const {
  const auto known = own_names_.find(raw);
  if (known == own_names_.end()) return false;
  meaning.signal = known->second;
  return true;
}

Meaning DialectBook::meaning(std::optional<size_t> dialect, std::string_view raw) const {
  constexpr uint64_t kFarther = uint64_t{1} << 32;  // the names of one dialect before those of what it builds upon
  Meaning meaning;
  bool found = look_up_own(raw, meaning);
  std::optional<size_t> own = dialect;
  for (size_t i = 0; own && i < kExtendsLimit && !found; ++i) {
    found = look_up(*own, raw, meaning);
    meaning.rank += i * kFarther;
    const std::string& base = dialects_[*own].extends;
    own = base.empty() ? std::nullopt : find(base);
  }
  // An evaluation by its name alone: what the dialect builds upon may know the name as none of its results.
  for (size_t i = 0; own && found && i < kExtendsLimit && meaning.signal.empty() && !meaning.ignored; ++i) {
    meaning.ignored = matches_any(dialects_[*own].ignore, raw);
    const std::string& base = dialects_[*own].extends;
    own = base.empty() ? std::nullopt : find(base);
  }
  for (size_t i = 0; i < dialects_.size() && !found; ++i) {
    if (dialects_[i].family == Dialect::Family::kTrainer || dialect == i) continue;
    if (dialects_[i].id == kGeneric) continue;
    found = look_up(i, raw, meaning);
    meaning.rank += kExtendsLimit * kFarther;
  }
  if (!found) {
    const bool eval = meaning.eval;
    meaning = generic_meaning(raw);
    meaning.rank += 2 * kExtendsLimit * kFarther;
    meaning.eval = meaning.eval || eval;
  }
  if (meaning.eval && meaning.signal.empty()) meaning.signal = cat("eval.", raw);
  return meaning;
}

Meaning DialectBook::generic_meaning(std::string_view raw) const {
  Meaning meaning;
  if (look_up_own(raw, meaning)) return meaning;
  const auto generic = find(kGeneric);
  if (!generic || look_up(*generic, raw, meaning)) return meaning;
  std::string name;
  normal_name(raw, name);
  if (look_up(*generic, name, meaning)) return meaning;
  std::string core;
  core_name(name, core);
  if (core != name && !core.empty()) look_up(*generic, core, meaning);
  return meaning;
}

Error no_such_dialect(const std::string& word) {
  return {Error::Code::kInvalid, cat("no dialect is called '", word, "'"),
          "Leave --framework out, or name one of knowledge/dialects (verl, trl, areal, ...)."};
}

}  // namespace mw
