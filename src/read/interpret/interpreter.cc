#include "read/interpret/interpreter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <iterator>

#include "base/numbers.h"
#include "base/text.h"
#include "read/interpret/interpreter_code.h"
#include "read/interpret/interpreter_fields.h"
#include "read/interpret/interpreter_stream.h"
#include "read/lines/sample_text.h"

namespace mw {
namespace {

constexpr std::string_view kIgnored = "Exception ignored in";        // as the interpreter says of __del__ and atexit
constexpr std::string_view kHelperLog = "[wandb_setup.py:_flush()";  // how W&B begins its debug.log
constexpr uint64_t kHelperLines = 3;                                 // in which it does so
constexpr uint64_t kIgnoredLines = 3;                                // within which its traceback begins
constexpr size_t kPendingMatches = 32;                               // signature matches inside one traceback
constexpr uint64_t kOwnWordLines = 20'000;  // in which a recognised trainer has printed a record of its own
constexpr uint64_t kEmittedSingly = 32;     // matches of a signature that are emitted singly; then at doubling counts
constexpr std::string_view kKeeperDialect = "midwatch";

bool power_of_two(uint64_t n) { return n != 0 && (n & (n - 1)) == 0; }

/// Whether the match of a signature that is its `times`th is emitted; it is counted in any case.
bool is_emitted(uint64_t times) { return times <= kEmittedSingly || power_of_two(times); }

// A program's own print of an error that it goes on after, without a level: "Error processing sample: …".
bool says_error(const LogLine& line) {
  std::string_view text = line.text;
  // "[AgentLoop] task_id=7 rollout failed: RuntimeError('shop env error')": what was raised, printed as it stands.
  if (line.rare.may_hold('(') && contains(text, "Error(") && contains(text, " failed: ")) return true;
  constexpr std::array<std::string_view, 6> kBegins = {"Error ",  "Error: ",    "ERROR ",
                                                       "ERROR: ", "Exception ", "Failed to "};
  // "[reward_fn] error idx=3: Client error '422 …": behind the name of the part that speaks, in small letters as well.
  constexpr size_t kName = 40;
  const size_t name = text.starts_with('[') ? text.substr(0, kName).find("] ") : std::string_view::npos;
  if (name != std::string_view::npos) text.remove_prefix(name + 2);
  if (name != std::string_view::npos || !line.logger.empty()) {
    if (text.starts_with("error ") || text.starts_with("error: ") || text.starts_with("failed to ")) return true;
  }
  // Most lines begin with none of the words' first letters.
  if (text.empty() || std::string_view("EFGHPRr").find(text.front()) == std::string_view::npos) return false;
  const auto begins = [text](std::string_view begin) { return begin[0] == text[0] && text.starts_with(begin); };
  // "POST http://10.0.0.2:6000/score failed: 503 Service Unavailable": a client's own print of a call.
  constexpr std::array<std::string_view, 5> kCalls = {"POST http", "GET http", "Request to http", "request to http",
                                                      "HTTP request to http"};
  const bool call = std::any_of(kCalls.begin(), kCalls.end(), begins) && contains(text, "fail");
  return call || std::any_of(kBegins.begin(), kBegins.end(), begins);
}

bool warns(const LogLine& line) { return line.rare.may_hold('W') && contains(line.text, "Warning: "); }

}  // namespace

Interpreter::Interpreter(const PatternIndex& pattern_index, Recogniser& recogniser, TemplateMiner& miner,
                         EventSink& sink, uint32_t source)
    : index_(pattern_index),
      recogniser_(recogniser),
      miner_(miner),
      sink_(sink),
      source_(source),
      records_(*pattern_index.book, sink),
      answers_(pattern_index.book->rule_sets()),
      generic_(*pattern_index.book) {
  clean_.know(pattern_index.known);
}

Interpreter::~Interpreter() = default;

bool Interpreter::trainer_known() const {
  return speaker_ && index_.book->dialects()[*speaker_].family == Dialect::Family::kTrainer;
}

bool Interpreter::wants_all_lines() const {
  if (!trainer_known() || of_cells_) return true;  // of a notebook each training has a table of its own
  // A loop of one's own over a known library (or a fork with a printer of its own) names it, but speaks differently.
  return !own_record_ && (own_loop_ || number_ < kOwnWordLines);
}

void Interpreter::emit_dialects(std::vector<Switch> recorded) {
  emits_dialects_ = true;
  following_ = !recorded.empty();
  recorded_dialects_ = std::move(recorded);
}

void Interpreter::speak_as(std::optional<size_t> dialect) {
  speaker_ = dialect;
  records_.set_speaker(speaker_);
}

void Interpreter::follow_speaker() {
  if (following_) {
    for (; recorded_next_ < recorded_dialects_.size() && recorded_dialects_[recorded_next_].line <= number_;
         ++recorded_next_) {
      speak_as(index_.book->find(recorded_dialects_[recorded_next_].dialect));
    }
    return;
  }
  if (recognised_version_ == recogniser_.version()) return;
  recognised_version_ = recogniser_.version();
  const Recogniser::Answer answer = recogniser_.answer();
  if (answer.dialect == speaker_) return;
  speak_as(answer.dialect);
  if (emits_dialects_) put(event::ReadAs{speaker_ ? index_.book->dialects()[*speaker_].id : ""}, number_, {});
}

/// The next line, while something is open that it may belong to; it is then asked again.
size_t Interpreter::wanted() const { return code_ != nullptr || wanted_as_record() || heeds_starts() ? 1 : 0; }

/// By more than the code that a tool ran, which is read for a name alone.
bool Interpreter::wanted_as_record() const {
  constexpr uint64_t kFollowed = 100;  // lines behind a program's traceback, which show whether the log ends with it
  const bool followed = last_temporary_ && number_ <= last_temporary_->trace.last_line + kFollowed;
  const bool open = pending_.kind != Pending::Kind::kNone || sample_lines_ > 0 || open_traces_ > 0 || followed;
  return open || wants_all_lines() || number_ < kExcerptLines;
}

/// Nothing but signs of the framework, on a line that is no warning.
bool Interpreter::says_nothing(const LogLine& line, std::span<const uint32_t> hits) const {
  if (line.level >= Level::kWarning || (line.level == Level::kNone && warns(line))) return false;
  return std::all_of(hits.begin(), hits.end(), [this](uint32_t id) {
    if (id < index_.dialect_first || id - index_.dialect_first >= index_.book->pattern_count()) return false;
    const DialectBook::Target& target = index_.book->target(id - index_.dialect_first);
    return target.kind == DialectBook::Target::Kind::kSign;
  });
}

size_t Interpreter::line(std::string_view raw, uint64_t number, std::span<const uint32_t> hits, Time at) {
  // What midwatch run printed below the command's output repeats and quotes what is above it.
  if (own_report_ && !raw.starts_with(kOwnLine)) return 0;
  own_report_ = false;
  if (code_ != nullptr) {
    const bool only_code = hits.empty() && !wanted_as_record();
    read_code(raw, number);
    if (only_code) return wanted();
  }
  number_ = number;
  if (open_traces_ > 0 && number >= stale_check_) end_stale_traces();
  struct Done {  // nothing may be taken for a part of a line that is gone
    CleanLine& line;
    ~Done() { line.read({}); }
  } done{clean_};
  if (raw.find('\r') == std::string_view::npos) {
    segment(raw, hits, at);
    return wanted();
  }
  // A failure is one of the part that shows it, not of the bar before.
  const bool fails = index_.patterns != nullptr && std::any_of(hits.begin(), hits.end(), [this](uint32_t id) {
                       return id >= index_.signature_first && id - index_.signature_first < index_.signatures.size();
                     });
  while (!raw.empty()) {  // a progress bar's states, and what was printed between them
    const size_t end = raw.find('\r');
    const std::string_view piece = raw.substr(0, end);
    if (fails) index_.patterns->match_line(piece, piece_hits_);
    if (!trim(piece).empty()) segment(piece, fails ? std::span<const uint32_t>(piece_hits_) : hits, at);
    if (end == std::string_view::npos) break;
    raw.remove_prefix(end + 1);
  }
  return wanted();
}

size_t Interpreter::segment(std::string_view raw, std::span<const uint32_t> hits, Time at) {
  LogLine line = reader_.read(raw, number_);
  if (at.known()) line.at = at;
  if (!at.known()) note_clock(line.at);
  if (arms_.chooses() && !of_wanted_arm(line.text)) return 0;
  clean_.read(line.whole);
  for (const uint32_t id : hits) {
    if (id < index_.dialect_first || id - index_.dialect_first >= index_.book->pattern_count()) continue;
    const DialectBook::Target& target = index_.book->target(id - index_.dialect_first);
    if (target.kind == DialectBook::Target::Kind::kSign) recogniser_.sign(target.dialect, target.index);
  }
  follow_speaker();
  if (line.text.starts_with("+ ")) configure_by_command(line);
  if (!wanted_as_record() && says_nothing(line, hits)) {
    heed_first_lines(line);
    return 0;
  }
  if (pending_.kind != Pending::Kind::kNone && pending_takes(line)) return 0;
  bar_before_text(line, hits);
  // What W&B's own log says of W&B is nothing that happened to the run.
  helper_log_ = helper_log_ || (line.number <= kHelperLines && contains(line.text, kHelperLog));
  const bool opens = opens_sample(line, hits);
  const bool sample = sample_state(line) || opens || helper_log_ || holds_sample_text(line.text, line.rare);
  Stream* trace = nullptr;
  if (line.text.starts_with(kIgnored)) ignored_until_ = line.number + kIgnoredLines;
  Stream::feed_crash_text(*this, line, sample);
  const bool folded = !opens && feed_folded_trace(line, sample);
  const bool in_trace = folded || (!opens && feed_trace(line, sample));
  if (!in_trace && open_traces_ > 0 && !trim(line.text).empty()) end_whole_traces(line);
  note_last_exception(line, in_trace || sample);
  if (in_trace) {
    first_lines_.went_on();
    if (banner_.reads()) banner_.read(line.text, line.number, line.at);  // it says how the start ended
  }
  if (!in_trace && !sample) heed_first_lines(line);
  if (in_trace && !folded) trace = streams_[line.pid * 4096 + line.rank].get();
  bool quiet = false;
  const bool shaped = (!in_trace || sample_lines_ > 0) && shapes(line, hits, sample, &quiet);  // a sample may end
  const bool source = trace != nullptr && trace->reader.open() && trace->reader.took_source();
  if (!quiet && !source) signatures(line, hits, sample || sample_began_, trace);
  if (shaped && record_made_) went_on(line);
  if (in_trace || shaped || quiet || sample) return 0;
  if (wants_all_lines() && make_generic(line)) {
    went_on(line);
    return 0;
  }
  log_message(line);
  return 0;
}

/// What the clock of the lines does not say; and, of the first line that has one, when it was written: the line may
/// hold nothing else that counts.
void Interpreter::note_clock(Time at) {
  const bool first = !dated_ && at.known();
  if (!first && reader_.lacks_zone() == lacks_.zone && reader_.lacks_date() == lacks_.date) return;
  dated_ = dated_ || first;
  lacks_ = {reader_.lacks_zone(), reader_.lacks_date()};
  put(lacks_, number_, first ? at : Time{});
}

/// What a person tries at the prompt of a debugger is no doing of the run.
bool Interpreter::is_typed(std::string_view text) {
  return text.starts_with("(Pdb) ") || text.starts_with("ipdb> ") || text.starts_with("(Pdb++) ");
}

/// Where what was printed behind a bar that ended without a new line begins: a traceback, a dict, or a record that says
/// its step.
size_t Interpreter::behind_bar(const LogLine& line) {
  constexpr auto kNone = std::string_view::npos;
  if (!line.rare.may_hold('%')) return kNone;
  const size_t bar = line.text.find("%|");
  if (bar == kNone) return kNone;
  if (const size_t trace = line.text.find("Traceback (most recent call last)", bar); trace != kNone) return trace;
  const size_t times = line.text.find('[', bar), end = line.text.find(']', bar);
  if (times == kNone || end == kNone || end < times || line.text.find("%|", end) != kNone) return kNone;
  const std::string_view rest = trim(line.text.substr(end + 1));
  const bool word = !rest.empty() && std::isalpha(static_cast<unsigned char>(rest.front())) != 0;
  const auto at = static_cast<size_t>(rest.data() - line.text.data());
  if (rest.starts_with("{'") || rest.starts_with("{\"")) return at;
  return word && generic_.says_its_step(rest) ? at : kNone;
}

/// Of a bar that has other text on its line: the bar says how far the run had come. `line` becomes that text, but for a
/// dict, of which the bar shows whether it was only drawn again.
void Interpreter::bar_before_text(LogLine& line, std::span<const uint32_t> hits) {
  const size_t rest = behind_bar(line);
  if (rest == std::string_view::npos) return;
  LogLine bar = line;
  bar.text = line.text.substr(0, rest);
  if (line.text[rest] != '{') line.text.remove_prefix(rest);
  bool quiet = false;
  (void)shapes(bar, hits, false, &quiet);
}

void Interpreter::signatures(const LogLine& line, std::span<const uint32_t> hits, bool sample, Stream* trace) {
  if (index_.knowledge == nullptr || is_typed(line.text)) return;
  std::vector<SignatureHit> found;
  std::vector<uint32_t> matches;
  for (const uint32_t id : hits) {
    if (id < index_.signature_first || id - index_.signature_first >= index_.signatures.size()) continue;
    matches.push_back(id - index_.signature_first);
    if (index_.failures != nullptr) continue;
    const SignaturePattern& pattern = index_.signatures[matches.back()];
    const auto same =
        std::find_if(found.begin(), found.end(), [&](const auto& f) { return f.signature == pattern.signature; });
    if (same == found.end()) {
      found.push_back({pattern.signature, pattern.weak});
    } else {
      same->weak = same->weak && pattern.weak;
    }
  }
  if (matches.empty()) return;
  if (index_.failures != nullptr) index_.failures->resolve(line.whole, matches, found);
  for (const auto& [signature, weak] : found) {
    const bool strong = !weak;
    const std::string& layer = index_.knowledge->signatures[signature].layer;
    if (strong && !sample) {
      strong_[layer] = line.number;
    } else if (!strong) {
      const auto near = strong_.find(layer);
      if (near == strong_.end() || line.number - near->second > kWeakReach) continue;
    }
    if (trace != nullptr && trace->matches.size() < kPendingMatches) {
      trace->matches.push_back(
          {signature, clean_.cut(line.text, kTextLimit), line.number, line.repeated, sample, line.at});
    } else {
      const auto known = sightings_.find(signature * 2 + (sample ? 1 : 0));
      const bool kept = known == sightings_.end() || is_emitted(known->second.times + 1);
      const std::string text = kept ? clean_.cut(line.text, kTextLimit) : std::string();
      matched(signature, text, line.number, line.repeated, sample, line.at);
    }
  }
}

/// `text` holds no secret; it is not looked at where the match is only counted.
void Interpreter::matched(uint32_t signature, const std::string& text, uint64_t number, uint64_t count, bool sample,
                          Time at) {
  Sighting& sighting = sightings_[signature * 2 + (sample ? 1 : 0)];
  sighting.seen += count;
  sighting.number = number;
  if (!is_emitted(++sighting.times)) return;
  event::Matched body;
  body.signature = index_.knowledge->signatures[signature].id;
  body.text = text;
  body.count = sighting.seen - sighting.emitted;
  body.sample = sample;
  sighting.emitted = sighting.seen;
  put(std::move(body), number, at);
}

// Warnings and errors by template, at first sight and at doubling counts; the rest when the log ends.
void Interpreter::log_message(const LogLine& line) {
  Message now;
  switch (line.level) {
    case Level::kWarning:
      now.level = event::Logged::Level::kWarning;
      break;
    case Level::kError:
      now.level = event::Logged::Level::kError;
      break;
    case Level::kCritical:
      now.level = event::Logged::Level::kFatal;
      break;
    case Level::kNone:
      if (says_error(line)) {
        now.level = event::Logged::Level::kError;
        break;
      }
      if (warns(line)) break;
      return;
    case Level::kDebug:
    case Level::kInfo:
      return;
  }
  if (line.text.empty()) return;
  const uint32_t pattern = template_of(line.text);
  Message& known = messages_[pattern];
  known = {known.seen + line.repeated, known.emitted, now.level, line.number, line.at};
  if (std::bit_floor(known.seen) > known.emitted) emit_message(pattern, known);  // at doubling counts
}

/// Most warnings come again and again, word for word: of one that is known neither secrets nor its template are sought.
uint32_t Interpreter::template_of(std::string_view text) {
  constexpr size_t kPlaces = 512;
  if (said_.empty()) said_.resize(kPlaces);
  const uint64_t hash = name_hash(text, 1);
  Said& known = said_[hash % kPlaces];
  if (known.hash != hash || known.version != miner_.version()) {
    const uint32_t pattern = miner_.add(clean_.cut(text, kTextLimit));
    known = {hash, miner_.version(), pattern};
  }
  return known.pattern;
}

void Interpreter::emit_message(uint32_t pattern, Message& message) {
  event::Logged body;
  body.level = message.level;
  body.pattern = pattern;
  body.text = clip(sanitize_utf8(miner_.text(pattern)), kTextLimit);
  body.count = message.emitted = message.seen;
  put(std::move(body), message.number, message.at);
}

bool Interpreter::shapes(const LogLine& line, std::span<const uint32_t> hits, bool sample, bool* quiet) {
  // The recognised trainer has the first word, layers the last; a line is one record and one bar at most.
  bar_made_ = record_made_ = sample_began_ = false;
  const bool own = speaker_ && shapes_of(line, hits, sample, Turn::kSpeaker, quiet);
  own_record_ = own_record_ || (own && record_made_);
  const bool others = shapes_of(line, hits, sample, Turn::kOthers, quiet);
  const bool layers = shapes_of(line, hits, sample, Turn::kLayers, quiet);
  return own || others || (layers && !bar_made_);  // a bar may carry an unknown trainer's values
}

/// False for a line that only looks like one of midwatch's keeper: whoever prints one changes nothing by it.
bool Interpreter::is_keepers(size_t dialect, std::string_view text) {
  if (index_.book->dialects()[dialect].id != kKeeperDialect) return true;
  if (text.starts_with(kOwnReport)) return own_report_ = attempt_over_;
  // "=== midwatch: attempt 2 began 2026-01-02T10:20:30Z (0123abcd), process 4711 ==="
  std::string_view nonce = text.substr(0, text.find(','));
  const size_t open = nonce.rfind('(');
  nonce = open != std::string_view::npos && nonce.ends_with(')') ? nonce.substr(open + 1, nonce.size() - open - 2) : "";
  if (!keeper_) keeper_ = std::string(nonce);
  if (*keeper_ != nonce) return false;
  attempt_over_ = contains(text, " ended ");
  if (attempt_over_) records_.attempt_over();
  return true;
}

bool Interpreter::speaks_now(size_t dialect, const Shape& shape, bool sample, Turn turn) const {
  const bool layer = index_.book->dialects()[dialect].family == Dialect::Family::kLayer;
  const bool own = speaker_ && index_.book->counts(speaker_, dialect);
  if (turn != (own ? Turn::kSpeaker : layer ? Turn::kLayers : Turn::kOthers)) return false;
  if (shape.only && speaker_ && !own) return false;
  const bool record = shape.make == Maker::kMetrics || shape.make == Maker::kReadings || shape.make == Maker::kTable;
  if ((record && record_made_) || (shape.make == Maker::kProgress && (bar_made_ || record_made_))) return false;
  // What a trainer says of an answer's format often quotes the answer.
  const bool begins = shape.make == Maker::kSampleBegin && sample_lines_ == 0;  // its first line is part of it
  return !sample || begins || shape.make == Maker::kSampleEnd || shape.make == Maker::kFormat ||
         shape.make == Maker::kScores;
}

bool Interpreter::shapes_of(const LogLine& line, std::span<const uint32_t> hits, bool sample, Turn turn, bool* quiet) {
  size_t last_dialect = SIZE_MAX;
  bool any = false;
  for (const uint32_t id : hits) {
    if (id < index_.dialect_first || id - index_.dialect_first >= index_.book->pattern_count()) continue;
    const DialectBook::Target& target = index_.book->target(id - index_.dialect_first);
    if (target.kind != DialectBook::Target::Kind::kShape || target.dialect == last_dialect) continue;
    const Shape& shape = index_.book->dialects()[target.dialect].shapes[target.index];
    if (!speaks_now(target.dialect, shape, sample, turn)) continue;
    const std::string_view text = shape.on_line ? line.whole : line.text;
    const Regex* regex = index_.book->shape_regex(target.dialect, target.index);
    size_t end = text.size();
    captures_.clear();
    if (regex != nullptr) {
      if (!regex->match(text, captures_, &end)) continue;
    } else if (std::none_of(shape.literals.begin(), shape.literals.end(),
                            [&](const std::string& literal) { return contains(line.whole, literal); })) {
      continue;
    }
    if (!is_keepers(target.dialect, text)) continue;
    last_dialect = target.dialect;
    // What any script may announce says nothing against what else its line holds.
    any = any || turn != Turn::kLayers || (shape.make != Maker::kPhaseBegin && shape.make != Maker::kCounter);
    bar_made_ = bar_made_ || shape.make == Maker::kProgress;
    record_made_ =
        record_made_ || shape.make == Maker::kMetrics || shape.make == Maker::kReadings || shape.make == Maker::kTable;
    *quiet = *quiet || shape.make == Maker::kQuiet;
    make(target.dialect, shape, Fields(shape, regex, captures_), line, text, regex != nullptr ? end : 0);
  }
  return any;
}

void Interpreter::finish() {
  arms_.finish();
  code_done();
  if (pending_.kind != Pending::Kind::kNone) pending_done();
  for (auto& [key, stream] : streams_) end_trace(*stream, true);
  if (fileless_ends_the_log()) emit_temporary_program(true);
  if (of_cells_ && last_temporary_ && last_temporary_->cell) emit_temporary_program(false);
  const bool own = last_temporary_ && last_temporary_->program && temporary_outlived_ < kToolsPrograms;
  if (number_ <= kExcerptLines || own) emit_temporary_program(false);
  if (number_ <= kExcerptLines) emit_last_exception();
  if (answer_rows_.enough_to_end()) record_answers(number_, {});
  records_.finish();
  if (arms_.is_over()) put(event::Ended{event::Ended::How::kComplete, 0, ""}, number_, {});
  for (const auto& [key, sighting] : sightings_) {
    if (sighting.seen == sighting.emitted) continue;
    event::Matched body{index_.knowledge->signatures[key / 2].id, {}, sighting.seen - sighting.emitted, key % 2 == 1};
    put(std::move(body), sighting.number, {});  // of many; when is known of those that were emitted
  }
  for (auto& [pattern, message] : messages_) {
    if (message.seen != message.emitted) emit_message(pattern, message);
  }
  emit_answers();
}

}  // namespace mw
