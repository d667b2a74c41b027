#include "read/lines/container_label.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/text.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

/// Of a file whose lines carry these labels in turn: the label of `line`, behind twelve and more others.
size_t label_behind(std::string_view first, std::string_view second, std::string_view line) {
  std::string head;
  for (int i = 0; i < 20; ++i) head += cat(i % 5 == 4 ? second : first, "loading part ", i, "\n");
  ContainerLabels labels;
  labels.expect(head);
  return labels.label(line);
}

TEST_CASE("what docker compose and stern put before all lines of a file is a label") {
  CHECK(label_behind("trainer-1  | ", "trainer-1  | ", "trainer-1  | ValueError: bad") == 13);
  CHECK(label_behind("trainer-1  | ", "vllm-1     | ", "vllm-1     |   File \"a.py\"") == 13);
  CHECK(label_behind("trainer-1  | ", "trainer-1  | ", "trainer-1  |") == 12);
  CHECK(label_behind("grpo-0 pytorch ", "grpo-1 pytorch ", "grpo-0 pytorch Traceback") == 15);
  CHECK(label_behind("grpo-7f9c8-x2k4 main ", "grpo-7f9c8-x2k4 main ", "grpo-7f9c8-x2k4 main   File") == 21);
}

TEST_CASE("what counts, what is no name, and what is not before every line is no label") {
  CHECK(label_behind("epoch-1 | ", "epoch-2 | ", "epoch-1 | loss 0.5") == 0);
  CHECK(label_behind("INFO | ", "INFO | ", "INFO | ready") == 0);
  CHECK(label_behind("run-1 step ", "run-1 step ", "run-1 step 5") == 0);
  CHECK(label_behind("trainer-1  | ", "", "trainer-1  | ready") == 0);
  CHECK(label_behind("trainer-1  | ", "trainer-1  | ", "other-2  | ready") == 0);
}

TEST_CASE("a file that is followed shows its label by the lines that came") {
  ContainerLabels labels;
  for (int i = 0; i < 7; ++i) CHECK(labels.label("trainer-1  | ready") == 0);
  CHECK(labels.label("trainer-1  | ready") == 13);
  CHECK(labels.label("trainer-1  | bad") == 13);
  CHECK(labels.label("vllm-1     | up") == 0);
  CHECK(labels.label("vllm-1     | up") == 13);
}

TEST_CASE("a traceback behind a container's label ended the run, with stern's notices above it or without") {
  for (const std::string_view label :
       {"trainer-1  | ", "trainer-1  | 2026-05-03T09:00:00.123456789Z ", "trainer-0 pytorch "}) {
    CAPTURE(label);
    std::string log = label.starts_with("trainer-0") ? "+ trainer-0 \xe2\x80\xba pytorch\n" : "";
    for (int i = 1; i <= 40; ++i)
      log += cat(label, "step ", i, "/100 | reward 0.", 3000 + i * 7, " | loss 0.0", 100 + i, "\n");
    for (const std::string_view line :
         {"Traceback (most recent call last):", "  File \"/w/train.py\", line 214, in <module>", "    main()",
          "  File \"/w/loss.py\", line 41, in compute_loss", "    logp = logits.gather(-1, labels)",
          "RuntimeError: The size of tensor a (512) must match the size of tensor b (511)"}) {
      log += cat(label, line, "\n");
    }
    const State state = state_of(log);
    REQUIRE_FALSE(state.incidents.empty());
    const auto crash = std::find_if(state.incidents.begin(), state.incidents.end(), [](const Incident& one) {
      return contains(one.summary, "RuntimeError") && one.severity == Severity::kCritical;
    });
    CHECK(crash != state.incidents.end());
  }
}

}  // namespace
}  // namespace mw
