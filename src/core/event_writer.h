// By it a task records in the run's journal what people say, what it is about to do, and what came of it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "core/event.h"

namespace mw {

class EventWriter {
 public:
  virtual ~EventWriter() = default;
  /// Numbers the action; returns when the intent is durable. After an error the action must not be done: try again
  /// later.
  virtual Result<uint32_t> intend(event::Intended intent) = 0;
  virtual void acted(event::Acted outcome) = 0;
  /// `at`: when they were said. Durable when it returns.
  virtual Result<void> note(event::Note words, Time at) = 0;
  /// What is known and decided of a supervised run. Durable when it returns; after an error it is in the state, and is
  /// written with what comes next.
  /// `at`: when it happened; unknown: now.
  virtual Result<void> record(SupervisionEvent event, Time at) = 0;
  Result<void> record(SupervisionEvent event) { return record(std::move(event), Time()); }
  /// All that was recorded is durable now; an error: not yet.
  virtual Result<void> sync() { return {}; }
  /// The journal takes nothing just now: what is recorded waits in memory.
  virtual bool held_up() const { return false; }
  /// What an attempt found other than the one before.
  virtual void changed(event::Changed&& /*what*/) {}
  /// What the machine under the run shows; `source` is called "host:memory", "host:disks" and so on.
  virtual void observed(const std::string& /*source*/, event::Measured&& /*figures*/) {}
  virtual void observed(const std::string& /*source*/, event::Matched&& /*match*/) {}
  virtual void observed(const std::string& /*source*/, event::SourceProblem&& /*problem*/) {}
  virtual void observed(const std::string& /*source*/, event::ComponentSaw&& /*saw*/) {}
  /// A process of the run came to its end, likewise.
  virtual void ended(const std::string& /*source*/, event::Ended&& /*end*/) {}
  virtual void observed(const std::string& /*source*/, event::CheckpointSeen&& /*seen*/) {}
  virtual void observed(const std::string& /*source*/, event::CheckpointRead&& /*read*/) {}
  virtual void observed(const std::string& /*source*/, event::PointerSeen&& /*seen*/) {}
  virtual void observed(const std::string& /*source*/, event::SavesAs&& /*names*/) {}
  /// These files are the run's, too: they are read from now on.
  virtual void read_also(const std::vector<std::string>& /*paths*/) {}
  /// For how long none of the run's files has said anything.
  virtual Duration silence() const { return {}; }
  /// Judges what was observed.
  virtual void judge() {}
};

}  // namespace mw
