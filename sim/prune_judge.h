// What must hold of every change that midwatch makes in the world of sim_prune.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "act/supervise/judgement.h"
#include "core/retention.h"
#include "core/supervise/mode.h"
#include "sim/prune_world.h"

namespace mw::sim {

class PruneJudge {
 public:
  PruneJudge(PruneWorld& world, std::function<void(const std::string&)> wrong)
      : world_(world), wrong_(std::move(wrong)) {}

  /// Before a change of the disk takes effect: "rename" or "remove".
  void judge(std::string_view what, const std::string& path, const std::string& to);
  /// Whatever a rollback was cut short in: a pointer that it set names what is there.
  void check_pointers();
  /// Why the rules keep the whole one; "": it may go.
  std::string against(const RetentionRules& rules, const std::string& root, int64_t step) const;
  /// Who holds it, or what belongs to it in another root; "": nobody.
  std::string use_of(int64_t step) const;

  RetentionRules rules;
  Mode mode = Mode::kAct;
  std::optional<RetentionRules> asked;  ///< of a person, in this round
  std::set<int64_t> shipped;            ///< as midwatch knows
  std::set<int64_t> behind;             ///< likewise, of the world's
  int64_t onset = kNoStep;              ///< of a trouble that spoils what is saved from that step on
  std::map<int64_t, double> scores;     ///< likewise
  uint64_t acts_at_round = 0;           ///< of the world, when the round began
  std::optional<Rollback> back;         ///< that is being done
  std::string label;                    ///< with which its quarantine folders begin
  bool swaps = false;                   ///< somebody is about to put something in the place of what goes
  uint64_t moved = 0, pointers = 0;     ///< quarantined, set

 private:
  std::optional<std::pair<std::string, int64_t>> checkpoint_at(const std::string& path) const;
  void judge_written(const std::string& path, const std::string& to);
  void judge_quarantine(const std::string& path, const std::string& to);
  void judge_end_of_quarantine(const std::string& path);
  void judge_removal(const std::string& path, const std::string& to);
  void judge_broken(const std::string& root, int64_t step);
  bool is_sound(int64_t step) const { return behind.count(step) == 0 && (onset == kNoStep || step < onset); }
  bool is_best(const std::set<int64_t>& verified, int64_t step) const;
  void wrong(const std::string& what) const { wrong_(what); }

  /// What one quarantine holds.
  struct Held {
    std::string root;
    int64_t furthest = kNoStep;  ///< step
    bool any_whole = false;
  };

  PruneWorld& world_;
  std::function<void(const std::string&)> wrong_;
  std::map<std::string, Held> held_;    ///< by folder
  std::set<std::string> aside_;         ///< what was rightly renamed to go
  std::set<std::string> set_pointers_;  ///< roots whose pointer a rollback set
};

}  // namespace mw::sim
