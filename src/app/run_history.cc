#include "app/run_history.h"

#include <stdlib.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "act/vault/catalogue.h"
#include "act/vault/ship_logs.h"
#include "app/fleet_desk.h"
#include "app/harbour.h"
#include "base/text.h"
#include "platform/paths.h"
#include "platform/real/posix_disk.h"
#include "platform/remove_tree.h"
#include "read/recorder.h"

namespace mw {
namespace {

constexpr size_t kActionsShown = 1000;

/// A folder of its own that nobody else can read, with all that is in it gone at the end: logs may hold anything.
class PrivateFolder {
 public:
  static Result<std::unique_ptr<PrivateFolder>> make() {
    std::string path = absolute_path(cat(variable("TMPDIR").value_or("/tmp"), "/midwatch-history-XXXXXX"));
    if (::mkdtemp(path.data()) == nullptr) {
      return Error{Error::Code::kIo, cat("no folder can be made in ", folder_of(path)), "Set TMPDIR to one."};
    }
    return std::unique_ptr<PrivateFolder>(new PrivateFolder(std::move(path)));
  }
  ~PrivateFolder() { (void)remove_tree(folder_of(path_), std::string(basename(path_))).ok(); }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  explicit PrivateFolder(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

void count_input(Replayed& replayed) {
  for (const SourceState& source : replayed.state.sources) {
    if (source.kind == kHostKind) continue;
    ++replayed.input.files;
    replayed.input.bytes += source.bytes;
    replayed.input.lines += source.lines;
  }
}

RunHistory::Record read_record(Disk& disk, const std::string& name, const std::string& folder) {
  RunHistory::Record out;
  out.name = name;
  auto state = read_recorded(disk, folder);
  if (!state.ok()) {
    out.trouble = state.error().what;
    return out;
  }
  out.replayed = std::make_unique<Replayed>();
  out.replayed->state = std::move(*state);
  count_input(*out.replayed);
  return out;
}

/// Each record's machine said its name; the order is that of the machines, then of time.
void put_in_order(RunHistory& history) {
  for (RunHistory::Record& record : history.records) {
    for (size_t i = 0; i < history.fleet.legs.size(); ++i) {
      const fleet::Leg& leg = history.fleet.legs[i];
      if (leg.last && leg.last->beat.run == record.name) record.leg = i;
    }
  }
  const auto began = [](const RunHistory::Record& one) {
    return one.replayed == nullptr ? Time{} : one.replayed->state.first_at;
  };
  std::stable_sort(history.records.begin(), history.records.end(), [&](const auto& a, const auto& b) {
    if (a.leg != b.leg && a.leg != SIZE_MAX && b.leg != SIZE_MAX) return a.leg < b.leg;
    return began(a) < began(b);
  });
}

void add_actions(fleet::FleetStore& books, RunHistory& history) {
  auto found = books.journal(kActionsShown);
  if (!found.ok()) {
    history.notes.push_back(cat("what controllers did cannot be read: ", found.error().what));
    return;
  }
  for (fleet::JournalEntry& one : *found) {
    history.actions.push_back(
        {one.at, one.epoch, std::move(one.what), std::move(one.why), std::move(one.provider), std::move(one.instance)});
  }
}

Result<void> add_records(Disk& disk, const vault::VaultDoors& doors, const std::string& prefix, RunHistory& history) {
  const auto folder = PrivateFolder::make();
  if (!folder.ok()) return folder.error();
  const auto received = vault::receive_logs(doors, prefix, (*folder)->path(), "journal/");
  if (!received.ok() && received.error().code == Error::Code::kNotFound) return {};
  if (!received.ok()) return received.error();
  for (const vault::ReceivedLogs& one : *received) {
    history.records.push_back(read_record(disk, one.name, cat((*folder)->path(), "/", one.name)));
  }
  return {};
}

/// What the newest checkpoint that can be used says of its run.
Result<void> add_newest(const vault::VaultDoors& doors, const std::string& prefix, RunHistory& history) {
  const auto found = vault::read_catalogue(doors, {prefix}, false);
  if (!found.ok()) return found.error();
  const auto* newest = vault::newest_usable(*found);
  if (newest == nullptr) return {};
  history.fleet.newest = newest->manifest.step;
  history.fleet.pushed = newest->manifest.pushed;
  for (const auto& [name, value] : newest->manifest.run) {
    if (name == "wandb_run_id") history.wandb = value;
  }
  return {};
}

}  // namespace

Result<RunHistory> history_of(Disk& disk, const StoreAddress& store) {
  RunHistory history;
  const auto desk = FleetDesk::open_stored(disk, store);
  if (!desk.ok() && desk.error().code != Error::Code::kNotFound) return desk.error();
  if (desk.ok()) {
    auto answer = (*desk)->check(FleetRequest::What::kStatus);
    if (!answer.ok()) return answer.error();
    history.fleet = std::move(*answer);
    add_actions((*desk)->books(), history);
  }
  history.fleet.managed = desk.ok();
  const auto harbour = open_harbour(disk, store);
  if (!harbour.ok()) return harbour.error();
  const vault::VaultDoors doors = (*harbour)->doors(disk, store);
  if (!desk.ok()) {
    history.fleet.store = store.place;
    history.fleet.run = basename((*harbour)->prefix);
  }
  MW_TRY(add_newest(doors, (*harbour)->prefix, history));
  MW_TRY(add_records(disk, doors, (*harbour)->prefix, history));
  if (!desk.ok() && history.records.empty()) {
    return Error{Error::Code::kNotFound, cat("no run shipped its journal to ", store.place),
                 "midwatch run --store PLACE does; --from names the same PLACE."};
  }
  put_in_order(history);
  return history;
}

}  // namespace mw
