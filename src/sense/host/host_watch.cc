#include "sense/host/host_watch.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/text.h"
#include "read/interpret/interpreter.h"

namespace mw {
namespace {

constexpr int kLastCalls = 1000;      // ms that calls get to come back in when the watch ends
constexpr size_t kLinesAtOnce = 500;  // lines of the kernel's log that one round interprets
constexpr size_t kStepsLeast = 5;     // fewer have no rhythm

}  // namespace

/// Takes what a part reports and turns it into events.
class HostWatch::Hearing final : public host::Notes, private EventSink {
 public:
  explicit Hearing(const KnowledgeBase& knowledge)
      : knowledge_(knowledge),
        recogniser_(knowledge.book()),
        interpreter_(knowledge.pattern_index(), recogniser_, miner_, *this, 0) {}

  void begin(Duration now) {
    now_ = now;
    readings_.clear();
    matches_.clear();
    lines_ = 0;
  }

  void figure(std::string_view signal, std::string_view thing, double value) override {
    ledger_.note(signal, clip(sanitize_utf8(thing), 200), value, now_, readings_);
  }
  void happened(std::string_view signature, std::string_view text) override {
    matches_.push_back({std::string(signature), clip(redact_secrets(sanitize_utf8(text)), kTextLimit), 1, false});
  }
  void line(std::string_view text) override {
    if (++lines_ > kLinesAtOnce) return;
    hits_.clear();
    knowledge_.patterns().match_line(text, hits_);
    if (!hits_.empty()) interpreter_.line(text, ++number_, hits_);
  }
  void unseen(std::string_view what) override { unseen_.push_back({"unseen", std::string(what)}); }

  /// True when there was something to say.
  bool emit(std::string_view part, EventWriter& writer) {
    const std::string source = cat("host:", part);
    const bool any = !readings_.empty() || !matches_.empty();
    if (!readings_.empty()) writer.observed(source, event::Measured{kNoStep, false, std::exchange(readings_, {})});
    for (event::Matched& match : matches_) writer.observed(source, std::move(match));
    matches_.clear();
    for (event::SourceProblem& problem : unseen_) writer.observed(source, std::move(problem));
    unseen_.clear();
    return any;
  }

 private:
  /// Of the kernel's lines only the signatures count: they are nobody's training log.
  void put(Event&& event) override {
    if (auto* match = std::get_if<event::Matched>(&event.body)) matches_.push_back(std::move(*match));
  }

  const KnowledgeBase& knowledge_;
  Recogniser recogniser_;
  TemplateMiner miner_;
  Interpreter interpreter_;
  HostLedger ledger_;
  Duration now_;
  std::vector<Reading> readings_;
  std::vector<event::Matched> matches_;
  std::vector<event::SourceProblem> unseen_;
  std::vector<uint32_t> hits_;
  uint64_t number_ = 0;
  size_t lines_ = 0;
};

HostWatch::HostWatch(Clock& clock, const KnowledgeBase& knowledge, HostScope scope)
    : clock_(clock), scope_(std::move(scope)), hearing_(std::make_unique<Hearing>(knowledge)) {
  System& system = *scope_.system;
  parts_.push_back(host::make_processes(system, seen_));
  parts_.push_back(host::make_memory(system, seen_));
  parts_.push_back(host::make_pressure(system));
  parts_.push_back(host::make_network(system));
  parts_.push_back(host::make_kernel_log(system, seen_));
  parts_.push_back(host::make_disks(scope_.system));
  parts_.push_back(host::make_core_dumps(scope_.system, seen_, clock.now()));
  if (scope_.gpus != nullptr) parts_.push_back(host::make_gpu_part(scope_.gpus, seen_));
}

HostWatch::~HostWatch() {
  const auto busy = [this] {
    return std::any_of(parts_.begin(), parts_.end(), [](const auto& part) { return part->busy(); });
  };
  for (int i = 0; i < kLastCalls && busy(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

host::Aim HostWatch::aim_at(const State& state) const {
  host::Aim aim;
  aim.root = root_;
  aim.folders = scope_.folders;
  const std::string here = aim.root > 0 ? cat("/proc/", aim.root, "/cwd") : "";
  if (!here.empty()) aim.folders.push_back(here);
  for (auto saved = state.checkpoints.rbegin(); saved != state.checkpoints.rend(); ++saved) {
    const std::string& path = saved->second.path;
    if (path.empty()) continue;  // one that was only begun is measured again until it is whole
    if (path.front() == '/') aim.checkpoint = path;
    if (path.front() != '/' && !here.empty()) aim.checkpoint = cat(here, "/", path);
    break;
  }
  if (const size_t slash = aim.checkpoint.rfind('/'); slash != std::string::npos && slash > 0) {
    aim.folders.push_back(aim.checkpoint.substr(0, slash));
  }
  return aim;
}

/// Collects from each part in turn, as far as their answers are there. True when all have reported.
bool HostWatch::collect(EventWriter& writer, Duration now) {
  for (; next_part_ < parts_.size(); ++next_part_) {
    host::Part& part = *parts_[next_part_];
    hearing_->begin(now);
    if (!part.collect(*hearing_, now)) return false;
    if (hearing_->emit(part.name(), writer)) news_ = true;
  }
  return true;
}

/// Only of a run that lives: what its processes do meanwhile is known then.
void HostWatch::report_silence(EventWriter& writer, Duration now) {
  const Duration silence = writer.silence();
  const bool long_enough = root_ > 0 && silence >= kSilence;
  hearing_->begin(now);
  if (long_enough && rhythm_.timed() >= kStepsLeast) {
    hearing_->figure("step.usual", "run", rhythm_.usual().seconds());
    hearing_->figure("step.longest", "run", rhythm_.longest().seconds());
  }
  if (long_enough || silent_) hearing_->figure("log.silent", "run", long_enough ? silence.seconds() : 0);
  silent_ = long_enough;
  if (hearing_->emit("log", writer)) news_ = true;
}

std::optional<Duration> HostWatch::turn(const State& state, bool, EventWriter& writer) {
  const Duration now = clock_.steady();
  if (!state.attempts.empty()) rhythm_.saw(state.attempts.size(), state.attempts.back().last_step, now);
  // An attempt that began or ended is looked at once: what ended it must be known when that is judged.
  const int64_t root = scope_.root ? scope_.root() : 0;
  if (!collecting_ && (now >= due_ || root != root_)) {
    root_ = root;
    collecting_ = true;
    next_part_ = 0;
    due_ = Duration{now.ns + kPeriod.ns};
    const host::Aim aim = aim_at(state);
    for (const auto& part : parts_) part->begin(aim, now);
  }
  if (collecting_ && collect(writer, now)) {
    collecting_ = false;
    report_silence(writer, now);
  }
  if (std::exchange(news_, false)) writer.judge();
  if (collecting_) return kPoll;
  return Duration{std::max<int64_t>(0, due_.ns - now.ns)};
}

std::unique_ptr<HostWatch> watch_machine(Clock& clock, const KnowledgeBase& knowledge, std::vector<std::string> folders,
                                         std::function<int64_t()> root) {
  return std::make_unique<HostWatch>(clock, knowledge,
                                     HostScope{make_posix_system(), make_gpus(), std::move(folders), std::move(root)});
}

}  // namespace mw
