#include "checkpoints/set_aside.h"

#include <algorithm>

#include "base/text.h"
#include "platform/durable.h"

namespace mw {
namespace {

constexpr size_t kPointerBytes = 4096;

/// Does the pointer name something that is not there (any more), or nothing at all, as one that was cut while it was
/// written?
bool dangles(Disk& disk, const std::string& root, const CheckpointLayout& layout) {
  const auto text = read_pointer(disk, root, layout);
  if (!text) return false;
  const auto step = step_in(layout.pointer_text, *text);
  const std::string named = step ? with_step(layout.folder, *step) : *text;
  if (named.empty()) return true;
  return named.find('/') == std::string::npos && !disk.info(cat(root, "/", named)).ok();
}

/// The pointer names the step that stays; without one it goes aside, too.
Result<void> set_pointer(Disk& disk, const std::string& root, const CheckpointLayout& layout, int64_t kept,
                         const std::string& aside) {
  if (layout.pointer.empty()) return {};
  const std::string path = cat(root, "/", layout.pointer);
  if (kept != kNoStep) return write_durably(disk, path, with_step(layout.pointer_text, kept));
  return disk.info(path).ok() ? disk.rename(path, cat(aside, "/", layout.pointer)) : Result<void>();
}

}  // namespace

std::optional<std::string> read_pointer(Disk& disk, const std::string& root, const CheckpointLayout& layout) {
  if (layout.pointer.empty()) return std::nullopt;
  auto file = disk.open_read(cat(root, "/", layout.pointer));
  std::string text;
  if (!file.ok() || !(*file)->read_at(0, kPointerBytes, text).ok()) return std::nullopt;
  return std::string(trim(text));
}

Result<std::vector<int64_t>> checkpoint_steps(Disk& disk, const std::string& root, const CheckpointLayout& layout) {
  auto names = disk.list(root);
  if (!names.ok()) return names.error();
  std::vector<int64_t> steps;
  for (const std::string& name : *names) {
    const auto step = step_in(layout.folder, name);
    if (!step) continue;
    const auto info = disk.info(cat(root, "/", name));
    if (info.ok() && info->kind == FileInfo::Kind::kFolder) steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

Result<SetAside> set_aside(Disk& disk, const std::string& root, const CheckpointLayout& layout, int64_t from,
                           const std::string& label) {
  if (root.empty() || root.find_first_not_of("/.") == std::string::npos || !is_step_pattern(layout.folder)) {
    return Error{Error::Code::kInvalid, cat("'", root, "' is no folder of checkpoints"), ""};
  }
  const auto steps = checkpoint_steps(disk, root, layout);
  if (!steps.ok()) return steps.error();
  SetAside done;
  for (const int64_t step : *steps) {
    if (step < from) {
      done.kept = step;
    } else {
      done.moved.push_back(step);
    }
  }
  const std::string aside = cat(root, "/", kAsideFolder, "/", label);
  if (done.moved.empty()) {  // done before, or nothing was saved
    if (done.kept != kNoStep && dangles(disk, root, layout)) MW_TRY(set_pointer(disk, root, layout, done.kept, aside));
    return done;
  }
  MW_TRY(disk.make_folders(aside));
  // The pointer first: cut short here, it names a whole checkpoint that is there.
  MW_TRY(set_pointer(disk, root, layout, done.kept, aside));
  for (auto step = done.moved.rbegin(); step != done.moved.rend(); ++step) {
    const std::string name = with_step(layout.folder, *step);
    MW_TRY(disk.rename(cat(root, "/", name), cat(aside, "/", name)));
  }
  return done;
}

}  // namespace mw
