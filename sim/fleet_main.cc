// sim_fleet: worlds by the thousand in which machines are rented, lost and given back.
#include "base/text.h"
#include "sim/fleet.h"
#include "sim/seeds.h"

int main(int argc, char** argv) {
  return mw::sim::run_seeds<mw::sim::FleetVerdict>(
      argc, argv, mw::sim::run_fleet_seed, +[](const mw::sim::FleetVerdict& all) {
        return mw::cat(all.checks, " checks, ", all.crashed, " crashed, ", all.slept, " slept in the middle, ",
                       all.rented, " machines rented, ", all.lost, " lost, ", all.fenced, " fenced off, ", all.followed,
                       " successors took over, ", all.finished, " runs finished, ", all.waiting,
                       " wait and say for what");
      });
}
