// Similar causes, and what distinguishes them (failure catalogue, "Confusable pairs").
#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/detect/support/host.h"
#include "core/diagnose/diagnose.h"
#include "core/diagnose/scene.h"
#include "core/incident_kind.h"
#include "core/incident_links.h"

namespace mw::diagnose {
namespace {

using Out = std::vector<Argument>;

/// "GPU 0 has a total capacity of 44.40 GiB of which 5.38 MiB is free. Process 123 has 19.88 GiB memory in use. ...
/// this process has 16.77 GiB ..." (c10/cuda/CUDACachingAllocator.cpp): who holds the memory.
double gib_after(std::string_view text, size_t from) {
  while (from < text.size() && text[from] == ' ') ++from;
  size_t used = 0;
  const auto value = parse_double_prefix(text.substr(from), &used);
  if (!value) return 0;
  const std::string_view unit = trim(text.substr(from + used)).substr(0, 3);
  return unit == "GiB" ? *value : unit == "MiB" ? *value / 1024 : 0;
}

// Less idle memory than this share of the card is what every allocator keeps.
constexpr double kIdleShare = 0.1;

/// "of which 47.12 GiB is free ... 7.92 GiB allowed; Of the allocated memory": there was room on the GPU, and it is the
/// process that may not take it (torch.cuda.set_per_process_memory_fraction). True where the text says so.
bool own_allowance(std::string_view text, Out& out) {
  const auto named = [&](std::string_view words) {
    const size_t at = text.find(words);
    return at == std::string_view::npos ? 0 : gib_after(text, at + words.size());
  };
  const double tried = named("Tried to allocate "), free = named(" of which ");
  const size_t allowed = text.find(" allowed; Of the allocated");
  // What little is free of a full card is in pieces.
  const bool full = free < kIdleShare * named("total capacity of ") && allowed == std::string_view::npos;
  if (tried <= 0 || free <= tried || full) return false;
  const size_t from = allowed == std::string_view::npos ? allowed : text.rfind(". ", allowed);
  const double most = from == std::string_view::npos ? 0 : gib_after(text, from + 2);
  out.push_back({"gpu-zombie-memory-holder", -0.9, cat(free, " GiB of the GPU were free")});
  out.push_back({"cuda-oom-trainer", 0.1,
                 most > 0 ? cat("the process may use ", most, " GiB of the GPU only: its memory fraction is set")
                          : cat(free, " GiB of the GPU were free")});
  return true;
}

/// Before it did a step the attempt lacks the memory that an earlier one had, with the same settings.
bool had_room_before(const Scene& scene) {
  const auto& attempts = scene.state.attempts;
  const size_t number = scene.incident.onset.attempt;
  if (number == 0 || number >= attempts.size() || attempts[number].last_step != kNoStep) return false;
  return std::any_of(attempts.begin(), attempts.begin() + static_cast<ptrdiff_t>(number),
                     [](const AttemptState& before) { return before.last_step != kNoStep && before.last_step > 1; });
}

/// Most of the GPU's memory is held by a process that has another number, and nothing says that this one holds any.
void held_since_before(const Scene& scene, std::string_view text, double foreign, double own, Out& out) {
  constexpr double kMost = 0.5;
  const size_t has = text.find("total capacity of ");
  const double capacity = has == std::string_view::npos ? 0 : gib_after(text, has + 18);
  const size_t allocated = text.find("Of the allocated memory ");
  const double used = allocated == std::string_view::npos ? 0 : gib_after(text, allocated + 24);
  if (capacity <= 0 || foreign < kMost * capacity || std::max(own, used) > foreign / 2 || !had_room_before(scene))
    return;
  out.push_back({"gpu-zombie-memory-holder", 0.6,
                 cat("another process holds ", foreign, " GiB before the first step; an earlier attempt had room")});
  out.push_back({"cuda-oom-trainer", -0.4, "an earlier attempt did its steps with the same settings"});
}

void gpu_memory(const Scene& scene, Out& out) {
  if (!scene.named("cuda-oom-trainer")) return;
  for (const Evidence& evidence : scene.incident.evidence) {
    const std::string_view text = evidence.text;
    if (own_allowance(text, out)) continue;
    double foreign = 0, own = 0;
    for (size_t at = text.find("Process "); at != std::string_view::npos; at = text.find("Process ", at + 1)) {
      const size_t has = text.find(" has ", at);
      if (has != std::string_view::npos && has - at < 24) foreign += gib_after(text, has + 5);
    }
    if (const size_t at = text.find("this process has "); at != std::string_view::npos) own = gib_after(text, at + 17);
    held_since_before(scene, text, foreign, own, out);
    if (foreign > 0 && own > 0 && foreign > own) {
      // In the first attempt no earlier one can have left anything: the run's engine on the same GPU is the likelier
      // holder, unless it is the one that lacks the memory.
      const bool own_engine = scene.incident.onset.attempt == 0 && scene.incident.kind != "engine-dead";
      out.push_back({"gpu-zombie-memory-holder", own_engine ? 0.1 : 0.5,
                     cat("other processes hold ", foreign, " GiB of the GPU, this one ", own, " GiB")});
    }
    const size_t unused = text.find(" is reserved by PyTorch but unallocated");
    const size_t tried = text.find("Tried to allocate ");
    if (unused != std::string_view::npos && tried != std::string_view::npos) {
      size_t begin = text.rfind(' ', unused - 1);
      begin = begin == std::string_view::npos ? 0 : text.rfind(' ', begin - 1);
      const double idle = begin == std::string_view::npos ? 0 : gib_after(text, begin);
      const double wanted = gib_after(text, tried + 18);
      const size_t has = text.find("total capacity of ");
      const double capacity = has == std::string_view::npos ? 0 : gib_after(text, has + 18);
      if (wanted > 0 && idle > 2 * wanted && idle > kIdleShare * capacity) {
        out.push_back({"cuda-oom-fragmentation", 0.5,
                       cat(idle, " GiB were reserved but unused when ", wanted, " GiB could not be had")});
      }
    }
  }
  if (scene.says("node running low on memory")) {
    out.push_back({"cuda-oom-trainer", -0.9, "the text speaks of the node's memory, not the GPU's"});
  }
}

void full_disk(const Scene& scene, Out& out) {
  if (!scene.named("enospc-generic")) return;
  if (scene.says("/dev/shm")) {
    out.push_back({"shm-exhausted-torch", 0.6, "the path that is full is /dev/shm"});
    out.push_back({"enospc-generic", -0.6, "the path that is full is /dev/shm"});
  }
  if (scene.seen("core-dump-fills-disk")) out.push_back({"core-dump-fills-disk", 0.6, "core dumps were seen"});
}

/// The least that was free in the minutes before on the disk that the incident's first evidence names, by its path.
std::optional<std::pair<double, std::string>> least_free(const Scene& scene) {
  constexpr Duration kBefore = Duration::seconds(600);
  const Incident& incident = scene.incident;
  if (incident.evidence.empty() || !incident.onset.at.known()) return std::nullopt;
  const std::string_view path = incident.evidence.front().text;
  const Series* disk = nullptr;
  for (const Series* one : detect::host_series(scene.state, "disk.free")) {
    const bool holds = path.starts_with(one->raw) && (one->raw == "/" || path.substr(one->raw.size()).starts_with('/'));
    if (holds && (disk == nullptr || one->raw.size() > disk->raw.size())) disk = one;
  }
  if (disk == nullptr) return std::nullopt;
  const Time from{incident.onset.at.ns - kBefore.ns};
  std::optional<double> least = detect::host_value(scene.state, "disk.free", disk->raw, from);
  for (const Point& point : disk->points())
    if (point.at >= from) least = std::min(least.value_or(point.value), point.value);
  return least ? std::optional(std::pair(*least, disk->raw)) : std::nullopt;
}

/// A save that is not whole, and nobody said that its disk was full: the disk's own count may show that it was not.
void room_there_was(const Scene& scene, Out& out) {
  constexpr double kRoom = 1e9, kShare = 0.05, kSaves = 2;
  const bool save = scene.incident.kind == "checkpoint-incomplete" || scene.incident.kind == "checkpoint-failed";
  if (!save || scene.named("enospc-generic") || scene.seen("enospc-generic")) return;
  const auto free = least_free(scene);
  if (!free) return;
  double largest = 0;  // that a save is known to take
  for (const auto& [moment, seen] : scene.state.checkpoint_scans)
    if (seen.how == event::CheckpointSeen::How::kWhole) largest = std::max(largest, static_cast<double>(seen.bytes));
  const auto size = detect::host_value(scene.state, "disk.size", free->second, scene.state.last_at);
  const double wanted = largest > 0 ? kSaves * largest : kShare * size.value_or(0);
  if (free->first < std::max(kRoom, wanted)) return;
  out.push_back({"enospc-generic", -1, cat(format_bytes(free->first), " were free on ", free->second)});
}

void killed(const Scene& scene, Out& out) {
  if (!scene.named("exit-137-unexplained")) return;
  for (const std::string_view confirmed :
       {"oom-killer-host", "cgroup-oom-kill", "slurm-oom-kill", "ray-memory-monitor-kill"}) {
    if (!scene.seen(confirmed)) continue;
    out.push_back({std::string(confirmed), 0.7, "its own words are in the files"});
    out.push_back({"exit-137-unexplained", -0.7, "the kill is explained"});
  }
}

void cancelled(const Scene& scene, Out& out) {
  // A step whose task failed is cancelled by srun itself.
  const bool stopped = scene.incident.kind == "interrupted" || scene.incident.kind == "died-silently";
  if (!stopped && scene.named("slurm-cancelled")) {
    out.push_back({"user-cancelled", -0.6, "the run had failed before it was cancelled"});
  } else if (scene.named("slurm-cancelled") && scene.says("job requeue")) {
    out.push_back({"user-cancelled", -0.6, "the job was queued again, to begin anew"});
  } else if (scene.named("slurm-cancelled") && !scene.says("time limit") && !scene.says("preempt")) {
    out.push_back(
        {"user-cancelled", 0.9, "a job that is cancelled without a word of its time limit was cancelled by hand"});
  }
  for (const std::string_view reason : {"slurm-time-limit", "slurm-preempted"}) {
    if (!scene.named("slurm-cancelled") || !scene.named(reason)) continue;
    out.push_back({std::string(reason), 0.9, "the scheduler names the reason"});
    out.push_back({"slurm-cancelled", -0.6, "the scheduler names the reason"});
  }
  if (scene.named("sigterm-received")) out.push_back({"sigterm-received", -0.3, "it does not say who sent the signal"});
}

/// What failed before is the cause, by the name that it has itself: the reward only shows it.
/// A service that is known to fail says more than that something could not be reached.
void outage(const Scene& scene, Out& out) {
  const Incident* first = nullptr;
  for (const Incident& other : scene.all) {
    if (other.id >= scene.incident.id || other.severity == Severity::kInfo || other.causes.empty() ||
        !is_outage(scene.knowledge, other) || !may_have_led_to(scene.state, scene.knowledge, other, scene.incident)) {
      continue;
    }
    if (first == nullptr || (first->kind == "network" && other.kind != "network")) first = &other;
  }
  if (first == nullptr) return;
  const std::string before = cat(first->kind, " (#", first->id, ") came before it");
  out.push_back({first->causes.front().id, 0.7, before});
  out.push_back({"reward-function-broken-all-zero", -0.5, before});
}

/// Steps that do not come wait for what the requests that fail since then were to bring.
void waits_in_vain(const Scene& scene, Out& out) {
  const Moment& onset = scene.incident.onset;
  if (scene.incident.kind != "stall" || onset.step == kNoStep) return;
  const auto found = std::find_if(scene.all.begin(), scene.all.end(), [&](const Incident& other) {
    return (other.kind == "engine-dead" || is_outage(scene.knowledge, other)) && other.open &&
           other.severity > Severity::kInfo && !other.causes.empty() && other.onset.attempt == onset.attempt &&
           other.onset.step != kNoStep && other.onset.step + kNearSteps >= onset.step;
  });
  if (found == scene.all.end()) return;
  const std::string failing = cat(found->kind, " (#", found->id, ") goes on since then");
  out.push_back({found->causes.front().id, 0.85, failing});
  out.push_back({"hang-no-progress-generic", -0.5, failing});
}

/// Calls that find no server: an engine's, without which there are no answers, or that of a service that rewards them.
void no_server(const Scene& scene, Out& out) {
  const bool answers = scene.still_answers();
  if (answers)
    out.push_back({"sglang-server-down-zero-reward", -0.7, "answers are as long as before: an engine gives them"});
  if (!scene.unreachable()) return;
  out.push_back({"reward-function-broken-all-zero", -0.5, "requests to a server fail while the reward is zero"});
  if (const detect::Service* const service = scene.unreachable_service()) {
    const std::string failing = cat("calls of ", service->name, " find no server while the reward is zero");
    out.push_back({std::string(service->cause), 0.85, failing});
    out.push_back({"sglang-server-down-zero-reward", -0.5, failing});
  } else if (!answers) {
    out.push_back({"sglang-server-down-zero-reward", 0.85, "requests to a server fail while the reward is zero"});
  }
}

void lost_reward(const Scene& scene, Out& out) {
  const std::string& kind = scene.incident.kind;
  if (kind != "zero-reward" && kind != "reward-collapse") return;
  if (scene.preceded_by("engine-dead")) {
    out.push_back({scene.state.framework == "areal" ? "sglang-server-down-zero-reward" : "reward-sudden-zero", 0.7,
                   "the inference engine was lost before"});
    out.push_back({"reward-function-broken-all-zero", -0.5, "the inference engine was lost before"});
  }
  if (kind == "zero-reward") no_server(scene, out);
  outage(scene, out);
  if (scene.preceded_by("environment-fault")) {
    out.push_back({"env-server-crash-empty-outputs", 0.5, "the environment was failing before"});
  }
  if (scene.preceded_by("non-finite")) {
    out.push_back({"nan-loss", 0.85, "the weights had met NaN before"});
    out.push_back({"sglang-server-down-zero-reward", -0.5, "the weights had met NaN before"});
    out.push_back({"reward-function-broken-all-zero", -0.5, "the weights had met NaN before"});
  }
  // A policy that dissolves into noise writes to the limit and puzzles its engine: both are signs of that.
  if (scene.dissolved()) return;
  if (scene.preceded_by("policy-mismatch", kNearSteps)) {
    out.push_back({"train-inference-mismatch", 0.8, "engine and trainer disagreed when it began"});
  }
  if (kind == "reward-collapse" && scene.shorter_since()) {
    out.push_back({"length-collapse", 0.7, "answers had become very short before"});
  }
  if (kind == "reward-collapse" && scene.cut_off_since()) {
    out.push_back({"length-explosion-truncation", 0.7, "most answers were cut off before"});
  }
}

// A learning rate moves by its schedule: it grows by equal parts in the warm-up and then only falls.
constexpr double kRateJump = 3;  // times, from one record to the next, after one that had not grown
constexpr double kStillGrowing = 1.05;
constexpr int64_t kRateReach = 20;  // steps from the jump to what came of it

/// The first point of the part, whose steps are in order, that is not before `step`.
size_t first_at(const std::vector<Point>& points, const Series::Part& part, int64_t step) {
  const auto begin = points.begin() + static_cast<std::ptrdiff_t>(part.begin);
  const auto end = points.begin() + static_cast<std::ptrdiff_t>(part.end);
  return static_cast<size_t>(std::partition_point(begin, end, [step](const Point& p) { return p.step < step; }) -
                             points.begin());
}

// Policies are trained on rewards with rates of 1e-7 to 1e-5, adapters with up to 1e-4, tiny models with a
// little more: ten times that upsets any of them.
constexpr double kRateTooHigh = 2e-3;

/// The highest rate of the attempt up to the onset; 0 when none is known, or none is too high.
double highest_rate(const Series& rate, const Moment& onset) {
  double highest = 0;
  if (!(rate.max() >= kRateTooHigh)) return highest;  // of nearly every run: no walk along the series
  for (const Point& point : rate.points()) {
    if (point.attempt == onset.attempt && point.step <= onset.step + 1) highest = std::max(highest, point.value);
  }
  return highest;
}

/// The rate was raised at once, shortly before the trouble: a wrong setting, or a schedule that began anew.
void learning_rate(const Scene& scene, Out& out) {
  constexpr std::array<std::string_view, 8> kUpset{"instability",     "gradient-spike",   "loss-spike",
                                                   "kl-runaway",      "entropy-collapse", "entropy-explosion",
                                                   "clip-saturation", "reward-collapse"};
  const Moment& onset = scene.incident.onset;
  const Series* rate = scene.state.find("lr");
  if (rate == nullptr || onset.step == kNoStep) return;
  const bool upset = std::find(kUpset.begin(), kUpset.end(), scene.incident.kind) != kUpset.end();
  const bool lost = scene.incident.kind == "zero-reward" || scene.incident.kind == "length-collapse";
  const double highest = upset || lost ? highest_rate(*rate, onset) : 0;
  if (highest >= kRateTooHigh) {
    // A reward of zero has more often other causes: what the rate had brought about before leads to it.
    out.push_back({"learning-rate-too-high", scene.incident.kind == "zero-reward" ? 0.3 : 0.8,
                   cat("the learning rate is ", highest, "; training on rewards takes 1e-7 to 1e-4")});
    return;
  }
  if (!upset) return;
  const std::vector<Point>& points = rate->points();
  for (const Series::Part& part : rate->parts()) {
    if (part.attempt != onset.attempt || part.most < onset.step - kRateReach || part.least > onset.step + 1) continue;
    size_t i = part.begin;
    if (part.in_order) i = first_at(points, part, onset.step - kRateReach);
    for (i = std::max<size_t>(i, 2); i < part.end && !(part.in_order && points[i].step > onset.step + 1); ++i) {
      const Point &before = points[i - 1], &now = points[i];
      if (points[i - 2].attempt != onset.attempt) continue;
      if (now.step > onset.step + 1 || onset.step - now.step > kRateReach) continue;
      const bool grew = before.value > kStillGrowing * points[i - 2].value;
      if (grew || !(before.value > 0) || now.value < kRateJump * before.value) continue;
      out.push_back(
          {"learning-rate-too-high", 0.9,
           cat("the learning rate was raised at once at step ", now.step, ", from ", before.value, " to ", now.value)});
      return;
    }
  }
}

/// Tokens that turn random within one step, while engine and trainer begin to disagree: no update of a policy does
/// that, an engine that got broken weights does.
void broken_weights(const Scene& scene, Out& out) {
  static constexpr std::array<std::string_view, 3> kShows{"zero-reward", "reward-collapse", "policy-mismatch"};
  constexpr double kText = 2.5, kJump = 3;  // nats: text has less; no step of a policy adds as much
  constexpr int64_t kReach = 2;             // steps
  const Moment& onset = scene.incident.onset;
  const Series* const entropy = scene.state.find("entropy");
  const Series* const rate = scene.state.find("lr");
  if (entropy == nullptr || onset.step == kNoStep || !(entropy->max() >= kJump)) return;
  if (std::find(kShows.begin(), kShows.end(), scene.incident.kind) == kShows.end()) return;
  if (rate != nullptr && highest_rate(*rate, onset) > 0) return;
  const auto near = [&](int64_t step) { return step != kNoStep && std::abs(step - onset.step) <= kReach; };
  const bool disagree = std::any_of(scene.all.begin(), scene.all.end(), [&](const Incident& other) {
    return other.kind == "policy-mismatch" && other.onset.attempt == onset.attempt && near(other.onset.step);
  });
  if (!disagree) return;
  const std::vector<Point>& points = entropy->points();
  for (size_t i = 1; i < points.size(); ++i) {
    const Point &before = points[i - 1], &now = points[i];
    if (now.attempt != onset.attempt || before.attempt != onset.attempt || !near(now.step)) continue;
    if (now.step != before.step + 1 || before.value > kText || !(now.value - before.value >= kJump)) continue;
    out.push_back({"weight-sync-corrupt", 0.95,
                   cat("entropy went from ", before.value, " to ", now.value, " nats within step ", now.step,
                       ", and engine and trainer disagree since")});
    return;
  }
}

void echoes(const Scene& scene, Out& out) {
  // A wrapper or an echo never leads where something else was seen.
  static constexpr std::array<std::string_view, 13> kEchoes{"exit-status",
                                                            "unhandled-exception",
                                                            "ray-task-error-wrapper",
                                                            "torchelastic-child-failed",
                                                            "deepspeed-subprocess-return-code",
                                                            "ray-actor-init-failed",
                                                            "vllm-engine-init-failed",
                                                            "torchelastic-sigterm",
                                                            "prime-rl-component-exit",
                                                            "launcher-job-failed",
                                                            "subprocess-failed",
                                                            "slurm-task-failed",
                                                            "worker-exited"};
  for (const std::string_view echo : kEchoes) {
    if (!scene.named(echo)) continue;
    const bool other = std::any_of(scene.suggestions.begin(), scene.suggestions.end(), [&](const Suggestion& s) {
      return std::find(kEchoes.begin(), kEchoes.end(), s.cause) == kEchoes.end() && s.weight >= 0.2;
    });
    if (other) out.push_back({std::string(echo), -0.6, "it only reports that something else failed"});
  }
}

/// A trainer's own breaker ended the run for what the figures show: that has a cause, the breaker is none.
void broken_on_purpose(const Scene& scene, Out& out) {
  constexpr double kSeen = 0.95;
  if (!scene.named("own-circuit-breaker")) return;
  for (const Incident& other : scene.all) {
    const IncidentKind* kind = find_incident_kind(other.kind);
    const bool learning = kind != nullptr && kind->family == IncidentKind::Family::kLearning;
    if (!learning || other.severity != Severity::kCritical || !other.open || other.causes.empty() ||
        other.onset.attempt != scene.incident.onset.attempt) {
      continue;
    }
    out.push_back({other.causes.front().id, kSeen, cat(other.kind, " (#", other.id, ") is what it stopped for")});
    return;
  }
}

/// A program that raises at a NaN seldom names it: a norm "expected a floating point tensor", a distribution refused
/// its probabilities. What figures had shown just before is the likelier cause.
void after_nan(const Scene& scene, Out& out) {
  constexpr double kLikely = 0.75, kDoubt = -0.4;
  static constexpr std::array<std::string_view, 9> kNumeric = {
      "norm", "nan", "finite", "floating point", "probability tensor", "multinomial", "overflow", "loss scale", "inf "};
  const bool raised = scene.incident.kind == "code-error" || scene.incident.kind == "crash" ||
                      (scene.incident.kind == "config-error" && scene.named("dtype-mismatch"));
  if (!raised ||
      std::none_of(kNumeric.begin(), kNumeric.end(), [&](std::string_view word) { return scene.says(word); }))
    return;
  if (!scene.preceded_by("non-finite", kNearSteps)) return;
  out.push_back({"nan-loss", kLikely, "figures were no numbers just before"});
  out.push_back({"dtype-mismatch", kDoubt, "figures were no numbers just before"});
}

/// An engine says that it raised, and what it raised stands below. A signature that knows that is the cause; the mere
/// type of an exception, or an actor that died with the engine, says less than the engine. A GPU that is full then is
/// full for the engine, whose settings are others than the trainer's.
void engine_raised(const Scene& scene, Out& out) {
  constexpr double kSaid = 0.4;  // named by more than a word near by
  for (const std::string_view announced : {"vllm-enginecore-fatal", "sglang-scheduler-exception"}) {
    if (!scene.named(announced)) continue;
    const auto known = std::find_if(scene.suggestions.begin(), scene.suggestions.end(), [](const Suggestion& s) {
      const bool resource = s.cause.starts_with("cuda-") || s.cause.starts_with("cublas-") ||
                            s.cause.starts_with("nccl-") || contains(s.cause, "-oom") || contains(s.cause, "memory");
      return resource && s.weight >= kSaid;
    });
    if (known == scene.suggestions.end()) continue;
    out.push_back({std::string(announced), -0.6, "what it raised is known"});
    if (known->cause != "cuda-oom-trainer" || scene.incident.kind != "engine-dead") continue;
    out.push_back({"cuda-oom-engine", 0.9, known->reason});
    out.push_back({"cuda-oom-trainer", -0.6, "it is the engine that raised it"});
  }
}

}  // namespace

std::vector<Argument> weigh_lookalikes(const Incident& incident, const std::vector<Suggestion>& suggestions,
                                       const std::vector<Incident>& all, const State& state,
                                       const Knowledge& knowledge) {
  const Scene scene{incident, suggestions, all, state, knowledge};
  Out out;
  gpu_memory(scene, out);
  full_disk(scene, out);
  room_there_was(scene, out);
  killed(scene, out);
  cancelled(scene, out);
  waits_in_vain(scene, out);
  lost_reward(scene, out);
  learning_rate(scene, out);
  broken_weights(scene, out);
  echoes(scene, out);
  engine_raised(scene, out);
  broken_on_purpose(scene, out);
  after_nan(scene, out);
  return out;
}

}  // namespace mw::diagnose
