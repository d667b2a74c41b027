// sim_held: worlds by the thousand for the supervisor.
#include "base/text.h"
#include "sim/seeds.h"
#include "sim/supervised.h"

int main(int argc, char** argv) {
  return mw::sim::run_seeds<mw::sim::SupervisedVerdict>(
      argc, argv, mw::sim::run_supervised_seed, +[](const mw::sim::SupervisedVerdict& all) {
        return mw::cat(all.lives, " lives of the watch, ", all.attempts, " attempts, ", all.trips, " trips, ",
                       all.finished, " runs trained to the end, ", all.pushes, " pushes");
      });
}
