// Records of several arms of an experiment in one file: seeds, methods, settings.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/state.h"
#include "read/interpret/known_names.h"
#include "read/lines/row.h"

namespace mw {

/// What the arms in the files of one run are called, and which of them is wanted.
struct ArmChoice {
  std::vector<std::string> known;  ///< by what was read before; empty: nothing is known
  std::string only;                ///< one of them; "": all
  std::vector<std::string> found;  ///< those of the first file that surely holds several
  bool differ = false;             ///< another file holds others
};

/// Tells the records of one arm from those of the others that write into the same file, by a column, a word or a
/// bracket in their lines, or a heading before them. Where several arms take turns at the same steps, a series of all
/// of them would be of none: the arm that writes first is followed. A restart has the name that it had.
class Arms {
 public:
  static constexpr size_t kArms = 64;      ///< beyond so many different names, it is no name of an arm
  static constexpr int64_t kLeast = 5;     ///< records that an arm has at least
  static constexpr int64_t kTurns = 3;     ///< times that an arm took its turn again, before one is followed
  static constexpr double kShared = 0.5;   ///< of the records behind the first arm's: at steps that another one has
  static constexpr double kRepeats = 0.2;  ///< of all records, at most: at a step that their arm has already

  void choose(ArmChoice* choice) { choice_ = choice; }
  /// The arm of a record; "" where it names none. Lives until the next call.
  std::string_view of_row(std::span<const RowNumber> numbers, std::span<KnownName* const> names,
                          std::span<const RowText> texts);
  std::string_view of_line(std::string_view text);
  /// A line that is no record may be a heading: "=== arm B ===".
  void note_heading(std::string_view text);
  /// Is that arm's record to be read? `names` of `step` (kNoStep: not known) are those of its figures.
  enum class Take : uint8_t { kTake, kBeside, kOther };
  Take take(std::string_view arm, int64_t step, std::span<const RowNumber> numbers);
  /// Is a line or record that names this arm ("": none) to be read: of the chosen arm, or of none of them?
  bool wanted(std::string_view arm);
  /// Other arms went on behind the last line of the chosen one: it was over, and no crash cut it off.
  bool is_over() const { return chooses() && passed_ > kBehind * choice_->known.size(); }
  bool chooses() const { return choice_ != nullptr && !choice_->only.empty(); }
  /// Every record was read.
  void finish();

 private:
  struct Arm {
    int64_t records = 0, shared = 0, repeats = 0;
    size_t order = 0;
    bool headed = false;  ///< named by a heading
    Ranges steps;
  };
  bool sure(int64_t least) const;
  bool by_runs_name() const;
  bool by_headings() const;
  void note(std::string_view arm, Arm& one, int64_t step);
  bool names_same(std::span<const RowNumber> numbers) const;
  void compare(std::span<const RowNumber> numbers);

  static constexpr size_t kBehind = 3;  // lines of each arm

  ArmChoice* choice_ = nullptr;
  size_t passed_ = 0;  // lines of other arms since the last one of the chosen arm
  std::map<std::string, Arm, std::less<>> arms_;
  Ranges steps_;  // of all
  bool too_many_ = false, followed_ = false;
  int64_t turns_ = 0;              // an arm that had records before has the next one
  int64_t equal_ = 0, other_ = 0;  // records with the figures of another arm at their step, and with others
  std::string first_, last_;       // the arms of the first record and the last
  std::string holder_;             // the arm whose record of `held_` was taken
  int64_t held_ = kNoStep;
  std::map<std::string, double, std::less<>> figures_;  // of that record
  std::string heading_, text_;
  bool headed_ = false;  // text_ is a heading's
};

}  // namespace mw
