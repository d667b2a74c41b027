// PatternSet against RE2 on every segment. The input: patterns, one a line ("=" literal, else regex), an empty line, a
// log.
#include <re2/re2.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "read/match/pattern_set.h"

namespace {

class Collector : public mw::HitListener {
 public:
  size_t hit(std::string_view line, size_t offset, size_t, std::span<const uint32_t> ids) override {
    MW_CHECK(line.find('\n') == std::string_view::npos);
    MW_CHECK(offset >= next_);
    next_ = offset + line.size();
    hits.push_back({offset, {ids.begin(), ids.end()}});
    return 0;
  }
  std::vector<std::pair<size_t, std::set<uint32_t>>> hits;

 private:
  size_t next_ = 0;
};

bool matches(const mw::Pattern& pattern, const RE2& regex, std::string_view text) {
  if (!pattern.regex) return mw::contains(text, pattern.expression);
  return regex.ok() && RE2::PartialMatch({text.data(), text.size()}, regex);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kPatterns = 8;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<mw::Pattern> patterns;
  while (patterns.size() < kPatterns && !text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) break;
    const bool regex = line[0] != '=';
    if (!regex) line.remove_prefix(1);
    patterns.push_back({std::string(line.substr(0, 200)), regex, static_cast<uint32_t>(patterns.size())});
  }
  const auto set = mw::PatternSet::compile(patterns);
  if (!set.ok()) return 0;
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_max_mem(mw::PatternSet::kRegexMemory);
  std::vector<std::unique_ptr<RE2>> regexes;
  for (const mw::Pattern& pattern : patterns) regexes.push_back(std::make_unique<RE2>(pattern.expression, options));

  Collector collector;
  set->scan(text, collector);
  size_t next = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::set<uint32_t> ids;
    for (const std::string_view segment : mw::split(text.substr(at, end - at), '\r')) {
      if (segment.empty() || segment.size() > mw::PatternSet::kSegmentLimit) continue;
      for (size_t i = 0; i < patterns.size(); ++i) {
        if (matches(patterns[i], *regexes[i], segment)) ids.insert(patterns[i].id);
      }
    }
    if (!ids.empty()) {
      MW_CHECK(next < collector.hits.size());
      MW_CHECK(collector.hits[next].first == at);
      MW_CHECK(collector.hits[next].second == ids);
      ++next;
    }
    at = end + 1;
  }
  MW_CHECK(next == collector.hits.size());
  return 0;
}
