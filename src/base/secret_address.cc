// Secrets in addresses: who logs in, webhooks, signed queries.
#include <algorithm>
#include <array>

#include "base/secret_finder.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kPlainUser = 20;    // bytes of a user's name that is no token
constexpr size_t kLeastInQuery = 4;  // bytes of a value

bool ends_address(char c) {
  return static_cast<unsigned char>(c) <= ' ' || contains("\"'<>`\\|", std::string_view(&c, 1));
}

bool plain_user(std::string_view user) {
  return user.size() <= kPlainUser && !opaque(user) && shaped_secret(user, 0, false) == 0;
}

/// Names in a query whose values let somebody in.
bool opens(std::string_view name) {
  static constexpr std::array<std::string_view, 21> kNames = {"key",
                                                              "token",
                                                              "sig",
                                                              "signature",
                                                              "auth",
                                                              "code",
                                                              "secret",
                                                              "password",
                                                              "passwd",
                                                              "pwd",
                                                              "pass",
                                                              "policy",
                                                              "x-amz-signature",
                                                              "x-amz-credential",
                                                              "x-amz-security-token",
                                                              "x-goog-signature",
                                                              "x-goog-credential",
                                                              "awsaccesskeyid",
                                                              "session",
                                                              "sid",
                                                              "jwt"};
  const std::string folded = to_lower(name);
  return std::find(kNames.begin(), kNames.end(), folded) != kNames.end() || name_says(name) >= NameSays::kPerhaps;
}

}  // namespace

/// The address whose scheme's "://" ends at `begin`; returns its end.
size_t SecretFinder::address(size_t begin) {
  size_t end = begin;
  while (end < line_.size() && !ends_address(line_[end])) ++end;
  while (end > begin && contains(".,;:!)]}", line_.substr(end - 1, 1))) --end;
  const size_t host = user(begin, end);
  const size_t path_begin = std::min(line_.find_first_of("/?#", host), end);
  const size_t query_begin = std::min(line_.find_first_of("?#;", path_begin), end);
  path(part(host, path_begin), path_begin, query_begin);
  query(query_begin, end);
  return std::max(end, begin);
}

/// Hides who logs in; returns where the host begins.
size_t SecretFinder::user(size_t begin, size_t end) {
  const size_t slash = std::min(line_.find_first_of("/?#", begin), end);
  const std::string_view authority = part(begin, slash);
  size_t sign = authority.rfind('@');
  if (sign == std::string_view::npos) {
    // A password may hold what ends an authority: then a '@' follows, and what stands behind ':' is no port.
    const size_t colon = authority.find(':');
    if (colon == std::string_view::npos || slash == end || colon + 1 == authority.size()) return begin;
    const std::string_view port = authority.substr(colon + 1);
    if (std::all_of(port.begin(), port.end(), is_digit)) return begin;
    sign = part(begin, end).rfind('@');
    if (sign == std::string_view::npos) return begin;
  }
  const std::string_view login = part(begin, begin + sign);
  const size_t colon = login.find(':');
  const std::string_view name = login.substr(0, colon);
  const std::string_view password = colon == std::string_view::npos ? std::string_view() : login.substr(colon + 1);
  if (!plain_user(name) || password == "x-oauth-basic" || name.empty()) {
    if (!name.starts_with("<")) mark(begin, begin + name.size());
  }
  if (!password.empty() && password != "x-oauth-basic" && !stands_for_secret(password)) {
    mark(begin + colon + 1, begin + sign);
  }
  return begin + sign + 1;
}

void SecretFinder::path(std::string_view host, size_t begin, size_t end) {
  const std::string_view whole = part(begin, end);
  size_t secret = std::string_view::npos;
  if (contains_folded(host, "hook") || (host.starts_with("ntfy.") && whole.size() > 6)) {
    secret = 1;
  } else if (const size_t hook = whole.rfind("hook"); hook != std::string_view::npos) {
    secret = whole.find('/', hook);
    if (secret != std::string_view::npos) ++secret;
  }
  if (secret < whole.size()) {
    const std::string_view rest = whole.substr(secret);
    const bool digits = std::any_of(rest.begin(), rest.end(), is_digit);
    if (rest.size() >= 6 && (digits || host.starts_with("ntfy.") || rest.size() >= 16)) {
      mark(begin + secret, end);
      return;
    }
  }
  for (size_t at = begin; at < end;) {
    const size_t stop = std::min(line_.find('/', at), end);
    for (size_t i = at; i < stop; ++i) {
      if (i > at && is_alnum(line_[i - 1])) continue;
      size_t shaped = shaped_secret(line_, i, cut_);
      if (shaped == i && i == at && line_.substr(i, 3) == "bot") shaped = shaped_secret(line_, i + 3, cut_);
      if (shaped <= i + 3) continue;
      mark(i, std::min(std::max(shaped, i), end));
      i = std::max(i, std::min(shaped, stop) - 1);
    }
    at = stop + 1;
  }
}

void SecretFinder::query(size_t begin, size_t end) {
  for (size_t at = begin; at < end;) {
    if (contains("?#&;", line_.substr(at, 1))) {
      ++at;
      continue;
    }
    const size_t stop = std::min(line_.find_first_of("&;#", at), end);
    const size_t equals = std::min(line_.find('=', at), stop);
    if (equals < stop && stop - equals - 1 >= kLeastInQuery && opens(part(at, equals)) &&
        !stands_for_secret(part(equals + 1, stop))) {
      mark(equals + 1, stop);
    } else {
      const size_t from = equals < stop ? equals + 1 : at;
      const size_t shaped = from < stop ? shaped_secret(line_, from, cut_) : from;
      if (shaped > from) mark(from, std::min(shaped, end));
      if (shaped <= from && random_looking(part(from, stop))) mark(from, stop);
    }
    at = stop;
  }
}

}  // namespace mw
