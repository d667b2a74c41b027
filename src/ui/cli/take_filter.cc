#include "ui/cli/take_filter.h"

#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kDate = 10;         // "2026-11-01"
constexpr size_t kToTheMinute = 16;  // "2026-11-01T10:00"

}  // namespace

void declare_filter(ArgSpec& spec) {
  spec.positional("text", "words that stand in the record: name, command, settings, incidents, notes", true, false);
  spec.option("framework", "NAME", "of this framework");
  spec.option("model", "NAME", "of a model whose name has this in it");
  spec.option("status", "STATE", "running, finished, crashed, …; failed: crashed, ended-early or stalled");
  spec.option("incident", "KIND", "with such an incident: reward-collapse, engine-dead, …");
  spec.option("tag", "TAG", "with this tag (midwatch tell --tag); may be repeated");
  spec.option("since", "DATE", "begun on this day (UTC) or later: 2026-11-01, or a time");
}

Result<RunFilter> take_filter(const Args& args) {
  RunFilter filter;
  filter.framework = args.get("framework");
  filter.model = args.get("model");
  filter.status = args.get("status");
  filter.incident = args.get("incident");
  filter.tags = args.list("tag");
  for (const std::string& text : args.list("text")) {
    for (const std::string_view word : split(text, ' ')) {
      if (!word.empty()) filter.words.emplace_back(word);
    }
  }
  const std::string since = args.get("since");
  if (since.empty()) return filter;
  const auto time = parse_time(since.size() == kDate          ? since + "T00:00:00"
                               : since.size() == kToTheMinute ? since + ":00"
                                                              : since);
  if (!time) {
    return Error{Error::Code::kInvalid, cat("--since: '", since, "' is no date"),
                 "Write a day or a time, UTC: 2026-11-01, 2026-11-01T10:00."};
  }
  filter.since = *time;
  return filter;
}

}  // namespace mw
