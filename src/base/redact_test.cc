#include <doctest/doctest.h>

#include "base/secret_shapes.h"
#include "base/secrets.h"
#include "base/text.h"

namespace mw {
namespace {

// Made up, and put together here so that no text of this file has the form of a key.
const std::string kHug = cat("h", "f_", "QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi");
const std::string kHub = cat("gh", "p_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
const std::string kHex = "0123456789abcdef0123456789abcdef01234567";
const std::string kOdd = "xT7pQ2vK9mZ4wB8nR3cY6hJ1";

std::string hidden(const std::string& text, const std::string& secret) {
  const std::string out = redact_secrets(text);
  return contains(out, secret.substr(0, 10)) || contains(out, secret.substr(secret.size() - 10)) ? out : "";
}

TEST_CASE("a secret is found in whatever it stands") {
  for (const std::string& secret : {kHug, kHub, kHex, kOdd}) {
    for (const std::string& text :
         {cat("HF_TOKEN=", secret), cat("--api-key ", secret), cat("['--hf-token', '", secret, "']"),
          cat("{'HF_TOKEN': '", secret, "'}"), cat("{\\\"HF_TOKEN\\\": \\\"", secret, "\\\"}"),
          cat("Authorization: Bearer ", secret), cat("curl -u me:", secret, " x"), cat("https://me:", secret, "@h/x"),
          cat("https://", secret, "@h/x"), cat("GET /x?token=", secret, "&n=1"), cat("<api_key>", secret, "</api_key>"),
          cat("ENV HF_TOKEN ", secret), cat("API key provided: ", secret, ". Find"),
          cat("os.environ[\"HF_TOKEN\"] = \"", secret, "\""), cat("AccountKey=", secret, ";EndpointSuffix=x"),
          cat("Cookie: a=b; sid=", secret), cat("https://hooks.slack.com/services/T0/B0/", secret),
          cat("machine h login me password ", secret)}) {
      CAPTURE(text);
      CHECK(hidden(text, secret) == "");
      CHECK(redact_secrets(redact_secrets(text)) == redact_secrets(text));
    }
  }
}

TEST_CASE("what is no secret stays") {
  for (const char* line : {"step:12 - actor/entropy:0.5 - critic/rewards/mean:0.25 - tokens: 128",
                           "commit 0123456789abcdef0123456789abcdef01234567",
                           "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                           "run id 3kxp9q2a",
                           "Saving to /ckpt/DeepSeekR1DistillQwen7B-lr1e6/global_step_40/actor",
                           "pad_token: <|endoftext|> max_tokens=512",
                           "KeyError: 'result' in _validate(key=lambda x: x[1])",
                           "dispatch key: ADInplaceOrView",
                           "api_key='EMPTY' base_url=http://127.0.0.1:8000/v1",
                           "HF_TOKEN is not set; export HF_TOKEN=<your token>",
                           "--hf-token HF_TOKEN  the token",
                           "HF_TOKEN=$HF_TOKEN python train.py",
                           "[sync] HEAD=c5cc71b57619a866e61e5e75288cc699eca3e1e8",
                           "--world_info=eyJsb2NhbGhvc3QiOiBbMCwgMV19",
                           "loading /storage5/hf_private/model/Tanuki-8B",
                           "number of pieces per cookie: 3 = 144/48",
                           "password = getpass(prompt)",
                           "TOKENIZERS_PARALLELISM=false",
                           "chatcmpl-8mYqk3J2pLw9XzR4tVb7NcD1eFg6H",
                           "session_2026-02-19_09-08-11_123456_4711",
                           "Basic authentication failed",
                           "the bearer of this ring",
                           "git@github.com:a/b.git",
                           "http://user@host:8080/x"}) {
    CAPTURE(line);
    CHECK(redact_secrets(line) == line);
  }
}

TEST_CASE("cut at any place by a line's end, with a prefix or without") {
  const std::string front = "could not reach the judge with the settings that it was given: HF_TOKEN";
  const std::string whole = cat(front, "=", kHug, " again");
  for (size_t at = front.size(); at < front.size() + 1 + kHug.size(); ++at) {
    for (const std::string prefix : {"", "  ", "(Judge pid=7) ", "2026-02-19 09:08:11 INFO judge: "}) {
      const std::string out = redact_secrets(cat(prefix, whole.substr(0, at), "\n", prefix, whole.substr(at)));
      CAPTURE(out);
      CHECK_FALSE(contains(out, kHug.substr(kHug.size() - 8)));
      CHECK_FALSE(contains(out, kHug.substr(3, 8)));
      CHECK(out.ends_with("again"));
    }
  }
}

TEST_CASE("a secret at the end of a line takes nothing of the next one with it") {
  for (const char* next : {"RuntimeError: no", "KeyError", "next", "2026-02-19 09:08:11 INFO x", "step:12 - loss:0.5",
                           "Traceback (most recent call last):", "global_step_40 saved", "DeepSpeedEngine is up"}) {
    const std::string out =
        redact_secrets(cat("    client = Client(whatever it takes to be long, api_key=", kHub, "\n", next));
    CAPTURE(out);
    CHECK(out.ends_with(cat("=<redacted>\n", next)));
  }
}

TEST_CASE("a key in PEM, in whole or with what stands in front of a line") {
  const std::string begin = cat("-----BEGIN", " PRIVATE KEY-----"), end = cat("-----END", " PRIVATE KEY-----");
  const std::string out =
      redact_secrets(cat("(pid=9) ", begin, "\n(pid=9) MIIBVwIBADANBgkq\n(pid=9) ", end, "\n(pid=9) lr: 1"));
  CHECK(out == "(pid=9) <redacted>\n(pid=9) <redacted>\n(pid=9) <redacted>\n(pid=9) lr: 1");
  CHECK(find_secrets("MIIBVwIBADANBgkq", cat(begin, "\n")).size() == 1);
  CHECK(find_secrets("MIIBVwIBADANBgkq", "nothing\n").empty());
  CHECK(redact_secrets(cat("{\"private_key\": \"", begin, "\\nMIIB\\n", end, "\", \"lr\": 1}")) ==
        "{\"private_key\": \"<redacted>\", \"lr\": 1}");
}

TEST_CASE("values of the environment are hidden literally") {
  KnownSecrets known;
  known.learn_environment({"JUDGE_TOKEN=plain-words-only", "DB_PASSWORD=tr0ub4dor&3", "PATH=/usr/bin:/bin",
                           "USE_TOKEN=true", "RUN_KEY=default", "A_TOKEN=40960000", "KEY_FILE_TOKEN=/root/.token",
                           "SLACK_WEBHOOK_URL=https://h.invalid/T0123/B0123/part7of9"});
  CHECK(known.hide("it said plain-words-only twice: plain-words-only") == "it said <redacted> twice: <redacted>");
  CHECK(known.hide("tr0ub4dor%263 and tr0ub4dor&3") == "<redacted> and <redacted>");
  CHECK(known.hide("cHJlcGxhaW4td29yZHMtb25seQ==").find("d29yZHM") ==
        std::string::npos);  // base64 of "preplain-words-only"
  CHECK(known.hide("cut at its end: plain-words-o") == "cut at its end: <redacted>");
  CHECK(known.hide("posted to /T0123/B0123/part7of9") == "posted to <redacted>");
  CHECK(known.hide("true, default, 40960000, /root/.token, /usr/bin:/bin") ==
        "true, default, 40960000, /root/.token, /usr/bin:/bin");
  CHECK(KnownSecrets().hide("x") == "x");
}

TEST_CASE("settings") {
  CHECK(redacted_setting("trainer.hub_token", "abc def") == "<redacted>");
  CHECK(redacted_setting("password", "1234") == "<redacted>");
  CHECK(redacted_setting("lr", "1e-6") == "1e-6");
  CHECK(redacted_setting("hub_token", "None") == "None");
  CHECK(redacted_setting("max_tokens", "512") == "512");
  CHECK(redacted_setting("url", cat("https://me:", kOdd, "@h/x")) == "https://me:<redacted>@h/x");
}

TEST_CASE("text by chance") {
  CHECK(random_looking(kOdd));
  CHECK_FALSE(random_looking("Qwen2ForCausalLMWithValueHead2"));
  CHECK_FALSE(random_looking(kHex));
  CHECK(opaque(kHex));
  CHECK_FALSE(opaque("step_of_the_ladder"));
  CHECK(basic_credentials("dXNlcjpwYXNzd29yZA=="));
  CHECK_FALSE(basic_credentials("authentication"));
}

}  // namespace
}  // namespace mw
