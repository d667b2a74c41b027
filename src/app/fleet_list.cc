#include "app/fleet_list.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "act/vault/catalogue.h"
#include "app/fleet_desk.h"
#include "app/harbour.h"
#include "app/store_runs.h"
#include "base/text.h"

namespace mw {
namespace {

using What = FleetRequest::What;

/// The specification files that are meant: a file itself, of a folder those that end in ".toml".
Result<std::vector<std::string>> files_of(Disk& disk, const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    const auto info = disk.info(path);
    if (!info.ok()) return info.error();
    if (info->kind != FileInfo::Kind::kFolder) {
      out.push_back(path);
      continue;
    }
    auto names = disk.list(path);
    if (!names.ok()) return names.error();
    std::sort(names->begin(), names->end());
    for (const std::string& name : *names) {
      if (name.ends_with(".toml")) out.push_back(cat(path, "/", name));
    }
  }
  return out;
}

FleetAnswer unread(std::string run, std::string store, const Error& error) {
  FleetAnswer answer;
  answer.run = std::move(run);
  answer.store = std::move(store);
  answer.trouble = error.what;
  return answer;
}

FleetAnswer by_file(Disk& disk, const std::string& file) {
  const auto desk = FleetDesk::open(disk, file);
  if (!desk.ok()) return unread(file, "", desk.error());
  const auto known = (*desk)->know();
  if (!known.ok()) return unread(file, "", known.error());
  auto answer = (*desk)->check(What::kStatus);
  return answer.ok() ? std::move(*answer) : unread(file, "", answer.error());
}

/// A run that only ships its checkpoints: what it is doing nobody tells.
FleetAnswer shipping_run(Disk& disk, const StoreAddress& address, const std::string& name) {
  FleetAnswer answer;
  answer.run = name;
  answer.store = address.place;
  answer.managed = false;
  const auto harbour = open_harbour(disk, address);
  if (!harbour.ok()) return unread(name, address.place, harbour.error());
  const vault::VaultDoors doors = (*harbour)->doors(disk, address);
  const auto found = vault::read_catalogue(doors, {(*harbour)->prefix}, false);
  if (!found.ok()) return unread(name, address.place, found.error());
  if (const auto* newest = vault::newest_usable(*found)) {
    answer.newest = newest->manifest.step;
    answer.pushed = newest->manifest.pushed;
  }
  answer.seen.now = (*harbour)->clock->now();
  return answer;
}

FleetAnswer by_store(Disk& disk, const StoreAddress& address, const std::string& name) {
  const auto desk = FleetDesk::open_stored(disk, address);
  if (!desk.ok() && desk.error().code == Error::Code::kNotFound) return shipping_run(disk, address, name);
  if (!desk.ok()) return unread(name, address.place, desk.error());
  auto answer = (*desk)->check(What::kStatus);
  return answer.ok() ? std::move(*answer) : unread(name, address.place, answer.error());
}

/// The address of what lies under a prefix of the same store.
StoreAddress address_below(const StoreAddress& address, const Harbour& harbour, const std::string& prefix) {
  StoreAddress out = address;
  while (out.place.ends_with('/')) out.place.pop_back();
  if (prefix.size() > harbour.prefix.size()) {
    const size_t from = harbour.prefix.empty() ? 0 : harbour.prefix.size() + 1;
    out.place += cat("/", prefix.substr(from));
  }
  return out;
}

Result<void> add_stored(Disk& disk, const StoreAddress& address, std::vector<FleetAnswer>& runs) {
  StoreAddress place = address;
  place.root = true;
  const auto harbour = open_harbour(disk, place);
  if (!harbour.ok()) return harbour.error();
  const auto prefixes = prefixes_below(**harbour);
  if (!prefixes.ok()) return prefixes.error();
  for (const std::string& prefix : *prefixes) {
    const StoreAddress one = address_below(address, **harbour, prefix);
    const bool there = std::any_of(runs.begin(), runs.end(), [&](const FleetAnswer& run) {
      return run.store == one.place || cat("file://", run.store) == one.place;
    });
    const size_t slash = one.place.rfind('/');
    if (!there) runs.push_back(by_store(disk, one, one.place.substr(slash == std::string::npos ? 0 : slash + 1)));
  }
  return {};
}

}  // namespace

Result<FleetAnswer> list_fleet(Disk& disk, const FleetRequest& request) {
  FleetAnswer answer;
  const auto files = files_of(disk, request.files);
  if (!files.ok()) return files.error();
  for (const std::string& file : *files) answer.runs.push_back(by_file(disk, file));
  if (!request.store.place.empty()) MW_TRY(add_stored(disk, request.store, answer.runs));
  if (answer.runs.empty()) {
    return Error{Error::Code::kNotFound, "there is no run",
                 "Name specifications, folders with *.toml of them, or --store PLACE with runs below it."};
  }
  for (const FleetAnswer& run : answer.runs) answer.person = answer.person || run.person;
  return answer;
}

}  // namespace mw
