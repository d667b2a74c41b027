// The keeper writes that an attempt has ended: what its other files end with.
#include <algorithm>

#include "base/text.h"
#include "core/detect/support/failure_chain.h"
#include "core/is_a.h"
#include "read/run_reader.h"

namespace mw {
namespace {

constexpr int64_t kSignalled = 128;  // statuses from here on are a shell's for a signal

/// The last attempt did more steps after it than what is read of two files in one turn may be out of order, or it is of
/// an earlier one.
bool is_outlived(const State& state, const Moment& moment) {
  if (moment.attempt + size_t{1} != state.attempts.size()) return true;
  const int64_t last = state.attempts.back().last_step;
  return last != kNoStep && moment.step != kNoStep && last > moment.step + 1;
}

/// Something else shows already why the attempt ended.
bool is_explained(const State& state) {
  return std::any_of(state.traces.begin(), state.traces.end(), [&state](const TraceState& seen) {
    const event::TraceSeen& trace = seen.trace;
    return !is_outlived(state, seen.moment) && !trace.sample && !trace.handled &&
           !detect::classify_exception(trace.exception, trace.message, trace.frame).consequence;
  });
}

const TraceState* trace_at(const State& state, const Where& where) {
  const auto seen = std::find_if(state.traces.rbegin(), state.traces.rend(),
                                 [&where](const TraceState& one) { return one.moment.where == where; });
  return seen == state.traces.rend() ? nullptr : &*seen;
}

}  // namespace

/// By the keeper's file, which is the first: whatever wrote to the others has ended.
bool RunReader::is_keepers_end(const Event& event) const {
  return shared_.keeper_nonce && is_a<event::Ended>(event) && !sources_.empty() &&
         event.where.source == sources_.front()->number();
}

void RunReader::end_other_files(const event::Ended& end) {
  for (size_t i = 1; i < sources_.size(); ++i) sources_[i]->end_trace();
  // A program that was killed did not end of the code that it ran last.
  const bool failed = end.how == event::Ended::How::kExit && end.code > 0 && end.code < kSignalled;
  if (failed && clock_ != nullptr) believe_last_traces();
}

/// A program in a folder for what is temporary, or in no file, is a tool's as long as the run goes on after its
/// traceback. The run did not. What it puts is provisional: a watch that reads the files again, in another order, does
/// not find it again at this place.
void RunReader::believe_last_traces() {
  if (is_explained(state_)) return;
  const std::string beside = folder_of(sources_.front()->path());  // where components have their logs, and live on
  std::vector<SourceReader*> found;
  for (size_t i = 1; i < sources_.size(); ++i) {
    const Where where{sources_[i]->number(), sources_[i]->doubted_trace()};
    const bool again = skip_.count(where.source) > 0;  // what the journal has of it is read once more
    if (where.line == 0 || again || folder_of(sources_[i]->path()) == beside) continue;
    const TraceState* const seen = trace_at(state_, where);
    if (seen != nullptr && !is_outlived(state_, seen->moment)) found.push_back(sources_[i].get());
  }
  if (found.empty()) return;
  const Time now = clock_->now();
  put({now, {}, event::Ticked{true}});
  for (SourceReader* const source : found) source->writer_failed();
  tick(now);
}

}  // namespace mw
