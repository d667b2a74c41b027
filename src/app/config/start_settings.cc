#include "app/config/start_settings.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "core/retention.h"
#include "platform/time_zone.h"

namespace mw {
namespace {

class StartProblems {
 public:
  explicit StartProblems(const Config& config) : config_(config) {}

  std::vector<ConfigProblem> all() {
    zone();
    notices();
    store();
    best();
    resume();
    return std::move(out_);
  }

 private:
  void wrong(std::string_view key, std::string what, std::string hint) {
    out_.push_back({config_.find(key)->line, cat(key, ": ", what), std::move(hint)});
  }

  void zone() {
    const std::string name = config_.text("run.timezone");
    if (!name.empty() && !TimeZone::parse(name))
      wrong("run.timezone", cat("'", name, "' is no time zone"),
            "Write UTC, local (this machine's), or hours east of UTC: +08:00");
  }

  void notices() {
    static constexpr std::array<std::string_view, 6> kWords = {"auto",  "aws",     "gcp",
                                                               "azure", "mithril", "capacity-block"};
    for (const std::string& word : config_.texts("run.notices")) {
      if (word.starts_with("file:/") || std::find(kWords.begin(), kWords.end(), word) != kWords.end()) continue;
      wrong("run.notices", cat("nobody who gives notice is called '", word, "'"),
            "It is \"auto\", \"aws\", \"gcp\", \"azure\", \"mithril\", \"capacity-block\" or \"file:/PATH\".");
    }
  }

  void store() {
    if (!config_.given("store.place")) return;
    const std::string place = config_.text("store.place");
    const bool known = place.starts_with("s3://") || place.starts_with("file://");
    const size_t colon = place.find(":/");
    const bool address = colon != std::string::npos && place.find('/') > colon;
    if (place.empty() || (address && !known))
      wrong("store.place", place.empty() ? "it is empty" : cat("no place for a run's checkpoints: ", place),
            "It is s3://BUCKET/RUN, or a folder: /mnt/share/RUN.");
  }

  void best() {
    if (!config_.given("retention.keep_best")) return;
    if (trim(best_rule(config_.text("retention.keep_best")).signal).empty())
      wrong("retention.keep_best", "it names no figure", "Write, for instance, \"reward.mean\" or \"min:eval_loss\".");
  }

  /// "{pth}": what the program would get as it stands, in the middle of the night.
  void resume() {
    static constexpr std::array<std::string_view, 3> kKnown = {"path", "root", "step"};
    for (const std::string& text : config_.texts("run.resume")) {
      for (size_t at = text.find('{'); at != std::string::npos; at = text.find('{', at + 1)) {
        const size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at + 1);
        if (end == std::string::npos || text[end] != '}' || end == at + 1) continue;
        const std::string_view word = std::string_view(text).substr(at + 1, end - at - 1);
        if (std::find(kKnown.begin(), kKnown.end(), word) != kKnown.end()) continue;
        wrong("run.resume", cat("{", word, "} stands for nothing"), "It is {path}, {root} or {step}.");
      }
    }
  }

  const Config& config_;
  std::vector<ConfigProblem> out_;
};

}  // namespace

std::vector<ConfigProblem> start_problems(const Config& config) { return StartProblems(config).all(); }

}  // namespace mw
