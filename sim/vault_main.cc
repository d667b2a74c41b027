// sim_vault: worlds by the thousand in which checkpoints are shipped.
#include "base/text.h"
#include "sim/seeds.h"
#include "sim/vault.h"

int main(int argc, char** argv) {
  return mw::sim::run_seeds<mw::sim::VaultVerdict>(
      argc, argv, mw::sim::run_vault_seed, +[](const mw::sim::VaultVerdict& all) {
        return mw::cat(all.pushes, " pushes, ", all.whole, " that ended, ", all.killed, " killed, ", all.fenced,
                       " fenced off, ", all.pulls, " pulls, ", all.received, " that received something, ", all.removed,
                       " files removed");
      });
}
