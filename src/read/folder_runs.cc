#include "read/folder_runs.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "base/text.h"
#include "core/mixed_runs.h"
#include "read/shown_files.h"

namespace mw {
namespace {

constexpr double kDiffer = 0.3;        // of the figures at shared steps
constexpr size_t kMostFolders = 1000;  // beyond them nobody is compared

/// Words of which the name of a folder is made in which a component of a run writes. What lies in a tracker's own
/// folder (wandb, mlruns) are records of one thing until their figures are read by somebody who names them.
constexpr std::string_view kComponentWords[] = {
    "actor",   "agent",   "artifacts", "attempt",  "best",      "checkpoint", "checkpoints",  "ckpt",        "ckpts",
    "config",  "console", "critic",    "data",     "dp",        "elastic",    "engine",       "env",         "epoch",
    "eval",    "events",  "files",     "final",    "generator", "global",     "gpu",          "head",        "host",
    "hydra",   "infer",   "inference", "iter",     "last",      "latest",     "launcher",     "local",       "log",
    "logs",    "master",  "metrics",   "mlruns",   "model",     "node",       "orchestrator", "policy",      "pp",
    "process", "rank",    "ray",       "ref",      "replica",   "restart",    "resume",       "resumed",     "retry",
    "reward",  "rollout", "rollouts",  "sampler",  "samples",   "server",     "session",      "sglang",      "slurm",
    "stage",   "stderr",  "stdout",    "step",     "summary",   "swanlab",    "tb",           "tensorboard", "test",
    "tp",      "train",   "trainer",   "training", "val",       "validation", "vllm",         "wandb",       "worker",
    "workers"};

bool is_component_word(const std::string& word) {
  return std::find(std::begin(kComponentWords), std::end(kComponentWords), word) != std::end(kComponentWords);
}

bool lies_in(std::string_view path, std::string_view folder) {
  if (folder == "/") return path.size() > 1 && path.front() == '/';
  return path.size() > folder.size() && path.substr(0, folder.size()) == folder && path[folder.size()] == '/';
}

/// What one folder's files say.
struct Shown : Work {
  std::map<std::string, std::map<int64_t, double>> figures;  ///< by signal and step; the last value of a step
  Time begins, ends;
  bool failed = false;  ///< an exception, or an end that is not a good one

  void spans(Time at) {
    if (at.known() && (!begins.known() || at < begins)) begins = at;
    if (at.known() && (!ends.known() || ends < at)) ends = at;
  }
};

std::optional<size_t> folder_of_source(const State& state, uint32_t source, const std::vector<std::string>& folders) {
  if (source >= state.sources.size()) return std::nullopt;
  for (size_t i = 0; i < folders.size(); ++i) {
    if (lies_in(state.sources[source].path, folders[i])) return i;
  }
  return std::nullopt;
}

/// By folder; nullopt where a file outside them has steps.
std::optional<std::vector<Shown>> shown_by(const State& state, const std::vector<std::string>& folders) {
  std::vector<Shown> shown(folders.size());
  std::set<uint32_t> sources;
  for (const Series& series : state.series) {
    if (series.signal.empty()) continue;
    const auto folder = folder_of_source(state, series.source, folders);
    const bool telling =
        std::find(kTellingSignals.begin(), kTellingSignals.end(), series.signal) != kTellingSignals.end();
    for (const Point& point : series.points()) {
      if (point.step == kNoStep) continue;
      if (!folder) return std::nullopt;
      Shown& one = shown[*folder];
      if (sources.insert(series.source).second) one.add(work_of(state, series.source));
      one.spans(point.at);
      if (telling && std::isfinite(point.value)) one.figures[series.signal][point.step] = point.value;
    }
  }
  return shown;
}

/// Of folders without a step: when their logs spoke, and whether they tell of a failure.
void add_stepless(const State& state, const std::vector<std::string>& folders, std::vector<Shown>& shown) {
  for (uint32_t source = 0; source < state.sources.size(); ++source) {
    const auto folder = folder_of_source(state, source, folders);
    if (!folder || shown[*folder].first != kNoStep || state.sources[source].kind != "text") continue;
    shown[*folder].spans(state.sources[source].first_at);
    shown[*folder].spans(state.sources[source].last_at);
    shown[*folder].spans(state.sources[source].end_at);
    shown[*folder].spans(state.sources[source].clock.after(0));
    shown[*folder].spans(state.sources[source].clock.before(UINT64_MAX));
  }
  const auto failed = [&](const Where& where) {
    const auto folder = folder_of_source(state, where.source, folders);
    if (folder) shown[*folder].failed = true;
  };
  for (const TraceState& trace : state.traces) failed(trace.moment.where);
  for (const AttemptState& attempt : state.attempts) {
    if (attempt.ended && attempt.ended->how != event::Ended::How::kComplete) failed(attempt.ended_at.where);
  }
}

/// How long the one was over when the other began; negative where they were at work together, and where a clock lacks.
Duration between(const Shown& a, const Shown& b) {
  if (!a.begins.known() || !b.begins.known()) return Duration{-1};
  return std::max(b.begins - a.ends, a.begins - b.ends);
}

/// Both count the same steps, and many: views of one run do.
bool same_span(const Shown& a, const Shown& b) {
  constexpr int64_t kMany = 10;
  return a.first == b.first && a.last == b.last && a.last - a.first >= kMany;
}

/// By their figures: too many differ at the steps that both have. (Two runs of one recipe may come to the same reward.)
/// Where there are no such steps, by their times; without clocks by the steps that they count.
bool differ(const Shown& a, const Shown& b) {
  size_t shared = 0, other = 0;
  for (const auto& [signal, values] : a.figures) {
    const auto others = b.figures.find(signal);
    if (others == b.figures.end()) continue;
    std::set<double> both;
    size_t here = 0;
    for (const auto& [step, value] : values) {
      const auto found = others->second.find(step);
      if (found == others->second.end()) continue;
      both.insert({value, found->second});
      ++here;
      other += figures_differ(value, found->second) ? 1 : 0;
    }
    if (both.size() > 1) shared += here;  // a constant is the same in many runs
  }
  if (shared > 0) return static_cast<double>(other) >= kDiffer * static_cast<double>(shared);
  return a.begins.known() && b.begins.known() ? between(a, b).ns > 0 : !same_span(a, b);
}

/// A run of its own that did no step: it failed at another time than any other folder's logs were written, or a day or
/// more lies between them. Which of several clocks' zones are meant, nobody knows for sure.
bool stands_alone(const std::vector<Shown>& shown, size_t i) {
  constexpr Duration kFailed = Duration::seconds(60), kWell = Duration::seconds(86400);
  const Duration least = shown[i].failed ? kFailed : kWell;
  for (size_t k = 0; k < shown.size(); ++k) {
    if (k != i && between(shown[i], shown[k]) < least) return false;
  }
  return shown.size() > 1;
}

/// `b` goes on where `a` was, after it, and logs in the same way.
bool continues(const Shown& a, const Shown& b) {
  const bool alike =
      std::any_of(a.figures.begin(), a.figures.end(), [&](const auto& one) { return b.figures.count(one.first) > 0; });
  if (!alike || a.begins.known() != b.begins.known()) return false;
  if (a.ends.known() && b.begins.known() && b.begins < a.ends) return false;
  return b.first > a.first && !counts_from_beginning(b) && b.first <= a.last + 1 && !is_fork(a, b);
}

size_t common_prefix(const std::string& a, const std::string& b) {
  return static_cast<size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())), b.begin()).first -
      a.begin());
}

/// Which of `trained` folder `i` continues: of several the one with the most similar name, then the one that ended
/// last.
std::optional<size_t> continued_by(const std::vector<Shown>& shown, const std::vector<std::string>& folders,
                                   const std::vector<size_t>& trained, size_t i) {
  std::optional<size_t> best;
  for (const size_t k : trained) {
    if (k == i || !continues(shown[k], shown[i])) continue;
    const auto rank = [&](size_t of) { return std::pair(common_prefix(folders[of], folders[i]), shown[of].ends.ns); };
    if (!best || rank(*best) < rank(k)) best = k;
  }
  return best;
}

}  // namespace

bool is_component_name(std::string_view name) {
  std::string word;
  size_t digits = 0;
  for (const char c : name) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      continue;
    }
    digits += std::isdigit(static_cast<unsigned char>(c)) != 0 ? 1 : 0;
    if (!word.empty() && !is_component_word(word)) return false;
    word.clear();
  }
  if (!word.empty()) return is_component_word(word);
  const bool date = digits >= 6;  // "2026-01-15_08-00-00", "12-00-00"
  return !date;
}

std::vector<std::string> folders_like_runs(std::string_view root, const std::vector<std::string>& files) {
  std::string folder(root);
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  while (true) {
    std::set<std::string> names;
    bool only_folders = true;
    for (const std::string_view path : files) {
      if (!lies_in(path, folder)) continue;
      const std::string_view rest = path.substr(folder == "/" ? 1 : folder.size() + 1);
      const size_t slash = rest.find('/');
      only_folders = only_folders && slash != std::string_view::npos;
      if (slash != std::string_view::npos) names.emplace(rest.substr(0, slash));
    }
    const bool components = std::any_of(names.begin(), names.end(), is_component_name);
    if (names.empty() || names.size() > kMostFolders || components) return {};
    if (names.size() > 1) {
      std::vector<std::string> out;
      out.reserve(names.size());
      for (const std::string& name : names) out.push_back(cat(folder == "/" ? "" : folder, "/", name));
      return out;
    }
    if (!only_folders) return {};
    folder += cat(folder == "/" ? "" : "/", *names.begin());
  }
}

std::vector<std::vector<std::string>> runs_in_folders(const State& state, const std::vector<std::string>& folders) {
  auto shown = shown_by(state, folders);
  if (!shown) return {};
  add_stepless(state, folders, *shown);
  std::vector<size_t> group(folders.size());
  std::iota(group.begin(), group.end(), size_t{0});
  const auto join = [&group](size_t a, size_t b) {
    const size_t from = group[b], to = group[a];
    for (size_t& one : group) one = one == from ? to : one;
  };
  std::vector<size_t> trained;
  for (size_t i = 0; i < folders.size(); ++i) {
    if ((*shown)[i].first != kNoStep) trained.push_back(i);
  }
  for (const size_t i : trained) {
    const auto before = continued_by(*shown, folders, trained, i);
    if (before) join(*before, i);
    for (const size_t k : trained) {
      const bool later = continues((*shown)[k], (*shown)[i]) || continues((*shown)[i], (*shown)[k]);
      if (k < i && !later && !differ((*shown)[k], (*shown)[i])) join(k, i);
    }
  }
  std::map<size_t, std::vector<std::string>> runs;
  for (const size_t i : trained) runs[group[i]].push_back(folders[i]);
  for (size_t i = 0; i < folders.size(); ++i) {
    if ((*shown)[i].first == kNoStep && stands_alone(*shown, i)) runs[i].push_back(folders[i]);
  }
  if (runs.size() < 2) return {};
  for (size_t i = 0; i < folders.size(); ++i) {
    const bool placed = std::any_of(runs.begin(), runs.end(), [&](const auto& run) {
      return std::find(run.second.begin(), run.second.end(), folders[i]) != run.second.end();
    });
    if (!placed) runs[i].push_back(folders[i]);
  }
  std::vector<std::vector<std::string>> out;
  out.reserve(runs.size());
  for (auto& [at, run] : runs) out.push_back(std::move(run));
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace mw
