// Values of variables that are secret by their names, found wherever they are repeated.
#include <algorithm>
#include <array>

#include "base/secret_finder.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kLeast = 8;          // bytes of a value: shorter ones are words and numbers
constexpr size_t kWordLeast = 16;     // bytes from which small letters alone are no word
constexpr size_t kMost = 8192;        // bytes of a value
constexpr size_t kLineLeast = 24;     // bytes of one line of a value of several lines
constexpr size_t kAddressLeast = 32;  // bytes of a cut address: its scheme and host alone are no secret
constexpr size_t kFormsLimit = 400;
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool odd_enough(std::string_view value) {
  if (value.size() < kLeast || value.size() > kMost || stands_for_secret(value)) return false;
  if (value.front() == '/' || value.starts_with("./") || value.starts_with("~/")) {
    if (!opaque(value)) return false;  // a path to it
  }
  if (value.size() >= kWordLeast) return !std::all_of(value.begin(), value.end(), is_digit);
  const bool digits = std::any_of(value.begin(), value.end(), is_digit);
  const bool letters = std::any_of(value.begin(), value.end(), [](char c) { return is_lower(c) || is_upper(c); });
  const bool signs = std::any_of(value.begin(), value.end(),
                                 [](char c) { return !is_alnum(c) && !contains("_-./", std::string_view(&c, 1)); });
  const bool number = value.find_first_not_of("0123456789.,eE+-_:") == std::string_view::npos;
  return !number && ((digits && letters) || signs);
}

/// The characters of base64 that `value` gives for certain, when `skip` bytes stand in front of it in a group of three.
std::string base64_inside(std::string_view value, size_t skip) {
  std::string out;
  size_t at = (3 - skip) % 3;
  uint32_t bits = 0;
  int held = 0;
  for (; at < value.size(); ++at) {
    bits = (bits << 8) | static_cast<unsigned char>(value[at]);
    held += 8;
    while (held >= 6) {
      held -= 6;
      out += kLetters[(bits >> held) & 63];
    }
  }
  return out;
}

std::string escaped(std::string_view value, bool percent) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : value) {
    if (percent && !is_alnum(c) && !contains("-_.~", std::string_view(&c, 1))) {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    } else if (!percent && (c == '"' || c == '\\')) {
      out += {'\\', c};
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

void KnownSecrets::keep(std::string_view form) {
  if (form.size() < kLeast || forms_.size() >= kFormsLimit) return;
  if (std::find(forms_.begin(), forms_.end(), form) != forms_.end()) return;
  forms_.emplace_back(form);
  std::sort(forms_.begin(), forms_.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
}

void KnownSecrets::learn(std::string_view name, std::string_view value) {
  value = trim(value);
  if (!names_secret(name) || !odd_enough(value)) return;
  if (value.find('\n') != std::string_view::npos) {
    for (const std::string_view line : split(value, '\n')) {
      if (trim(line).size() >= kLineLeast && !contains(line, "-----")) keep(trim(line));
    }
    return;
  }
  keep(value);
  keep(escaped(value, true));
  keep(escaped(value, false));
  for (size_t skip = 0; skip < 3; ++skip) {
    const std::string inside = base64_inside(value, skip);
    if (inside.size() >= kWordLeast) keep(inside);
  }
  if (const size_t scheme = value.find("://"); scheme != std::string_view::npos) {  // what is secret of an address
    for (const SecretSpan& span : find_secrets(value)) keep(value.substr(span.begin, span.end - span.begin));
    const size_t path = value.find('/', scheme + 3);
    if (path != std::string_view::npos && value.size() - path > kWordLeast) keep(value.substr(path));
  }
}

void KnownSecrets::learn_environment(const char* const* environment) {
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view both = *environment;
    if (const size_t equals = both.find('='); equals != std::string_view::npos) {
      learn(both.substr(0, equals), both.substr(equals + 1));
    }
  }
}

void KnownSecrets::learn_environment(const std::vector<std::string>& environment) {
  for (const std::string& both : environment) {
    const size_t equals = both.find('=');
    if (equals != std::string::npos)
      learn(std::string_view(both).substr(0, equals), std::string_view(both).substr(equals + 1));
  }
}

void KnownSecrets::find(std::string_view text, std::vector<SecretSpan>& out) const {
  for (const std::string& form : forms_) {
    for (size_t at = text.find(form); at != std::string_view::npos; at = text.find(form, at + form.size())) {
      out.push_back({at, at + form.size()});
    }
    // A part of it, where the text was cut.
    const size_t least = contains(form, "://") ? kAddressLeast : kLeast;
    for (size_t size = std::min(form.size() - 1, text.size()); size >= least; --size) {
      if (text.ends_with(std::string_view(form).substr(0, size))) out.push_back({text.size() - size, text.size()});
      if (text.starts_with(std::string_view(form).substr(form.size() - size))) out.push_back({0, size});
    }
  }
}

std::vector<std::string> KnownSecrets::hide(const std::vector<std::string>& words) const {
  std::vector<std::string> out;
  out.reserve(words.size());
  for (const std::string& word : words) out.push_back(hide(word));
  return out;
}

std::string KnownSecrets::hide(std::string_view text) const {
  if (forms_.empty() || text.size() < kLeast) return std::string(text);
  std::vector<SecretSpan> spans;
  find(text, spans);
  if (spans.empty()) return std::string(text);
  join_spans(spans);
  return without(text, spans);
}

}  // namespace mw
