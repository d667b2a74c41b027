// The arguments by which trainers are told to resume, each in its own way: the practice run understands them all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace practice {

struct ResumeTold {
  bool told = false;
  std::optional<int64_t> step;  ///< nullopt: from the newest
};

/// Takes them out of `words`; what is no such argument stays.
ResumeTold take_resume_words(std::vector<std::string>& words);

}  // namespace practice
