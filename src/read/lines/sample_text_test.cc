#include "read/lines/sample_text.h"

#include <doctest/doctest.h>

#include <string>

namespace mw {
namespace {

bool holds(std::string_view text) { return holds_sample_text(text, RareBytes(text)); }

TEST_CASE("a line that names who speaks at its head holds a sample") {
  for (const char* text :
       {"[response] slurmstepd: error: *** JOB 7 ON n3 CANCELLED AT 2026-02-01T10:00:00 ***", "[Response 3]: it hangs",
        "[prompt] why does it print KeyboardInterrupt?", "Response: CUDA out of memory means", "response #12: ok",
        "[completion_2] Traceback (most recent call last):", "Answer: 42", "answer 2: the disk is full",
        "Model output: Killed", "Generated text 4: Early stopping", "[generation 7] Segmentation fault",
        "user: what is an ECC error?", "[sample] x", "<|im_start|>assistant"}) {
    CAPTURE(std::string(text));
    CHECK(holds(text));
  }
}

TEST_CASE("what a program says of its samples, and of itself, holds none") {
  for (const char* text :
       {"response length 512, reward 0.5", "responses: 64", "answered 12 of 20", "Generation 5: best reward 0.5",
        "prompts: 128", "[rank0] Received SIGTERM", "Sample 12: reward 0.5", "[generations] 64", "solution found",
        "slurmstepd: error: *** JOB 7 ON n3 CANCELLED AT 2026-02-01T10:00:00 ***", "", "[", "[]", ":",
        "Model outputs are saved to out/", "prompt 3 | reward 0.5"}) {
    CAPTURE(std::string(text));
    CHECK_FALSE(holds(text));
  }
}

}  // namespace
}  // namespace mw
