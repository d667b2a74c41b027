// Several runs in the files of one folder: the logs of seeds beside each other, an older run's log beside a newer
// one's.
#include <algorithm>
#include <array>
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
#include "read/shown_files.h"

namespace mw {
namespace {

constexpr size_t kSureSteps = 10;      // where one signal alone has to say it
constexpr size_t kSignalsOfSinks = 2;  // of one record: two sinks of a run that is begun anew have the same ones
constexpr size_t kMostFiles = 200;     // with steps; beyond them nobody is compared
constexpr int64_t kSameBegin = 2;      // steps, or a twentieth of the shorter one: a file that begins later continues

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

/// "gpu" of "gpu0", "" of "0": what the names of machines and devices, and of arms of an experiment on them, are made
/// of; nullopt of any other name.
std::optional<std::string> numbered(std::string_view name) {
  constexpr std::array<std::string_view, 8> kWords = {"cuda", "device",  "gpu",  "host",
                                                      "job",  "machine", "node", "worker"};
  const FileName parts(name);
  if (parts.longest_number == 0 || parts.words.size() > 1) return std::nullopt;
  if (parts.words.empty()) return "";
  const std::string& word = *parts.words.begin();
  return std::find(kWords.begin(), kWords.end(), word) == kWords.end() ? std::nullopt : std::optional(word);
}

/// The name of a folder that W&B makes for each run: "run-20260115_100000-ab12", "offline-run-…".
bool is_of_tracker(std::string_view name) { return name.starts_with("run-") || name.starts_with("offline-run-"); }

/// Do the paths differ in a number alone, as those of one process each do, and those of one arm of an experiment each?
/// "gpu0.log" and "gpu1.log", "0/train.log" and "1/train.log", two folders of W&B's. What torchrun keeps of each rank
/// is called stdout.log and stderr.log.
bool numbered_alike(std::string_view a, std::string_view b) {
  size_t from = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i) from = a[i] == '/' ? i + 1 : from;
  const size_t end_a = a.find('/', from), end_b = b.find('/', from);
  const bool folders = end_a != std::string_view::npos && end_b != std::string_view::npos;
  const auto kind_of = [](std::string_view path) { return path.substr(std::min(path.rfind('.'), path.size())); };
  if (!folders && (end_a != end_b || kind_of(a) != kind_of(b))) return false;
  if (folders && (a.substr(end_a) != b.substr(end_b) || basename(a).starts_with("std"))) return false;
  const std::string_view name_a = a.substr(0, end_a).substr(from), name_b = b.substr(0, end_b).substr(from);
  if (folders && is_of_tracker(name_a) && is_of_tracker(name_b)) return true;
  const auto of_a = numbered(name_a);
  return of_a && of_a == numbered(name_b);
}

/// Processes of one training share the norm of their gradients, whatever else each of them sees for itself.
bool are_numbered_runs(const ShownFile& a, const ShownFile& b) {
  if (!a.one_by_one || !b.one_by_one || !numbered_alike(a.path, b.path)) return false;
  const Likeness likeness = compare(a, b, Named::kSame);
  if (likeness.same.size() * 2 >= likeness.differ.size() || likeness.most < kSureSteps) return false;
  return tells_runs_apart(Names::kMaybe, likeness.differ);
}

/// Do they count from about the same step?
bool begin_alike(const Work& a, const Work& b) {
  if (counts_from_beginning(a) && counts_from_beginning(b)) return true;
  const int64_t shorter = std::min(a.last - a.first, b.last - b.first);
  return std::abs(a.first - b.first) <= std::max(kSameBegin, shorter / 20);
}

/// Is the one rewarded, and the other not, of two that learn for themselves? They are stages of a training, of which
/// each is a run: what shows the rewards of another process has no loss of its own.
bool are_stages(const ShownFile& a, const ShownFile& b) {
  const auto rewarded = [](const ShownFile& file) {
    return std::any_of(file.figures.begin(), file.figures.end(),
                       [](const auto& one) { return one.first.first == "reward.mean"; });
  };
  if (rewarded(a) == rewarded(b) || names_part(a.path, b.path)) return false;
  const Likeness likeness = compare(a, b, Named::kAnyhow);  // each trainer has its own names
  const bool learn =
      likeness.differ.count("loss.total") + likeness.differ.count("loss.policy") + likeness.differ.count("grad_norm") >
      0;
  return learn && likeness.same.empty();
}

/// Are they of two runs, for sure?
bool two_runs(const ShownFile& a, const ShownFile& b) {
  if (!begin_alike(a, b) && !is_fork(a, b) && !is_fork(b, a)) return false;
  if (are_numbered_runs(a, b)) return true;
  if (!a.one_by_one || !b.one_by_one || folder_of(a.path) != folder_of(b.path)) return are_records_of_two_runs(a, b);
  const Names names = names_of(FileName(a.path), FileName(b.path));
  if (names == Names::kViews) return are_sinks_of_two_runs(a, b);
  if (names == Names::kOthers && are_stages(a, b)) return true;
  const Likeness likeness = compare(a, b, Named::kSame);
  if (!likeness.same.empty() && likeness.same.size() * 2 >= likeness.differ.size()) return false;
  const size_t signals = likeness.differ.size();
  if (signals == 0 || (signals == 1 && likeness.most < kSureSteps)) return false;
  return tells_runs_apart(names, likeness.differ);
}

/// Files that differ from others by two_runs(), as the numbers of `shown`: each is of the first run of whose files it
/// differs from none.
std::vector<std::vector<size_t>> part(const std::vector<ShownFile>& shown) {
  std::vector<std::vector<bool>> apart(shown.size(), std::vector<bool>(shown.size()));
  for (size_t i = 0; i < shown.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (!two_runs(shown[i], shown[k])) continue;
      const auto joins = [&](const ShownFile& log) { return is_of_both(log, shown[i], shown[k]); };
      const bool beside = are_records_of_two_runs(shown[i], shown[k]) || are_numbered_runs(shown[i], shown[k]);
      apart[i][k] = apart[k][i] = !beside || std::none_of(shown.begin(), shown.end(), joins);
    }
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

/// The one run that has files in this folder; nullopt where several have, or none has.
std::optional<size_t> run_in_folder(std::string_view folder, const std::vector<std::vector<std::string>>& files) {
  std::optional<size_t> only;
  for (size_t i = 0; i < files.size(); ++i) {
    const bool here = std::any_of(files[i].begin(), files[i].end(),
                                  [folder](const std::string& path) { return folder_of(path) == folder; });
    if (here && only) return std::nullopt;
    if (here) only = i;
  }
  return only;
}

/// The run of which the file `path` is a further view, by its figures, else by its folder or its name.
std::optional<size_t> run_of(const std::string& path, const std::vector<ShownFile>& shown,
                             const std::vector<std::vector<size_t>>& runs,
                             const std::vector<std::vector<std::string>>& files) {
  const auto one = std::find_if(shown.begin(), shown.end(), [&](const ShownFile& s) { return s.path == path; });
  for (size_t i = 0; one != shown.end() && i < runs.size(); ++i) {
    for (const size_t k : runs[i]) {
      if (same_figures(compare(*one, shown[k], Named::kAnyhow))) return i;
    }
  }
  const auto only = run_in_folder(folder_of(path), files);
  return only ? only : group_by_name(path, files);
}

/// By source, in what its figures differ from these at their step; nullopt where a file has one of them.
std::optional<std::map<uint32_t, std::set<std::string>>> signals_that_differ(const State& state, uint32_t source,
                                                                             const event::Measured& measured) {
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
        return std::nullopt;  // whole numbers are the same by chance
      }
    }
  }
  return differ;
}

}  // namespace

std::vector<std::vector<std::string>> runs_in_files(const State& state) {
  const std::vector<ShownFile> shown = shown_by_files(state);
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

bool begins_another_run(const State& state, uint32_t source, const event::Measured& measured,
                        const std::function<bool(const std::string& path)>& quiet) {
  if (measured.eval || measured.step == kNoStep || state.attempts.empty() || source >= state.sources.size())
    return false;
  const AttemptState& newest = state.attempts.back();
  if (newest.first_step == kNoStep || std::abs(measured.step - newest.first_step) > kSameBegin ||
      newest.last_step < measured.step) {
    return false;
  }
  const auto differ = signals_that_differ(state, source, measured);
  if (!differ) return false;
  const bool further = newest.last_step - measured.step > kStepRewind;
  const std::string& path = state.sources[source].path;
  const auto is_other = [&](const std::string& other, const std::set<std::string>& signals) {
    if (quiet(other) && are_sinks(path, other)) return further && signals.size() >= kSignalsOfSinks;
    if (quiet(other) && folder_of(path) != folder_of(other) && signals.size() >= kSignalsOfSinks) return true;
    if (quiet(other)) return (further || !signals.empty()) && may_be_two_runs(path, other);
    return further && folder_of(other) == folder_of(path) &&
           tells_runs_apart(names_of(FileName(path), FileName(other)), signals);
  };
  if (!differ->empty()) {
    return std::any_of(differ->begin(), differ->end(),
                       [&](const auto& one) { return is_other(state.sources[one.first].path, one.second); });
  }
  const std::vector<ShownFile> shown = shown_by_files(state);  // of another program: no figure is called the same
  return !shown.empty() && std::all_of(shown.begin(), shown.end(), [&](const ShownFile& one) {
    return one.source != source && one.one_by_one && is_other(one.path, {});
  });
}

}  // namespace mw
