#include "dialects/pattern_set.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>

#include "base/text.h"

namespace mw {

struct PatternSet::Inner {
  std::vector<uint32_t> ids;
  std::unique_ptr<RE2::Set> set;
  mutable std::vector<int> found;
};

PatternSet::PatternSet(std::unique_ptr<Inner> inner) : inner_(std::move(inner)) {}
PatternSet::PatternSet(PatternSet&&) noexcept = default;
PatternSet& PatternSet::operator=(PatternSet&&) noexcept = default;
PatternSet::~PatternSet() = default;

Result<PatternSet> PatternSet::compile(std::vector<Pattern> patterns) {
  auto inner = std::make_unique<Inner>();
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  options.set_max_mem(256 << 20);
  inner->set = std::make_unique<RE2::Set>(options, RE2::UNANCHORED);
  for (const Pattern& pattern : patterns) {
    std::string error;
    const std::string expression = pattern.regex ? pattern.expression : RE2::QuoteMeta(pattern.expression);
    if (inner->set->Add(expression, &error) < 0) {
      return Error{Error::Code::kInvalid, cat("pattern '", pattern.expression, "': ", error), ""};
    }
    inner->ids.push_back(pattern.id);
  }
  if (!inner->set->Compile()) return Error{Error::Code::kLimit, "the patterns need too much memory", ""};
  return PatternSet(std::move(inner));
}

void PatternSet::match_line(std::string_view line, std::vector<uint32_t>& ids) const {
  ids.clear();
  if (!inner_->set->Match({line.data(), line.size()}, &inner_->found)) return;
  for (const int index : inner_->found) ids.push_back(inner_->ids[static_cast<size_t>(index)]);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

void PatternSet::scan(std::string_view block, HitListener& listener) const {
  std::vector<uint32_t> ids, some;
  size_t line_index = 0, wanted = 0;
  for (size_t at = 0; at < block.size(); ++line_index) {
    const size_t end = std::min(block.find('\n', at), block.size());
    std::string_view line = block.substr(at, end - at);
    ids.clear();
    for (size_t from = 0; from <= line.size();) {
      const size_t to = std::min(line.find('\r', from), line.size());
      match_line(line.substr(from, to - from), some);
      ids.insert(ids.end(), some.begin(), some.end());
      from = to + 1;
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!ids.empty() || wanted > 0) {
      if (wanted > 0) --wanted;
      wanted = std::max(wanted, listener.hit(line, at, line_index, ids));
    }
    at = end + 1;
  }
}

}  // namespace mw
