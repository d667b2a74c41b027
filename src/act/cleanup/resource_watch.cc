#include "act/cleanup/resource_watch.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "act/cleanup/stale_resources.h"
#include "base/text.h"
#include "platform/durable.h"
#include "platform/real/posix_disk.h"

namespace mw {
namespace {

constexpr size_t kIgnored = 20000;  // inodes remembered

}  // namespace

ResourceWatch::ResourceWatch(Clock& clock, Scope scope) : clock_(clock), scope_(std::move(scope)) {
  const auto text = read_resource_ledger(*scope_.disk, scope_.run_folder);
  auto known =
      text.ok() ? parse_resource_ledger(*text) : Result<std::vector<HeldResource>>(std::vector<HeldResource>());
  if (known.ok()) known_ = std::move(*known);  // a damaged ledger proves nothing: the files it named are not deleted
}

void ResourceWatch::begin(Duration now) {
  const bool young = now.ns - began_.ns < kYoung.ns;
  const bool ray = scope_.ray && (young || !ray_ || now.ns - ray_->ns >= kRayEvery.ns);
  if (ray) ray_ = now;
  checking_.start([ray, known = known_, ignored = ignored_, folder = scope_.run_folder, shared = scope_.shared,
                   disk = scope_.disk, system = scope_.system, processes = scope_.processes, user = scope_.user] {
    auto answer = std::make_unique<Answer>();
    const Duration began = thread_cpu_time();
    const auto real = shared.empty() ? Result<std::string>(shared) : system->real(shared);
    answer->snapshot =
        find_resources({*disk, *system, *processes, user}, folder, real.ok() ? *real : shared, known, ignored, ray);
    answer->cost = {thread_cpu_time().ns - began.ns};
    return answer;
  });
}

void ResourceWatch::take(Answer answer) {
  for (const uint64_t inode : answer.snapshot.unknown) {
    if (++in_vain_[inode] >= kTries && ignored_.size() < kIgnored) ignored_.push_back(inode);
  }
  if (in_vain_.size() > kIgnored) in_vain_.clear();
  unwritten_ = unwritten_ || answer.snapshot.all != known_;
  known_ = std::move(answer.snapshot.all);
  const int64_t wait = std::max(kEvery.ns, answer.cost.ns * kSparing);
  due_ = {clock_.steady().ns + wait};
}

std::optional<Duration> ResourceWatch::turn(const State&, bool, EventWriter&) {
  if (auto answer = checking_.take()) take(std::move(**answer));
  if (unwritten_) {
    unwritten_ = !scope_.write(cat(scope_.run_folder, "/", kResourceLedgerFile), resource_ledger_text(known_)).ok();
  }
  const Duration now = clock_.steady();
  const bool holds = scope_.holds();
  if (holds && !held_) {  // a new attempt: its processes may hold files that were ignored before
    in_vain_.clear();
    ignored_.clear();
    began_ = now;
  }
  held_ = holds;
  if (holds && !checking_.started() && now.ns >= due_.ns) begin(now);
  return kEvery;
}

std::unique_ptr<ResourceWatch> watch_resources(
    Clock& clock, const std::string& run_folder, const CleanupSettings& settings, std::function<bool()> holds,
    std::function<Result<void>(const std::string& path, std::string_view text)> write) {
  const auto may = [&settings](std::string_view word) {
    return std::find(settings.what.begin(), settings.what.end(), word) != settings.what.end();
  };
  const bool shared = may(kSharedMemory), ray = may(kRaySessions);
  if (!shared && !ray) return nullptr;
  ResourceWatch::Scope scope;
  scope.disk = make_posix_disk();
  scope.system = make_posix_system();
  scope.processes = make_posix_processes();
  scope.user = static_cast<int64_t>(geteuid());
  scope.run_folder = run_folder;
  scope.shared = shared ? settings.shared : "";
  scope.ray = ray;
  scope.holds = std::move(holds);
  scope.write = std::move(write);
  return std::make_unique<ResourceWatch>(clock, std::move(scope));
}

}  // namespace mw
