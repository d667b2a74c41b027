#include "practice/resume_words.h"

#include <string_view>

#include "base/numbers.h"

namespace practice {
namespace {

/// The step at the end of a checkpoint's folder: "…/global_step_20", "checkpoint-20".
std::optional<int64_t> step_of(std::string_view path) {
  const size_t last = path.find_last_not_of("0123456789");
  const auto step = mw::parse_int(path.substr(last == std::string_view::npos ? 0 : last + 1));
  return step ? std::optional<int64_t>(*step) : std::nullopt;
}

bool begins(std::string_view word, std::string_view head) { return word.substr(0, head.size()) == head; }

}  // namespace

ResumeRequest take_resume_words(std::vector<std::string>& words) {
  ResumeRequest out;
  std::vector<std::string> rest;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const bool value = i + 1 < words.size();
    if (begins(word, "trainer.resume_from_path=") || begins(word, "trainer.resume_path=")) {
      out = {true, step_of(word)};
    } else if ((word == "--resume_from_checkpoint" || word == "--resume.step" || word == "--ckpt.resume-step") &&
               value) {
      out = {true, step_of(words[++i])};
    } else if (begins(word, "trainer.resume_mode=") || begins(word, "recover.mode=") || word == "--ckpt.load_enable" ||
               word == "--load_checkpoint") {
      out.requested = true;
    } else {
      rest.push_back(words[i]);
    }
  }
  words = std::move(rest);
  return out;
}

}  // namespace practice
