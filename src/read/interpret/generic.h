// Trainers that nobody wrote a dialect for: metric lines and steps by what they look like, names by what they are
// usually called.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/event.h"
#include "read/books/dialect_book.h"
#include "read/interpret/decimal_commas.h"
#include "read/interpret/environment_lines.h"
#include "read/interpret/round_counter.h"
#include "read/interpret/step_place.h"
#include "read/interpret/unread_reward.h"
#include "read/lines/bar_values.h"
#include "read/lines/log_line.h"
#include "read/lines/metric_line.h"

namespace mw {

/// One per source. Takes a line for a metric record only when it names things that training measures; text of samples
/// and dumps of settings are not.
class GenericReader {
 public:
  static constexpr size_t kLineLimit = 16384;   ///< bytes; longer lines are no metric records (dicts apart)
  static constexpr size_t kAloneBytes = 80;     ///< of a line that holds one figure and nothing else
  static constexpr uint64_t kStepReach = 60;    ///< lines after a step's heading in which single values belong to it
  static constexpr uint64_t kHeldOutReach = 8;  ///< lines after "=== Evaluation ===" in which values are of it

  explicit GenericReader(const DialectBook& book) : book_(book) {}
  GenericReader(const GenericReader&) = delete;
  GenericReader& operator=(const GenericReader&) = delete;

  struct Found {
    bool record = false;           ///< `out` holds one
    bool heading = false;          ///< the line says which step begins
    bool held_out = false;         ///< the record is an evaluation's, as the words before it say
    bool stale = false;            ///< the record is a bar that shows a step, and the figures of an earlier one
    bool numbered = false;         ///< the record's line says its step and several things that training measures
    bool barred = false;           ///< the record is a bar's
    bool of_training = false;      ///< the record is a bar's or a dict's, with more than rewards
    bool whole_dict = false;       ///< the record is a dict that fills its line, as `print(metrics)` writes it
    int64_t step = kNoStep;        ///< counted over epochs where the trainer starts again in each
    int64_t total = 0;             ///< steps planned; 0: not said
    int64_t epoch_length = 0;      ///< steps of an epoch; 0: not said
    bool unread_reward = false;    ///< lines of this shape seem to hold the reward, and are read as no record
    std::optional<double> listed;  ///< the mean of a list of rewards that was printed
  };
  /// `rare`: of the line that `text` is a part of.
  Found read(std::string_view text, uint64_t number, MetricLine& out, RareBytes rare = {}) {
    Found found;
    if (read_row(text, out, found)) return found;
    found = read_line(text, number, out, rare);
    found.unread_reward = !found.record && !found.listed && unread_.saw(text);
    return found;
  }
  /// Another reader took line `number` for one that says which step begins: the values below it are that step's.
  void heading_at(uint64_t number) { heading_line_ = number; }
  /// A save named its step: there are steps, whether or not records name them.
  void saw_step(int64_t step) {
    has_steps_ = true;
    saved_step_ = step;
  }
  /// Whether a name is commonly given to something that training measures.
  bool measures(std::string_view name) { return well_known(name) || name == "eval_loss"; }
  /// Whether a canonical signal is one that learning is about.
  static bool is_of_learning(std::string_view signal);
  /// Whether a dict that nobody's names made a record may still be one of a known trainer: figures, and no settings.
  static bool may_be_named(const MetricLine& dict);
  /// Whether a table or a dict over several lines is a metric record.
  bool accepts(const MetricLine& block);
  /// Whether a loss and something else that training measures are among its names.
  bool has_loss(const MetricLine& line);
  /// How many of its names are rewards.
  size_t rewards_in(const MetricLine& line) const;
  /// Whether a line says which step begins, or is a record by itself: no row of a table.
  bool begins_record(std::string_view text);
  /// Whether that record says its step itself.
  bool says_its_step(std::string_view text);

 private:
  Found read_line(std::string_view text, uint64_t number, MetricLine& out, RareBytes rare);
  bool read_row(std::string_view text, MetricLine& out, Found& found);
  int64_t over_epochs(const StepPlace& place, int64_t* total);
  int64_t over_whole_epochs(const StepPlace& place, int64_t* total) const;
  void note_bar_of_epoch(const StepPlace& at);
  int64_t over_rounds(const StepPlace& place, int64_t* total);
  static constexpr size_t kHeadingBytes = 120;  // of a line that only says which step or epoch begins
  static bool is_of_round(const StepPlace& place);
  bool begins_epoch(std::string_view text, const StepPlace& at);
  void note_heading(std::string_view text, const StepPlace& at);
  static bool is_heading(std::string_view text, const StepPlace& at);
  bool sums_up_epoch(std::string_view text, const StepPlace& at) const;
  MetricLine::Form read_pairs(std::string_view text, const StepPlace& at, MetricLine& out);
  MetricLine::Form read_bar(std::string_view text, size_t done_at, MetricLine& out);
  MetricLine::Form read_values(std::string_view text, const StepPlace& at, MetricLine& out);
  size_t known_in(const MetricLine& line);
  void bracket_place(std::string_view text, StepPlace& at);
  bool is_record(std::string_view text, const MetricLine& out, bool placed, MetricLine::Form form, uint64_t number);
  bool is_held_out_record(std::string_view text, const MetricLine& out, bool placed);
  std::string_view in_plain(std::string_view text, RareBytes rare);
  bool is_held_out(std::string_view text, uint64_t number, const StepPlace& at, bool bars, bool worded);
  bool is_environments(std::string_view text, const StepPlace& at, bool trains, bool worded);
  bool stands_beside(std::string_view text, const MetricLine& out) const;
  void note_point(const MetricLine& record);
  bool is_numbered(std::string_view text, const Found& found, const StepPlace& at, const MetricLine& out);
  bool says_step(const MetricLine& record, bool dict);
  struct Known;
  const Known& known(std::string_view key);
  bool well_known(std::string_view key) { return known(key).learning; }
  bool of_learning(std::string_view key) const;

  struct Known {
    std::string name;
    bool learning = false;  ///< it is commonly given to something that learning is about
    bool held_out = false;  ///< likewise, of an evaluation: "val_acc"
    bool reward = false;    ///< and that is a reward
    bool step = false;      ///< it carries the step, as in the rows of structured files
    Known* next = nullptr;  ///< the one that was asked for behind it last
  };
  const DialectBook& book_;
  size_t known_names_ = 0, known_rewards_ = 0;    // of the record that is_record() saw last
  std::unordered_map<std::string, Known> known_;  // looked up only
  Known* last_known_ = nullptr;
  std::string name_;          // scratch
  MetricLine words_, begun_;  // likewise
  int64_t base_ = 0;          // steps of earlier epochs
  int64_t last_step_ = kNoStep, last_epoch_ = kNoStep;
  int64_t stride_ = 1;  // between the last two steps of an epoch
  static constexpr size_t kEpochs = 1024;
  std::map<int64_t, int64_t> bases_;                          // by epoch
  int64_t headed_epoch_ = kNoStep, headed_epochs_ = kNoStep;  // by the last line that only says which epoch begins
  struct Round {
    int64_t updates = 0, last = kNoStep;  // how many it has, and which was the last
    int64_t base = 0;                     // updates of the rounds before it
  };
  Round round_;
  uint64_t heading_line_ = 0;
  bool blocks_ = false;           // figures stand one by one under such headings
  bool trained_ = false;          // a record of training was read
  bool placed_list_ = false;      // a line with a list of rewards said its step
  bool counts_epochs_ = false;    // nothing but epochs was counted, in lines that sum them up
  bool has_steps_ = false;        // a record named its step
  int64_t saved_step_ = kNoStep;  // that a save named last
  int64_t epoch_bar_ = 0;         // how many steps the bars of the epochs have; kUnequal: not all as many
  static constexpr int64_t kUnequal = -1;
  uint64_t held_out_line_ = 0;  // a line that only says that an evaluation's results follow
  static constexpr int64_t kNoBrackets = INT64_MAX;
  int64_t brackets_ = -1;  // the last number in brackets that counted steps; kNoBrackets: such numbers do not
  // The line that is being read: with ASCII punctuation, with whole names, without what says the step.
  std::string narrow_, named_, pairs_, placeless_, pointed_;
  DecimalCommas commas_;
  EnvironmentLines environments_;
  RoundCounter rounds_;
  UnreadReward unread_;
  bool indented_ = false;  // the line that is being read
  BarValues bar_;
  bool titled_ = false;   // the bar that was read last has its values in brackets before it
  bool redrawn_ = false;  // the bar that was read last has the values of the one before
  std::string said_;      // the message in it, where a logger wrote it as JSON
};

/// A metric name as the generic dialect writes it: lower case, '_' for spaces, dots and dashes, without a leading
/// "train/", "metrics/", "actor/" and the like. Into `out`.
void normal_name(std::string_view raw, std::string& out);

/// A normal name without the words that say how it was averaged and over what: "mean_batch_reward" is "reward". Into
/// `out`; it may be empty.
void core_name(std::string_view normal, std::string& out);

}  // namespace mw
