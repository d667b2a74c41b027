#include "core/supervise/client.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "core/supervise/client_target.h"
#include "core/supervise/program_on_input.h"
#include "core/supervise/time_limit.h"

namespace mw {
namespace {

constexpr std::string_view kInContainer = "in a container";
constexpr std::string_view kDocker = "docker ps shows it, docker stop ends it.";
constexpr std::string_view kPodman = "podman ps shows it, podman stop ends it.";
constexpr int kDaemonFailed = 125;  // docker run: "exit status 125 if the error is with Docker daemon itself"
constexpr int kSshFailed = 255;     // ssh(1): "or with 255 if an error occurred"

constexpr std::array kClients = {
    Client{"ray", "job", "submit", "ray job submit", "as a job of Ray's cluster",
           "ray job list shows it, ray job stop ends it.", 0, true},
    Client{"docker", "run", "", "docker run", kInContainer, kDocker, kDaemonFailed},
    Client{"docker", "exec", "", "docker exec", kInContainer, kDocker, kDaemonFailed},
    Client{"podman", "run", "", "podman run", kInContainer, kPodman, kDaemonFailed},
    Client{"podman", "exec", "", "podman exec", kInContainer, kPodman, kDaemonFailed},
    Client{"nerdctl", "run", "", "nerdctl run", kInContainer, "nerdctl ps shows it, nerdctl stop ends it.",
           kDaemonFailed},
    Client{"kubectl", "exec", "", "kubectl exec", "in a pod", "kubectl exec POD -- ps shows it.", 0, true},
    Client{"ssh", "", "", "ssh", "on another machine", "ps there shows it.", kSshFailed},
};

// Signatures of what clients write.
constexpr std::string_view kSubmitted = "job-submitted", kOver = "client-reports-end", kLost = "container-client-lost";

/// Nothing of the run was begun, as Docker or Kubernetes says.
constexpr std::array<std::string_view, 3> kNotBegun = {"container-not-started", "container-start-failed",
                                                       "docker-daemon-unreachable"};

const SignatureState* seen(const State& state, std::string_view id) {
  const auto found = std::find_if(state.signatures.begin(), state.signatures.end(),
                                  [id](const SignatureState& one) { return one.id == id && !one.sample; });
  return found == state.signatures.end() || found->matches.empty() ? nullptr : &*found;
}

bool seen_in_last(const State& state, std::string_view id) {
  const SignatureState* one = seen(state, id);
  return one != nullptr && one->matches.back().moment.attempt + 1U == state.attempts.size();
}

/// The name in "Job 'raysubmit_x' submitted successfully".
std::string_view job_in(std::string_view line) {
  const size_t begin = line.find('\''), end = line.find('\'', begin + 1);
  return end == std::string_view::npos ? std::string_view() : line.substr(begin + 1, end - begin - 1);
}

/// The job that was submitted last, where nothing says that it is over; "": there is none.
std::string open_job(const State& state) {
  const SignatureState* const submitted = seen(state, kSubmitted);
  if (submitted == nullptr) return "";
  const SignatureState::Match& last = submitted->matches.back();
  const std::string_view job = job_in(last.text);
  const SignatureState* const over = seen(state, kOver);
  const bool ended = over != nullptr && std::any_of(over->matches.begin(), over->matches.end(), [&](const auto& word) {
                       return word.order > last.order && job_in(word.text) == job;
                     });
  return ended ? "" : std::string(clip(job, 80));
}

std::string follows(std::string_view called, std::string_view where, std::string_view advice) {
  return cat("What ended is ", called, ", which only follows the training: that runs ", where,
             " and may go on; another attempt would run beside it. ", advice);
}

}  // namespace

const Client* client_of(std::span<const std::string> command) {
  const auto limit = time_limit_of(command);
  auto words = command.subspan(limit ? limit->words : 0);
  words = words.subspan(past_wrappers(words));
  if (words.empty()) return nullptr;
  const auto is = [&words](size_t at, std::string_view word) {
    return word.empty() || (at < words.size() && words[at] == word);
  };
  const auto* const found = std::find_if(kClients.begin(), kClients.end(), [&](const Client& one) {
    return basename(words[0]) == one.program && is(1, one.verb) && is(2, one.second);
  });
  return found == kClients.end() ? nullptr : found;
}

bool trains_elsewhere(const State& state, std::span<const std::string> command) {
  return client_of(command) != nullptr || !open_job(state).empty();
}

std::string may_train_on(const State& state, std::span<const std::string> command, const AttemptOutcome& ended) {
  if (const std::string job = open_job(state); !job.empty()) {
    return cat("The job ", job, " was submitted, and nothing says that it is over: it may go on, and another attempt ",
               "would run beside it. ray job status ", job, " shows it, ray job stop ", job, " ends it.");
  }
  if (seen_in_last(state, kLost)) return follows("a client of Docker", kInContainer, kDocker);
  const Client* const client = client_of(command);
  if (client == nullptr) return "";
  const bool trained = ended.last_step != kNoStep;
  if (client->says_end) {
    const bool over = (ended.known && ended.code == 0) || seen_in_last(state, kOver);
    return over || !trained ? "" : follows(client->called, client->where, how_to_end(*client, command, ""));
  }
  const bool gone = !ended.known || ended.signal != 0 || ended.code == client->own_status;
  const bool not_begun = !trained && std::any_of(kNotBegun.begin(), kNotBegun.end(),
                                                 [&state](std::string_view id) { return seen_in_last(state, id); });
  // Where it did not come to log in, nothing was begun.
  const bool failed_to_begin = not_begun || (client->own_status == kSshFailed && !trained);
  return gone && !failed_to_begin ? follows(client->called, client->where, how_to_end(*client, command, "")) : "";
}

}  // namespace mw
