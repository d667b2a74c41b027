#include "sense/checkpoints/deep_check.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "base/text.h"
#include "sense/checkpoints/file_pass.h"
#include "sense/checkpoints/trainer_figures.h"

namespace mw {
namespace {

/// How far all threads are together.
class Meter {
 public:
  Meter(const CheckProgress& progress, int64_t all) : progress_(progress), all_(all) {}
  /// False: somebody said stop.
  bool add(uint64_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    so_far_ += static_cast<int64_t>(bytes);
    if (!stopped_ && progress_ && !progress_(so_far_, all_)) stopped_ = true;
    return !stopped_;
  }
  bool stopped() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return stopped_;
  }

 private:
  std::mutex mutex_;
  const CheckProgress& progress_;
  const int64_t all_;
  int64_t so_far_ = 0;
  bool stopped_ = false;
};

std::vector<ByteRange> ranges_of(const Examination& exam, const TreeFile& file, ReadFile& open, OneFile& out) {
  const auto numbers = exam.numbers_in().find(folder_in_tree(file.path));
  if (numbers != exam.numbers_in().end() && !file.name().starts_with('.'))
    return {{0, static_cast<uint64_t>(file.bytes), numbers->second, 0, false, file.path, 0}};
  const auto items = exam.items().find(file.path);
  if (items == exam.items().end()) {
    FileDirectory directory = read_directory(open, file.name(), static_cast<uint64_t>(file.bytes));
    mark_trainer_figures(directory);
    return std::move(directory.ranges);
  }
  std::vector<ByteRange> all;
  for (const DistributedItem& item : items->second) {
    std::string head;
    if (!open.read_at(item.at, 4, head).ok() || head != "PK\x03\x04") continue;
    FileDirectory directory = read_torch_zip(open, item.at, item.bytes);
    for (const FileDirectory::Found& found : directory.found)
      out.problem(found.trouble, file.path, cat(item.name, ": ", found.what), true, CheckDepth::kContent);
    for (ByteRange& range : directory.ranges) {
      if (range.dtype != Dtype::kOther) range.name = item.name;
      range.figure = has_point(range.dtype) && is_trainer_figure(item.name, range.bytes / size_of(range.dtype));
      all.push_back(std::move(range));
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const ByteRange& a, const ByteRange& b) { return a.at < b.at; });
  return all;
}

/// Who does what. Each thread leads a file of its own as long as there are some; then it helps those that lead.
class Desk {
 public:
  Desk(const Examination& exam, Disk& disk, std::vector<OneFile>& out, Meter& meter)
      : exam_(exam), disk_(disk), out_(out), meter_(meter) {}

  void work() {
    std::string buffer;
    std::unique_lock<std::mutex> lock(mutex_);
    while (!meter_.stopped()) {
      if (next_ < out_.size()) {
        const size_t index = next_++;
        ++leaders_;
        lock.unlock();
        lead(index, buffer);
        lock.lock();
        --leaders_;
        changed_.notify_all();
      } else if (leaders_ == 0) {
        return;
      } else if (!help(lock, buffer)) {
        changed_.wait(lock);
      }
    }
  }

 private:
  void lead(size_t index, std::string& buffer) {
    const TreeFile& file = exam_.tree().files()[index];
    OneFile& out = out_[index];
    auto opened = disk_.open_read(exam_.tree().full(file.path));
    if (!opened.ok()) {
      return out.problem(Trouble::kUnreadable, file.path, cat("it cannot be opened", system_words(opened.error())),
                         true, CheckDepth::kContent);
    }
    FilePass pass(file, out);
    std::vector<ByteRange> ranges = ranges_of(exam_, file, **opened, out);
    pass.open(std::move(*opened), std::move(ranges));
    for (size_t i = 0; i < pass.chunks() && !pass.failed(); ++i) {
      std::unique_lock<std::mutex> lock(mutex_);
      if (i == 0) led_.push_back(&pass);
      const bool own = pass.reach(i);
      changed_.notify_all();
      while (!own && !pass.ready(i) && !meter_.stopped() && help(pass, lock, buffer)) continue;
      const FilePass::Way way = own ? FilePass::kOwn : pass.ready(i) ? FilePass::kKept : FilePass::kAgain;
      lock.unlock();
      const uint64_t bytes = pass.lead(i, way, buffer);
      if (bytes > 0 && !meter_.add(bytes)) break;
    }
    std::unique_lock<std::mutex> lock(mutex_);
    led_.erase(std::find(led_.begin(), led_.end(), &pass));
    changed_.wait(lock, [&pass] { return pass.alone(); });
    lock.unlock();
    if (!meter_.stopped()) pass.finish(buffer);
  }

  /// False: there is nothing to help with now.
  bool help(std::unique_lock<std::mutex>& lock, std::string& buffer) {
    for (FilePass* const pass : led_) {
      if (help(*pass, lock, buffer)) return true;
    }
    return false;
  }
  bool help(FilePass& pass, std::unique_lock<std::mutex>& lock, std::string& buffer) {
    Chunk* const chunk = pass.ahead();
    if (chunk == nullptr) return false;
    lock.unlock();
    pass.help(*chunk, buffer);
    lock.lock();
    pass.helped(*chunk);
    changed_.notify_all();
    return true;
  }

  const Examination& exam_;
  Disk& disk_;
  std::vector<OneFile>& out_;
  Meter& meter_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<FilePass*> led_;  // being read; each lives on its leader's stack
  size_t next_ = 0, leaders_ = 0;
};

}  // namespace

DeepAnswer check_deeply(Examination& exam, int threads, const CheckProgress& progress) {
  Meter meter(progress, exam.tree().bytes());
  std::vector<OneFile> found(exam.tree().files().size());
  Desk desk(exam, exam.disk(), found, meter);
  std::vector<std::thread> others;
  others.reserve(static_cast<size_t>(std::max(threads, 1)));
  for (int i = 1; i < threads; ++i) others.emplace_back([&desk] { desk.work(); });
  desk.work();
  for (std::thread& other : others) other.join();
  DeepAnswer answer;
  answer.stopped = meter.stopped();
  for (OneFile& one : found) {  // in the files' order, however the threads shared them
    for (CheckpointProblem& problem : one.problems)
      exam.problem(problem.trouble, std::move(problem.path), std::move(problem.what), problem.breaks, problem.depth);
    answer.figures.bytes += one.figures.bytes;
    answer.figures.tensors += one.figures.tensors;
    answer.figures.zero += one.figures.zero;
    answer.figures.weights += one.figures.weights;
    answer.figures.weight_bytes += one.figures.weight_bytes;
    answer.figures.other_bytes += one.figures.other_bytes;
    answer.figures.zero_weights += one.figures.zero_weights;
    answer.figures.all.add(one.figures.all);
    if (one.hashed) answer.files.push_back(std::move(*one.hashed));
  }
  size_t tensors = 0;
  for (const ManifestFile& file : answer.files) tensors += file.tensors.size();
  for (ManifestFile& file : answer.files) {
    if (tensors > kManifestTensors) file.tensors.clear();
  }
  return answer;
}

}  // namespace mw
