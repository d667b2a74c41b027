#include "app/read_run.h"

#include <utility>

#include "app/rule_watch.h"
#include "core/still_written.h"
#include "platform/clock.h"
#include "read/run_reader.h"

namespace mw {
namespace {

/// What was read, and the notebooks that were not.
struct Read {
  Result<std::unique_ptr<Replayed>> result;
  std::vector<std::string> notebooks;
};

Read read_once(Disk& disk, const KnowledgeBase& knowledge, const ReplayRequest& request,
               const std::vector<std::string>& paths) {
  RunReader reader(disk, knowledge, Judge::kAtClose, nullptr, {});
  reader.hear(request.heard);
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
  result->state = std::move(reader.state());
  return {std::move(result), reader.notebooks()};
}

bool shows_run(const State& state) {
  return state.steps().count > 0 || !state.series.empty() || !state.eval.empty() || !state.incidents.empty() ||
         !state.checkpoints.empty();
}

}  // namespace

Result<std::unique_ptr<Replayed>> read_run(Disk& disk, const KnowledgeBase& knowledge, const ReplayRequest& request,
                                           const std::vector<std::string>& paths) {
  Read read = read_once(disk, knowledge, request, paths);
  if (read.notebooks.empty() || (read.result.ok() && shows_run((*read.result)->state))) return std::move(read.result);
  Read again = read_once(disk, knowledge, request, read.notebooks);
  const bool better = again.result.ok() && (shows_run((*again.result)->state) || !read.result.ok());
  if (!better) return std::move(read.result);
  (*again.result)->notes.emplace_back("no log here shows a run: what the cells of its notebooks put out is read");
  return std::move(again.result);
}

}  // namespace mw
