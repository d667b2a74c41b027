#include "read/lines/clean_line.h"

#include <algorithm>
#include <functional>

#include "base/text.h"

namespace mw {

std::string CleanLine::take(std::string_view part, size_t limit) {
  return clip(sanitize_utf8(clean(part, limit)), limit);
}

std::string CleanLine::cut(std::string_view part, size_t limit) {
  return clip(sanitize_utf8(clean(part, limit).substr(0, limit)), limit);
}

/// Without secrets; of a longer part a little more than `limit` bytes.
std::string CleanLine::clean(std::string_view part, size_t limit) {
  const std::less_equal<> in_order;
  const bool inside = in_order(whole_.data(), part.data()) &&
                      in_order(part.data() + part.size(), whole_.data() + whole_.size()) && !whole_.empty();
  if (!inside) {
    std::vector<SecretSpan> spans;
    part = part.substr(0, limit < part.size() ? std::min(part.size(), limit + kRedactMargin) : part.size());
    look(part, spans);
    return without(part, spans);
  }
  size_t from = static_cast<size_t>(part.data() - whole_.data());
  size_t to = limit < part.size() ? from + std::min(part.size(), limit + kRedactMargin) : from + part.size();
  std::vector<SecretSpan> here;
  const std::vector<SecretSpan>* found = &spans_;
  size_t offset = 0;
  if (whole_.size() <= kWholeLimit) {
    if (!ready_) {
      spans_.clear();
      look(whole_, spans_);
      ready_ = true;
    }
  } else {
    offset = from - std::min(from, kRedactMargin);
    look(whole_.substr(offset, to + kRedactMargin - offset), here);
    found = &here;
  }
  std::vector<SecretSpan> spans;
  for (const SecretSpan& span : *found) {
    const size_t begin = std::max(span.begin + offset, from), end = std::min(span.end + offset, to);
    if (begin < end) spans.push_back({begin - from, end - from});
  }
  return without(whole_.substr(from, to - from), spans);
}

/// What of the text in front of the line find_secrets() needs: of text without keys only the line before. In `room`
/// where it must be put together.
std::string_view CleanLine::line_before(std::string& room) const {
  const std::string_view near = before_.substr(before_.size() - std::min(before_.size(), kContextBytes));
  if (!keys_) {
    const size_t end = near.find_last_not_of("\r\n");
    const size_t cut = end == std::string_view::npos ? end : near.find_last_of("\r\n", end);
    if (cut != std::string_view::npos) return near.substr(cut + 1, end - cut);
  }
  const size_t rest = kContextBytes - near.size();
  room = cat(earlier_.substr(earlier_.size() - std::min(earlier_.size(), rest)), near);
  return room;
}

void CleanLine::look(std::string_view text, std::vector<SecretSpan>& spans) const {
  std::string room;
  const bool leads = text.data() == whole_.data();
  spans = find_secrets(text, leads ? line_before(room) : std::string_view());
  if (known_ == nullptr || known_->empty()) return;
  known_->find(text, spans);
  join_spans(spans);
}

}  // namespace mw
