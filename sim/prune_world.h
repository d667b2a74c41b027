// The world of sim_prune: folders in which a trainer saves, prunes and resumes, beside people and other programs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/prng.h"
#include "core/checkpoint_layout.h"
#include "core/event.h"
#include "platform/clock.h"
#include "platform/fake/fake_disk.h"
#include "platform/system.h"

namespace mw::sim {

inline constexpr std::string_view kPruneRun = "/data/run", kPruneWork = "/data/work";

using TreeFiles = std::map<std::string, std::string>;  // content by path

/// The machine: links and processes beside the disk; a call about a path there is one of the disk's.
class PruneSystem final : public System {
 public:
  explicit PruneSystem(FakeDisk& disk) : disk_(disk) {}
  std::map<std::string, std::string> links;  ///< what they lead to
  std::map<int64_t, std::string> open;       ///< by process, the one file that it has open

  Result<std::string> read(const std::string& path, size_t limit) override;
  Result<std::vector<std::string>> names(const std::string& folder) override;
  Result<std::string> link(const std::string& path) override;
  Result<size_t> count(const std::string& folder) override;
  Result<Entry> entry(const std::string& path) override;
  Result<Space> space(const std::string& path) override;
  Result<std::string> real(const std::string& path) override;
  Result<std::vector<std::string>> kernel_lines() override { return std::vector<std::string>(); }

 private:
  FakeDisk& disk_;
};

class PruneWorld {
 public:
  PruneWorld(uint64_t seed, std::function<void(const std::string&)> say);

  /// One thing that the trainer, a person or another program does. They go around the doors.
  void act();
  /// The trainer saves once more, undisturbed, and is done with it.
  void save_once();
  /// No attempt is running from here on, until next_attempt().
  void end_attempt();
  void next_attempt(int64_t resumed_at);
  /// Somebody else puts something of theirs where `path` was, between two calls of midwatch's.
  void swap(const std::string& path);
  /// What the run's files have said since the last call.
  std::vector<Event> said();

  /// A checkpoint of this run, in one of its roots.
  struct Save {
    TreeFiles files;     ///< when it was whole
    bool whole = false;  ///< as far as the trainer is concerned
    bool writing = false, deleting = false;
    int64_t process = 0;  ///< that writes it, on this machine
  };
  std::string path_of(const std::string& root, int64_t step) const;
  bool is_whole(const std::string& root, int64_t step) const;  ///< of this run's, byte for byte
  /// Whole, and so is what belongs to it in another root.
  bool is_resumable(const std::string& root, int64_t step) const;
  std::optional<int64_t> pointed(const std::string& root) const;
  bool is_linked(const std::string& path) const;
  bool is_open(const std::string& path) const;
  int64_t newest_whole() const;
  TreeFiles files_in(const std::string& folder) const;
  /// "" when all that is somebody else's is there as it was; else what is not.
  std::string harm_to_others() const;

  FakeDisk disk;
  FakeClock clock;
  PruneSystem system{disk};
  Prng dice;
  CheckpointLayout layout;
  std::vector<std::string> roots;
  std::map<std::string, std::map<int64_t, Save>> saves;  ///< by root
  std::map<std::string, TreeFiles> others;               ///< somebody else's, by path
  std::set<int64_t> resumed;                             ///< steps that attempts began from
  std::set<int64_t> store;                               ///< steps that are there, whole
  std::map<int64_t, double> scores;                      ///< by step
  std::set<int64_t> behind;  ///< steps that were saved before an attempt went back behind them, and not again since
  bool has_store = false, alive = false;
  int64_t step = 0;
  uint64_t acts = 0, saved = 0;

 private:
  void write(const std::string& path, const std::string& bytes);
  std::string weights();
  void say(Event::Body body);
  void put_record(const std::string& line);
  void train();
  void begin_save();
  void finish_save();
  void abandon_save();
  void set_pointer(int64_t to);
  void crash();
  void prune();
  void toggle_link();
  void toggle_shared_part();
  void toggle_reader();
  void others_save(int64_t step);
  void ship();
  int64_t any_step(bool whole);

  std::function<void(const std::string&)> say_;
  std::vector<Event> said_;
  std::map<std::string, FakeDisk> records_;  ///< by attempt folder, as its keeper writes them
  int attempt_ = 0;
  uint64_t line_ = 0;
  std::set<int64_t> named_;  ///< steps that the trainer said it saved
  std::optional<int64_t> saving_, deleting_;
  int64_t next_process_ = 9'000'000;  // no such number is given to a process
};

}  // namespace mw::sim
