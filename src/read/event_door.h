// The door to the journal: no event goes through it with a secret in its text, whoever made it.
#pragma once

#include <memory>
#include <string>
#include <unordered_set>

#include "base/secrets.h"
#include "core/event.h"

namespace mw {

class EventDoor {
 public:
  static constexpr size_t kNamesLimit = 20'000;  ///< names of figures that are remembered as harmless

  /// `known` (may be nullptr) must outlive it.
  explicit EventDoor(const KnownSecrets* known) : known_(known) {}

  /// Takes the secrets out of all foreign text of `event`. Paths of files that are read, and what an intent is about,
  /// stay as they are: by them a later watch finds file and intent again.
  void pass(Event& event);

 private:
  void clean(std::string& text) const;
  void clean_name(Reading& reading);
  const KnownSecrets* known_;
  std::unordered_set<std::shared_ptr<const FigureName>> harmless_;
};

}  // namespace mw
