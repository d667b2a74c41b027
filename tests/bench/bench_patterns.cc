// PatternSet against RE2::Set and grep -E -f, with all patterns of all dialects and signatures.
//
//   bench_patterns [MB]           size of the log that is scanned (default 1000)
//   bench_patterns --peers LOG    only the peers, on LOG: "re2_set MB/s" and "grep MB/s", for bench_replay.py
//
// The log is made of the real logs of ../shared/data where that folder lies beside the project (each copy with later
// steps), else of the practice runs' logs and lines made up here. The peers are slow; they and the ratio's numerator
// run on its first part. Times are CPU times.
#include <fcntl.h>
#include <re2/re2.h>
#include <re2/set.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/prng.h"
#include "base/text.h"
#include "bench.h"
#include "read/books/dialect_book.h"
#include "read/books/signature_book.h"
#include "read/match/pattern_set.h"

namespace mw {
namespace {

constexpr size_t kPeerBytes = 32'000'000;  ///< of the log, for the peers
constexpr size_t kBlock = 1 << 20;         ///< bytes per scan, as the sources read them

std::vector<Pattern> all_patterns(bool say = true) {
  std::vector<Pattern> patterns;
  if (auto book = SignatureBook::load({}); book.ok()) patterns = book->patterns(0);
  if (say) std::printf("signature patterns: %zu\n", patterns.size());
  if (auto book = DialectBook::built_in(); book.ok()) {
    for (Pattern& pattern : book->patterns(static_cast<uint32_t>(patterns.size())))
      patterns.push_back(std::move(pattern));
  }
  if (say) std::printf("all patterns: %zu\n", patterns.size());
  return patterns;
}

bool is_log(const std::filesystem::path& path) {
  const std::string ext = path.extension().string();
  return ext == ".log" || ext == ".out" || ext == ".err" || (ext == ".txt" && path.filename() != "source.txt");
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string made_up_log() {
  Prng prng(7);
  std::string log;
  for (int i = 0; i < 40000; ++i) {
    const std::string n = std::to_string(prng.below(100000));
    switch (prng.below(40)) {
      case 0:
        log += cat("(TaskRunner pid=", n, ") step:", i, " - actor/pg_loss:0.0", n, " - critic/score/mean:0.4\n");
        break;
      case 1:
        log += cat("WARNING 02-19 09:08:11 [scheduler.py:12] request ", n, " preempted\n");
        break;
      case 2:
        log += cat("Traceback (most recent call last):\n  File \"/w/a.py\", line ", n, ", in f\nKeyError: ", n, "\n");
        break;
      default:
        log += cat("(WorkerDict pid=", n, ") the quick brown answer ", n, " of the model goes on with more words ", n,
                   "\n");
    }
  }
  return log;
}

std::string base_log() {
  const std::filesystem::path data = std::filesystem::path(MW_SOURCE_DIR) / ".." / "shared" / "data";
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (auto at = std::filesystem::recursive_directory_iterator(data, error);
       !error && at != std::filesystem::recursive_directory_iterator(); at.increment(error)) {
    if (at->is_regular_file(error) && is_log(at->path())) files.push_back(at->path());
  }
  std::sort(files.begin(), files.end());
  std::string log;
  for (const auto& file : files) {
    log += read_file(file);
    if (!log.ends_with('\n')) log += '\n';
  }
  std::printf("log: %s\n",
              files.empty() ? "made up" : cat(files.size(), " real files, ", log.size() / 1000000, " MB").c_str());
  return files.empty() ? made_up_log() : log;
}

/// `log` with the numbers behind "step" raised by `shift`.
std::string with_later_steps(std::string_view log, int64_t shift) {
  std::string out;
  out.reserve(log.size() + log.size() / 50);
  size_t from = 0;
  for (size_t at = log.find("step"); at != std::string_view::npos; at = log.find("step", at + 4)) {
    size_t begin = at + 4;
    while (begin < log.size() && begin < at + 8 && (log[begin] == ':' || log[begin] == ' ' || log[begin] == '='))
      ++begin;
    size_t end = begin;
    while (end < log.size() && end < begin + 9 && log[end] >= '0' && log[end] <= '9') ++end;
    if (end == begin) continue;
    out.append(log.substr(from, begin - from));
    out.append(std::to_string(std::stoll(std::string(log.substr(begin, end - begin))) + shift));
    from = end;
  }
  out.append(log.substr(from));
  return out;
}

/// Writes the log to `path` until it has `bytes` bytes; copies have later steps.
void write_log(const std::string& path, std::string_view base, size_t bytes) {
  std::ofstream out(path, std::ios::binary);
  for (size_t written = 0, copy = 0; written < bytes; ++copy) {
    const std::string text = with_later_steps(base, static_cast<int64_t>(copy) * 1000);
    const size_t end = text.rfind('\n', std::min(text.size(), bytes - written));
    const size_t size = end == std::string::npos ? text.size() : end + 1;
    out.write(text.data(), static_cast<std::streamsize>(size));
    written += size;
    if (size < text.size()) break;
  }
}

class Mapped {
 public:
  explicit Mapped(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY);
    size_ = static_cast<size_t>(lseek(file, 0, SEEK_END));
    data_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() { munmap(data_, size_); }
  std::string_view text() const { return {static_cast<const char*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

class Counter : public HitListener {
 public:
  size_t hit(std::string_view, size_t, size_t, std::span<const uint32_t> ids) override {
    ++lines;
    hits += ids.size();
    return 0;
  }
  size_t lines = 0, hits = 0;
};

/// Scans `text` in blocks of whole lines. CPU seconds.
double scan(const PatternSet& set, std::string_view text, Counter& counter) {
  const double start = bench::cpu_s();
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(at + kBlock, text.size());
    if (end < text.size()) {
      const size_t feed = text.rfind('\n', end);
      end = feed == std::string_view::npos || feed < at ? text.size() : feed + 1;
    }
    set.scan(text.substr(at, end - at), counter);
    at = end;
  }
  return bench::cpu_s() - start;
}

/// The peer: RE2::Set on every line. CPU seconds; -1 when it does not compile.
double re2_set(const std::vector<Pattern>& patterns, std::string_view text, size_t* lines) {
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_max_mem(256 << 20);
  options.set_log_errors(false);
  RE2::Set set(options, RE2::UNANCHORED);
  for (const Pattern& pattern : patterns) {
    set.Add(pattern.regex ? pattern.expression : RE2::QuoteMeta(pattern.expression), nullptr);
  }
  if (!set.Compile()) return -1;
  std::vector<int> ids;
  const double start = bench::cpu_s();
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (set.Match({text.data() + at, end - at}, &ids)) ++*lines;
    at = end + 1;
  }
  return bench::cpu_s() - start;
}

/// As a POSIX extended expression, as far as grep has the same thing.
std::string for_grep(const Pattern& pattern) {
  std::string out;
  const std::string& e = pattern.expression;
  for (size_t i = 0; i < e.size(); ++i) {
    if (!pattern.regex) {
      if (std::strchr(".[]{}()*+?|^$\\", e[i]) != nullptr) out.push_back('\\');
      out.push_back(e[i]);
    } else if (e[i] == '\\' && i + 1 < e.size()) {
      ++i;
      out += e[i] == 'd' ? "[0-9]" : e[i] == 'D' ? "[^0-9]" : std::string("\\") + e[i];
    } else if (e.compare(i, 3, "(?:") == 0) {
      out.push_back('(');
      i += 2;
    } else if (e.compare(i, 4, "(?P<") == 0) {
      out.push_back('(');
      i = e.find('>', i);
    } else if (e[i] == '?' && i > 0 && (e[i - 1] == '*' || e[i - 1] == '+')) {
      continue;  // lazy
    } else {
      out.push_back(e[i]);
    }
  }
  return out;
}

/// grep -E -c -f as a process of its own. CPU seconds; -1 when it fails.
double grep(const std::string& folder, const std::string& log, const char* locale) {
  const std::string patterns = folder + "/patterns.txt", out = folder + "/grep.out";
  const double start = bench::cpu_s(RUSAGE_CHILDREN);
  const pid_t child = fork();
  if (child == 0) {
    setenv("LC_ALL", locale, 1);
    dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);  // into /dev/null grep would stop at the first hit
    execlp("grep", "grep", "-E", "-a", "-c", "-f", patterns.c_str(), log.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) return -1;
  return bench::cpu_s(RUSAGE_CHILDREN) - start;
}

void write_for_grep(const std::vector<Pattern>& patterns, const std::string& folder) {
  std::ofstream out(folder + "/patterns.txt");
  for (const Pattern& pattern : patterns) out << for_grep(pattern) << '\n';
}

void compare(const std::vector<Pattern>& patterns, const PatternSet& set, const std::string& folder,
             bench::Table& table) {
  const Mapped part(folder + "/part.log");
  const double mb = static_cast<double>(part.text().size()) / 1e6;
  Counter ours;
  const double our_s = scan(set, part.text(), ours);
  size_t peer_lines = 0;
  const double peer_s = re2_set(patterns, part.text(), &peer_lines);
  table.figure("first part: PatternSet", mb / our_s, "MB/s");
  table.figure("first part: RE2::Set, same core", mb / peer_s, "MB/s");
  table.figure("first part: lines that match, PatternSet", static_cast<double>(ours.lines), "lines");
  table.figure("first part: lines that match, RE2::Set", static_cast<double>(peer_lines), "lines");
  table.at_least("ratio to RE2::Set", peer_s / our_s, "x", 2);
  write_for_grep(patterns, folder);
  for (const char* locale : {"C", "C.UTF-8"}) {
    const double grep_s = grep(folder, folder + "/part.log", locale);
    table.figure(cat("first part: grep -E -f, LC_ALL=", locale), mb / grep_s, "MB/s");
    table.at_least(cat("ratio to grep -E -f, LC_ALL=", locale), grep_s / our_s, "x", 6);
  }
}

int run(size_t bytes) {
  bench::Table table;
  const std::vector<Pattern> patterns = all_patterns();
  double start = bench::cpu_s();
  const double before_mb = bench::peak_rss_mb();
  auto set = PatternSet::compile(patterns);
  if (!set.ok()) {
    std::printf("%s\n", set.error().what.c_str());
    return 1;
  }
  table.at_most("compile", (bench::cpu_s() - start) * 1e3, "ms", 100);
  table.at_most("memory for compiling", bench::peak_rss_mb() - before_mb, "MB", 20);
  table.figure("literals in the prefilter", static_cast<double>(set->size().literals), "");
  table.figure("prefilter's automaton", static_cast<double>(set->size().prefilter_bytes) / 1e3, "kB");
  for (const std::string& slow : set->slow_patterns()) std::printf("no literal in: %s\n", slow.c_str());

  char name[] = "/tmp/midwatch-bench-XXXXXX";
  const std::string folder = mkdtemp(name);
  const std::string log = folder + "/whole.log";
  {
    const std::string base = base_log();
    write_log(log, base, bytes);
    write_log(folder + "/part.log", base, std::min(bytes, kPeerBytes));
  }
  {
    const Mapped whole(log);
    Counter counter;
    const double seconds = scan(*set, whole.text(), counter);
    const double mb = static_cast<double>(whole.text().size()) / 1e6;
    table.figure("whole log", mb, "MB");
    table.figure("lines that match", static_cast<double>(counter.lines), "lines");
    table.figure("scan of the whole log, one core (aim: 600, decision 0006)", mb / seconds, "MB/s");
    table.figure("expressions compiled on the way", static_cast<double>(set->size().compiled), "");
  }
  compare(patterns, *set, folder, table);
  if (std::getenv("KEEP") == nullptr) std::filesystem::remove_all(folder);
  return table.status();
}

int run_peers(const std::string& log) {
  const std::vector<Pattern> patterns = all_patterns(false);
  char name[] = "/tmp/midwatch-bench-XXXXXX";
  const std::string folder = mkdtemp(name);
  write_for_grep(patterns, folder);
  const Mapped text(log);
  const double mb = static_cast<double>(text.text().size()) / 1e6;
  size_t lines = 0;
  const double re2_s = re2_set(patterns, text.text(), &lines), grep_s = grep(folder, log, "C");
  std::printf("re2_set %.4g\ngrep %.4g\n", mb / re2_s, mb / grep_s);
  std::filesystem::remove_all(folder);
  return re2_s > 0 && grep_s > 0 ? 0 : 1;
}

}  // namespace
}  // namespace mw

int main(int count, char** words) {
  if (count > 2 && std::string_view(words[1]) == "--peers") return mw::run_peers(words[2]);
  const long mb = count > 1 ? std::strtol(words[1], nullptr, 10) : 1000;
  return mw::run(static_cast<size_t>(mb > 0 ? mb : 1000) * 1000000);
}
