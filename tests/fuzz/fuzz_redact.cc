// links: base
#include "base/secrets.h"
#include "base/text.h"
#include "fuzz.h"

std::vector<std::string> mw::fuzz_seeds() {
  return {"api_key=abcdefghijkl",
          "https://user:secret@host/x?token=abcd&X-Amz-Signature=0123456789#access_token=1",
          "sk-0123456789abcdef0123",
          "Authorization: Bearer abcdefgh",
          "--api-key V1234567 ['--hf-token', 'x'] {\\\"HF_TOKEN\\\": \\\"y\\\"}",
          "-----BEGIN RSA PRIVATE KEY-----\nMIIabcdefgh\n-----END RSA PRIVATE KEY-----\n",
          "(W pid=1) could not reach the judge with HF_TOKEN=hf_ABCD\n(W pid=1) efghIJKLmnopQRSTuvwxYZab"};
}

void mw::fuzz_one(std::string_view input) {
  const std::string once = redact_secrets(input);
  MW_CHECK(once.size() <= input.size() * 12 + 16);
  MW_CHECK(count_lines(once) == count_lines(input));
  const size_t half = input.size() / 2;
  size_t end = 0;
  for (const SecretSpan& span : find_secrets(input.substr(half), input.substr(0, half))) {
    MW_CHECK(span.begin >= end && span.begin < span.end && span.end <= input.size() - half);
    end = span.end;
  }
  KnownSecrets known;
  known.learn("FUZZ_TOKEN", input.substr(0, half));
  MW_CHECK(known.hide(once).size() <= once.size() * 12 + 16);
  static_cast<void>(name_says(input));
  static_cast<void>(redacted_setting(input.substr(0, half), input.substr(half)));
  static_cast<void>(escape_terminal(input));
  static_cast<void>(escape_markdown(input));
  const std::string clean = sanitize_utf8(input);
  MW_CHECK(sanitize_utf8(clean) == clean);
  MW_CHECK(clip(input, 20).size() <= 20 + 3);
}
