#include "core/preflight/settings.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"

namespace mw::preflight {
namespace {

constexpr uint32_t kMostItems = 1000;  // of a list that is counted by its commas

size_t items_of(std::string_view inside) {
  if (trim(inside).empty()) return 0;
  size_t depth = 0, items = 1;
  for (const char c : inside) {
    if (c == '[' || c == '{' || c == '(') ++depth;
    if ((c == ']' || c == '}' || c == ')') && depth > 0) --depth;
    if (c == ',' && depth == 0 && items < kMostItems) ++items;
  }
  return items;
}

}  // namespace

std::string place_text(const Place& place) {
  if (place.file.empty()) return "the command line";
  return place.line > 0 ? cat(place.file, ":", place.line) : place.file;
}

Setting read_scalar(std::string key, std::string_view text, Place place) {
  Setting setting;
  setting.key = std::move(key);
  setting.place = std::move(place);
  const std::string_view bare = trim(text);
  setting.text = std::string(bare);
  const std::string lower = to_lower(bare);
  if (lower == "true" || lower == "false") {
    setting.kind = Setting::Kind::kTruth;
    setting.number = lower == "true" ? 1 : 0;
  } else if (lower == "null" || lower == "none" || lower == "~") {
    setting.kind = Setting::Kind::kNone;
  } else if (bare.size() >= 2 && bare.front() == '[' && bare.back() == ']') {
    setting.kind = Setting::Kind::kList;
    setting.number = static_cast<double>(items_of(bare.substr(1, bare.size() - 2)));
  } else if (bare.size() >= 2 && bare.front() == '{' && bare.back() == '}') {
    setting.kind = Setting::Kind::kTable;
  } else if (const auto number = parse_double(bare);
             number.has_value() && bare.find_first_of("0123456789") != bare.npos) {
    setting.kind = Setting::Kind::kNumber;
    setting.number = *number;
  }
  return setting;
}

void Settings::put(Setting setting) {
  const bool known = all_.find(setting.key) != all_.end();
  if (!known && all_.size() >= kLimit) {
    truncated_ = true;
    return;
  }
  if (setting.kind != Setting::Kind::kTable && known) remove(setting.key);
  all_[setting.key] = std::move(setting);
}

void Settings::remove(std::string_view key) {
  const std::string below = cat(key, ".");
  const auto first = all_.lower_bound(below);
  auto last = first;
  while (last != all_.end() && last->first.starts_with(below)) ++last;
  all_.erase(first, last);
  if (const auto at = all_.find(key); at != all_.end()) all_.erase(at);
}

const Setting* Settings::find(std::string_view key) const {
  const auto at = all_.find(key);
  return at == all_.end() ? nullptr : &at->second;
}

bool Settings::has(std::string_view key) const {
  const Setting* setting = find(key);
  if (setting != nullptr) return setting->kind != Setting::Kind::kNone;
  const std::string below = cat(key, ".");
  const auto at = all_.lower_bound(below);
  return at != all_.end() && at->first.starts_with(below);
}

std::string without_numbers(std::string_view key) {
  std::string out;
  for (const std::string_view part : split(key, '.')) {
    if (!out.empty()) out += '.';
    const bool number = !part.empty() && part.find_first_not_of("0123456789") == part.npos;
    out += number ? std::string_view("*") : part;
  }
  return out;
}

}  // namespace mw::preflight
