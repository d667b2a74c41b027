#include "sense/checkpoints/exchanged.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/save_times.h"
#include "sense/checkpoints/shared_bytes.h"

namespace mw {
namespace {

constexpr size_t kFiles = 64;  // whose counts are compared: of ranks one of each kind
constexpr int64_t kJsonBytes = 1 << 20;
constexpr std::string_view kOptimizer = "optimizer's step";

bool is_reported(const Examination& exam, std::string_view path) {
  return std::any_of(exam.problems().begin(), exam.problems().end(),
                     [path](const CheckpointProblem& one) { return one.breaks && one.path == path; });
}

// ---- counts

/// NeMo-RL's and verl's. A step within an epoch begins anew with each.
Counts counts_in_json(std::string_view text) {
  Counts out;
  const auto json = Json::parse(text);
  if (!json.ok() || !json->is_object()) return out;
  const bool epochs = json->find("epoch") != nullptr || json->find("current_epoch") != nullptr;
  for (const char* const name : {"total_steps", "global_step", "step"}) {
    const int64_t count = json->integer_or(name, -1);
    if (count >= 0 && !(epochs && std::string_view(name) == "step")) out.emplace(name, count);
  }
  return out;
}

Counts counts_in(const FileDirectory& directory, ReadFile& file) {
  Counts out;
  for (const auto& [name, number] : directory.numbers) {
    if (is_trainer_counter(name) && number >= 0) out.emplace(name, number);
  }
  for (const OptimizerCounter& counter : directory.counters) {
    const auto steps = steps_counted(counter, file);
    if (!steps) continue;
    int64_t& most = out.emplace(kOptimizer, *steps).first->second;
    most = std::max(most, *steps);
  }
  return out;
}

bool is_counting_json(std::string_view name) { return name == "training_info.json" || name == "ckpt_contents.json"; }

bool is_pickled(std::string_view name) { return may_be_of_torch(name) || ending_of(name) == "pkl"; }

Counts counts_of(Disk& disk, const std::string& path) {
  const auto open = disk.open_read(path);
  const auto info = open.ok() ? (*open)->info() : Result<FileInfo>(open.error());
  if (!info.ok() || info->size < 0) return {};
  if (!is_counting_json(basename(path)))
    return counts_in(read_directory(**open, basename(path), static_cast<uint64_t>(info->size)), **open);
  std::string text;
  if (info->size > kJsonBytes || !(*open)->read_at(0, static_cast<size_t>(info->size), text).ok()) return {};
  return counts_in_json(text);
}

/// What the layouts read of this checkpoint's files is not read again.
Counts own_counts(Examination& exam, const TreeFile& file) {
  if (is_counting_json(file.name())) return counts_of(exam.disk(), exam.tree().full(file.path));
  const FileDirectory& directory = exam.directory(file);
  if (directory.numbers.empty() && directory.counters.empty()) return {};
  const auto open = exam.disk().open_read(exam.tree().full(file.path));
  return open.ok() ? counts_in(directory, **open) : Counts();
}

/// Names of ranks that differ in their numbers only: they are held against each other.
std::string kind_of(const std::string& path) {
  std::string out;
  for (const char c : path) out += c >= '0' && c <= '9' ? '#' : c;
  return out;
}

/// So many more steps than those before it that no setting explains it. Fewer are an optimizer that was begun anew.
void report_jump(Examination& exam, const std::string& path, const std::vector<CountAt>& counts) {
  constexpr int64_t kTimes = 10, kFew = 10, kMost = int64_t{1} << 40;
  const CountAt& own = counts.front();
  std::vector<const CountAt*> before;
  for (const CountAt& one : counts) {
    if (one.step < own.step && one.count >= 0 && one.count < kMost) before.push_back(&one);
  }
  std::sort(before.begin(), before.end(), [](const CountAt* a, const CountAt* b) { return a->step > b->step; });
  if (before.size() < 2 || own.count >= kMost || is_reported(exam, path)) return;
  const int64_t steps = before[0]->step - before[1]->step, more = before[0]->count - before[1]->count;
  const int64_t since = own.step - before[0]->step, grown = own.count - before[0]->count;
  if (more <= 0 || since > kMost ||
      static_cast<double>(grown) * static_cast<double>(steps) <=
          static_cast<double>(kTimes) * static_cast<double>(more) * static_cast<double>(since)) {
    return;
  }
  if (grown <= kFew) return;
  exam.problem(
      Trouble::kUnlike, path,
      cat("its optimizer's step is ", own.count, ", and ", before[0]->count, " in ", before[0]->checkpoint, " and ",
          before[1]->count, " in ", before[1]->checkpoint, ": it is of another run, or the settings were changed"),
      false);
}

void compare_counts(Examination& exam, const TreeFile& file, const Counts& own,
                    const std::vector<std::string>& beside) {
  const auto all = counts_beside(step_of_name(exam.tree().own_name()), own, beside, [&](const std::string& other) {
    return counts_of(exam.disk(), cat(other, "/", file.path));
  });
  for (const auto& [name, counts] : all) {
    report_exchanged(exam, file.path, name, counts, name == kOptimizer);
    if (name == kOptimizer) report_jump(exam, file.path, counts);
  }
}

void look_at_counts(Examination& exam, const std::vector<std::string>& beside) {
  const CheckpointTree& tree = exam.tree();
  std::set<std::string> ranks;
  size_t looked = 0;
  for (const TreeFile& file : tree.files()) {
    const bool exported = is_export(file.path) && tree.folders().size() > 1;
    if (exported || !(is_counting_json(file.name()) || is_pickled(file.name()))) continue;
    if (contains(file.path, "rank") && ranks.count(kind_of(file.path)) != 0) continue;
    const Counts own = own_counts(exam, file);
    if (own.empty()) continue;
    ranks.insert(kind_of(file.path));
    if (++looked > kFiles) return;
    compare_counts(exam, file, own, beside);
  }
}

// ---- times

void look_at_times(Examination& exam, const std::vector<std::string>& beside) {
  for (const StrangeTime& one : exchanged_by_time(exam.disk(), exam.tree(), beside)) {
    if (is_reported(exam, one.path) || !not_copied_from(exam.disk(), exam.tree(), one.path, one.other)) continue;
    exam.problem(
        Trouble::kOtherTime, one.path,
        cat("it was written at ", format_utc(one.written).substr(0, 19), "Z, with the files of ", basename(one.other),
            ", and the file of that name there with the files of this one: the two seem", " to have been exchanged"));
  }
}

// ---- counts of several checkpoints

bool run_backwards(const CountAt& a, const CountAt& b) {
  return (a.step < b.step && a.count > b.count) || (a.step > b.step && a.count < b.count);
}

/// So many are counted for each step. Two alone must have begun at step 0.
bool on_one_line(const std::vector<CountAt>& counts, bool whole) {
  if (counts.size() == 2 && (counts[0].step <= 0 || counts[1].step <= 0)) return false;
  const CountAt begin = counts.size() == 2 ? CountAt{0, 0, ""} : counts[0];
  const int64_t steps = counts[1].step - begin.step, more = counts[1].count - begin.count;
  if (steps == 0 || (steps < 0) != (more < 0) || more == 0 || (whole && more % steps != 0)) return false;
  return std::all_of(counts.begin(), counts.end(), [&](const CountAt& one) {
    return static_cast<long double>(one.count - begin.count) * static_cast<long double>(steps) ==
           static_cast<long double>(one.step - begin.step) * static_cast<long double>(more);
  });
}

}  // namespace

std::map<std::string, std::vector<CountAt>> counts_beside(int64_t step, const Counts& own,
                                                          const std::vector<std::string>& beside,
                                                          const std::function<Counts(const std::string&)>& of) {
  std::map<std::string, std::vector<CountAt>> all;
  for (const auto& [name, count] : own) all[name].push_back({step, count, ""});
  std::set<int64_t> steps = {step};
  for (const std::string& other : beside) {
    const std::string checkpoint(basename(other));
    const int64_t its = step_of_name(checkpoint);
    if (its == kNoStep || !steps.insert(its).second) continue;
    for (const auto& [name, count] : of(other)) {
      if (const auto same = all.find(name); same != all.end()) same->second.push_back({its, count, checkpoint});
    }
  }
  return all;
}

std::optional<size_t> exchanged_with(const std::vector<CountAt>& counts, bool of_optimizer) {
  for (size_t i = 1; i < counts.size(); ++i) {
    if (!run_backwards(counts[0], counts[i])) continue;
    std::vector<CountAt> turned = counts;
    std::swap(turned[0].count, turned[i].count);
    if (on_one_line(turned, of_optimizer)) return i;
  }
  return std::nullopt;
}

void report_exchanged(Examination& exam, const std::string& path, const std::string& name,
                      const std::vector<CountAt>& counts, bool of_optimizer) {
  const auto other = is_reported(exam, path) ? std::nullopt : exchanged_with(counts, of_optimizer);
  if (!other) return;
  exam.problem(Trouble::kOtherCount, path,
               cat("its ", clip(sanitize_utf8(name), 100), " is ", counts[0].count, ", and ", counts[*other].count,
                   " in ", counts[*other].checkpoint, ": the two files seem to have been exchanged"));
}

void look_at_exchanged(Examination& exam, const std::vector<std::string>& beside) {
  if (exam.tree().single_file() || beside.empty() || step_of_name(exam.tree().own_name()) == kNoStep) return;
  look_at_counts(exam, beside);
  look_at_times(exam, beside);
}

}  // namespace mw
