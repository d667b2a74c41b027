// What core knows of failures: the rows of knowledge/signatures and knowledge/causes, as plain values. Loaded and
// checked by the dialects room, handed in by the daemon; core itself reads no file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/engine.h"

namespace mw {

enum class Severity : uint8_t { kInfo, kWarning, kCritical };
std::string_view severity_name(Severity severity);

/// What a signature's match is in the chain of a failure (failure catalogue, "role").
enum class Role : uint8_t { kRoot, kCascade, kSymptom, kConfirmation, kBenign };

/// A failure's face. `kind` is one of the incident kinds ("crash", "engine-dead", ...).
struct Signature {
  std::string id;
  std::string layer;                    ///< "gpu", "vllm", "ray", "learning-dynamics", ...
  std::vector<std::string> frameworks;  ///< "any", or dialect names
  Role role = Role::kRoot;
  std::string kind;
  Severity severity = Severity::kWarning;
  std::string symptom;              ///< what it is, one sentence
  std::vector<std::string> causes;  ///< ranked, in words
  std::vector<std::string> check;   ///< what to look at
  std::string fix;
  std::string transient;     ///< "deterministic", "likely-transient", "degraded", "poison"
  std::string blast_radius;  ///< "process", "run", "host", "model weights"
  std::string reaction;      ///< "retry", "restart-component", "rollback-before-onset", ...
  std::string metric_rule;   ///< in words; "" when text alone decides
  std::vector<std::string> confused_with;
  std::vector<std::string> references;
  bool fatal = false;    ///< a match normally ends the process that prints it
  bool wrapper = false;  ///< a root that only says that something failed; what it failed of stands beside it
};

/// What can lie behind an incident. Every signature id is a cause id too; a row may add to a signature of the same id,
/// whose words then stand for those that the row leaves out.
struct Cause {
  std::string id;
  std::string title;                            ///< one sentence
  std::vector<std::string> kinds;               ///< incident kinds that it can explain
  double prior = 0;                             ///< 0..1: its weight when nothing else speaks
  std::vector<std::string> for_signatures;      ///< seen near the onset: evidence for it
  std::vector<std::string> against_signatures;  ///< seen near the onset: evidence against it
  std::string check;
  std::string fix;
  std::string reaction;
};

/// The kind of the incidents that a rule of the user's own makes.
inline constexpr std::string_view kUserRule = "user-rule";

/// A figure that lies out of its bounds for long enough: the user wants to be notified, or the attempt to end.
struct UserRule {
  std::string name;
  /// A signal (docs/signals.md), the trainer's own name of a metric, or a figure of the machine; of the last, as
  /// "disk.free:/data", of one thing.
  std::string signal;
  std::optional<double> below, above;  ///< at least one; what is lower, or higher, is bad
  uint32_t points = 3;                 ///< bad ones in a row
  int64_t after_step = 0;              ///< points of earlier steps are left alone
  Severity severity = Severity::kWarning;
  bool breaker = false;  ///< ends the attempt, and resumes from before the onset
  std::string text;      ///< what to do; may be empty

  /// How its cause is called: "rule.NAME".
  std::string cause() const { return "rule." + name; }
  bool bad(double value) const { return (below && value < *below) || (above && value > *above); }
};

struct Knowledge {
  std::vector<Signature> signatures;
  std::unordered_map<std::string, size_t> by_id;  ///< only ever looked up, never iterated
  std::vector<Cause> causes;                      ///< by id, in byte order
  std::vector<UserRule> rules;                    ///< by name, in byte order
  std::vector<Engine> engines;                    ///< by name, likewise

  /// Adds a rule, and the cause that it stands for; one of the same name is replaced.
  void add(UserRule rule);
  /// The rule that stands behind a cause; nullptr when there is none.
  const UserRule* find_rule(std::string_view cause) const;

  const Signature* find(std::string_view id) const;
  const Cause* find_cause(std::string_view id) const;  ///< a row of `causes`; nullptr when there is none
  bool is_engine(std::string_view name) const;         ///< one of `engines` is called so
};

}  // namespace mw
