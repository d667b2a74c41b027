// practice_run: a small but real policy-gradient (GRPO) training: a policy, an inference server of its own that can be
// killed, a reward with two parts, checkpoints. Its figures are those of the training; its clock is a practice clock,
// so that the same seed gives the same bytes.
#include "practice/options.h"
#include "practice/trainer.h"

int main(int argc, char** argv) {
  const auto options = practice::parse_options(argc, argv);
  if (!options) return 2;
  practice::Trainer trainer(*options);
  return trainer.train();
}
