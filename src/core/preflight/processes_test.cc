#include "core/preflight/processes.h"

#include <doctest/doctest.h>

namespace mw::preflight {

TEST_CASE("how many processes a command starts is what its launcher says, or is not known") {
  CHECK(processes_of({"python", "train.py", "--nproc_per_node=4"}) == 1.0);
  CHECK(processes_of({"accelerate", "launch", "--num_processes", "7", "train.py"}) == 7.0);
  CHECK(processes_of({"/opt/bin/accelerate", "launch", "--num-processes=2", "train.py"}) == 2.0);
  CHECK(processes_of({"torchrun", "--nproc-per-node=8", "--nnodes", "2", "train.py"}) == 16.0);
  CHECK(processes_of({"python3", "-m", "torch.distributed.run", "--nproc_per_node", "4", "train.py"}) == 4.0);
  for (const std::vector<std::string>& unclear :
       std::vector<std::vector<std::string>>{{"accelerate", "launch", "--config_file", "zero3.yaml", "train.py"},
                                             {"torchrun", "--nproc_per_node=gpu", "train.py"},
                                             {"torchrun", "--nnodes=1:4", "--nproc_per_node=8", "train.py"},
                                             {"srun", "python", "train.py"},
                                             {"trl", "grpo", "--config", "grpo.yaml"},
                                             {}}) {
    CHECK_FALSE(processes_of(unclear).has_value());
  }
}

}  // namespace mw::preflight
