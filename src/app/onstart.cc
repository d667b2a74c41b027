#include "app/onstart.h"

#include <algorithm>
#include <optional>

#include "act/supervise/resume.h"
#include "act/vault/place_parts.h"
#include "act/vault/ship_logs.h"
#include "app/begin_run.h"
#include "app/early_end.h"
#include "app/fleet_beat.h"
#include "app/harbour.h"
#include "app/receiving_beat.h"
#include "app/ship.h"
#include "app/start_fence.h"
#include "app/start_local.h"
#include "app/start_place.h"
#include "app/start_roles.h"
#include "app/start_shipped.h"
#include "app/start_words.h"
#include "base/text.h"
#include "platform/durable.h"
#include "platform/paths.h"
#include "platform/real/posix_disk.h"
#include "read/recorder.h"
#include "sense/checkpoints/find.h"
#include "sense/checkpoints/output_words.h"
#include "sense/checkpoints/quarantine.h"
#include "sense/checkpoints/scan.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

constexpr size_t kNamed = 4;  // checkpoints that are not gone on from, one sentence each

using How = event::CheckpointSeen::How;

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

/// The folder of the run's checkpoints on this machine.
Result<std::string> root_for(const StartRequest& request, const vault::CheckpointManifest& manifest) {
  std::string root = request.folder.empty() ? fact(manifest.run, "folder") : absolute_path(request.folder);
  while (root.size() > 1 && root.ends_with('/')) root.pop_back();
  if (!root.empty() && !request.folder.empty() && !manifest.id.empty())
    root = folder_below(manifest, root, output_folders(request.command, absolute_path("")));
  if (!root.empty() && !request.folder.empty()) root = trial_holder(manifest, role_folder(manifest, root));
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

/// The framework's own resume takes what its pointer names.
Result<void> set_pointer(Disk& disk, const CheckpointLayout& layout, StartAnswer& answer) {
  if (layout.pointer.empty()) return {};
  const std::string path = cat(answer.root, "/", layout.pointer);
  const std::string text = with_step(layout.pointer_text, answer.pulled.step);
  const auto was = ask_pointer(disk, answer.root, layout);
  if (!was.ok()) return was.error();
  if (!*was || **was != text) {
    MW_TRY(write_durably(disk, path, text));
    answer.pointer_was = was->value_or("");
  }
  answer.pointer = path;
  return point_other_roles(disk, layout, answer.pulled, text);
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

Error none_is_whole(const StartRequest& request, const StartAnswer& answer) {
  std::string why;
  for (const std::string& note : answer.pulled.notes) why += cat(why.empty() ? "" : " ", note);
  return {Error::Code::kNotFound, cat("no checkpoint in ", request.store.place, " is whole: ", why),
          "To begin from scratch, use an empty place."};
}

/// Where to look on this machine, and how checkpoints are named there. Without a manifest (the store is empty) what
/// lies there says it; then the layout may stay unknown.
LocalScope local_scope(Disk& disk, const KnowledgeBase& knowledge, const StartRequest& request, const Shipped& shipped,
                       const std::string& root) {
  LocalScope scope;
  scope.root = real_path_to_be(disk, root);
  scope.home = request.home;
  scope.place = request.store.place;
  scope.since = shipped.back;
  scope.threads = std::max(1, request.store.parallel);
  scope.progress = request.comparing;
  PullAnswer like;
  if (!shipped.whole.empty()) {
    like = as_pulled(shipped.whole.front(), cat(scope.root, "/", shipped.whole.front().name));
    scope.after = like.step;
    scope.unproven = shipped.whole.front().scanned != "whole";
    for (const vault::ManifestFile& file : vault::own_of(shipped.whole.front()).files)
      scope.like.emplace_back(file.path, file.size);
  }
  if (like.framework.empty()) {
    const auto there = find_checkpoints(disk, scope.root);
    if (there.ok() && !there->empty() && there->back().step != kNoStep) {
      like.folder = there->back().path;
      if (shipped.whole.empty()) {
        like.name = basename(like.folder);
        like.step = there->back().step;
      }
    }
  }
  scope.layout = layout_of(knowledge, framework_of(disk, knowledge, request, like), like);
  return scope;
}

/// Another run's, and the trainer would take it: going on would be two runs in one folder.
Result<void> must_not_be_taken(const LocalScope& scope, const StartRequest& request, const LocalCheckpoint& one) {
  const bool by_words = scope.layout.pointer.empty() && asks_to_resume(request.command);
  if (one.alien && scope.layout.pointer.empty() && !by_words) {
    return Error{
        Error::Code::kDenied,
        cat(one.path, " is what the trainer would resume from, and seems to be another run's: ", one.why),
        cat("Nothing was changed. Name another folder (--checkpoints DIR), or move it away: ", how_to_move(one.path))};
  }
  if (one.other.empty() || !one.named || by_words) return {};
  return Error{Error::Code::kDenied,
               cat(one.path, " is what the trainer would resume from, and run ", one.other,
                   ", which ships to another place, saved it"),
               "Nothing was changed. Name another folder (--checkpoints DIR), or move that run's checkpoints away."};
}

/// What is here and further than the one that is taken: broken ones leave the way of a trainer that takes the highest
/// number; of the others it is said why they are not gone on from.
Result<void> settle_newer(Disk& disk, const StartRequest& request, LocalScope scope, bool by_number,
                          StartAnswer& answer) {
  scope.after = scope.layout.counts_saves ? step_in(scope.layout.folder, answer.pulled.name).value_or(kNoStep)
                                          : answer.pulled.step;
  const auto newer = look_at_local(disk, scope);  // once more: what was received shows what is missing in others
  if (!newer.ok()) return newer.error();
  size_t said = 0, more = 0;
  for (const LocalCheckpoint& one : *newer) {
    if (by_number && one.how == LocalCheckpoint::How::kBroken) {
      (void)move_away(disk, request, scope, one, scope.after, answer);
    } else if (const std::string why = not_gone_on_from(scope, one, by_number); !why.empty()) {
      ++said > kNamed ? static_cast<void>(++more) : answer.pulled.notes.push_back(why);
    }
  }
  if (more > 0) answer.pulled.notes.push_back(cat("nor from ", more, " more in ", scope.root));
  return {};
}

/// What lies here is further than the newest whole one in the store; nullptr: there is none.
void go_on_from(const vault::CheckpointManifest* shipped, const LocalScope& scope, const LocalCheckpoint& local,
                StartAnswer& answer) {
  std::vector<std::string> notes = std::move(answer.pulled.notes);
  answer.pulled = shipped == nullptr ? PullAnswer() : as_pulled(*shipped, local.path);
  answer.pulled.notes = std::move(notes);
  answer.shipped = shipped == nullptr ? kNoStep : shipped->step;
  answer.pulled.beside = local.roles;
  answer.here = answer.further = true;
  answer.empty = false;
  answer.proven = local.how == LocalCheckpoint::How::kWhole;
  answer.pulled.folder = cat(answer.root, "/", basename(local.path));
  answer.pulled.name = basename(local.path);
  answer.pulled.step = local.step;
  answer.pulled.layout = scope.layout.folder;
}

/// Which of them a trainer is led to, the words and the pointer for it.
Result<void> lead_to(Disk& disk, const KnowledgeBase& knowledge, const StartRequest& request, const LocalScope& scope,
                     StartAnswer& answer) {
  const std::string framework = framework_of(disk, knowledge, request, answer.pulled);
  const CheckpointLayout layout = layout_of(knowledge, framework, answer.pulled);
  LocalScope now = scope;
  now.layout = layout;
  const bool by_number =
      layout.pointer.empty() && !framework.empty() && framework != "custom" && !asks_to_resume(request.command);
  if (layout.known()) MW_TRY(settle_newer(disk, request, std::move(now), by_number, answer));
  MW_TRY(set_pointer(disk, layout, answer));
  MW_TRY(add_words(disk, layout, framework, request, answer));
  answer.warning = warning_of(layout, framework, request, answer);
  add_wandb(answer);
  answer.fingerprint = fingerprint_of(disk, request.store, answer.pulled);
  return {};
}

class Start {
 public:
  Start(Disk& disk, Processes& processes, const KnowledgeBase& knowledge, const StartRequest& request,
        std::unique_ptr<Lock>& hold)
      : disk_(disk), processes_(processes), knowledge_(knowledge), request_(request), hold_(hold) {}

  Result<StartAnswer> run() {
    auto done = prepare();
    return done.ok() ? Result<StartAnswer>(std::move(answer_)) : with_moved(done.error(), answer_);
  }

 private:
  Result<void> prepare() {
    MW_TRY(known_framework());
    const EarlyEnd early;
    MW_TRY(await_turn(disk_, early.send()));
    const auto clock = make_posix_clock();
    answer_.name =
        request_.name.empty() ? new_run_name(disk_, request_.home, clock->now(), request_.command) : request_.name;
    const auto own = new_run_folder(disk_, request_.home, answer_.name);
    if (!own.ok()) return own.error();
    MW_TRY(disk_.make_folders(folder_of(*own)));  // before anything is received or moved
    if (!request_.folder.empty()) answer_.root = *root_for(request_, {});
    if (!answer_.root.empty() && is_taken(clock->now())) return {};
    auto shipped = shipped_in(disk_, request_.store);
    if (!shipped.ok()) return shipped.error();
    answer_.empty = shipped->whole.empty();
    if (!answer_.empty) {
      auto root = root_for(request_, shipped->whole.front());
      if (!root.ok()) return root.error();
      answer_.root = std::move(*root);
    }
    if (request_.folder.empty() && is_taken(clock->now())) return {};
    MW_TRY(choose(*shipped, early));
    if (!answer_.empty) note_passed_over(*shipped, answer_);
    if (!answer_.empty && request_.folder.empty()) {
      std::string other = in_other_folder(answer_.root, request_.command, absolute_path(""));
      if (!other.empty()) answer_.pulled.notes.push_back(std::move(other));
    }
    return {};
  }

  Result<void> known_framework() const {
    const std::string& word = request_.framework;
    if (word.empty() || word == "custom" || knowledge_.book().find(word)) return {};
    return no_such_dialect(word);
  }

  /// Where the folder is not known, the store stands for it.
  bool is_taken(Time now) {
    const auto locks = make_posix_locks();
    const std::string what = answer_.root.empty() ? request_.store.place : real_path_to_be(disk_, answer_.root);
    auto fence = fence_start(disk_, *locks, processes_, now, request_.home, what);
    answer_.taken = fence.by;
    answer_.taken_hint = fence.hint;
    hold_ = std::move(fence.lock);
    return !answer_.taken.empty();
  }

  /// Of the store's, the newest first, each against what lies here and is further.
  Result<void> choose(const Shipped& shipped, const EarlyEnd& early) {
    if (answer_.root.empty()) return {};
    LocalScope scope = local_scope(disk_, knowledge_, request_, shipped, answer_.root);
    if (answer_.empty) {
      const auto gone_on = try_local(scope, nullptr);
      return !gone_on.ok() ? Result<void>(gone_on.error())
             : *gone_on    ? lead_to(disk_, knowledge_, request_, scope, answer_)
                           : Result<void>();
    }
    for (const vault::CheckpointManifest& one : shipped.whole) {
      if (!is_plain_path(one.name) || contains(one.name, "/"))
        return Error{Error::Code::kInvalid, "the checkpoint in the store has no name", ""};
      scope.after = one.step;
      const auto gone_on = try_local(scope, &one);
      if (!gone_on.ok()) return gone_on.error();
      const auto took = *gone_on ? Result<bool>(true) : take_shipped(disk_, request_, scope, one, early, answer_);
      if (!took.ok()) return took.error();
      if (*took) return lead_to(disk_, knowledge_, request_, scope, answer_);
    }
    return none_is_whole(request_, answer_);
  }

  /// Goes on from what lies here and is further than `shipped` (nullptr: there is none). Where numbers count saves
  /// nothing shows which of the two is further.
  Result<bool> try_local(const LocalScope& scope, const vault::CheckpointManifest* shipped) {
    if (!scope.layout.known() || scope.layout.counts_saves) return false;
    const auto here = look_at_local(disk_, scope);
    if (!here.ok()) return here.error();
    const auto further = std::find_if(here->begin(), here->end(), [](const auto& one) { return one.usable(); });
    const bool any = further != here->end();
    if (shipped == nullptr && !(any && further->own)) {
      if (!here->empty()) answer_.pulled.notes.push_back(beside_nothing(here->front()));
      return false;
    }
    for (auto one = here->begin(); one != further; ++one) MW_TRY(must_not_be_taken(scope, request_, *one));
    if (any) go_on_from(shipped, scope, *further, answer_);
    return any;
  }

  Disk& disk_;
  Processes& processes_;
  const KnowledgeBase& knowledge_;
  const StartRequest& request_;
  std::unique_ptr<Lock>& hold_;
  StartAnswer answer_;
};

}  // namespace

Result<StartAnswer> prepare_start(Disk& disk, Processes& processes, const KnowledgeBase& knowledge,
                                  const StartRequest& request, std::unique_ptr<Lock>& hold) {
  return Start(disk, processes, knowledge, request, hold).run();
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
