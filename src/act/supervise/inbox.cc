#include "act/supervise/inbox.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "core/notes.h"
#include "platform/durable.h"

namespace mw {
namespace {

constexpr Duration kPatience = Duration::seconds(1);
constexpr size_t kAskLimit = size_t{1} << 20;  // bytes of text
constexpr std::string_view kEnding = ".json";

/// As the request names it; index = RunAsk::What.
constexpr std::string_view kWords[] = {"tell", "pause", "resume", "stop", "kill", "cleanup", "approve"};

/// A midwatch may have died between writing it down and removing the request; so below.
Result<void> keep_note(const RunAsk& ask, const State& state, EventWriter& writer) {
  const bool known = std::any_of(state.notes.begin(), state.notes.end(), [&ask](const auto& one) {
    return one.first.at == ask.at && one.second.who == ask.who && one.second.text == ask.text;
  });
  return known ? Result<void>() : writer.note({ask.who, ask.text}, ask.at);
}

Result<void> keep_request(const RunAsk& ask, const State& state, EventWriter& writer) {
  const std::string what =
      ask.what == RunAsk::What::kTell ? ask.kind : std::string(kWords[static_cast<size_t>(ask.what)]);
  const auto& all = state.supervision.requests;
  const bool known = std::any_of(all.begin(), all.end(), [&](const Supervision::Request& one) {
    return one.at == ask.at && one.who == ask.who && one.what == what;
  });
  return known ? Result<void>() : writer.record(event::Requested{what, ask.who}, ask.at);
}

Result<void> take_note(const RunAsk& ask, const State& state, EventWriter& writer) {
  if (!ask.kind.empty()) MW_TRY(keep_request(ask, state, writer));
  return keep_note(ask, state, writer);
}

/// What lies in an inbox, the first asked first.
Result<std::vector<std::string>> asked_in(Disk& disk, const std::string& folder) {
  auto names = disk.list(folder);
  if (!names.ok()) return names;
  std::erase_if(*names,
                [](const std::string& name) { return !std::string_view(name).ends_with(kEnding); });  // half written
  std::sort(names->begin(), names->end());
  return names;
}

}  // namespace

Result<std::string> put_ask(Disk& disk, const std::string& run_folder, const RunAsk& ask, int64_t pid) {
  std::string text;
  JsonWriter(text)
      .begin_object()
      .key("version")
      .integer(1)
      .key("ask")
      .string(kWords[static_cast<size_t>(ask.what)])
      .key("who")
      .string(ask.who)
      .key("text")
      .string(ask.text)
      .key("at_ns")
      .integer(ask.at.ns)
      .key("kind")
      .string(ask.kind)
      .end_object();
  const std::string folder = cat(run_folder, "/", kInboxFolder);
  MW_TRY(disk.make_folders(folder));
  const std::string path = cat(folder, "/", ask.at.ns, "-", pid, kEnding);
  MW_TRY(write_durably(disk, path, text));
  return path;
}

Result<RunAsk> parse_ask(std::string_view text) {
  auto json = Json::parse(text);
  if (!json.ok()) return json.error();
  RunAsk ask;
  std::string word = json->string_or("ask", "");
  if (word == "free") word = "cleanup";  // as midwatch 0.1 called it
  const auto known = std::find(std::begin(kWords), std::end(kWords), word);
  if (known == std::end(kWords)) return Error{Error::Code::kInvalid, cat("nobody can be asked to '", word, "'"), ""};
  ask.what = static_cast<RunAsk::What>(known - std::begin(kWords));
  ask.who = clip(json->string_or("who", ""), 200);
  // A note is kept in the journal; the text of a request is not.
  const bool is_note = ask.what == RunAsk::What::kTell;
  const std::string said = json->string_or("text", "");
  ask.text = is_note ? redact_secrets(clip(said, kTextLimit)) : clip(said, kAskLimit);
  ask.at.ns = json->integer_or("at_ns", 0);
  ask.kind = json->string_or("kind", "");
  if (!ask.kind.empty() && (!is_note || (ask.kind != kLesson && ask.kind != kTag && ask.kind != kUntag)))
    return Error{Error::Code::kInvalid, cat("nobody knows a note of the kind '", ask.kind, "'"), ""};
  return ask;
}

void take_notes(Disk& disk, const std::string& run_folder, const State& state, EventWriter& writer) {
  const std::string folder = cat(run_folder, "/", kInboxFolder);
  const auto names = asked_in(disk, folder);
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    const std::string path = cat(folder, "/", name);
    const auto text = read_small(disk, path);
    const auto ask = text.ok() ? parse_ask(*text) : Result<RunAsk>(text.error());
    if (!ask.ok() || ask->what != RunAsk::What::kTell) continue;
    if (!take_note(*ask, state, writer).ok() || !disk.remove(path).ok()) return;  // a later one must not overtake it
  }
}

std::optional<Duration> Inbox::turn(const State& state, bool, EventWriter& writer) {
  const std::string folder = cat(folder_, "/", kInboxFolder);
  const auto names = asked_in(doors_.disk, folder);
  if (!names.ok()) {
    (void)doors_.disk.make_folders(folder).ok();  // from where it is, the next request is heard of at once
    doors_.watch.add(folder);
    return kPatience;
  }
  for (const std::string& name : *names) {
    if (!take(cat(folder, "/", name), state, writer).ok()) break;  // later ones must not overtake it
  }
  doors_.watch.add(folder);
  return kPatience;
}

Result<void> Inbox::take(const std::string& path, const State& state, EventWriter& writer) {
  const auto text = read_small(doors_.disk, path);
  if (!text.ok()) return doors_.disk.rename(path, path + ".unreadable");
  const auto ask = parse_ask(*text);
  if (!ask.ok()) return doors_.disk.rename(path, path + ".refused");
  if (ask->what == RunAsk::What::kTell) {
    MW_TRY(take_note(*ask, state, writer));
  } else {
    MW_TRY(keep_request(*ask, state, writer));
    MW_TRY(handle_(*ask, state, writer));
  }
  return doors_.disk.remove(path);
}

}  // namespace mw
