// sim_part: worlds by the thousand for a component that midwatch supervises.
#include "base/text.h"
#include "sim/component.h"
#include "sim/seeds.h"

int main(int argc, char** argv) {
  return mw::sim::run_seeds<mw::sim::ComponentVerdict>(
      argc, argv, mw::sim::run_component_seed, +[](const mw::sim::ComponentVerdict& all) {
        return mw::cat(all.lives, " lives of the watch, ", all.servers, " of the component, ", all.given_up,
                       " times given up");
      });
}
