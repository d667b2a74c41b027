#include "sense/processes/stacks.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "base/secrets.h"
#include "base/text.h"

namespace mw::components {
namespace {

constexpr size_t kFrames = 4, kFrameBytes = 120;

bool is_head(std::string_view line) { return line.rfind("Thread ", 0) == 0 || line.rfind("TID ", 0) == 0; }

/// Does the line name that number, as a word?
bool names(std::string_view line, int64_t tid) {
  const std::string number = cat(tid);
  for (size_t at = line.find(number); at != std::string_view::npos; at = line.find(number, at + 1)) {
    const auto digit = [&line](size_t i) { return i < line.size() && line[i] >= '0' && line[i] <= '9'; };
    if ((at == 0 || line[at - 1] == ' ') && !digit(at + number.size())) return true;
  }
  return false;
}

/// "#1  0x00007f12 in sock_recv (self=0x7f) at socketmodule.c:12", "#1  0x00007f12 sock_recv": the function.
std::string_view native_frame(std::string_view line) {
  line = trim(line.substr(std::min(line.find(' '), line.size())));
  if (line.rfind("0x", 0) == 0) line = trim(line.substr(std::min(line.find(' '), line.size())));
  for (const std::string_view word : {"- 1 ", "in "}) {
    if (line.rfind(word, 0) == 0) line = trim(line.substr(word.size()));
  }
  line = line.substr(0, line.find(" ("));
  return line.rfind("??", 0) == 0 ? std::string_view() : trim(line.substr(0, line.find(" - ")));
}

/// "    readinto (socket.py:705)": "socket.py:705 in readinto".
std::string python_frame(std::string_view line) {
  line = trim(line);
  const size_t open = line.rfind(" (");
  if (open == std::string_view::npos || line.back() != ')') return "";
  return cat(line.substr(open + 2, line.size() - open - 3), " in ", line.substr(0, open));
}

std::string frame_of(std::string_view line) {
  if (line.rfind('#', 0) == 0) return std::string(native_frame(line));
  return line.rfind("    ", 0) == 0 ? python_frame(line) : "";
}

/// The line that says why it failed, else the first that says something.
std::string complaint(std::string_view text) {
  std::string_view first;
  for (const std::string_view line : split(text, '\n')) {
    if (first.empty()) first = trim(line);
    if (contains(line, "ptrace") || contains_folded(line, "denied")) {
      first = trim(line);
      break;
    }
  }
  return first.empty() ? "it wrote nothing" : clip(redact_secrets(sanitize_utf8(first)), 200);
}

/// Why no program may look; "" when one may.
std::string forbidden(System& system) {
  const auto scope = system.read("/proc/sys/kernel/yama/ptrace_scope", 16);
  const int64_t level = scope.ok() ? parse_int(trim(*scope)).value_or(0) : 0;
  if (level == 0 || (level < 3 && geteuid() == 0)) return "";
  return cat("kernel.yama.ptrace_scope is ", level);
}

struct Tool {
  std::string_view name;
  std::vector<std::string> command;
  bool stops;  ///< the process, while it reads
};

std::vector<Tool> tools_for(int64_t pid) {
  const std::string number = cat(pid);
  return {
      {"py-spy", {"py-spy", "dump", "--nonblocking", "--pid", number}, false},
      {"eu-stack", {"eu-stack", "-p", number}, true},
      {"gdb",
       {"gdb", "-nx", "-nh", "-batch", "-iex", "set auto-load off", "-iex", "set debuginfod enabled off", "-p", number,
        "-ex", "set pagination off", "-ex", "set print frame-arguments none", "-ex", "thread apply all bt 40"},
       true}};
}

}  // namespace

std::string innermost(std::string_view text, int64_t tid) {
  std::vector<std::string> first, wanted;
  size_t threads = 0, of = 0;  // of: which of them has that number
  for (const std::string_view line : split(text, '\n')) {
    if (is_head(line)) {
      ++threads;
      if (of == 0 && names(line, tid)) of = threads;
      continue;
    }
    const std::string frame = clip(sanitize_utf8(trim(frame_of(line))), kFrameBytes);
    if (frame.empty()) continue;
    const auto add = [&frame](std::vector<std::string>& frames) {
      if (frames.size() < kFrames && (frames.empty() || frames.back() != frame)) frames.push_back(frame);  // inlined
    };
    if (of != 0 && of == threads) add(wanted);
    if (threads <= 1) add(first);
  }
  std::string out;
  for (const std::string& frame : wanted.empty() ? first : wanted) out += cat(out.empty() ? "" : " <- ", frame);
  return out;
}

Stacks stacks_of(System& system, const RunProgram& run, const ProcessId& id, bool may_stop) {
  Stacks stacks;
  stacks.why_not = forbidden(system);
  if (!stacks.why_not.empty()) return stacks;
  stacks.why_not =
      may_stop
          ? "neither py-spy (pip install py-spy) nor eu-stack nor gdb is there"
          : "py-spy (pip install py-spy) is not there, and nothing that stops a process is asked where it may be well";
  for (const Tool& tool : tools_for(id.pid)) {
    if (tool.stops && !may_stop) continue;
    // The number may be another's by now.
    const auto stat = system.read(cat("/proc/", id.pid, "/stat"), 4096);
    const auto info = stat.ok() ? parse_process_stat(*stat) : Result<ProcessInfo>(stat.error());
    if (!info.ok() || !(info->id == id)) return {"", "", "it was gone", stacks.late};
    if (info->state != 'R' && info->state != 'S') {
      return {"", "", cat("a process in state ", std::string(1, info->state), " is left alone"), stacks.late};
    }
    ProgramRequest request;
    request.command = tool.command;
    request.environment["DEBUGINFOD_URLS"] = "";  // nothing is fetched from anywhere
    request.limit = kStacksLimit;
    request.grace = Duration::seconds(1);
    request.output_limit = kStacksBytes;
    const auto end = run(request);
    if (!end.ok()) continue;
    stacks.late = stacks.late || end->late;
    const std::string text = redact_secrets(sanitize_utf8(end->output));
    if (end->code == 0 && !innermost(text, id.pid).empty()) {
      stacks.tool = tool.name;
      stacks.text = text;
      stacks.why_not.clear();
      return stacks;
    }
    stacks.why_not = cat(tool.name, end->late ? cat(" was not done within ", format_duration(request.limit))
                                              : cat(": ", complaint(end->output)));
  }
  return stacks;
}

}  // namespace mw::components
