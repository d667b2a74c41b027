// What is known of a model before it is loaded: sizes for the estimate of memory, and known trouble.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mw::preflight {

/// Sizes of a model; 0 where they are not known.
struct ModelFacts {
  std::string name;       ///< as the settings have it
  std::string known_by;   ///< "its config.json", "the table of models", "its name"
  double parameters = 0;  ///< all of them, experts too
  double layers = 0, hidden = 0, vocabulary = 0;
  double kv_heads = 0, head_size = 0;
  double context = 0;   ///< tokens that it was made for
  bool vision = false;  ///< needs another class than a text model
  bool gated = false;   ///< the hub wants a login that has accepted its terms
  std::string type;     ///< model_type of its config.json
  std::string trouble;  ///< why it will not train here; "" nothing is known
  std::string trouble_source, trouble_fix;
  bool trouble_is_certain = false;
};

/// A row of knowledge/preflight/models.toml.
struct ModelRow {
  std::string match;  ///< a part of the name, lower case; "*" stands for anything
  ModelFacts facts;
};

Result<std::vector<ModelRow>> parse_models(std::string_view text, std::string_view path);

/// By the table, else by the name ("Qwen2.5-7B": 7 billion, "VL": vision). nullopt: the name says nothing.
std::optional<ModelFacts> model_by_name(const std::vector<ModelRow>& rows, std::string_view name);

/// What a config.json beside the weights says, on top of what the name does. An error: it is no such file.
Result<ModelFacts> model_by_config(std::string_view json, ModelFacts known);

/// `text` fits `pattern`, in which "*" stands for any characters, both lower case.
bool fits(std::string_view pattern, std::string_view text);

}  // namespace mw::preflight
