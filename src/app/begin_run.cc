#include "app/begin_run.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "act/supervise/nonce.h"
#include "act/supervise/run_files.h"
#include "app/find_run.h"
#include "base/secrets.h"
#include "base/text.h"
#include "platform/durable.h"
#include "platform/paths.h"
#include "platform/private_folder.h"
#include "platform/real/posix_disk.h"
#include "read/recorder.h"
#include "sense/checkpoints/parts.h"
#include "sense/fingerprint/fingerprinting.h"

namespace mw {

namespace {

constexpr size_t kRunNameBytes = 200;  // it is a folder's name, and files beside it add to it
constexpr int kSameName = 100;         // runs of one command that begin within one second

}  // namespace

Error not_a_run_name(const std::string& name) {
  if (name.size() > kRunNameBytes) {
    return {Error::Code::kInvalid,
            cat("a run cannot be called '", clip(name, 40), "': a name has at most ", kRunNameBytes, " letters"),
            "Give it a shorter one; midwatch tell --tag takes what else there is to say."};
  }
  return {Error::Code::kInvalid, cat("a run cannot be called '", name, "'"),
          "Use letters, digits, dots, dashes and underlines; it begins with a letter, a digit or an underline."};
}

bool is_run_name(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.front() != '-' && name.size() <= kRunNameBytes &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '-' || c == '_'; });
}

namespace {

/// For whoever looks at the run later, from where its environment is not known. None where the command holds none.
std::vector<std::string> without_secrets(const RunSpec& spec) {
  std::vector<std::string> words = hidden_words(spec, spec.command);
  return words == spec.command ? std::vector<std::string>() : words;
}

}  // namespace

/// Of letters that no shell and no path minds.
std::string new_run_name(Disk& disk, const std::string& home, Time now, const std::vector<std::string>& command) {
  std::string stamp;
  for (const char c : format_utc(now).substr(0, 19))
    stamp += c == 'T' ? "-" : c == '-' || c == ':' ? "" : std::string(1, c);
  // The script says more than the interpreter in front of it.
  std::string_view word = command.front();
  for (size_t i = 1; i < command.size() && i < 4; ++i) {
    const std::string_view next = command[i];
    if (next.size() > 3 && (next.substr(next.size() - 3) == ".py" || next.substr(next.size() - 3) == ".sh"))
      word = next;
  }
  std::string name;
  for (const char c : basename(word).substr(0, 40)) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    name += plain ? c : '-';
  }
  name = cat(stamp, "-", name);
  const auto taken = [&](const std::string& one) { return disk.info(run_folder_of(home, one)).ok(); };
  std::string free = name;
  for (int i = 2; i < kSameName && taken(free); ++i) free = cat(name, "-", i);  // begun within one second
  return free;
}

std::string run_folder_of(const std::string& home, const std::string& name) {
  return cat(absolute_path(home_of(home)), "/runs/", name);
}

Result<std::string> new_run_folder(Disk& disk, const std::string& home, const std::string& name) {
  if (!is_run_name(name)) return not_a_run_name(name);
  std::string folder = run_folder_of(home, name);
  if (run_spec_path(disk, folder).empty()) return folder;
  return Error{Error::Code::kInvalid, cat("there is a run called ", name, " already"),
               cat("Go on with it: midwatch run --reattach ", name, "; or give another --name.")};
}

namespace {

/// The newest run that was begun by `midwatch run` (attached runs have no run.json).
Result<std::string> newest_supervised(Disk& disk, const std::string& home) {
  std::string newest;
  Time newest_at;
  for (std::string& folder : recorded_runs(disk, home)) {
    const auto info = disk.info(run_spec_path(disk, folder));
    if (!info.ok() || (!newest.empty() && info->changed <= newest_at)) continue;
    newest = std::move(folder);
    newest_at = info->changed;
  }
  if (!newest.empty()) return newest;
  return Error{Error::Code::kNotFound, cat("no run was begun by 'midwatch run' under ", home_of(home)),
               "midwatch runs lists all that are known; --home says where another one is recorded."};
}

Result<std::string> begin_run(Disk& disk, Time now, const std::string& home, const RunRequest& request,
                              const std::string& input) {
  auto made = new_run_folder(disk, home,
                             request.name.empty() ? new_run_name(disk, home, now, request.spec.command) : request.name);
  if (!made.ok()) return made.error();
  const std::string folder = std::move(*made);
  RunSpec spec = request.spec;
  spec.folder = absolute_path("");
  if (std::getenv("PYTHONUNBUFFERED") == nullptr) spec.environment.emplace("PYTHONUNBUFFERED", "1");
  for (std::string& path : spec.also) path = absolute_path(path);
  // Nothing is deleted through a link, and a person who names one means what it leads to.
  for (std::string& path : spec.checkpoints) path = real_path(absolute_path(path));
  add_other_roles(spec.checkpoints);
  if (!spec.first_root.empty()) spec.first_root = real_path(absolute_path(spec.first_root));
  const bool local = !spec.store.empty() && !contains(spec.store, "://");
  if (local) spec.store = absolute_path(spec.store);
  MW_TRY(disk.make_folders(folder));
  make_private(folder);  // before anything is in it
  spec.shown_command = without_secrets(spec);
  spec.nonce = random_nonce();
  spec.marker = random_nonce();
  MW_TRY(disk.make_folders(cat(folder, "/output")));
  auto output = disk.open_append(cat(folder, "/", kOutputFile));  // so that there is something to follow
  if (!output.ok()) return output.error();
  if (!input.empty()) {
    spec.input = cat(folder, "/", kInputFile);
    MW_TRY(write_privately(disk, spec.input, input));
  }
  if (!request.goes_on_from.empty())  // as of an attempt before the first
    (void)write_privately(disk, cat(folder, "/", kFingerprintFile), request.goes_on_from).ok();
  MW_TRY(write_privately(disk, cat(folder, "/", kRunSpecFile), run_spec_text(spec)));
  return folder;
}

}  // namespace

std::vector<std::string> hidden_words(const RunSpec& spec, const std::vector<std::string>& words) {
  KnownSecrets secrets;
  secrets.learn_environment(environ);
  for (const auto& [variable, value] : spec.environment) secrets.learn(variable, value);
  return redact_words(secrets.hide(words));
}

Result<std::string> begin_or_find(const Doors& doors, Processes& processes, const RunRequest& request,
                                  const std::string& input) {
  if (request.reattach == "newest") return newest_supervised(doors.disk, request.home);
  if (!request.reattach.empty()) {
    return find_run(doors.disk, processes, doors.clock.now(), {request.home, request.reattach}, Purpose::kActing);
  }
  const std::string home = absolute_path(home_of(request.home));
  remember_home(doors.disk, home);
  return begin_run(doors.disk, doors.clock.now(), home, request, input);
}

}  // namespace mw
