// links: base
#include "base/text.h"
#include "fuzz.h"

std::vector<std::string> mw::fuzz_seeds() {
  return {"api_key=abcdefghijkl", "https://user:secret@host/x", "sk-0123456789abcdef0123",
          "Authorization: Bearer abcdefgh"};
}

void mw::fuzz_one(std::string_view input) {
  const std::string once = redact_secrets(input);
  MW_CHECK(once.size() <= input.size() * 4 + 16);
  static_cast<void>(escape_terminal(input));
  static_cast<void>(escape_markdown(input));
  const std::string clean = sanitize_utf8(input);
  MW_CHECK(sanitize_utf8(clean) == clean);
  MW_CHECK(clip(input, 20).size() <= 20 + 3);
}
