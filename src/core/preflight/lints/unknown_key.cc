// Keys that the framework does not know: misspelt, in the wrong table, of another version.
#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "core/preflight/lint.h"
#include "core/preflight/rule.h"

namespace mw::preflight {
namespace {

constexpr size_t kShortWord = 4;   // letters; shorter names are near to each other by chance
constexpr size_t kCutWord = 6;     // letters of a name that is another one cut short
constexpr size_t kLongWord = 9;    // from here on two slips count as a misspelling
constexpr size_t kMostPlaces = 3;  // tables that are named where a key belongs
constexpr size_t kMostFindings = 20;

/// Levenshtein's distance with swaps of neighbours, up to `most`; `most` + 1 for anything further apart.
size_t slips(std::string_view a, std::string_view b, size_t most) {
  if (a.size() > b.size() + most || b.size() > a.size() + most) return most + 1;
  std::vector<size_t> before, above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = above;
    above = row;
  }
  return std::min(above[b.size()], most + 1);
}

std::string_view table_of(std::string_view key) {
  const size_t dot = key.rfind('.');
  return dot == key.npos ? std::string_view() : key.substr(0, dot);
}
std::string_view leaf_of(std::string_view key) { return key.substr(key.rfind('.') + 1); }

/// Is one of two names the other with its end cut off ("save_freq", "save_frequency")? A further word
/// ("save_freq_steps") is another name.
bool cut_short(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  return a.size() >= kCutWord && b.starts_with(a) && b.substr(a.size()).find('_') == b.npos && a.back() != '_';
}

/// The key of the same table that `key` most likely was meant to be; "" when none is near.
std::string near_in_table(const Keys& keys, std::string_view key) {
  const std::string_view table = table_of(key), leaf = leaf_of(key);
  if (leaf.size() < kShortWord) return "";
  const size_t most = leaf.size() >= kLongWord ? 2 : 1;
  std::string best;
  size_t fewest = most + 1;
  const std::string begin = table.empty() ? "" : cat(table, ".");
  for (auto at = keys.lower_bound(begin); at != keys.end() && at->starts_with(begin); ++at) {
    const std::string_view other = std::string_view(*at).substr(begin.size());
    if (other.empty() || other.find('.') != other.npos) continue;
    const size_t distance = cut_short(leaf, other) ? most : slips(leaf, other, most);
    if (distance >= fewest) continue;
    fewest = distance;
    best = *at;
  }
  return best;
}

std::vector<std::string> places_of(const Keys& keys, std::string_view leaf) {
  std::vector<std::string> out;
  const std::string end = cat(".", leaf);
  for (const std::string& key : keys) {
    if (key == leaf || key.ends_with(end)) out.push_back(key);
  }
  return out;
}

std::string joined(const std::vector<std::string>& words, std::string_view last) {
  std::string out;
  for (size_t i = 0; i < words.size() && i < kMostPlaces; ++i) {
    out += cat(i == 0 ? "" : i + 1 == std::min(words.size(), kMostPlaces) ? last : ", ", words[i]);
  }
  return out;
}

/// What the framework's lists have to say of keys.
struct Lists {
  const Framework& framework;
  const std::string& version;
  Keys these, all;

  Lists(const Framework& known, const std::string& chosen) : framework(known), version(chosen) {
    for (const FrameworkVersion& one : framework.versions) {
      all.insert(one.keys.begin(), one.keys.end());
      if (one.id == version) these = one.keys;
    }
    if (these.empty()) these = all;
  }

  std::string others_that_know(std::string_view key) const {
    std::vector<std::string> out;
    for (const FrameworkVersion& one : framework.versions) {
      if (one.id != version && knows_key(one.keys, key)) out.push_back(one.id);
    }
    return joined(out, " and ");
  }
  /// A lint reads a key of that name: of a framework that ignores strange keys, only these are worth a word.
  bool matters(std::string_view leaf) const {
    const auto reads = [&](const auto& meaning) {
      return std::any_of(meaning.second.keys.begin(), meaning.second.keys.end(),
                         [&](const std::string& key) { return leaf_of(key) == leaf && leaf.size() > kLongWord; });
    };
    return std::any_of(framework.meanings.begin(), framework.meanings.end(), reads);
  }
  std::string name() const { return version.empty() ? framework.title : cat(framework.title, " of ", version); }
};

/// What is wrong with one key; no text when nothing can be said for certain enough.
struct Judged {
  Level level = Level::kWarning;
  std::string what, fix;
};

Judged judge_key(const Lists& lists, const Setting& setting, const std::string& key) {
  const bool refused = lists.framework.strict && !lists.version.empty();
  const Level hard = refused ? Level::kError : Level::kWarning;
  const std::string shown = cat("\"", setting.key, "\"");
  if (const std::string near = near_in_table(lists.these, key); !near.empty()) {
    return {hard, cat(shown, " is not known; ", leaf_of(near), " is"),
            cat("write ", leaf_of(near), " for ", leaf_of(setting.key))};
  }
  const bool top = table_of(key).empty();
  const bool table_known = top || lists.these.find(table_of(key)) != lists.these.end();
  const std::vector<std::string> places = places_of(lists.these, leaf_of(key));
  const std::string others = lists.version.empty() ? "" : lists.others_that_know(key);
  if (!others.empty()) {
    const std::string to =
        places.empty() ? "take it out, or use that version" : cat("it is ", joined(places, " or "), " there");
    return {hard, cat(shown, " is not a key of ", lists.name(), "; ", others, " has it"), to};
  }
  if (lists.framework.partial) return {};
  if (table_known && !places.empty() && (lists.framework.strict || lists.matters(leaf_of(key)))) {
    return {hard, cat(shown, " stands in the wrong table: ", lists.name(), " knows ", joined(places, " and ")),
            cat("move it to ", joined(places, " or "))};
  }
  if (!lists.framework.strict || !table_known) return {};
  return {Level::kWarning, cat(shown, " is not known to ", lists.name(), ", which refuses keys that it does not know"),
          "take it out, or check it against your version"};
}

/// Keys of which one of the framework's own rules has something better to say.
Keys keys_of_rules(const Facts& facts) {
  Keys out;
  for (const Rule& rule : facts.framework->rules) {
    if (const auto finding = judge_rule(facts, rule)) out.insert(finding->key);
  }
  return out;
}

void check_keys(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  if (facts.framework == nullptr || facts.framework->versions.empty()) return;
  const Lists lists(*facts.framework, facts.version);
  const Keys judged_by_rules = keys_of_rules(facts);
  Keys reported;
  size_t findings = 0;
  for (const auto& [name, setting] : facts.settings.all()) {
    const std::string key = without_numbers(name);
    if (key.ends_with(".*") || knows_key(lists.these, key) || judged_by_rules.count(name) > 0) continue;
    const bool under_another =
        std::any_of(reported.begin(), reported.end(), [&](const std::string& one) { return key.starts_with(one); });
    if (under_another) continue;
    const Judged judged = judge_key(lists, setting, key);
    reported.insert(cat(key, "."));
    if (judged.what.empty() || ++findings > kMostFindings) continue;
    out.push_back(finding_at(lint, judged.level, &setting, judged.what, judged.fix));
  }
}

}  // namespace

namespace lints {
extern const Lint unknown_key;
const Lint unknown_key = {
    "unknown-key",
    Level::kError,
    "A key is misspelt, stands in the wrong table, or belongs to another version of the framework.",
    "A framework that is strict ends at it with a validation error; one that is not ignores it in silence, and the run "
    "trains with the default.",
    "lists of keys taken from the frameworks' own configuration classes (knowledge/preflight); "
    "pydantic \"Extra inputs are not permitted\", hydra \"Key is not in struct\"",
    check_keys};
}  // namespace lints

}  // namespace mw::preflight
