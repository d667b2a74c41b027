// Where a printed sample of the rollouts begins and ends, for the interpreter: an error that a model quotes in it is
// none of the run.
#include <algorithm>

#include "base/text.h"
#include "read/interpret/interpreter.h"
#include "read/interpret/interpreter_fields.h"
#include "read/interpret/interpreter_stream.h"

namespace mw {

/// A line of which a dialect says that a sample begins in it; not a line of a traceback that quotes one.
bool Interpreter::opens_sample(const LogLine& line, std::span<const uint32_t> hits) {
  if (sample_lines_ > 0) return false;
  for (const uint32_t id : hits) {
    if (id < index_.dialect_first || id - index_.dialect_first >= index_.book->pattern_count()) continue;
    const DialectBook::Target& target = index_.book->target(id - index_.dialect_first);
    if (target.kind != DialectBook::Target::Kind::kShape) continue;
    const Shape& shape = index_.book->dialects()[target.dialect].shapes[target.index];
    if (shape.make != Maker::kSampleBegin) continue;
    if (shape.only && speaker_ && !index_.book->counts(speaker_, target.dialect)) continue;
    const std::string_view text = shape.on_line ? line.whole : line.text;
    if (const Regex* regex = index_.book->shape_regex(target.dialect, target.index); regex != nullptr) {
      size_t end = 0;
      captures_.clear();
      if (!regex->match(text, captures_, &end)) continue;
    }
    if (!quoted_by_trace(line, shape)) return true;
  }
  return false;
}

/// Is the line part of a traceback of its own stream, or does one begin in front of the sample?
bool Interpreter::quoted_by_trace(const LogLine& line, const Shape& shape) const {
  const auto stream = streams_.find(line.pid * 4096 + line.rank);
  if (stream != streams_.end() && stream->second->reader.open()) return true;
  const size_t trace = line.whole.find("Traceback (most recent call last)");
  return trace != std::string_view::npos &&
         std::none_of(shape.literals.begin(), shape.literals.end(),
                      [&](const std::string& literal) { return line.whole.find(literal) < trace; });
}

// True while `line` lies inside a rollout sample or a tool's output.
bool Interpreter::sample_state(const LogLine& line) {
  if (sample_lines_ == 0) return false;
  if (line.pid != sample_pid_ || ends_sample(line)) {
    sample_lines_ = 0;
    return false;
  }
  --sample_lines_;
  return true;
}

/// A line with a time or a level comes of the program itself, unless the sample quotes a log: its printer ends each
/// sample with a word, or goes on in the name of a process, in which no launcher speaks.
bool Interpreter::ends_sample(const LogLine& line) const {
  if (samples_end_) return false;
  const bool timed = line.at.known() || line.clock_ms >= 0;
  const bool levelled = line.level != Level::kNone && (timed || line.pid < 0);
  if (!timed && !levelled) return false;
  return !sample_stamped_ || line.level >= Level::kInfo;
}

void Interpreter::begin_sample(const Fields& fields, const LogLine& line) {
  sample_began_ = true;
  sample_lines_ =
      fields.flag("one") ? 0 : static_cast<size_t>(std::clamp<int64_t>(fields.integer("lines", kSampleLines), 1, 5000));
  sample_pid_ = line.pid;
  sample_stamped_ = line.at.known() || line.clock_ms >= 0 || line.level != Level::kNone;
}

}  // namespace mw
