#include "core/signal.h"

#include <array>
#include <limits>

namespace mw {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

constexpr std::array kRows = {
    // reward and advantage
    SignalRow{"reward.mean", "1", "Mean reward of the step's samples", -kInf, kInf, Worse::kDown, "reward"},
    SignalRow{"reward.std", "1", "Standard deviation of the reward (within groups where the trainer says so)", 0, kInf,
              Worse::kDown, "reward"},
    SignalRow{"reward.max", "1", "Largest reward of the step", -kInf, kInf, Worse::kDown, "reward"},
    SignalRow{"reward.min", "1", "Smallest reward of the step", -kInf, kInf, Worse::kDown, "reward"},
    SignalRow{"reward.pass_rate", "ratio", "Share of samples (or prompts, pass@k) that were solved", 0, 1, Worse::kDown,
              "reward"},
    SignalRow{"reward.zero_std_groups", "ratio", "Share of groups whose rewards are all equal (no learning signal)", 0,
              1, Worse::kUp, "reward"},
    SignalRow{"reward.solved_groups", "ratio", "Share of groups in which every answer is right (too easy)", 0, 1,
              Worse::kNeither, "reward"},
    SignalRow{"reward.unsolved_groups", "ratio", "Share of groups in which no answer is right (too hard)", 0, 1,
              Worse::kUp, "reward"},
    SignalRow{"reward.component.*", "1", "Mean of one reward function or rubric part", -kInf, kInf, Worse::kDown,
              "reward"},
    SignalRow{"advantage.mean", "1", "Mean advantage", -kInf, kInf, Worse::kNeither, "reward"},
    SignalRow{"advantage.std", "1", "Standard deviation of the advantage", 0, kInf, Worse::kNeither, "reward"},
    SignalRow{"advantage.max", "1", "Largest advantage", -kInf, kInf, Worse::kNeither, "reward"},
    SignalRow{"advantage.min", "1", "Smallest advantage", -kInf, kInf, Worse::kNeither, "reward"},
    SignalRow{"return.mean", "1", "Mean return", -kInf, kInf, Worse::kDown, "reward"},
    // policy
    SignalRow{"loss.total", "1", "Loss that is optimised", -kInf, kInf, Worse::kNeither, "policy"},
    SignalRow{"loss.policy", "1", "Policy-gradient loss", -kInf, kInf, Worse::kNeither, "policy"},
    SignalRow{"loss.value", "1", "Value-function (critic) loss", -kInf, kInf, Worse::kUp, "policy"},
    SignalRow{"loss.kl", "1", "KL term of the loss", -kInf, kInf, Worse::kUp, "policy"},
    SignalRow{"loss.entropy", "1", "Entropy term of the loss", -kInf, kInf, Worse::kNeither, "policy"},
    SignalRow{"entropy", "nats", "Mean token entropy of the policy", 0, kInf, Worse::kNeither, "policy"},
    SignalRow{"kl.ref", "nats", "KL divergence of the policy from its reference model", -kInf, kInf, Worse::kUp,
              "policy"},
    SignalRow{"kl.step", "nats", "Approximate KL between the policy before and after the update", -kInf, kInf,
              Worse::kUp, "policy"},
    SignalRow{"grad_norm", "1", "Norm of the gradient before clipping", 0, kInf, Worse::kUp, "policy"},
    SignalRow{"grad_norm.value", "1", "Norm of the critic's gradient", 0, kInf, Worse::kUp, "policy"},
    SignalRow{"lr", "1", "Learning rate", 0, kInf, Worse::kNeither, "policy"},
    SignalRow{"clip.frac", "ratio", "Share of tokens (or sequences) whose ratio was clipped", 0, 1, Worse::kUp,
              "policy"},
    SignalRow{"clip.frac_low", "ratio", "Share clipped at the lower bound", 0, 1, Worse::kUp, "policy"},
    SignalRow{"clip.frac_high", "ratio", "Share clipped at the upper bound", 0, 1, Worse::kUp, "policy"},
    SignalRow{"ratio.mean", "1", "Mean importance ratio of new to old policy", 0, kInf, Worse::kNeither, "policy"},
    SignalRow{"ratio.max", "1", "Largest importance ratio", 0, kInf, Worse::kUp, "policy"},
    SignalRow{"value.explained_variance", "1", "Explained variance of the critic", -kInf, 1, Worse::kDown, "policy"},
    SignalRow{"mismatch.kl", "nats", "KL between inference engine and trainer on the same tokens", -kInf, kInf,
              Worse::kUp, "policy"},
    SignalRow{"mismatch.logp_diff", "nats", "Mean absolute difference of log-probabilities, engine against trainer", 0,
              kInf, Worse::kUp, "policy"},
    SignalRow{"mismatch.ratio", "1", "Mean ratio of trainer to engine probability (1 = they agree)", 0, kInf,
              Worse::kNeither, "policy"},
    SignalRow{"mismatch.prob_diff", "ratio", "Mean absolute difference of probabilities, engine against trainer", 0, 1,
              Worse::kUp, "policy"},
    SignalRow{"mismatch.correlation", "1",
              "Correlation of engine's and trainer's probabilities of the same tokens (1 = they agree)", -1, 1,
              Worse::kDown, "policy"},
    SignalRow{"staleness", "1", "Weight versions by which the samples lag behind the policy (mean)", 0, kInf,
              Worse::kUp, "policy"},
    SignalRow{"staleness.max", "1", "The same, largest", 0, kInf, Worse::kUp, "policy"},
    SignalRow{"accuracy.token", "ratio", "Mean token accuracy (supervised)", 0, 1, Worse::kDown, "policy"},
    SignalRow{"margin", "1", "Reward margin of chosen over rejected (preference training)", -kInf, kInf, Worse::kDown,
              "policy"},
    SignalRow{"accuracy.preference", "ratio", "Share of pairs ranked rightly (preference training)", 0, 1, Worse::kDown,
              "policy"},
    SignalRow{"loss_scale", "1", "Loss scale of mixed-precision training", 0, kInf, Worse::kDown, "policy"},
    // lengths
    SignalRow{"response.length", "tokens", "Mean response length", 0, kInf, Worse::kNeither, "length"},
    SignalRow{"response.length_max", "tokens", "Longest response", 0, kInf, Worse::kNeither, "length"},
    SignalRow{"response.length_min", "tokens", "Shortest response", 0, kInf, Worse::kNeither, "length"},
    SignalRow{"response.length_terminated", "tokens", "Mean length of responses that ended by themselves", 0, kInf,
              Worse::kNeither, "length"},
    SignalRow{"response.truncated", "ratio", "Share of responses cut off at the length limit", 0, 1, Worse::kUp,
              "length"},
    SignalRow{"response.no_eos", "ratio", "Share of responses without an end-of-sequence token", 0, 1, Worse::kUp,
              "length"},
    SignalRow{"response.repetition", "ratio", "Share of responses that repeat themselves", 0, 1, Worse::kUp, "length"},
    SignalRow{"prompt.length", "tokens", "Mean prompt length", 0, kInf, Worse::kNeither, "length"},
    SignalRow{"prompt.length_max", "tokens", "Longest prompt", 0, kInf, Worse::kNeither, "length"},
    SignalRow{"turns", "1", "Mean turns per episode", 0, kInf, Worse::kNeither, "length"},
    SignalRow{"response.aborted", "ratio", "Share of generations that were aborted or came back empty", 0, 1,
              Worse::kUp, "length"},
    // tools and format
    SignalRow{"format.pass_rate", "ratio", "Share of responses in the required format", 0, 1, Worse::kDown, "tools"},
    SignalRow{"tools.calls", "1", "Tool calls per sample", 0, kInf, Worse::kNeither, "tools"},
    SignalRow{"tools.failure_rate", "ratio", "Share of tool calls that failed", 0, 1, Worse::kUp, "tools"},
    SignalRow{"env.error_rate", "ratio", "Share of samples lost to environment, sandbox or judge errors", 0, 1,
              Worse::kUp, "tools"},
    SignalRow{"filtered", "ratio", "Share of samples or groups that were filtered out", 0, 1, Worse::kUp, "tools"},
    // evaluation
    SignalRow{"eval.*", "1", "A held-out result, under the trainer's own name", -kInf, kInf, Worse::kDown, "eval"},
    // time and throughput
    SignalRow{"time.step", "s", "Wall time of a whole step", 0, kInf, Worse::kUp, "time"},
    SignalRow{"time.rollout", "s", "Time in generation (rollouts)", 0, kInf, Worse::kUp, "time"},
    SignalRow{"time.reward", "s", "Time in reward computation or judging", 0, kInf, Worse::kUp, "time"},
    SignalRow{"time.tools", "s", "Time waiting for tools or environments", 0, kInf, Worse::kUp, "time"},
    SignalRow{"time.logprob", "s", "Time in log-probability forward passes (old policy, reference, value)", 0, kInf,
              Worse::kUp, "time"},
    SignalRow{"time.advantage", "s", "Time in advantage computation", 0, kInf, Worse::kUp, "time"},
    SignalRow{"time.train", "s", "Time in policy (and critic) updates", 0, kInf, Worse::kUp, "time"},
    SignalRow{"time.sync", "s", "Time in weight transfer to the engine", 0, kInf, Worse::kUp, "time"},
    SignalRow{"time.save", "s", "Time in checkpoint saving", 0, kInf, Worse::kUp, "time"},
    SignalRow{"time.eval", "s", "Time in evaluation", 0, kInf, Worse::kUp, "time"},
    SignalRow{"time.wait", "s", "Time the trainer waited for samples", 0, kInf, Worse::kUp, "time"},
    SignalRow{"throughput.tokens", "tokens/s", "Tokens per second, all devices together unless the dialect says else",
              0, kInf, Worse::kDown, "time"},
    SignalRow{"throughput.samples", "1/s", "Samples per second", 0, kInf, Worse::kDown, "time"},
    SignalRow{"throughput.mfu", "ratio", "Model FLOPs utilisation", 0, 1.5, Worse::kDown, "time"},
    SignalRow{"tokens.total", "tokens", "Tokens processed since the start", 0, kInf, Worse::kNeither, "time"},
    SignalRow{"epoch", "1", "Passes over the data, with fraction", 0, kInf, Worse::kNeither, "time"},
    // engine and memory
    SignalRow{"engine.running", "1", "Requests running in the inference engine", 0, kInf, Worse::kNeither, "engine"},
    SignalRow{"engine.waiting", "1", "Requests waiting in the inference engine", 0, kInf, Worse::kUp, "engine"},
    SignalRow{"engine.kv_usage", "ratio", "Share of the KV cache in use", 0, 1, Worse::kUp, "engine"},
    SignalRow{"engine.tokens", "tokens/s", "Generation throughput as the engine logs it", 0, kInf, Worse::kDown,
              "engine"},
    SignalRow{"engine.preemptions", "1", "Requests preempted since the engine started", 0, kInf, Worse::kUp, "engine"},
    SignalRow{"memory.gpu", "bytes", "GPU memory allocated (largest)", 0, kInf, Worse::kUp, "engine"},
    SignalRow{"memory.gpu_reserved", "bytes", "GPU memory reserved", 0, kInf, Worse::kUp, "engine"},
    SignalRow{"memory.host", "bytes", "Host memory used", 0, kInf, Worse::kUp, "engine"},
    SignalRow{"disk.free", "bytes", "Free disk space where the run writes", 0, kInf, Worse::kDown, "engine"},
    // the machine under the run, as a live watch measures it (docs/host.md); each by thing: a mount, a GPU, a process
    SignalRow{"host.cpu", "ratio", "Share of the machine's processor time in use", 0, 1, Worse::kNeither, "host"},
    SignalRow{"host.memory.free", "bytes", "Memory that can be had without swapping (MemAvailable)", 0, kInf,
              Worse::kDown, "host"},
    SignalRow{"host.memory.size", "bytes", "Memory of the machine", 0, kInf, Worse::kNeither, "host"},
    SignalRow{"host.oom_kills", "1", "Processes that the kernel killed for memory (of the run's cgroup, else in all)",
              0, kInf, Worse::kUp, "host"},
    SignalRow{"cgroup.memory.free", "bytes",
              "Left up to the cgroup's memory limit, its droppable page cache counted in", 0, kInf, Worse::kDown,
              "host"},
    SignalRow{"cgroup.memory.size", "bytes", "Memory limit of the run's cgroup", 0, kInf, Worse::kNeither, "host"},
    SignalRow{"pressure.cpu", "ratio", "Share of the last minute in which some task waited for a processor", 0, 1,
              Worse::kUp, "host"},
    SignalRow{"pressure.memory", "ratio", "Share of the last minute in which all tasks waited for memory", 0, 1,
              Worse::kUp, "host"},
    SignalRow{"pressure.io", "ratio", "Share of the last minute in which all tasks waited for a disk", 0, 1, Worse::kUp,
              "host"},
    SignalRow{"disk.size", "bytes", "Size of a file system that the run uses", 0, kInf, Worse::kNeither, "host"},
    SignalRow{"disk.inodes.free", "1", "Files that can still be made on it", 0, kInf, Worse::kDown, "host"},
    SignalRow{"disk.inodes.size", "1", "Files that it can hold in all", 0, kInf, Worse::kNeither, "host"},
    SignalRow{"disk.silent", "s", "For how long a file system has not answered", 0, kInf, Worse::kUp, "host"},
    SignalRow{"checkpoint.bytes", "bytes", "Size of the newest checkpoint on a file system", 0, kInf, Worse::kNeither,
              "host"},
    SignalRow{"net.received", "bytes/s", "Bytes that came in over the network", 0, kInf, Worse::kNeither, "host"},
    SignalRow{"net.sent", "bytes/s", "Bytes that went out over the network", 0, kInf, Worse::kNeither, "host"},
    SignalRow{"net.errors", "1/s", "Packets that were lost or broken at an interface", 0, kInf, Worse::kUp, "host"},
    SignalRow{"process.cpu", "1", "Processors that the run's processes keep busy, on average", 0, kInf, Worse::kNeither,
              "host"},
    SignalRow{"process.memory", "bytes", "Resident memory of the run's processes (shared pages count for each)", 0,
              kInf, Worse::kUp, "host"},
    SignalRow{"process.count", "1", "Processes of the run", 0, kInf, Worse::kNeither, "host"},
    SignalRow{"process.threads", "1", "Threads of the run's processes", 0, kInf, Worse::kUp, "host"},
    SignalRow{"process.files", "ratio", "Open files of a process as a share of its limit", 0, 1, Worse::kUp, "host"},
    SignalRow{"process.blocked", "s", "For how long a process has not come out of a wait for a device (state D)", 0,
              kInf, Worse::kUp, "host"},
    SignalRow{"log.silent", "s", "For how long none of the run's files has said anything (0 below two minutes)", 0,
              kInf, Worse::kUp, "host"},
    SignalRow{"step.usual", "s", "Median time of a step by the machine's own clock, measured when the log falls silent",
              0, kInf, Worse::kNeither, "host"},
    SignalRow{"step.longest", "s", "Longest time between two steps, likewise", 0, kInf, Worse::kNeither, "host"},
    SignalRow{"scrape.*", "1", "A metric of an endpoint of your own ([scrape.NAME]), in its own unit", -kInf, kInf,
              Worse::kNeither, "host"},
    SignalRow{"engine.same_answer", "steps",
              "Steps over which an engine has answered the same question the same, to the last bit", 0, kInf,
              Worse::kUp, "host"},
    SignalRow{"engine.answer_changes", "1", "How often that answer changed with the steps of the attempt, up to 3", 0,
              kInf, Worse::kNeither, "host"},
    SignalRow{"process.core_dump", "bytes", "Size of a core dump that appeared while the run was watched", 0, kInf,
              Worse::kUp, "host"},
    SignalRow{"gpu.memory.used", "bytes", "Memory in use on a GPU, whoever holds it", 0, kInf, Worse::kNeither, "host"},
    SignalRow{"gpu.memory.size", "bytes", "Memory of a GPU", 0, kInf, Worse::kNeither, "host"},
    SignalRow{"gpu.busy", "ratio", "Share of time in which a GPU ran a kernel", 0, 1, Worse::kNeither, "host"},
    SignalRow{"gpu.power", "W", "Power that a GPU draws", 0, kInf, Worse::kNeither, "host"},
    SignalRow{"gpu.temperature", "C", "Temperature of a GPU", -kInf, kInf, Worse::kUp, "host"},
    SignalRow{"gpu.clock", "MHz", "Clock of a GPU's multiprocessors", 0, kInf, Worse::kDown, "host"},
    SignalRow{"gpu.slowed", "ratio", "Share of time in which heat or the power supply slowed a GPU down", 0, 1,
              Worse::kUp, "host"},
    SignalRow{"gpu.ecc", "1", "Uncorrected memory errors of a GPU since the driver was loaded", 0, kInf, Worse::kUp,
              "host"},
    SignalRow{"gpu.lost", "1", "1 while a GPU does not answer", 0, 1, Worse::kUp, "host"},
};

bool matches(std::string_view row, std::string_view name) {
  if (row.back() != '*') return row == name;
  const std::string_view stem = row.substr(0, row.size() - 1);
  return name.size() > stem.size() && name.substr(0, stem.size()) == stem;
}

}  // namespace

const SignalRow* find_signal(std::string_view name) {
  for (const SignalRow& row : kRows) {
    if (matches(row.name, name)) return &row;
  }
  return nullptr;
}

const SignalRow* all_signals(size_t* count) {
  *count = kRows.size();
  return kRows.data();
}

}  // namespace mw
