#include "core/supervise/client_target.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "core/supervise/program_on_input.h"
#include "core/supervise/time_limit.h"

namespace mw {
namespace {

using Words = std::span<const std::string>;

/// Options of a client that take no value, behind which its target follows.
struct Options {
  std::string_view program, letters;  ///< `letters`: short ones
  std::array<std::string_view, 14> words;
};

constexpr std::array kOptions = {
    Options{"docker",
            "ditqP",
            {"--rm", "--init", "--privileged", "--detach", "--interactive", "--tty", "--read-only", "--publish-all",
             "--no-healthcheck", "--oom-kill-disable", "--quiet", "--disable-content-trust", "--sig-proxy"}},
    Options{"kubectl", "itq", {"--stdin", "--tty", "--quiet"}},
    Options{"ssh", "46AaCfGgKkMNnqsTtVvXxYy", {}},
};

bool is_plain(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || contains("_-.@:/", {&c, 1});
  };
  return !name.empty() && name.front() != '-' && name.size() <= 200 && std::all_of(name.begin(), name.end(), plain);
}

/// The client's own words: its target, the first that is no option, and what options say.
struct Parsed {
  std::string_view target;
  std::string_view name, scope, where;  ///< --name or --submission-id; --namespace; --address
};

const Options& options_of(std::string_view program) {
  const auto* const found =
      std::find_if(kOptions.begin(), kOptions.end(), [program](const Options& one) { return one.program == program; });
  return found == kOptions.end() ? kOptions[0] : *found;  // podman and nerdctl take docker's
}

bool takes_value(const Options& options, std::string_view word) {
  if (contains(word, "=")) return false;
  if (word.starts_with("--")) return std::find(options.words.begin(), options.words.end(), word) == options.words.end();
  const auto is_flag = [&options](char c) { return contains(options.letters, {&c, 1}); };
  const auto first = std::find_if_not(word.begin() + 1, word.end(), is_flag);
  return first != word.end() && first + 1 == word.end();  // else it is attached: "-p22"
}

Parsed parsed(std::string_view program, Words words) {
  Parsed out;
  const Options& options = options_of(program);
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--") break;
    if (!word.starts_with('-')) {
      out.target = word;
      break;
    }
    const size_t equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    std::string_view value = equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
    if (takes_value(options, word)) value = i + 1 < words.size() ? std::string_view(words[++i]) : std::string_view();
    if (key == "--name" || key == "--submission-id") out.name = value;
    if (key == "-n" || key == "--namespace") out.scope = value;
    if (key == "--address") out.where = value;
  }
  return out;
}

std::string container(const Client& client, const Parsed& of) {
  const std::string_view name = client.verb == "exec" ? of.target : of.name;
  if (!is_plain(name)) return std::string(client.advice);
  if (client.verb == "exec")
    return cat(client.program, " top ", name, " shows it, ", client.program, " stop ", name,
               " ends the container and all in it.");
  return cat(client.program, " ps shows it, ", client.program, " stop ", name, " ends it.");
}

std::string job_of_ray(const Client& client, const Parsed& of, std::string_view job) {
  if (job.empty()) job = of.name;
  if (!is_plain(job) || (!of.where.empty() && !is_plain(of.where))) return std::string(client.advice);
  const std::string at = of.where.empty() ? "" : cat(" --address ", of.where);
  return cat("ray job status", at, " ", job, " shows it, ray job stop", at, " ", job, " ends it.");
}

}  // namespace

std::string how_to_end(const Client& client, Words words, std::string_view job) {
  const auto limit = time_limit_of(words);
  words = words.subspan(limit ? limit->words : 0);
  words = words.subspan(past_wrappers(words));
  const size_t own = 1 + (client.verb.empty() ? 0 : 1) + (client.second.empty() ? 0 : 1);
  const Parsed of = parsed(client.program, words.subspan(std::min(own, words.size())));
  if (client.program == "ray") return job_of_ray(client, of, job);
  if (client.program == "ssh")
    return is_plain(of.target) ? cat("ssh ", of.target, " ps -ef shows it, ssh ", of.target, " kill PID ends it.")
                               : std::string(client.advice);
  if (client.program != "kubectl") return container(client, of);
  if (!is_plain(of.target) || (!of.scope.empty() && !is_plain(of.scope))) return std::string(client.advice);
  const std::string in = cat("kubectl exec ", of.scope.empty() ? "" : cat("-n ", of.scope, " "), of.target, " -- ");
  return cat(in, "ps -ef shows it, ", in, "kill PID ends it.");
}

}  // namespace mw
