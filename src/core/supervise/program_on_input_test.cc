#include "core/supervise/program_on_input.h"

#include <doctest/doctest.h>

#include <vector>

#include "base/text.h"

namespace mw {
namespace {

bool reads(std::string_view line) {
  CAPTURE(line);
  std::vector<std::string> words;
  for (const std::string_view word : split(line, ' ')) words.emplace_back(word);
  return reads_program_from_input(words);
}

}  // namespace

TEST_CASE("a command without a script reads its program from standard input") {
  for (const char* const line : {"bash -s", "bash", "bash -ex", "sh -s 3 5", "/bin/bash -es", "python3 -",
                                 "python -u -", "python3.11 - --lr 1e-6", "env A=1 nohup python3 -u",
                                 "bash /dev/stdin 4", "sudo -E bash -s", "bash -o pipefail -s", "python3 -W ignore -"})
    CHECK_MESSAGE(reads(line), line);
}

TEST_CASE("one with a script, or that only names an interpreter, does not") {
  for (const char* const line :
       {"bash train.sh", "bash -c go", "bash -lc go", "python3 train.py -", "python3 -m verl.trainer.main_ppo",
        "python3 -u train.py", "torchrun train.py bash", "./train.sh", "env A=1", "bash -o pipefail go.sh -s",
        "python3 --version", "python-run", "srun bash", "bash -x go.sh -", "python3 -c go"})
    CHECK_FALSE_MESSAGE(reads(line), line);
}

}  // namespace mw
