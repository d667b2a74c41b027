// Slurm: a machine is a job. sbatch, squeue and scancel are those of the PATH; times and limits are the job's own.
#include <algorithm>

#include "act/fleet/provider.h"
#include "act/fleet/shell_word.h"
#include "base/numbers.h"
#include "base/text.h"
#include "platform/program.h"

namespace mw::fleet {
namespace {

constexpr Duration kLimit = Duration::seconds(60);  // of one call
constexpr std::string_view kNotice = "B:TERM@120";  // seconds before the time limit that the batch shell hears of it

/// States of squeue(1). Finished ones are listed for MinJobAge (slurm.conf, five minutes as it comes).
InstanceState state_of(std::string_view word) {
  if (word == "PENDING" || word == "CONFIGURING" || word == "REQUEUED" || word == "REQUEUE_HOLD" ||
      word == "REQUEUE_FED" || word == "RESV_DEL_HOLD" || word == "SPECIAL_EXIT") {
    return InstanceState::kProvisioning;
  }
  if (word == "RUNNING" || word == "COMPLETING" || word == "SIGNALING" || word == "STAGE_OUT" || word == "RESIZING") {
    return InstanceState::kRunning;
  }
  if (word == "SUSPENDED" || word == "STOPPED") return InstanceState::kStopped;
  const bool over = word == "COMPLETED" || word == "CANCELLED" || word == "FAILED" || word == "TIMEOUT" ||
                    word == "NODE_FAIL" || word == "PREEMPTED" || word == "BOOT_FAIL" || word == "DEADLINE" ||
                    word == "OUT_OF_MEMORY" || word == "REVOKED";
  return over ? InstanceState::kGone : InstanceState::kRunning;  // an unknown word may cost something
}

/// Does the script ask for an array of jobs? sbatch(1) reads its options up to the first line that is a command.
bool asks_for_array(std::string_view start) {
  for (const std::string_view line : split(start, '\n')) {
    const std::string_view text = trim(line);
    if (!text.empty() && !text.starts_with('#')) return false;
    if (!line.starts_with("#SBATCH")) continue;
    for (const std::string_view word : split(line, ' ')) {
      if (word.starts_with("--array") || word.starts_with("-a")) return true;
    }
  }
  return false;
}

/// What slurmctld refuses now only: too many jobs of this user are queued.
bool may_be_had_later(std::string_view output) {
  return contains(output, "job submit limit") || contains(output, "temporarily unable");
}

/// What a program of Slurm printed, in one line, without its own name before each part.
std::string said_by(std::string_view program, std::string_view output) {
  std::string out;
  const std::string before = cat(program, ": error: ");
  for (std::string_view line : split(output, '\n')) {
    line = trim(line);
    if (line.starts_with(before)) line.remove_prefix(before.size());
    if (!line.empty()) out += cat(out.empty() ? "" : "; ", line);
  }
  return out;
}

class SlurmProvider final : public Provider {
 public:
  explicit SlurmProvider(const ProviderSpec& spec) : spec_(spec) {}

  const std::string& name() const override { return spec_.name; }

  Result<std::vector<Offer>> search(const MachineWants&) override {
    // Slurm queues what it cannot run yet: there is always one offer.
    return std::vector<Offer>{standing_offer(spec_, "partition", "default")};
  }

  Result<Instance> create(const Offer&, const Order& order) override {
    auto request = submission(order);
    if (!request.ok()) return request.error();
    const auto output = call(std::move(*request));
    if (!output.ok()) return output.error();
    std::string_view id = trim(*output);
    id = id.substr(id.rfind('\n') == std::string_view::npos ? 0 : id.rfind('\n') + 1);
    id = id.substr(0, id.find(';'));
    if (!parse_int(id)) return Error{Error::Code::kIo, "sbatch did not say the number of the job", ""};
    Instance out;
    out.id = id;
    out.label = order.label;
    out.price = spec_.price;
    return out;
  }

  Result<std::string> preview(const Offer&, const Order& order) override {
    const auto request = submission(order);
    if (!request.ok()) return request.error();
    std::string out;
    for (const std::string& word : request->command) out += cat(out.empty() ? "" : " ", shell_word(word));
    return cat(out, " <<'END'\n", request->input, "END\n");
  }

  Result<Listing> list() override {
    ProgramRequest request;
    request.command = {"squeue", "--me", "--noheader", "--all", "--states=all", "--format=%i|%j|%T|%r"};
    const auto output = call(std::move(request));
    if (!output.ok()) return output.error();
    Listing out;
    for (const std::string_view line : split(*output, '\n')) {
      const auto words = split(trim(line), '|');
      if (words.size() < 3 || !words[1].starts_with("midwatch-")) continue;
      Instance one;
      one.id = words[0];
      one.label = words[1];
      one.state = state_of(words[2]);
      one.price = one.state == InstanceState::kProvisioning ? 0 : spec_.price;
      one.says = words.size() > 3 && words[3] != "None" ? cat(words[2], ", ", words[3]) : std::string(words[2]);
      out.push_back(std::move(one));
    }
    return out;
  }

  Result<void> destroy(const Instance& instance) override {
    if (!parse_int(instance.id)) return Error{Error::Code::kInvalid, "this is no number of a job", ""};
    ProgramRequest request;
    request.command = {"scancel", "--full", instance.id};
    const auto output = call(std::move(request));
    if (!output.ok()) return output.error();
    return {};
  }

 private:
  Result<ProgramRequest> submission(const Order& order) const {
    if (asks_for_array(order.start)) {
      return Error{Error::Code::kInvalid, "#SBATCH --array in start: each of its jobs would train the whole run", ""};
    }
    ProgramRequest request;
    request.command = {"sbatch", "--parsable", cat("--job-name=", order.label), cat("--signal=", kNotice),
                       "--no-requeue"};
    for (const std::string_view key : {"partition", "account", "qos", "time", "gres"}) {
      if (!spec_.value(key).empty()) request.command.push_back(cat("--", key, "=", spec_.value(key)));
    }
    if (!spec_.value("folder").empty()) request.command.push_back(cat("--chdir=", spec_.value("folder")));
    // Only these, by name: sbatch takes their values from its own environment, and no argument shows them.
    std::string names = "PATH,HOME";
    for (const auto& [key, content] : order.environment) {
      names += cat(",", key);
      request.environment[key] = content;
    }
    request.command.push_back(cat("--export=", names));
    request.input = cat("#!/bin/sh\n", order.start, order.start.ends_with('\n') ? "" : "\n");
    return request;
  }

  static Result<std::string> call(ProgramRequest request) {
    const std::string program = request.command.front();
    request.limit = kLimit;
    const auto end = run_program(request);
    if (!end.ok()) return end.error();
    if (end->late) return Error{Error::Code::kInterrupted, cat(program, " did not end in time"), ""};
    if (end->code == 0) return end->output;
    // What slurmctld refuses it has not queued; where it was not reached nobody knows.
    const bool unheard = contains(end->output, "Unable to contact") || contains(end->output, "timed out") ||
                         contains(end->output, "Connection");
    const Error::Code code = unheard || program != "sbatch"  ? Error::Code::kIo
                             : may_be_had_later(end->output) ? Error::Code::kFull
                                                             : Error::Code::kInvalid;
    return Error{code, cat(program, ": ", redact_secrets(clip(said_by(program, end->output), 200))), ""};
  }

  const ProviderSpec spec_;
};

}  // namespace

Result<std::unique_ptr<Provider>> make_slurm_provider(const ProviderSpec& spec) {
  return std::unique_ptr<Provider>(std::make_unique<SlurmProvider>(spec));
}

}  // namespace mw::fleet
