#include "sense/fingerprint/collect.h"

#include <algorithm>
#include <array>

#include "base/checksum.h"
#include "base/secrets.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kEnvironBytes = 4U << 20;

// Of the terminal or the login in which a command was started, or midwatch's own: they differ and mean nothing.
constexpr std::array<std::string_view, 29> kPassing = {"_",
                                                       "SHLVL",
                                                       "PWD",
                                                       "OLDPWD",
                                                       "COLUMNS",
                                                       "LINES",
                                                       "TERM",
                                                       "TMUX",
                                                       "TMUX_PANE",
                                                       "STY",
                                                       "WINDOW",
                                                       "WINDOWID",
                                                       "SSH_CLIENT",
                                                       "SSH_CONNECTION",
                                                       "SSH_TTY",
                                                       "SSH_AUTH_SOCK",
                                                       "TERM_PROGRAM",
                                                       "TERM_SESSION_ID",
                                                       "COLORTERM",
                                                       "XDG_SESSION_ID",
                                                       "INVOCATION_ID",
                                                       "JOURNAL_STREAM",
                                                       "SYSTEMD_EXEC_PID",
                                                       "VTE_VERSION",
                                                       "DBUS_SESSION_BUS_ADDRESS",
                                                       "GPG_AGENT_INFO",
                                                       "MIDWATCH_RUN",
                                                       "MIDWATCH_ATTEMPT",
                                                       "MIDWATCH_ATTEMPT_MARK"};

std::string hex(uint64_t value) {
  std::string out;
  for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[(value >> shift) & 15];
  return out;
}

std::string process_folder(const Subject& subject) {
  return subject.pid > 0 ? cat("/proc/", subject.pid) : std::string("/proc/self");
}

/// With its secrets, as the command sees it; nothing when its process is gone or not ours to look at.
Fingerprint::Facts environment_of(System& system, const Subject& subject) {
  Fingerprint::Facts out;
  const auto text = system.read(process_folder(subject) + "/environ", kEnvironBytes);
  if (!text.ok() || text->empty()) return out;
  for (const std::string_view setting : split(*text, '\0')) {
    const size_t is = setting.find('=');
    if (is != std::string_view::npos && is > 0) out.emplace(setting.substr(0, is), setting.substr(is + 1));
  }
  for (const auto& [name, value] : subject.environment) out[name] = value;
  return out;
}

/// Of an environment: what its own variables hold is redacted in all that the command names, too.
KnownSecrets secrets_of(const Fingerprint::Facts& environment) {
  KnownSecrets known;
  for (const auto& [name, value] : environment) known.learn(name, value);
  return known;
}

Fingerprint::Facts without_secrets(const Fingerprint::Facts& environment, const KnownSecrets& known) {
  Fingerprint::Facts out;
  for (const auto& [name, value] : environment) {
    if (std::find(kPassing.begin(), kPassing.end(), name) != kPassing.end()) continue;
    if (out.size() >= kNamesLimit) break;
    const bool secret = !value.empty() && (names_secret(name) || looks_issued(trim(value)));
    out[sanitize_utf8(clip(name, kValueBytes))] =
        secret ? std::string(kRedacted) : clip(redact_secrets(known.hide(value)), kValueBytes);
  }
  return out;
}

/// A file of which not even a hash is kept: guessing what hashes alike must not find out what it holds.
bool holds_secrets(std::string_view path, std::string_view option) {
  const std::string name = to_lower(basename(path));
  for (const std::string_view end : {".env", ".pem", ".key", ".p12", ".netrc"}) {
    if (name.ends_with(end)) return true;
  }
  return names_secret(name.substr(0, name.find_last_of('.'))) || names_secret(option) || contains(name, "id_rsa") ||
         contains(name, "id_ed25519");
}

bool is_text(std::string_view bytes) {
  return bytes.find('\0') == std::string_view::npos && sanitize_utf8(bytes) == bytes;
}

class Files {
 public:
  Files(System& system, const Subject& subject, const KnownSecrets& known, std::map<std::string, FileSeen>& out)
      : system_(system), folder_(subject.folder), known_(known), out_(out) {}

  /// `option`: the word in front, whose value `path` may be.
  void add(std::string_view path, std::string_view option) {
    if (path.empty() || path.size() > kValueBytes || out_.size() >= kFilesLimit) return;
    const std::string place = path.front() == '/' ? std::string(path) : cat(folder_, "/", path);
    const auto real = system_.real(place);
    if (!real.ok()) return;
    const auto entry = system_.entry(*real);
    if (!entry.ok() || !entry->file || real->starts_with("/dev/") || real->starts_with("/proc/")) return;
    FileSeen file;
    file.bytes = entry->bytes;
    const bool secret = holds_secrets(path, option) || holds_secrets(*real, "");
    const auto bytes = secret ? Result<std::string>(std::string()) : system_.read(*real, kHashedBytes + 1);
    if (!bytes.ok()) return;
    if (secret || bytes->size() > kHashedBytes) {
      file.hash = hex(fnv1a(cat(entry->bytes, " ", entry->changed_ns)));
    } else {
      file.bytes = static_cast<int64_t>(bytes->size());
      file.hash = hex(fnv1a(*bytes));
      if (bytes->size() <= kKeptTextBytes && is_text(*bytes)) file.text = redact_secrets(known_.hide(*bytes));
    }
    out_[sanitize_utf8(path)] = std::move(file);
  }

 private:
  System& system_;
  const std::string& folder_;
  const KnownSecrets& known_;
  std::map<std::string, FileSeen>& out_;
};

/// Scripts and settings files among the command's words: a word, what stands behind its "=", or behind an "@".
void look_at_files(System& system, const Subject& subject, const KnownSecrets& known, Fingerprint& out) {
  Files files(system, subject, known, out.files);
  std::string name, folder, before;  // of Hydra's settings
  for (size_t i = 0; i < subject.command.size(); ++i) {
    const std::string_view word = subject.command[i];
    const size_t is = word.find('=');
    const bool whole = is == std::string_view::npos;
    const std::string_view value = whole ? word : word.substr(is + 1);
    const std::string_view option = whole ? std::string_view(before) : word.substr(0, is);
    if (option == "--config-name" || option == "-cn") name = value;
    if (option == "--config-path" || option == "-cp") folder = value;
    // A program without a path is looked up elsewhere.
    if (i > 0 || contains(word, "/")) files.add(value.starts_with("@") ? value.substr(1) : value, option);
    before = word.starts_with("-") && whole ? word : "";
  }
  if (name.empty()) return;
  for (const std::string_view end : {"", ".yaml", ".yml"}) {
    files.add(cat(folder, folder.empty() ? "" : "/", name, end), "");
  }
}

/// The number behind "key:" in lines such as "MemTotal:  16384 kB", in its own words.
std::string line_of(std::string_view text, std::string_view key) {
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with(key)) return std::string(trim(line.substr(key.size())));
  }
  return "";
}

std::string first_line(System& system, const std::string& path) {
  const auto text = system.read(path);
  return text.ok() ? std::string(trim(text->substr(0, text->find('\n')))) : std::string();
}

void put(Fingerprint::Facts& facts, std::string_view name, const std::string& value) {
  if (!value.empty()) facts[std::string(name)] = sanitize_utf8(clip(value, kValueBytes));
}

std::string memory_limit(System& system, const Subject& subject) {
  const auto text = system.read(process_folder(subject) + "/cgroup");
  if (!text.ok()) return "";
  for (const std::string_view line : split(*text, '\n')) {
    const auto parts = split(line, ':');
    if (parts.size() < 3) continue;
    const std::string path(line.substr(parts[0].size() + parts[1].size() + 2));
    const bool unified = parts[1].empty();
    if (!unified && parts[1] != "memory") continue;
    // Seen from inside a container its own group is the root.
    for (const std::string& group : {path, std::string()}) {
      std::string value = first_line(system, unified ? cat("/sys/fs/cgroup", group, "/memory.max")
                                                     : cat("/sys/fs/cgroup/memory", group, "/memory.limit_in_bytes"));
      if (const auto bytes = parse_int(value)) return format_bytes(static_cast<double>(*bytes));
      if (!value.empty()) return value;
    }
  }
  return "";
}

Fingerprint::Facts host_of(System& system, const Subject& subject) {
  Fingerprint::Facts out;
  put(out, "name", first_line(system, "/proc/sys/kernel/hostname"));
  put(out, "kernel", first_line(system, "/proc/sys/kernel/osrelease"));
  put(out, "boot", first_line(system, "/proc/sys/kernel/random/boot_id"));
  put(out, "CPUs", first_line(system, "/sys/devices/system/cpu/online"));
  if (const auto status = system.read(process_folder(subject) + "/status"); status.ok()) {
    put(out, "CPUs allowed", line_of(*status, "Cpus_allowed_list:"));
  }
  if (const auto memory = system.read("/proc/meminfo"); memory.ok()) {
    size_t used = 0;
    const std::string total = line_of(*memory, "MemTotal:");
    if (const auto kib = parse_double_prefix(total, &used)) put(out, "memory", format_bytes(*kib * 1024));
  }
  put(out, "memory limit", memory_limit(system, subject));
  if (const auto release = system.read("/etc/os-release"); release.ok()) {
    put(out, "system", line_of(*release, "PRETTY_NAME="));
  }
  return out;
}

/// "550.54.14" of "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb ...".
std::string version_in(std::string_view line) {
  for (const std::string_view word : split(line, ' ')) {
    const bool number =
        !word.empty() && contains(word, ".") && word.find_first_not_of("0123456789.") == std::string::npos;
    if (number) return std::string(word);
  }
  return "";
}

Fingerprint::Facts drivers_of(System& system, const Fingerprint::Facts& environment) {
  Fingerprint::Facts out;
  put(out, "NVIDIA driver", version_in(first_line(system, "/proc/driver/nvidia/version")));
  const std::string gpus = "/proc/driver/nvidia/gpus";
  if (const auto names = system.names(gpus); names.ok()) {
    for (const std::string& name : *names) {
      const auto text = system.read(cat(gpus, "/", name, "/information"));
      if (text.ok()) put(out, cat("GPU ", name), cat(line_of(*text, "Model:"), " ", line_of(*text, "GPU UUID:")));
    }
  }
  const auto home = environment.find("CUDA_HOME");
  const std::string toolkit = home == environment.end() || home->second.empty() ? "/usr/local/cuda" : home->second;
  if (const auto text = system.read(toolkit + "/version.json"); text.ok()) {
    // {"cuda": {"name": "CUDA SDK", "version": "12.4.20240415"}, ...}
    const size_t at = text->find("\"cuda\"");
    const size_t version = at == std::string::npos ? at : text->find("\"version\"", at);
    const size_t open = version == std::string::npos ? version : text->find('"', version + 9);
    const size_t close = open == std::string::npos ? open : text->find('"', open + 1);
    if (close != std::string::npos) put(out, "CUDA toolkit", text->substr(open + 1, close - open - 1));
  }
  return out;
}

/// Of lines such as "Max open files            1024                 524288               files".
Fingerprint::Facts limits_of(System& system, const Subject& subject) {
  Fingerprint::Facts out;
  const auto text = system.read(process_folder(subject) + "/limits");
  if (!text.ok()) return out;
  for (const std::string_view line : split(*text, '\n')) {
    for (const std::string_view name :
         {"open files", "processes", "core file size", "locked memory", "stack size", "address space", "file size"}) {
      if (!line.starts_with(cat("Max ", name, "  "))) continue;
      std::vector<std::string_view> words = split(trim(line.substr(4 + name.size())), ' ');
      std::erase(words, std::string_view());
      if (words.size() < 2) continue;
      put(out, name, words[0] == words[1] ? std::string(words[0]) : cat(words[0], ", at most ", words[1]));
    }
  }
  return out;
}

}  // namespace

Fingerprint collect_quickly(System& system, const Subject& subject) {
  Fingerprint out;
  const Fingerprint::Facts environment = environment_of(system, subject);
  const KnownSecrets known = secrets_of(environment);
  out.command = redact_words(known.hide(subject.command));
  for (std::string& word : out.command) word = sanitize_utf8(clip(word, kValueBytes));
  out.folder = subject.folder;
  if (environment.empty()) {
    out.missing.emplace_back("environment: the process was gone, or is not ours to look at");
  } else {
    out.facts["environment"] = without_secrets(environment, known);
  }
  look_at_files(system, subject, known, out);
  if (const std::string prefix = python_prefix(system, subject, environment); !prefix.empty()) {
    out.facts["package"] = python_packages(system, prefix);
    put(out.facts["package"], "(Python environment)", prefix);
  } else {
    out.missing.emplace_back("packages: no Python is on the PATH of the command");
  }
  out.facts["driver"] = drivers_of(system, environment);
  out.facts["host"] = host_of(system, subject);
  if (auto limits = limits_of(system, subject); !limits.empty()) out.facts["limit"] = std::move(limits);
  return out;
}

Fingerprint collect_disks(System& system, const Subject& subject) {
  Fingerprint out;
  const auto read = system.read("/proc/self/mounts", 1U << 20);
  const std::string mounts = read.ok() ? *read : std::string();
  std::vector<std::string> places = subject.places;
  places.push_back(subject.folder);
  places.emplace_back("/dev/shm");
  places.emplace_back("/tmp");
  for (const std::string& place : places) {
    auto real = system.real(place);
    const bool there = real.ok();
    // What is made later lies where the folder above it lies.
    for (std::string above = place; !real.ok() && above.size() > 1 && above.front() == '/';) {
      real = system.real(above = folder_of(above));
    }
    const auto space = real.ok() ? system.space(*real) : Result<Space>(real.error());
    if (!space.ok()) continue;
    std::string on;
    size_t longest = 0;
    for (const std::string_view line : split(mounts, '\n')) {
      const auto words = split(line, ' ');  // device, mount point, type, options
      if (words.size() < 3 || words[1].size() < longest) continue;
      const bool under =
          words[1] == "/" || *real == words[1] || (real->starts_with(words[1]) && (*real)[words[1].size()] == '/');
      if (!under) continue;
      longest = words[1].size();
      const bool read_only = words.size() > 3 && (words[3] == "ro" || words[3].starts_with("ro,"));
      on = cat(words[2], " ", words[0], read_only ? ", read-only" : "");
    }
    const std::string disk = cat(redact_secrets(on), ", ", format_bytes(static_cast<double>(space->size)));
    put(out.facts["disk"], place, there ? disk : cat(kNotThere, disk));
    if (there) put(out.facts["space"], place, cat(format_bytes(static_cast<double>(space->free)), " free"));
  }
  return out;
}

}  // namespace mw
