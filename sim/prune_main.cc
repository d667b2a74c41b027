// sim_prune: worlds by the thousand in which checkpoints are deleted and quarantined.
#include "base/text.h"
#include "sim/prune.h"
#include "sim/seeds.h"

int main(int argc, char** argv) {
  return mw::sim::run_seeds<mw::sim::PruneVerdict>(
      argc, argv, mw::sim::run_prune_seed, +[](const mw::sim::PruneVerdict& all) {
        return mw::cat(all.saves, " saves, ", all.plans, " plans, ", all.removed, " removals, ", all.refused,
                       " given up, ", all.finished, " finished later, ", all.moved, " quarantined, ", all.pointers,
                       " pointers set, ", all.killed, " killed, ", all.faults, " faults");
      });
}
