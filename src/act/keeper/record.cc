#include "act/keeper/record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "act/keeper/launch.h"
#include "base/json.h"
#include "base/text.h"
#include "journal/journal.h"

namespace mw {
namespace {

template <typename Fill>
std::string line(std::string_view what, Time at, Fill fill) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("what").string(what).key("at_ns").integer(at.ns);
    fill(json);
    json.end_object();
  }
  return out;
}

void put_process(JsonWriter& json, const ProcessId& id) {
  json.key("pid").integer(id.pid).key("start").integer(static_cast<int64_t>(id.start));
}

ProcessId process(const Json& json) {
  return {json.integer_or("pid", 0), static_cast<uint64_t>(json.integer_or("start", 0))};
}

Ending ending(const Json& json) {
  Ending end;
  end.at = {json.integer_or("at_ns", 0)};
  end.code = static_cast<int>(json.integer_or("code", -1));
  end.signal = static_cast<int>(json.integer_or("signal", 0));
  end.core = json.boolean_or("core", false);
  end.known = json.boolean_or("known", false);
  end.user_s = json.number_or("user_s", 0);
  end.system_s = json.number_or("system_s", 0);
  end.peak_bytes = json.integer_or("peak_bytes", 0);
  return end;
}

/// Room that a keeper took while there was some. Lines in it are the last ones; what follows them are zeros.
constexpr size_t kSpareBytes = 4096;

class Folder final : public Journal::Reader {
 public:
  explicit Folder(Kept& kept) : kept_(kept) {}
  void record(uint64_t, std::string_view json) override { fold_record(kept_, json); }
  void damage(const std::string&) override {}  // lost records concern the past; the processes can still be read

 private:
  Kept& kept_;
};

}  // namespace

std::string outcome_text(const Ending& end) {
  if (!end.known) return "how is not known";
  if (end.signal == 0) return cat("exit status ", end.code);
  return cat("exit status ", -end.signal, ", ended by signal ", end.signal, end.core ? ", core dumped" : "");
}

std::string ended_how(const Ending& end) {
  if (!end.known) return "ended, and how is not known";
  if (end.signal == 0) return cat("ended with exit status ", end.code);
  return cat("ended by signal ", end.signal, end.core ? ", core dumped" : "");
}

std::string record_keeping(const ProcessId& keeper, std::string_view boot, Time at) {
  return line("keeping", at, [&](JsonWriter& json) {
    put_process(json, keeper);
    json.key("boot").string(boot);
  });
}

std::string record_forked(const ProcessId& child, Time at) {
  return line("forked", at, [&](JsonWriter& json) { put_process(json, child); });
}

std::string record_started(const ProcessId& child, Time at) {
  return line("started", at, [&](JsonWriter& json) { put_process(json, child); });
}

std::string record_failed(std::string_view why, Time at) {
  return line("failed", at, [&](JsonWriter& json) { json.key("why").string(why); });
}

std::string record_ended(const Ending& end) {
  return line("ended", end.at, [&](JsonWriter& json) {
    json.key("code").integer(end.code).key("signal").integer(end.signal).key("core").boolean(end.core);
    json.key("known").boolean(end.known).key("user_s").number(end.user_s).key("system_s").number(end.system_s);
    json.key("peak_bytes").integer(end.peak_bytes);
  });
}

std::string record_lost(uint64_t bytes_in_all, Time at) {
  return line("lost", at, [&](JsonWriter& json) { json.key("bytes").integer(static_cast<int64_t>(bytes_in_all)); });
}

std::string record_done(Time at) {
  return line("done", at, [](JsonWriter&) {});
}

Left what_was_left(const Kept& kept, bool lives, bool went, bool here) {
  if (kept.child.known()) return Left::kCommand;
  if (!kept.forked.known()) return Left::kNothing;
  if (went || !here) return Left::kCommand;
  return lives ? Left::kWaits : Left::kNothing;
}

void fold_record(Kept& kept, std::string_view text) {
  const auto json = Json::parse(text);
  if (!json.ok()) return;
  const std::string what = json->string_or("what", "");
  if (what == "keeping") {
    kept.keeper = process(*json);
    kept.boot = json->string_or("boot", "");
  } else if (what == "forked") {
    kept.forked = process(*json);
  } else if (what == "started") {
    kept.child = process(*json);
    kept.started = {json->integer_or("at_ns", 0)};
  } else if (what == "failed") {
    kept.failure = json->string_or("why", "no reason was given");
  } else if (what == "ended") {
    kept.ending = ending(*json);
  } else if (what == "lost") {
    kept.lost_bytes = static_cast<uint64_t>(json->integer_or("bytes", 0));
  } else if (what == "done") {
    kept.done = true;
  }
}

Result<Kept> read_kept(Disk& disk, const std::string& keeper_folder) {
  Kept kept;
  Folder folder(kept);
  const auto read = Journal::read(disk, cat(keeper_folder, "/", kRecordFolder), folder);
  if (!read.ok() && read.error().code != Error::Code::kNotFound) return read.error();
  if (kept.done) return kept;
  const auto spare = disk.open_read(cat(keeper_folder, "/", kSpareFile));
  std::string text;
  if (!spare.ok() || !(*spare)->read_at(0, kSpareBytes, text).ok()) return kept;
  text.resize(std::min(text.size(), text.find('\0')));
  for (const std::string_view one : split(text, '\n')) fold_record(kept, one);
  return kept;
}

SpareRecord::SpareRecord(const std::string& path) : path_(path) {
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  struct stat is {};
  if (file_ < 0 || fstat(file_, &is) != 0) return;
  std::string text(kSpareBytes, '\0');
  if (is.st_size >= static_cast<off_t>(kSpareBytes)) {  // of a keeper that was killed
    if (pread(file_, text.data(), text.size(), 0) > 0) used_ = std::min(text.size(), text.find('\0'));
    return;
  }
  if (pwrite(file_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) || fdatasync(file_) != 0) drop();
}

SpareRecord::~SpareRecord() {
  if (file_ >= 0) close(file_);
}

void SpareRecord::put(std::string_view line) {
  if (file_ < 0 || used_ + line.size() + 1 > kSpareBytes) return;
  const std::string text = cat(line, "\n");
  if (pwrite(file_, text.data(), text.size(), static_cast<off_t>(used_)) != static_cast<ssize_t>(text.size())) return;
  used_ += text.size();
  (void)!fdatasync(file_);
}

void SpareRecord::drop() {
  if (file_ >= 0) close(std::exchange(file_, -1));
  unlink(path_.c_str());
}

}  // namespace mw
