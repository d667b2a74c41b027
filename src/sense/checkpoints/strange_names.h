// Checkpoints that lie where a run saves, under names that its framework does not give: how they are named is learned
// where that is certain. Else nothing of midwatch's looks at them, keeps them or goes back to them, until a person says
// how they are named.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/checkpoint_layout.h"
#include "core/task.h"
#include "platform/background_call.h"
#include "platform/clock.h"
#include "platform/disk.h"
#include "platform/system.h"
#include "sense/checkpoints/beside.h"

namespace mw {

struct StrangeNames {
  std::string folder;   ///< in which they lie
  std::string pattern;  ///< of their names: "checkpoint_{step}"
  std::string example;  ///< one of the names

  /// Not where `layout` gives such names: they were looked for before the framework was known.
  bool strange_to(const CheckpointLayout& layout) const {
    return !layout.known() || !step_in(layout.folder, example).has_value();
  }
};

/// In `roots` and the folders directly in them: folders with weights or an optimizer in them that were changed at
/// `since` or later, all named by one pattern that is usual and is not `layout`'s. Nothing where any folder there has a
/// name of `layout`'s, and where the disk does not answer.
std::optional<StrangeNames> find_strange_names(Disk& disk, const std::vector<std::string>& roots,
                                               const CheckpointLayout& layout, Time since);

/// A framework whose checkpoints are known by what is in them, and how it names them (KnowledgeBase::savers()).
struct Saver {
  std::string framework;
  CheckpointLayout layout;
};

/// The first of `roots` that holds checkpoints of that framework and nobody else's: by their names, with the numbers of
/// saves in a row; by the files in one that was changed at `since` or later; and none is there that `own` names. ""
/// where there is none, or the disk does not answer.
std::string find_counted(Disk& disk, const std::vector<std::string>& roots, const Saver& saver,
                         const CheckpointLayout& own, Time since);

/// Checkpoints of which each is a file.
struct NamedFiles {
  std::string folder, pattern;               ///< "ckpt_{step}.pt"
  std::map<std::string, SavedBeside> saved;  ///< by path
};
/// Those in `folders`, of folders in which all of them have one pattern.
std::vector<NamedFiles> find_named_files(Disk& disk, const std::set<std::string>& folders);

/// What StrangeNamesTask asks, and whom.
struct StrangeNamesScope {
  std::shared_ptr<Disk> disk;
  std::shared_ptr<System> system;
  std::vector<std::string> roots;  ///< that were declared
  std::string folder;              ///< absolute; what relative paths in the run's files start from
  std::string run_folder;          ///< who writes is noted there (writers.h)
  std::function<CheckpointLayout(const std::string& framework)> layout;
  std::vector<Saver> savers;                      ///< none where a person said how checkpoints are named
  std::function<std::vector<int64_t>()> members;  ///< the run's own processes
  std::function<void(const std::string& sentence)> say;
};

/// Learns, once in a run, that it saves as one of `savers` does: where that lies in a declared folder, in the folder of
/// such a framework's name below it, or where a process of the run has files open to write. What lies elsewhere, or has
/// other names, it says, once, on the terminal and as a note in the journal. Likewise, of a run whose framework is not
/// known, of files that may be checkpoints: in a declared folder or one in it, one that the run's files name, or in
/// which its processes write, two at least of one pattern, each made when the run had just reached the step in its
/// name. Dumps of samples look the same: a person must say which they are.
class StrangeNamesTask final : public Task {
 public:
  static constexpr Duration kPeriod = Duration::seconds(2);
  static constexpr Duration kBeside = Duration::seconds(30);  ///< between looks where its processes work
  static constexpr Duration kWriters = Duration::seconds(1);  ///< between looks at who writes, while nothing is learnt

  StrangeNamesTask(Clock& clock, StrangeNamesScope scope)
      : clock_(clock), scope_(std::move(scope)), since_(clock.now()) {}

  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override;

 private:
  struct Answer {
    std::set<std::string> written;  ///< folders of checkpoints in which the run's processes write
    std::set<std::string> writing;  ///< folders in which they write files that may be checkpoints
    std::string saver, root;        ///< learnt; "": nothing
    std::string beside;             ///< a folder with such checkpoints that nothing shows to be the run's
    std::optional<StrangeNames> strange;
    std::vector<NamedFiles> files;
    bool searched_beside = false;
    Duration cost;  ///< of a core
  };
  struct Question {
    StrangeNamesScope scope;
    CheckpointLayout own;       ///< of the run's framework
    std::vector<int64_t> pids;  ///< the run's own processes
    Time since = {};
    std::set<std::string> said = {};                     ///< folders that its files name, or in which it writes
    std::set<std::string> written = {};                  ///< as written_
    bool search = false, near = false, strange = false;  ///< what is due, besides who writes
    bool files = false;                                  ///< and of whom: checkpoints that are files
  };
  static Answer answer_to(const Question& question);
  static void look_for_savers(const Question& question, Answer& answer);
  void take(const Answer& answer, const State& state, EventWriter& writer);
  void ask(const State& state);
  void learn(const std::string& saver, const std::string& folder, EventWriter& writer);
  void say(const std::string& words, EventWriter& writer);

  Clock& clock_;
  StrangeNamesScope scope_;
  Time since_;  ///< what is older may be another run's
  bool said_ = false, said_beside_ = false, said_files_ = false, learnt_ = false;
  std::set<std::string> written_;               ///< checkpoints that were seen to be written in so far
  std::set<std::string> writing_;               ///< likewise folders of files that may be some
  std::string beside_;                          ///< as of the last answer
  Duration next_, searched_, searched_beside_;  ///< by the steady clock
  StepsInTime steps_;
  BackgroundCall<Answer> call_;
};

}  // namespace mw
