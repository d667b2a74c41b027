#include "sense/checkpoints/unjudged.h"

#include <cmath>
#include <set>
#include <string>
#include <string_view>

#include "base/numbers.h"
#include "base/text.h"

namespace mw {

void note_unjudged(Examination& exam, DeepFigures& figures) {
  constexpr double kShare = 0.01;  // below it: counters, masks, scales
  double all = 0, unjudged = 0;
  std::set<std::string_view> kinds;
  for (const TreeFile& file : exam.tree().files()) {
    const bool exported = is_export(file.path) && exam.tree().folders().size() > 1;
    if (file.role != FileRole::kWeights || exported || ending_of(file.name()) == "distcp") continue;
    const FileDirectory& directory = exam.directory(file);
    for (const TensorPlace& tensor : directory.tensors) {
      all += static_cast<double>(tensor.bytes);
      if (has_point(tensor.dtype) && !directory.other_order) continue;
      unjudged += static_cast<double>(tensor.bytes);
      kinds.insert(name_of(tensor.dtype));
    }
  }
  if (unjudged <= all * kShare) return;
  std::string names;
  for (const std::string_view kind : kinds) names += cat(names.empty() ? "" : ", ", kind);
  figures.unjudged_bytes = static_cast<uint64_t>(unjudged);
  exam.note(cat(format_bytes(unjudged), " of the ", format_bytes(all), " of its weights (",
                format_short(std::ceil(100 * unjudged / all)), "%) are numbers that cannot be judged one by one (",
                names, "): every byte of them was read, and zeros in place of weights do not show there"));
}

}  // namespace mw
