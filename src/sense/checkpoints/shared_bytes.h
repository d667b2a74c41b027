// Files of a checkpoint that have the bytes of the same file of another step: one that was copied from there fits by
// its size, its shapes and its own checksums, so that nothing within the checkpoint contradicts it. A few blocks of
// each file are held against those of the checkpoints beside it.
//
// Equal bytes alone prove nothing: frozen weights are equal in all checkpoints, and weights that no step changed in
// two of them. What is reported has more against it.
#pragma once

#include <string>
#include <vector>

#include "sense/checkpoints/examination.h"

namespace mw {

struct SharedBytes {
  enum class How : uint8_t {
    kApart,     ///< and it was written apart from all others here, unlike that one there
    kCannot,    ///< and training changes it whenever it changes what lies beside it, which did change
    kOneOfTwo,  ///< likewise; nothing shows in which of the two checkpoints it does not belong
    kAll        ///< as all files of weights and optimizers here: nothing was learned between the two, or one is a copy
  };
  std::string path;   ///< within the checkpoint; of kAll ""
  std::string other;  ///< the checkpoint whose bytes it has
  How how = How::kApart;
  bool breaks = true;  ///< false: it may as well be frozen between those two
  bool all = false;    ///< every byte was compared, not only samples
};

/// For a person.
std::string sentence_of(const SharedBytes& one);

struct SharedBytesAnswer {
  std::vector<SharedBytes> files;
  std::vector<std::string> compared;  ///< checkpoints with which samples were compared
};

/// `beside`: paths of checkpoints of other steps. `every_byte`: of what is reported, not samples.
SharedBytesAnswer bytes_of_another(Examination& exam, const std::vector<std::string>& beside, bool every_byte);

/// Is the file of that name in `other` surely another one, or the very same (a link)? Then it was not copied from
/// there.
bool not_copied_from(Disk& disk, const CheckpointTree& tree, const std::string& path, const std::string& other);

}  // namespace mw
