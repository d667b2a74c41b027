// Machines of one's own: this one ("local"), or others by ssh. What runs for a run there is known by its environment
// (MIDWATCH_FLEET_LABEL), wherever its processes are in trees, sessions and folders. Everything is one shell script on
// the standard input of `sh` there, so that no argument that others can see holds a secret.
#include <algorithm>
#include <set>

#include "act/fleet/beat.h"
#include "act/fleet/provider.h"
#include "act/fleet/shell_word.h"
#include "base/text.h"
#include "platform/program.h"

namespace mw::fleet {
namespace {

constexpr Duration kLimit = Duration::seconds(90);   // of one script
constexpr int kGraceSeconds = 15;                    // between SIGTERM and SIGKILL
constexpr size_t kShown = 200;                       // bytes of what ssh says
constexpr int kUnreachable = 255;                    // of ssh
constexpr std::string_view kDone = "midwatch-done";  // the last line of a script that came to its end
constexpr std::string_view kEnd = "MIDWATCH_END_OF_START";

constexpr std::string_view kStranger = "midwatch-of-user ";  // before the number of a user
constexpr std::string_view kHidden = "midwatch-hidden";

/// The labels of all processes whose environment this user may read. What others run shows its arguments only: an
/// `onstart` among them is a machine of somebody else's, or a run that was begun by hand.
std::string list_script() {
  return cat("grep -hoaE '", kLabelVariable, "=midwatch-[a-z0-9-]+' /proc/[0-9]*/environ 2>/dev/null | sort -u\n",
             "grep -laxzE '(.*/)?midwatch' /proc/[0-9]*/cmdline 2>/dev/null | while read -r file; do\n",
             "  [ -r \"${file%cmdline}environ\" ] && continue\n",
             "  grep -qaxz onstart \"$file\" 2>/dev/null || continue\n", "  echo \"", kStranger,
             "$(sed -n 's/^Uid:[^0-9]*\\([0-9]*\\).*/\\1/p' \"${file%cmdline}status\")\"\n",
             "done 2>/dev/null | sort -u\n", "cat /proc/1/cmdline >/dev/null 2>&1 || echo ", kHidden, "\n", "echo ",
             kDone, "\n");
}

/// The script may not end before the new process stands in a session of its own: whoever started the script ends all
/// that is left of its process group then, and setsid(1) may not have come to its call yet.
std::string create_script(const std::string& folder, const Order& order) {
  std::string out =
      cat("umask 077\nmkdir -p -- ", shell_word(folder), " && cd -- ", shell_word(folder), " || exit 3\n");
  out += cat("cat >start.sh <<'", kEnd, "'\n", order.start, "\n", kEnd, "\n(\n");
  for (const auto& [name, value] : order.environment) out += cat("export ", name, "=", shell_word(value), "\n");
  out += cat("exec setsid sh ./start.sh </dev/null >log 2>&1\n) &\nchild=$!\ntries=0\n",
             "session() { sed 's/.*) //' \"/proc/$child/stat\" 2>/dev/null | cut -d' ' -f4; }\n",
             "while now=$(session); [ -n \"$now\" ] && [ \"$now\" != \"$child\" ]; do\n", "  tries=$((tries + 1))\n",
             "  if [ $tries -gt 600 ]; then kill -9 \"$child\"; exit 4; fi\n", "  sleep 0.05\n", "done\necho ", kDone,
             "\n");
  return out;
}

std::string destroy_script(const std::string& label) {
  const std::string marker = cat(kLabelVariable, "=", label);
  // Each process is asked once more who it is right before it gets a signal: numbers are given again.
  return cat("mark=", shell_word(marker), "\n", "mine() { grep -lFa -- \"$mark\" /proc/[0-9]*/environ 2>/dev/null; }\n",
             "send() { mine | while read -r file; do pid=${file#/proc/}; pid=${pid%/environ};\n",
             "  grep -qFa -- \"$mark\" \"$file\" 2>/dev/null && kill -\"$1\" \"$pid\" 2>/dev/null; done; }\n",
             "send TERM; send CONT\ntries=0\n", "while [ -n \"$(mine)\" ]; do\n", "  tries=$((tries + 1))\n",
             "  if [ $tries -ge ", kGraceSeconds * 5, " ]; then send KILL; fi\n", "  if [ $tries -ge ",
             kGraceSeconds * 10, " ]; then exit 5; fi\n", "  sleep 0.2\n", "done\necho ", kDone, "\n");
}

/// What ssh says at its end of why it could not: a key that is refused, a host key that is not known.
std::string last_line(std::string_view output) {
  const std::string_view text = trim(output);
  const size_t line = text.rfind('\n');
  return redact_secrets(clip(trim(line == std::string_view::npos ? text : text.substr(line + 1)), kShown));
}

class HostProvider final : public Provider {
 public:
  explicit HostProvider(const ProviderSpec& spec)
      : name_(spec.name), ssh_(spec.kind == "ssh"), folder_(spec.values.at("folder")), price_(spec.price) {
    if (const auto config = spec.values.find("config"); config != spec.values.end()) config_ = config->second;
    hosts_ = ssh_ ? spec.words : std::vector<std::string>{"here"};
  }

  const std::string& name() const override { return name_; }

  Result<std::vector<Offer>> search(const MachineWants&) override {
    const auto there = list();
    if (!there.ok()) return there.error();
    std::vector<Offer> out;
    for (const std::string& host : hosts_) {
      const bool taken =
          std::any_of(there->begin(), there->end(), [&](const Instance& one) { return one.host == host; });
      if (taken || strangers_.count(host) != 0) continue;  // it has a run, or does not answer
      Offer offer;
      offer.id = offer.host = host;
      offer.provider = name_;
      offer.price = price_;
      out.push_back(std::move(offer));
    }
    return out;
  }

  Result<Instance> create(const Offer& offer, const Order& order) override {
    if (contains(order.start, kEnd)) return Error{Error::Code::kInvalid, "the text of start ends itself", ""};
    const auto done = on_host(offer.host, create_script(cat(folder_, "/", order.label), order));
    if (!done.ok()) return done.error();
    Instance out;
    out.host = offer.host;
    out.label = order.label;
    out.id = cat(offer.host, "/", order.label);
    out.state = InstanceState::kRunning;
    out.price = price_;
    return out;
  }

  Result<Listing> list() override {
    Listing out;
    strangers_.clear();
    for (const std::string& host : hosts_) {
      const auto text = on_host(host, list_script());
      Instance one;
      one.host = host;
      one.price = price_;
      if (!text.ok()) {
        if (!ssh_ || text.error().code != Error::Code::kInterrupted) return text.error();
        one.state = InstanceState::kLost;
        one.unreachable = true;
        one.says = text.error().what;
        out.push_back(one);
        continue;
      }
      one.state = InstanceState::kRunning;
      for (const std::string_view line : split(*text, '\n')) {
        note(host, line, out.notes);
        const size_t sign = line.find('=');
        if (sign == std::string_view::npos || line.substr(0, sign) != kLabelVariable) continue;
        one.label = line.substr(sign + 1);
        one.id = cat(host, "/", one.label);
        out.push_back(one);
      }
    }
    return out;
  }

  Result<void> destroy(const Instance& instance) override {
    const auto label = parse_label(instance.label);
    const std::string host = instance.host.empty() ? instance.id.substr(0, instance.id.find('/')) : instance.host;
    if (!label || std::find(hosts_.begin(), hosts_.end(), host) == hosts_.end()) {
      return Error{Error::Code::kInvalid, "it is on none of the hosts, or has no label", ""};
    }
    const auto done = on_host(host, destroy_script(instance.label));
    if (!done.ok()) return done.error();
    return {};
  }

 private:
  /// What a line of the list says of what cannot be seen on a host.
  void note(const std::string& host, std::string_view line, std::vector<std::string>& notes) {
    if (line == kHidden) {
      notes.push_back(cat(host, " hides what other users run there (hidepid): a run of theirs would not be seen"));
    }
    if (!line.starts_with(kStranger)) return;
    const std::string user = clip(trim(line.substr(kStranger.size())), 12);
    notes.push_back(cat("another user", user.empty() ? "" : cat(" (uid ", user, ")"), " runs midwatch onstart on ",
                        host, ": it is left alone, its label cannot be seen, and no machine is begun there beside it"));
    strangers_.insert(host);
  }

  /// The output of a script that came to its end. kInterrupted: the host does not answer.
  Result<std::string> on_host(const std::string& host, const std::string& script) const {
    ProgramRequest request;
    request.command = {"sh", "-s"};
    if (ssh_) {
      request.command = {"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15", "-T"};
      if (!config_.empty()) request.command.insert(request.command.end(), {"-F", config_});
      request.command.insert(request.command.end(), {"--", host, "sh", "-s"});
    }
    request.input = script;
    request.limit = kLimit;
    const auto end = run_program(request);
    if (!end.ok()) return end.error();
    if (end->late || (ssh_ && end->code == kUnreachable)) {
      const std::string why = end->late ? "" : last_line(end->output);
      return Error{Error::Code::kInterrupted, cat(host, " does not answer", why.empty() ? "" : cat(": ", why)), ""};
    }
    if (end->code == 3) return Error{Error::Code::kInvalid, cat("the folder cannot be made on ", host), ""};
    if (end->code != 0 || !trim(end->output).ends_with(kDone)) {
      return Error{Error::Code::kIo, cat("a script on ", host, " ended with status ", end->code), ""};
    }
    return end->output;
  }

  const std::string name_;
  const bool ssh_;
  const std::string folder_;
  const double price_;
  std::string config_;  ///< of ssh(1); "": the usual one
  std::vector<std::string> hosts_;
  std::set<std::string> strangers_;  ///< hosts on which somebody else's run was seen by the last list()
};

}  // namespace

Result<std::unique_ptr<Provider>> make_host_provider(const ProviderSpec& spec) {
  if (spec.values.count("folder") == 0 || !spec.values.at("folder").starts_with('/')) {
    return Error{Error::Code::kInvalid, cat("a provider of kind ", spec.kind, " needs a folder, absolute"), ""};
  }
  if (spec.kind == "ssh" && spec.words.empty()) {
    return Error{Error::Code::kInvalid, "a provider of kind ssh needs hosts", ""};
  }
  for (const std::string& host : spec.words) {
    if (host.empty() || host.front() == '-' || contains(host, " ") || contains(host, "/")) {
      return Error{Error::Code::kInvalid, cat("this is no host: ", clip(host, 60)), ""};
    }
  }
  return std::unique_ptr<Provider>(std::make_unique<HostProvider>(spec));
}

}  // namespace mw::fleet
