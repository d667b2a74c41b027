#include "core/detect/support/refusals.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace mw::detect {
namespace {

// How programs refuse a setting. An empty cause leaves that of the type.
constexpr std::array<std::string_view, 92> kRefusals = {
    "must be either",
    "must be one of",
    "must be set",
    "must be specified",
    "must be provided",
    "must be enabled",
    "must be disabled",
    "must be greater",
    "must be less",
    "must be positive",
    "must be a positive",
    "must be in the ",
    "must be between",
    "must be a multiple",
    "must be at least",
    "must be at most",
    "must be equal to",
    "must specify",
    "must use ",
    "must match number",
    "must match the number",
    "should be one of",
    "should be set",
    "should be either",
    "should be larger",
    "has to be set",
    "has to be",
    "is not supported",
    "not supported",
    "unsupported",
    "does not support",
    "only supports",
    "only support ",
    "only supported",
    "can only be used",
    "cannot be used",
    "can't be used",
    "cannot be combined",
    "mutually exclusive",
    "not compatible",
    "incompatible",
    "is required for",
    "is required when",
    "` is required",
    "are required",
    "please set",
    "please either",
    "please specify",
    "please provide",
    "please choose",
    "set exactly one of",
    "exactly one of",
    "at least one of",
    "at most one of",
    "not both",
    "is not a valid",
    "not a valid argument",
    "invalid choice",
    "invalid value",
    "keys are not used",
    "environment var",
    "require setting",
    "divisible",
    "is larger than the",
    "not used by the hf",
    "tensor parallel",
    "cannot find ",
    "could not find ",
    "couldn't find ",
    "can't find ",
    " does not exist",
    "is greater than",
    "exceeds the ",
    "must be larger",
    "must be smaller",
    "must be longer",
    "must be shorter",
    "is only valid",
    "are supported for",
    "is only available",
    "must be chosen",
    "must be one ",
    "cannot be enabled",
    "must be >",
    "must be <",
    "must be identical",
    "must be non-negative",
    "is currently supported",
    "currently requires",
    "currently supported",
    "is not set",
    "is not provided",
};

// How a setting that is named is refused, and how a name looks that is one of a setting rather than of a variable.
constexpr std::array<std::string_view, 9> kModals = {" must ",  " should ", "requires ", " needs ",  "cannot",
                                                     "invalid", "not set",  "missing",   "expected "};
constexpr std::array<std::string_view, 11> kSettingBegins = {
    "num_", "n_", "max_", "min_", "use_", "enable_", "disable_", "total_", "save_", "load_", "resume_"};
constexpr std::array<std::string_view, 19> kSettingEnds = {
    "_size", "_steps",    "_path",  "_dir",     "_freq",    "_ratio",    "_coef",    "_len",      "_mode",      "_type",
    "_gpus", "_parallel", "_nodes", "_workers", "_per_gpu", "_per_node", "_backend", "_strategy", "_estimator",
};
constexpr std::array<std::string_view, 3> kBareRefusals = {"invalid ", "unknown ", "unrecognized "};  // at the start

bool digit(char c) { return c >= '0' && c <= '9'; }
bool lower(char c) { return c >= 'a' && c <= 'z'; }
bool upper(char c) { return c >= 'A' && c <= 'Z'; }

/// "--lr", "actor.ppo_epochs", "ACME_TOKENS", "max_steps": a name that a person sets.
bool names_setting(std::string_view word) {
  while (!word.empty() && word.back() == '.') word.remove_suffix(1);
  if (word.size() < 4) return false;
  if (word.starts_with("--")) return lower(word[2]);
  const bool joined = contains(word, "_");
  if (joined && std::all_of(word.begin(), word.end(), [](char c) { return upper(c) || digit(c) || c == '_'; })) {
    return upper(word[0]);
  }
  if (!lower(word[0])) return false;
  const size_t dot = word.find('.');
  if (joined && dot != std::string_view::npos && lower(word[dot + 1])) return true;
  return std::any_of(kSettingBegins.begin(), kSettingBegins.end(),
                     [word](auto part) { return word.starts_with(part); }) ||
         std::any_of(kSettingEnds.begin(), kSettingEnds.end(), [word](auto part) { return word.ends_with(part); });
}

/// A setting is named, and something is wanted of it.
bool refuses_setting(std::string_view message, std::string_view folded) {
  const auto said = [folded](std::string_view words) { return contains(folded, words); };
  if (std::any_of(kBareRefusals.begin(), kBareRefusals.end(),
                  [folded](auto word) { return folded.starts_with(word); })) {
    return true;
  }
  if (folded.starts_with("no ") && contains(folded, " found")) return true;
  if (folded.starts_with("{") || folded.starts_with("[")) return false;  // a value that is shown, no sentence
  if (std::none_of(kModals.begin(), kModals.end(), said)) return false;
  const auto part = [](char c) { return lower(c) || upper(c) || digit(c) || c == '_' || c == '.' || c == '-'; };
  for (size_t begin = 0; begin < message.size();) {
    size_t end = begin;
    while (end < message.size() && part(message[end])) ++end;
    if (names_setting(message.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

bool refuses(std::string_view message, std::string_view folded) {
  const auto said = [folded](std::string_view words) { return contains(folded, words); };
  return std::any_of(kRefusals.begin(), kRefusals.end(), said) || refuses_setting(message, folded);
}

}  // namespace mw::detect
