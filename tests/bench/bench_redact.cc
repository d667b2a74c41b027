// What the redactor changes in ordinary text, and how fast it is: bench_redact [--show N] [FILE...]
// Without a FILE: the logs of ../shared/data. Every line is redacted by itself; binary files (a NUL in the first 4 KiB)
// are left out.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/secrets.h"
#include "base/text.h"
#include "bench.h"

namespace {

struct Totals {
  size_t lines = 0;
  size_t changed = 0;
  size_t bytes = 0;
  double cpu_s = 0;
};

std::vector<std::string> real_logs() {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  std::error_code error;
  for (auto at = fs::recursive_directory_iterator(fs::path(MW_SOURCE_DIR) / ".." / "shared" / "data", error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const std::string kind = at->path().extension();
    if (kind == ".log" || kind == ".out" || kind == ".err" || kind == ".txt") files.push_back(at->path());
  }
  return files;
}

void show_line(const std::string& file, std::string_view line, const std::vector<mw::SecretSpan>& spans) {
  for (const mw::SecretSpan& span : spans) {
    const size_t from = span.begin - std::min<size_t>(span.begin, 50);
    std::printf("%s\t%s [[%s]] %s\n", file.c_str(), mw::escape_terminal(line.substr(from, span.begin - from)).c_str(),
                mw::escape_terminal(line.substr(span.begin, std::min<size_t>(span.end - span.begin, 120))).c_str(),
                mw::escape_terminal(line.substr(span.end, 30)).c_str());
  }
}

void redact(const std::string& file, size_t& show, Totals& totals) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (text.substr(0, 4096).find('\0') != std::string::npos) return;
  const double begin = mw::bench::cpu_s();
  for (const std::string_view line : mw::split(text, '\n')) {
    ++totals.lines;
    totals.bytes += line.size();
    const std::vector<mw::SecretSpan> spans = mw::find_secrets(line);
    if (spans.empty()) continue;
    ++totals.changed;
    if (show == 0) continue;
    --show;
    show_line(file, line, spans);
  }
  totals.cpu_s += mw::bench::cpu_s() - begin;
}

}  // namespace

int main(int argc, char** argv) {
  size_t show = 0;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--show" && i + 1 < argc) {
      show = static_cast<size_t>(mw::parse_int(argv[++i]).value_or(0));
    } else {
      files.emplace_back(argv[i]);
    }
  }
  if (files.empty()) files = real_logs();
  if (files.empty()) {
    std::puts("redact: no FILE, and ../shared/data is not beside the project: nothing is measured");
    return 0;
  }
  Totals totals;
  for (const std::string& file : files) redact(file, show, totals);
  if (totals.lines == 0) {
    std::puts("redact: the files hold no line of text");
    return 1;
  }
  mw::bench::Table table;
  table.figure("redact: lines", static_cast<double>(totals.lines), "lines");
  table.at_most("redact: lines that it changes",
                1e6 * static_cast<double>(totals.changed) / static_cast<double>(totals.lines), "of 10^6", 100);
  table.figure("redact: text, one core", static_cast<double>(totals.bytes) / 1e6 / totals.cpu_s, "MB/s");
  return table.status();
}
