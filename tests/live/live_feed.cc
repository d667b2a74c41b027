#include "tests/live/live_feed.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "app/attach.h"
#include "base/numbers.h"
#include "base/text.h"
#include "core/supervise/breaker.h"
#include "platform/clock.h"
#include "platform/fake/fake_disk.h"
#include "read/run_reader.h"
#include "sim/doors.h"

namespace mw::live {
namespace {

constexpr double kStepSeconds = 30;       // of a log without a clock: what a step of a small run takes
constexpr double kLongestGap = 4 * 3600;  // between two lines; a log that a later attempt goes on with may lie for days
constexpr double kAfterwards = 1200;      // the watch stays so long after the last line, less than any stall takes
constexpr size_t kPieces = 2500;  // a file is fed in about so many pieces at most, as judging a long run is dear
constexpr size_t kTripsKept = 20;
constexpr Time kToday{1'796'083'200'000'000'000};  // 2026-12-01: a date without a year lies in the year before it

struct Piece {
  double at = 0;  // seconds from the start
  size_t file = 0;
  size_t begin = 0, end = 0;  // bytes of the file's text
  uint64_t line = 0;          // its first line, from 1
};

/// When which line was written, as far as the records of a replay show it: (line, seconds), by line.
using Anchors = std::vector<std::pair<uint64_t, double>>;

/// Seconds of a record where nothing has a clock: the steps that were logged come at an even pace, whatever their
/// numbers.
double evenly(const Point& point, std::map<std::pair<uint16_t, int64_t>, double>& seconds) {
  const auto [known, fresh] = seconds.try_emplace({point.attempt, point.step}, 0.0);
  if (fresh) known->second = kStepSeconds * static_cast<double>(seconds.size());
  return known->second;
}

Anchors anchors_of(const State& state, uint32_t source) {
  std::vector<const Point*> points;
  for (const Series& series : state.series) {
    if (series.source != source) continue;
    for (const Point& point : series.points()) {
      if (point.where.line != 0) points.push_back(&point);
    }
  }
  std::sort(points.begin(), points.end(), [](auto* a, auto* b) { return a->where.line < b->where.line; });
  const auto is_timed = [&](const Point* point) { return point->at.known() && state.first_at.known(); };
  const auto timed_end = std::find_if(points.rbegin(), points.rend(), is_timed).base();
  Anchors all;
  std::map<std::pair<uint16_t, int64_t>, double> seconds;
  double latest = 0, shift = 0;  // a clock that goes back, or a counter, goes on in time
  for (auto it = points.begin(); it != points.end(); ++it) {
    const Point* point = *it;
    if (!all.empty() && all.back().first == point->where.line) continue;
    if (it < timed_end && !is_timed(point)) continue;  // between two lines with a clock
    double at = shift + (it < timed_end ? (point->at - state.first_at).seconds() : evenly(*point, seconds));
    if (at < latest || at > latest + kLongestGap) {
      const double right = at < latest ? latest : latest + kLongestGap;
      shift += right - at;
      at = right;
    }
    latest = at;
    all.emplace_back(point->where.line, at);
  }
  return all;
}

double time_of(const Anchors& anchors, uint64_t line, uint64_t lines) {
  if (anchors.empty()) return 0.2 * static_cast<double>(line);
  const auto next = std::lower_bound(anchors.begin(), anchors.end(), std::make_pair(line, -1.0));
  if (next == anchors.end()) {  // what is said after the last record comes within a minute
    const double left = static_cast<double>(std::max<uint64_t>(1, lines - std::min(lines, anchors.back().first)));
    return anchors.back().second + 60 * static_cast<double>(line - anchors.back().first) / left;
  }
  const auto before = next == anchors.begin() ? std::make_pair<uint64_t, double>(0, 0.0) : *std::prev(next);
  const double share = static_cast<double>(line - before.first) / static_cast<double>(next->first - before.first);
  return before.second + share * (next->second - before.second);
}

std::vector<Piece> pieces_of(const std::vector<Fed>& files, const State& state) {
  std::vector<Piece> all;
  for (size_t f = 0; f < files.size(); ++f) {
    const std::string& text = files[f].text;
    const auto lines = static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
    const size_t at_once = std::max<size_t>(1, lines / kPieces);
    Anchors anchors;
    for (uint32_t s = 0; s < state.sources.size(); ++s) {
      if (state.sources[s].path == files[f].path) anchors = anchors_of(state, s);
    }
    uint64_t line = 1;
    for (size_t begin = 0; begin < text.size();) {
      size_t end = begin;
      uint64_t took = 0;
      for (; took < at_once && end < text.size(); ++took) end = std::min(text.size(), text.find('\n', end)) + 1;
      end = std::min(end, text.size());
      const bool timed = line - 1 < files[f].seconds.size();
      all.push_back({timed ? files[f].seconds[line - 1] : time_of(anchors, line, lines), f, begin, end, line});
      begin = end;
      line += took;
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Piece& a, const Piece& b) { return a.at < b.at; });
  return all;
}

/// The machine's time at which the run began, so that the clocks of its files are right where they have one.
Time start_of(const std::vector<Fed>& files, const State& state) {
  if (!state.first_at.known()) return kToday;
  Time start = state.first_at;
  const Point* first = nullptr;
  for (const Series& series : state.series) {
    for (const Point& point : series.points()) {
      if (point.at.known() && point.where.line > 0 && (first == nullptr || point.at < first->at)) first = &point;
    }
  }
  if (first == nullptr || first->where.source >= state.sources.size()) return start;
  for (const Fed& file : files) {
    if (file.path != state.sources[first->where.source].path || first->where.line > file.seconds.size()) continue;
    start = first->at + Duration::seconds(-file.seconds[first->where.line - 1]);
  }
  return start;
}

Seen seen_of(const Incident& incident, int64_t step) {
  return {incident.kind,
          incident.onset.step,
          step,
          incident.onset.where.line,
          0,
          incident.summary,
          incident.causes.empty() ? "" : incident.causes.front().id};
}

/// Looks at the state whenever the watch has read what there was.
class Inspector final : public Task {
 public:
  Inspector(Verdict& verdict, const uint64_t& line) : verdict_(verdict), line_(line) {}
  std::optional<Duration> turn(const State& state, bool, EventWriter&) override {
    const int64_t step = state.attempts.empty() ? kNoStep : state.attempts.back().last_step;
    for (const Incident& incident : state.incidents) {
      if (incident.severity != Severity::kCritical || !known_.insert(name(incident)).second) continue;
      verdict_.live.push_back(seen_of(incident, step));
      verdict_.live.back().fed_line = line_;
    }
    const BreakCase trip = breaker(state);
    const bool fresh = trip.incident != nullptr && tripped_.insert(trip.incident->kind).second;
    if (fresh && verdict_.trips.size() < kTripsKept) {
      verdict_.trips.push_back(seen_of(*trip.incident, step));
      verdict_.trips.back().fed_line = line_;
      verdict_.trips.back().cause = std::string(break_reason_name(trip.why));
    }
    return Duration::seconds(10);
  }

 private:
  static std::string name(const Incident& incident) {
    return cat(incident.kind, "/", incident.onset.attempt, "/", incident.onset.step);
  }
  Verdict& verdict_;
  const uint64_t& line_;
  std::set<std::string> known_, tripped_;
};

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Puts the files on the disk as a replay finds them, and judges them as a whole.
State replayed(const std::vector<Fed>& files, const KnowledgeBase& knowledge) {
  FakeDisk disk;
  disk.set_time(kToday);  // it gives the year of dates that have none
  for (const Fed& file : files) disk.put(file.path, file.text);
  RunReader reader(disk, knowledge, Judge::kAtClose, nullptr, {});
  std::vector<std::string> paths;
  for (const Fed& file : files) paths.push_back(file.path);
  if (!reader.open(paths, "").ok()) return {};
  reader.read_all({});
  reader.close({});
  return std::move(reader.state());
}

bool agrees(const Seen& a, const Seen& b) {
  if (a.kind != b.kind) return false;
  if (a.onset == kNoStep || b.onset == kNoStep) return true;
  const double slack = std::max(5.0, 0.05 * static_cast<double>(std::max(a.onset, b.onset)));
  return std::fabs(static_cast<double>(a.onset - b.onset)) <= slack;
}

}  // namespace

bool in_replay(const Verdict& verdict, const Seen& seen) {
  return std::any_of(verdict.replay.begin(), verdict.replay.end(), [&](const Seen& one) { return agrees(one, seen); });
}

const Seen* live_of(const Verdict& verdict, const Seen& seen) {
  const auto found =
      std::find_if(verdict.live.begin(), verdict.live.end(), [&](const Seen& one) { return agrees(one, seen); });
  return found == verdict.live.end() ? nullptr : &*found;
}

Verdict feed(std::vector<Fed> files, const KnowledgeBase& knowledge) {
  for (size_t i = 0; i < files.size(); ++i) files[i].path = cat("/run/", i, "-", base_name(files[i].path));
  Verdict verdict;
  const State whole = replayed(files, knowledge);
  for (const Incident& incident : whole.incidents) {
    if (incident.severity == Severity::kCritical) {
      verdict.replay.push_back(seen_of(incident, incident.detected.step));
    }
  }
  verdict.verdict = whole.verdict;
  const std::vector<Piece> pieces = pieces_of(files, whole);
  const Time start = start_of(files, whole);
  FakeDisk disk;
  FakeClock clock(start);
  sim::SimLocks locks;
  size_t next = 0;
  uint64_t line = 0;
  double now = 0;
  sim::SimWatch watch([&](Duration longest) {
    const double until = next < pieces.size() ? pieces[next].at : now + longest.seconds();
    const double passes = std::clamp(until - now, 0.0, longest.seconds());
    clock.pass(Duration::seconds(passes));
    now += passes;
    disk.set_time(clock.now());
    if (next >= pieces.size() || pieces[next].at > now) return Watch::Woke::kTimeout;
    const Piece& piece = pieces[next++];
    disk.write(files[piece.file].path,
               std::string_view(files[piece.file].text).substr(piece.begin, piece.end - piece.begin));
    line = piece.line;
    return Watch::Woke::kChange;
  });
  disk.set_time(start);
  for (const Fed& file : files) disk.put(file.path, "");
  AttachRequest request;
  request.paths = {"/run"};
  request.home = "/watch";
  request.poll_s = 10;
  auto loop = AttachLoop::open({disk, clock, watch, locks}, knowledge, request);
  if (!loop.ok()) {
    verdict.trouble = loop.error().what;
    return verdict;
  }
  Inspector inspector(verdict, line);
  (*loop)->accompany(inspector);
  while (next < pieces.size() && (*loop)->turn()) {
  }
  const double end = now + kAfterwards;
  while (now < end && (*loop)->turn()) {
  }
  verdict.lines = line;
  return verdict;
}

}  // namespace mw::live
