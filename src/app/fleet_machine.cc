#include "app/fleet_machine.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <future>
#include <system_error>
#include <thread>
#include <utility>

#include "base/text.h"
#include "platform/background_call.h"
#include "platform/durable.h"
#include "platform/process.h"
#include "platform/real/posix_disk.h"
#include "read/recorder.h"

namespace mw {

using fleet::Heartbeat;
using fleet::MachineIdentity;

namespace {

constexpr size_t kText = 300;                                   // bytes of a text in a heartbeat
constexpr Duration kBetween = Duration::seconds(2);             // of the tries of the last one
constexpr Duration kPoll = Duration::millis(100);               // while one of them is out
constexpr std::string_view kTakenAway = "machines-taken-away";  // in the user's own home: a file each, by the nonce

std::string note_of(const MachineIdentity& identity) { return cat(home_of(""), "/", kTakenAway, "/", identity.nonce); }

}  // namespace

Result<std::optional<MachineIdentity>> own_identity() {
  if (variable(kMarkerVariable)) return std::optional<MachineIdentity>();
  return fleet::machine_identity([](const std::string& name) { return variable(name); });
}

Result<std::unique_ptr<Harbour>> harbour_of(Disk& disk, const MachineIdentity& identity) {
  StoreAddress address;
  address.place = identity.store;
  address.endpoint = identity.endpoint;
  address.region = identity.region;
  return open_harbour(disk, address);
}

Heartbeat about_machine(const MachineIdentity& identity) {
  Heartbeat beat;
  beat.epoch = identity.epoch;
  beat.machine = identity.nonce;
  beat.every = identity.every;
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) beat.host = host.data();
  beat.boot = make_posix_processes()->boot();
  // As its provider calls it, where that tells its machines; the store's own books go by the nonce.
  for (const char* const name : {"SLURM_JOB_ID", "RUNPOD_POD_ID", "CONTAINER_ID"}) {
    if (beat.instance.empty()) beat.instance = clip(variable(name).value_or(""), kText);
  }
  beat.wandb = clip(variable("WANDB_RUN_ID").value_or(""), kText);
  return beat;
}

Result<fleet::Standing> send_beat(Disk& disk, const MachineIdentity& identity, Heartbeat beat) {
  const auto harbour = harbour_of(disk, identity);
  if (!harbour.ok()) return harbour.error();
  beat.at = (*harbour)->clock->now();
  fleet::FleetStore books(*(*harbour)->store, (*harbour)->prefix);
  return fleet::beat(books, *(*harbour)->store, (*harbour)->prefix, std::move(beat));
}

void send_last(Clock& clock, const std::shared_ptr<Disk>& disk, const MachineIdentity& identity, const Heartbeat& beat,
               Duration until, const std::function<bool()>& older_out) {
  std::optional<Duration> next;
  bool older = older_out(), beside = false, said = false;
  BackgroundCall<Result<fleet::Standing>> last;  // left to itself when the time is over
  for (;;) {
    const Duration now = clock.steady();
    older = older && older_out();
    if (const auto done = last.take()) said = done->ok();
    if ((said && !beside) || now >= until) return;
    const bool due = said ? !older : !next || now >= *next;
    if (!last.busy() && due) {
      next = Duration{now.ns + kBetween.ns};
      said = false;
      beside = older;
      last.start([disk, identity, beat] { return send_beat(*disk, identity, beat); });
    }
    sleep_for(std::min(kPoll, Duration{until.ns - now.ns}));
  }
}

std::function<void(int signal)> note_of_taken_away() {
  const auto identity = own_identity();
  if (!identity.ok() || !*identity) return nullptr;
  return [identity = **identity](int signal) {
    if (signal != SIGTERM) return;
    try {
      std::packaged_task<void()> note(
          [identity] { note_taken_away(*make_posix_disk(), identity, std::string(kGotSigterm)); });
      const auto done = note.get_future();
      std::thread(std::move(note)).detach();
      // The file is there within a moment, unless its disk hangs, and this process may end within the same one.
      (void)done.wait_for(std::chrono::milliseconds(200));
    } catch (const std::system_error&) {  // no thread to be had: the last heartbeat says it
    }
  };
}

void note_taken_away(Disk& disk, const MachineIdentity& identity, const std::string& why) {
  if (!disk.make_folders(cat(home_of(""), "/", kTakenAway)).ok()) return;
  // That the file is there says it, before a slow disk has its bytes.
  const auto file = disk.open_append(note_of(identity));
  if (file.ok()) (void)(*file)->append(why + "\n").ok();
}

void forget_taken_away(Disk& disk, const MachineIdentity& identity) { (void)disk.remove(note_of(identity)).ok(); }

std::optional<std::string> noted_taken_away(Disk& disk, const MachineIdentity& identity) {
  const auto text = read_small(disk, note_of(identity));
  if (!text.ok()) return std::nullopt;
  const std::string_view first = split(*text, '\n').front();
  return first.empty() ? std::string(kGotSigterm) : clip(first, kText);
}

}  // namespace mw
