// What single files of a run say, and how much they have in common: whether two of them are of one run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/state.h"

namespace mw {

/// "run_seed12.log" is the words "run" and "seed" and the number "12"; what stands behind the last dot is no part of
/// it.
struct FileName {
  explicit FileName(std::string_view path);
  std::string stem;
  std::set<std::string> words;
  size_t longest_number = 0;
};

/// What the names of two files say of whose they are.
enum class Names {
  kViews,   ///< of one run
  kMaybe,   ///< numbered logs of which nothing else is said: of ranks, or of runs
  kOthers,  ///< by words: more has to differ
  kRuns     ///< the same name with another number: another seed, another day
};

Names names_of(const FileName& a, const FileName& b);

/// Not by their names, or those of the folders in which they lie: views and ranks of one run.
bool may_be_two_runs(const std::string& a, const std::string& b);

/// A log that was not written for so long before another one was is not a view of the run that the other one is of,
/// where they differ.
constexpr Duration kQuiet = Duration::seconds(60);

/// Of two runs of one recipe it differs from the first steps on. Entropy and the distance from the reference may follow
/// much the same course.
bool is_own(std::string_view signal);

/// What was done, as one file says, or the files of one folder.
struct Work {
  int64_t first = kNoStep, last = kNoStep;
  int64_t apart = 1;        ///< steps between two records
  int64_t saved = kNoStep;  ///< the last step of which a checkpoint was whole
  bool did_plan = false;    ///< all steps that were planned, and nothing failed
  Time since, until;        ///< by the clocks of its lines
  bool lacks_zone = false;  ///< they name none

  void add(const Work& other);
};

/// Of one file with training steps.
Work work_of(const State& state, uint32_t source);

/// Are the steps counted from the beginning? What is logged each fifth step begins with the fifth.
bool counts_from_beginning(const Work& work);

/// Is `b`, which begins in the middle of `a`, no later attempt of it but another run that was begun from one of its
/// checkpoints? Then both were at work at once, or `a` was done and had later checkpoints.
bool is_fork(const Work& a, const Work& b);

/// What one file says.
struct ShownFile : Work {
  uint32_t source = 0;
  std::string path;
  uint16_t attempts = 0;    ///< of the run in which it has figures
  bool log = false;         ///< what a console showed
  bool one_by_one = false;  ///< a log or a table; not of a tracker, which puts files of one run beside each other
  std::map<std::pair<std::string, std::string>, std::map<int64_t, double>> figures;  ///< by signal and name
};

/// Of each file that has steps.
std::vector<ShownFile> shown_by_files(const State& state);

struct Likeness {
  size_t shared = 0, other = 0;        ///< figures at steps that both have
  std::set<std::string> differ, same;  ///< signals
  size_t most = 0;                     ///< steps that a signal of `differ` shares
};

/// Of which figures two files are compared by.
enum class Named {
  kAnyhow,
  kAlike,  ///< called the same but for the "train/" that trackers put before a name
  kSame
};
Likeness compare(const ShownFile& a, const ShownFile& b, Named named);
bool same_figures(const Likeness& likeness);

/// Are they two sinks of a trainer's figures by their names (train.log, metrics.jsonl), so that nothing but whose run
/// it is may differ?
bool are_sinks(const std::string& a, const std::string& b);
/// Two such sinks that cannot be of one run: under the same names their figures differ at the same steps, also when one
/// counts from zero and the other one from one, and their clocks do not overlap or the norm of the gradients differs.
bool are_sinks_of_two_runs(const ShownFile& a, const ShownFile& b);

/// Do the paths part at what a rank or another model of one training is called?
bool names_part(std::string_view a, std::string_view b);
/// The same of records in different folders, or of different kinds: a log, and what a tracker or a trainer keeps of
/// figures below its folder or beside it. By clocks where both have them, else by the norm of the gradients where the
/// one lies below the other's folder.
bool are_records_of_two_runs(const ShownFile& a, const ShownFile& b);
/// Is `log` a record of both runs that these would be of? A log of several attempts is one of any, and one that was
/// written while both were.
bool is_of_both(const ShownFile& log, const ShownFile& a, const ShownFile& b);
/// Does one of them end before the other one begins, wherever in the world the clocks are that name no zone?
bool apart_in_time(const ShownFile& a, const ShownFile& b);

/// The group whose file has the name most like that of `path`; nullopt where no one has.
std::optional<size_t> group_by_name(const std::string& path, const std::vector<std::vector<std::string>>& groups);

}  // namespace mw
