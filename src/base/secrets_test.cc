#include "base/secrets.h"

#include <doctest/doctest.h>

#include "base/text.h"

namespace mw {
namespace {

TEST_CASE("names that say that their value is a secret") {
  for (const char* name : {"WANDB_API_KEY",
                           "HF_TOKEN",
                           "HUGGING_FACE_HUB_TOKEN",
                           "OPENAI_API_KEY",
                           "AWS_SECRET_ACCESS_KEY",
                           "MYSQL_PWD",
                           "AWS_ACCESS_KEY_ID",
                           "--hf-token",
                           "trainer.hub_token",
                           "wandbApiKey",
                           "db.password",
                           "hftoken",
                           "GITHUB_PAT",
                           "SMTP_PASS",
                           "PGPASS",
                           "KAGGLE_CRED",
                           "GCP_CREDS",
                           "SLACK_WEBHOOK_SECRET",
                           "SENTRY_DSN",
                           "NPM_AUTH",
                           "REDIS_PASSWORD_2",
                           "ROLLOUT_KEY",
                           "azureConnectionString",
                           "DB_PW",
                           "db_pw",
                           "AUTH_HEADER",
                           "SIGNING_PHRASE",
                           "seed_phrase",
                           "DB_PIN",
                           "--judge-key",
                           "openai_key"}) {
    CAPTURE(name);
    CHECK(names_secret(name));
  }
  for (const char* name : {"max_tokens",
                           "TOKENIZERS_PARALLELISM",
                           "pad_token",
                           "eostoken",
                           "data.prompt_key",
                           "--input_key",
                           "PWD",
                           "OLDPWD",
                           "max_new_tokens",
                           "tokenizer_path",
                           "token_level_loss",
                           "key",
                           "keyboard",
                           "PATH",
                           "lr",
                           "",
                           "__",
                           "special_token",
                           "KEY",
                           "loss_agg_mode",
                           "author",
                           "patience",
                           "first_pass",
                           "BYPASS",
                           "PASS",
                           "COMPASS",
                           "PASS_RATE",
                           "pass",
                           "MONKEY_BARS",
                           "PIN_MEMORY",
                           "dataloader_pin",
                           "PIN",
                           "search_phrase",
                           "phrase",
                           "power",
                           "gpu_pwr",
                           "auth_backend",
                           "PHRASE_LENGTH",
                           "reward_fn_key"}) {
    CAPTURE(name);
    CHECK_FALSE(names_secret(name));
  }
}

TEST_CASE("values of secret names are taken out of lines, the rest stays") {
  CHECK(redact_secrets("export HF_TOKEN=abcd") == "export HF_TOKEN=<redacted>");
  CHECK(redact_secrets("HF_TOKEN=abcd python train.py --lr 1e-6") == "HF_TOKEN=<redacted> python train.py --lr 1e-6");
  CHECK(redact_secrets("  wandb_api_key: \"abcd\"  # mine\n  lr: 1e-6\n") ==
        "  wandb_api_key: \"<redacted>\"  # mine\n  lr: 1e-6\n");
  CHECK(redact_secrets("password: correct horse battery") == "password: <redacted>");
  CHECK(redact_secrets("{\"hub_token\": \"abcd\", \"max_tokens\": 512}") ==
        "{\"hub_token\": \"<redacted>\", \"max_tokens\": 512}");
  CHECK(redact_secrets("+run --hub-token abcd --max-tokens 512") == "+run --hub-token <redacted> --max-tokens 512");
  CHECK(redact_secrets("data.prompt_key=question") == "data.prompt_key=question");
  CHECK(redact_secrets("-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----\nlr: 1") ==
        "<redacted>\n<redacted>\n<redacted>\nlr: 1");
  CHECK_FALSE(contains(redact_secrets("hf_token = 'abcd"), "abcd"));
  CHECK(redact_secrets("token =") == "token =");
  CHECK(redact_secrets("") == "");
}

TEST_CASE("a whole value of an issuer's form is a secret whatever its name") {
  for (const char* const value :
       {"tok-VERYSECRET-42", "token_9f8A7b6C5d", "key-0123456789abcdef", "api_key-XY12345678"})
    CHECK_MESSAGE(looks_issued(value), value);
  for (const char* const value :
       {"token-level-loss", "token_level_v2", "key-value", "tokenizer-Qwen2-7B-Instruct", "tok-1", "secret", "keys",
        "auth-none", "", "token mean 12 of A", "pattern_B2_C3_D4", "token_PPO_Qwen2.5-7B"})
    CHECK_MESSAGE(!looks_issued(value), value);
}

TEST_CASE("words of a command") {
  const std::vector<std::string> out =
      redact_words({"python", "train.py", "--hf-token", "abcd", "--lr", "1", "trainer.api_key=xyz", "--token=abcd"});
  CHECK(out == std::vector<std::string>{"python", "train.py", "--hf-token", "<redacted>", "--lr", "1",
                                        "trainer.api_key=<redacted>", "--token=<redacted>"});
  CHECK(redact_words({"--judge", "tok-VERYSECRET-42", "judge.with=key_ABCDEFGH12"}) ==
        std::vector<std::string>{"--judge", "<redacted>", "judge.with=<redacted>"});
  CHECK(redact_words({"--token", "--lr", "1"}) == std::vector<std::string>{"--token", "--lr", "1"});
}

TEST_CASE("a bearer's token is none of anybody's business, whatever the setting is called") {
  CHECK(redacted_setting("UPSTREAM", "Bearer qq7b777") == "<redacted>");
  CHECK(redacted_setting("AUTH_HEADER", "Bearer qqb777") == "<redacted>");
  CHECK(redacted_setting("ROLE", "bearer of news") == "bearer of news");
  CHECK(redacted_setting("DB_PW", "qqpw666") == "<redacted>");
  CHECK(redacted_setting("DB_PIN", "0815") == "<redacted>");
  CHECK(redacted_setting("SIGNING_PHRASE", "correct horse") == "<redacted>");
  CHECK(redact_words({"train.py", "--judge-key=qqarg777", "--judge-key", "qqarg777", "--steps=3"}) ==
        std::vector<std::string>{"train.py", "--judge-key=<redacted>", "--judge-key", "<redacted>", "--steps=3"});
}

}  // namespace
}  // namespace mw
