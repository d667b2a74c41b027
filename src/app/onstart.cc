#include "app/onstart.h"

#include <algorithm>
#include <optional>

#include "act/supervise/resume.h"
#include "act/vault/catalogue.h"
#include "act/vault/ship_logs.h"
#include "app/early_end.h"
#include "app/fleet_beat.h"
#include "app/harbour.h"
#include "app/receiving_beat.h"
#include "app/ship.h"
#include "base/digest.h"
#include "base/text.h"
#include "platform/durable.h"
#include "platform/paths.h"
#include "platform/real/posix_disk.h"
#include "platform/remove_tree.h"
#include "sense/checkpoints/quarantine.h"
#include "sense/checkpoints/scan.h"
#include "sense/checkpoints/verify.h"
#include "sense/fingerprint/fingerprint.h"

namespace mw {
namespace {

constexpr size_t kFingerprintBytes = size_t{4} << 20;  // what is kept of one is far less

using How = event::CheckpointSeen::How;

std::string fact(const std::vector<std::pair<std::string, std::string>>& run, std::string_view name) {
  const auto found = std::find_if(run.begin(), run.end(), [name](const auto& one) { return one.first == name; });
  return found == run.end() ? "" : found->second;
}

/// Where nobody knows the framework: "step_40" of step 40 is one of "step_{step}".
std::string pattern_of(const PullAnswer& pulled) {
  if (!pulled.layout.empty()) return pulled.layout;
  const std::string digits = std::to_string(pulled.step);
  if (!pulled.name.ends_with(digits)) return "";
  return cat(pulled.name.substr(0, pulled.name.size() - digits.size()), "{step}");
}

/// The framework whose words and pointer are meant: a person's word, then the store's, then what the files show where
/// the checkpoint's name fits as well. "": none is known.
std::string framework_of(Disk& disk, const KnowledgeBase& knowledge, const StartRequest& request,
                         const PullAnswer& pulled) {
  if (!request.framework.empty()) return request.framework;
  if (!pulled.framework.empty()) return pulled.framework;
  const auto verdict = verify_checkpoint(disk, pulled.folder, {});
  if (!verdict.ok() || verdict->framework.empty()) return "";
  const CheckpointLayout layout = knowledge.checkpoints_of(verdict->framework);
  return step_in(layout.folder, pulled.name) == pulled.step ? verdict->framework : "";
}

/// How that framework names its checkpoints; without a pointer where it is not known, or names them otherwise.
CheckpointLayout layout_of(const KnowledgeBase& knowledge, const std::string& framework, const PullAnswer& pulled) {
  if (!framework.empty()) {
    CheckpointLayout known = knowledge.checkpoints_of(framework);
    const bool says = known.known() || !known.resume.empty();
    if (says && (known.folder == pulled.layout || step_in(known.folder, pulled.name) == pulled.step)) return known;
  }
  std::optional<CheckpointLayout> only;
  for (const Dialect& dialect : knowledge.book().dialects()) {
    if (!dialect.checkpoints.known() || dialect.checkpoints.folder != pulled.layout) continue;
    if (only) return {pattern_of(pulled), "", "", {}};  // several name theirs so
    only = dialect.checkpoints;
  }
  return only.value_or(CheckpointLayout{pattern_of(pulled), "", "", {}, "", false});
}

/// Where neither a pointer nor words lead the trainer to the checkpoint.
std::string warning_of(const CheckpointLayout& layout, const std::string& framework, const StartRequest& request,
                       const StartAnswer& answer) {
  if (!answer.pointer.empty() || asks_to_resume(request.command)) return "";
  const bool by_itself = std::any_of(layout.resume.begin(), layout.resume.end(),
                                     [](const ResumeWords& one) { return one.when.empty() && one.words.empty(); });
  if (by_itself) return "";
  const std::string lies =
      cat("unless the command itself names ", answer.pulled.folder, ", the trainer may begin from scratch. ");
  if (!layout.resume.empty())
    return cat(framework, " takes a checkpoint only when its arguments say so: ", lies,
               "Put {resume} into the command where they belong.");
  const std::string why =
      framework.empty() || framework == "custom"
          ? "which framework saved it is not known, so no pointer file is set: "
          : cat("how ", framework, " is led to ", answer.pulled.name, " is not known, so no pointer file is set: ");
  return cat(why, lies,
             "Say --framework NAME (verl, trl, slime, …), or put {resume} into the command and say resume "
             "of [run] in midwatch.toml.");
}

/// The checkpoints that a machine may begin from, in the order in which a pull would choose them; none: the store is
/// empty.
Result<std::vector<vault::CheckpointManifest>> whole_in(Disk& disk, const StoreAddress& address) {
  const auto harbour = open_harbour(disk, address);
  if (!harbour.ok()) return harbour.error();
  const vault::VaultDoors doors = (*harbour)->doors(disk, address);
  auto found = vault::read_catalogue(doors, {(*harbour)->prefix}, true);
  if (!found.ok()) return found.error();
  std::string why;
  std::vector<vault::CheckpointManifest> whole;
  for (vault::RemoteCheckpoint& one : found->checkpoints) {
    if (one.trouble.empty()) {
      whole.push_back(std::move(one.manifest));
    } else {
      why += cat(why.empty() ? "" : "; ", one.manifest.id, ": ", one.trouble);
    }
  }
  // What its trainer cannot resume from comes last, though it is whole: an export, or a save without its optimizer.
  std::stable_partition(whole.begin(), whole.end(), [](const auto& one) { return one.lacks.empty(); });
  if (!whole.empty() || found->checkpoints.empty()) return whole;
  return Error{Error::Code::kNotFound, cat("no checkpoint in ", address.place, " is whole: ", why),
               "midwatch checkpoint remote PLACE --check lists them. To begin from scratch, use an empty place."};
}

/// The folder of the run's checkpoints on this machine.
Result<std::string> root_for(const StartRequest& request, const vault::CheckpointManifest& manifest) {
  std::string root = request.folder.empty() ? fact(manifest.run, "folder") : absolute_path(request.folder);
  while (root.size() > 1 && root.ends_with('/')) root.pop_back();
  if (root.empty()) {
    return Error{Error::Code::kInvalid, "where the run looks for its checkpoints is not known",
                 "Say it: --checkpoints DIR, or checkpoints of [run] in midwatch.toml."};
  }
  if (!request.folder.empty()) return root;
  const auto fit = check_root(root);  // it comes from the store
  if (fit.ok()) return *fit;
  return Error{fit.error().code, cat("the store names a folder that is refused: ", fit.error().what),
               "Say --checkpoints DIR."};
}

/// What lies there under the checkpoint's name; false: nothing.
Result<bool> is_here(Disk& disk, const std::string& folder, int64_t step) {
  const auto names = disk.list(folder);
  if (!names.ok() && names.error().code == Error::Code::kNotFound) return false;
  if (!names.ok()) return names.error();
  if (names->empty()) return false;
  const CheckpointScan scan = scan_checkpoint(disk, folder, step, nullptr);
  if (scan.there && scan.seen.how != How::kBroken && !scan.doubtful) return true;
  return Error{Error::Code::kInvalid,
               cat(folder, " is there and ",
                   scan.doubtful ? "not whole ('midwatch checkpoint verify' says what is missing)"
                                 : cat("broken: ", scan.seen.what)),
               "Nothing is written over: move it away, and run this again."};
}

/// The framework's own resume takes what its pointer names.
Result<void> set_pointer(Disk& disk, const CheckpointLayout& layout, StartAnswer& answer) {
  if (layout.pointer.empty()) return {};
  const std::string path = cat(answer.root, "/", layout.pointer);
  MW_TRY(write_durably(disk, path, with_step(layout.pointer_text, answer.pulled.step)));
  answer.pointer = path;
  return {};
}

/// {resume} in the command, as a later attempt would have it.
Result<void> add_words(Disk& disk, const CheckpointLayout& layout, const std::string& framework,
                       const StartRequest& request, StartAnswer& answer) {
  if (!asks_to_resume(request.command)) return {};
  State state;
  state.framework = framework.empty() ? "custom" : framework;
  RunSpec spec;
  spec.command = request.command;
  spec.resume = request.resume;
  spec.checkpoints = {answer.root};
  // Of what lies there nothing later than the store's newest is looked at.
  auto planned = plan_resume(disk, state, layout, spec, answer.pulled.step + 1);
  if (!planned.ok()) return planned.error();
  answer.words = std::move(planned->words);
  if (planned->step == answer.pulled.step) return {};
  return Error{Error::Code::kUnsupported, cat("{resume} in the command cannot be made to name ", answer.pulled.folder),
               "Say how its folders are named: pattern of [checkpoints] in midwatch.toml, when the run is shipped."};
}

void add_wandb(StartAnswer& answer) {
  const std::string id = fact(answer.pulled.run, "wandb_run_id");
  const bool given = variable("WANDB_RUN_ID").has_value();
  if (id.empty() && !given) return;
  if (!given) answer.environment["WANDB_RUN_ID"] = id;
  // Without it W&B would begin the run of that id anew, and its history would be gone.
  if (!variable("WANDB_RESUME")) answer.environment["WANDB_RESUME"] = "allow";
}

/// A rented machine beats meanwhile; one whose disk is too small says that it is not fit for the run.
Result<PullAnswer> receive(Disk& disk, StoreAddress store, const std::string& folder, int64_t step,
                           const EarlyEnd& early, Duration& time) {
  Result<PullAnswer> pulled = Error{};
  {
    ReceivingBeat beat(early.send());
    store.progress = [&beat, shown = store.progress](int64_t bytes, int64_t total) {
      beat.moved(bytes, total);
      if (shown) shown(bytes, total);
    };
    pulled = fetch_checkpoint(disk, {store, folder, step});
    time = beat.receiving();
  }
  if (!pulled.ok() && pulled.error().code == Error::Code::kFull) {
    (void)say_unfit(disk, cat("the checkpoint does not fit on its disk: ", pulled.error().what)).ok();
  }
  return pulled;
}

/// Puts one there. False: what the store has of it is not what was pushed, which shows only in its bytes; a note says
/// so, and nothing of it is left, as some trainers take any folder for a checkpoint.
Result<bool> take(Disk& disk, const StartRequest& request, const vault::CheckpointManifest& manifest,
                  const EarlyEnd& early, StartAnswer& answer) {
  if (!is_plain_path(manifest.name) || contains(manifest.name, "/"))
    return Error{Error::Code::kInvalid, "the checkpoint in the store has no name", ""};
  const auto root = root_for(request, manifest);
  if (!root.ok()) return root.error();
  answer.root = *root;
  const std::string folder = cat(answer.root, "/", manifest.name);
  const auto here = is_here(disk, folder, manifest.step);
  if (!here.ok()) return here.error();
  answer.here = *here;
  std::vector<std::string> notes = std::move(answer.pulled.notes);
  if (answer.here) {
    answer.pulled.folder = folder;
    answer.pulled.name = manifest.name;
    answer.pulled.step = manifest.step;
    answer.pulled.framework = manifest.framework;
    answer.pulled.layout = manifest.layout;
    answer.pulled.run = manifest.run;
  } else {
    auto pulled = receive(disk, request.store, folder, manifest.step, early, answer.receiving);
    if (!pulled.ok() && pulled.error().code != Error::Code::kNotFound) return pulled.error();
    if (!pulled.ok()) {
      notes.push_back(pulled.error().hint.empty() ? pulled.error().what : pulled.error().hint);
      answer.pulled.notes = std::move(notes);
      (void)remove_tree(answer.root, cat(manifest.name, ".partial-", manifest.id)).ok();
      return false;
    }
    answer.pulled = std::move(*pulled);
  }
  answer.pulled.notes.insert(answer.pulled.notes.begin(), notes.begin(), notes.end());
  return true;
}

/// What the run was made of that shipped it: so the next one can say what is different. "": an earlier midwatch shipped
/// it, or what lies in the store is not what was put there.
std::string fingerprint_of(Disk& disk, const StoreAddress& address, const PullAnswer& pulled) {
  const std::string hash = fact(pulled.run, "fingerprint");
  if (hash.empty() || hash.find_first_not_of("0123456789abcdef") != std::string::npos) return "";
  const auto harbour = open_harbour(disk, address);
  if (!harbour.ok()) return "";
  const vault::Keys keys{(*harbour)->prefix};
  auto text = get_small(*(*harbour)->store, keys.fingerprint(hash), kFingerprintBytes);
  return text.ok() && content_hash(*text) == hash && parse_fingerprint(*text).ok() ? std::move(*text) : "";
}

Error none_is_whole(const StartRequest& request, const StartAnswer& answer) {
  std::string why;
  for (const std::string& note : answer.pulled.notes) why += cat(why.empty() ? "" : " ", note);
  return {Error::Code::kNotFound, cat("no checkpoint in ", request.store.place, " is whole: ", why),
          "To begin from scratch, use an empty place."};
}

}  // namespace

Result<StartAnswer> prepare_start(Disk& disk, const KnowledgeBase& knowledge, const StartRequest& request) {
  const EarlyEnd early;
  MW_TRY(await_turn(disk, early.send()));
  const auto whole = whole_in(disk, request.store);
  if (!whole.ok()) return whole.error();
  StartAnswer answer;
  answer.empty = whole->empty();
  if (answer.empty) return answer;
  bool taken = false;
  for (auto one = whole->begin(); one != whole->end() && !taken; ++one) {
    const auto took = take(disk, request, *one, early, answer);
    if (!took.ok()) return took.error();
    taken = *took;
  }
  if (!taken) return none_is_whole(request, answer);
  for (const vault::CheckpointManifest& one : *whole) {
    if (one.lacks.empty() || one.step < answer.pulled.step) continue;
    const bool taken_itself = one.step == answer.pulled.step && one.name == answer.pulled.name;
    answer.pulled.notes.push_back(
        taken_itself ? cat("Its trainer cannot resume from it: it lacks ", one.lacks, ".")
                     : cat(one.id, " was passed over: nothing can resume from it, as it lacks ", one.lacks, "."));
  }
  const std::string framework = framework_of(disk, knowledge, request, answer.pulled);
  const CheckpointLayout layout = layout_of(knowledge, framework, answer.pulled);
  MW_TRY(set_pointer(disk, layout, answer));
  MW_TRY(add_words(disk, layout, framework, request, answer));
  answer.warning = warning_of(layout, framework, request, answer);
  add_wandb(answer);
  answer.fingerprint = fingerprint_of(disk, request.store, answer.pulled);
  return answer;
}

Result<LogsAnswer> fetch_logs(Disk& disk, const LogsRequest& request) {
  const auto harbour = open_harbour(disk, request.store);
  if (!harbour.ok()) return harbour.error();
  const std::string folder = absolute_path(request.folder);
  const vault::VaultDoors doors = (*harbour)->doors(disk, request.store);
  const auto received = vault::receive_logs(doors, (*harbour)->prefix, folder);
  if (!received.ok()) return received.error();
  LogsAnswer answer;
  for (const vault::ReceivedLogs& one : *received)
    answer.runs.push_back({one.name, cat(folder, "/", one.name), one.files, one.bytes});
  return answer;
}

}  // namespace mw
