#include "read/source_reader.h"

#include <algorithm>
#include <utility>

#include "base/checksum.h"
#include "base/text.h"
#include "read/clock_zone.h"
#include "read/files/notebook_places.h"
#include "read/files/text_log.h"
#include "read/first_date.h"
#include "read/last_clock.h"
#include "read/name_collector.h"
#include "read/newest_first.h"
#include "read/part_order.h"
#include "read/record_relay.h"

namespace mw {
namespace {

constexpr size_t kHeadBytes = 256;                   // by which content is known again
constexpr int64_t kCheckedBytes = int64_t{1} << 30;  // of a database whose pages are looked through
constexpr int64_t kMostTurned = int64_t{128} << 20;  // bytes of a file that is kept in memory until its end
constexpr size_t kEnoughToSniff = 4096;              // bytes that show a growing file's kind even without a line end

}  // namespace

/// What the bytes of one content go through.
class SourceReader::Stage {
 public:
  virtual ~Stage() = default;
  virtual void feed(std::string_view bytes) = 0;
  virtual void finish() = 0;
  virtual void emit_dialects(const std::vector<Interpreter::Switch>& recorded) = 0;
  virtual void resume_recognition() = 0;
  virtual int64_t lines() const = 0;
  virtual bool torn() const = 0;
  virtual std::string last_text() const = 0;
  virtual Time last_at() { return {}; }  ///< as the last line with a clock says
  virtual bool holds_trace() const = 0;
  virtual void end_trace() = 0;
  virtual void preview(EventSink& sink) const = 0;
  virtual uint64_t doubted_trace() const { return 0; }
  virtual void writer_failed() {}
};

class SourceReader::Records final : public SourceReader::Stage {
 public:
  Records(FileKind kind, std::unique_ptr<Decoder> decoder, RunShared& shared, EventSink& sink, uint32_t source,
          KnownRows* known)
      : decoder_(std::move(decoder)), relay_(kind, shared, sink, source, known) {}
  void feed(std::string_view bytes) override { decoder_->feed(bytes, relay_); }
  void finish() override {
    decoder_->finish(relay_);
    relay_.finish();
  }
  void emit_dialects(const std::vector<Interpreter::Switch>& recorded) override { relay_.emit_dialects(recorded); }
  void resume_recognition() override { relay_.resume_recognition(); }
  int64_t lines() const override { return relay_.count(); }
  bool torn() const override { return relay_.torn(); }
  std::string last_text() const override { return ""; }
  bool holds_trace() const override { return relay_.holds_trace(); }
  void end_trace() override { relay_.end_trace(static_cast<uint64_t>(relay_.count()), {}); }
  void preview(EventSink& sink) const override { relay_.preview(sink); }

 private:
  std::unique_ptr<Decoder> decoder_;
  Relay relay_;
};

/// A file whose records come from the newest to the oldest, kept until its end is known.
class SourceReader::Turned final : public SourceReader::Stage {
 public:
  Turned(FileKind kind, std::unique_ptr<Stage> stage) : kind_(kind), stage_(std::move(stage)) {}
  void feed(std::string_view bytes) override { whole_.append(bytes); }
  void finish() override {
    stage_->feed(oldest_first(kind_, whole_));
    whole_ = {};
    stage_->finish();
  }
  void emit_dialects(const std::vector<Interpreter::Switch>& recorded) override { stage_->emit_dialects(recorded); }
  void resume_recognition() override { stage_->resume_recognition(); }
  int64_t lines() const override { return stage_->lines(); }
  bool torn() const override { return stage_->torn(); }
  std::string last_text() const override { return stage_->last_text(); }
  Time last_at() override { return stage_->last_at(); }
  bool holds_trace() const override { return stage_->holds_trace(); }
  void end_trace() override { stage_->end_trace(); }
  void preview(EventSink& sink) const override { stage_->preview(sink); }

 private:
  FileKind kind_;
  std::unique_ptr<Stage> stage_;
  std::string whole_;
};

class SourceReader::Text : public SourceReader::Stage {
 public:
  Text(RunShared& shared, EventSink& sink, uint32_t source, Disk& disk, const FoundFile& file)
      : looks_first_(shared.read_once),
        zone_(shared.live && !shared.zone ? &disk : nullptr, file.path),
        interpreter_(shared.knowledge.pattern_index(), shared.recogniser, miner_, sink, source),
        log_(shared.knowledge.patterns(), interpreter_, sink, source) {
    if (shared.zone) interpreter_.set_zone(*shared.zone);
    interpreter_.set_date_hint(file.older.empty() ? first_date(disk, file.path, file.info.changed) : file.info.changed);
    interpreter_.choose_arm(&shared.arms);
    if (shared.keeper_nonce) interpreter_.trust_keeper(*shared.keeper_nonce);
    if (const auto now = shared.live ? disk.info(file.path) : Result<FileInfo>(file.info); now.ok()) {
      lines_before_ = now->lines_before;
    }
    if (lines_before_ > 0) log_.resume(0, static_cast<uint64_t>(lines_before_));
  }
  void feed(std::string_view bytes) override {
    if (std::exchange(looks_first_, false)) {
      interpreter_.expect(bytes);
      log_.expect(bytes);
    }
    if (const auto found = zone_.find(bytes)) interpreter_.set_zone(*found);
    log_.feed(bytes);
    last_clock_.keep(bytes);
  }
  void finish() override { log_.finish(); }
  void emit_dialects(const std::vector<Interpreter::Switch>& recorded) override {
    interpreter_.emit_dialects(recorded);
  }
  void resume_recognition() override { interpreter_.resume_recognition(); }
  int64_t lines() const override { return static_cast<int64_t>(log_.lines()) - lines_before_; }
  bool torn() const override { return log_.torn(); }
  std::string last_text() const override { return log_.last_text(); }
  Time last_at() override { return last_clock_.find(log_.last_text(), interpreter_); }
  bool holds_trace() const override { return interpreter_.holds_trace(); }
  void end_trace() override { log_.end_trace(); }
  uint64_t doubted_trace() const override { return interpreter_.doubted_trace(); }
  void writer_failed() override { interpreter_.writer_failed(); }
  void preview(EventSink& sink) const override { interpreter_.preview(sink); }

 protected:
  void read_cells() { interpreter_.read_cells(); }

 private:
  LastClock last_clock_;
  bool looks_first_;  // at what was read, before the first line
  ClockZone zone_;
  TemplateMiner miner_;  // as above
  Interpreter interpreter_;
  TextLog log_;
  int64_t lines_before_ = 0;  // of earlier runs
};

/// The output of a notebook's cells, once its document is whole: Jupyter writes all of it anew at each save.
class SourceReader::Notebook final : private NotebookPlaces, public SourceReader::Text {
 public:
  Notebook(SourceReader& reader, const FoundFile& file)
      : NotebookPlaces(reader.sink_),
        Text(reader.shared_, static_cast<NotebookPlaces&>(*this), reader.number_, reader.disk_, file),
        source_(reader) {
    read_cells();
  }
  void feed(std::string_view bytes) override {
    const auto fed = notebook_.feed(bytes, [this](std::string_view text) { take_output(text); });
    if (!fed.ok()) source_.problem("not-a-record", fed.error().what);
  }
  void finish() override {
    const auto whole = notebook_.finish([this](std::string_view text) { take_output(text); });
    if (!whole.ok()) source_.problem("torn-tail", whole.error().what);
    pass_first();
    Text::finish();
    put_ends(source_.number(), static_cast<uint64_t>(Text::lines()));
  }
  /// Up to the last output: what stands behind it in the file is source and settings, and nothing that the run said.
  int64_t lines() const override {
    const std::vector<uint32_t>& lines = notebook_.file_lines();
    return lines.empty() ? Text::lines() : lines.back();
  }

 private:
  /// The first outputs are read together: what one of them says of dates holds for the one before.
  void take_output(std::string_view text) {
    if (!keeps_first_) return Text::feed(text);
    first_.append(text);
    if (first_.size() >= kFirstOutputs) pass_first();
  }
  void pass_first() {
    keeps_first_ = false;
    if (!first_.empty()) Text::feed(first_);
    first_ = {};
  }

  static constexpr size_t kFirstOutputs = 64 << 10;  // bytes
  SourceReader& source_;
  std::string first_;
  bool keeps_first_ = true;
};

SourceReader::SourceReader(Disk& disk, const FoundFile& file, uint32_t number, RunShared& shared, EventSink& sink)
    : disk_(disk), file_(file), number_(number), shared_(shared), sink_(sink) {
  for (const std::string& older : file_.older) parts_.emplace_back(disk_, older);
  parts_.emplace_back(disk_, file_.path);
}

SourceReader::~SourceReader() = default;

void SourceReader::problem(std::string_view name, std::string_view detail) {
  Event event;
  event.where = {number_, 0};
  event.body = event::SourceProblem{std::string(name), clip(redact_secrets(detail), kTextLimit)};
  sink_.put(std::move(event));
}

void SourceReader::emit_dialects(std::vector<Interpreter::Switch> recorded) {
  emits_dialects_ = true;
  recorded_dialects_ = std::move(recorded);
}

void SourceReader::resume_recognition() {
  if (stage_ != nullptr) stage_->resume_recognition();
}

bool SourceReader::holds_trace() const { return stage_ != nullptr && stage_->holds_trace(); }

void SourceReader::end_trace() {
  if (holds_trace()) stage_->end_trace();
}

uint64_t SourceReader::doubted_trace() const { return stage_ == nullptr ? 0 : stage_->doubted_trace(); }

void SourceReader::writer_failed() {
  if (stage_ != nullptr) stage_->writer_failed();
}

void SourceReader::preview(EventSink& sink) const {
  if (stage_ != nullptr) stage_->preview(sink);
}

void SourceReader::open_as(FileKind kind) {
  kind_ = kind;
  kind_known_ = true;
  if (kind == FileKind::kText) {
    stage_ = std::make_unique<Text>(shared_, sink_, number_, disk_, file_);
  } else if (kind == FileKind::kNotebook && shared_.live) {  // each save would look like another start
    problem("not-followed", "Jupyter writes a notebook anew at each save; midwatch replay reads it");
  } else if (kind == FileKind::kNotebook) {
    stage_ = std::make_unique<Notebook>(*this, file_);
  } else if (auto decoder = make_decoder(kind, file_.path)) {
    const bool again = kind == FileKind::kJsonDocument && shared_.live;
    if (again && rows_ == nullptr) rows_ = std::make_unique<KnownRows>();
    if (again) rows_->begin_anew();
    stage_ =
        std::make_unique<Records>(kind, std::move(decoder), shared_, sink_, number_, again ? rows_.get() : nullptr);
  }
  if (stage_ != nullptr && emits_dialects_) stage_->emit_dialects(recorded_dialects_);
  speaks_ = stage_ != nullptr || kind == FileKind::kSqlite;
  if (!speaks_ || opened_) return;
  opened_ = true;
  Event event;
  event.where = {number_, 0};
  event.body = event::SourceOpened{number_,         file_.path,   std::string(kind_name(kind)),
                                   file_.info.size, fnv1a(head_), static_cast<int64_t>(head_.size())};
  sink_.put(std::move(event));
  head_closed_ = head_closed_ || head_.size() == kHeadBytes;
}

/// A finished file that runs from the newest record to the oldest is read from its end.
void SourceReader::open_turned(FileKind kind, std::string_view first) {
  open_as(kind);
  const bool whole = shared_.read_once && parts_.size() == 1 && plain_ == nullptr;
  if (stage_ == nullptr || !whole || !is_newest_first(kind, first)) return;
  if (file_.info.size > kMostTurned) {
    problem("newest-first",
            "it runs from the newest line to the oldest and is too long to be turned round: tac does it");
    return;
  }
  problem("newest-first",
          "it runs from the newest line to the oldest: it is read, and its lines are counted, from its end");
  stage_ = std::make_unique<Turned>(kind, std::move(stage_));
}

/// Plain bytes: kept until their kind is recognised, then handed on.
void SourceReader::take(std::string_view plain) {
  if (kind_known_) {
    if (stage_ != nullptr) stage_->feed(plain);
    return;
  }
  std::string_view first = plain;  // mostly the first piece shows the kind, and need not be kept
  if (!pending_.empty()) first = pending_.append(plain);
  if ((first.size() < kEnoughToSniff && first.find('\n') == std::string_view::npos) ||
      (first.size() < kSniffBytes && static_cast<int64_t>(read_) < file_.info.size)) {
    if (pending_.empty()) pending_ = plain;
    return;
  }
  const FileKind kind = sniff(first.substr(0, kSniffBytes), file_.path);
  if (first.size() < kSniffBytes && may_turn_out_a_log(kind, file_.path)) {
    if (pending_.empty()) pending_ = plain;
    return;
  }
  open_turned(kind, first);
  if (stage_ != nullptr) stage_->feed(first);
  pending_.clear();
  pending_.shrink_to_fit();
}

void SourceReader::close_stage(bool last) {
  Result<void> whole;
  if (plain_ != nullptr) whole = plain_->finish([this](std::string_view plain) { take(plain); });
  if (!kind_known_ && !pending_.empty()) {
    open_turned(sniff(pending_, file_.path), pending_);
    if (stage_ != nullptr) stage_->feed(pending_);
    pending_.clear();
  }
  if (!whole.ok() && speaks_) problem("torn-tail", whole.error().what);
  if (stage_ != nullptr) stage_->finish();
  if (!last && stage_ != nullptr) earlier_lines_ += stage_->lines();
}

/// The name belongs to new content. A rotated log goes on in it; of anything else what was begun is ended, and reading
/// starts over with a fresh stage.
void SourceReader::begin_anew(const Tail& tail) {
  const std::string& why = tail.why();
  const bool text = kind_known_ && kind_ == FileKind::kText;
  const bool copied = text && why != "rotated" && was_copied_away(tail);
  if (copied) read_copy(tail);
  if (text && (copied || (why == "rotated" && is_kept(tail)))) {
    head_closed_ = true;
    missed_parts_ = !copied;
    problem(why, cat(file_.path, " was rotated after ", read_, " bytes; it goes on in the new file"));
    return;
  }
  close_stage(false);
  const bool grows = kind_ == FileKind::kJsonDocument && rows_ != nullptr;  // its writer writes all of it each time
  if (opened_ && !grows)
    problem(why, cat(file_.path, " was ", why, " after ", read_, " bytes; reading its new content"));
  stage_.reset();
  recorded_dialects_.clear();
  plain_.reset();
  pending_.clear();
  kind_known_ = false;
  opened_ = opened_ && grows;
  read_ = 0;
  head_.clear();
  head_closed_ = false;
  file_.info.size = 0;
}

/// Keeps the first bytes of the first part. A file that was opened with fewer is known by more of them once they came.
void SourceReader::note_head() {
  if (head_closed_) return;
  head_.append(piece_, 0, kHeadBytes - head_.size());
  if (!opened_) return;
  head_closed_ = head_.size() == kHeadBytes;
  if (!emits_dialects_) return;
  Event event;
  event.where = {number_, 0};
  event.body = event::SourceHead{fnv1a(head_), static_cast<int64_t>(head_.size())};
  sink_.put(std::move(event));
}

Result<size_t> SourceReader::poll_sqlite() {
  Relay relay(FileKind::kSqlite, shared_, sink_, number_);
  const auto done = read_sqlite(file_.path, relay, since_);
  if (!done.ok()) return done.error();
  relay.finish();
  earlier_lines_ += relay.count();
  return static_cast<size_t>(relay.count());
}

Result<size_t> SourceReader::poll_part(Tail& tail, size_t budget) {
  size_t done = 0;
  while (done < budget) {
    // A buffer is filled with zeros first: records need no long one.
    const size_t most = looked_like_ == FileKind::kText ? kPiece : kPiece / 4;
    const auto news = tail.read(std::min(budget - done, most), piece_);
    if (!news.ok()) return news.error();
    if (*news == Tail::News::kBeganAnew) {
      part_over_ = &tail != &parts_.back();  // a rotated part is at its end, whoever has its name now
      if (part_over_) break;
      begin_anew(tail);
      if (missed_parts_) return std::max<size_t>(done, 1);
      continue;
    }
    if (*news != Tail::News::kBytes) break;
    done += piece_.size();
    read_ += piece_.size();
    note_head();
    open_plain(tail);
    if (plain_ != nullptr) {
      const auto fed = plain_->feed(piece_, [this](std::string_view plain) { take(plain); });
      if (!fed.ok()) problem("not-a-record", fed.error().what);
    } else if (kind_ != FileKind::kSqlite) {
      take(piece_);
    }
    if (kind_known_ && !speaks_) break;  // nothing that we read: no need to go through all of it
  }
  return done;
}

Result<void> SourceReader::open_parts() {
  for (Tail& part : parts_) {
    const auto opened = part.read(0, piece_);
    if (!opened.ok()) return opened.error();
  }
  return {};
}

bool SourceReader::skip_part() {
  if (parts_.size() < 2) return false;
  problem("unreadable", cat(parts_.front().path(), " cannot be read; reading goes on after it"));
  parts_.pop_front();
  return true;
}

Result<size_t> SourceReader::poll(size_t budget) {
  size_t done = 0;
  while (parts_.size() > 1) {
    const auto got = poll_part(parts_.front(), budget);
    if (!got.ok()) return got.error();
    if (*got > 0 && !part_over_) return *got;
    part_over_ = false;
    head_closed_ = true;
    note_read(parts_.front().identity());
    parts_.pop_front();
    if (*got > 0) return *got;
  }
  if (missed_parts_) {  // what was rotated away before it was seen comes first
    const auto opened = parts_.back().read(0, piece_);
    if (!opened.ok()) return opened.error();
    if (*opened == Tail::News::kGone) return size_t{0};
    missed_parts_ = false;
    find_missed_parts(parts_.back());
    return size_t{1};
  }
  const auto got = poll_part(parts_.back(), budget);
  if (!got.ok()) return got.error();
  done = *got;
  if (kind_ == FileKind::kSqlite && done > 0) {
    const auto rows = poll_sqlite();
    const bool foreign = !rows.ok() && rows.error().code == Error::Code::kUnsupported;
    if (!rows.ok()) problem(foreign ? "foreign" : "unreadable", rows.error().what);
  }
  return done;
}

void SourceReader::finish() {
  if (finished_) return;
  finished_ = true;
  close_stage(true);
  if (!opened_) return;
  // Not in a live watch: its database is still being written.
  if (kind_ == FileKind::kSqlite && !emits_dialects_ && bytes() <= kCheckedBytes) {
    if (const std::string found = sqlite_damage(file_.path); !found.empty()) problem("damaged", found);
  }
  Event event;
  event.where = {number_, static_cast<uint64_t>(lines())};
  event::SourceEnded ended;
  ended.bytes = bytes();
  ended.lines = lines();
  if (stage_ != nullptr) {
    ended.torn = stage_->torn();
    ended.last_text = clip(redact_secrets(stage_->last_text()), kTextLimit);
    event.at = stage_->last_at();
  }
  event.body = std::move(ended);
  sink_.put(std::move(event));
}

Result<bool> SourceReader::begins_like(uint64_t head_hash, int64_t head_bytes) {
  return mw::begins_like(disk_, parts_.front().path(), head_hash, head_bytes);
}

int64_t SourceReader::unread() {
  int64_t bytes = 0;
  for (const Tail& part : parts_) {
    const auto info = disk_.info(part.path());
    if (info.ok()) bytes += std::max<int64_t>(0, info->size - static_cast<int64_t>(part.offset()));
  }
  return bytes;
}

std::string SourceReader::last_text() const { return stage_ != nullptr ? stage_->last_text() : ""; }

int64_t SourceReader::lines() const { return earlier_lines_ + (stage_ != nullptr ? stage_->lines() : 0); }

}  // namespace mw
