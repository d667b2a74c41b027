#include "core/supervise/time_limit.h"

#include "base/numbers.h"
#include "base/text.h"
#include "core/supervise/program_on_input.h"

namespace mw {
namespace {

constexpr int kSigKill = 9, kKilled = 128 + kSigKill;
constexpr Duration kSlack = Duration::seconds(1);  // by which two clocks may differ

/// "8h", "90", "1.5d" (timeout(1)); nullopt: it is none. 0 sets no limit.
std::optional<Duration> parse_limit(std::string_view text) {
  double unit = 1;
  if (!text.empty() && contains("smhd", text.substr(text.size() - 1))) {
    unit = text.back() == 'm' ? 60 : text.back() == 'h' ? 3600 : text.back() == 'd' ? 86400 : 1;
    text.remove_suffix(1);
  }
  const auto number = parse_double(text);
  const bool some = number && *number > 0 && *number * unit <= 1e9;  // no "nan"
  if (!some) return std::nullopt;
  return Duration::seconds(*number * unit);
}

bool is_kill(std::string_view signal) { return signal == "KILL" || signal == "SIGKILL" || signal == "9"; }

}  // namespace

std::optional<TimeLimit> time_limit_of(std::span<const std::string> command) {
  const auto words = command.subspan(past_wrappers(command));
  if (words.empty() || (basename(words[0]) != "timeout" && basename(words[0]) != "gtimeout")) return std::nullopt;
  TimeLimit limit;
  size_t i = 1;
  for (; i < words.size() && words[i].size() > 1 && words[i][0] == '-'; ++i) {
    const std::string_view word = words[i];
    const bool next = word == "-k" || word == "-s" || word == "--kill-after" || word == "--signal";
    if (word.starts_with("-k") || word.starts_with("--kill-after")) limit.kills = true;
    std::string_view signal = word.starts_with("--signal=") ? word.substr(9) : word.substr(2);
    if (next) signal = i + 1 < words.size() ? std::string_view(words[i + 1]) : std::string_view();
    if (word.starts_with("-s") || word.starts_with("--signal")) limit.kills = limit.kills || is_kill(signal);
    if (next) ++i;
    if (word == "--") {
      ++i;
      break;
    }
  }
  const auto after = i < words.size() ? parse_limit(words[i]) : std::nullopt;
  if (!after) return std::nullopt;
  limit.after = *after;
  limit.words = past_wrappers(command) + i + 1;
  limit.text = cat("timeout ", words[i]);
  return limit;
}

std::string ended_by_limit(std::span<const std::string> command, const AttemptOutcome& ended) {
  if (!ended.known || ended.tripped) return "";
  if (const auto limit = time_limit_of(command)) {
    const bool killed = limit->kills && (ended.code == kKilled || ended.signal == kSigKill);
    const bool in_time = ended.lasted.ns + kSlack.ns >= limit->after.ns;
    return in_time && (ended.code == kTimedOut || killed) ? limit->text : "";
  }
  return ended.code == kTimedOut && ended.kind.empty() && ended.last_step != kNoStep ? "timeout" : "";
}

}  // namespace mw
