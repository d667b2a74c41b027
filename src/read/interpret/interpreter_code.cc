// The code that an agent's tool ran, which a log shows behind the line about the call: it names the function.
#include "read/interpret/interpreter_code.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "read/interpret/interpreter.h"
#include "read/interpret/interpreter_fields.h"

namespace mw {

/// `body` is emitted once its code was read. The code may begin on the line itself.
void Interpreter::begin_code(event::ToolCalled body, const Fields& fields, const LogLine& line) {
  code_done();
  code_ = std::make_unique<CodeRun>();
  code_->body = std::move(body);
  code_->number = line.number;
  code_->at = line.at;
  code_->pid = line.pid;
  code_->rank = line.rank;
  code_->until = std::string(fields.text("until"));
  code_->reader = reader_;
  const std::string_view mark = fields.text("code");
  const size_t found = line.text.rfind(mark);
  if (found == std::string_view::npos) return;
  if (const std::string_view rest = trim(line.text.substr(found + mark.size())); !rest.empty()) code_->code.read(rest);
}

/// The next line of the log, which may be the code's or another's. What else it says is read by itself.
void Interpreter::read_code(std::string_view raw, uint64_t number) {
  if (number > code_->number + kCodeReach) return code_done();
  const LogLine& line = code_->reader.read(raw, number);
  const bool unnamed = line.pid < 0 && line.rank < 0;
  if (number == code_->number + 1) code_->unnamed = unnamed;
  const bool own = (line.pid == code_->pid && line.rank == code_->rank) || (unnamed && code_->unnamed);
  if (!own) return;  // another process cuts in
  const bool logged = line.at.known() || line.clock_ms >= 0 || line.level != Level::kNone;
  if (logged || (!code_->until.empty() && trim(line.text) == code_->until)) return code_done();
  code_->code.read(line.text);
  if (code_->code.lines() >= kCodeLines) code_done();
}

/// A model may call what it likes, by any name: beyond so many of them all others are one.
void Interpreter::code_done() {
  if (code_ == nullptr) return;
  const std::unique_ptr<CodeRun> run = std::move(code_);
  std::string name = run->code.name();
  if (tool_names_.size() >= kToolNames && tool_names_.find(name) == tool_names_.end()) name.clear();
  if (!name.empty()) {
    run->body.function = clean_.take(name, 80);
    tool_names_.insert(std::move(name));
  }
  put(std::move(run->body), run->number, run->at);
}

}  // namespace mw
