#include "core/detect/support/unlogged_starts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/numbers.h"
#include "base/text.h"

namespace mw::detect {
namespace {

constexpr std::string_view kPrefix = "tfevents.";
constexpr int64_t kBareBytes = 512;  // a file of some writer that nobody used holds its version alone
constexpr double kOneStart = 30;     // s within which the ranks of one start open their files
constexpr size_t kTimesShown = 6;

struct Start {
  Time at;
  std::string process;  ///< "host.pid"; "" where the name does not say
  std::string nth;      ///< of the process's files
  uint32_t source = 0;
  bool logged = false;
};

std::string_view folder_of(std::string_view path) { return path.substr(0, path.size() - basename(path).size()); }

/// "events.out.tfevents.1739550645.host-1.13247.0": when, who, and which of its files. PyTorch and TensorFlow name
/// them so; a name that says no more than the time is read as well.
std::optional<Start> named(std::string_view path) {
  const std::string_view name = basename(path);
  const size_t at = name.find(kPrefix);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = name.substr(at + kPrefix.size());
  const auto seconds = parse_int(rest.substr(0, rest.find('.')));
  if (!seconds || *seconds < 1'000'000'000 || *seconds > 4'000'000'000) return std::nullopt;
  Start start;
  start.at = Time{*seconds * 1'000'000'000};
  const size_t host = rest.find('.'), last = rest.rfind('.');
  if (host != std::string_view::npos && last > host && parse_int(rest.substr(last + 1))) {
    start.process = rest.substr(host + 1, last - host - 1);
    start.nth = rest.substr(last + 1);
  }
  return start;
}

/// The file is another one of that start: of the same process, or of a rank beside it.
bool of_same_start(const Start& start, const Start& file) {
  if ((file.at - start.at).seconds() < kOneStart) return true;
  return !file.process.empty() && file.process == start.process && file.nth != start.nth;
}

/// By folder, in the order of their times. A file that could not be read counts as one with figures.
std::map<std::string, std::vector<Start>> starts_of(const State& state) {
  std::set<uint32_t> measured;
  for (const Series& series : state.series) measured.insert(series.source);
  std::map<std::string, std::vector<Start>> folders;
  for (uint32_t i = 0; i < state.sources.size(); ++i) {
    const SourceState& source = state.sources[i];
    if (source.kind != "tfevents") continue;
    auto start = named(source.path);
    const bool logged = measured.contains(i) || !source.problems.empty();
    if (!start || (!logged && source.bytes < kBareBytes)) continue;
    start->source = i;
    start->logged = logged;
    folders[std::string(folder_of(source.path))].push_back(*start);
  }
  for (auto& [folder, starts] : folders) {
    std::stable_sort(starts.begin(), starts.end(), [](const Start& a, const Start& b) { return a.at < b.at; });
    std::vector<Start> merged;
    for (const Start& file : starts) {
      const bool same = !merged.empty() && of_same_start(merged.back(), file);
      if (same) merged.back().logged = merged.back().logged || file.logged;
      if (!same) merged.push_back(file);
    }
    starts = std::move(merged);
  }
  return folders;
}

/// "00:30, 00:33 and 00:44", of the starts that logged nothing.
std::string times_of(const std::vector<const Start*>& starts) {
  std::string out;
  for (size_t i = 0; i < starts.size() && i < kTimesShown; ++i) {
    const std::string utc = format_utc(starts[i]->at);  // 2025-02-14T16:30:45Z
    const bool day = i == 0 || utc.substr(0, 10) != format_utc(starts[i - 1]->at).substr(0, 10);
    out = cat(out, i == 0 ? "" : ", ", day ? cat(utc.substr(0, 10), " ") : "", utc.substr(11, 5));
  }
  return cat(out, starts.size() > kTimesShown ? ", …" : "", " UTC");
}

Finding finding_of(const std::vector<const Start*>& mute, bool trained_later) {
  Finding finding;
  finding.kind = finding.detector = "died-silently";
  finding.severity = trained_later ? Severity::kInfo : Severity::kWarning;
  finding.onset.where = {mute.front()->source, 0};
  finding.onset.at = mute.front()->at;
  finding.detected.where = {mute.back()->source, 0};
  finding.detected.at = mute.back()->at;
  const std::string count =
      mute.size() == 1 ? "A start left an event file" : cat(mute.size(), " starts left event files");
  finding.summary = cat(count, " with the arguments and not one figure (", times_of(mute), "); ",
                        trained_later ? "a later one trained" : "none came to its first record");
  for (const Start* start : mute) {
    if (finding.evidence.size() >= kTimesShown) break;
    finding.evidence.push_back({{start->source, 0}, "no figure in this file", "", kNoStep, 0});
  }
  const bool loop = !trained_later && mute.size() >= 3;
  if (loop)
    finding.suggests.push_back({"autoretry-crash-loop", 0.5, "it was begun again and again and came to nothing"});
  finding.suggests.push_back({"user-cancelled", 0.45, "it was started again"});
  return finding;
}

}  // namespace

std::vector<Finding> unlogged_starts(const State& state) {
  const bool elsewhere = std::any_of(state.sources.begin(), state.sources.end(), [](const SourceState& source) {
    return source.kind == "text" || source.kind == "notebook" || source.kind == "wandb";
  });
  std::vector<Finding> out;
  if (elsewhere) return out;
  for (const auto& [folder, starts] : starts_of(state)) {
    size_t last = starts.size();  // behind the last that logged
    while (last > 0 && !starts[last - 1].logged) --last;
    const bool trained = last > 0;
    // Figures that the run keeps elsewhere may be theirs.
    if (!trained && (starts.size() < 2 || !state.series.empty())) continue;
    std::vector<const Start*> mute;
    for (size_t i = 0; i < (trained ? last : starts.size()); ++i) {
      if (!starts[i].logged) mute.push_back(&starts[i]);
    }
    if (!mute.empty()) out.push_back(finding_of(mute, trained));
  }
  return out;
}

}  // namespace mw::detect
