// What people name their secrets, so that a record of commands, variables and settings holds none of their values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mw {

inline constexpr std::string_view kRedacted = "<redacted>";

/// Does the name of a variable, a setting or an option say that its value is a secret? Whoever writes WANDB_API_KEY or
/// --hf-token means one; "max_tokens", "pad_token" and "input_key" are none. In doubt it is.
bool names_secret(std::string_view name);

/// Lines of a script, a settings file or a diff, in which the values of such names, what has the shape of a key
/// (redact_secrets) and private keys in PEM are "<redacted>".
std::string redact_lines(std::string_view text);

/// A command's words, likewise; in "--token VALUE" the word behind is redacted.
std::vector<std::string> redact_words(const std::vector<std::string>& words);

}  // namespace mw
