// One seed: a world, a watch that is killed over and over, and what must hold in the end.
#pragma once

#include <cstdint>
#include <string>

#include "read/books/knowledge_base.h"

namespace mw::sim {

struct Verdict {
  std::string wrong;    ///< "" when everything holds; else what does not, in words
  uint64_t digest = 0;  ///< of the journal's records
  uint64_t events = 0, lives = 0;
  /// Who watched and who came later see different numbers of attempts or files; their incidents are not compared then.
  bool split = false;
};

/// Runs the world of `seed` twice and checks: nothing lost, nothing doubled, the live state is the journal's, the same
/// incidents as a watch of the final files that nobody disturbs, and the same journal both times.
Verdict run_seed(uint64_t seed, const KnowledgeBase& knowledge);

}  // namespace mw::sim
