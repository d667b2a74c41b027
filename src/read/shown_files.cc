#include "read/shown_files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>

#include "base/text.h"
#include "core/mixed_runs.h"
#include "core/next_log.h"
#include "read/folder_runs.h"

namespace mw {
namespace {

constexpr size_t kSharedSteps = 5;  // that both log, before it means anything
constexpr double kMost = 0.6;       // of the figures at them: two runs of one recipe have some in common

/// Words in the names of logs of which one process out of many writes each.
constexpr std::array<std::string_view, 23> kRankWords = {
    "rank", "ranks",  "worker",  "workers", "node", "gpu",   "host",    "local",  "proc",  "process", "dp",     "tp",
    "pp",   "device", "replica", "server",  "part", "shard", "attempt", "resume", "retry", "restart", "resumed"};
/// Words of views of one run: what differs between them says what is in the file, not whose it is.
constexpr std::array<std::string_view, 39> kViewWords = {
    "actor",   "agent",       "console", "critic",       "csv",     "data", "debug",  "engine",   "env",    "err",
    "error",   "eval",        "events",  "generator",    "infer",   "info", "json",   "launcher", "log",    "logs",
    "metrics", "model",       "out",     "orchestrator", "policy",  "ref",  "reward", "rollout",  "scalar", "stderr",
    "stdout",  "tensorboard", "test",    "train",        "trainer", "val",  "value",  "vf",       "wandb"};

/// Those of them that say where the trainer's own figures go, and nothing of what they are figures of.
constexpr std::array<std::string_view, 19> kSinkWords = {
    "console", "csv",     "data", "debug",  "events",  "history", "info",  "json",    "jsonl",   "log",
    "logs",    "metrics", "out",  "output", "scalars", "stdout",  "train", "trainer", "training"};

template <size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

size_t common_prefix(const std::string& a, const std::string& b) {
  const auto end = a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
  return static_cast<size_t>(std::mismatch(a.begin(), end, b.begin()).first - a.begin());
}

/// Of two paths the first parts in which they differ.
std::pair<std::string_view, std::string_view> where_they_part(std::string_view a, std::string_view b) {
  size_t from = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i) from = a[i] == '/' ? i + 1 : from;
  return {a.substr(0, a.find('/', from)).substr(from), b.substr(0, b.find('/', from)).substr(from)};
}

/// "train/loss" as "loss".
std::string_view without_tracker(std::string_view raw) {
  constexpr std::string_view kTrain = "train/";
  return raw.starts_with(kTrain) ? raw.substr(kTrain.size()) : raw;
}

bool called_alike(const std::string& a, const std::string& b, Named named) {
  return named == Named::kAnyhow || a == b || (named == Named::kAlike && without_tracker(a) == without_tracker(b));
}

/// Has a signal the other one's figures, so many steps on?
bool alike_when_moved(const ShownFile& a, const ShownFile& b, int64_t steps) {
  ShownFile moved = b;
  for (auto& [name, values] : moved.figures) {
    std::map<int64_t, double> there;
    for (const auto& [step, value] : values) there[step + steps] = value;
    values = std::move(there);
  }
  return !compare(a, moved, Named::kAlike).same.empty();
}

}  // namespace

FileName::FileName(std::string_view path) {
  std::string_view name = basename(path);
  if (const size_t dot = name.rfind('.'); dot != std::string_view::npos && dot > 0) name = name.substr(0, dot);
  stem = std::string(name);
  std::string part;
  for (size_t i = 0; i <= name.size(); ++i) {
    const auto c = static_cast<unsigned char>(i < name.size() ? name[i] : '.');
    const bool same =
        !part.empty() && (std::isalpha(static_cast<unsigned char>(part[0])) != 0) == (std::isalpha(c) != 0);
    if (!part.empty() && (std::isalnum(c) == 0 || !same)) {
      if (std::isalpha(static_cast<unsigned char>(part[0])) != 0) {
        words.insert(part);
      } else {
        longest_number = std::max(longest_number, part.size());
      }
      part.clear();
    }
    if (std::isalnum(c) != 0) part += static_cast<char>(std::tolower(c));
  }
}

Names names_of(const FileName& a, const FileName& b) {
  constexpr size_t kDate = 4;  // digits
  for (const std::string& word : a.words)
    if (is_one_of(kRankWords, word)) return Names::kViews;
  for (const std::string& word : b.words)
    if (is_one_of(kRankWords, word)) return Names::kViews;
  if (a.stem == b.stem) return Names::kViews;
  std::vector<std::string> other;
  std::set_symmetric_difference(a.words.begin(), a.words.end(), b.words.begin(), b.words.end(),
                                std::back_inserter(other));
  const auto is_view = [](const std::string& word) { return is_one_of(kViewWords, word); };
  if (!other.empty()) return std::all_of(other.begin(), other.end(), is_view) ? Names::kViews : Names::kOthers;
  const bool nothing_else = std::all_of(a.words.begin(), a.words.end(), is_view);
  return nothing_else && std::max(a.longest_number, b.longest_number) < kDate ? Names::kMaybe : Names::kRuns;
}

void Work::add(const Work& other) {
  if (first == kNoStep || other.first < first) {
    first = other.first;
    apart = other.apart;
  }
  last = std::max(last, other.last);
  saved = std::max(saved, other.saved);
  did_plan = did_plan || other.did_plan;
  lacks_zone = lacks_zone || other.lacks_zone;
  if (other.since.known() && (!since.known() || other.since < since)) since = other.since;
  until = std::max(until, other.until);
}

Work work_of(const State& state, uint32_t source) {
  const SourceState& of = state.sources[source];
  Work work;
  work.first = of.steps.first();
  work.last = of.steps.last();
  work.apart = steps_between_records(of);
  work.since = of.first_at;
  work.until = of.last_at;
  work.lacks_zone = of.clock_lacks.zone;
  for (const auto& [at, saved] : state.checkpoints) {
    if (at.where.source == source && saved.complete) work.saved = std::max(work.saved, saved.step);
  }
  const auto is_plan = [&work](int64_t steps) { return steps > 1 && work.last >= steps - 1 && work.last <= steps; };
  const bool failed =
      std::any_of(state.traces.begin(), state.traces.end(),
                  [&](const TraceState& seen) { return !seen.trace.sample && seen.moment.where.source == source; }) ||
      std::any_of(state.attempts.begin(), state.attempts.end(), [&](const AttemptState& attempt) {
        return attempt.ended && attempt.ended->how != event::Ended::How::kComplete &&
               attempt.ended_at.where.source == source;
      });
  work.did_plan = !failed && (is_plan(state.total_steps) ||
                              std::any_of(state.attempts.begin(), state.attempts.end(),
                                          [&](const AttemptState& attempt) { return is_plan(attempt.total_steps); }));
  return work;
}

bool counts_from_beginning(const Work& work) { return work.first <= std::max<int64_t>(1, work.apart); }

bool is_fork(const Work& a, const Work& b) {
  constexpr int64_t kDoneAgain = 10;  // steps at least: a trainer that hangs may be killed after the next one began
  if (counts_from_beginning(b) || b.first <= a.first || b.first + kDoneAgain > a.last) return false;
  const bool clocks =
      a.since.known() && b.since.known() && a.until.known() && b.until.known() && a.lacks_zone == b.lacks_zone;
  if (clocks && a.until - b.since > kQuiet && b.until - a.since > kQuiet) return true;
  const bool had_later = a.saved == kNoStep || a.saved > b.first;
  return a.did_plan && had_later && b.last <= a.last + 1;
}

bool is_own(std::string_view signal) { return signal != "entropy" && signal != "kl.ref"; }

std::vector<ShownFile> shown_by_files(const State& state) {
  std::map<uint32_t, ShownFile> shown;
  std::map<uint32_t, std::set<uint16_t>> attempts;
  for (const Series& series : state.series) {
    if (series.source >= state.sources.size() || series.signal.empty()) continue;
    const bool telling =
        std::find(kTellingSignals.begin(), kTellingSignals.end(), series.signal) != kTellingSignals.end();
    ShownFile* one = nullptr;  // made with the first point that has a step
    std::map<int64_t, double>* values = nullptr;
    std::optional<uint16_t> attempt;
    for (const Point& point : series.points()) {
      if (point.step == kNoStep) continue;
      if (one == nullptr) one = &shown[series.source];
      if (one->first == kNoStep || point.step < one->first) one->first = point.step;
      one->last = std::max(one->last, point.step);
      if (attempt != point.attempt) attempts[series.source].insert(point.attempt);
      attempt = point.attempt;
      if (!telling || !std::isfinite(point.value)) continue;
      if (values == nullptr) values = &one->figures[{series.signal, series.raw}];
      values->insert_or_assign(values->end(), point.step, point.value);
    }
  }
  std::vector<ShownFile> out;
  for (auto& [source, one] : shown) {
    const SourceState& of = state.sources[source];
    const int64_t first = one.first, last = one.last;  // of what is known by name
    static_cast<Work&>(one) = work_of(state, source);
    one.first = first;
    one.last = last;
    one.source = source;
    one.path = of.path;
    one.log = of.kind == "text";
    one.attempts = static_cast<uint16_t>(attempts[source].size());
    one.one_by_one = of.kind == "text" || of.kind == "jsonl" || of.kind == "csv" || of.kind == "json";
    out.push_back(std::move(one));
  }
  return out;
}

Likeness compare(const ShownFile& a, const ShownFile& b, Named named) {
  Likeness out;
  for (const auto& [name, values] : a.figures) {
    for (const auto& [other_name, others] : b.figures) {
      if (name.first != other_name.first || !called_alike(name.second, other_name.second, named)) continue;
      size_t shared = 0, other = 0;
      std::set<double> met;
      double last = std::nan("");  // that both had
      for (const auto& [step, value] : values) {
        const auto found = others.find(step);
        if (found == others.end()) continue;
        // Where nothing moves any more, as in an outage that all runs of a sweep are hit by, it counts once.
        const bool still = value == found->second && value == last;
        last = value == found->second ? value : std::nan("");
        met.insert({value, found->second});
        if (still) continue;
        ++shared;
        other += figures_differ(value, found->second) ? 1 : 0;
      }
      if (shared < kSharedSteps || met.size() < 3) continue;  // a constant is the same in many runs
      out.shared += shared;
      out.other += other;
      if (static_cast<double>(shared - other) >= kMost * static_cast<double>(shared) && is_own(name.first))
        out.same.insert(name.first);
      if (static_cast<double>(other) < kMost * static_cast<double>(shared)) continue;
      out.differ.insert(name.first);
      out.most = std::max(out.most, shared);
    }
  }
  return out;
}

bool may_be_two_runs(const std::string& a, const std::string& b) {
  if (folder_of(a) == folder_of(b)) return names_of(FileName(a), FileName(b)) != Names::kViews;
  const auto [of_a, of_b] = where_they_part(a, b);
  return !is_component_name(of_a) && !is_component_name(of_b);
}

bool are_sinks(const std::string& a, const std::string& b) {
  if (folder_of(a) != folder_of(b)) return false;
  const auto sink = [](const FileName& name) {
    return std::all_of(name.words.begin(), name.words.end(),
                       [](const std::string& word) { return is_one_of(kSinkWords, word); });
  };
  return basename(a) != basename(b) && sink(FileName(a)) && sink(FileName(b));
}

bool are_sinks_of_two_runs(const ShownFile& a, const ShownFile& b) {
  constexpr size_t kSureSteps = 10, kSureSignals = 3;
  if (!are_sinks(a.path, b.path)) return false;
  const Likeness likeness = compare(a, b, Named::kSame);
  if (!likeness.same.empty() || likeness.differ.size() < 2 || likeness.most < kSureSteps) return false;
  const bool own = std::any_of(likeness.differ.begin(), likeness.differ.end(), is_own);
  const bool norm = likeness.differ.count("grad_norm") > 0 && likeness.differ.size() >= kSureSignals;
  if (!own || !(norm || apart_in_time(a, b))) return false;
  return !alike_when_moved(a, b, 1) && !alike_when_moved(a, b, -1);
}

bool apart_in_time(const ShownFile& a, const ShownFile& b) {
  if (!a.since.known() || !b.since.known()) return false;
  const Duration least = a.lacks_zone == b.lacks_zone ? kQuiet : Duration::seconds(26 * 3600);
  return b.since - a.until > least || a.since - b.until > least;
}

bool names_part(std::string_view a, std::string_view b) {
  static constexpr std::array<std::string_view, 14> kRoles = {"actor",   "critic", "ref",   "reward",    "policy",
                                                              "value",   "vf",     "agent", "generator", "student",
                                                              "teacher", "eval",   "test",  "val"};
  size_t from = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i) from = a[i] == '/' ? i + 1 : from;
  for (std::string_view rest : {a.substr(from), b.substr(from)}) {
    while (!rest.empty()) {
      const size_t slash = std::min(rest.find('/'), rest.size());
      for (const std::string& word : FileName(rest.substr(0, slash)).words) {
        if (is_one_of(kRankWords, word) || is_one_of(kRoles, word)) return true;
      }
      rest.remove_prefix(std::min(slash + 1, rest.size()));
    }
  }
  return false;
}

bool are_records_of_two_runs(const ShownFile& a, const ShownFile& b) {
  constexpr size_t kSureSteps = 10, kSureSignals = 3;
  if (folder_of(a.path) == folder_of(b.path) && a.one_by_one && b.one_by_one) return false;
  const Likeness likeness = compare(a, b, Named::kAlike);
  if (!likeness.same.empty() || likeness.differ.size() < 2 || likeness.most < kSureSteps) return false;
  if (std::none_of(likeness.differ.begin(), likeness.differ.end(), is_own)) return false;
  const bool clocks = a.since.known() && b.since.known();
  const bool norm = likeness.differ.count("grad_norm") > 0 && likeness.differ.size() >= kSureSignals;
  const std::string one = cat(folder_of(a.path), "/"), other = cat(folder_of(b.path), "/");
  const bool below = one != other && (one.starts_with(other) || other.starts_with(one));
  if (clocks ? !apart_in_time(a, b) : !norm || !below || names_part(a.path, b.path)) return false;
  return !alike_when_moved(a, b, 1) && !alike_when_moved(a, b, -1);
}

bool is_of_both(const ShownFile& log, const ShownFile& a, const ShownFile& b) {
  if (!log.log) return false;
  if (log.attempts > 1) return true;
  if (log.source == a.source || log.source == b.source) return false;
  const bool clocks = log.since.known() && a.since.known() && b.since.known();
  return clocks && !apart_in_time(log, a) && !apart_in_time(log, b) && apart_in_time(a, b);
}

bool same_figures(const Likeness& likeness) {
  return likeness.shared > 0 && static_cast<double>(likeness.other) < 0.5 * static_cast<double>(likeness.shared);
}

std::optional<size_t> group_by_name(const std::string& path, const std::vector<std::vector<std::string>>& groups) {
  std::optional<size_t> best;
  size_t most = 0;
  bool several = false;
  const std::string stem = FileName(path).stem;
  for (size_t i = 0; i < groups.size(); ++i) {
    size_t here = 0;
    for (const std::string& member : groups[i]) {
      const bool beside = folder_of(member) == folder_of(path);
      if (beside) here = std::max(here, common_prefix(stem, FileName(member).stem));
    }
    several = here == most ? true : here > most ? false : several;
    if (here > most) best = i;
    most = std::max(most, here);
  }
  return several ? std::nullopt : best;
}

}  // namespace mw
