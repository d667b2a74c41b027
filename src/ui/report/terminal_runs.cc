// Several runs that lie in one folder, a few lines each.
#include <algorithm>

#include "ui/report/paint.h"
#include "ui/report/terminal.h"

namespace mw {

std::string terminal_runs(const Replayed& replayed, std::string_view folder, const Console& console) {
  const Painter paint(console);
  std::string out = paint.hanging(
      "", cat(replayed.runs.size(), " runs lie in ", folder, "; each was judged on its own."), 2, &Painter::bold);
  for (const FolderRun& run : replayed.runs) {
    std::string paths;
    const auto& sources = run.replayed.state.sources;
    for (const std::string& path : run.paths) {
      const bool file = std::any_of(sources.begin(), sources.end(), [&](const auto& one) { return one.path == path; });
      paths += cat(paths.empty() ? "" : file ? ", with " : ", resumed in ", path);
    }
    out += "\n" + paint.hanging("", paths, 3, &Painter::cyan) + terminal_status(run.replayed.state, console);
  }
  out += "\n" +
         paint.hanging("", cat("One of them: midwatch replay ", replayed.runs.front().paths.front()), 2, &Painter::dim);
  return out;
}

}  // namespace mw
