// midwatch checkpoint: which checkpoints there are, whether they are whole, and how two differ.
#include <chrono>

#include "base/text.h"
#include "ui/cli/checkpoint_text.h"
#include "ui/cli/verb.h"

namespace mw {
namespace {

void declare_verify_and_list(ArgSpec& spec) {
  spec.positional("paths", "checkpoints, or folders that hold some (default: those of the run)", true, false);
  spec.option("run", "NAME", "the run whose checkpoints are meant: its name, a beginning of it, or its folder");
  spec.option("home", "DIR", "where runs are recorded (default: $MIDWATCH_HOME, or all places that you used)");
  spec.flag("quiet", "no progress on standard error", 'q');
  spec.flag("json", "print it as JSON, schema midwatch.checkpoints/1");
}

void declare_verify(ArgSpec& spec) {
  spec.flag("deep", "read every byte: checksums, NaN and infinities, tensors of zeros");
  declare_verify_and_list(spec);
}

void declare_diff(ArgSpec& spec) {
  spec.positional("before", "a checkpoint", false, true);
  spec.positional("after", "the checkpoint that it is compared with", false, true);
  spec.flag("all", "every tensor, not only those that changed most");
  spec.flag("quiet", "no progress on standard error", 'q');
  spec.flag("json", "print it as JSON, schema midwatch.tensors/1");
}

std::string share(std::string_view verb, std::string_view path, int64_t done, int64_t all) {
  const double part = all > 0 ? 100.0 * static_cast<double>(done) / static_cast<double>(all) : 0;
  return cat("\r\x1b[K", verb, " ", escape_terminal(basename(path)), ": ", format_bytes(static_cast<double>(done)),
             " of ", format_bytes(static_cast<double>(all)), " (", format_short(part, 3), " %)");
}

/// Progress is printed for every so many bytes: a terminal is slower than a disk.
class Progress {
 public:
  static constexpr int64_t kEvery = 64 << 20;
  Progress(const Args& args, const Console& console)
      : console_(console), on_(console.err_is_terminal && !args.has("quiet")) {}
  ~Progress() {
    if (shown_) console_.err("\r\x1b[K");
  }
  bool on() const { return on_; }
  void show(std::string_view verb, std::string_view path, int64_t done, int64_t all) {
    if (done >= last_ && done - last_ < kEvery) return;
    last_ = done;
    shown_ = true;
    console_.err(cat(share(verb, path, done, all), number_));
  }
  /// Of several checkpoints, that so many were looked at; ten times a second at most.
  void count(size_t done, size_t all) {
    if (all < 2) return;
    number_ = cat(", checkpoint ", done + 1, " of ", all);
    const auto now = std::chrono::steady_clock::now();
    if (shown_ && now - counted_ < std::chrono::milliseconds(100)) return;
    counted_ = now;
    shown_ = true;
    console_.err(cat("\r\x1b[K", "checkpoint ", done + 1, " of ", all));
  }

 private:
  const Console& console_;
  bool on_, shown_ = false;
  int64_t last_ = 0;
  std::string number_;
  std::chrono::steady_clock::time_point counted_;
};

Exit worst(const CheckpointsAnswer& answer) {
  bool bad = false, unsure = false, any = false;
  for (const CheckpointsAnswer::Checkpoint& one : answer.checkpoints) {
    bad = bad || one.unnamed || one.unresumable || one.state == "partial" || one.state == "corrupt" ||
          one.state == "suspect";
    unsure = unsure || one.state == "writing" || one.state == "unknown";
    any = any || one.state != "foreign";
  }
  if (bad) return Exit::kIncident;
  if (!any) return Exit::kUnknown;
  return unsure ? Exit::kPartial : Exit::kOk;
}

Exit verify_or_list(const Args& args, Services& services, const Console& console, bool list) {
  CheckpointsRequest request{args.get("home"),          args.get("run"), args.list("paths"),
                             !list && args.has("deep"), nullptr,         nullptr};
  if (!request.run.empty() && !request.paths.empty())
    return report_error(console, {Error::Code::kInvalid, "paths and --run name two things", "Leave one of them out."});
  Result<CheckpointsAnswer> answer = Error{};
  {
    Progress progress(args, console);
    if (progress.on())
      request.progress = [&progress](const std::string& path, int64_t done, int64_t all) {
        progress.show("verifying", path, done, all);
      };
    if (progress.on()) request.counted = [&progress](size_t done, size_t all) { progress.count(done, all); };
    answer = services.checkpoints(request);
  }
  if (!answer.ok() && answer.error().code == Error::Code::kNotFound && request.paths.empty() && request.run.empty()) {
    return report_error(console, {Error::Code::kNotFound, answer.error().what,
                                  cat("Name a checkpoint, or a folder that holds some: midwatch checkpoint ",
                                      list ? "list" : "verify", " PATH")});
  }
  if (!answer.ok()) return report_error(console, answer.error());
  if (args.has("json")) {
    console.out(checkpoints_json(*answer));
  } else {
    console.out(list ? checkpoints_list(*answer, console) : checkpoints_verified(*answer, console));
  }
  return list ? Exit::kOk : worst(*answer);
}

Exit diff(const Args& args, Services& services, const Console& console) {
  Result<TensorsAnswer> answer = Error{};
  {
    Progress progress(args, console);
    std::function<void(int64_t, int64_t)> show;
    if (progress.on())
      show = [&progress](int64_t done, int64_t all) { progress.show("comparing", "tensors", done, all); };
    answer = services.compare_tensors(args.get("before"), args.get("after"), show);
  }
  if (!answer.ok()) return report_error(console, answer.error());
  console.out(args.has("json") ? tensors_json(*answer) : tensors_text(*answer, args.has("all"), console));
  return answer->unread.empty() ? Exit::kOk : Exit::kPartial;
}

Exit list(const Args& args, Services& services, const Console& console) {
  return verify_or_list(args, services, console, true);
}

Exit verify(const Args& args, Services& services, const Console& console) {
  return verify_or_list(args, services, console, false);
}

}  // namespace

namespace verbs {
extern const Verb checkpoint_list, checkpoint_verify, checkpoint_diff;
const Verb checkpoint_list = {"checkpoint list",
                              "Which checkpoints there are, whether they are whole, how they were verified",
                              "  midwatch checkpoint list                       those of the run\n"
                              "  midwatch checkpoint list ckpts/                those in a folder\n",
                              declare_verify_and_list, list};
const Verb checkpoint_verify = {
    "checkpoint verify", "Is a checkpoint whole, what is missing or wrong, where to resume from",
    "  midwatch checkpoint verify ckpts/global_step_40\n"
    "  midwatch checkpoint verify --deep ckpts/       every byte of all of them\n"
    "\nNothing is changed. --deep keeps checksums in the state folder; a later one says what\n"
    "differs. It runs on half of the processors, 2 to 4. Exit codes: 0 all whole · 3 a path\n"
    "is missing, or a pointer names nothing · 4 no checkpoint · 5 being written, of a format\n"
    "that is not read, or not to be seen whole · 10 one is partial, corrupt or suspect, or the\n"
    "pointer beside the newest names nothing that is there, or the newest lacks what a resume\n"
    "needs and one before it has. docs/checkpoints.md has the rest.\n",
    declare_verify, verify};
const Verb checkpoint_diff = {
    "checkpoint diff", "How two checkpoints differ, tensor by tensor",
    "  midwatch checkpoint diff ckpts/global_step_30 ckpts/global_step_40\n"
    "\nExit code 5: the tensors of a file of either cannot be read; which, the output says.\n",
    declare_diff, diff};
}  // namespace verbs

}  // namespace mw
