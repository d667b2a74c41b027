// A disk in memory that fails on demand and forgets, at a crash, what was not synced. For tests and simulation.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/prng.h"
#include "platform/disk.h"
#include "platform/remove_tree.h"

namespace mw {

class FakeDisk final : public Disk {
 public:
  /// Chances of failure per call, 0..1.
  struct Faults {
    double append = 0;  ///< EIO; a random part of the bytes is written
    double sync = 0;    ///< EIO; the pages count as clean afterwards, as on Linux: a later sync does not save them
    double other = 0;   ///< EIO of open, rename, remove, truncate, list; nothing happened
    uint64_t capacity = UINT64_MAX;  ///< bytes of all files together; beyond it appends are short and fail (ENOSPC)
    double look = 0;                 ///< EIO of info, and of open for reading: what is there stays unknown
    std::string look_under = "";     ///< only of what is below this path
  };

  explicit FakeDisk(uint64_t seed = 0);
  ~FakeDisk() override;

  void set_faults(const Faults& faults) { faults_ = faults; }
  /// The call of that number (calls()) fails with EIO and does nothing; `sticky`: so do all after it. heal() ends it.
  void fail_at(uint64_t call, bool sticky) {
    fails_at_ = call;
    sticky_ = sticky;
  }
  void heal() { fails_at_ = UINT64_MAX; }
  uint64_t calls() const { return calls_; }
  /// Counts a call of a door that stands before the same disk, as those of this one; true: it fails.
  bool call();
  /// Called before each call takes effect: what other processes do meanwhile. They go around the door.
  std::function<void()> before_call;
  /// Called before a name changes: "rename" with `to`, or "remove". Not when it fails.
  std::function<void(std::string_view what, const std::string& path, const std::string& to)> before_change;
  /// Folders have times, as on a real disk; else they are not known.
  void date_folders() { dates_folders_ = true; }

  /// After `changes` more successful changes of the disk the machine is dead: every further call fails and changes
  /// nothing; the append that reaches the limit is cut somewhere. UINT64_MAX: never.
  void die_after(uint64_t changes) { changes_left_ = changes; }
  bool dead() const { return changes_left_ == 0; }
  uint64_t changes() const { return changes_; }

  /// The process was killed; the machine goes on: everything written stays.
  void process_died();
  /// Likewise, by itself.
  void process_ended();
  /// The machine lost power: of each file what was synced stays, and a random part of the rest, its end possibly zeros.
  void power_lost();

  // For tests: around the door, without faults.
  bool exists(const std::string& path) const { return names_.count(path) != 0; }
  std::string content(const std::string& path) const;
  void put(const std::string& path, std::string content);
  /// What other processes do, on a medium that loses nothing: created when missing.
  void write(const std::string& path, std::string_view bytes);
  void move(const std::string& from, const std::string& to);
  void unlink(const std::string& path);
  void unlink_folder(const std::string& path);  ///< with all that is in it
  bool has_folder(const std::string& path) const { return folder_exists(path); }
  /// From here on what is written is dated so.
  void set_time(Time now) { time_ = now; }
  std::vector<std::string> paths() const;
  uint64_t used() const;

  Result<std::unique_ptr<ReadFile>> open_read(const std::string& path) override;
  Result<std::unique_ptr<AppendFile>> open_append(const std::string& path) override;
  Result<FileInfo> info(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& folder) override;
  Result<void> make_folders(const std::string& path) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& path) override;
  /// As remove_tree() of platform/remove_tree.h: entry by entry, each of which is a change.
  Result<Removed> remove_tree(const std::string& root, const std::string& below, const Identity* only);
  /// As rmdir(2).
  Result<void> remove_empty(const std::string& path);

 private:
  friend class FakeReadFile;
  friend class FakeAppendFile;
  /// A file, whatever it is called; lives as long as the disk, so that open files outlive their names.
  struct File {
    uint64_t number = 0;
    std::string now;      ///< what processes see
    std::string durable;  ///< what a power loss leaves
    Time changed;
    uint64_t clean = 0;  ///< bytes that a sync believes to be on the medium already
  };

  struct Folder {
    uint64_t number = 0;
    Time changed;  ///< of the names in it
  };

  File* find(const std::string& path) const;
  void add_folder(const std::string& path);
  void touch_folder(const std::string& path);
  Result<void> remove_below(const std::string& path, Removed& removed);
  File* create(const std::string& path);
  bool folder_exists(const std::string& path) const;
  Result<void> rename_folder(const std::string& from, const std::string& to);
  /// Counts a change; false when the machine is dead.
  bool change();
  bool looks_away(const std::string& path) { return path.starts_with(faults_.look_under) && fails(faults_.look); }
  bool fails(double chance) { return chance > 0 && prng_.chance(chance); }

  Prng prng_;
  Faults faults_;
  Time time_;
  uint64_t changes_ = 0, changes_left_ = UINT64_MAX;
  std::vector<std::unique_ptr<File>> files_;
  std::map<std::string, File*> names_;
  std::map<std::string, Folder> folders_;
  uint64_t folders_made_ = 0;
  uint64_t calls_ = 0, fails_at_ = UINT64_MAX;
  bool sticky_ = false, dates_folders_ = false;
};

}  // namespace mw
