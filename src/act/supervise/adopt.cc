#include "act/supervise/adopt.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <set>

#include "base/json.h"
#include "base/secrets.h"
#include "base/text.h"
#include "core/exit_status.h"
#include "core/supervise/decide.h"
#include "platform/open_files.h"
#include "platform/system.h"
#include "sense/processes/written_logs.h"

namespace mw {
namespace {

constexpr size_t kFilesLimit = 64;       // read of one run
constexpr size_t kProcessesLimit = 500;  // of a tree, looked at for files

class LogFiles {
 public:
  explicit LogFiles(std::vector<std::string>& out) : out_(out) {}
  void add(const OpenFile& file) {
    if (!file.regular || !file.writes || is_no_run_file(file.target) || out_.size() >= kFilesLimit) return;
    if (std::find(out_.begin(), out_.end(), file.target) == out_.end()) out_.push_back(file.target);
  }

 private:
  std::vector<std::string>& out_;
};

/// Files of whoever has one of `pipes` as standard input and writes it on (tee, a logger), outside of the run's own
/// processes. Who reads one beside other work (a launcher, a service manager) writes files of others, too.
void find_behind(const std::vector<ProcessInfo>& all, const std::set<int64_t>& tree, const std::set<std::string>& pipes,
                 LogFiles& finding) {
  if (pipes.empty()) return;
  for (const ProcessInfo& process : all) {
    if (tree.count(process.id.pid) != 0 || process.id.pid == getpid()) continue;
    const auto files = open_files(process.id.pid);
    if (!files.ok()) continue;
    const bool reads = std::any_of(files->begin(), files->end(), [&pipes](const OpenFile& file) {
      return file.number == 0 && !file.writes && pipes.count(file.target) != 0;
    });
    if (!reads) continue;
    for (const OpenFile& file : *files) finding.add(file);
  }
}

Error unreadable(int64_t pid, const Error& why) {
  if (why.code == Error::Code::kNotFound)
    return {why.code, cat("there is no process ", pid), "ps aux shows those that are."};
  return {Error::Code::kDenied, cat("process ", pid, " is another user's: which files it writes cannot be seen"),
          "Watch as that user, or name the files: midwatch attach PATH."};
}

Error nothing_to_read(int64_t pid, const std::vector<OpenFile>& own, const std::string& folder) {
  std::string to = "nowhere";
  for (const OpenFile& file : own) {
    if (file.number == 1) to = file.target;
  }
  const bool terminal = to.starts_with("/dev/pts/") || to.starts_with("/dev/tty");
  const bool pipe = to.starts_with("pipe:") || to.starts_with("socket:");
  return {Error::Code::kUnsupported,
          cat("process ", pid, " writes to ",
              terminal ? "a terminal ("
              : pipe   ? "a pipe ("
                       : "",
              to, terminal || pipe ? ")" : "", ", which nobody else can read, and has no log open"),
          cat("If it keeps logs or metrics somewhere: midwatch attach PATH (it works in ", folder,
              "). Else start it anew under midwatch run, or with its output in a file.")};
}

std::vector<std::string> command_of(int64_t pid) {
  const auto text = make_posix_system()->read(cat("/proc/", pid, "/cmdline"));
  std::vector<std::string> words;
  if (!text.ok()) return words;
  for (const std::string_view word : split(*text, '\0')) words.emplace_back(word);
  while (!words.empty() && words.back().empty()) words.pop_back();
  return redact_words(words);
}

}  // namespace

Result<Adopted> adopt(Processes& processes, int64_t pid, const std::vector<std::string>& also) {
  const auto root = processes.info(pid);
  if (!root.ok() || root->state == 'Z') {
    return root.ok() ? Error{Error::Code::kNotFound, cat("process ", pid, " has ended"), ""}
                     : unreadable(pid, root.error());
  }
  const auto all = processes.all();
  for (int64_t above = getpid(); above > 0;) {
    if (above == pid) {
      return Error{Error::Code::kInvalid, cat("process ", pid, " is one that midwatch itself came from"),
                   "Name the trainer's own process."};
    }
    const auto info = processes.info(above);
    above = info.ok() ? info->parent : 0;
  }
  const auto own = open_files(pid);
  if (!own.ok()) return unreadable(pid, own.error());
  Adopted adopted;
  adopted.id = root->id;
  adopted.command = command_of(pid);
  const auto folder = working_folder_of(pid);
  adopted.folder = folder.ok() ? *folder : "/";
  adopted.paths = also;
  LogFiles finding(adopted.paths);
  std::set<std::string> pipes;
  for (const OpenFile& file : *own) {
    if (file.number != 1 && file.number != 2) continue;
    finding.add(file);
    if (file.target.starts_with("pipe:")) pipes.insert(file.target);
  }
  std::set<int64_t> tree = {pid};
  for (const ProcessInfo& process : descendants(all, pid)) {
    if (tree.size() < kProcessesLimit) tree.insert(process.id.pid);
  }
  find_behind(all, tree, pipes, finding);
  for (const int64_t one : tree) {
    const auto files = open_files(one);
    for (const OpenFile& file : files.ok() ? *files : std::vector<OpenFile>()) {
      if (looks_like_log(file.target)) finding.add(file);
    }
  }
  if (adopted.paths.empty()) return nothing_to_read(pid, *own, adopted.folder);
  return adopted;
}

std::string adopted_text(const Adopted& adopted, const std::string& boot) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("version").integer(1).key("pid").integer(adopted.id.pid);
    json.key("start").integer(static_cast<int64_t>(adopted.id.start)).key("boot").string(boot);
    for (const auto& [key, texts] : {std::pair{"command", &adopted.command}, std::pair{"paths", &adopted.paths},
                                     std::pair{"allow", &adopted.allow}}) {
      json.key(key).begin_array();
      for (const std::string& text : *texts) json.string(text);
      json.end_array();
    }
    json.key("folder").string(adopted.folder).end_object();
  }
  return out + "\n";
}

Result<Adopted> parse_adopted(std::string_view text, std::string* boot) {
  const auto json = Json::parse(text);
  if (!json.ok()) return json.error();
  Adopted adopted;
  adopted.id = {json->integer_or("pid", 0), static_cast<uint64_t>(json->integer_or("start", 0))};
  *boot = json->string_or("boot", "");
  adopted.folder = json->string_or("folder", "");
  for (const auto& [key, texts] : {std::pair{"command", &adopted.command}, std::pair{"paths", &adopted.paths},
                                   std::pair{"allow", &adopted.allow}}) {
    const Json* list = json->find(key);
    if (list == nullptr || !list->is_array()) continue;
    for (const Json& one : list->items()) texts->push_back(one.string());
  }
  return adopted;
}

bool Adoption::allowed(std::string_view what) const {
  return std::find(adopted_.allow.begin(), adopted_.allow.end(), what) != adopted_.allow.end();
}

Result<void> Adoption::ask(const RunAsk& ask) {
  using What = RunAsk::What;
  if (ask.what == What::kTell) return {};
  const bool pausing = ask.what == What::kPause || ask.what == What::kResume;
  if (!allowed(pausing ? "pause" : "stop")) {
    // Whoever asked knows it from the verb; what lies in the inbox all the same is dropped.
    say_(cat("asked to ", pausing ? "pause or resume" : "stop", " ", name(), ", which is not allowed"));
  } else {
    kill_ = kill_ || ask.what == What::kKill;
  }
  return {};
}

void Adoption::look() {
  const auto all = processes_.all();
  const auto find = [&all](const ProcessId& id) {
    return std::find_if(all.begin(), all.end(), [&id](const auto& one) { return one.id == id && one.state != 'Z'; });
  };
  std::vector<ProcessInfo> tree;
  const auto add = [&tree](const ProcessInfo& one) {
    const bool known = std::any_of(tree.begin(), tree.end(), [&one](const auto& other) { return other.id == one.id; });
    if (!known && one.state != 'Z') tree.push_back(one);
  };
  std::vector<ProcessId> roots = {adopted_.id};
  for (const ProcessInfo& one : tree_) roots.push_back(one.id);
  for (const ProcessId& id : roots) {
    const auto here = find(id);
    if (here == all.end()) continue;
    add(*here);
    for (const ProcessInfo& one : descendants(all, id.pid)) add(one);
  }
  tree_ = std::move(tree);
  gone_ = find(adopted_.id) == all.end();
}

/// To those in that state, or to all but those.
size_t Adoption::send(int signal, char state, bool but) {
  size_t sent = 0;
  for (const ProcessInfo& one : tree_) {
    if ((one.state == state) != but) sent += processes_.signal(one.id, signal).ok() ? 1 : 0;
  }
  return sent;
}

Result<void> Adoption::keep_paused(const State& state, EventWriter& writer) {
  if (!allowed("pause")) return {};
  if (!paused_) paused_ = state.supervision.paused;
  const PauseStep step = decide_pause(state.supervision, *paused_);
  if (step == PauseStep::kNone) return {};
  if (step == PauseStep::kKeepPaused) {
    (void)send(SIGSTOP, 'T', true);  // what came since
    return {};
  }
  const bool pause = step == PauseStep::kPause;
  const auto action = writer.intend({0, pause ? "pause" : "resume", name(), 0, pause_reason(state.supervision, 0)});
  if (!action.ok()) return action.error();
  const size_t sent = pause ? send(SIGSTOP, 'T', true) : send(SIGCONT, 'T', false);
  writer.acted({*action, true, cat(sent, sent == 1 ? " process" : " processes"), 0});
  paused_ = pause;
  say_(cat(name(), pause ? " is paused" : " is resumed"));
  return {};
}

Result<void> Adoption::do_as_asked(const State& state, EventWriter& writer) {
  if (!state.supervision.stop || !allowed("stop")) return keep_paused(state, writer);
  if (stopping_ != 0) return {};
  const auto action = writer.intend({0, "stop", name(), 0, "A stop was requested."});
  if (!action.ok()) return action.error();
  stopping_ = *action;
  stop_from_ = clock_.steady();
  return {};
}

/// SIGINT as Ctrl-C sends it, then SIGTERM, then SIGKILL; each once.
void Adoption::press() {
  const int64_t spent = clock_.steady().ns - stop_from_.ns;
  const int due = kill_ || spent >= kGrace.ns ? 3 : spent >= kGrace.ns / 2 ? 2 : 1;
  if (due <= rungs_) return;
  rungs_ = due;
  say_(cat("asking ", name(), " to end by ", due == 1 ? "SIGINT" : due == 2 ? "SIGTERM" : "SIGKILL"));
  (void)send(due == 1 ? SIGINT : due == 2 ? SIGTERM : SIGKILL, '\0', true);
  (void)send(SIGCONT, 'T', false);  // paused, it would never see it
}

void Adoption::report_end(const State& state, EventWriter& writer) {
  end_reported_ = true;
  UnseenEnd end = unseen_end(state, knowledge_, name());
  if (stopping_ != 0) {
    end.ended.how = event::Ended::How::kInterrupted;
    end.ended.text = cat(name(), " has ended, as a stop was requested");
  }
  say_(end.ended.text);
  if (stopping_ != 0) writer.acted({stopping_, true, "it has ended", 0});
  // What the run itself said of its end counts more.
  if (!end.log_says) writer.ended("host:process", std::move(end.ended));
  writer.judge();
}

std::optional<Duration> Adoption::turn(const State& state, bool quiet, EventWriter& writer) {
  look();
  if (gone_) {
    if (gone_from_.ns == 0) gone_from_ = clock_.steady();
    // Its remaining workers are still asked to end.
    if (stopping_ != 0 && !tree_.empty()) press();
    const bool later = clock_.steady().ns - gone_from_.ns >= kLateOutput.ns;
    if (end_reported_ && quiet && later) return std::nullopt;
    if (!end_reported_ && quiet && later) report_end(state, writer);
    return kPoll;
  }
  if (const auto done = do_as_asked(state, writer); !done.ok()) say_(done.error().what);
  if (stopping_ != 0) press();
  return kPoll;
}

void Adoption::over(const State&, EventWriter&) {
  if (paused_.value_or(false) && !gone_) {
    say_(cat(name(), " is still paused: attach to it again and run midwatch resume, or send it SIGCONT"));
  }
}

}  // namespace mw
