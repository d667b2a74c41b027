// The file systems that the run writes to, and how large its checkpoints are. A network mount may not answer: each call
// is made in the background, and how long one stays out is itself a figure.
#include <algorithm>
#include <map>
#include <optional>

#include "base/text.h"
#include "platform/background_call.h"
#include "sense/host/host.h"

namespace mw::host {
namespace {

constexpr size_t kFolders = 16;                       // looked at
constexpr size_t kTreeEntries = 200'000;              // of a checkpoint
constexpr Duration kSilent = Duration::seconds(20);   // without an answer, after which the disk is said to be silent
constexpr Duration kPatience = Duration::seconds(1);  // that a round waits for answers
constexpr Duration kMeasureAgain = Duration::seconds(60);  // a save may go on behind the trainer's back
constexpr int kMeasured = 3;                               // times that one checkpoint is measured
constexpr std::string_view kShared = "/dev/shm";

struct Answer {
  std::string mount;
  Space space;
  bool ok = false;
};

struct Tree {
  std::string mount;
  int64_t bytes = 0;
  bool whole = false;
};

/// What lies in a folder or file, without following links.
Tree measure(System& system, const std::string& mounts, const std::string& top) {
  Tree tree;
  const auto real = system.real(top);
  if (!real.ok()) return tree;
  tree.mount = mount_of(mounts, *real);
  std::vector<std::string> left{*real};
  size_t seen = 0;
  while (!left.empty()) {
    const std::string path = std::move(left.back());
    left.pop_back();
    if (++seen > kTreeEntries) return tree;
    const auto entry = system.entry(path);
    if (!entry.ok()) continue;  // deleted meanwhile
    tree.bytes += entry->bytes;
    if (!entry->folder) continue;
    const auto names = system.names(path);
    if (!names.ok()) continue;
    for (const std::string& name : *names) left.push_back(cat(path, "/", name));
  }
  tree.whole = true;
  return tree;
}

class Disks final : public Part {
 public:
  explicit Disks(std::shared_ptr<System> system) : system_(std::move(system)) {}
  std::string_view name() const override { return "disks"; }

  void begin(const Aim& aim, Duration now) override {
    began_ = now;
    const auto mounts = system_->read("/proc/self/mounts", size_t{1} << 20);
    if (mounts.ok()) mounts_ = *mounts;
    ask(std::string(kShared), now);
    for (const std::string& folder : aim.folders) ask(folder, now);
    if (!aim.checkpoint.empty() && aim.checkpoint != checkpoint_) {
      checkpoint_ = aim.checkpoint;
      measured_ = 0;
      measured_at_ = {};
    }
    const bool due = measured_ == 0 || now.ns - measured_at_.ns >= kMeasureAgain.ns;
    if (checkpoint_.empty() || measured_ >= kMeasured || !due || tree_.started()) return;
    ++measured_;
    measured_at_ = now;
    tree_.start(
        [system = system_, mounts_now = mounts_, path = checkpoint_] { return measure(*system, mounts_now, path); });
  }

  bool collect(Notes& notes, Duration now) override {
    bool out = false;
    for (auto& [folder, question] : questions_) {
      if (auto answer = question.call.take(); answer && answer->ok) question.answer = std::move(*answer);
      out = out || question.call.busy();
    }
    if (const auto tree = tree_.take(); tree && tree->whole && tree->bytes > 0) sizes_[tree->mount] = tree->bytes;
    if (out && now.ns - began_.ns < kPatience.ns) return false;
    report(notes, now);
    return true;
  }

  bool busy() const override {
    return tree_.busy() ||
           std::any_of(questions_.begin(), questions_.end(), [](const auto& one) { return one.second.call.busy(); });
  }

 private:
  struct Question {
    BackgroundCall<Answer> call;
    Duration since;
    std::optional<Answer> answer;  // the last
    bool silent = false;
  };

  void ask(const std::string& folder, Duration now) {
    if (questions_.size() >= kFolders && questions_.count(folder) == 0) return;
    Question& question = questions_[folder];
    if (question.call.started()) return;
    question.since = now;
    question.answer.reset();
    question.call.start([system = system_, mounts = mounts_, folder] {
      Answer answer;
      const auto real = system->real(folder);
      if (!real.ok()) return answer;
      const auto space = system->space(*real);
      if (!space.ok()) return answer;
      answer = {mount_of(mounts, *real), *space, space->size > 0};
      if (answer.mount.empty()) answer.mount = *real;
      return answer;
    });
  }

  void report(Notes& notes, Duration now) {
    std::map<std::string, Space> spaces;  // folders on the same file system are one thing
    for (auto& [folder, question] : questions_) {
      if (question.answer) spaces[question.answer->mount] = question.answer->space;
      const Duration out{now.ns - question.since.ns};
      const bool silent = question.call.busy() && out >= kSilent;
      if (silent || question.silent) notes.figure("disk.silent", folder, silent ? out.seconds() : 0);
      question.silent = silent;
    }
    for (const auto& [mount, space] : spaces) {
      notes.figure("disk.free", mount, static_cast<double>(space.free));
      notes.figure("disk.size", mount, static_cast<double>(space.size));
      if (space.files_size <= 0) continue;
      notes.figure("disk.inodes.free", mount, static_cast<double>(space.files_free));
      notes.figure("disk.inodes.size", mount, static_cast<double>(space.files_size));
    }
    for (const auto& [mount, bytes] : sizes_) notes.figure("checkpoint.bytes", mount, static_cast<double>(bytes));
    sizes_.clear();
  }

  std::shared_ptr<System> system_;
  Duration began_, measured_at_;
  std::string mounts_, checkpoint_;
  int measured_ = 0;
  std::map<std::string, Question> questions_;
  BackgroundCall<Tree> tree_;
  std::map<std::string, int64_t> sizes_;
};

}  // namespace

std::unique_ptr<Part> make_disks(std::shared_ptr<System> system) { return std::make_unique<Disks>(std::move(system)); }

}  // namespace mw::host
