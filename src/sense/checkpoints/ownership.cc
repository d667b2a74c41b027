#include "sense/checkpoints/ownership.h"

#include <algorithm>
#include <optional>

#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "platform/durable.h"
#include "sense/checkpoints/parts.h"
#include "sense/checkpoints/quarantine.h"

namespace mw {
namespace {

constexpr int kDepth = 4;                          // folders below a place
constexpr size_t kEntries = 5'000;                 // entries of one place
constexpr size_t kOfOneFolder = 2'000;             // entries; one with more is not known
constexpr size_t kFiles = 20'000;                  // of one checkpoint
constexpr int kDeep = 8;                           // folders below it
constexpr Duration kLate = Duration::seconds(30);  // what is still written when an attempt's first process has ended
constexpr int64_t kHole = 4;                       // intervals, as single ones may go before anybody saw them

bool silent(const Error& error) { return error.code == Error::Code::kIo || error.code == Error::Code::kInterrupted; }

/// Where no trainer saves, and much lies.
bool is_skipped(std::string_view name) {
  return name.starts_with(".") || name == "node_modules" || name == "__pycache__" || name == "site-packages";
}

/// May it be a checkpoint that is a file?
bool is_single(std::string_view name) {
  return name.ends_with(".pt") || name.ends_with(".pth") || name.ends_with(".bin") || name.ends_with(".safetensors") ||
         name.ends_with(".ckpt");
}

class Taker {
 public:
  Taker(Disk& disk, const std::function<bool()>& enough, Snapshot& into) : disk_(disk), enough_(enough), into_(into) {}

  Result<void> take(const std::string& folder, int depth) {
    if (into_.folders.count(folder) != 0 || (depth > 0 && enough_ && enough_())) return {};
    const auto names = disk_.list(folder);
    if (!names.ok()) {
      if (silent(names.error()) && depth == 0) return names.error();
      if (names.error().code == Error::Code::kNotFound) into_.folders[folder];
      return {};
    }
    if (names->size() > kOfOneFolder || looked_at_ + names->size() > kEntries) return {};
    looked_at_ += names->size();
    Snapshot::Things things;
    for (const std::string& name : *names) {
      const auto info = disk_.info(cat(folder, "/", name));
      // One dead mount among them must not keep the command from its start. What is there stays unknown, so it counts
      // as there before the run.
      if (!info.ok() && silent(info.error())) things[name] = {};
      if (info.ok() && (info->kind == FileInfo::Kind::kFolder || is_single(name)))
        things[name] = {info->device, info->inode};
    }
    into_.folders[folder] = things;
    for (const auto& [name, thing] : things) {
      if (depth < kDepth && !is_skipped(name) && !is_single(name)) MW_TRY(take(cat(folder, "/", name), depth + 1));
    }
    return {};
  }

 private:
  Disk& disk_;
  const std::function<bool()>& enough_;
  Snapshot& into_;
  size_t looked_at_ = 0;
};

struct Written {
  Time oldest, newest;
  size_t files = 0;
};

/// When the files in it were written.
Result<void> times_in(Disk& disk, const std::string& folder, int depth, Written& out) {
  const auto names = disk.list(folder);
  if (!names.ok()) return silent(names.error()) ? Result<void>(names.error()) : Result<void>();
  for (const std::string& name : *names) {
    if (out.files >= kFiles) return {};
    const std::string path = cat(folder, "/", name);
    const auto info = disk.info(path);
    if (!info.ok() && silent(info.error())) return info.error();
    if (!info.ok()) continue;
    if (info->kind == FileInfo::Kind::kFolder && depth < kDeep) MW_TRY(times_in(disk, path, depth + 1, out));
    if (info->kind != FileInfo::Kind::kFile) continue;
    out.oldest = out.files == 0 ? info->changed : std::min(out.oldest, info->changed);
    out.newest = std::max(out.newest, info->changed);
    ++out.files;
  }
  return {};
}

bool within(const Ownership::Life& life, Time at) {
  return life.began.known() && at >= life.began && (!life.ended.known() || at.ns <= life.ended.ns + kLate.ns);
}

/// By what was written then it may be another run's that saves there, or was written long after this one saved it.
bool may_be_anothers(const Ownership& of, const std::string& root, int64_t step, const Written& written) {
  if (of.other_at(root, written.newest) != nullptr || of.other_at(root, written.oldest) != nullptr) return true;
  const auto passed = of.passed.find(step);
  return passed != of.passed.end() && written.newest.ns > passed->second.ns + kLate.ns;
}

bool can_have_saved(const Ownership& of, int64_t step) {
  if (of.logged.count(step) != 0) return true;
  if (is_anothers(of, step)) return false;
  if (of.planned != kNoStep && step > of.planned) return false;  // the disk alone says that it was saved
  if (of.said.count(step) != 0) return true;
  // Its files spoke of the saves before and after this one, and never of this: somebody's copy, under a name of their
  // own. What only the disk says misses saves that lay there for a moment.
  const std::set<int64_t>& spoke = of.logged.empty() && of.steps.empty() ? of.said : of.logged;
  if (!spoke.empty() && *spoke.begin() < step && step < *spoke.rbegin()) return false;
  // Of a run that logs no steps: what it names are its saves.
  if (of.steps.empty() && !of.logged.empty()) {
    int64_t widest = *of.logged.begin();
    for (auto one = of.logged.begin(); std::next(one) != of.logged.end(); ++one)
      widest = std::max(widest, *std::next(one) - *one);
    return step <= furthest_unlogged(*of.logged.rbegin(), 0, widest);
  }
  // How many it logs is left out: one that is killed loses what it had not written out, however many those are, and
  // the times and the folder speak for this run, too.
  return of.steps.empty() || std::any_of(of.steps.begin(), of.steps.end(), [step](const Ownership::Range& range) {
           return step >= range.lowest && step <= furthest_unlogged(range.highest, range.highest - range.lowest + 1, 0);
         });
}

/// What transformers writes into each checkpoint of the run that saved it.
struct TrainerState {
  std::optional<int64_t> step, planned;
  std::optional<double> epoch;
};

/// The text after the first `key`; in its history, which may be long, none of these stands before.
std::string_view value_of(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return "";
  const std::string_view rest = text.substr(at + key.size());
  return trim(rest.substr(0, rest.find_first_of(",}\n")));
}

Result<TrainerState> trainer_state(Disk& disk, const std::string& folder) {
  const auto text = read_small(disk, cat(folder, "/trainer_state.json"));
  if (!text.ok()) return silent(text.error()) ? Result<TrainerState>(text.error()) : TrainerState();
  return TrainerState{parse_int(value_of(*text, "\"global_step\":")), parse_int(value_of(*text, "\"max_steps\":")),
                      parse_double(value_of(*text, "\"epoch\":"))};
}

/// Of what its log does not show it to have reached: does its own word of itself speak of another run?
Result<bool> is_of_another_plan(Disk& disk, const Ownership& of, const std::string& folder, int64_t step) {
  if (of.plans.empty() || of.logged.count(step) != 0 || (of.reached != kNoStep && step <= of.reached)) return false;
  const auto says = trainer_state(disk, folder);
  if (!says.ok()) return says.error();
  return (says->step && *says->step != step) ||
         (says->planned && *says->planned > 0 && of.plans.count(*says->planned) == 0);
}

}  // namespace

bool Snapshot::knows(const std::string& folder) const {
  if (folders.count(folder) != 0) return true;
  // Not looked into, or not there: the nearest folder above that was looked into says which.
  for (size_t slash = folder.rfind('/'); slash != std::string::npos && slash > 0;
       slash = folder.rfind('/', slash - 1)) {
    const auto above = folders.find(folder.substr(0, slash));
    if (above == folders.end()) continue;
    const std::string next = folder.substr(slash + 1, folder.find('/', slash + 1) - slash - 1);
    return above->second.count(next) == 0;
  }
  return false;
}

bool Snapshot::had(const std::string& folder, const std::string& name, const Thing& now) const {
  const auto there = folders.find(folder);
  if (there == folders.end()) return false;
  const auto thing = there->second.find(name);
  if (thing == there->second.end()) return false;
  if (thing->second.inode == 0 || now.inode == 0) return true;
  return thing->second.inode == now.inode && thing->second.device == now.device;
}

Result<Snapshot> take_snapshot(Disk& disk, const std::vector<std::string>& places,
                               const std::function<bool()>& enough) {
  Snapshot snapshot;
  for (const std::string& place : places) {
    const std::string plain = plain_path(place);
    if (plain.size() > 1 && plain.front() == '/') MW_TRY(Taker(disk, enough, snapshot).take(plain, 0));
  }
  return snapshot;
}

std::string identity_text(const Snapshot::Thing& thing) {
  return cat(static_cast<int64_t>(thing.device), ":", static_cast<int64_t>(thing.inode));
}

Snapshot::Thing identity_in(std::string_view text) {
  const auto parts = split(text, ':');
  const auto device = parts.size() == 2 ? parse_int(parts[0]) : std::nullopt;
  const auto inode = parts.size() == 2 ? parse_int(parts[1]) : std::nullopt;
  if (!device || !inode) return {};
  return {static_cast<uint64_t>(*device), static_cast<uint64_t>(*inode)};
}

std::string snapshot_text(const Snapshot& snapshot) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("version").integer(1).key("folders").begin_object();
    for (const auto& [folder, things] : snapshot.folders) {
      json.key(folder).begin_object();
      for (const auto& [name, thing] : things) json.key(name).string(identity_text(thing));
      json.end_object();
    }
    json.end_object().end_object();
  }
  return out;
}

Result<Snapshot> parse_snapshot(std::string_view text) {
  const auto json = Json::parse(text);
  if (!json.ok()) return json.error();
  const Json* folders = json->is_object() ? json->find("folders") : nullptr;
  if (folders == nullptr || !folders->is_object()) return Error{Error::Code::kInvalid, "'folders' is missing", ""};
  Snapshot snapshot;
  for (const auto& [folder, things] : folders->members()) {
    Snapshot::Things& into = snapshot.folders[folder];
    if (!things.is_object()) return Error{Error::Code::kInvalid, "a folder is no object", ""};
    for (const auto& [name, identity] : things.members()) {
      into[name] = identity_in(identity.string());
    }
  }
  return snapshot;
}

std::string plain_path(std::string_view path) {
  std::string out = path.starts_with("/") ? "/" : "";
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (!out.empty() && out.back() != '/') out += '/';
    out += part;
  }
  return out;
}

Result<std::set<std::string>> not_to_resume_from(Disk& disk, const Ownership& of, const std::vector<std::string>& roots,
                                                 const CheckpointLayout& layout) {
  std::set<std::string> folders;
  for (const std::string& root : roots) {
    const auto steps = checkpoint_steps(disk, root, layout);
    if (!steps.ok()) return steps.error();
    for (const int64_t step : *steps) {
      if (of.resumed.count(step) != 0) continue;
      const auto whose = whose_is(disk, of, root, layout, step);
      if (!whose.ok()) return whose.error();
      if (*whose == Whose::kForeign) folders.insert(cat(root, "/", with_step(layout.folder, step)));
    }
  }
  return folders;
}

bool lies_in(std::string_view path, std::string_view folder) {
  while (folder.size() > 1 && folder.ends_with("/")) folder.remove_suffix(1);
  if (folder.size() < 2 || !path.starts_with(folder)) return false;
  if (contains(path, "/../") || path.ends_with("/..")) return false;
  return path.size() == folder.size() || path[folder.size()] == '/';
}

bool Ownership::may_save_in(const std::string& path) const {
  const std::string root = plain_path(path);
  if (strangers.count(root) != 0) return false;
  const std::string other = other_role_of(root);
  if (declared.count(root) != 0 || (!other.empty() && declared.count(folder_of(root)) != 0)) return true;
  const bool role_proven =
      !other.empty() && strangers.count(other) == 0 && (named.count(other) != 0 || seen.count(other) != 0);
  const bool proven = named.count(root) != 0 || seen.count(root) != 0 || role_proven;
  return proven &&
         std::any_of(places.begin(), places.end(), [&root](const auto& place) { return lies_in(root, place); });
}

const Ownership::Other* Ownership::other_at(const std::string& root, Time at) const {
  for (const Other& other : others) {
    if (other.roots.count(root) == 0) continue;
    const bool lived = std::any_of(other.lives.begin(), other.lives.end(), [at](const Life& life) {
      return life.began.known() && at >= life.began && (!life.ended.known() || at <= life.ended);
    });
    if (lived) return &other;
  }
  return nullptr;
}

const Ownership::Other* Ownership::other_in(const std::string& root) const {
  const auto found = std::find_if(others.begin(), others.end(), [&](const auto& one) { return one.roots.count(root); });
  return found == others.end() ? nullptr : &*found;
}

const Ownership::Other* Ownership::lived_beside(const std::string& root) const {
  const auto over_before = [](const Life& one, const Life& other) {
    return one.ended.known() && one.ended < other.began;
  };
  for (const Other& other : others) {
    if (other.roots.count(root) == 0) continue;
    for (const Life& own : lives) {
      const bool met = std::any_of(other.lives.begin(), other.lives.end(),
                                   [&](const Life& one) { return !over_before(own, one) && !over_before(one, own); });
      if (met) return &other;
    }
  }
  return nullptr;
}

bool may_go_by_rule(const Ownership& of, const std::vector<int64_t>& steps, const std::set<int64_t>& removed,
                    int64_t step) {
  if (!of.logged.empty()) return of.logged.count(step) != 0;
  std::set<int64_t> there(steps.begin(), steps.end());
  there.insert(removed.begin(), removed.end());
  const int64_t begin = of.resumed.empty() ? 0 : *of.resumed.rbegin();  // from there on it saves at equal steps
  const std::vector<int64_t> own(there.lower_bound(begin), there.end());
  if (own.size() < 2) return true;
  int64_t interval = own[1] - own[0];
  for (size_t i = 2; i < own.size(); ++i) interval = std::min(interval, own[i] - own[i - 1]);
  for (size_t i = 1; i < own.size(); ++i) {
    const int64_t between = own[i] - own[i - 1];
    // The journal may not name all that was deleted, where that is very much.
    const bool own_hole = !removed.empty() && own[i] <= *removed.rbegin();
    if (between % interval != 0 || (between > kHole * interval && !own_hole)) return false;
  }
  return (own[0] - begin) % interval == 0;
}

Result<bool> is_ahead(Disk& disk, const Ownership& of, const std::string& root, const CheckpointLayout& layout,
                      const std::vector<int64_t>& steps, int64_t step) {
  if (layout.counts_saves || of.logged.count(step) != 0) return false;
  if (of.reached != kNoStep) {
    // Some name the first step 0 in their logs and 1 in their checkpoints. Who saves at both steps is not one of them.
    const bool next = step == of.reached + 1 && std::find(steps.begin(), steps.end(), of.reached) == steps.end();
    return step > of.reached && !next;
  }
  if (!of.counts_records) return false;  // nothing is known of its steps, also not how far they are known
  if (of.epoch < 0) return true;
  const auto says = trainer_state(disk, cat(root, "/", with_step(layout.folder, step)));
  if (!says.ok()) return says.error();
  return !says->epoch || *says->epoch > of.epoch;
}

bool is_anothers(const Ownership& of, int64_t step) {
  if (of.logged.count(step) != 0 || of.resumed.count(step) != 0) return false;
  if (of.beyond != kNoStep && step > of.beyond) return true;
  if (of.logged.size() < 2) return false;
  const int64_t first = *of.logged.begin(), last = *of.logged.rbegin();
  if (step < last) return step > first;
  if (of.planned != kNoStep && step >= of.planned) return step > of.planned + 1;  // the last one is saved out of turn
  // What it saved last may have no line: one that is killed loses what it had not written out.
  int64_t interval = last - first;
  for (auto one = of.logged.begin(); std::next(one) != of.logged.end(); ++one)
    interval = std::min(interval, *std::next(one) - *one);
  return std::none_of(of.logged.begin(), of.logged.end(),
                      [step, interval](int64_t saved) { return (step - saved) % interval == 0; });
}

Result<Whose> whose_is(Disk& disk, const Ownership& of, const std::string& path, const CheckpointLayout& layout,
                       int64_t step) {
  const std::string root = plain_path(path);
  const std::string name = with_step(layout.folder, step), folder = cat(root, "/", name);
  const auto info = disk.info(folder);
  if (!info.ok() && silent(info.error())) return info.error();
  if (!info.ok()) return Whose::kUnknown;
  Written written;
  if (info->kind == FileInfo::Kind::kFile) {
    written = {info->changed, info->changed, 1};
  } else {
    MW_TRY(times_in(disk, folder, 0, written));
  }
  if (written.files == 0 && !of.snapshot.had(root, name, {info->device, info->inode})) {
    written.oldest = written.newest = info->changed;  // one that was only begun
  }
  const auto in_one_life = [&of, &written] {
    return std::any_of(of.lives.begin(), of.lives.end(), [&written](const Ownership::Life& life) {
      return within(life, written.newest) && within(life, written.oldest);
    });
  };
  if (of.has_snapshot && of.snapshot.had(root, name, {info->device, info->inode})) {
    // Saved over: nothing of what was there before is left.
    const bool over = written.files > 0 && of.said.count(step) != 0 && in_one_life();
    if (over && may_be_anothers(of, root, step, written)) return Whose::kUnknown;
    return over && of.may_save_in(root) ? Whose::kOwn : Whose::kForeign;
  }
  const bool alive = std::any_of(of.lives.begin(), of.lives.end(),
                                 [&written](const auto& life) { return within(life, written.newest); });
  // By a file server's own clock it may seem so of what the run itself says that it saved.
  if (!alive) return of.said.count(step) == 0 ? Whose::kForeign : Whose::kUnknown;
  if (!of.has_snapshot || !of.snapshot.knows(root) || !of.may_save_in(root)) return Whose::kUnknown;
  if (may_be_anothers(of, root, step, written)) return Whose::kUnknown;
  // Right after an attempt somebody else may have saved; then the run's own word decides, of what it saved last.
  const bool watched = std::any_of(of.lives.begin(), of.lives.end(), [&written](const auto& life) {
    return written.newest >= life.began && (!life.ended.known() || written.newest <= life.ended);
  });
  if (!(watched ? can_have_saved(of, step) : of.last_said.count(step) != 0)) return Whose::kUnknown;
  const auto other = is_of_another_plan(disk, of, folder, step);
  if (!other.ok()) return other.error();
  return *other ? Whose::kUnknown : Whose::kOwn;
}

}  // namespace mw
