// All keys of midwatch.toml. docs/config.md is made from here.
#include <algorithm>
#include <array>

#include "app/config/config.h"
#include "base/text.h"

namespace mw {
namespace {

using Kind = ConfigKey::Kind;

constexpr std::array kSections = {
    ConfigSection{
        "run", "What `midwatch run` supervises, and how. `attach` takes home, framework and knowledge from here, too."},
    ConfigSection{
        "actions",
        "How far midwatch goes by itself in what it does to a supervised run. watch: it says what it would have done. "
        "ask: it says what it would do, and waits until somebody types `midwatch approve`. act: it does it. "
        "`midwatch run --dry-run` is watch for both, for starting components anew and for deleting, which has a mode "
        "of "
        "its own in [cleanup]."},
    ConfigSection{
        "cleanup",
        "What midwatch does when a disk that the run writes to, or shared memory, is full or nearly, or the next "
        "checkpoint will not fit. Only what is proven to be this run's goes: below the folders of `[run] checkpoints` "
        "and "
        "the command's own, and what its dead processes left in shared memory and in Ray's temporary folder; never the "
        "newest whole checkpoint (docs/host.md)."},
    ConfigSection{"retention",
                  "Which checkpoints are kept, where the trainer keeps more than it should. Only in the folders of "
                  "`[run] checkpoints`, "
                  "and only once a newer one is proven whole on the disk."},
    ConfigSection{"checkpoints",
                  "How the trainer's checkpoints are named, where midwatch does not know it, and how deep they are "
                  "looked at while it trains."},
    ConfigSection{"store",
                  "Where `midwatch run` ships the run's checkpoints after each save, with its journal and logs "
                  "(docs/checkpoints.md). For `midwatch run` only. Credentials come from the environment or ~/.aws."},
    ConfigSection{"signals",
                  "What the trainer's own names of metrics mean, where midwatch does not know them. Each is a name as "
                  "the log, the "
                  "table or the metric file has it."},
    ConfigSection{"attach", "How `midwatch attach` follows a run."},
    ConfigSection{"component.*",
                  "A server that the run needs (docs/components.md): midwatch asks it whether it works. Engines and "
                  "servers that the command itself starts are found without."},
    ConfigSection{"scrape.*",
                  "Metrics of any server that serves them in Prometheus' format (docs/components.md), as figures of "
                  "the machine: in the report, and for rules."},
    ConfigSection{"rule.*",
                  "A rule of your own (docs/rules.md): a figure that lies out of its bounds for long enough is an "
                  "incident, `user-rule`, and may end the attempt as poisoned data does."},
    ConfigSection{
        "notify",
        "Who is notified when something happens, and of what. Nobody is notified unless there is a channel: a section "
        "[notify.channel.NAME] each. `midwatch notify --test` tries them."},
    ConfigSection{"hook.*",
                  "A program of yours that is run when something happens: one at a time for each section, from the "
                  "file's folder, with the "
                  "message as JSON on its standard input (docs/formats/notification.md). What it writes is kept in the "
                  "run's folder "
                  "(hooks/). It is never run twice for the same thing."},
    ConfigSection{
        "notify.channel.*",
        "One way to notify people. What is not said here is taken from [notify]. A message is sent once; when "
        "the receiver is down, it is tried again with growing waits."},
};

constexpr std::array kKeys = {
    ConfigKey{"run.command", Kind::kCommand, "", 0, 0, "",
              "The training command. It is used when the command line names none behind `--`.", ""},
    ConfigKey{"run.name", Kind::kText, "", 0, 0, "",
              "Name of the run: letters, digits, dots and dashes. A run is begun under a name once.",
              "made from the time and the command, so that no two are the same"},
    ConfigKey{"run.home", Kind::kPath, "", 0, 0, "", "Folder in which runs are recorded.",
              "$MIDWATCH_HOME, else midwatch in $XDG_STATE_HOME or ~/.local/state; all verbs find it from anywhere"},
    ConfigKey{"run.watch", Kind::kPaths, "[]", 0, 0, "",
              "Further files and folders of the run to read: metrics, TensorBoard, W&B; but for what they held before "
              "the run began.",
              "the command's output is always read"},
    ConfigKey{"run.notices", Kind::kTexts, "[\"auto\"]", 0, 0, "",
              "Who may give notice that the machine is taken away: \"aws\", \"gcp\", \"azure\", \"mithril\", "
              "\"capacity-block\", \"file:/PATH\"; [] is nobody. A run with a store is then ended in time.",
              "auto: those that this machine's firmware, files and variables show to be there"},
    ConfigKey{"run.framework", Kind::kText, "", 0, 0, "", "The dialect to read in, by its name.",
              "recognised from what the run writes"},
    ConfigKey{"run.timezone", Kind::kText, "", 0, 0, "",
              "The zone of clocks in logs that name none: \"UTC\", \"local\" (this machine's), \"+08:00\".",
              "a live log's last clock is compared with the time at which the file was written; of files that are read "
              "once the name of W&B's folder says it, else it is UTC"},
    ConfigKey{"run.knowledge", Kind::kPaths, "[]", 0, 0, "", "Folders with your own dialects, signatures and rules.",
              "the built-in ones are always there"},
    ConfigKey{"run.restarts", Kind::kInteger, "5", 0, 1e6, "",
              "Restarts in a row without progress before midwatch stops. 0: never restart.",
              "enough to outlast passing faults; more only repeats what does not help"},
    ConfigKey{"run.restarts_total", Kind::kInteger, "50", 1, 1e6, "",
              "Restarts of the whole run, whatever the progress, before midwatch stops. What the provider does is not "
              "counted.",
              "a run that fails fifty times needs a person, however far it came between"},
    ConfigKey{"run.hang_patience", Kind::kDuration, "\"10m\"", 0, 864000, "",
              "How long a run that does nothing any more (a critical stall) is waited for before actions.break_hang.",
              "by then ten usual steps and at least half an hour have passed without a step"},
    ConfigKey{
        "run.answer_patience", Kind::kDuration, "\"30m\"", 0, 864000, "",
        "How long midwatch waits for an answer where it asks about a hang (actions.break_hang). Then it ends the "
        "attempt by itself, if a second witness says that the run has rested ever since (its processes do next to "
        "nothing, or its engine does no work) and nobody has stopped its processes. 0s: it waits for ever.",
        "at night nobody answers, and what rests for more than an hour in the middle of its plan does not go on"},
    ConfigKey{
        "run.unattended", Kind::kBoolean, "false", 0, 0, "",
        "Nobody is there to ask: every mode of [actions] and [cleanup] that is \"ask\" is \"act\". Those that are "
        "\"watch\" stay so.",
        "what is ended or deleted does not come back: a person says once that it may"},
    ConfigKey{"run.first_wait", Kind::kDuration, "\"10s\"", 0, 86400, "",
              "Wait before a restart; it doubles while there is no progress.",
              "ports, GPU memory and leases of the dead attempt are free again by then"},
    ConfigKey{"run.longest_wait", Kind::kDuration, "\"15m\"", 0, 86400, "", "What that wait grows to at most.",
              "rented GPUs cost while they wait"},
    ConfigKey{"run.grace", Kind::kDuration, "\"30s\"", 0, 86400, "",
              "From asking the command to end (SIGINT, SIGTERM) to killing it.",
              "what most providers give before they take a machine"},
    ConfigKey{"run.rotate", Kind::kSize, "\"256MiB\"", 65536, 1e15, "",
              "How large the file of the command's output grows before it is renamed, at a line's end, to "
              "train.log.1, .2, …",
              "what an editor still opens"},
    ConfigKey{"run.breaker", Kind::kBoolean, "true", 0, 0, "",
              "End an attempt that trains on poisoned data: dead engine, zero reward, numbers that are not finite.",
              "every further step would have to be thrown away"},
    ConfigKey{"run.checkpoints", Kind::kRoots, "[]", 0, 0, "",
              "Folders of the run's checkpoints. Those saved after the data was poisoned are quarantined there.",
              "most trainers state in their log where they save"},
    ConfigKey{
        "run.resume", Kind::kTexts, "[]", 0, 0, "",
        "What {resume} in the command stands for from the second attempt on: {path}, {root} and {step} in it are the "
        "folder of the checkpoint to resume from, the folder of all of them, and its step. While there is no "
        "checkpoint, {resume} stands for nothing.",
        "the trainer's own arguments, where its dialect knows them"},
    ConfigKey{"run.from_scratch", Kind::kBoolean, "false", 0, 0, "",
              "Let a later attempt begin from nothing, though an earlier one saved a checkpoint.",
              "a resume that failed in silence would soon write over the checkpoints"},
    ConfigKey{"run.cost_per_hour", Kind::kNumber, "0", 0, 1e6, "",
              "What the run's machines cost an hour, in your currency. It shows what the run has cost and what a crash "
              "would cost. For attach as well.",
              "not known: nothing is said of money"},
    ConfigKey{
        "run.host", Kind::kBoolean, "true", 0, 0, "",
        "Watch the machine, too: disks, memory, processes, GPUs. For attach as well, whose checkpoints count as the "
        "machine's.",
        "the costliest losses came from below: full disks, shared memory, killed processes"},
    ConfigKey{
        "run.stacks", Kind::kBoolean, "true", 0, 0, "",
        "When the run is stuck, ask py-spy, eu-stack or gdb, whichever is there, for the stacks of the process in "
        "question (docs/host.md).",
        "nothing shows as much about a hang; eu-stack and gdb stop the process for the moment in which they read"},
    ConfigKey{
        "actions.break", Kind::kChoice, "\"act\"", 0, 0, "watch ask act",
        "Ending an attempt that trains without a component that it needs, as that is proven dead (an "
        "engine, a "
        "server), or that breaks a rule of your own. ask: the command is paused (SIGSTOP) until `midwatch approve` "
        "ends "
        "it, or `midwatch resume` continues it.",
        "every further step costs money and would have to be thrown away"},
    ConfigKey{"actions.break_learning", Kind::kChoice, "\"ask\"", 0, 0, "watch ask act",
              "Ending an attempt of which only its own figures say that they are poisoned: rewards at their floor, "
              "numbers that "
              "are not finite. ask: the command goes on meanwhile, its checkpoints since the onset count as tainted, "
              "and it is "
              "paused only right before its next save; `midwatch approve` ends it, `midwatch resume` continues it.",
              "a curriculum or a broken figure looks the same for a while: a person knows which"},
    ConfigKey{"actions.break_hang", Kind::kChoice, "\"ask\"", 0, 0, "watch ask act",
              "Ending an attempt that does nothing any more, so that the next one begins. ask: the command is left "
              "alone until `midwatch approve` ends it, or nobody answered for run.answer_patience. What somebody "
              "stopped (SIGSTOP, a debugger) is never ended for it.",
              "a step of a kind that was never seen may be long: a person knows"},
    ConfigKey{"actions.restart", Kind::kChoice, "\"act\"", 0, 0, "watch ask act",
              "Beginning the next attempt, and quarantining tainted checkpoints before it. watch: the run is over "
              "then. ask: it waits for `midwatch approve`; `midwatch stop` ends it instead.",
              "a GPU node that waits for somebody to wake up costs tens of dollars an hour"},
    ConfigKey{
        "cleanup.mode", Kind::kChoice, "\"ask\"", 0, 0, "watch ask act",
        "watch: report that space is short. ask: also report what could be freed. act: free it, and restart a run that "
        "ended for want of space.",
        "what is deleted does not come back: a person says once that it may"},
    ConfigKey{"cleanup.what", Kind::kChoices,
              "[\"shared-memory\", \"core-dumps\", \"broken-checkpoints\", \"quarantine\", \"ray-sessions\", "
              "\"old-checkpoints\"]",
              0, 0, "shared-memory core-dumps broken-checkpoints quarantine ray-sessions old-checkpoints",
              "What may go, in this order: shared memory that dead processes of this run left; core dumps of its "
              "processes; checkpoints that are proven broken and older than a whole one; what midwatch quarantined "
              "(by itself only once the run got as far again, or after 3 days); "
              "folders of sessions of Ray's that this run started and none of whose processes lives, logs and all; "
              "checkpoints beyond [retention]. docs/host.md says what each must prove.",
              "from what nobody will miss to what somebody might"},
    ConfigKey{"cleanup.shared_memory", Kind::kPath, "\"/dev/shm\"", 0, 0, "",
              "The folder of shared memory, for shared-memory above.", "where Linux has it"},
    ConfigKey{"cleanup.disk_share", Kind::kNumber, "0.85", 0, 1, "",
              "How much of the disk of `[run] checkpoints` may be used. Above it, mode = \"act\" frees what may go by "
              "`what` and [retention], in that order and only until less is used, without waiting for the disk to be "
              "nearly full; mode = \"ask\" says once what could go. Nothing goes for it that the rules would not let "
              "go anyway, and nothing at all where all of that together would not bring it below: then others fill "
              "the disk. 1: never.",
              "what one save needs at once is mostly less than the rest"},
    ConfigKey{"retention.keep_last", Kind::kInteger, "0", 0, 1e6, "",
              "How many checkpoints that are proven whole are kept; older ones are deleted. 0: all are kept.",
              "the trainer's own setting is the first place for it; this is for trainers that do not keep to theirs"},
    ConfigKey{"retention.keep_every", Kind::kInteger, "0", 0, 1e9, "",
              "Checkpoints whose step this divides are kept for ever. 0: none.",
              "milestones to go back to, or to evaluate"},
    ConfigKey{"retention.keep_best", Kind::kText, "", 0, 0, "",
              "A signal (docs/signals.md), such as reward.mean: the checkpoint at whose step it was best is kept, too. "
              "Of losses, errors and divergences the lowest is the best, of rewards and accuracies the highest; "
              "\"min:NAME\" and \"max:NAME\" say which, and have to where the name does not. While no value of it "
              "is known, or which way is better is not, none is deleted.",
              "no signal says for every run what is best"},
    ConfigKey{"store.place", Kind::kText, "", 0, 0, "",
              "s3://BUCKET/RUN, or a folder, also on a file server. Each run needs a place of its own.",
              "nothing is shipped"},
    ConfigKey{"store.endpoint", Kind::kText, "", 0, 0, "", "Address of the S3 server.",
              "AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, ~/.aws/config, then AWS"},
    ConfigKey{"store.region", Kind::kText, "", 0, 0, "", "Region of the bucket.",
              "AWS_REGION, ~/.aws/config, then us-east-1"},
    ConfigKey{"store.profile", Kind::kText, "", 0, 0, "", "Section of ~/.aws/credentials.",
              "AWS_PROFILE, then default"},
    ConfigKey{"store.addressing", Kind::kChoice, "\"auto\"", 0, 0, "auto path host",
              "Where the bucket stands in addresses: in the path, or in the host's name.",
              "servers of one's own want the path, AWS the host"},
    ConfigKey{"store.parallel", Kind::kInteger, "4", 1, 64, "", "Requests at once, at most.",
              "enough for most links, and little of the machine"},
    ConfigKey{"store.limit", Kind::kSize, "", 1, 1e15, "", "Bytes a second, at most: \"50MB\".", "no limit"},
    ConfigKey{
        "store.wait", Kind::kDuration, "\"10m\"", 0, 864000, "",
        "How long midwatch waits, when the run is over, for what is not shipped yet. Where somebody stops the run "
        "it waits 20 s at most; a second Ctrl-C ends that, too. What is not complete by then is gone on with by "
        "the next push.",
        "the last checkpoint is the one that is wanted; a machine that only waits costs money"},
    ConfigKey{"attach.poll", Kind::kDuration, "\"1s\"", 0.01, 3600, "",
              "How often to look where the kernel does not report changes (network file systems).",
              "an incident is seen within seconds, and looking costs microseconds"},
    ConfigKey{"attach.exit_after_idle", Kind::kDuration, "\"0s\"", 0, 1e8, "",
              "End the watch when nothing new was written for so long. 0s: never.",
              "a silent run may be a stalled one, which is what the watch is for"},
    ConfigKey{"component.*.kind", Kind::kChoice, "\"engine\"", 0, 0, "engine tools rewards ray other",
              "What it is. An engine that fails is a dead engine, and the circuit breaker ends what trains without it; "
              "of the others people are notified.",
              "engines fail most often, and cost most"},
    ConfigKey{
        "component.*.command", Kind::kCommand, "", 0, 0, "",
        "midwatch starts it before the trainer, waits until it answers, starts it anew when it dies or fails, and "
        "ends it with the run. It runs where the training command does; its output is output/NAME.log in the run's "
        "folder, which is read, too.",
        "without a command it is only asked"},
    ConfigKey{"component.*.restarts", Kind::kInteger, "5", 0, 1e6, "",
              "Restarts of it in a row (without 5 min of working between) before the run is stopped.",
              "as for the training command"},
    ConfigKey{
        "component.*.meanwhile", Kind::kChoice, "", 0, 0, "end pause nothing",
        "What becomes of the trainer when a component with a command is started anew. end (engines): its attempt is "
        "ended, and resumes from the checkpoint. pause: it is paused (SIGSTOP). nothing: it is left alone.",
        "end for engines, which come back with the weights that they were built with, and a trainer that does not "
        "notice would train on their answers; pause for all others"},
    ConfigKey{"component.*.address", Kind::kText, "", 0, 0, "",
              "Where it is asked, without a path: http://127.0.0.1:8000. Proxies of the environment are not used.",
              "must be given where there is no command"},
    ConfigKey{"component.*.health", Kind::kText, "\"/health\"", 0, 0, "",
              "The path that is asked (GET). A status of 500 and above, or no answer, is trouble.",
              "vLLM, SGLang and most servers have it"},
    ConfigKey{"component.*.probe", Kind::kChoice, "\"health\"", 0, 0, "health generate",
              "generate: an engine is asked for one token, too (/v1/completions, else SGLang's /generate).",
              "a token costs the engine little, but it is a request that you did not make"},
    ConfigKey{"component.*.every", Kind::kDuration, "\"5s\"", 0.1, 3600, "", "How often it is asked.",
              "a death is known within two rounds"},
    ConfigKey{"component.*.timeout", Kind::kDuration, "\"10s\"", 0.1, 600, "", "How long each question may take.",
              "busy servers answer late, dead ones never"},
    ConfigKey{"component.*.ready_within", Kind::kDuration, "\"15m\"", 1, 86400, "",
              "How long it may take from an attempt's beginning until it answers; then it counts as dead, where "
              "it worked before. What never answered once gets a warning and ends nothing: its address may be wrong.",
              "large models load and compile for ten minutes"},
    ConfigKey{"scrape.*.address", Kind::kText, "", 0, 0, "",
              "Where it is asked (GET): http://127.0.0.1:9400/metrics. Without a path, /metrics. Proxies of the "
              "environment are not used.",
              "must be given"},
    ConfigKey{
        "scrape.*.metrics", Kind::kTexts, "", 0, 0, "",
        "The metrics, by name, each the sum over its labels; \"rate(NAME)\" is what a counter grows by in a second.",
        "must be given: servers have hundreds"},
    ConfigKey{"scrape.*.every", Kind::kDuration, "\"30s\"", 1, 3600, "", "How often it is asked.",
              "what changes faster is seldom understood"},
    ConfigKey{"scrape.*.timeout", Kind::kDuration, "\"10s\"", 0.1, 600, "", "How long that may take.",
              "it holds up nothing else"},
    ConfigKey{"checkpoints.pattern", Kind::kPattern, "", 0, 0, "",
              "The name of one checkpoint's folder, with {step} in it: \"step_{step}\", \"ckpt-{step:06}\" with zeros "
              "before it; or of its file, where it is one: \"ckpt_{step}.pt\". What [run] checkpoints, or "
              "the log, says where they lie.",
              "known of the frameworks that midwatch knows"},
    ConfigKey{
        "checkpoints.deep", Kind::kBoolean, "true", 0, 0, "",
        "Whether all bytes of each checkpoint are read after its save: NaN and infinite numbers, norms against the "
        "save before, checksums (docs/checkpoints.md). Never while a save is being written, and not where it would "
        "not be over before the next one.",
        "a checkpoint full of NaN is whole by its structure, and a restart would resume from it"},
    ConfigKey{"checkpoints.deep_share", Kind::kNumber, "0.01", 0.001, 1, "",
              "The share of the time in which that reads; for the rest it sleeps. At the lowest priority for the "
              "processor and the disk.",
              "1 % of a core and of a disk is less than anybody notices; 1 GB that is in memory takes 14 s"},
    ConfigKey{"signals.reward", Kind::kText, "", 0, 0, "", "The mean reward that the run optimises.",
              "known by its usual names"},
    ConfigKey{"signals.pass_rate", Kind::kText, "", 0, 0, "", "The share of samples that pass.", "likewise"},
    ConfigKey{"signals.loss", Kind::kText, "", 0, 0, "", "The whole loss.", "likewise"},
    ConfigKey{"signals.policy_loss", Kind::kText, "", 0, 0, "", "The policy's loss.", "likewise"},
    ConfigKey{"signals.kl", Kind::kText, "", 0, 0, "", "The divergence from the reference model.", "likewise"},
    ConfigKey{"signals.entropy", Kind::kText, "", 0, 0, "", "The policy's entropy.", "likewise"},
    ConfigKey{"signals.grad_norm", Kind::kText, "", 0, 0, "", "The norm of the gradient.", "likewise"},
    ConfigKey{"signals.response_length", Kind::kText, "", 0, 0, "", "The mean length of answers, in tokens.",
              "likewise"},
    ConfigKey{"signals.lr", Kind::kText, "", 0, 0, "", "The learning rate.", "likewise"},
    ConfigKey{"rule.*.signal", Kind::kText, "", 0, 0, "",
              "The figure: a signal (docs/signals.md), the trainer's own name of a metric, or a figure of the machine, "
              "as \"gpu.temperature\" of all GPUs, \"disk.free:/data\" or \"scrape.NAME:metric\" of one thing.",
              "must be given"},
    ConfigKey{"rule.*.below", Kind::kNumber, "", 0, 0, "",
              "What is lower is bad. In the signal's unit; of a trainer's own metric, as it writes it.",
              "this or above must be given"},
    ConfigKey{"rule.*.above", Kind::kNumber, "", 0, 0, "", "What is higher is bad, likewise.", "likewise"},
    ConfigKey{"rule.*.for", Kind::kInteger, "3", 1, 1e6, "",
              "So many points in a row must be bad. Of a figure of the machine a point is 10 s. What is no number "
              "counts neither way.",
              "single steps of reinforcement learning are noise"},
    ConfigKey{"rule.*.after_step", Kind::kInteger, "0", 0, 1e12, "", "Earlier steps are left alone.",
              "set it where a signal needs to warm up"},
    ConfigKey{"rule.*.severity", Kind::kChoice, "\"warning\"", 0, 0, "info warning critical",
              "That of the incident, for those who are notified.", "critical is what somebody gets up for"},
    ConfigKey{"rule.*.breaker", Kind::kBoolean, "false", 0, 0, "",
              "The attempt is ended at once, checkpoints saved since the first bad point are quarantined, and the next "
              "attempt resumes from before it, once: where it happens again before the run has come further, midwatch "
              "stops with that reason. Needs severity = \"critical\", and `[run] breaker`.",
              "a rule that is wrong should cost nothing"},
    ConfigKey{"rule.*.text", Kind::kText, "", 0, 0, "", "What to do about it; shown with the incident.",
              "you know what you meant"},
    ConfigKey{"notify.events", Kind::kChoices,
              "[\"opened\", \"closed\", \"restarted\", \"asks\", \"stopped\", \"finished\", \"escalation\"]", 0, 0,
              "opened closed restarted asks stopped finished escalation",
              "What people are notified of: an incident opened (or became critical) or closed; the command was started "
              "again, waits "
              "for approval ([actions]), was stopped for cause, finished; a critical incident is still open.",
              "together they are the course of a run, a few messages a day"},
    ConfigKey{"notify.min_severity", Kind::kChoice, "\"warning\"", 0, 0, "info warning critical",
              "Nobody is notified of incidents below it.", "info is worth reading in the morning, not at night"},
    ConfigKey{
        "notify.escalate_after", Kind::kDuration, "\"30m\"", 0, 86400 * 7.0, "",
        "A critical incident that is still open so long after its notification is sent again, and again after as long. "
        "`midwatch tell` (somebody works on it) ends that. 0s: never.",
        "a GPU node costs tens of dollars by then"},
    ConfigKey{"notify.escalate_times", Kind::kInteger, "3", 0, 100, "", "How often an incident is sent again at most.",
              "who does not hear three will not hear the fourth"},
    ConfigKey{"notify.escalate_to", Kind::kTexts, "[]", 0, 0, "", "The channels to which it is sent again, by name.",
              "none named: all whose events have escalation"},
    ConfigKey{"notify.give_up_after", Kind::kDuration, "\"6h\"", 1, 86400 * 7.0, "",
              "A message that could not be delivered for so long is dropped, and that is recorded.",
              "services are back within hours, and older news only confuses"},
    ConfigKey{
        "notify.channel.*.kind", Kind::kChoice, "", 0, 0, "terminal webhook slack discord ntfy email",
        "What it is. webhook: any server that takes JSON (docs/formats/notification.md). terminal: a line and the "
        "bell where midwatch was started.",
        "must be given"},
    ConfigKey{"notify.channel.*.url", Kind::kSecret, "", 0, 0, "",
              "The address: of the webhook; of the topic for ntfy (https://ntfy.sh/TOPIC).",
              "must be given, but for terminal and email"},
    ConfigKey{"notify.channel.*.token", Kind::kSecret, "", 0, 0, "", "Sent as `Authorization: Bearer` (webhook, ntfy).",
              "none is sent"},
    ConfigKey{"notify.channel.*.events", Kind::kChoices, "", 0, 0,
              "opened closed restarted asks stopped finished escalation", "What is sent to this channel.",
              "as in [notify]"},
    ConfigKey{"notify.channel.*.min_severity", Kind::kChoice, "", 0, 0, "info warning critical",
              "Incidents below it are not sent here.", "as in [notify]"},
    ConfigKey{
        "notify.channel.*.per_hour", Kind::kInteger, "20", 1, 3600, "",
        "Messages an hour. The first five go at once, later ones are spaced out; what waits is put together into one "
        "message.",
        "more than that is not read, and servers begin to refuse"},
    ConfigKey{"notify.channel.*.timeout", Kind::kDuration, "\"10s\"", 0.1, 60, "", "How long one try may take.",
              "a healthy server answers within a second"},
    ConfigKey{"notify.channel.*.to", Kind::kTexts, "", 0, 0, "", "email: whom to write to.", "must be given for email"},
    ConfigKey{"notify.channel.*.from", Kind::kText, "", 0, 0, "", "email: the sender's address.",
              "midwatch@ and the host's name"},
    ConfigKey{"notify.channel.*.server", Kind::kText, "", 0, 0, "",
              "email: the mail server, as smtp://host:587 or smtps://host:465.",
              "the machine's sendmail program sends"},
    ConfigKey{"notify.channel.*.user", Kind::kText, "", 0, 0, "", "email: the name to log in with at the server.",
              "no login"},
    ConfigKey{"notify.channel.*.password", Kind::kSecret, "", 0, 0, "", "email: its password.", "no login"},
    ConfigKey{"notify.channel.*.tls", Kind::kChoice, "\"require\"", 0, 0, "require if-offered never",
              "email: encryption with an smtp:// server (an smtps:// one always has it).",
              "a password and a run's trouble are nobody else's business"},
    ConfigKey{"notify.channel.*.sendmail", Kind::kCommand, "[\"/usr/sbin/sendmail\"]", 0, 0, "",
              "email without a server: the program that takes a mail, called as sendmail is.",
              "where every mail system puts it"},
    ConfigKey{"hook.*.command", Kind::kCommand, "", 0, 0, "", "The program and its arguments.", "must be given"},
    ConfigKey{"hook.*.events", Kind::kChoices, "[\"opened\", \"asks\", \"stopped\"]", 0, 0,
              "opened closed restarted asks stopped finished escalation", "On what it is run.",
              "that is when something is to be done"},
    ConfigKey{"hook.*.min_severity", Kind::kChoice, "\"critical\"", 0, 0, "info warning critical",
              "Incidents below it do not run it.", "a program acts; a warning is for people"},
    ConfigKey{"hook.*.timeout", Kind::kDuration, "\"60s\"", 0.1, 3600, "",
              "How long it may take; then it gets SIGTERM, and 5 s later SIGKILL, it and all of its process group.",
              "enough to upload a log; a hanging one holds up only itself"},
    ConfigKey{"hook.*.per_hour", Kind::kInteger, "60", 1, 3600, "",
              "How often it is run in an hour at most, five times at once.",
              "a flapping incident does not become a storm of processes"},
};

}  // namespace

std::span<const ConfigKey> config_keys() { return kKeys; }
std::span<const ConfigSection> config_sections() { return kSections; }

bool is_config_section(const std::vector<std::string>& path) {
  return std::any_of(kSections.begin(), kSections.end(), [&](const ConfigSection& section) {
    auto parts = split(section.path, '.');
    if (parts.size() < path.size()) return false;
    for (size_t i = 0; i < path.size(); ++i) {
      if (parts[i] != "*" && parts[i] != path[i]) return false;
    }
    return true;
  });
}

bool takes_names(std::string_view section) {
  return std::any_of(kSections.begin(), kSections.end(),
                     [section](const ConfigSection& one) { return one.path == cat(section, ".*"); });
}

}  // namespace mw
