#include "app/ship.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "act/vault/catalogue.h"
#include "act/vault/pull.h"
#include "act/vault/push.h"
#include "base/numbers.h"
#include "base/text.h"
#include "platform/http.h"
#include "platform/paths.h"
#include "platform/real/posix_disk.h"
#include "platform/s3/settings.h"
#include "platform/s3/store.h"
#include "platform/system.h"
#include "sense/checkpoints/scan.h"

namespace mw {
namespace {

constexpr std::string_view kS3 = "s3://", kFile = "file://";

std::optional<std::string> variable(std::string_view name) {
  const char* const value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

void sleep_for(Duration time) { std::this_thread::sleep_for(std::chrono::nanoseconds(std::max<int64_t>(0, time.ns))); }

/// 16 hexadecimal digits that nobody else has.
std::string random_word() {
  std::random_device device;
  return hex_of(uint64_t{device()} << 32 | device());
}

/// The doors to one store, and the run's prefix there.
struct Harbour {
  std::unique_ptr<Http> http = make_http(true);
  std::unique_ptr<Clock> clock = make_posix_clock();
  std::unique_ptr<System> system = make_posix_system();
  std::unique_ptr<ObjectStore> store;
  std::string prefix;

  vault::VaultDoors doors(Disk& disk, const StoreAddress& address) const {
    return {disk,
            *store,
            *clock,
            sleep_for,
            [this](const std::string& folder) -> Result<int64_t> {
              const auto space = system->space(folder);
              if (!space.ok()) return space.error();
              return space->free;
            },
            [progress = address.progress](const vault::Progress& now) {
              if (progress) progress(now.bytes, now.total);
            }};
  }
};

Error no_place(const std::string& place) {
  return {Error::Code::kInvalid, cat("no place for a run's checkpoints: ", redact_secrets(clip(place, 200))),
          "It is s3://BUCKET/RUN, or a folder: /mnt/share/RUN."};
}

std::string without_slashes(std::string_view text) {
  while (text.starts_with('/')) text.remove_prefix(1);
  while (text.ends_with('/')) text.remove_suffix(1);
  return std::string(text);
}

Result<std::unique_ptr<ObjectStore>> s3_store(Disk& disk, const StoreAddress& address, const std::string& bucket,
                                              const Harbour& harbour) {
  const s3::Addressing addressing = address.addressing == "path"   ? s3::Addressing::kPath
                                    : address.addressing == "host" ? s3::Addressing::kHost
                                                                   : s3::Addressing::kAuto;
  auto settings =
      s3::find_settings({address.endpoint, address.region, address.profile, addressing}, bucket, variable, disk);
  if (!settings.ok()) return settings.error();
  // A pacer begins one part after the other; that none of them comes in a burst is each request's own limit.
  settings->rate = address.rate;
  return s3::make_store(*settings, bucket, *harbour.http, *harbour.clock, sleep_for);
}

Result<std::unique_ptr<Harbour>> open(Disk& disk, const StoreAddress& address) {
  // OpenSSL writes to connections that the other side has closed.
  (void)std::signal(SIGPIPE, SIG_IGN);
  auto harbour = std::make_unique<Harbour>();
  const std::string& place = address.place;
  if (place.starts_with(kS3)) {
    const std::string rest = without_slashes(place.substr(kS3.size()));
    const size_t slash = rest.find('/');
    const std::string bucket = rest.substr(0, slash);
    harbour->prefix = slash == std::string::npos ? "" : without_slashes(rest.substr(slash));
    if (!is_plain_path(bucket) || !is_plain_path(harbour->prefix) || bucket.size() < 2) return no_place(place);
    auto store = s3_store(disk, address, bucket, *harbour);
    if (!store.ok()) return store.error();
    harbour->store = std::move(*store);
    return harbour;
  }
  if (contains(place, "://") && !place.starts_with(kFile)) return no_place(place);
  const std::string path = absolute_path(place.starts_with(kFile) ? place.substr(kFile.size()) : place);
  const std::string folder = folder_of(path.ends_with('/') ? path.substr(0, path.size() - 1) : path);
  harbour->prefix = basename(path.ends_with('/') ? path.substr(0, path.size() - 1) : path);
  if (!is_plain_path(harbour->prefix)) return no_place(place);
  harbour->store = make_folder_store(folder);
  return harbour;
}

/// The step that a folder's name says: as a framework would write it, else the number at its end.
struct Named {
  int64_t step = kNoStep;
  std::string layout, framework;
};
Named name_of(const KnowledgeBase& knowledge, std::string_view folder) {
  const std::string_view name = basename(folder);
  Named out;
  std::set<std::string> frameworks;
  for (const Dialect& dialect : knowledge.book().dialects()) {
    const auto step = dialect.checkpoints.known() ? step_in(dialect.checkpoints.folder, name) : std::nullopt;
    if (!step) continue;
    out.step = *step;
    out.layout = dialect.checkpoints.folder;
    frameworks.insert(dialect.framework);
  }
  // Several write the same names: then it is not known which one it was.
  if (frameworks.size() == 1) out.framework = *frameworks.begin();
  if (out.step != kNoStep) return out;
  size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  const auto number = name.size() - digits <= 12 ? parse_int(name.substr(digits)) : std::nullopt;
  if (number && digits > 0) out.step = *number;
  return out;
}

/// Which folder is meant, and which step it is.
Result<std::pair<std::string, Named>> chosen(Disk& disk, const KnowledgeBase& knowledge, const PushRequest& request) {
  std::string path = absolute_path(request.path);
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const auto names = disk.list(path);
  if (!names.ok()) return names.error();
  Named own = name_of(knowledge, path);
  std::vector<std::pair<int64_t, std::string>> below;
  for (const std::string& name : *names) {
    const Named named = name_of(knowledge, name);
    const auto info = named.step == kNoStep ? Result<FileInfo>(FileInfo{}) : disk.info(cat(path, "/", name));
    const bool folder = info.ok() && info->kind == FileInfo::Kind::kFolder;
    const bool wanted = request.step == kNoStep ? !named.layout.empty() : named.step == request.step;
    if (folder && wanted) below.emplace_back(named.step, name);
  }
  if (own.step == kNoStep && !below.empty()) {
    std::sort(below.rbegin(), below.rend());
    for (const auto& [step, name] : below) {
      const std::string folder = cat(path, "/", name);
      const auto how = scan_checkpoint(disk, folder, step, nullptr).seen.how;
      if (how != event::CheckpointSeen::How::kBroken || below.size() == 1)
        return std::pair(folder, name_of(knowledge, name));
    }
    return Error{Error::Code::kInvalid, cat("every checkpoint in ", path, " is broken"), ""};
  }
  if (request.step != kNoStep) own.step = request.step;
  if (own.step == kNoStep) {
    return Error{Error::Code::kInvalid, cat("which step ", path, " is cannot be seen from its name"), "Say --step N."};
  }
  return std::pair(path, own);
}

/// What is known of the run that saves here, from the environment that it would run in.
std::vector<std::pair<std::string, std::string>> run_facts() {
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&](std::string_view name, std::string_view from) {
    const auto value = variable(from);
    if (value && !value->empty()) facts.emplace_back(name, redact_secrets(clip(*value, 200)));
  };
  add("wandb_run_id", "WANDB_RUN_ID");
  add("attempt", "MIDWATCH_ATTEMPT");
  add("midwatch_run", "MIDWATCH_RUN");
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) facts.emplace_back("machine", host.data());
  return facts;
}

vault::Pace pace_of(const StoreAddress& address) { return {std::clamp(address.parallel, 1, 64), address.rate}; }

}  // namespace

Result<PushAnswer> ship_checkpoint(Disk& disk, const KnowledgeBase& knowledge, const PushRequest& request) {
  const auto what = chosen(disk, knowledge, request);
  if (!what.ok()) return what.error();
  const auto harbour = open(disk, request.store);
  if (!harbour.ok()) return harbour.error();
  const Duration began = (*harbour)->clock->steady();
  vault::PushOptions options;
  options.prefix = (*harbour)->prefix;
  options.folder = what->first;
  options.step = what->second.step;
  options.layout = what->second.layout;
  options.framework = what->second.framework;
  options.run = run_facts();
  options.owner = random_word();
  options.older = request.older;
  options.pace = pace_of(request.store);
  const vault::VaultDoors doors = (*harbour)->doors(disk, request.store);
  const auto pushed = vault::push(doors, options);
  if (!pushed.ok()) return pushed.error();
  PushAnswer answer;
  answer.path = options.folder;
  answer.checkpoint = pushed->manifest.id;
  answer.step = pushed->manifest.step;
  answer.files = static_cast<int64_t>(pushed->manifest.files.size());
  answer.bytes = pushed->manifest.bytes();
  answer.sent = pushed->moved.moved;
  answer.there = pushed->there;
  answer.scanned = pushed->manifest.scanned;
  answer.verified = pushed->manifest.verified;
  answer.swaps = pushed->promise == vault::Promise::kSwap;
  answer.latest = pushed->latest == vault::Moved::kMoved  ? PushAnswer::Latest::kMoved
                  : pushed->latest == vault::Moved::kKept ? PushAnswer::Latest::kKept
                                                          : PushAnswer::Latest::kFenced;
  answer.latest_before = pushed->before.step;
  answer.epoch = pushed->before.epoch;
  answer.seconds = static_cast<double>((*harbour)->clock->steady().ns - began.ns) / 1e9;
  return answer;
}

Result<PullAnswer> fetch_checkpoint(Disk& disk, const PullRequest& request) {
  const auto harbour = open(disk, request.store);
  if (!harbour.ok()) return harbour.error();
  const Duration began = (*harbour)->clock->steady();
  vault::PullOptions options;
  options.prefix = (*harbour)->prefix;
  options.folder = absolute_path(request.folder);
  while (options.folder.size() > 1 && options.folder.ends_with('/')) options.folder.pop_back();
  options.step = request.step;
  options.pace = pace_of(request.store);
  MW_TRY(disk.make_folders(folder_of(options.folder)));
  const vault::VaultDoors doors = (*harbour)->doors(disk, request.store);
  const auto pulled = vault::pull(doors, options);
  if (!pulled.ok()) return pulled.error();
  const vault::CheckpointManifest& manifest = pulled->manifest;
  PullAnswer answer;
  answer.folder = options.folder;
  answer.checkpoint = manifest.id;
  answer.name = manifest.name;
  answer.step = manifest.step;
  answer.files = static_cast<int64_t>(manifest.files.size());
  answer.bytes = manifest.bytes();
  answer.received = pulled->moved.moved;
  answer.latest = pulled->latest;
  answer.pushed = manifest.pushed;
  answer.framework = manifest.framework;
  answer.layout = manifest.layout;
  answer.run = manifest.run;
  answer.notes = pulled->notes;
  answer.seconds = static_cast<double>((*harbour)->clock->steady().ns - began.ns) / 1e9;
  return answer;
}

Result<RemoteAnswer> shipped_checkpoints(Disk& disk, const RemoteRequest& request) {
  const auto harbour = open(disk, request.store);
  if (!harbour.ok()) return harbour.error();
  const vault::VaultDoors doors = (*harbour)->doors(disk, request.store);
  auto found = vault::read_catalogue(doors, {(*harbour)->prefix}, request.check);
  if (!found.ok()) return found.error();
  RemoteAnswer answer;
  answer.notes = std::move(found->notes);
  answer.epoch = found->pointer.epoch;
  for (const vault::RemoteCheckpoint& one : found->checkpoints) {
    const vault::CheckpointManifest& of = one.manifest;
    answer.checkpoints.push_back({of.id, of.name, of.framework, of.scanned, of.verified, of.parent, of.step,
                                  static_cast<int64_t>(of.files.size()), of.bytes(), of.epoch, of.pushed, one.latest,
                                  one.trouble, of.run});
  }
  return answer;
}

}  // namespace mw
