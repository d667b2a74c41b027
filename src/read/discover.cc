#include "read/discover.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "base/numbers.h"
#include "base/text.h"
#include "core/checkpoint_layout.h"
#include "read/part_order.h"

namespace mw {
namespace {

class Walk {
 public:
  Walk(Disk& disk, const std::function<bool(std::string_view, int64_t)>& worth_reading, Found& found)
      : disk_(disk), worth_reading_(worth_reading), found_(found) {}

  void take(const std::string& path, const FileInfo& info, bool named) {
    if (info.kind == FileInfo::Kind::kFolder) {
      folder(path, 0);
    } else if (info.kind == FileInfo::Kind::kFile) {
      file(path, info, named);
    } else {
      found_.notes.push_back(cat(path, " is neither a file nor a folder; left out"));
    }
  }

  /// What notebooks keep of a run is often an older run's than the log beside them: they count where nothing else does.
  void take_notebooks() {
    if (notebooks_.empty()) return;
    if (!found_.files.empty()) {
      for (const FoundFile& notebook : notebooks_) found_.notebooks.push_back(notebook.path);
      return;
    }
    found_.files = std::move(notebooks_);
    found_.notes.emplace_back("no log here: what the cells of its notebooks put out is read");
  }
  /// The first folder that may not be read.
  const std::optional<Error>& denied() const { return denied_; }

 private:
  void file(const std::string& path, const FileInfo& info, bool named) {
    if (!named && !worth_reading_(path, info.size)) {
      if (path.ends_with(".ipynb") && notebooks_.size() < kWalkFiles) notebooks_.push_back({path, info, false, {}});
      return;
    }
    if (!seen_.insert({info.device, info.inode}).second) return;
    if (found_.files.size() >= kWalkFiles) {
      if (!full_) found_.notes.push_back(cat("more than ", kWalkFiles, " files; the rest is left out"));
      full_ = true;
      return;
    }
    found_.files.push_back({path, info, named, {}});
  }

  void folder(const std::string& path, int depth) {
    if (depth > kWalkDepth) {
      found_.notes.push_back(cat(path, " is more than ", kWalkDepth, " folders deep; not entered"));
      return;
    }
    const auto names = disk_.list(path);
    if (!names.ok()) {
      found_.notes.push_back(names.error().what);
      if (!denied_ && names.error().code == Error::Code::kDenied) denied_ = names.error();
      return;
    }
    std::vector<std::pair<std::string, FileInfo>> links;
    for (const std::string& name : *names) {
      if (++entries_ > kWalkEntries) {
        if (!full_) found_.notes.push_back(cat("more than ", kWalkEntries, " entries; the rest is left out"));
        full_ = true;
        break;
      }
      std::string full = path.empty() || path.back() == '/' ? path + name : cat(path, "/", name);
      const auto info = disk_.info(full);
      if (!info.ok()) continue;  // a dangling link, or gone since it was listed
      if (disk_.read_link(full).ok()) {
        links.emplace_back(std::move(full), *info);
      } else {
        entry(full, *info, depth);
      }
    }
    // "latest-run" is one of the folders beside it, whose own name says which: what is a link is found by it last.
    for (const auto& [link, info] : links) entry(link, info, depth);
  }

  void entry(const std::string& path, const FileInfo& info, int depth) {
    if (info.kind == FileInfo::Kind::kFolder) {
      const std::string_view name = basename(path);
      const bool fresh = seen_.insert({info.device, info.inode}).second;
      const bool skipped = name == ".git" || name == "node_modules" || name == "__pycache__" || name == ".midwatch" ||
                           name == ".ipynb_checkpoints";
      if (fresh && !skipped) folder(path, depth + 1);
    } else if (info.kind == FileInfo::Kind::kFile) {
      file(path, info, false);
    }
  }

  Disk& disk_;
  const std::function<bool(std::string_view, int64_t)>& worth_reading_;
  Found& found_;
  std::vector<FoundFile> notebooks_;
  std::set<std::pair<uint64_t, uint64_t>> seen_;  // device and inode: links and loops count once
  std::optional<Error> denied_;
  size_t entries_ = 0;
  bool full_ = false;
};

/// Rotated parts join the log whose name they carry, when that log is there too: they are read as one log, oldest part
/// first.
void join_rotated(Disk& disk, std::vector<FoundFile>& files) {
  std::map<std::string, size_t, std::less<>> by_path;
  for (size_t i = 0; i < files.size(); ++i) by_path[files[i].path] = i;
  std::map<size_t, std::vector<RotatedPart>> parts;
  std::vector<bool> joined(files.size(), false);
  for (size_t i = 0; i < files.size(); ++i) {
    const auto [stem, number] = rotated_part(files[i].path);
    const auto whole = number > 0 ? by_path.find(stem) : by_path.end();
    if (whole == by_path.end() || whole->second == i) continue;
    parts[whole->second].push_back({number, files[i].path, files[i].info.changed});
    joined[i] = true;
  }
  for (auto& [index, list] : parts) {
    sort_oldest_first(disk, list, files[index].info.changed);
    for (RotatedPart& part : list) files[index].older.push_back(std::move(part.path));
  }
  size_t kept = 0;
  for (size_t i = 0; i < files.size(); ++i) {
    if (joined[i]) continue;
    if (kept != i) files[kept] = std::move(files[i]);
    ++kept;
  }
  files.resize(kept);
}

/// A path without the ending of its name, and each number in the name as one sign; the numbers.
std::pair<std::string, std::vector<int64_t>> numbers_in(std::string_view path) {
  constexpr size_t kDigits = 18;
  const size_t name = path.size() - basename(path).size();
  const size_t dot = path.rfind('.');
  const size_t end = dot == std::string_view::npos || dot <= name ? path.size() : dot;
  std::pair<std::string, std::vector<int64_t>> out;
  for (size_t i = 0; i < end; ++i) {
    size_t last = i;
    while (i >= name && last < end && path[last] >= '0' && path[last] <= '9') ++last;
    if (last == i) {
      out.first += path[i];
      continue;
    }
    out.first += '#';
    out.second.push_back(parse_int(path.substr(i, std::min(last - i, kDigits))).value_or(0));
    i = last - 1;
  }
  return out;
}

/// Numbered files of one folder in the order of their numbers, as a folder's are read, though they were given newest
/// first: what is read first counts as said first.
void by_number(std::vector<FoundFile>& files) {
  std::map<std::string, std::vector<size_t>> groups;
  std::vector<std::vector<int64_t>> numbers(files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    if (!files[i].named) continue;
    auto [shape, values] = numbers_in(files[i].path);
    numbers[i] = std::move(values);
    if (!numbers[i].empty()) groups[shape].push_back(i);
  }
  for (const auto& [shape, places] : groups) {
    std::vector<size_t> sorted = places;
    std::stable_sort(sorted.begin(), sorted.end(), [&](size_t a, size_t b) { return numbers[a] < numbers[b]; });
    std::vector<FoundFile> moved;
    moved.reserve(sorted.size());
    for (const size_t from : sorted) moved.push_back(std::move(files[from]));
    for (size_t i = 0; i < places.size(); ++i) files[places[i]] = std::move(moved[i]);
  }
}

/// The file of the output that goes with this one of the errors: "7.err" and "7.out", "job.e7" and "job.o7",
/// "stderr.log" and "stdout.log"; "" when it is none.
std::string output_beside(std::string_view path) {
  const size_t name = path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1;
  for (const auto& [errors, output] : {std::pair{"stderr", "stdout"}, std::pair{".err", ".out"}}) {
    const size_t at = path.rfind(errors);
    if (at == std::string_view::npos || at < name) continue;
    return cat(path.substr(0, at), output, path.substr(at + std::string_view(errors).size()));
  }
  const size_t dot = path.rfind(".e");
  const bool numbered = dot != std::string_view::npos && dot > name && parse_int(path.substr(dot + 2)).has_value();
  return numbered ? cat(path.substr(0, dot), ".o", path.substr(dot + 2)) : "";
}

/// A program's output before its errors, however they are named: its traceback comes behind its last step, and where
/// neither has a clock, what is read first counts as said first.
void output_first(std::vector<FoundFile>& files) {
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string output = output_beside(files[i].path);
    if (output.empty()) continue;
    for (size_t k = i + 1; k < files.size(); ++k) {
      if (files[k].path != output) continue;
      std::rotate(files.begin() + static_cast<std::ptrdiff_t>(i), files.begin() + static_cast<std::ptrdiff_t>(k),
                  files.begin() + static_cast<std::ptrdiff_t>(k) + 1);
      ++i;  // past the file of the errors, which has moved on by one
      break;
    }
  }
}

/// Of "…/checkpoint-N/trainer_state.json" the folder above, and N; nullopt when it is no such file.
std::optional<std::pair<std::string, int64_t>> history_of_checkpoint(std::string_view path) {
  if (basename(path) != "trainer_state.json") return std::nullopt;
  const std::string folder = folder_of(path);
  const auto step = step_in("checkpoint-{step}", basename(folder));
  return step ? std::optional(std::pair{folder_of(folder), *step}) : std::nullopt;
}

/// Each checkpoint of transformers holds the whole history up to it: of those in one folder only the newest is read.
void newest_history(Found& found) {
  std::map<std::string, int64_t, std::less<>> newest;
  for (const FoundFile& file : found.files) {
    const auto history = history_of_checkpoint(file.path);
    if (!history) continue;
    int64_t& step = newest.try_emplace(history->first, history->second).first->second;
    step = std::max(step, history->second);
  }
  const auto is_read = [&](const FoundFile& file) {
    const auto history = file.named ? std::nullopt : history_of_checkpoint(file.path);
    return !history || history->second == newest.find(history->first)->second;
  };
  const auto left_out = std::stable_partition(found.files.begin(), found.files.end(), is_read);
  found.superseded.assign(std::make_move_iterator(left_out), std::make_move_iterator(found.files.end()));
  found.files.erase(left_out, found.files.end());
}

/// What is given and cannot be read, in words for who gave it.
Error why_not(const std::string& path, const Result<FileInfo>& info) {
  constexpr std::string_view kSave = "midwatch reads files: save the stream first, as in kubectl logs POD > train.log.";
  if (path.empty()) {
    return {Error::Code::kNotFound, "an empty path was given", "A variable of the shell that is not set gives one."};
  }
  if (info.ok()) return {Error::Code::kUnsupported, cat(path, " is a pipe or a device"), std::string(kSave)};
  if (path == "-") return {info.error().code, info.error().what, std::string(kSave)};
  return info.error();
}

}  // namespace

Result<Found> discover(Disk& disk, const std::vector<std::string>& paths,
                       const std::function<bool(std::string_view, int64_t)>& worth_reading, bool also_notebooks) {
  Found found;
  Walk walk(disk, worth_reading, found);
  std::vector<Error> errors;
  for (const std::string& path : paths) {
    const auto info = disk.info(path);
    if (!info.ok() || info->kind == FileInfo::Kind::kOther) {
      errors.push_back(why_not(path, info));
      continue;
    }
    walk.take(path, *info, true);
  }
  if (also_notebooks) walk.take_notebooks();
  if (found.files.empty()) {
    if (!errors.empty()) return errors.front();
    if (walk.denied()) return *walk.denied();
    return Error{
        Error::Code::kUnsupported, cat("no log or metric file in ", paths.empty() ? "" : paths.front()),
        "Give the trainer's console log, its metrics.jsonl, wandb or tensorboard folder, or the folder above them."};
  }
  newest_history(found);
  join_rotated(disk, found.files);
  by_number(found.files);
  output_first(found.files);
  for (const Error& error : errors) found.notes.push_back(error.what);
  return found;
}

}  // namespace mw
