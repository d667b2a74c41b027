#include "app/registry.h"

#include <algorithm>
#include <map>

#include "act/supervise/run_files.h"
#include "base/checksum.h"
#include "base/json.h"
#include "base/text.h"
#include "platform/durable.h"
#include "read/recorder.h"
#include "sense/fingerprint/fingerprint.h"
#include "ui/view/record_json.h"
#include "ui/view/run_record.h"

namespace mw {
namespace {

constexpr std::string_view kThisProgram = "/proc/self/exe";
constexpr std::string_view kFingerprintFile = "fingerprint.json";
constexpr size_t kAttemptsRead = 1000;  // whose machines are named
constexpr size_t kDifferences = 60;     // settings and facts that differ

std::string fingerprint_path(const std::string& folder, size_t attempt) {
  return cat(folder, "/", kAttemptsFolder, "/", attempt, "/", kFingerprintFile);
}

/// A file as it is now: a journal only grows or is sealed under another name, so size and time tell it from another.
std::string stamp(Disk& disk, const std::string& path) {
  const auto info = disk.info(path);
  return info.ok() ? cat(info->inode, ":", info->size, ":", info->changed.ns) : "";
}

/// All that a record is made of, and by what.
std::string stamp_of(Disk& disk, const std::string& folder) {
  std::string all = stamp(disk, std::string(kThisProgram));
  const auto segments = disk.list(cat(folder, "/journal"));
  for (const std::string& name : segments.ok() ? *segments : std::vector<std::string>())
    all += cat("|", name, ":", stamp(disk, cat(folder, "/journal/", name)));
  for (size_t attempt = 1; attempt <= kAttemptsRead; ++attempt) {
    if (!disk.info(cat(folder, "/", kAttemptsFolder, "/", attempt)).ok()) break;
    all += cat("|", attempt, ":", stamp(disk, fingerprint_path(folder, attempt)));
  }
  return all;
}

/// {"stamp":…,"check":…,"record":{…}} in one line; "check" is of the record's own bytes.
Result<RunRecord> kept_record(Disk& disk, const std::string& path, const std::string& wanted) {
  const auto text = read_small(disk, path);
  if (!text.ok()) return text.error();
  const size_t line = text->find('\n');
  const auto head = Json::parse(std::string_view(*text).substr(0, line));
  if (line == std::string::npos || !head.ok()) return Error{Error::Code::kInvalid, "not a kept record", ""};
  const std::string_view record = std::string_view(*text).substr(line + 1);
  if (head->string_or("stamp", "") != wanted || head->string_or("check", "") != hex_of(fnv1a(record)))
    return Error{Error::Code::kInvalid, "the kept record is of another journal", ""};
  return parse_record(record);
}

/// Best effort, and not durable: a record that is torn or of two writers has another check, and is made again.
void keep_record(Disk& disk, const std::string& path, const std::string& stamp, const RunRecord& record) {
  const std::string text = record_json(record);
  std::string head;
  JsonWriter(head).begin_object().key("stamp").string(stamp).key("check").string(hex_of(fnv1a(text))).end_object();
  (void)disk.remove(path).ok();
  auto file = disk.open_append(path);
  if (!file.ok()) return;
  (*file)->keep_private();
  (void)(*file)->append(cat(head, "\n", text)).ok();
}

Result<Fingerprint> fingerprint_of(Disk& disk, const std::string& folder, size_t attempt) {
  const auto text = read_small(disk, fingerprint_path(folder, attempt));
  return text.ok() ? parse_fingerprint(*text) : Result<Fingerprint>(text.error());
}

/// "2 x NVIDIA H100 80GB HBM3": the models of its GPUs, without their serial numbers.
std::string gpus_of(const Fingerprint& fingerprint) {
  const auto drivers = fingerprint.facts.find("driver");
  if (drivers == fingerprint.facts.end()) return "";
  std::map<std::string, int> models;
  for (const auto& [name, value] : drivers->second) {
    if (!name.starts_with("GPU ")) continue;
    const std::string_view model = trim(std::string_view(value).substr(0, value.find("GPU-")));
    ++models[std::string(model)];
  }
  std::string text;
  for (const auto& [model, count] : models) text += cat(text.empty() ? "" : ", ", count, " x ", model);
  return text;
}

std::vector<RunRecord::Machine> machines_of(Disk& disk, const std::string& folder) {
  std::vector<RunRecord::Machine> machines;
  for (size_t attempt = 1; attempt <= kAttemptsRead; ++attempt) {
    const auto fingerprint = fingerprint_of(disk, folder, attempt);
    if (!fingerprint.ok() && !disk.info(cat(folder, "/", kAttemptsFolder, "/", attempt)).ok()) break;
    if (!fingerprint.ok()) continue;
    const auto host = fingerprint->facts.find("host");
    if (host == fingerprint->facts.end()) continue;
    const auto name = host->second.find("name");
    RunRecord::Machine machine;
    machine.name = name == host->second.end() ? "" : name->second;
    machine.gpus = gpus_of(*fingerprint);
    machine.first = machine.last = static_cast<int64_t>(attempt);
    const bool same = !machines.empty() && machines.back().name == machine.name && machines.back().gpus == machine.gpus;
    if (same) {
      machines.back().last = machine.last;
    } else if (!machine.name.empty()) {
      machines.push_back(std::move(machine));
    }
  }
  return machines;
}

}  // namespace

Result<RunRecord> run_record(Disk& disk, const RunStatus& status, bool live) {
  const std::string path = cat(status.folder, "/", kRecordFile), stamp = stamp_of(disk, status.folder);
  auto record = kept_record(disk, path, stamp);
  if (!record.ok()) {
    const auto state = read_recorded(disk, status.folder);
    if (!state.ok()) return state.error();
    record = record_of(*state);
    record->machines = machines_of(disk, status.folder);
    // What was written while it was read may be in the record or not.
    if (!live && stamp_of(disk, status.folder) == stamp) keep_record(disk, path, stamp, *record);
  }
  record->name = status.name;
  record->folder = status.folder;
  record->command = status.command;
  return record;
}

std::vector<RunRecord::Change> differences_of(Disk& disk, const RunRecord& before, const RunRecord& after) {
  std::vector<RunRecord::Change> changes = different_settings(before, after);
  const auto was = fingerprint_of(disk, before.folder, 1), is = fingerprint_of(disk, after.folder, 1);
  if (was.ok() && is.ok()) {
    for (Difference& one : differences(*was, *is)) {
      if (one.what == "host" && one.name == "boot") continue;  // every start of a machine has another one
      changes.push_back({0, std::move(one.what), std::move(one.name), std::move(one.before), std::move(one.after)});
    }
  }
  if (changes.size() > kDifferences) {
    const size_t more = changes.size() - kDifferences;
    changes.resize(kDifferences);
    changes.push_back({0, "more", cat(more, " more"), "", ""});
  }
  return changes;
}

}  // namespace mw
