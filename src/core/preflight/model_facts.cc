#include "core/preflight/model_facts.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"
#include "base/toml.h"

namespace mw::preflight {
namespace {

constexpr double kBillion = 1e9;
constexpr double kMostParameters = 1e14;

/// "7b" of "qwen2.5-7b-instruct", "0.6b", "30b-a3b" (30): billions of parameters; 0 without such a word.
double billions_in(std::string_view lower) {
  for (size_t i = 0; i < lower.size(); ++i) {
    const bool begins = i == 0 || lower[i - 1] == '-' || lower[i - 1] == '_' || lower[i - 1] == '/';
    if (!begins || lower[i] < '0' || lower[i] > '9') continue;
    size_t used = 0;
    const auto number = parse_double_prefix(lower.substr(i), &used);
    const std::string_view rest = lower.substr(i + used);
    if (!number.has_value() || rest.empty()) continue;
    const bool ends = rest.size() == 1 || !(rest[1] >= 'a' && rest[1] <= 'z');
    if (ends && rest[0] == 'b' && *number > 0) return *number;
    if (ends && rest[0] == 'm' && *number > 0) return *number / 1000;
  }
  return 0;
}

/// A word of the name between "-", "_" and "/" is one of those by which vision models are called.
bool sounds_like_vision(std::string_view lower) {
  std::string words(lower.substr(lower.rfind('/') == lower.npos ? 0 : lower.rfind('/') + 1));
  std::replace(words.begin(), words.end(), '_', '-');
  for (const std::string_view word : split(words, '-')) {
    for (const std::string_view known : {"vl", "vlm", "vision", "llava", "paligemma", "pixtral", "multimodal"}) {
      if (word == known || (known == "vl" && word.size() > 2 && word.ends_with("vl") && word.starts_with("qwen")))
        return true;
    }
  }
  return false;
}

Result<ModelRow> read_row(const Toml& table, std::string_view path) {
  MW_TRY(table.check_keys(
      path, {"match", "parameters", "layers", "hidden", "vocabulary", "kv_heads", "head_size", "context", "vision",
             "gated", "trouble", "trouble_fix", "trouble_source", "certain", "source"}));
  ModelRow row;
  row.match = table.text_or("match", "");
  if (row.match.empty() || row.match != to_lower(row.match)) return table.error(path, "match wants lower case");
  ModelFacts& facts = row.facts;
  facts.known_by = "the table of models";
  facts.parameters = table.number_or("parameters", 0);
  facts.layers = table.number_or("layers", 0);
  facts.hidden = table.number_or("hidden", 0);
  facts.vocabulary = table.number_or("vocabulary", 0);
  facts.kv_heads = table.number_or("kv_heads", 0);
  facts.head_size = table.number_or("head_size", 0);
  facts.context = table.number_or("context", 0);
  facts.vision = table.boolean_or("vision", false);
  facts.gated = table.boolean_or("gated", false);
  facts.trouble = table.text_or("trouble", "");
  facts.trouble_fix = table.text_or("trouble_fix", "");
  facts.trouble_source = table.text_or("trouble_source", "");
  facts.trouble_is_certain = table.boolean_or("certain", false);
  if (!facts.trouble.empty() && (facts.trouble_fix.empty() || facts.trouble_source.empty())) {
    return table.error(path, "trouble wants trouble_fix and trouble_source");
  }
  return row;
}

double positive(const Json& json, std::string_view name, double otherwise) {
  const double number = json.number_or(name, 0);
  return number > 0 && number < kMostParameters ? number : otherwise;
}

/// By the shape of a decoder with gated layers: what most models of config.json files are.
double estimated_parameters(const Json& json, const ModelFacts& facts) {
  const double inner = positive(json, "intermediate_size", 0), heads = positive(json, "num_attention_heads", 0);
  if (facts.layers == 0 || facts.hidden == 0 || inner == 0 || heads == 0) return 0;
  if (json.find("num_experts") != nullptr || json.find("num_local_experts") != nullptr) return 0;
  const double head = facts.head_size > 0 ? facts.head_size : facts.hidden / heads;
  const double attention = facts.hidden * head * (2 * heads + 2 * facts.kv_heads);
  const double tied = json.boolean_or("tie_word_embeddings", false) ? 1 : 2;
  return facts.layers * (attention + 3 * facts.hidden * inner) + tied * facts.vocabulary * facts.hidden;
}

}  // namespace

bool fits(std::string_view pattern, std::string_view text) {
  const size_t star = pattern.find('*');
  if (star == pattern.npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  std::string_view rest = text.substr(star);
  const auto parts = split(pattern.substr(star + 1), '*');
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    const size_t at = rest.find(parts[i]);
    if (at == rest.npos) return false;
    rest = rest.substr(at + parts[i].size());
  }
  return rest.size() >= parts.back().size() && rest.ends_with(parts.back());
}

Result<std::vector<ModelRow>> parse_models(std::string_view text, std::string_view path) {
  const auto root = Toml::parse(text, path);
  if (!root.ok()) return root.error();
  MW_TRY(root->check_keys(path, {"model"}));
  std::vector<ModelRow> out;
  const Toml* rows = root->find("model");
  if (rows == nullptr) return out;
  for (const Toml& table : rows->items()) {
    auto row = read_row(table, path);
    if (!row.ok()) return row.error();
    out.push_back(std::move(*row));
  }
  return out;
}

std::optional<ModelFacts> model_by_name(const std::vector<ModelRow>& rows, std::string_view name) {
  const std::string lower = to_lower(name);
  for (const ModelRow& row : rows) {
    if (!fits(row.match, lower)) continue;
    ModelFacts facts = row.facts;
    facts.name = std::string(name);
    if (facts.parameters == 0) facts.parameters = billions_in(lower) * kBillion;
    return facts;
  }
  ModelFacts facts;
  facts.name = std::string(name);
  facts.known_by = "its name";
  facts.parameters = billions_in(lower) * kBillion;
  facts.vision = sounds_like_vision(lower);
  if (facts.parameters == 0 && !facts.vision) return std::nullopt;
  return facts;
}

Result<ModelFacts> model_by_config(std::string_view text, ModelFacts known) {
  const auto json = Json::parse(text);
  if (!json.ok()) return json.error();
  if (!json->is_object()) return Error{Error::Code::kInvalid, "it is no config.json: no object", ""};
  const Json* inner = json->find("text_config");
  const Json& shape = inner != nullptr && inner->is_object() ? *inner : *json;
  known.known_by = "its config.json";
  known.type = clip(json->string_or("model_type", ""), 60);
  known.vision = known.vision || json->find("vision_config") != nullptr;
  known.layers = positive(shape, "num_hidden_layers", known.layers);
  known.hidden = positive(shape, "hidden_size", known.hidden);
  known.vocabulary = positive(shape, "vocab_size", known.vocabulary);
  known.kv_heads = positive(shape, "num_key_value_heads", known.kv_heads);
  const double heads = positive(shape, "num_attention_heads", 0);
  known.head_size = positive(shape, "head_dim", heads > 0 && known.hidden > 0 ? known.hidden / heads : known.head_size);
  known.context = positive(shape, "max_position_embeddings", known.context);
  const double estimated = estimated_parameters(shape, known);
  if (known.parameters == 0) known.parameters = estimated;
  return known;
}

}  // namespace mw::preflight
