#include "sense/preflight/host_facts.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "base/units.h"
#include "sense/fingerprint/collect.h"
#include "sense/host/host.h"
#include "sense/processes/addresses.h"
#include "sense/processes/sockets.h"

namespace mw::preflight {
namespace {

constexpr size_t kSocketBytes = size_t{1} << 20;
constexpr size_t kMostGpus = 1024;
constexpr double kMiB = 1024.0 * 1024;

struct KnownGpu {
  std::string_view name;  // lower case, as people write it
  double mebibytes;       // as nvidia-smi shows it (memory.total)
};
constexpr KnownGpu kKnownGpus[] = {{"b200", 183359},    {"h200", 143771},        {"h100", 81559},      {"h800", 81559},
                                   {"h20", 97871},      {"a100-80gb", 81920},    {"a100-40gb", 40960}, {"a100", 81920},
                                   {"a800", 81920},     {"a6000", 49140},        {"a40", 46068},       {"l40s", 46068},
                                   {"l40", 46068},      {"rtx-6000-ada", 49140}, {"a10g", 23028},      {"a10", 23028},
                                   {"l4", 23034},       {"t4", 15360},           {"v100-32gb", 32768}, {"v100", 16384},
                                   {"rtx-4090", 24564}, {"4090", 24564},         {"rtx-3090", 24576},  {"3090", 24576},
                                   {"rtx-5090", 32607}, {"5090", 32607}};

std::optional<double> limit_of(std::string_view text) {
  if (trim(text) == "unlimited") return INFINITY;
  return parse_double(trim(text));
}

void add_limits(const Fingerprint::Facts& limits, Host& host) {
  const auto both = [&](const std::string& name, std::optional<double>& soft, std::optional<double>& hard) {
    const auto at = limits.find(name);
    if (at == limits.end()) return;
    const size_t comma = at->second.find(", at most ");
    soft = limit_of(at->second.substr(0, comma));
    hard = comma == std::string::npos ? soft : limit_of(at->second.substr(comma + 10));
  };
  std::optional<double> unused;
  both("open files", host.open_files, host.open_files_hard);
  both("core file size", host.core_bytes, unused);
}

/// Hosts of "machine HOST" in a netrc file; logins and passwords are passed over unread.
void add_netrc(std::string_view text, Host& host) {
  bool machine = false;
  std::string plain(text);
  std::replace(plain.begin(), plain.end(), '\n', ' ');
  std::replace(plain.begin(), plain.end(), '\t', ' ');
  for (const std::string_view word : split(plain, ' ')) {
    if (word.empty()) continue;
    if (machine) host.logins.emplace_back(clip(word, 200));
    machine = word == "machine";
  }
}

std::string variable(const Host& host, const std::string& name) {
  const auto at = host.environment.find(name);
  return at == host.environment.end() ? "" : at->second;
}

void add_logins(System& system, Host& host) {
  const std::string home = variable(host, "HOME");
  const std::string netrc = variable(host, "NETRC");
  if (const auto text = system.read(netrc.empty() ? home + "/.netrc" : netrc); text.ok()) add_netrc(*text, host);
  const std::string hub = variable(host, "HF_HOME");
  const std::string token = cat(hub.empty() ? home + "/.cache/huggingface" : hub, "/token");
  if (system.entry(token).ok()) host.logins.emplace_back("huggingface");
}

void add_ports(System& system, Host& host) {
  std::set<int> ports;
  for (const char* path : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    const auto text = system.read(path, kSocketBytes);
    if (!text.ok()) continue;
    for (const auto& [inode, address] : components::listening(*text))
      ports.insert(static_cast<int>(components::port_of(address)));
  }
  for (const int port : ports) {
    if (port > 0) host.taken.push_back({port, ""});
  }
}

bool there(System& system, const std::string& path) {
  const auto real = system.real(path);
  return real.ok() && system.entry(*real).ok();
}

/// The first word of the command is there: a path, or a name in PATH.
std::optional<bool> program_found(System& system, const std::vector<std::string>& command, const std::string& folder,
                                  const Host& host) {
  if (command.empty() || command.front().empty()) return std::nullopt;
  const std::string& name = command.front();
  if (contains(name, "/")) return there(system, name.front() == '/' ? name : cat(folder, "/", name));
  const std::string path = variable(host, "PATH");
  if (path.empty()) return std::nullopt;
  for (const std::string_view place : split(path, ':')) {
    if (!place.empty() && there(system, cat(place, "/", name))) return true;
  }
  return false;
}

}  // namespace

Host look_at_host(System& system, const std::vector<std::string>& command, const std::string& folder) {
  Host host;
  Subject subject;
  subject.command = command;
  subject.folder = folder;
  Fingerprint seen = collect_quickly(system, subject);
  host.environment = std::move(seen.facts["environment"]);
  host.packages = std::move(seen.facts["package"]);
  host.python_seen = !host.packages.empty();
  const auto driver = seen.facts["driver"].find("NVIDIA driver");
  if (driver != seen.facts["driver"].end()) host.driver = driver->second;
  add_limits(seen.facts["limit"], host);
  if (const auto pattern = system.read("/proc/sys/kernel/core_pattern"); pattern.ok())
    host.core_pattern = std::string(trim(*pattern));
  if (const auto memory = system.read("/proc/meminfo"); memory.ok()) {
    const int64_t bytes = host::value_of(*memory, "MemTotal");
    if (bytes > 0) host.memory = static_cast<double>(bytes);
  }
  add_logins(system, host);
  add_ports(system, host);
  host.program_found = program_found(system, command, folder, host);
  return host;
}

void add_gpus(const GpuSnapshot& snapshot, Host& host) {
  for (const GpuFigures& figures : snapshot.gpus) {
    Gpu gpu;
    gpu.index = figures.index;
    gpu.bytes = std::isfinite(figures.memory_size) ? figures.memory_size : 0;
    gpu.used = std::isfinite(figures.memory_used) ? figures.memory_used : 0;
    host.gpus.push_back(std::move(gpu));
  }
  host.gpus_seen = !host.gpus.empty();
}

Result<std::vector<Gpu>> parse_gpus(std::string_view text) {
  const std::string lower = to_lower(trim(text));
  size_t used = 0;
  const auto number = parse_double_prefix(lower, &used);
  const bool counted = number.has_value() && used < lower.size() && lower[used] == 'x';
  const double count = counted ? *number : 1;
  std::string name = counted ? lower.substr(used + 1) : lower;
  std::replace(name.begin(), name.end(), ' ', '-');
  std::replace(name.begin(), name.end(), '_', '-');
  double bytes = 0;
  std::string all;
  for (const KnownGpu& known : kKnownGpus) {
    if (name == known.name) bytes = known.mebibytes * kMiB;
    all += cat(all.empty() ? "" : ", ", known.name);
  }
  std::string upper = name;
  for (char& c : upper)
    c = c == 'k' || c == 'm' || c == 'g' || c == 't' || c == 'b' ? static_cast<char>(c - 'a' + 'A') : c;
  if (const auto size = parse_size(upper); bytes == 0 && size.ok()) bytes = static_cast<double>(*size);
  if (bytes <= 0 || count < 1 || count > kMostGpus || std::floor(count) != count) {
    return Error{Error::Code::kInvalid, cat("\"", text, "\" is no number of GPUs"),
                 cat("write 2xH100 or 2x80GB; known are ", all)};
  }
  std::vector<Gpu> out;
  for (int i = 0; i < static_cast<int>(count); ++i) out.push_back({cat(i), name, bytes, 0});
  return out;
}

void add_disk(System& system, const std::string& folder, const std::string& what, Host& host) {
  std::string place = folder;
  for (size_t i = 0; i < 64 && !place.empty(); ++i) {
    const auto real = system.real(place);
    const auto space = real.ok() ? system.space(*real) : Result<Space>(real.error());
    if (space.ok() && space->size > 0) {
      host.disks.push_back({folder, what, static_cast<double>(space->free), static_cast<double>(space->size)});
      return;
    }
    if (place == "/") return;
    place = folder_of(place);
  }
}

}  // namespace mw::preflight
