// What the kernel says of GPUs, disks and killed processes, for the signatures to look at. A machine may be shared:
// lines about processes count only when they name one of the run's.
#include <algorithm>
#include <optional>

#include "base/text.h"
#include "sense/host/host.h"
#include "sense/host/xid.h"

namespace mw::host {
namespace {

constexpr size_t kPending = 64;  // lines that wait to be known as the run's
constexpr int kRounds = 3;       // for so many rounds

enum class About : uint8_t {
  kMachine,  ///< everybody's business
  kProcess,  ///< counts when it names a process of the run
  kDeath     ///< counts when a process of the run with that name is gone
};
struct Topic {
  std::string_view mark;
  About about = About::kMachine;
};
// Words of the kernel's own format strings (mm/oom_kill.c, kernel/hung_task.c, block/, fs/) and of the NVIDIA driver's.
constexpr Topic kTopics[] = {{"NVRM: "},
                             {"nvidia-nvswitch"},
                             {"NVLink"},
                             {"I/O error"},
                             {"EXT4-fs error"},
                             {"XFS ("},
                             {"nfs: server "},
                             {"Remounting filesystem read-only"},
                             {"Hardware Error"},
                             {"mce: "},
                             {"blocked for more than ", About::kProcess},
                             {"Killed process ", About::kDeath},
                             {"segfault at ", About::kDeath},
                             {"general protection fault", About::kDeath},
                             {"trap invalid opcode", About::kDeath}};

class KernelLog final : public Part {
 public:
  KernelLog(System& system, Seen& seen) : system_(system), seen_(seen) {}
  std::string_view name() const override { return "kernel-log"; }
  void begin(const Aim&, Duration) override {}

  bool collect(Notes& notes, Duration) override {
    if (given_up_) return true;
    const auto lines = system_.kernel_lines();
    if (!lines.ok()) {
      given_up_ = true;
      notes.unseen(cat("the kernel's log: ", lines.error().what));
      return true;
    }
    const auto second = system_.read("/proc/2/stat", 64);
    same_numbers_ = second.ok() && contains(*second, "(kthreadd)");
    for (const std::string& line : *lines) {
      if (const auto xid = parse_xid(line)) {
        about_gpu(notes, line, *xid);
        continue;
      }
      const auto topic = std::find_if(std::begin(kTopics), std::end(kTopics),
                                      [&line](const Topic& one) { return contains(line, one.mark); });
      if (topic == std::end(kTopics)) continue;
      const bool process = topic->about == About::kProcess;
      if (topic->about == About::kMachine || (process && names_a_process(line))) notes.line(line);
      if (topic->about == About::kDeath && pending_.size() < kPending) pending_.push_back({line, kRounds});
    }
    seen_.kernel_log = true;
    report_deaths(notes);
    return true;
  }

 private:
  /// What makes a GPU unusable is everybody's business who uses it; what ends one process's work is that process's.
  void about_gpu(Notes& notes, const std::string& line, const Xid& xid) {
    if (is_foreign_gpu(seen_, xid.gpu)) return;
    if (!is_of_process(xid.number) || (xid.pid == 0 && xid.process.empty())) {
      notes.line(line);
    } else if (pending_.size() < kPending) {
      pending_.push_back({line, kRounds, xid});
    }
  }

  /// In a container the kernel's numbers of processes are not ours: there the name counts, of one that is gone.
  bool is_owner(const Xid& xid) const {
    const auto is = [&](int64_t pid) { return pid == xid.pid; };
    const bool here = same_numbers_ && std::any_of(seen_.pids.begin(), seen_.pids.end(), is);
    return here || std::any_of(seen_.gone.begin(), seen_.gone.end(), [&](const Gone& gone) {
             return same_numbers_ ? gone.pid == xid.pid : gone.name == xid.process;
           });
  }

  static bool named(const std::string& line, const std::string& name) {
    return name.size() > 1 && contains(line, name);
  }
  bool names_a_process(const std::string& line) const {
    return std::any_of(seen_.names.begin(), seen_.names.end(), [&](const auto& name) { return named(line, name); });
  }

  /// A large process is not gone at once when it was killed.
  void report_deaths(Notes& notes) {
    for (Pending& pending : pending_) {
      const bool ours = pending.xid ? is_owner(*pending.xid)
                                    : std::any_of(seen_.gone.begin(), seen_.gone.end(), [&](const Gone& gone) {
                                        // "process 711 (python)", "python[711]"; in a container the kernel's numbers
                                        // are not ours.
                                        const bool number = contains(pending.line, cat(" ", gone.pid, " (")) ||
                                                            contains(pending.line, cat("[", gone.pid, "]"));
                                        return named(pending.line, gone.name) && (number || !same_numbers_);
                                      });
      if (ours) notes.line(pending.line);
      pending.rounds = ours ? 0 : pending.rounds - 1;
    }
    std::erase_if(pending_, [](const Pending& pending) { return pending.rounds <= 0; });
  }

  struct Pending {
    std::string line;
    int rounds = 0;
    std::optional<Xid> xid = {};
  };
  std::vector<Pending> pending_;
  bool same_numbers_ = false;  ///< we see the kernel's own threads: its numbers of processes are ours
  System& system_;
  Seen& seen_;
  bool given_up_ = false;
};

}  // namespace

std::unique_ptr<Part> make_kernel_log(System& system, Seen& seen) { return std::make_unique<KernelLog>(system, seen); }

}  // namespace mw::host
