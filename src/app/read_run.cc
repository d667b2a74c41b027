#include "app/read_run.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "app/rule_watch.h"
#include "base/text.h"
#include "core/step_axis.h"
#include "core/still_written.h"
#include "core/zone_by_steps.h"
#include "platform/clock.h"
#include "read/run_reader.h"
#include "ui/view/overview.h"

namespace mw {
namespace {

constexpr size_t kArmsJudged = 16;  // of one file: each is read by itself

/// What was read, and the notebooks that were not.
struct Read {
  Result<std::unique_ptr<Replayed>> result;
  std::vector<std::string> notebooks;
};

Read read_once(Disk& disk, const KnowledgeBase& knowledge, const ReplayRequest& request,
               const std::vector<std::string>& paths, const StepAxes& axes, const ArmChoice& arm = {}) {
  RunReader reader(disk, knowledge, Judge::kAtClose, nullptr, {});
  reader.choose_arm(arm);
  reader.set_axes(axes);
  if (arm.only.empty() == request.arm.empty()) reader.hear(request.heard);
  if (const auto zone = reader.set_zone(request.timezone); !zone.ok()) return {zone.error(), {}};
  if (const auto opened = reader.open(paths, request.framework); !opened.ok())
    return {opened.error(), reader.notebooks()};
  reader.read_all(request.progress);
  reader.close();
  take_as_running(reader.state(), make_posix_clock()->now());
  auto result = std::make_unique<Replayed>();
  result->unknown = reader.says_nothing() && request.framework.empty();
  result->input = reader.figures();
  result->notes = std::move(reader.notes());
  for (std::string& idle : idle_rules(reader.state(), knowledge.knowledge(), 1))
    result->notes.push_back(std::move(idle));
  result->partial = reader.partial();
  result->arms = reader.arms();
  result->state = std::move(reader.state());
  return {std::move(result), reader.notebooks()};
}

/// "-05:30", as TimeZone::parse() has it.
std::string zone_name(Duration east) {
  const int64_t minutes = std::llabs(east.ns) / 60'000'000'000;
  const auto two = [](int64_t number) { return cat(number < 10 ? "0" : "", number); };
  return cat(east.ns < 0 ? "-" : "+", two(minutes / 60), ":", two(minutes % 60));
}

/// Where the figures that two files share show that one of them counts its steps along another axis, or has a clock
/// whose zone it does not name, all is read once more, as that says.
Read read_as_files_agree(Disk& disk, const KnowledgeBase& knowledge, ReplayRequest& request,
                         const std::vector<std::string>& paths, StepAxes& axes) {
  const auto info = disk.info(paths.front());
  const bool alone = paths.size() == 1 && info.ok() && info->kind == FileInfo::Kind::kFile;
  Read read = read_once(disk, knowledge, request, paths, axes);
  if (alone || !read.result.ok()) return read;
  axes = other_axes((*read.result)->state);
  if (!axes.empty()) read = read_once(disk, knowledge, request, paths, axes);
  const bool in_utc = request.timezone.empty() && read.result.ok();
  const auto east = in_utc ? east_by_steps((*read.result)->state) : std::nullopt;
  if (!east) return read;
  request.timezone = zone_name(*east);
  return read_once(disk, knowledge, request, paths, axes);
}

bool shows_run(const State& state) {
  return state.steps().count > 0 || !state.series.empty() || !state.eval.empty() || !state.incidents.empty() ||
         !state.checkpoints.empty();
}

/// How bad it is, and of two alike which wrote last.
std::tuple<int, bool, uint64_t> badness(const State& state) {
  int worst = -1;
  for (const Incident& incident : state.incidents) {
    if (incident.severity > Severity::kInfo) worst = std::max(worst, static_cast<int>(incident.severity));
  }
  uint64_t last = 0;
  for (const SourceState& source : state.sources) last = std::max(last, source.last_line);
  return {worst, status_line(state).mood == StatusLine::Mood::kBad, last};
}

/// "B" of "arm=B", or all of it.
bool is_called(std::string_view arm, std::string_view name) {
  const size_t set = arm.find('=');
  return arm == name || (set != std::string_view::npos && arm.substr(set + 1) == name) || arm == cat("[", name, "]");
}

/// Each of the arms that `whole` was found to hold is read by itself.
Result<std::unique_ptr<Replayed>> judge_arms(Disk& disk, const KnowledgeBase& knowledge, const ReplayRequest& request,
                                             const std::vector<std::string>& paths, Replayed& whole) {
  std::unique_ptr<Replayed> chosen;
  std::string shown, others;
  for (const std::string& arm : whole.arms) {
    const bool asked = request.arm.empty() ? &arm < whole.arms.data() + kArmsJudged : is_called(arm, request.arm);
    if (!asked) continue;
    ArmChoice choice;
    choice.known = whole.arms;
    choice.only = arm;
    Read one = read_once(disk, knowledge, request, paths, {}, choice);
    if (!one.result.ok()) return std::move(one.result);
    StatusLine status = status_line((*one.result)->state);
    if (status.rest.ends_with('.')) status.rest.pop_back();
    others += cat(others.empty() ? "" : "; ", arm, ": ", status.word, status.rest.empty() ? "" : ", ",
                  brief(status.rest, 160));
    if (chosen != nullptr && badness((*one.result)->state) < badness(chosen->state)) continue;
    chosen = std::move(*one.result);
    shown = arm;
  }
  if (chosen == nullptr) {
    std::string names;
    for (const std::string& arm : whole.arms) names += cat(names.empty() ? "" : ", ", arm);
    return Error{Error::Code::kInvalid, cat("no arm there is called ", request.arm), cat("There are: ", names)};
  }
  chosen->arms = whole.arms;
  chosen->state.config["arm"] = shown;
  std::string words =
      cat(whole.arms.size(), " arms of an experiment were logged together, and each is judged by itself. This is ",
          shown, ".");
  if (request.arm.empty()) words += cat(" All of them, for --arm: ", others);
  if (request.arm.empty() && whole.arms.size() > kArmsJudged) words += cat("; the others were not judged");
  chosen->notes.insert(chosen->notes.begin(), std::move(words));
  return chosen;
}

}  // namespace

Result<std::unique_ptr<Replayed>> read_run(Disk& disk, const KnowledgeBase& knowledge, const ReplayRequest& asked,
                                           const std::vector<std::string>& paths) {
  ReplayRequest request = asked;
  StepAxes axes;
  Read read = read_as_files_agree(disk, knowledge, request, paths, axes);
  if (read.result.ok() && (*read.result)->arms.size() > 1) {
    if (!request.heard || !request.arm.empty()) return judge_arms(disk, knowledge, request, paths, **read.result);
    (*read.result)
        ->notes.push_back(cat(
            (*read.result)->arms.size(), " arms of an experiment were logged together, and where they take turns only ",
            (*read.result)->arms.front(), " is followed here; midwatch replay judges each by itself"));
  }
  if (read.result.ok() && !request.arm.empty()) {
    return Error{Error::Code::kInvalid, cat("no several arms of an experiment are found in ", paths.front()),
                 "Leave --arm out."};
  }
  if (read.notebooks.empty() || (read.result.ok() && shows_run((*read.result)->state))) return std::move(read.result);
  Read again = read_once(disk, knowledge, request, read.notebooks, {});
  const bool better = again.result.ok() && (shows_run((*again.result)->state) || !read.result.ok());
  if (!better) return std::move(read.result);
  (*again.result)->notes.emplace_back("no log here shows a run: what the cells of its notebooks put out is read");
  return std::move(again.result);
}

}  // namespace mw
