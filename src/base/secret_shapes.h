// What a secret looks like where nothing names it: the forms that issuers document, and text that only chance makes.
#pragma once

#include <cstddef>
#include <string_view>

namespace mw {

/// End of the secret of a documented form that begins at `at`, or `at` where none does. `cut`: the text may have been
/// cut at its end, so that the beginning of such a form there is one.
size_t shaped_secret(std::string_view text, size_t at, bool cut);

/// Letters and digits as chance throws them, and not words, numbers, hashes in hexadecimal or uuids. `token` holds
/// letters, digits and "+/=_-" only; what is shorter than 24 or longer than 512 bytes is never meant.
bool random_looking(std::string_view token);

/// Likewise for a value that a name already makes suspicious: hashes count, and 12 bytes are enough.
bool opaque(std::string_view value);

/// May the text at the begin of a line be the rest of a secret that was wrapped? No word is, nor a number, an
/// exception's or a setting's name.
bool may_go_on(std::string_view text);

/// "user:password" in base64, as in "Authorization: Basic".
bool basic_credentials(std::string_view token);

constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_alnum(char c) { return is_lower(c) || is_upper(c) || is_digit(c); }

}  // namespace mw
