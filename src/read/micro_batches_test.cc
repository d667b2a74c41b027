#include <doctest/doctest.h>

#include <algorithm>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "read/files/testing/encode.h"
#include "read/run_reader.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

TEST_CASE("a bar of micro-batches is no step where the file has the records of the steps") {
  encode::Wandb file;
  for (int64_t batch = 1; batch <= 40; ++batch) {  // four of them make a step
    file.output(
        cat("\rTrain step of epoch 0:   2%|2         | ", batch, "/489 [00:18<23:02,  2.84s/it, loss=0.6", batch,
            ", acc=0.5, chosen_reward=-0.03, reject_reward=-0.02, loss_mean=0.5, acc_mean=0.5, lr=1e-6]"),
        false, 1'760'000'000'000 + batch * 5000);
    if (batch % 4 != 0) continue;
    file.history(batch / 4 - 1, static_cast<double>(1'760'000'000 + batch * 5),
                 {{"train/global_step", cat(batch / 4)}, {"train/loss", "0.6"}, {"train/acc", "0.5"}});
  }
  FakeDisk disk;
  disk.put("/run/run-a.wandb", file.take());
  RunReader reader(disk, built_in_knowledge(), Judge::kAtClose, nullptr, {});
  REQUIRE(reader.open({"/run/run-a.wandb"}, "openrlhf").ok());
  reader.read_all({});
  reader.close();
  CHECK(reader.state().steps().first == 1);
  CHECK(reader.state().steps().last == 10);
  CHECK(reader.state().steps().count == 10);
  CHECK(reader.state().total_steps == 0);  // 489 of the bar is no plan of steps
}

TEST_CASE("what is no number in a bar of micro-batches is read beside the records of the steps") {
  encode::Wandb file;
  for (int64_t batch = 1; batch <= 40; ++batch) {
    file.output(cat("\rTrain epoch [1/1]:   2%|2         | ", batch % 8, "/8 [00:18<03:02,  2.84s/it, pg=",
                    batch > 36 ? "nan" : cat("0.0", batch), ", rm=-0.5, ret=-0.6, glen=300, kl=0.01, act_lr=3e-7]"),
                false, 1'760'000'000'000 + batch * 5000);
    if (batch % 8 != 0 || batch == 40) continue;
    file.history(batch / 8 - 1, static_cast<double>(1'760'000'000 + batch * 5),
                 {{"train/global_step", cat(batch / 8)}, {"train/policy_loss", "0.02"}, {"train/reward", "-0.5"}});
  }
  FakeDisk disk;
  disk.put("/run/run-a.wandb", file.take());
  RunReader reader(disk, built_in_knowledge(), Judge::kAtClose, nullptr, {});
  REQUIRE(reader.open({"/run/run-a.wandb"}, "openrlhf").ok());
  reader.read_all({});
  reader.close();
  CHECK(reader.state().attempts.size() == 1);
  CHECK(reader.state().steps().last == 4);
  const auto& incidents = reader.state().incidents;
  CHECK(std::any_of(incidents.begin(), incidents.end(), [](const auto& one) { return one.kind == "non-finite"; }));
}

}  // namespace
}  // namespace mw
