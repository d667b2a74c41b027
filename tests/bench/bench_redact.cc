// What the redactor changes in ordinary text, and how fast it is: bench_redact [--show N] FILE...
// Every line of the files is redacted by itself; binary files (a NUL in the first 4 KiB) are left out.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/secrets.h"
#include "base/text.h"

int main(int argc, char** argv) {
  size_t show = 0, lines = 0, changed = 0, bytes = 0;
  double seconds = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--show" && i + 1 < argc) {
      show = static_cast<size_t>(mw::parse_int(argv[++i]).value_or(0));
      continue;
    }
    std::ifstream in(argv[i], std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (text.substr(0, 4096).find('\0') != std::string::npos) continue;
    const auto begin = std::chrono::steady_clock::now();
    for (const std::string_view line : mw::split(text, '\n')) {
      ++lines;
      bytes += line.size();
      const std::vector<mw::SecretSpan> spans = mw::find_secrets(line);
      if (spans.empty()) continue;
      ++changed;
      if (show == 0) continue;
      --show;
      for (const mw::SecretSpan& span : spans) {
        const size_t from = span.begin - std::min<size_t>(span.begin, 50);
        std::printf("%s\t%s [[%s]] %s\n", argv[i], mw::escape_terminal(line.substr(from, span.begin - from)).c_str(),
                    mw::escape_terminal(line.substr(span.begin, std::min<size_t>(span.end - span.begin, 120))).c_str(),
                    mw::escape_terminal(line.substr(span.end, 30)).c_str());
      }
    }
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  std::printf("%zu of %zu lines changed (%.4f %%), %.1f MB, %.1f MB/s\n", changed, lines,
              lines == 0 ? 0.0 : 100.0 * static_cast<double>(changed) / static_cast<double>(lines),
              static_cast<double>(bytes) / 1e6, static_cast<double>(bytes) / 1e6 / seconds);
  return 0;
}
