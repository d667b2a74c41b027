#include "core/handbook.h"

#include <cmath>
#include <string_view>

#include "base/text.h"
#include "core/detect/detector.h"
#include "core/signal.h"

namespace mw {
namespace {

constexpr std::string_view kMade =
    "<!-- Made from the tables in the code. MIDWATCH_UPDATE_DOCS=1 build/tests/test_core makes it anew. -->\n\n";

std::string bound(double value) {
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  return format_short(value);
}

std::string_view worse_word(Worse worse) {
  switch (worse) {
    case Worse::kUp:
      return "up";
    case Worse::kDown:
      return "down";
    case Worse::kNeither:
      break;
  }
  return "";
}

void add_knobs(std::string& page, const Detector& detector) {
  if (detector.knobs.empty()) return;
  page += "| knob | value | unit | reason | source |\n|---|---|---|---|---|\n";
  for (const Knob& knob : detector.knobs) {
    page += cat("| `", knob.name, "` | ", knob.value, " | ", knob.unit, " | ", knob.reason, " | ", knob.source, " |\n");
  }
  page += "\n";
}

}  // namespace

std::string detectors_page() {
  std::string page = cat("# Detectors\n\n", kMade,
                         "Each looks at the run's state from left to right, knows only what came before, and is silent "
                         "on what it was not\n"
                         "made for. Thresholds of learning are relative to the run's own level. \"own\" as a source "
                         "means: chosen here, with\n"
                         "the scenario in `tests/scenarios/` as its proof.\n\n");
  for (const Detector* detector : all_detectors()) {
    page += cat("## ", detector->name, "\n\n", detector->summary, "\n\nReports: ");
    for (size_t i = 0; i < detector->kinds.size(); ++i) page += cat(i > 0 ? ", " : "", "`", detector->kinds[i], "`");
    page += ".\n\n";
    add_knobs(page, *detector);
  }
  while (page.size() > 1 && page[page.size() - 2] == '\n') page.pop_back();
  return page;
}

std::string signals_page() {
  std::string page =
      cat("# Signals\n\n", kMade,
          "A dialect maps a trainer's own metric names onto these; the raw name is kept beside them. A name that\n"
          "ends in `*` stands for a family.\n");
  size_t count = 0;
  const SignalRow* rows = all_signals(&count);
  std::string_view group;
  for (size_t i = 0; i < count; ++i) {
    const SignalRow& row = rows[i];
    if (row.group != group) {
      group = row.group;
      page += cat("\n## ", group, "\n\n| signal | unit | range | meaning | worse is |\n|---|---|---|---|---|\n");
    }
    page += cat("| `", row.name, "` | ", row.unit, " | ", bound(row.least), " … ", bound(row.most), " | ", row.meaning,
                " | ", worse_word(row.worse), " |\n");
  }
  return page;
}

}  // namespace mw
