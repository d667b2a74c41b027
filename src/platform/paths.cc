#include "platform/paths.h"

#include <cstdlib>

#include "base/text.h"

namespace mw {
namespace {

Error wrong(std::string what, std::string_view hint) {
  return {Error::Code::kInvalid, std::move(what), std::string(hint)};
}

std::string quoted(std::string_view text) { return cat("\"", clip(sanitize_utf8(text), 60), "\""); }

}  // namespace

std::string absolute_path(std::string_view path, std::string_view folder) {
  std::string whole;
  if (const char* home = std::getenv("HOME"); home != nullptr && (path == "~" || path.substr(0, 2) == "~/")) {
    whole = cat(home, path.substr(1));
  } else {
    whole = path.substr(0, 1) == "/" ? std::string(path) : cat(folder, "/", path);
  }
  std::string out;
  for (const std::string_view part : split(whole, '/')) {
    if (!part.empty() && part != ".") out += cat("/", part);
  }
  if (whole.substr(0, 1) != "/" && !out.empty()) out.erase(0, 1);
  return out.empty() ? (whole.substr(0, 1) == "/" ? "/" : ".") : out;
}

std::string real_path(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  std::string resolved = real == nullptr ? path : real;
  std::free(real);  // NOLINT: realpath's own
  return resolved;
}

Result<void> check_home(std::string_view path) {
  constexpr std::string_view kHint = "Give a folder of its own, such as \".midwatch\" or \"/data/midwatch\".";
  for (const std::string_view system : {"/proc", "/sys", "/dev"}) {
    const bool within = path.substr(0, system.size()) == system &&
                        (path.size() == system.size() || path[system.size()] == '/') && path.substr(0, 8) != "/dev/shm";
    if (within) return wrong(cat(quoted(path), " is a file system of the kernel's own"), kHint);
  }
  if (path == "/") return wrong("\"/\" is the root of all files", kHint);
  return {};
}

Result<std::string> check_root(std::string_view path) {
  constexpr std::string_view kHint = "Give the one folder whose contents may go, such as \"/data/my-run/checkpoints\".";
  if (path.empty() || path.front() != '/') return wrong(cat(quoted(path), " is not an absolute path"), kHint);
  std::string plain;
  for (const std::string_view part : split(path, '/')) {
    if (part == "..") return wrong(cat(quoted(path), " goes up by \"..\""), kHint);
    if (!part.empty() && part != ".") plain += cat("/", part);
  }
  if (plain.empty()) return wrong("\"/\" is the root of all files", kHint);
  for (const std::string_view system :
       {"/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/media", "/mnt", "/opt", "/proc", "/root", "/run",
        "/sbin", "/srv", "/sys", "/tmp", "/usr", "/var"}) {
    if (plain == system) return wrong(cat(quoted(path), " is a place of the system"), kHint);
  }
  for (const std::string_view system :
       {"/bin/", "/boot/", "/etc/", "/lib/", "/lib64/", "/proc/", "/sbin/", "/sys/", "/usr/"}) {
    if (plain.substr(0, system.size()) == system) return wrong(cat(quoted(path), " is a place of the system"), kHint);
  }
  const char* home = std::getenv("HOME");
  if (home != nullptr && plain == absolute_path(home, "/"))
    return wrong(cat(quoted(path), " is a home directory"), kHint);
  const std::string resolved = real_path(plain);
  if (resolved != plain) return wrong(cat(quoted(path), " leads through a link to ", quoted(resolved)), kHint);
  return plain;
}

}  // namespace mw
