// Several runs in the files of one folder: the logs of seeds beside each other, an older run's log beside a newer
// one's.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>

#include "base/text.h"
#include "core/attempts.h"
#include "core/mixed_runs.h"
#include "read/folder_runs.h"

namespace mw {
namespace {

constexpr size_t kSharedSteps = 5;  // that both log, before it means anything
constexpr double kMost = 0.6;       // of the figures at them: two runs of one recipe have some in common
constexpr size_t kSureSteps = 10;   // where one signal alone has to say it
constexpr size_t kMostFiles = 200;  // with steps; beyond them nobody is compared
constexpr int64_t kSameBegin = 2;   // steps, or a twentieth of the shorter one: a file that begins later continues

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

template <size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// "run_seed12.log" is the words "run" and "seed" and the number "12"; what stands behind the last dot is no part of
/// it.
struct FileName {
  explicit FileName(std::string_view path) {
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
  std::string stem;
  std::set<std::string> words;
  size_t longest_number = 0;
};

/// What the names of two files say of whose they are.
enum class Names {
  kViews,   ///< of one run
  kMaybe,   ///< numbered logs of which nothing else is said: of ranks, or of runs
  kOthers,  ///< by words: more has to differ
  kRuns     ///< the same name with another number: another seed, another day
};

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

/// Of two runs of one recipe it differs from the first steps on. Entropy and the distance from the reference may follow
/// much the same course.
bool is_own(std::string_view signal) { return signal != "entropy" && signal != "kl.ref"; }

/// What one file says.
struct Shown {
  uint32_t source = 0;
  std::string path;
  bool one_by_one = false;  ///< a log or a table; not of a tracker, which puts files of one run beside each other
  std::map<std::pair<std::string, std::string>, std::map<int64_t, double>> figures;  ///< by signal and name
  int64_t first = kNoStep, last = kNoStep;
};

std::vector<Shown> shown_by(const State& state) {
  std::map<uint32_t, Shown> shown;
  for (const Series& series : state.series) {
    if (series.source >= state.sources.size() || series.signal.empty()) continue;
    const bool telling =
        std::find(kTellingSignals.begin(), kTellingSignals.end(), series.signal) != kTellingSignals.end();
    for (const Point& point : series.points()) {
      if (point.step == kNoStep) continue;
      Shown& one = shown[series.source];
      if (one.first == kNoStep || point.step < one.first) one.first = point.step;
      one.last = std::max(one.last, point.step);
      if (telling && std::isfinite(point.value)) one.figures[{series.signal, series.raw}][point.step] = point.value;
    }
  }
  std::vector<Shown> out;
  for (auto& [source, one] : shown) {
    const SourceState& of = state.sources[source];
    one.source = source;
    one.path = of.path;
    one.one_by_one = of.kind == "text" || of.kind == "jsonl" || of.kind == "csv" || of.kind == "json";
    out.push_back(std::move(one));
  }
  return out;
}

struct Likeness {
  size_t shared = 0, other = 0;        ///< figures at steps that both have
  std::set<std::string> differ, same;  ///< signals
  size_t most = 0;                     ///< steps that a signal of `differ` shares
};

/// `one_name`: only figures that are called the same in both.
Likeness compare(const Shown& a, const Shown& b, bool one_name) {
  Likeness out;
  for (const auto& [name, values] : a.figures) {
    for (const auto& [other_name, others] : b.figures) {
      if (name.first != other_name.first || (one_name && name.second != other_name.second)) continue;
      size_t shared = 0, other = 0;
      std::set<double> met;
      for (const auto& [step, value] : values) {
        const auto found = others.find(step);
        if (found == others.end()) continue;
        ++shared;
        met.insert({value, found->second});
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

bool same_figures(const Likeness& likeness) {
  return likeness.shared > 0 && static_cast<double>(likeness.other) < 0.5 * static_cast<double>(likeness.shared);
}

/// Do files that are called so and differ in these signals belong to two runs?
bool tells_runs_apart(Names names, const std::set<std::string>& differ) {
  if (names == Names::kViews) return false;
  // Ranks of one training share the norm of their gradients, and each has rewards of its own.
  if (names == Names::kMaybe) return differ.size() >= 2 && differ.count("grad_norm") > 0;
  // Rewards of several tasks, and losses of several models, lie beside each other in the files of one run.
  const bool learns =
      differ.count("loss.total") + differ.count("loss.policy") + differ.count("grad_norm") + differ.count("entropy") >
      0;
  const bool scores = differ.count("reward.mean") + differ.count("kl.ref") > 0;
  return names == Names::kRuns || (learns && scores);
}

/// Are they of two runs, for sure?
bool two_runs(const Shown& a, const Shown& b) {
  if (!a.one_by_one || !b.one_by_one || folder_of(a.path) != folder_of(b.path)) return false;
  const int64_t shorter = std::min(a.last - a.first, b.last - b.first);
  if (std::abs(a.first - b.first) > std::max(kSameBegin, shorter / 20)) return false;
  const Names names = names_of(FileName(a.path), FileName(b.path));
  if (names == Names::kViews) return false;
  const Likeness likeness = compare(a, b, true);
  if (!likeness.same.empty() && likeness.same.size() * 2 >= likeness.differ.size()) return false;
  const size_t signals = likeness.differ.size();
  if (signals == 0 || (signals == 1 && likeness.most < kSureSteps)) return false;
  return tells_runs_apart(names, likeness.differ);
}

size_t common_prefix(const std::string& a, const std::string& b) {
  const auto end = a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
  return static_cast<size_t>(std::mismatch(a.begin(), end, b.begin()).first - a.begin());
}

/// The group whose file has the name most like that of `path`; nullopt where no one has.
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

/// Files that differ from others by two_runs(), as the numbers of `shown`: each is of the first run of whose files it
/// differs from none.
std::vector<std::vector<size_t>> part(const std::vector<Shown>& shown) {
  std::vector<std::vector<bool>> apart(shown.size(), std::vector<bool>(shown.size()));
  for (size_t i = 0; i < shown.size(); ++i) {
    for (size_t k = 0; k < i; ++k) apart[i][k] = apart[k][i] = two_runs(shown[i], shown[k]);
  }
  std::vector<std::vector<size_t>> runs;
  for (size_t i = 0; i < shown.size(); ++i) {
    if (std::find(apart[i].begin(), apart[i].end(), true) == apart[i].end()) continue;
    const auto is_of = [&](const std::vector<size_t>& run) {
      return std::none_of(run.begin(), run.end(), [&](size_t k) { return apart[i][k]; });
    };
    const auto run = std::find_if(runs.begin(), runs.end(), is_of);
    if (run == runs.end()) {
      runs.push_back({i});
    } else {
      run->push_back(i);
    }
  }
  return runs;
}

/// The run of which the file `path` is a further view, by its figures, else by its name.
std::optional<size_t> run_of(const std::string& path, const std::vector<Shown>& shown,
                             const std::vector<std::vector<size_t>>& runs,
                             const std::vector<std::vector<std::string>>& files) {
  const auto one = std::find_if(shown.begin(), shown.end(), [&](const Shown& s) { return s.path == path; });
  for (size_t i = 0; one != shown.end() && i < runs.size(); ++i) {
    for (const size_t k : runs[i]) {
      if (same_figures(compare(*one, shown[k], false))) return i;
    }
  }
  return group_by_name(path, files);
}

}  // namespace

std::vector<std::vector<std::string>> runs_in_files(const State& state) {
  const std::vector<Shown> shown = shown_by(state);
  if (shown.size() < 2 || shown.size() > kMostFiles) return {};
  const std::vector<std::vector<size_t>> runs = part(shown);
  if (runs.size() < 2) return {};
  std::vector<std::vector<std::string>> files(runs.size());
  std::set<std::string> placed;
  for (size_t i = 0; i < runs.size(); ++i) {
    for (const size_t k : runs[i]) {
      files[i].push_back(shown[k].path);
      placed.insert(shown[k].path);
    }
  }
  std::vector<std::vector<std::string>> out = files;
  for (const SourceState& source : state.sources) {
    if (source.kind == kHostKind || source.path.empty() || !placed.insert(source.path).second) continue;
    if (const auto run = run_of(source.path, shown, runs, files)) {
      out[*run].push_back(source.path);
    } else if (source.kind == "text") {
      out.push_back({source.path});  // a launcher's, or one more run that did no step
    } else {
      for (size_t i = 0; i < runs.size(); ++i) out[i].push_back(source.path);  // their settings
    }
  }
  std::sort(out.begin(), out.end());  // by the file of each that has the steps
  return out;
}

bool begins_another_run(const State& state, uint32_t source, const event::Measured& measured) {
  if (measured.eval || measured.step == kNoStep || state.attempts.empty() || source >= state.sources.size())
    return false;
  const AttemptState& newest = state.attempts.back();
  if (newest.first_step == kNoStep || std::abs(measured.step - newest.first_step) > kSameBegin ||
      newest.last_step - measured.step <= kStepRewind) {
    return false;
  }
  const std::string& path = state.sources[source].path;
  std::map<uint32_t, std::set<std::string>> differ;
  for (const Reading& reading : measured.readings) {
    const std::string signal(reading.signal());
    if (std::find(kTellingSignals.begin(), kTellingSignals.end(), signal) == kTellingSignals.end()) continue;
    for (const Series& series : state.series) {
      if (series.signal != signal || series.source == source || series.source >= state.sources.size()) continue;
      const auto same = std::find_if(series.points().begin(), series.points().end(),
                                     [&](const Point& point) { return point.step == measured.step; });
      if (same == series.points().end() || !std::isfinite(same->value) || !std::isfinite(reading.value)) continue;
      if (figures_differ(same->value, reading.value)) {
        differ[series.source].insert(signal);
      } else if (reading.value != std::round(reading.value) && is_own(signal)) {
        return false;  // whole numbers are the same by chance
      }
    }
  }
  return std::any_of(differ.begin(), differ.end(), [&](const auto& one) {
    const std::string& other = state.sources[one.first].path;
    return folder_of(other) == folder_of(path) &&
           tells_runs_apart(names_of(FileName(path), FileName(other)), one.second);
  });
}

}  // namespace mw
