// What a file of torch.save or pickle holds, by the names in it; and what its own name calls for. They differ where a
// copy or a move put another file of the checkpoint into its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mw {

struct FileDirectory;

enum class ContentKind : uint8_t { kUnknown, kModel, kOptimizer, kScheduler, kRng, kExtraState, kSettings };
/// "the weights of a model", …
std::string_view words_of(ContentKind kind);

/// Of a file with that name or, where torch.save kept it, with which it was saved. Only names that have one meaning in
/// all trainers: unknown for any other.
ContentKind kind_of_name(std::string_view name);

/// What a file's own directory, with all of its tensors, shows. kUnknown is what has no names of one kind alone.
struct FileContent {
  ContentKind kind = ContentKind::kUnknown;
  size_t moments = 0;  ///< tensors of an optimizer that hold numbers, without its counters
  uint64_t bytes = 0;  ///< of all of its tensors
  /// Of DeepSpeed's rank: numbers of its part of the weights, without tensors that have none (they lie elsewhere).
  uint64_t partition = 0;
  bool elsewhere = false;  ///< there are such
};
/// DeepSpeed's rank: its part of the weights in F32, one flat tensor for each group of parameters. Stage 3; 1 and 2.
bool is_partition(std::string_view tensor);
FileContent content_of(const FileDirectory& directory);

}  // namespace mw
