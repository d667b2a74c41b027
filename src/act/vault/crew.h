// Threads that carry out one transfer, and how fast they may go.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "act/vault/doors.h"
#include "base/result.h"

namespace mw::vault {

/// Carries out jobs, `threads` at a time; with one, in the caller's own thread and in order. After the first error no
/// further job is begun.
class Crew {
 public:
  using Job = std::function<Result<void>()>;
  explicit Crew(int threads);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// Waits until somebody is free: at most one job lies there that nobody works at. False: there was an error.
  bool give(Job job);
  /// Waits until all is done; the first error.
  Result<void> finish();

 private:
  void work();
  void failed(const Error& error);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::thread> threads_;
  std::optional<Job> next_;
  std::optional<Error> error_;
  int busy_ = 0;
  bool over_ = false;
};

/// A limit of bytes a second, shared by threads.
class Pacer {
 public:
  Pacer(const VaultDoors& doors, int64_t rate) : doors_(doors), rate_(rate) {}
  /// Waits until so many more may go.
  void take(int64_t bytes);

 private:
  const VaultDoors& doors_;
  const int64_t rate_;
  std::mutex mutex_;
  Duration free_at_;
};

/// Counts, and reports what it counts.
class Meter {
 public:
  Meter(const VaultDoors& doors, int64_t total) : doors_(doors) { now_.total = total; }
  void add(int64_t bytes, bool moved);
  Progress now();

 private:
  const VaultDoors& doors_;
  std::mutex mutex_;
  Progress now_;
};

}  // namespace mw::vault
