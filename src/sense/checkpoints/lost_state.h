// What a deep check shows of an optimizer's state that was lost, and of a tokenizer that belongs to something else.
// Both are worth knowing only: a resume goes on, and who changed them may have meant it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "sense/checkpoints/examination.h"
#include "sense/checkpoints/manifest.h"

namespace mw {

/// Every moment of the optimizer is zero, though it counts two steps or more, or (`before`: the save before, nullptr
/// where none is known) its weights changed since. A step whose gradient is not zero leaves none of Adam's moments at
/// zero: m and v are sums of gradients and of their squares (Kingma and Ba 2015, algorithm 1).
void look_for_lost_moments(Examination& exam, const std::vector<ManifestFile>& hashed,
                           const CheckpointManifest* before);

/// Of the matrices that a .metadata lists, moments of the optimizer that the save before had, while most of its moments
/// are there and nothing else came or went: without them prime-rl and NeMo-RL cannot resume, as both save a state for
/// each parameter.
void look_for_moments_gone(Examination& exam, const std::string& metadata,
                           const std::map<std::string, std::vector<int64_t>>& own, const std::set<std::string>& earlier,
                           std::string_view before);

/// A tokenizer's files have other bytes than in the save before.
void look_for_other_tokenizer(Examination& exam, const std::vector<ManifestFile>& hashed,
                              const CheckpointManifest& before);

/// What a tokenizer.json has of words, while it is read for its JSON.
class TokenIds final : public JsonLeaves {
 public:
  void number(std::string_view path, double value) override;
  void string(std::string_view, std::string_view) override {}
  bool any() const { return !ids_.empty(); }
  /// How many of them an embedding of so many rows has no row for.
  size_t beyond(int64_t rows) const;
  int64_t highest() const;

 private:
  std::vector<int64_t> ids_;
};

/// kManyWords or more words of the tokenizer beside a whole model have no row in its embedding: it is another model's.
/// Fewer are none: a pad token, or one for pictures, is often added for which there is no row.
void look_at_words(Examination& exam, const TreeFile& file, const TokenIds& words);
constexpr size_t kManyWords = 100;

}  // namespace mw
