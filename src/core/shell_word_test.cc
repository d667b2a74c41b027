#include "core/shell_word.h"

#include <doctest/doctest.h>

namespace mw {

TEST_CASE("a shell says that the trainer it had started is dead") {
  CHECK(shell_lost_trainer("start.sh: line 31: 5120 Segmentation fault      (core dumped) python3 /w/train.py --lr 1"));
  CHECK(shell_lost_trainer("/w/go.sh: line 4:  771 Killed                  accelerate launch /w/grpo.py"));
  CHECK(shell_lost_trainer("go.sh: line 4: 771 Bus error               (core dumped) torchrun -m acme.main"));
  CHECK(shell_lost_trainer("go.sh: line 4: 771 User defined signal 1   python grpo.py"));
  CHECK(shell_lost_trainer("go.sh: line 4: 771 File size limit exceeded(core dumped) python train.py"));
}

TEST_CASE("the death of a helper, of a sandbox's command or of nothing known is no trainer's") {
  CHECK_FALSE(shell_lost_trainer("start.sh: line 9: 5120 Segmentation fault      (core dumped) python3 watch_gpus.py"));
  CHECK_FALSE(shell_lost_trainer("bash: line 1: 5120 Segmentation fault      (core dumped) ./a.out"));
  CHECK_FALSE(shell_lost_trainer("train.sh: line 9: 5120 Killed                  nvidia-smi dmon"));
  CHECK_FALSE(shell_lost_trainer("train.sh: line 9: torchrun: command not found"));
  CHECK_FALSE(shell_lost_trainer("Killed"));
  CHECK(shell_says_killed("go.sh: line 1:  2554 Killed                  eval \"$1\""));
  CHECK_FALSE(shell_says_killed("Killed"));
}

}  // namespace mw
