// A command that hands the training to somebody else, or keeps its output back: midwatch run sees nothing of it.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "core/preflight/lint.h"
#include "core/supervise/client.h"

namespace mw::preflight {
namespace {

/// `midwatch run -- PROGRAM VERB... OPTION...`: by the program, words right behind it, and an option anywhere.
struct Launcher {
  std::string_view program, verb, second;
  std::array<std::string_view, 3> options;  ///< one of them; all empty: with any
  bool without = false;                     ///< of those options none
  std::string_view what, fix;
};

constexpr std::string_view kQueued = " queues the job and ends: the training runs where midwatch does not see it";
constexpr std::string_view kDetached = " starts it in the background and ends: midwatch does not see how it goes on";
constexpr std::string_view kInJob = "start midwatch run in the job's own script (docs/deploy)";
constexpr std::string_view kForeground = "leave the option out, or start midwatch run inside";

constexpr Launcher kLaunchers[] = {
    {"sbatch", "", "", {}, false, kQueued, kInJob},
    {"qsub", "", "", {}, false, kQueued, kInJob},
    {"bsub", "", "", {}, false, kQueued, kInJob},
    {"kubectl", "apply", "", {}, false, kQueued, kInJob},
    {"kubectl", "create", "", {}, false, kQueued, kInJob},
    {"ray", "job", "submit", {"--no-wait"}, false, kQueued, "leave --no-wait out, or start midwatch run in the job"},
    {"sky", "launch", "", {"-d", "--detach-run"}, false, kQueued, kInJob},
    {"sky", "jobs", "launch", {"-d", "--detach-run"}, false, kQueued, kInJob},
    {"docker", "run", "", {"-d", "--detach"}, false, kDetached, kForeground},
    {"podman", "run", "", {"-d", "--detach"}, false, kDetached, kForeground},
    {"tmux", "new", "", {"-d"}, false, kDetached, kForeground},
    {"tmux", "new-session", "", {"-d"}, false, kDetached, kForeground},
    {"screen", "-dm", "", {}, false, kDetached, kForeground},
    {"screen", "-dmS", "", {}, false, kDetached, kForeground},
    {"conda",
     "run",
     "",
     {"--no-capture-output", "--live-stream"},
     true,
     " run keeps all output back until the command ends: nothing is seen of the training meanwhile",
     "conda run --no-capture-output ..."},
};

bool is_it(const Launcher& launcher, const std::vector<std::string>& words) {
  if (words.empty() || basename(words.front()) != launcher.program) return false;
  if (!launcher.verb.empty() && (words.size() < 2 || words[1] != launcher.verb)) return false;
  if (!launcher.second.empty() && (words.size() < 3 || words[2] != launcher.second)) return false;
  if (launcher.options.front().empty()) return true;
  const bool there = std::any_of(words.begin(), words.end(), [&launcher](const std::string& word) {
    return !word.empty() && std::find(launcher.options.begin(), launcher.options.end(), word) != launcher.options.end();
  });
  return there != launcher.without;
}

/// In the foreground: what it follows goes on without it.
void check_client(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  const Client* const client = client_of(facts.typed);
  if (client == nullptr) return;
  out.push_back(finding_at(lint, Level::kWarning, nullptr,
                           cat(client->called, " only follows the training, which runs ", client->where,
                               ": midwatch can neither pause nor end it, and begins no other attempt when the client "
                               "is lost"),
                           "start midwatch run there, around the trainer (docs/deploy)"));
}

void check_sight(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  for (const Launcher& launcher : kLaunchers) {
    if (!is_it(launcher, facts.typed)) continue;
    out.push_back(
        finding_at(lint, Level::kWarning, nullptr, cat(launcher.program, launcher.what), std::string(launcher.fix)));
    return;
  }
  check_client(facts, lint, out);
}

}  // namespace

namespace lints {
extern const Lint out_of_sight;
const Lint out_of_sight = {
    "out-of-sight",
    Level::kWarning,
    "The command hands the training to somebody else and ends or only follows it, or keeps its output back.",
    "midwatch run watches the processes of its command and what they write: of a queued job or a container in the "
    "background it sees none, restarts nothing, and reports an end that is not the training's.",
    "the manuals of sbatch, kubectl, ray job submit, sky, docker run, tmux, screen and conda run",
    check_sight};
}  // namespace lints

}  // namespace mw::preflight
