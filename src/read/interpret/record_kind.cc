#include "read/interpret/record_kind.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/one_of.h"
#include "base/text.h"
#include "read/lines/held_out.h"

namespace mw {
namespace {

constexpr std::array<std::string_view, 7> kKindNames = {"type",        "kind",  "event",   "record",
                                                        "record_type", "_type", "log_type"};
constexpr std::array<std::string_view, 6> kPartNames = {"split", "phase", "mode", "stage", "subset", "set"};
constexpr std::array<std::string_view, 15> kSettingsWords = {
    "config",    "configuration", "run_config", "train_config", "training_config", "hparams",   "hyperparams", "args",
    "arguments", "settings",      "header",     "meta",         "metadata",        "run_start", "start"};
constexpr std::array<std::string_view, 6> kFlags = {"is_eval",       "is_evaluation", "is_val",
                                                    "is_validation", "is_test",       "is_held_out"};
// Likewise where nothing in the record is an optimizer's: these are also the names of results.
constexpr std::array<std::string_view, 4> kLooseFlags = {"eval", "evaluation", "validation", "held_out"};
constexpr std::array<std::string_view, 6> kOptimizers = {"lr", "learning_rate", "grad_norm", "loss", "kl", "clip_frac"};
constexpr size_t kWordBytes = 24;  // a longer text is no kind of record
constexpr std::array<std::string_view, 3> kActionNames = {"action", "action_type", "action_name"};

bool in_episode(const Row& row) {
  return std::any_of(row.numbers.begin(), row.numbers.end(),
                     [](const RowNumber& one) { return one.key.starts_with("episode"); });
}

/// {"eval": true, ...}: true is read as 1.
bool is_flagged_held_out(const Row& row) {
  const auto any = [&row](const auto& matches) { return std::any_of(row.numbers.begin(), row.numbers.end(), matches); };
  if (any([](const RowNumber& one) { return one.value == 1 && is_one_of(one.key, kFlags); })) return true;
  return any([](const RowNumber& one) { return one.value == 1 && is_one_of(one.key, kLooseFlags); }) &&
         !any([](const RowNumber& one) { return is_one_of(one.key, kOptimizers); });
}

}  // namespace

bool names_kind(std::string_view key) { return is_one_of(key, kKindNames) || is_one_of(key, kPartNames); }

RecordKind kind_of_record(const Row& row) {
  for (const RowText& text : row.texts) {
    if (is_one_of(text.key, kActionNames) && in_episode(row)) return RecordKind::kAction;
    if (text.value.size() > kWordBytes || !names_kind(text.key)) continue;
    const std::string word = to_lower(text.value);
    const bool evaluates = word.starts_with("eval") || word.starts_with("valid") || word.starts_with("val_");
    if (evaluates || is_held_out_word(word)) return RecordKind::kHeldOut;
    if (is_one_of(text.key, kKindNames) && is_one_of(word, kSettingsWords)) return RecordKind::kSettings;
  }
  return is_flagged_held_out(row) ? RecordKind::kHeldOut : RecordKind::kTraining;
}

}  // namespace mw
