// forecast DATA: cuts the files of real runs at many places, reads each piece as a watch does that knows no more yet,
// and looks whether the run reached its last step within the time that was expected. DATA holds GROUP/RUN/FILE.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "read/books/knowledge_base.h"
#include "read/run_reader.h"
#include "ui/view/expected_end.h"
#include "ui/view/overview.h"

namespace {

constexpr int kSkipped = 77;
constexpr size_t kLargest = 64U << 20;  // bytes; the largest files hold one run many times over
constexpr int64_t kLeastSteps = 15;     // of a run that has a pace
constexpr int kCuts = 10;
constexpr double kLeastShare = 0.72;  // of the cuts whose forecast holds the truth
constexpr double kMostTooEarly = 0.2;
constexpr mw::Time kToday{1'796'083'200'000'000'000};  // 2026-12-01: a date without a year lies in the year before it

struct Tally {
  size_t runs = 0, cuts = 0, held = 0, early = 0, late = 0;
  std::vector<double> widths;  // of the range, as a share of what was left
};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  return std::move(all).str();
}

/// What a watch knows once it has read so much of the file.
std::optional<mw::State> read_so_far(const mw::KnowledgeBase& knowledge, const std::string& name,
                                     std::string_view text) {
  mw::FakeDisk disk;
  disk.set_time(kToday);
  disk.put("/run/" + name, std::string(text));
  mw::RunReader reader(disk, knowledge, mw::Judge::kAtClose, nullptr, {});
  if (!reader.open({"/run/" + name}, "").ok()) return std::nullopt;
  while (reader.turn() > 0) {
  }
  return std::move(reader.state());
}

/// When the step was first reported in the attempt that goes on.
mw::Time time_of(const mw::State& state, int64_t step) {
  for (auto anchor = state.anchors.rbegin(); anchor != state.anchors.rend(); ++anchor) {
    if (anchor->second == step) return anchor->first;
  }
  return {};
}

void count_cut(mw::State state, const mw::State& whole, Tally& tally, std::string& line) {
  const int64_t last = whole.attempts.back().last_step;
  if (state.attempts.size() != whole.attempts.size() || state.attempts.back().last_step + 2 >= last) return;
  state.total_steps = last;
  state.verdict = "running";
  const mw::ExpectedEnd end = mw::expected_end(state);
  const mw::Time now = mw::stepped_at(state, state.attempts.back().last_step), truth = time_of(whole, last);
  if (!end.known() || !now.known() || truth <= now) return;
  const double left = (truth - now).seconds();
  ++tally.cuts;
  tally.held += end.earliest <= truth && truth <= end.latest ? 1 : 0;
  tally.early += truth > end.latest ? 1 : 0;
  tally.late += truth < end.earliest ? 1 : 0;
  tally.widths.push_back((end.latest - end.earliest).seconds() / left);
  line += mw::cat("  ", mw::format_short((end.earliest - now).seconds() / left, 2), "-",
                  mw::format_short((end.latest - now).seconds() / left, 2));
}

void count_run(const mw::KnowledgeBase& knowledge, const std::filesystem::path& path, Tally& tally) {
  const std::string text = read_file(path), name = path.filename().string();
  const auto whole = read_so_far(knowledge, name, text);
  if (!whole || whole->attempts.empty() || whole->anchors.size() < static_cast<size_t>(kLeastSteps)) return;
  const auto& attempt = whole->attempts.back();
  if (attempt.last_step == mw::kNoStep || attempt.last_step - attempt.first_step < kLeastSteps) return;
  std::string line;
  for (int cut = 1; cut < kCuts; ++cut) {
    const size_t bytes = text.size() * static_cast<size_t>(cut) / kCuts;
    if (auto state = read_so_far(knowledge, name, std::string_view(text).substr(0, bytes));
        state && !state->attempts.empty()) {
      count_cut(std::move(*state), *whole, tally, line);
    }
  }
  if (line.empty()) return;
  ++tally.runs;
  std::printf("%s/%s\n %s\n", path.parent_path().filename().c_str(), name.c_str(), line.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path data = argc > 1 ? argv[1] : "";
  if (!std::filesystem::is_directory(data)) {
    std::printf("skipped: no real runs at '%s'\n", data.c_str());
    return kSkipped;
  }
  auto knowledge = mw::KnowledgeBase::load({});
  if (!knowledge.ok()) return 2;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data)) {
    if (entry.is_regular_file() && entry.file_size() < kLargest) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  Tally tally;
  for (const auto& path : files) count_run(**knowledge, path, tally);
  if (tally.cuts == 0) return 2;
  const auto share = [&](size_t n) { return static_cast<double>(n) / static_cast<double>(tally.cuts); };
  std::sort(tally.widths.begin(), tally.widths.end());
  std::printf(
      "%zu runs, %zu cuts: the true end lies within in %.2f, later in %.2f, before in %.2f; median width %.2f\n",
      tally.runs, tally.cuts, share(tally.held), share(tally.early), share(tally.late),
      tally.widths[tally.widths.size() / 2]);
  return share(tally.held) >= kLeastShare && share(tally.early) <= kMostTooEarly ? 0 : 1;
}
