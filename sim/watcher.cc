#include "sim/watcher.h"

#include <utility>
#include <vector>

#include "core/event_codec.h"

namespace mw::sim {
namespace {

/// Folds a journal into a state.
class Recovery final : public Journal::Reader {
 public:
  Recovery(State& state, bool drop_last) : state_(state), drop_last_(drop_last) {}

  void record(uint64_t, std::string_view json) override {
    if (drop_last_ && have_) fold(state_, event_);
    if (decode_event(json, event_) != Decoded::kEvent) {
      trouble = "a record is no event: " + std::string(json);
      return;
    }
    have_ = true;
    if (!drop_last_) fold(state_, event_);
  }
  void damage(const std::string& what) override { trouble = what; }
  std::string trouble;

 private:
  State& state_;
  Event event_;
  bool drop_last_, have_ = false;
};

}  // namespace

bool mutant_from_name(std::string_view name, Mutant& out) {
  constexpr std::pair<std::string_view, Mutant> kNames[] = {{"none", Mutant::kNone},
                                                            {"drop-last-on-recovery", Mutant::kDropLastOnRecovery},
                                                            {"double-append", Mutant::kDoubleAppend},
                                                            {"stale-attempt", Mutant::kStaleAttempt},
                                                            {"forget-offset", Mutant::kForgetOffset},
                                                            {"react-first", Mutant::kReactFirst}};
  for (const auto& [word, mutant] : kNames) {
    if (word != name) continue;
    out = mutant;
    return true;
  }
  return false;
}

bool Watcher::start() {
  Recovery recovery(state_, mutant_ == Mutant::kDropLastOnRecovery);
  auto opened = Journal::open(disk_, kFolder, &recovery, {kSegmentBytes});
  if (!opened.ok()) return false;
  trouble_ = recovery.trouble;
  journal_ = std::move(*opened);
  if (mutant_ == Mutant::kStaleAttempt) {
    for (SourceState& source : state_.sources) source.attempt = source.attempt > 0 ? 0 : source.attempt;
  }
  if (mutant_ == Mutant::kForgetOffset && !state_.sources.empty()) state_.sources.back().last_line /= 2;
  std::vector<Event> decided;
  review(state_, knowledge_, decided);
  for (const Event& one : decided) append(one);
  return true;
}

void Watcher::append(const Event& event) {
  line_.clear();
  encode_event(event, line_);
  journal_->append(line_);
}

void Watcher::take(const Event& event) {
  std::vector<Event> decided;
  if (mutant_ == Mutant::kReactFirst && taken_ % 7 == 0) {
    advance(state_, event, knowledge_, Judge::kAlways, decided);
    for (const Event& one : decided) append(one);
    append(event);
  } else {
    append(event);
    if (mutant_ == Mutant::kDoubleAppend && taken_ % 50 == 0) append(event);
    advance(state_, event, knowledge_, Judge::kAlways, decided);
    for (const Event& one : decided) append(one);
  }
  ++taken_;
}

bool Watcher::turn(Time now, size_t lines) {
  for (uint32_t source = 0; source < world_.files.size(); ++source) {
    if (state_.sources.size() <= source || state_.sources[source].path.empty()) take(world_.opened(source));
    const auto& file = world_.files[source].lines;
    for (size_t i = 0; i < lines && state_.sources[source].last_line < file.size(); ++i) {
      take(file[state_.sources[source].last_line]);
    }
  }
  take({now, {}, event::Ticked{}});
  return journal_->flush().ok();
}

bool Watcher::all_read() const {
  for (size_t source = 0; source < world_.files.size(); ++source) {
    if (state_.sources.size() <= source || state_.sources[source].last_line < world_.files[source].lines.size()) {
      return false;
    }
  }
  return true;
}

bool Watcher::finish() {
  if (!state_.closed) {
    for (uint32_t source = 0; source < world_.files.size(); ++source) {
      if (!state_.sources[source].ended) take(world_.ended(source));
    }
    take({{}, {}, event::Closed{true}});
  }
  return journal_->sync().ok();
}

}  // namespace mw::sim
