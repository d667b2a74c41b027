#include "sim/prune_world.h"

#include <algorithm>

#include "act/keeper/launch.h"
#include "act/keeper/record.h"
#include "act/supervise/run_files.h"
#include "act/supervise/run_ownership.h"
#include "base/numbers.h"
#include "base/text.h"
#include "journal/journal.h"

namespace mw::sim {
namespace {

constexpr int64_t kSaveEvery = 10;
constexpr int64_t kBefore = 5, kLater = 35;  // steps of somebody else's checkpoints

Error missing(const std::string& path) { return {Error::Code::kNotFound, cat(path, ": no such file"), ""}; }

}  // namespace

// ---- the machine

Result<std::string> PruneSystem::read(const std::string& path, size_t) {
  if (path.ends_with("/maps")) return std::string();
  return missing(path);
}

Result<std::vector<std::string>> PruneSystem::names(const std::string& folder) {
  std::vector<std::string> found;
  if (folder == "/proc") {
    found.emplace_back("1");
    for (const auto& [process, file] : open) found.push_back(cat(process));
  }
  if (folder.starts_with("/proc/") && folder.ends_with("/fd")) found.emplace_back("3");
  return found;
}

Result<std::string> PruneSystem::link(const std::string& path) {
  if (path.starts_with("/proc/")) {
    const auto process = parse_int(path.substr(6, path.find('/', 6) - 6));
    const auto file = open.find(process.value_or(0));
    return file != open.end() && path.ends_with("/3") ? Result<std::string>(file->second) : missing(path);
  }
  if (disk_.dead() || disk_.call()) return Error{Error::Code::kIo, "readlink: Input/output error", ""};
  const auto found = links.find(path);
  if (found != links.end()) return found->second;
  if (disk_.exists(path) || disk_.has_folder(path)) return Error{Error::Code::kInvalid, "no link", ""};
  return missing(path);
}

Result<size_t> PruneSystem::count(const std::string& folder) { return names(folder)->size(); }
Result<Entry> PruneSystem::entry(const std::string& path) { return missing(path); }
Result<Space> PruneSystem::space(const std::string& path) { return missing(path); }

Result<std::string> PruneSystem::real(const std::string& path) {
  if (disk_.dead() || disk_.call()) return Error{Error::Code::kIo, "realpath: Input/output error", ""};
  const auto found = links.find(path);
  const std::string& target = found != links.end() ? found->second : path;
  if (!disk_.exists(target) && !disk_.has_folder(target)) return missing(path);
  return target;
}

// ---- the world

PruneWorld::PruneWorld(uint64_t seed, std::function<void(const std::string&)> say)
    : disk(seed), dice(seed * 6007 + 5), say_(std::move(say)) {
  const uint64_t kind = dice.below(3);
  if (kind == 0) layout = {"step_{step}", "latest", "{step}"};
  if (kind == 1) layout = {"global_step_{step}", "latest_checkpointed_iteration.txt", "{step}"};
  if (kind == 2) layout = {"checkpoint-{step}", "", ""};
  layout.takes_any_folder = seed % 2 == 1;
  roots = {"/data/ck"};
  if (dice.chance(0.3)) roots.emplace_back("/data/opt");
  has_store = dice.chance(0.4);
  disk.date_folders();
  disk.set_time(clock.now());
  for (const std::string& root : roots) {
    (void)disk.make_folders(root).ok();
    saves[root];
  }
  for (const std::string_view folder : {kPruneRun, kPruneWork}) (void)disk.make_folders(std::string(folder)).ok();
  if (dice.chance(0.5)) others_save(kBefore);
  const auto before = take_snapshot(disk, roots, nullptr);
  MW_CHECK(before.ok());
  disk.put(cat(kPruneRun, "/", kSnapshotFile), snapshot_text(*before));
  clock.pass(Duration::seconds(100));
  said_.push_back({clock.now(), {}, event::SourceOpened{0, "train.log", "text", 0}});
  next_attempt(kNoStep);
}

void PruneWorld::write(const std::string& path, const std::string& bytes) {
  clock.pass(Duration::seconds(1));
  disk.set_time(clock.now());
  disk.unlink(path);
  disk.put(path, bytes);
}

/// A file of safetensors with one small tensor.
std::string PruneWorld::weights() {
  const std::string header = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const uint64_t size = header.size();
  const float numbers[] = {static_cast<float>(dice.unit()), static_cast<float>(1 + dice.unit())};
  std::string out(reinterpret_cast<const char*>(&size), sizeof size);
  out += header;
  out.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
  return out;
}

void PruneWorld::say(Event::Body body) { said_.push_back({clock.now(), {0, ++line_}, std::move(body)}); }

std::vector<Event> PruneWorld::said() { return std::exchange(said_, {}); }

void PruneWorld::put_record(const std::string& line) {
  const std::string folder = cat(kPruneRun, "/", kAttemptsFolder, "/", attempt_);
  FakeDisk& own = records_.try_emplace(folder).first->second;
  {
    auto record = Journal::open(own, cat(folder, "/", kRecordFolder), nullptr);
    MW_CHECK(record.ok());
    (void)(*record)->append(line);
    MW_CHECK((*record)->sync().ok());
  }
  for (const std::string& path : own.paths()) disk.put(path, own.content(path));
}

std::string PruneWorld::path_of(const std::string& root, int64_t of) const {
  return cat(root, "/", with_step(layout.folder, of));
}

TreeFiles PruneWorld::files_in(const std::string& folder) const {
  TreeFiles out;
  for (const std::string& path : disk.paths()) {
    if (path.starts_with(folder + "/")) out[path.substr(folder.size() + 1)] = disk.content(path);
  }
  return out;
}

bool PruneWorld::is_whole(const std::string& root, int64_t of) const {
  const auto tree = saves.find(root);
  const auto save = tree == saves.end() ? decltype(tree->second.end())() : tree->second.find(of);
  if (tree == saves.end() || save == tree->second.end() || !save->second.whole) return false;
  if (save->second.writing) return false;
  const TreeFiles now = files_in(path_of(root, of));
  // Of what its trainer deletes the settings may be gone: nothing shows it.
  const auto weights = now.find("model.safetensors");
  return save->second.deleting ? weights != now.end() && weights->second == save->second.files.at("model.safetensors")
                               : now == save->second.files;
}

bool PruneWorld::is_resumable(const std::string& root, int64_t of) const {
  if (!is_whole(root, of)) return false;
  for (const std::string& other : roots) {
    if (other == root || saves.count(other) == 0 || saves.count(root) == 0) continue;
    bool together = false;
    for (const auto& [one, save] : saves.at(other)) {
      together = together || (saves.at(root).count(one) != 0 && disk.has_folder(path_of(other, one)) &&
                              disk.has_folder(path_of(root, one)));
    }
    if (together && !is_whole(other, of)) return false;
  }
  return true;
}

std::optional<int64_t> PruneWorld::pointed(const std::string& root) const {
  if (layout.pointer.empty()) return std::nullopt;
  return step_in(layout.pointer_text, trim(disk.content(cat(root, "/", layout.pointer))));
}

bool PruneWorld::is_linked(const std::string& path) const {
  return std::any_of(system.links.begin(), system.links.end(),
                     [&](const auto& one) { return one.second == path && disk.exists(one.first); });
}

bool PruneWorld::is_open(const std::string& path) const {
  return std::any_of(system.open.begin(), system.open.end(),
                     [&](const auto& one) { return one.second.starts_with(path + "/"); });
}

int64_t PruneWorld::newest_whole() const {
  int64_t newest = kNoStep;
  for (const auto& [of, save] : saves.at(roots.front())) {
    if (is_resumable(roots.front(), of)) newest = of;
  }
  return newest;
}

std::string PruneWorld::harm_to_others() const {
  for (const auto& [path, files] : others) {
    if (files_in(path) != files) return cat("somebody else's ", path, " is not what it was");
  }
  return "";
}

// ---- what happens in it

void PruneWorld::next_attempt(int64_t resumed_at) {
  ++attempt_;
  alive = true;
  clock.pass(Duration::seconds(5));
  put_record(record_keeping({9'100'000 + attempt_, 1}, "boot", clock.now()));
  put_record(record_started({9'200'000 + attempt_, 1}, clock.now()));
  say(event::AttemptBegan{"keeper"});
  if (resumed_at != kNoStep) {
    say(event::Resumed{resumed_at, path_of(roots.front(), resumed_at)});
    behind.insert(named_.upper_bound(resumed_at), named_.end());
  }
  resumed.insert(resumed_at);
  step = std::max<int64_t>(resumed_at, 0);
  say_(cat("attempt ", attempt_, " begins at step ", step));
}

void PruneWorld::end_attempt() {
  if (!alive) return;
  abandon_save();
  if (const auto of = std::exchange(deleting_, std::nullopt)) {  // what is left of it stays
    for (const std::string& root : roots) {
      const auto save = saves[root].find(*of);
      if (save == saves[root].end()) continue;
      save->second.deleting = false;
      save->second.whole = disk.exists(path_of(root, *of) + "/model.safetensors");
      save->second.files = files_in(path_of(root, *of));
    }
  }
  alive = false;
  clock.pass(Duration::seconds(1));
  Ending ending;
  ending.at = clock.now();
  ending.code = 1;
  put_record(record_ended(ending));
  put_record(record_done(clock.now()));
  say(event::Ended{event::Ended::How::kExit, 1, "keeper"});
}

void PruneWorld::crash() {
  end_attempt();
  clock.pass(Duration::seconds(60));
  if (dice.chance(0.3)) others_save(kLater);
  clock.pass(Duration::seconds(60));
  disk.set_time(clock.now());
  next_attempt(dice.chance(0.5) ? newest_whole() : any_step(true));
}

/// Of this run's, in the first root; kNoStep when there is none.
int64_t PruneWorld::any_step(bool whole) {
  std::vector<int64_t> found;
  for (const auto& [of, save] : saves[roots.front()]) {
    if (!whole || is_whole(roots.front(), of)) found.push_back(of);
  }
  return found.empty() ? kNoStep : found[dice.below(found.size())];
}

void PruneWorld::train() {
  if (!alive || saving_) return;
  const int64_t until = (step / kSaveEvery + 1) * kSaveEvery;
  for (step = std::max<int64_t>(step + 1, until - 2); step <= until; ++step) {
    clock.pass(Duration::seconds(3));
    const double reward = dice.unit();
    say(event::Measured{step, false, {{"reward.mean", "reward", reward}}});
    scores[step] = reward;
  }
  step = until;
}

/// A save over one that is there begins with what is in it.
void PruneWorld::begin_save() {
  if (!alive || saving_ || step <= 0 || step % kSaveEvery != 0) return;
  if (deleting_ == step) deleting_.reset();
  saving_ = step;
  const int64_t process = dice.chance(0.7) ? ++next_process_ : 0;  // 0: a rank on another machine
  for (const std::string& root : roots) {
    if (others.count(path_of(root, step)) != 0) {
      saving_.reset();
      return;
    }
    Save& save = saves[root][step];
    save = {};
    save.writing = true;
    save.process = process;
    const std::string path = path_of(root, step), all = weights();
    write(path + "/config.json", "{}");
    write(path + "/model.safetensors", all.substr(0, dice.below(all.size())));
    if (process != 0) system.open[process] = path + "/model.safetensors";
  }
  if (dice.chance(0.5)) say(event::CheckpointSaved{step, path_of(roots.front(), step), false});
  say_(cat("save of step ", step, " begins"));
}

void PruneWorld::finish_save() {
  if (!saving_) return;
  if (deleting_) prune();  // that lasts for seconds
  const int64_t of = *std::exchange(saving_, std::nullopt);
  for (const std::string& root : roots) {
    Save& save = saves[root][of];
    write(path_of(root, of) + "/model.safetensors", weights());
    if (dice.chance(0.3)) write(path_of(root, of) + "/sub/notes.json", "{}");
    save.writing = false;
    save.whole = true;
    save.files = files_in(path_of(root, of));
    system.open.erase(save.process);
  }
  ++saved;
  named_.insert(of);
  behind.erase(of);
  if (dice.chance(0.8)) set_pointer(of);
  say(event::CheckpointSaved{of, path_of(roots.front(), of), true});
  event::CheckpointSeen seen;
  seen.step = of;
  seen.path = path_of(roots.front(), of);
  seen.how = event::CheckpointSeen::How::kWhole;
  seen.bytes = 100;
  say(seen);
  say_(cat("saved step ", of));
}

void PruneWorld::abandon_save() {
  if (!saving_) return;
  const int64_t of = *std::exchange(saving_, std::nullopt);
  for (const std::string& root : roots) {
    Save& save = saves[root][of];
    save.writing = false;
    system.open.erase(save.process);
  }
  say_(cat("the save of step ", of, " is cut short"));
}

void PruneWorld::save_once() {
  finish_save();
  train();
  begin_save();
  finish_save();
}

void PruneWorld::set_pointer(int64_t to) {
  if (layout.pointer.empty()) return;
  for (const std::string& root : roots) write(cat(root, "/", layout.pointer), with_step(layout.pointer_text, to));
}

/// The framework's own: first a file, then the rest.
void PruneWorld::prune() {
  if (!alive) return;
  if (deleting_) {
    const int64_t of = *std::exchange(deleting_, std::nullopt);
    for (const std::string& root : roots) {
      disk.set_time(clock.now());
      disk.unlink_folder(path_of(root, of));
      saves[root].erase(of);
    }
    return say_(cat("the trainer deleted step ", of));
  }
  const int64_t of = any_step(true);
  if (of == kNoStep || of == saving_ || of == newest_whole() || pointed(roots.front()) == of ||
      is_linked(path_of(roots.front(), of)))
    return;
  deleting_ = of;
  clock.pass(Duration::seconds(1));
  disk.set_time(clock.now());
  for (const std::string& root : roots) {
    const auto save = saves[root].find(of);
    if (save == saves[root].end()) continue;
    save->second.deleting = true;
    disk.unlink(path_of(root, of) + (dice.chance(0.5) ? "/model.safetensors" : "/config.json"));
  }
  say_(cat("the trainer begins to delete step ", of));
}

void PruneWorld::toggle_link() {
  if (dice.chance(0.5)) return toggle_shared_part();
  const std::string path = dice.chance(0.5) ? cat(roots.front(), "/best") : std::string("/data/best");
  if (system.links.erase(path) != 0) return disk.unlink(path);
  const int64_t of = any_step(true);
  if (of == kNoStep) return;
  system.links[path] = path_of(roots.front(), of);
  disk.put(path, "");
  say_(cat(path, " leads to step ", of));
}

/// A part of one checkpoint is a link into another one.
void PruneWorld::toggle_shared_part() {
  const int64_t by = any_step(true), of = any_step(true);
  if (by == kNoStep || by == of || saves[roots.front()][by].deleting) return;
  const std::string path = cat(path_of(roots.front(), by), "/frozen");
  if (system.links.erase(path) != 0 && disk.exists(path)) {
    disk.unlink(path);
  } else {
    system.links[path] = path_of(roots.front(), of);
    // It was saved with it: a link says nothing of its own time.
    const auto weights = disk.info(cat(path_of(roots.front(), by), "/model.safetensors"));
    if (weights.ok()) disk.set_time(weights->changed);
    disk.put(path, "");
    disk.set_time(clock.now());
    say_(cat(path, " leads to step ", of));
  }
  saves[roots.front()][by].files = files_in(path_of(roots.front(), by));
}

void PruneWorld::toggle_reader() {
  constexpr int64_t kReader = 8'000'000;
  if (system.open.erase(kReader) != 0) return;
  const int64_t of = any_step(true);
  if (of == kNoStep) return;
  const std::string& root = roots[dice.below(roots.size())];
  if (is_whole(root, of)) system.open[kReader] = path_of(root, of) + "/model.safetensors";
}

/// Another run, a person's copy.
void PruneWorld::others_save(int64_t of) {
  const std::string path = path_of(roots.front(), of);
  if (saves[roots.front()].count(of) != 0 || others.count(path) != 0) return;
  write(path + "/model.safetensors", dice.chance(0.5) ? weights() : "");
  others[path] = files_in(path);
  say_(cat("somebody else saved step ", of));
}

void PruneWorld::swap(const std::string& path) {
  disk.unlink_folder(path);
  disk.set_time(Time::from_seconds(1'000'000'000));  // moved there, with its times
  disk.put(path + "/model.safetensors", weights());
  disk.set_time(clock.now());
  for (const std::string& root : roots) {
    for (auto save = saves[root].begin(); save != saves[root].end();)
      save = path_of(root, save->first) == path ? saves[root].erase(save) : std::next(save);
  }
  if (deleting_ && path_of(folder_of(path), *deleting_) == path) deleting_.reset();
  others[path] = files_in(path);
  say_(cat("somebody else has ", path, " now"));
}

void PruneWorld::ship() {
  if (!has_store) return;
  const int64_t of = any_step(true);
  if (of == kNoStep || store.count(of) != 0 || !is_resumable(roots.front(), of)) return;
  store.insert(of);
  say_(cat("step ", of, " is shipped"));
}

void PruneWorld::act() {
  ++acts;
  switch (dice.below(14)) {
    case 0:
    case 1:
      return train();
    case 2:
    case 3:
    case 4:
      return begin_save();
    case 5:
    case 6:
    case 7:
      return finish_save();
    case 8:
      return dice.chance(0.4) ? crash() : abandon_save();
    case 9:
      return prune();
    case 10:
      return toggle_link();
    case 11:
      return toggle_reader();
    case 12:
      return ship();
    default:
      if (const int64_t of = any_step(true); of != kNoStep && dice.chance(0.3)) set_pointer(of);
  }
}

}  // namespace mw::sim
