#include "practice/engine.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace practice {
namespace {

enum class Order : uint64_t { kLoad = 1, kGenerate = 2 };

bool send_all(int fd, const void* data, size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t sent = ::send(fd, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

bool receive_all(int fd, void* data, size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = ::recv(fd, at, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

struct WireSample {
  int32_t length = 0;
  int32_t cut = 0;
  double entropy = 0;
  int32_t tokens[kMaxTokens] = {};
  double log_probs[kMaxTokens] = {};
};

WireSample pack(const Sample& sample) {
  WireSample wire;
  wire.length = static_cast<int32_t>(sample.tokens.size());
  wire.cut = sample.cut ? 1 : 0;
  wire.entropy = sample.entropy;
  for (size_t i = 0; i < sample.tokens.size(); ++i) {
    wire.tokens[i] = sample.tokens[i];
    wire.log_probs[i] = sample.log_probs[i];
  }
  return wire;
}

bool serve_generate(int fd, const Policy& policy, mw::Prng& dice) {
  uint64_t head[3];
  double temperature = 1;
  if (!receive_all(fd, head, sizeof head) || !receive_all(fd, &temperature, sizeof temperature)) return false;
  if (head[2] != 0) dice = mw::Prng(head[2]);
  std::vector<Question> questions(head[0]);
  if (!receive_all(fd, questions.data(), questions.size() * sizeof(Question))) return false;
  for (const Question& question : questions) {
    for (uint64_t g = 0; g < head[1]; ++g) {
      const WireSample wire = pack(policy.write(question, dice, temperature));
      if (!send_all(fd, &wire, sizeof wire)) return false;
    }
  }
  return true;
}

[[noreturn]] void serve(int fd, uint64_t seed) {
  prctl(PR_SET_NAME, "practice_engine");  // as engines do, so that people see in ps what they are
  Policy policy(seed);
  mw::Prng dice(seed ^ 0x5eedULL);
  uint64_t order = 0;
  while (receive_all(fd, &order, sizeof order)) {
    if (order == static_cast<uint64_t>(Order::kLoad)) {
      if (!receive_all(fd, policy.weights().data(), policy.weights().size() * sizeof(double))) break;
      const uint64_t done = 1;
      if (!send_all(fd, &done, sizeof done)) break;
    } else if (!serve_generate(fd, policy, dice)) {
      break;
    }
  }
  _exit(0);
}

}  // namespace

ForkedEngine::ForkedEngine(uint64_t seed) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  pid_ = fork();
  if (pid_ == 0) {
    close(ends[0]);
    serve(ends[1], seed);
  }
  close(ends[1]);
  socket_ = ends[0];
}

ForkedEngine::~ForkedEngine() {
  if (socket_ >= 0) close(socket_);
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
}

bool ForkedEngine::load(const std::vector<double>& weights, int64_t) {
  const auto order = static_cast<uint64_t>(Order::kLoad);
  uint64_t done = 0;
  return send_all(socket_, &order, sizeof order) &&
         send_all(socket_, weights.data(), weights.size() * sizeof(double)) && receive_all(socket_, &done, sizeof done);
}

std::optional<std::vector<Sample>> ForkedEngine::generate(const std::vector<Question>& questions, int group,
                                                          double temperature, uint64_t seed) {
  const uint64_t head[4] = {static_cast<uint64_t>(Order::kGenerate), questions.size(), static_cast<uint64_t>(group),
                            seed};
  if (!send_all(socket_, head, sizeof head) || !send_all(socket_, &temperature, sizeof temperature))
    return std::nullopt;
  if (!send_all(socket_, questions.data(), questions.size() * sizeof(Question))) return std::nullopt;
  std::vector<Sample> samples;
  for (const Question& question : questions) {
    for (int g = 0; g < group; ++g) {
      WireSample wire;
      if (!receive_all(socket_, &wire, sizeof wire)) return std::nullopt;
      Sample sample;
      sample.question = question;
      sample.tokens.assign(wire.tokens, wire.tokens + wire.length);
      sample.log_probs.assign(wire.log_probs, wire.log_probs + wire.length);
      sample.entropy = wire.entropy;
      sample.cut = wire.cut != 0;
      samples.push_back(std::move(sample));
    }
  }
  return samples;
}

void ForkedEngine::kill() {
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace practice
