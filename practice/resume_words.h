// The arguments that make trainers resume, each in its own way: the practice run understands them all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace practice {

struct ResumeRequest {
  bool requested = false;
  std::optional<int64_t> step;  ///< nullopt: from the newest
};

/// Takes them out of `words`; what is no such argument stays.
ResumeRequest take_resume_words(std::vector<std::string>& words);

}  // namespace practice
