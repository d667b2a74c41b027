// What people name their secrets, and what is known to be one, so that nothing that midwatch keeps or prints holds any.
// The redactor itself is redact_secrets() of base/text.h; why there is one only: docs/decisions/0009-one-redactor.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mw {

inline constexpr std::string_view kRedacted = "<redacted>";

/// What a name says of the value behind it.
enum class NameSays {
  kNothing,
  kPerhaps,   ///< a secret where the value looks like one ("token", "auth", "signature")
  kSecret,    ///< WANDB_API_KEY, --hf-token
  kPassword,  ///< likewise, and it may well be a word or a number
};
NameSays name_says(std::string_view name);

/// Does the name of a variable, a setting or an option say that its value is a secret? Whoever writes WANDB_API_KEY or
/// --hf-token means one; "max_tokens", "pad_token" and "input_key" are none. In doubt it is.
bool names_secret(std::string_view name);

/// From here on this process takes the variable of exactly this name for a secret's, whatever its name says: for what
/// the settings name as { env = "NAME" }. It is a fact of the process, as its environment is.
void declare_secret_variable(std::string_view name);

/// Would somebody who issues tokens write such a value ("tok-…", "api_key_…" with capitals and digits behind)? For
/// whole values, of which nobody says by a name what they are; within text only redact_secrets() is asked.
bool looks_issued(std::string_view value);

/// The value of a setting of that name: "<redacted>" when the name says so, else as redact_secrets() leaves it.
std::string redacted_setting(std::string_view name, std::string_view value);

/// A command's words as redact_secrets() leaves them; in "--token VALUE" the word behind is redacted.
std::vector<std::string> redact_words(const std::vector<std::string>& words);

/// Bytes of text to take beyond a limit before it is redacted and then cut, so that no secret is cut before it is seen.
inline constexpr size_t kRedactMargin = 600;

/// [begin, end) of a text.
struct SecretSpan {
  size_t begin = 0, end = 0;
};

/// The secrets of `line`, which has no line end; apart and in order. `before` is what stood in front of it, at least
/// its line before, which decides whether `line` goes on with a key or a value that was wrapped.
std::vector<SecretSpan> find_secrets(std::string_view line, std::string_view before = {});

/// Does a private key in PEM begin in `text`? Where none does in what stands before a line, find_secrets() needs of it
/// the line before alone.
bool may_hold_key(std::string_view text);

/// Puts spans in order and makes one of those that touch; empty ones go.
void join_spans(std::vector<SecretSpan>& spans);

/// `text` with `spans` (apart, in order) as "<redacted>".
std::string without(std::string_view text, const std::vector<SecretSpan>& spans);

/// Values that are known to be secret: of the variables that a trainer, or midwatch itself, was started with. They are
/// redacted wherever they stand, also in base64, escaped, or cut at an end of the text.
class KnownSecrets {
 public:
  /// Keeps `value` when `name` means a secret and it is long and odd enough not to stand in ordinary text by chance.
  void learn(std::string_view name, std::string_view value);
  /// Each "NAME=value" of an environment.
  void learn_environment(const char* const* environment);
  void learn_environment(const std::vector<std::string>& environment);
  bool empty() const { return forms_.empty(); }
  /// `text` without them.
  std::string hide(std::string_view text) const;
  std::vector<std::string> hide(const std::vector<std::string>& words) const;
  /// Their places in `text`, in no order.
  void find(std::string_view text, std::vector<SecretSpan>& out) const;

 private:
  void keep(std::string_view form);
  std::vector<std::string> forms_;  // as they may be written; the longest first
};

}  // namespace mw
