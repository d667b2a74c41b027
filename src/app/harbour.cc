#include "app/harbour.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>
#include <thread>

#include "base/numbers.h"
#include "base/text.h"
#include "platform/paths.h"
#include "platform/real/posix_disk.h"
#include "platform/s3/settings.h"
#include "platform/s3/store.h"

namespace mw {
namespace {

constexpr std::string_view kS3 = "s3://", kFile = "file://";

Error no_place(const std::string& place) {
  return {Error::Code::kInvalid, cat("no place for a run's checkpoints: ", redact_secrets(clip(place, 200))),
          "It is s3://BUCKET/RUN, or a folder: /mnt/share/RUN."};
}

/// "gs://bucket/run", and what was meant to be an address: "s3:/bucket/run". No folder of that name is made.
bool is_like_address(std::string_view place) {
  const size_t colon = place.find(":/");
  return colon != std::string_view::npos && place.find('/') > colon;
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
  // A pacer begins one part after the other; that none of them comes in a burst is the limit on what is sent.
  settings->rate = address.rate;
  return s3::make_store(*settings, bucket, *harbour.http, *harbour.clock, sleep_for);
}

}  // namespace

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

vault::VaultDoors Harbour::doors(Disk& disk, const StoreAddress& address) const {
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

Result<std::unique_ptr<Harbour>> open_harbour(Disk& disk, const StoreAddress& address, std::function<bool()> stopped) {
  // OpenSSL writes to connections that the other side has closed.
  (void)std::signal(SIGPIPE, SIG_IGN);
  auto harbour = std::make_unique<Harbour>();
  const std::string& place = address.place;
  if (place.starts_with(kS3)) {
    const std::string rest = without_slashes(place.substr(kS3.size()));
    const size_t slash = rest.find('/');
    const std::string bucket = rest.substr(0, slash);
    harbour->prefix = slash == std::string::npos ? "" : without_slashes(rest.substr(slash));
    const bool whole = address.root && harbour->prefix.empty();
    if (!is_plain_path(bucket) || bucket.size() < 2 || !(whole || is_plain_path(harbour->prefix))) {
      return no_place(place);
    }
    auto store = s3_store(disk, address, bucket, *harbour);
    if (!store.ok()) return store.error();
    harbour->store = std::move(*store);
    return harbour;
  }
  if (!place.starts_with(kFile) && is_like_address(place)) return no_place(place);
  const std::string path = absolute_path(place.starts_with(kFile) ? place.substr(kFile.size()) : place);
  const std::string folder = folder_of(path.ends_with('/') ? path.substr(0, path.size() - 1) : path);
  harbour->prefix = basename(path.ends_with('/') ? path.substr(0, path.size() - 1) : path);
  if (!is_plain_path(harbour->prefix)) return no_place(place);
  harbour->store = make_folder_store(folder, address.rate, std::move(stopped));
  return harbour;
}

Result<void> must_take_files(Disk& disk, const std::string& place) {
  if (contains(place, "://") && !place.starts_with(kFile)) return {};
  std::string path = absolute_path(place.starts_with(kFile) ? place.substr(kFile.size()) : place);
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const auto own = disk.info(path), above = disk.info(folder_of(path));
  if (!own.ok() || !above.ok() || own->device == above->device) return {};
  return Error{Error::Code::kInvalid,
               cat("nothing can be shipped to ", path,
                   ": it is a mounted file system of its own, and files are put together beside it"),
               cat("Name a folder within it, such as ", path, "/RUN.")};
}

vault::Pace pace_of(const StoreAddress& address) { return {std::clamp(address.parallel, 1, 64), address.rate}; }

}  // namespace mw
