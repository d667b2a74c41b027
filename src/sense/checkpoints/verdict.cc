// What a verdict says in words, and what is kept of it.
#include "base/text.h"
#include "sense/checkpoints/verify.h"

namespace mw {

std::string_view word_of(CheckpointVerdict::State state) {
  constexpr std::string_view kWords[] = {"whole", "writing", "partial", "corrupt", "suspect", "unknown", "foreign"};
  return kWords[static_cast<size_t>(state)];
}

std::string lacks_of(const CheckpointVerdict& verdict) {
  std::string out;
  if (verdict.resumable != CheckpointVerdict::Resumable::kNo) return out;
  for (const Piece piece : verdict.lacks) out += cat(out.empty() ? "" : ", ", word_of(piece));
  return out;
}

CheckpointManifest manifest_of(const CheckpointVerdict& verdict, Time at) {
  CheckpointManifest out;
  out.path = verdict.path;
  out.step = verdict.step;
  out.framework = verdict.framework;
  out.layouts = verdict.layouts;
  out.verdict = word_of(verdict.state);
  out.at = at;
  out.files = verdict.hashed;
  return out;
}

}  // namespace mw
