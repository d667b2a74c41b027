// Files that this checkpoint and one beside it have exchanged (mv a x; mv b a; mv x b). Each fits where it lies by its
// size, its shapes and its own checksums, and neither has the bytes of a file beside it. What shows it is a count of
// steps that the file holds, or the times: both run backwards from one checkpoint to the other.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sense/checkpoints/examination.h"

namespace mw {

/// Reports what was exchanged (suspect). `beside`: checkpoints of other steps, the nearest first.
void look_at_exchanged(Examination& exam, const std::vector<std::string>& beside);

/// What the same file of several checkpoints counts.
struct CountAt {
  int64_t step = 0;  ///< of the checkpoint
  int64_t count = 0;
  std::string checkpoint;
};
/// By name.
using Counts = std::map<std::string, int64_t>;

/// For each name in `own`, which are those of the checkpoint of `step`, what it is in that and, as `of` says, in each
/// of `beside` that has a step of its own and the name.
std::map<std::string, std::vector<CountAt>> counts_beside(int64_t step, const Counts& own,
                                                          const std::vector<std::string>& beside,
                                                          const std::function<Counts(const std::string& other)>& of);

/// With which of the others the first seems to have exchanged its file: the counts of the two run backwards, and are as
/// many for each step in all of them once these two change places. `of_optimizer`: one may be begun anew, and makes at
/// least one step where its trainer makes one.
std::optional<size_t> exchanged_with(const std::vector<CountAt>& counts, bool of_optimizer);

/// Reports of the file `path` that its count, of that name, was exchanged, where exchanged_with says so.
void report_exchanged(Examination& exam, const std::string& path, const std::string& name,
                      const std::vector<CountAt>& counts, bool of_optimizer);

}  // namespace mw
