#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "sense/fingerprint/collect.h"

namespace mw {
namespace {

bool is_python(std::string_view word) {
  const std::string_view name = basename(word);
  return name.starts_with("python") && name.find_first_not_of("0123456789.", 6) == std::string_view::npos;
}

/// Without its last part; "" where that was all: what follows begins with a slash.
std::string above(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "" : std::string(path.substr(0, slash));
}

bool is_file(System& system, const std::string& path) {
  const auto real = system.real(path);
  const auto entry = real.ok() ? system.entry(*real) : Result<Entry>(real.error());
  return entry.ok() && entry->file;
}

/// Of PREFIX/bin/python.
std::string prefix_of(const std::string& program) { return above(above(program)); }

std::string value_of(const Fingerprint::Facts& facts, const std::string& name) {
  const auto at = facts.find(name);
  return at == facts.end() ? "" : at->second;
}

/// "Flash_Attn" and "flash-attn" are the same (PEP 503).
std::string plain_name(std::string_view name) {
  std::string out = to_lower(name);
  std::replace(out.begin(), out.end(), '_', '-');
  std::replace(out.begin(), out.end(), '.', '-');
  return out;
}

/// What direct_url.json (PEP 610) says of where a package came from, for those that no index has.
std::string origin_of(System& system, const std::string& folder) {
  const auto text = system.read(folder + "/direct_url.json");
  const auto json = text.ok() ? Json::parse(*text) : Result<Json>(text.error());
  if (!json.ok() || !json->is_object()) return "";
  if (const Json* vcs = json->find("vcs_info"); vcs != nullptr && vcs->is_object()) {
    return cat(" (git ", clip(vcs->string_or("commit_id", ""), 12), ")");
  }
  const Json* info = json->find("dir_info");
  const bool editable = info != nullptr && info->is_object() && info->boolean_or("editable", false);
  return editable ? cat(" (in development, ", redact_secrets(json->string_or("url", "")), ")") : "";
}

void add_packages(System& system, const std::string& folder, Fingerprint::Facts& out) {
  const auto names = system.names(folder);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    const bool egg = name.ends_with(".egg-info");
    if ((!egg && !name.ends_with(".dist-info")) || out.size() >= kNamesLimit) continue;
    const std::string_view stem(name.data(), name.rfind('.'));
    const size_t dash = stem.find('-');
    if (dash == std::string_view::npos) continue;
    std::string_view version = stem.substr(dash + 1);
    if (egg) version = version.substr(0, version.find("-py"));
    // The first folder on Python's path wins.
    out.emplace(plain_name(stem.substr(0, dash)), cat(version, egg ? "" : origin_of(system, cat(folder, "/", name))));
  }
}

}  // namespace

std::string python_prefix(System& system, const Subject& subject, const Fingerprint::Facts& environment) {
  const std::string first = subject.command.empty() ? "" : subject.command.front();
  if (is_python(first) && contains(first, "/")) {
    return prefix_of(first.front() == '/' ? first : cat(subject.folder, "/", first));
  }
  if (first == "uv" && is_file(system, subject.folder + "/.venv/pyvenv.cfg")) return subject.folder + "/.venv";
  const std::string wanted = is_python(first) ? first : "";
  const std::string path = value_of(environment, "PATH");
  for (const std::string_view folder : split(path, ':')) {
    for (const std::string& name : {wanted, std::string("python"), std::string("python3")}) {
      const std::string program = cat(folder, "/", name);
      if (folder.empty() || folder.front() != '/' || name.empty() || !is_file(system, program)) continue;
      // A virtual environment's python is a link to the machine's: the folder that it lies in counts. A link that lies
      // elsewhere (pyenv, ~/bin) is followed.
      std::string prefix = prefix_of(program);
      if (is_file(system, prefix + "/pyvenv.cfg") || system.names(prefix + "/lib").ok()) return prefix;
      const auto real = system.real(program);
      return real.ok() ? prefix_of(*real) : prefix;
    }
  }
  return value_of(environment, "VIRTUAL_ENV");
}

Fingerprint::Facts python_packages(System& system, const std::string& prefix) {
  Fingerprint::Facts out;
  std::vector<std::string> libraries = {prefix + "/local/lib", prefix + "/lib"};
  if (prefix.empty()) libraries = {"/usr/local/lib", "/usr/lib"};
  if (prefix == "/usr") libraries.insert(libraries.begin(), "/usr/local/lib");
  for (const std::string& library : libraries) {
    auto names = system.names(library);
    if (!names.ok()) continue;
    std::sort(names->begin(), names->end());
    for (const std::string& name : *names) {
      if (!name.starts_with("python3")) continue;
      add_packages(system, cat(library, "/", name, "/site-packages"), out);
      add_packages(system, cat(library, "/", name, "/dist-packages"), out);
    }
  }
  return out;
}

}  // namespace mw
