#include "read/lines/reward_list.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/numbers.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kNameReach = 80;   // bytes of a line in which the name must begin: text about rewards comes later
constexpr size_t kValueReach = 24;  // bytes between the name and its list: ": np.array(", "=tensor("

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/// Where the list of the first "reward" or "rewards" begins, after its '['.
size_t list_at(std::string_view text) {
  if (!contains_folded(text.substr(0, kNameReach + 8), "reward")) return kNone;
  const std::string head = to_lower(text.substr(0, kNameReach + 8));
  const size_t name = head.find("reward");
  if (name >= kNameReach || (name > 0 && is_word(head[name - 1]))) return kNone;
  size_t at = name + std::string_view("reward").size();
  if (at < text.size() && (text[at] == 's' || text[at] == 'S')) ++at;
  if (at < text.size() && is_word(text[at])) return kNone;
  const size_t open = text.substr(at, kValueReach).find('[');
  if (open == kNone) return kNone;
  const std::string_view between = trim(text.substr(at, open));
  if (between.empty() || (between[0] != ':' && between[0] != '=')) return kNone;
  const std::string_view call = trim(between.substr(1));
  if (!call.empty() && call.back() != '(') return kNone;
  return at + open + 1;
}

}  // namespace

std::optional<RewardList> read_reward_list(std::string_view text) {
  size_t at = list_at(text);
  if (at == kNone) return std::nullopt;
  RewardList out;
  double sum = 0;
  int depth = 1;
  while (at < text.size() && depth > 0) {
    const char c = text[at];
    if (c == '[' || c == ']') {
      depth += c == '[' ? 1 : -1;
      ++at;
    } else if (c == ',' || c == ' ') {
      ++at;
    } else {
      size_t end = at;
      while (end < text.size() && text[end] != ',' && text[end] != ' ' && text[end] != '[' && text[end] != ']') ++end;
      std::string_view number = text.substr(at, end - at);
      const bool quoted = number.size() > 2 && (number[0] == '\'' || number[0] == '"') && number.back() == number[0];
      if (quoted) number = number.substr(1, number.size() - 2);  // "['0.80', '0.01']", as formatted for people
      const std::optional<double> value = parse_double(number);
      if (!value || !std::isfinite(*value) || ++out.count > kMostRewards) return std::nullopt;
      out.least = out.count == 1 ? *value : std::min(out.least, *value);
      out.most = out.count == 1 ? *value : std::max(out.most, *value);
      sum += *value;
      at = end;
    }
  }
  if (depth > 0 || out.count < 2) return std::nullopt;
  out.mean = sum / static_cast<double>(out.count);
  return out;
}

}  // namespace mw
