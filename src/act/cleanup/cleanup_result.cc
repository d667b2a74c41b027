#include "act/cleanup/cleanup_result.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"
#include "core/supervise/action_kind.h"

namespace mw {
namespace {

std::string bytes_text(int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

}  // namespace

std::string cleanup_result_text(const CleanupResult& result) {
  std::string text;
  {
    JsonWriter json(text);
    json.begin_object().key("version").integer(1).key("asked_ns").integer(result.asked.ns).key("items").begin_array();
    for (const CleanupResult::Item& item : result.items) {
      json.begin_object().key("path").string(item.path).key("bytes").integer(item.bytes);
      json.key("ok").boolean(item.ok).key("text").string(item.text).end_object();
    }
    json.end_array().end_object();
  }
  return text;
}

Result<CleanupResult> parse_cleanup_result(std::string_view text) {
  const auto json = Json::parse(text);
  if (!json.ok()) return json.error();
  const Json* items = json->find("items");
  if (items == nullptr || !items->is_array()) return Error{Error::Code::kInvalid, "no list of what was freed", ""};
  CleanupResult result;
  result.asked.ns = json->integer_or("asked_ns", 0);
  for (const Json& item : items->items()) {
    result.items.push_back({item.string_or("path", ""), item.integer_or("bytes", 0), item.boolean_or("ok", false),
                            item.string_or("text", "")});
  }
  return result;
}

std::string path_of(const CleanupItem& item) { return cat(item.root, "/", item.name); }

Result<uint32_t> intend_to_remove(EventWriter& writer, const CleanupItem& item, uint32_t incident) {
  return writer.intend({0, std::string(kCleanupAction), path_of(item), incident,
                        cat("It is ", item.why, "; ", bytes_text(item.bytes), ".")});
}

CleanupResult::Item record_removal(EventWriter& writer, uint32_t action, const CleanupItem& item,
                                   const Result<Removed>& removed) {
  CleanupResult::Item done{path_of(item), removed.ok() ? removed->bytes : 0, removed.ok(),
                           removed.ok() ? cat(bytes_text(removed->bytes), " freed") : removed.error().what};
  writer.acted({action, done.ok, done.text, 0});
  return done;
}

void settle_removals(Disk& disk, const State& state, EventWriter& writer) {
  for (const ActionState& action : in_doubt(state, Executor::kCleanup)) {
    const auto info = disk.info(action.intent.target);
    const bool gone = !info.ok() && info.error().code == Error::Code::kNotFound;
    writer.acted({action.intent.id, gone, gone ? "it is gone" : "not done, or not all of it", 0});
  }
}

std::set<std::string> removals_of(const State& state) {
  std::set<std::string> paths;
  for (const ActionState& action : state.actions) {
    if (action.intent.action == kCleanupAction) paths.insert(action.intent.target);
  }
  return paths;
}

namespace {

constexpr std::string_view kKeepLast = "keep-last=", kKeepEvery = "keep-every=", kKeepBest = "keep-best=";

bool take_rule(std::string_view word, std::optional<RetentionRules>& rules) {
  const bool last = word.starts_with(kKeepLast), every = word.starts_with(kKeepEvery);
  const bool best = word.starts_with(kKeepBest);
  if (!last && !every && !best) return false;
  if (!rules) rules.emplace();
  if (best) rules->keep_best = word.substr(kKeepBest.size());
  const auto number = parse_int(word.substr(word.find('=') + 1));
  if (last) rules->keep_last = number.value_or(0);  // what cannot be read keeps all
  if (every) rules->keep_every = number.value_or(0);
  return true;
}

}  // namespace

std::string cleanup_ask_text(const CleanupAsk& ask) {
  std::string text;
  for (const std::string& word : ask.words) text += cat(text.empty() ? "" : ",", word);
  if (ask.retention) {
    text +=
        cat(text.empty() ? "" : ",", kKeepLast, ask.retention->keep_last, ",", kKeepEvery, ask.retention->keep_every);
    if (!ask.retention->keep_best.empty()) text += cat(",", kKeepBest, ask.retention->keep_best);
  }
  for (const std::string& path : ask.paths) text += cat("\n", path);
  return text;
}

CleanupAsk parse_cleanup_ask(std::string_view text) {
  CleanupAsk ask;
  const auto lines = split(text, '\n');
  for (size_t i = 1; i < lines.size(); ++i) ask.paths.emplace_back(lines[i]);
  for (const std::string_view word : lines.empty() ? lines : split(lines.front(), ',')) {
    if (!take_rule(trim(word), ask.retention) && !trim(word).empty()) ask.words.emplace_back(trim(word));
  }
  return ask;
}

std::vector<CleanupItem> asked_of(std::vector<CleanupItem> plan, const std::vector<std::string>& paths) {
  plan.erase(std::remove_if(plan.begin(), plan.end(),
                            [&paths](const CleanupItem& item) {
                              return std::find(paths.begin(), paths.end(), path_of(item)) == paths.end();
                            }),
             plan.end());
  return plan;
}

}  // namespace mw
