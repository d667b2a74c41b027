// What the trees of several frameworks are asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sense/checkpoints/layouts/layout.h"

namespace mw {

/// A whole number of a JSON file; nothing where there is none.
std::optional<int64_t> number_of_json(Examination& exam, const TreeFile& file, std::string_view name);

/// `path` is written after everything else: without it the save did not come to its end.
bool require_last(Examination& exam, const std::string& path, std::string_view why);

/// The piece is there with that file; else it lacks.
void piece_by_file(Examination& exam, Piece piece, const std::string& path);

/// Whatever `number` is called in that pickle is the checkpoint's step.
void step_of_pickle(Examination& exam, const std::string& path, const std::string& number);

/// All there is of it is whole, and its trainer cannot resume: `path` is missing, or not what it reads there.
void cannot_resume(Examination& exam, Piece piece, std::string_view path, std::string_view what);

/// Does its folder's name begin so?
bool named(const CheckpointTree& tree, std::string_view prefix);
/// One that was copied to a folder of another name: then its content alone says whose it is.
bool renamed(const CheckpointTree& tree);

}  // namespace mw
