// Values by key or by meaning, with the framework's defaults.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/preflight/facts.h"

namespace mw::preflight {

/// What a key, a meaning ("group_size"), "env:NAME", "package:NAME", "host:NAME" or a number stands for.
struct Value {
  const Setting* setting = nullptr;  ///< nullptr: it is a default, or none of the settings
  std::string key;                   ///< that was set, or the first that could be
  std::string text;
  std::optional<double> number;  ///< where it is one
  bool set = false;              ///< somebody set it
  bool known = false;            ///< set to something that is sure, or there is a default
};

Value value_of(const Facts& facts, std::string_view name);
/// The number behind `name`; nullopt where it is none, or not sure.
std::optional<double> number_of(const Facts& facts, std::string_view name);
/// True or false behind `name`; of a table whether it is there.
std::optional<bool> truth_of(const Facts& facts, std::string_view name);

/// One condition of a rule (Rule::when). nullopt: what it needs is not known.
std::optional<bool> holds(const Facts& facts, std::string_view condition);

/// -1, 0, 1 by the parts between dots: "0.9" comes before "0.11".
int compare_versions(std::string_view a, std::string_view b);

}  // namespace mw::preflight
