#include "app/ship.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "act/supervise/run_files.h"
#include "act/vault/catalogue.h"
#include "act/vault/pull.h"
#include "act/vault/push.h"
#include "app/find_run.h"
#include "app/harbour.h"
#include "app/run_of_folder.h"
#include "app/start_fence.h"
#include "app/store_mark.h"
#include "app/store_runs.h"
#include "base/numbers.h"
#include "base/text.h"
#include "platform/lock.h"
#include "platform/paths.h"
#include "platform/real/posix_disk.h"
#include "platform/remove_tree.h"
#include "read/recorder.h"
#include "sense/checkpoints/find.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/manifest.h"
#include "sense/checkpoints/parts.h"
#include "sense/checkpoints/recover_slot.h"
#include "sense/checkpoints/scan.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

/// The digits that a name ends in.
std::string_view digits_at_end(std::string_view name) {
  const size_t last = name.find_last_not_of("0123456789");
  return last == std::string_view::npos ? name : name.substr(last + 1);
}

/// The step that a folder's name says: as a framework would write it, else the number at its end.
struct Named {
  int64_t step = kNoStep;
  std::string layout, framework;
  std::vector<std::string> may_be;  ///< frameworks that name theirs so
};
Named name_of(const KnowledgeBase& knowledge, std::string_view folder) {
  const std::string_view name = basename(folder);
  Named out;
  std::set<std::string> frameworks;
  for (const Dialect& dialect : knowledge.book().dialects()) {
    if (dialect.checkpoints.counts_saves) continue;
    const auto step = dialect.checkpoints.known() ? step_in(dialect.checkpoints.folder, name) : std::nullopt;
    if (!step) continue;
    out.step = *step;
    out.layout = dialect.checkpoints.folder;
    frameworks.insert(dialect.framework);
  }
  // Several write the same names: then its files say which one it was.
  if (frameworks.size() == 1) out.framework = *frameworks.begin();
  out.may_be.assign(frameworks.begin(), frameworks.end());
  if (out.step != kNoStep) return out;
  const std::string_view digits = digits_at_end(name);
  const auto number = digits.size() <= 12 ? parse_int(digits) : std::nullopt;
  if (number && digits.size() < name.size()) out.step = *number;
  return out;
}

using Steps = std::vector<std::pair<int64_t, std::string>>;

/// Folders of steps, as a framework names them, among `names`; with `step` those of that step, whatever they are
/// called.
Steps steps_below(Disk& disk, const KnowledgeBase& knowledge, const std::string& path,
                  const std::vector<std::string>& names, int64_t step) {
  Steps below;
  for (const std::string& name : names) {
    const Named named = name_of(knowledge, name);
    const bool wanted = step == kNoStep ? !named.layout.empty() || step_of_name(name) != kNoStep : named.step == step;
    const auto info = wanted && named.step != kNoStep ? disk.info(cat(path, "/", name)) : Result<FileInfo>(FileInfo{});
    if (info.ok() && info->kind == FileInfo::Kind::kFolder) below.emplace_back(named.step, name);
  }
  std::sort(below.rbegin(), below.rend());
  return below;
}

/// Is it the folder of several checkpoints, or of one that has such folders in it (DeepSpeed's inside transformers')?
/// What lies in it says so: a name that ends in a number may be an experiment's.
bool holds_several(const std::string& path, const Named& own, const std::vector<std::string>& names,
                   const Steps& below) {
  if (below.empty()) return false;
  const bool files = is_checkpoint_by_names(names);
  const bool named = !own.layout.empty() || step_of_name(basename(path)) != kNoStep;
  if (named) return below.size() > 1 && !files;
  return !files || below.size() > 1 || below.front().first != own.step;
}

/// A name that no framework gives, such as "ckpt5" and "epoch_12": it says of what it is one, and which.
std::optional<int64_t> own_number(std::string_view name) {
  constexpr std::array<std::string_view, 6> kWords = {"ckpt", "check", "step", "iter", "epoch", "save"};
  const std::string lower = to_lower(name);
  if (std::none_of(kWords.begin(), kWords.end(), [&](std::string_view word) { return contains(lower, word); }))
    return std::nullopt;
  return parse_int(digits_at_end(name));
}

/// Where checkpoints of several steps lie deeper in it, it is not one of them.
Result<void> check_below(Disk& disk, const std::string& path, const std::vector<std::string>& names) {
  if (step_of_name(basename(path)) != kNoStep || is_checkpoint_by_names(names)) return {};
  const auto found = find_checkpoints(disk, path);
  if (!found.ok()) return found.error();
  std::set<int64_t> steps, numbers;
  for (const FoundCheckpoint& one : *found) {
    if (one.step != kNoStep) steps.insert(one.step);
    const auto number = one.step == kNoStep ? own_number(basename(one.path)) : std::nullopt;
    if (number) numbers.insert(*number);
  }
  if (steps.size() < 2 && numbers.size() < 2) return {};
  const bool named = steps.size() >= 2;  // as a framework does
  return Error{Error::Code::kInvalid,
               cat("checkpoints of ", named ? steps.size() : numbers.size(), " steps lie in ", path),
               named ? cat("Name the folder that holds them: ", folder_of(found->back().path), ".")
                     : cat("Name one of them, and its step: ", found->back().path, " --step N.")};
}

/// Found suspect or corrupt when all of its bytes were read, and nobody wrote to it since.
bool was_found_bad(Disk& disk, const std::string& folder) {
  const auto then = load_manifest(disk, home_of(""), folder);
  if (!then.ok() || (then->verdict != "suspect" && then->verdict != "corrupt")) return false;
  return std::all_of(then->files.begin(), then->files.end(), [&](const ManifestFile& file) {
    const auto now = disk.info(cat(folder, "/", file.path));
    return now.ok() && now->changed == file.changed && now->size == file.bytes;
  });
}

/// The newest that its files prove to be whole; where there is none, the newest that is not broken. `suspect`: what
/// `verify --deep` found does not count.
Result<std::pair<std::string, Named>> newest_of(Disk& disk, const KnowledgeBase& knowledge, const std::string& path,
                                                const Steps& below, bool suspect) {
  using State = CheckpointVerdict::State;
  std::string unknown;
  for (const auto& [step, name] : below) {
    std::optional<CheckpointVerdict> verdict;
    const std::string folder = cat(path, "/", name);
    const CheckpointScan scan = scan_checkpoint(disk, folder, step, nullptr, &verdict);
    const bool wrong = verdict && (verdict->state == State::kCorrupt || verdict->state == State::kPartial);
    const bool known = wrong && (!verdict->framework.empty() || !verdict->layouts.empty());
    const bool other =
        wrong && !known && scan.may_hold_weights && verdict->problems.front().trouble == Trouble::kMetadataOnly;
    const bool broken = scan.seen.how == event::CheckpointSeen::How::kBroken || (wrong && !other) ||
                        (!suspect && was_found_bad(disk, folder));
    if (broken && below.size() > 1) continue;
    if (broken || (verdict && verdict->state == State::kWhole)) return std::pair(folder, name_of(knowledge, name));
    if (unknown.empty()) unknown = name;
  }
  if (!unknown.empty()) return std::pair(cat(path, "/", unknown), name_of(knowledge, unknown));
  return Error{Error::Code::kInvalid, cat("every checkpoint in ", path, " is broken"), ""};
}

/// A checkpoint that is a file.
Result<std::pair<std::string, Named>> file_of_step(const std::string& path, int64_t step) {
  if (step == kNoStep) {
    return Error{Error::Code::kInvalid, cat("which step ", escape_terminal(path), " is cannot be seen from its name"),
                 "Say --step N."};
  }
  Named named;
  named.step = step;
  return std::pair(path, named);
}

/// Of a folder in which each file is a checkpoint of its own: the newest that is not broken, or that of `step`.
Result<std::pair<std::string, Named>> newest_file(Disk& disk, const std::vector<FoundCheckpoint>& files,
                                                  const std::string& folder, int64_t step) {
  size_t numbered = 0;
  for (auto one = files.rbegin(); one != files.rend(); ++one) {
    if (one->step == kNoStep || (step != kNoStep && one->step != step)) continue;
    ++numbered;
    const auto verdict = step == kNoStep ? verify_checkpoint(disk, one->path, {})
                                         : Result<CheckpointVerdict>(CheckpointVerdict());  // the push says it
    const bool broken = verdict.ok() && (verdict->state == CheckpointVerdict::State::kPartial ||
                                         verdict->state == CheckpointVerdict::State::kCorrupt);
    if (!broken) return file_of_step(one->path, one->step);
  }
  if (step != kNoStep)
    return Error{Error::Code::kNotFound, cat("there is no checkpoint of step ", step, " in ", folder), ""};
  return numbered > 0 ? Error{Error::Code::kInvalid, cat("every checkpoint in ", folder, " is broken"), ""}
                      : Error{Error::Code::kInvalid, cat("no name in ", folder, " says a step"),
                              cat("Name one of them, and its step: ", files.back().path, " --step N.")};
}

/// What to type where a folder's only checkpoint may be a file in it, which says its step.
std::string one_file_in(const std::vector<std::string>& names, const std::string& folder) {
  std::string only;
  for (const std::string& name : names) {
    if (step_of_file(name) == kNoStep) continue;
    if (!only.empty()) return "Say --step N.";
    only = name;
  }
  if (only.empty()) return "Say --step N.";
  return cat("Say --step ", step_of_file(only), ", or push the file alone: ", folder, "/", only, ".");
}

/// AReaL's one place to resume from: its trial's name says nothing of the step, as it is written over at every save.
/// Unset: `path` holds none, and is no part of one.
Result<std::optional<std::pair<std::string, Named>>> slot_at(Disk& disk, const std::string& path,
                                                             const std::vector<std::string>& names, int64_t step) {
  std::vector<std::string> slots;
  if (is_part_of_slot(path)) slots.push_back(recover_slot_of(disk, path));
  if (is_recover_slot(disk, path)) slots = {path};
  for (size_t i = 0; i < names.size() && slots.empty(); ++i) {
    if (is_recover_slot(disk, cat(path, "/", names[i]))) slots.push_back(cat(path, "/", names[i]));
  }
  if (slots.empty() || slots.front().empty()) return std::optional<std::pair<std::string, Named>>();
  const std::string& slot = slots.front();
  const auto others = std::count_if(names.begin(), names.end(), [&](const std::string& name) {
    return slot != path && is_recover_slot(disk, cat(path, "/", name));
  });
  if (others > 1)
    return Error{Error::Code::kInvalid, cat("several trials lie in ", path), cat("Name one of them: ", slot, ".")};
  Named named;
  named.step = step_of_slot(disk, slot);
  named.framework = "areal";
  if (named.step == kNoStep) {
    return Error{Error::Code::kInvalid,
                 cat("which step ", slot, " is cannot be read from its recover_info/step_info.json"),
                 "midwatch checkpoint verify says what is wrong with it."};
  }
  if (step != kNoStep && step != named.step)
    return Error{Error::Code::kNotFound,
                 cat(slot, " is of step ", named.step, ", and no training resumes from another"), ""};
  return std::optional(std::pair(slot, named));
}

/// The step that the files of a checkpoint say, whatever its folder is called ("restored2").
std::optional<int64_t> step_of_files(Disk& disk, const std::string& folder) {
  const auto verdict = verify_checkpoint(disk, folder, {});
  return verdict.ok() && verdict->step != kNoStep ? std::optional(verdict->step) : std::nullopt;
}

/// Which folder or file is meant, and which step it is.
Result<std::pair<std::string, Named>> chosen(Disk& disk, const KnowledgeBase& knowledge, const PushRequest& request) {
  std::string path = absolute_path(request.path);
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  path = behind_link(disk, path);
  if (const auto info = disk.info(path); info.ok() && info->kind == FileInfo::Kind::kFile)
    return file_of_step(path, request.step != kNoStep ? request.step : step_of_file(basename(path)));
  const auto names = disk.list(path);
  if (!names.ok()) return names.error();
  auto slot = slot_at(disk, path, *names, request.step);
  if (!slot.ok()) return slot.error();
  if (*slot) return std::move(**slot);
  Named own = name_of(knowledge, path);
  const bool several = holds_several(path, own, *names, steps_below(disk, knowledge, path, *names, kNoStep));
  const Steps below = steps_below(disk, knowledge, path, *names, request.step);
  if ((several || own.step == kNoStep) && !below.empty())
    return newest_of(disk, knowledge, path, below, request.suspect);
  if (several)
    return Error{Error::Code::kNotFound, cat("there is no checkpoint of step ", request.step, " in ", path), ""};
  if (sanitize_utf8(basename(path)) != basename(path))
    return Error{Error::Code::kInvalid, cat("the name of ", escape_terminal(path), " is not UTF-8"), "Rename it."};
  const auto files = checkpoint_files_in(disk, path, *names);
  const bool named = !own.layout.empty() || step_of_name(basename(path)) != kNoStep;
  if (!named && !files.empty()) return newest_file(disk, files, path, request.step);
  MW_TRY(check_below(disk, path, *names));
  if (request.step == kNoStep && !named) own.step = step_of_files(disk, path).value_or(own.step);
  if (request.step != kNoStep) own.step = request.step;
  if (own.step == kNoStep) {
    return Error{Error::Code::kInvalid, cat("which step ", path, " is cannot be seen from its name"),
                 one_file_in(*names, path)};
  }
  return std::pair(path, own);
}

/// A store in a checkpoint is part of what would be shipped, and one in a folder of checkpoints is what a trainer finds
/// there.
Result<void> must_lie_apart(Disk& disk, const std::string& checkpoint, const PushRequest& request) {
  std::string place = request.store.place;
  if (place.starts_with("file://")) place.erase(0, 7);
  if (contains(place, "://")) return {};
  place = real_path_to_be(disk, absolute_path(place));
  const auto refuse = [&request](const std::string& folder, std::string_view what) {
    return Error{Error::Code::kInvalid, cat(request.store.place, " lies within ", what, ", ", folder),
                 cat("Nothing is put there. Name a place outside of it, such as ", folder_of(folder), "/store.")};
  };
  const std::string own = real_path(checkpoint), root = folder_of(own);
  const auto info = disk.info(own);
  if (info.ok() && info->kind == FileInfo::Kind::kFolder && is_within(place, own))
    return refuse(own, "the checkpoint that is to be shipped");
  const auto runs = recorded_runs(disk, "");
  const bool of_run = real_path(absolute_path(request.path)) == root || !pointers_beside(disk, own).empty() ||
                      std::any_of(runs.begin(), runs.end(), [&](const std::string& run) {
                        const auto spec = load_run_spec(disk, run);
                        return spec.ok() && declares(disk, *spec, root);
                      });
  if (of_run && is_within(place, root)) return refuse(root, "a run's folder of checkpoints");
  return {};
}

/// Every byte that came was compared with the store's manifest: a later verification compares with the same.
void remember(Disk& disk, PullAnswer& answer, const vault::CheckpointManifest& pulled, Time now) {
  CheckpointManifest kept;
  kept.path = answer.folder;
  kept.step = pulled.step;
  kept.framework = pulled.framework;
  kept.verdict = pulled.scanned;
  kept.at = now;
  for (const vault::ManifestFile& file : pulled.files) {
    if (vault::is_beside(file)) continue;
    const auto info = disk.info(cat(answer.folder, "/", file.path));
    if (!info.ok()) return;
    kept.files.push_back({file.path, file.size, info->changed, 0, file.hash});
  }
  const auto saved = save_manifest(disk, home_of(""), kept);
  if (!saved.ok()) answer.notes.push_back(cat("Its checksums could not be kept here: ", saved.error().what, "."));
}

}  // namespace

Result<void> add_parts(Disk& disk, vault::PushOptions& options) {
  const CheckpointParts parts = parts_of(disk, options.folder);
  if (!parts.missing.empty()) {
    return Error{Error::Code::kInvalid,
                 cat(options.folder, " is not all of its step: ", parts.root, "/", parts.missing, " is not there"),
                 std::string(vault::kBrokenHint)};
  }
  options.folder = parts.path;
  options.own = parts.own;
  for (const std::string& part : parts.beside) options.parts.push_back({part, cat(parts.root, "/", part)});
  return {};
}

std::vector<std::pair<std::string, std::string>> run_facts() {
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&](std::string_view name, std::string_view from) {
    const auto value = variable(from);
    if (value && !value->empty()) facts.emplace_back(name, redact_secrets(clip(*value, 200)));
  };
  add("wandb_run_id", "WANDB_RUN_ID");
  add("attempt", "MIDWATCH_ATTEMPT");
  add("midwatch_run", "MIDWATCH_RUN");
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) facts.emplace_back("machine", host.data());
  return facts;
}

Result<PushAnswer> ship_checkpoint(Disk& disk, const KnowledgeBase& knowledge, const PushRequest& request) {
  const auto what = chosen(disk, knowledge, request);
  if (!what.ok()) return what.error();
  MW_TRY(must_lie_apart(disk, what->first, request));
  const auto harbour = open_harbour(disk, request.store);
  if (!harbour.ok()) return harbour.error();
  const Duration began = (*harbour)->clock->steady();
  vault::PushOptions options;
  options.prefix = (*harbour)->prefix;
  const auto info = disk.info(what->first);
  const bool file = info.ok() && info->kind == FileInfo::Kind::kFile;
  options.folder = file ? folder_of(what->first) : what->first;
  if (file) options.file = basename(what->first);
  options.step = what->second.step;
  options.layout = what->second.layout;
  options.framework = what->second.framework;
  options.may_be = what->second.may_be;
  if (!file) MW_TRY(add_parts(disk, options));
  options.run = run_facts();
  options.owner = random_word();
  options.older = request.older;
  options.suspect = request.suspect;
  options.repair = true;
  options.pace = pace_of(request.store);
  const vault::VaultDoors doors = (*harbour)->doors(disk, request.store);
  const auto verified = load_manifest(disk, home_of(""), what->first);
  if (verified.ok()) options.verified = &*verified;
  const auto pushed = vault::push(doors, options);
  if (!pushed.ok()) return pushed.error();
  PushAnswer answer;
  answer.path = what->first;
  answer.checkpoint = pushed->manifest.id;
  answer.step = pushed->manifest.step;
  answer.files = static_cast<int64_t>(pushed->manifest.files.size());
  answer.bytes = pushed->manifest.bytes();
  answer.sent = pushed->moved.moved;
  answer.there = pushed->there;
  answer.scanned = pushed->manifest.scanned;
  answer.verified = pushed->manifest.verified;
  answer.swaps = pushed->promise == vault::Promise::kSwap;
  answer.latest = pushed->latest == vault::Moved::kMoved  ? PushAnswer::Latest::kMoved
                  : pushed->latest == vault::Moved::kKept ? PushAnswer::Latest::kKept
                                                          : PushAnswer::Latest::kFenced;
  answer.latest_before = pushed->before.step;
  answer.epoch = pushed->before.epoch;
  answer.seconds = static_cast<double>((*harbour)->clock->steady().ns - began.ns) / 1e9;
  return answer;
}

Result<PullAnswer> fetch_checkpoint(Disk& disk, const PullRequest& request) {
  MW_TRY(must_be_there(disk, request.store.place));
  const auto harbour = open_harbour(disk, request.store);
  if (!harbour.ok()) return harbour.error();
  const Duration began = (*harbour)->clock->steady();
  vault::PullOptions options;
  options.prefix = (*harbour)->prefix;
  options.folder = absolute_path(request.folder);
  while (options.folder.size() > 1 && options.folder.ends_with('/')) options.folder.pop_back();
  options.step = request.step;
  options.pace = pace_of(request.store);
  options.make_way = request.make_way;
  options.discard = [](const std::string& partial) {
    (void)remove_tree(real_path(folder_of(partial)), std::string(basename(partial))).ok();
  };
  const auto locks = make_posix_locks();
  options.locks = locks.get();
  options.own = random_word();
  MW_TRY(disk.make_folders(folder_of(options.folder)));
  const vault::VaultDoors doors = (*harbour)->doors(disk, request.store);
  const auto pulled = vault::pull(doors, options);
  if (!pulled.ok() && pulled.error().code == Error::Code::kNotFound && pulled.error().hint.empty()) {
    const std::string runs = named_runs_below(**harbour);
    if (!runs.empty()) return runs_lie_below(request.store.place, runs);
  }
  if (!pulled.ok()) return pulled.error();
  const vault::CheckpointManifest& manifest = pulled->manifest;
  PullAnswer answer;
  answer.folder = options.folder;
  answer.checkpoint = manifest.id;
  answer.name = manifest.name;
  answer.step = manifest.step;
  answer.files = static_cast<int64_t>(manifest.files.size());
  answer.bytes = manifest.bytes();
  answer.received = pulled->moved.moved;
  answer.latest = pulled->latest;
  answer.pushed = manifest.pushed;
  answer.framework = manifest.framework;
  answer.layout = manifest.layout;
  answer.run = manifest.run;
  answer.notes = pulled->notes;
  for (const std::string& part : manifest.beside) {
    answer.beside.push_back(vault::place_of(manifest, answer.folder, cat(vault::kBeside, part)));
    answer.notes.push_back(cat(part, " belongs to it and lies in ", answer.beside.back(), "."));
  }
  remember(disk, answer, manifest, (*harbour)->clock->now());
  answer.seconds = static_cast<double>((*harbour)->clock->steady().ns - began.ns) / 1e9;
  return answer;
}

Result<RemoteAnswer> shipped_checkpoints(Disk& disk, const RemoteRequest& request) {
  MW_TRY(must_be_there(disk, request.store.place));
  const auto harbour = open_harbour(disk, request.store);
  if (!harbour.ok()) return harbour.error();
  const vault::VaultDoors doors = (*harbour)->doors(disk, request.store);
  auto found = vault::read_catalogue(doors, {(*harbour)->prefix}, request.check);
  if (!found.ok()) return found.error();
  RemoteAnswer answer;
  answer.notes = std::move(found->notes);
  answer.epoch = found->pointer.epoch;
  for (const vault::RemoteCheckpoint& one : found->checkpoints) {
    const vault::CheckpointManifest& of = one.manifest;
    answer.checkpoints.push_back({of.id, of.name, of.framework, of.scanned, of.verified, of.parent, of.step,
                                  static_cast<int64_t>(of.files.size()), of.bytes(), of.epoch, of.pushed, one.latest,
                                  one.trouble, of.run});
  }
  if (!found->checkpoints.empty()) return answer;
  if (const std::string runs = named_runs_below(**harbour); !runs.empty())
    answer.notes.push_back(cat(runs_lie_below(request.store.place, runs).what, "."));
  return answer;
}

std::function<Result<std::set<int64_t>>()> steps_in_store(StoreAddress address) {
  return [address = std::move(address)]() -> Result<std::set<int64_t>> {
    const std::shared_ptr<Disk> disk = make_posix_disk();
    const auto found = shipped_checkpoints(*disk, {address, true});
    if (!found.ok()) return found.error();
    std::set<int64_t> steps;
    for (const auto& one : found->checkpoints) {
      if (one.trouble.empty()) steps.insert(one.step);
    }
    return steps;
  };
}

}  // namespace mw
