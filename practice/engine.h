// The inference server of the practice run: a process of its own that writes samples with the weights it was last sent.
// It can be killed like any engine; the trainer then sees what a trainer sees.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "practice/policy.h"

namespace practice {

class Engine {
 public:
  /// Forks the server; it listens on one end of a stream socket.
  explicit Engine(uint64_t seed);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Sends weights; false when the server is gone.
  bool load(const std::vector<double>& weights, int64_t version);
  /// `group` samples for each question; nullopt when the server is gone. With a `seed` other than 0 the server draws
  /// from that, so that a resumed run gets the samples that the uninterrupted one got.
  std::optional<std::vector<Sample>> generate(const std::vector<Question>& questions, int group, double temperature,
                                              uint64_t seed);
  pid_t pid() const { return pid_; }
  void kill();

 private:
  int socket_ = -1;
  pid_t pid_ = -1;
};

}  // namespace practice
