// What is known of the names in the records of one source. The records of a run have the same names, mostly in the same
// order: what was found out of a name is kept, and found again by the name before it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/figure_name.h"
#include "read/books/dialect_book.h"
#include "read/lines/row.h"

namespace mw {

struct SignalUse;

struct KnownName {
  /// What some names say beside being a figure's, whoever the trainer is.
  enum class Role : uint8_t { kFigure, kBookkeeping, kPlan, kEpoch, kRuntime, kRate, kArm };

  std::string raw;
  Role role = Role::kFigure;
  uint8_t step_rank = kNoRank;  ///< among the names that carry the step, best first
  bool recognised = false;      ///< the run's recogniser has seen it
  // By the dialect that speaks, once it was asked:
  bool looked_up = false;
  bool share = false;  ///< it is one of a whole: where the text says of what ("35%", "70/200"), it is divided by that
  /// By bits, to which of the dialect's shares it adds what is counted, the rest, or that there was none (Shares).
  uint8_t share_counted = 0, share_rest = 0, share_zero = 0;
  Meaning means;
  std::shared_ptr<const FigureName> figure;    ///< of its readings
  std::shared_ptr<const FigureName> held_out;  ///< of those of an evaluation, once there was one
  std::shared_ptr<const FigureName> less;      ///< of those that another figure was taken off from
  SignalUse* use = nullptr;                    ///< of its signal (OneOfEach), once there was a reading

  static constexpr uint8_t kNoRank = UINT8_MAX;

 private:
  friend class KnownNames;
  KnownName* next = nullptr;  // the one that came behind it last
};

class KnownNames {
 public:
  static constexpr size_t kLimit = 8192;  ///< names beyond which all are forgotten before the next record

  /// The names of the next record's numbers. They live until those of another record are asked for.
  std::span<KnownName* const> of_record(std::span<const RowNumber> numbers);
  /// The same with `prefix` before each, until the next call.
  std::span<KnownName* const> with_prefix(std::string_view prefix, std::span<const RowNumber> numbers);
  /// Another dialect speaks.
  void forget_meanings();

 private:
  struct Hash {
    size_t operator()(std::string_view text) const { return name_hash(text, 0); }
  };
  KnownName* find(std::string_view raw);
  KnownName* behind(KnownName& before, std::string_view raw);

  std::unordered_map<std::string_view, std::unique_ptr<KnownName>, Hash> names_;  // keys are views of their `raw`
  std::vector<KnownName*> record_, prefixed_;
  KnownName before_first_;  // its next is the name that the last record began with
  std::string joined_;      // scratch
};

/// The step that a record states by the best of the usual names of steps; kNoStep: it states none. `names` are those of
/// its `numbers`.
int64_t stated_step(std::span<KnownName* const> names, std::span<const RowNumber> numbers);

}  // namespace mw
