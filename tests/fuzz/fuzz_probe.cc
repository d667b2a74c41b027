// links: sense
#include "fuzz.h"
#include "sense/processes/probe.h"

namespace {

/// A server that is well, and whatever it is asked for answers with the input; it speaks OpenAI's protocol or SGLang's.
class Babbler final : public mw::Http {
 public:
  Babbler(std::string_view words, bool openai) : words_(words), openai_(openai) {}
  mw::Result<mw::HttpAnswer> send(const mw::HttpRequest& request) override {
    const bool completion = request.url.find("/v1/completions") != std::string::npos;
    const bool models = request.url.find("/v1/models") != std::string::npos;
    if (models && openai_) return mw::HttpAnswer{200, R"({"data":[{"id":"m"}]})", -1};
    return mw::HttpAnswer{completion && !openai_ ? 404 : 200, words_, -1};
  }
  mw::Result<void> mail(const mw::MailRequest&) override { return {}; }

 private:
  std::string words_;
  bool openai_;
};

}  // namespace

std::vector<std::string> mw::fuzz_seeds() {
  return {R"({"choices":[{"text":"2","logprobs":{"token_logprobs":[-0.25]}}]})",
          R"({"choices":[{"text":null,"logprobs":{"token_logprobs":null}}]})",
          R"({"meta_info":{"output_token_logprobs":[[-0.5,17,null]]}})", R"({"data":[{"id":"model"}]})",
          "vllm:x{a=\"1\"} 2\nvllm:kv_cache_usage_perc 0.5\na 1e3 17\nsglang:generation_tokens_total 4\n"};
}

void mw::fuzz_one(std::string_view input) {
  components::Target target;
  target.address = "http://h:1";
  target.generate = true;
  (void)components::totals_of(input, {"a", "vllm:x"});
  (void)components::engine_figures(input);
  for (const bool openai : {false, true}) {
    Babbler server(input, openai);
    (void)components::ask(server, target);
  }
}
