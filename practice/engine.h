// The inference server of the practice run: a process of its own that writes samples with the weights it was last sent.
// It can be killed like any engine; the trainer then sees what a trainer sees.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "practice/policy.h"

namespace practice {

class Engine {
 public:
  virtual ~Engine() = default;
  /// Sends weights; false when the server is gone.
  virtual bool load(const std::vector<double>& weights, int64_t version) = 0;
  /// `group` samples for each question; nullopt when the server is gone. With a `seed` other than 0 the server draws
  /// from that, so that a resumed run gets the samples that the uninterrupted one got.
  virtual std::optional<std::vector<Sample>> generate(const std::vector<Question>& questions, int group,
                                                      double temperature, uint64_t seed) = 0;
  virtual void kill() = 0;
  /// Why the last request failed, as a Python client says it; "" where that is not known.
  virtual std::string problem() const { return ""; }
};

/// A child of the trainer, over a stream socket.
class ForkedEngine final : public Engine {
 public:
  explicit ForkedEngine(uint64_t seed);
  ~ForkedEngine() override;
  ForkedEngine(const ForkedEngine&) = delete;
  ForkedEngine& operator=(const ForkedEngine&) = delete;
  bool load(const std::vector<double>& weights, int64_t version) override;
  std::optional<std::vector<Sample>> generate(const std::vector<Question>& questions, int group, double temperature,
                                              uint64_t seed) override;
  void kill() override;
  pid_t pid() const { return pid_; }

 private:
  int socket_ = -1;
  pid_t pid_ = -1;
};

/// practice_engine, over HTTP.
class RemoteEngine final : public Engine {
 public:
  /// `timeout_s` of a request; 0: none, as clients have it that wait for ever.
  RemoteEngine(int port, double timeout_s) : port_(port), timeout_s_(timeout_s) {}
  bool healthy();
  bool load(const std::vector<double>& weights, int64_t version) override;
  std::optional<std::vector<Sample>> generate(const std::vector<Question>& questions, int group, double temperature,
                                              uint64_t seed) override;
  void kill() override {}  // it is nobody's child here
  std::string problem() const override { return problem_; }

 private:
  std::optional<std::string> ask(const std::string& path, std::string body);
  int port_;
  double timeout_s_;
  std::string problem_;
};

}  // namespace practice
