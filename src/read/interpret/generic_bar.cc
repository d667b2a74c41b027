// What the bar of an unknown trainer says beside its count.
#include <algorithm>
#include <array>

#include "base/byte_set.h"
#include "base/text.h"
#include "read/interpret/generic.h"

namespace mw {
namespace {

constexpr size_t kNone = std::string_view::npos;

/// A bar over held-out questions is not the training's.
bool evaluates(std::string_view title) {
  static constexpr std::array<std::string_view, 4> kWords = {"eval", "valid", "test", "benchmark"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [title](std::string_view word) { return contains_folded(title, word); });
}

}  // namespace

MetricLine::Form GenericReader::read_bar(std::string_view text, size_t done_at, MetricLine& out) {
  titled_ = false;
  std::string_view title = text.substr(0, text.find("%|"));
  const size_t values = text.find(", ", text.find('[', done_at)), end = text.rfind(']');
  if (values == kNone || end == kNone || end < values || evaluates(title)) return MetricLine::Form::kNone;
  std::string_view said = text.substr(values + 2, end - values - 2);
  out.read_commas(said);
  MetricLine::Form form = out.numbers().empty() ? MetricLine::Form::kNone : MetricLine::Form::kCommas;
  if (form == MetricLine::Form::kNone) {  // "Loss: 0.5 | Acc: 0.25:   2%|": tqdm puts a colon before the percentage
    said = title = trim(title.substr(0, std::min(title.rfind(':'), title.size())));
    titled_ = title.starts_with('[') && title.ends_with(']');  // "[loss: 0.5]:   2%|"
    if (titled_) said = title = title.substr(1, title.size() - 2);
    static constexpr ByteSet kNames(":=");
    if (kNames.any_in(title)) form = out.read(title);
  }
  const size_t rate = said.find(", ");  // "12.05s/it, loss 6.0530": the time that a step takes is never the same
  const bool timed = rate != kNone && contains(said.substr(0, rate), "/");
  redrawn_ = bar_.again(timed ? said.substr(rate + 2) : said, out.numbers());
  return form;
}

}  // namespace mw
