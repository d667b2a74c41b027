// sim_held: worlds by the thousand for the supervisor.
#include "base/text.h"
#include "sim/held.h"
#include "sim/seeds.h"

int main(int argc, char** argv) {
  return mw::sim::run_seeds<mw::sim::HeldVerdict>(
      argc, argv, mw::sim::run_held_seed, +[](const mw::sim::HeldVerdict& all) {
        return mw::cat(all.lives, " lives of the watch, ", all.attempts, " attempts, ", all.trips, " trips, ",
                       all.finished, " runs trained to the end");
      });
}
