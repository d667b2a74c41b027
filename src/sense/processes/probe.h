// Asks a server whether it works: by what it does, not by its word alone.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "core/event.h"
#include "platform/http.h"
#include "sense/processes/prometheus.h"
#include "sense/processes/rhythm.h"

namespace mw::components {

/// A server of the run, and how it is asked.
struct Target {
  std::string name;
  std::string kind = "engine";     ///< as event::ComponentSaw::kind
  std::string address;             ///< "http://127.0.0.1:8000", without a path
  std::string health = "/health";  ///< path that a healthy server answers with 200
  bool generate = false;           ///< ask for one token, too
  bool declared = false;           ///< a person said that the run needs it
  int64_t pid = 0;                 ///< of its process, where that is known
  Duration every = Duration::seconds(5);
  Duration timeout = Duration::seconds(10);  ///< of each question
  Duration ready_within = Duration::seconds(900);
};

/// What came of one question.
struct Reply {
  enum class How { kNotAsked, kAnswered, kRefused, kLate, kBroken };
  How how = How::kNotAsked;
  int status = 0;
};

struct Answer {
  Reply health, generation;
  EngineFigures figures;        ///< before the token was asked for
  std::string token;            ///< the likeliest one after the question, where the engine states it
  std::optional<double> score;  ///< its log-probability, in nats
};

/// Sends the requests of one check; needs at most four times the target's time. An engine is asked for its counters
/// (/metrics), too. For a token it is asked as vLLM and all that speak OpenAI's protocol are (/v1/completions with the
/// model that /v1/models names), where it has no such thing as SGLang is (/generate): the likeliest token, with its
/// log-probability.
Answer ask(Http& http, const Target& target);

/// Nothing that was asked failed.
bool works(const Answer& answer);

/// What the answers of one server mean, one after the other.
class ProbeJudge {
 public:
  /// `now`, by the steady clock: when the answer came. What is new since the last time; nothing when nothing is.
  /// `paused`: the run is paused, and nothing is to be expected of its servers.
  std::optional<event::ComponentSaw> take(const Target& target, const Answer& answer, const Rhythm& rhythm,
                                          Duration now, bool paused);

  /// It worked at some time since the run began: silence is a failure from now on, also of what is asked anew.
  void worked() { worked_ = true; }
  /// Another attempt begins.
  void begin_anew() {
    const bool worked = worked_ || ever_well_;
    *this = {};
    worked_ = worked;
  }

 private:
  using Health = event::ComponentSaw::Health;
  struct Verdict {
    Health health = Health::kWell;
    bool certain = false;
    std::string text;
  };
  Verdict verdict(const Target& target, const Answer& answer, const Rhythm& rhythm, Duration now);
  bool flat(const EngineFigures& figures, const Rhythm& rhythm, Duration now);

  bool ever_well_ = false, ever_generated_ = false, reported_ = false, worked_ = false;
  Duration first_;    ///< when the first answer came
  int failures_ = 0;  ///< in a row
  Duration bad_since_;
  std::optional<double> generated_;
  Duration flat_since_;  ///< requests run and no token is generated; 0: not so
  bool moved_ = true;    ///< the counter moved since the answers turned bad
  Health health_ = Health::kWell;
  bool certain_ = false;
};

}  // namespace mw::components
