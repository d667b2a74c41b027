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
constexpr size_t kWordBytes = 24;  // a longer text is no kind of record
constexpr std::array<std::string_view, 3> kActionNames = {"action", "action_type", "action_name"};

bool in_episode(const Row& row) {
  return std::any_of(row.numbers.begin(), row.numbers.end(),
                     [](const RowNumber& one) { return one.key.starts_with("episode"); });
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
  return RecordKind::kTraining;
}

}  // namespace mw
