// All keys of midwatch.toml. docs/config.md is made from here.
#include <array>

#include "daemon/config.h"

namespace mw {
namespace {

using Kind = ConfigKey::Kind;

constexpr std::array kSections = {
    ConfigSection{"run",
                  "What `midwatch run` holds, and how. `attach` takes home, framework and knowledge from here, too."},
    ConfigSection{"attach", "How `midwatch attach` follows a run."},
};

constexpr std::array kKeys = {
    ConfigKey{"run.command", Kind::kCommand, "", 0, 0, "",
              "The training command. It is used when the command line names none behind `--`.", ""},
    ConfigKey{"run.name", Kind::kText, "", 0, 0, "",
              "Name of the run: letters, digits, dots and dashes. A run is begun under a name once.",
              "made from the time and the command, so that no two are the same"},
    ConfigKey{"run.home", Kind::kPath, "", 0, 0, "", "Folder in which runs are recorded.",
              "$MIDWATCH_HOME, else .midwatch in the working directory (attach: beside the run)"},
    ConfigKey{"run.watch", Kind::kPaths, "[]", 0, 0, "",
              "Further files and folders of the run to read: metrics, TensorBoard, W&B.",
              "the command's output is always read"},
    ConfigKey{"run.framework", Kind::kText, "", 0, 0, "", "The dialect to read in, by its name.",
              "recognised from what the run writes"},
    ConfigKey{"run.knowledge", Kind::kPaths, "[]", 0, 0, "", "Folders with your own dialects, signatures and rules.",
              "the built-in ones are always there"},
    ConfigKey{"run.restarts", Kind::kInteger, "5", 0, 1e6, "",
              "Restarts in a row without progress before midwatch stops. 0: never restart.",
              "enough to outlast passing faults; more only repeats what does not help"},
    ConfigKey{"run.first_wait", Kind::kDuration, "\"10s\"", 0, 86400, "",
              "Wait before a restart; it doubles while there is no progress.",
              "ports, GPU memory and leases of the dead attempt are free again by then"},
    ConfigKey{"run.longest_wait", Kind::kDuration, "\"15m\"", 0, 86400, "", "What that wait grows to at most.",
              "rented GPUs cost while they wait"},
    ConfigKey{"run.grace", Kind::kDuration, "\"30s\"", 0, 86400, "",
              "From asking the command to end (SIGINT, SIGTERM) to killing it.",
              "what most providers give before they take a machine"},
    ConfigKey{"run.breaker", Kind::kBoolean, "true", 0, 0, "",
              "End an attempt that trains on poisoned data: dead engine, zero reward, numbers that are not finite.",
              "every further step would have to be thrown away"},
    ConfigKey{
        "run.checkpoints", Kind::kPaths, "[]", 0, 0, "",
        "Folders of the run's checkpoints. Those saved after the data had turned to poison are moved aside there.",
        "most trainers tell in their log where they save"},
    ConfigKey{"run.from_scratch", Kind::kBoolean, "false", 0, 0, "",
              "Let a later attempt begin from nothing, though an earlier one saved a checkpoint.",
              "a resume that failed in silence would soon write over the checkpoints"},
    ConfigKey{"attach.poll", Kind::kDuration, "\"1s\"", 0.01, 3600, "",
              "How often to look where the kernel does not tell of changes (network file systems).",
              "an incident is seen within seconds, and looking costs microseconds"},
    ConfigKey{"attach.exit_after_idle", Kind::kDuration, "\"0s\"", 0, 1e8, "",
              "End the watch when nothing new was written for so long. 0s: never.",
              "a silent run may be a stalled one, which is what the watch is for"},
};

}  // namespace

std::span<const ConfigKey> config_keys() { return kKeys; }
std::span<const ConfigSection> config_sections() { return kSections; }

}  // namespace mw
