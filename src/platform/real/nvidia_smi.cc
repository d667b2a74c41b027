#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>

#include "base/numbers.h"
#include "base/text.h"
#include "platform/gpus.h"

extern char** environ;  // NOLINT: POSIX wants it declared by the program

namespace mw {
namespace {

constexpr std::string_view kSmiQuery =
    "--query-gpu=index,memory.used,memory.total,utilization.gpu,power.draw,temperature.gpu,clocks.sm,"
    "ecc.errors.uncorrected.volatile.total,clocks_throttle_reasons.active,utilization.memory";
constexpr size_t kFields = 10;
constexpr size_t kAnswerBytes = size_t{64} << 10;
constexpr double kMebi = 1024.0 * 1024.0;
constexpr uint64_t kSlowdowns = 0x8 | 0x20 | 0x40 | 0x80;  // as in nvml.cc

Error cannot(std::string what) { return {Error::Code::kNotFound, std::move(what), ""}; }

class NvidiaSmi final : public Gpus {
 public:
  NvidiaSmi(const std::string& program, double limit_s) : program_(program), limit_s_(limit_s) {}

  Result<GpuSnapshot> look() override {
    auto text = ask();
    if (!text.ok()) return text.error();
    GpuSnapshot seen;
    for (const std::string_view line : split(*text, '\n')) {
      if (trim(line).empty()) continue;
      auto gpu = parse_smi_line(line);
      if (gpu.ok()) {
        seen.gpus.push_back(std::move(*gpu));
      } else if (seen.lines.size() < 16) {
        seen.lines.emplace_back(trim(line));  // "... GPU is lost. Reboot the system to recover this GPU"
      }
    }
    if (seen.gpus.empty() && seen.lines.empty()) return cannot(cat(program_, " shows no GPU"));
    return seen;
  }

 private:
  Result<std::string> ask() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return cannot("no pipe to be had");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    std::string words[] = {program_, std::string(kSmiQuery), "--format=csv,noheader,nounits"};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    pid_t child = 0;
    const int problem = posix_spawnp(&child, program_.c_str(), &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (problem != 0) {
      close(ends[0]);
      return cannot(cat(program_, " is not there"));
    }
    std::string answer;
    const bool whole = read_all(ends[0], answer);
    close(ends[0]);
    if (!whole) kill(child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!whole) return Error{Error::Code::kInterrupted, cat(program_, " took longer than ", limit_s_, " s"), ""};
    if (answer.empty()) return cannot(cat(program_, " has nothing to say"));
    return answer;
  }

  bool read_all(int from, std::string& answer) const {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(limit_s_);
    char piece[4096];
    while (answer.size() < kAnswerBytes) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
      if (left <= 0) return false;
      pollfd watched{from, POLLIN, 0};
      const int ready = poll(&watched, 1, static_cast<int>(left));
      if (ready < 0 && errno != EINTR) return false;
      if (ready <= 0) continue;
      const ssize_t got = read(from, piece, sizeof piece);
      if (got < 0 && errno != EINTR) return false;
      if (got == 0) return true;
      if (got > 0) answer.append(piece, static_cast<size_t>(got));
    }
    return true;
  }

  std::string program_;
  double limit_s_;
};

/// NVML where it answers, else nvidia-smi. Which one it is stays so once one has answered.
class Either final : public Gpus {
 public:
  Result<GpuSnapshot> look() override {
    constexpr double kSmiSeconds = 10;  // a healthy one takes a tenth of that, even on eight GPUs
    if (chosen_ != nullptr) return chosen_->look();
    for (auto make :
         {+[] { return make_nvml("libnvidia-ml.so.1"); }, +[] { return make_nvidia_smi("nvidia-smi", kSmiSeconds); }}) {
      std::unique_ptr<Gpus> candidate = make();
      auto seen = candidate->look();
      if (!seen.ok()) continue;
      chosen_ = std::move(candidate);
      return seen;
    }
    return cannot("neither libnvidia-ml.so.1 nor nvidia-smi shows a GPU");
  }

 private:
  std::unique_ptr<Gpus> chosen_;
};

}  // namespace

Result<GpuFigures> parse_smi_line(std::string_view line) {
  const auto fields = split(line, ',');
  const auto index = parse_int(trim(fields.front()));
  if (fields.size() != kFields || !index || *index < 0) return cannot("not a GPU's line");
  const auto number = [&fields](size_t i, double scale) {
    const auto value = parse_double(trim(fields[i]));  // "[N/A]", "[Not Supported]": not known
    return value ? *value * scale : GpuFigures::kUnknown;
  };
  GpuFigures gpu;
  gpu.index = cat(*index);
  gpu.memory_used = number(1, kMebi);
  gpu.memory_size = number(2, kMebi);
  gpu.busy = number(3, 0.01);
  gpu.watts = number(4, 1);
  gpu.celsius = number(5, 1);
  gpu.megahertz = number(6, 1);
  gpu.uncorrected = number(7, 1);
  gpu.memory_busy = number(9, 0.01);
  const std::string reasons(trim(fields[8]));  // "0x0000000000000004"
  if (reasons.rfind("0x", 0) == 0) gpu.slowed = (std::strtoull(reasons.c_str(), nullptr, 16) & kSlowdowns) != 0 ? 1 : 0;
  return gpu;
}

std::unique_ptr<Gpus> make_nvidia_smi(const std::string& program, double limit_s) {
  return std::make_unique<NvidiaSmi>(program, limit_s);
}

std::unique_ptr<Gpus> make_gpus() { return std::make_unique<Either>(); }

}  // namespace mw
