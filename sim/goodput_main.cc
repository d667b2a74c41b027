// sim_goodput: how much of the time a run trains under midwatch, and under other policies in the same worlds.
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/numbers.h"
#include "read/books/knowledge_base.h"
#include "sim/goodput_table.h"

namespace {

namespace goodput = mw::sim::goodput;

constexpr const char* kHelp =
    "usage: sim_goodput [OPTION]...\n"
    "How much of the time a run trains under midwatch and under other policies (docs/goodput.md).\n"
    "  --runs N       worlds (1000)\n"
    "  --days N       that each lasts (15)\n"
    "  --seed N       of the first world (1)\n"
    "  --world NAME   report, or spot: machines are outbid four times a day (report)\n"
    "  --policy NAME  only this one: midwatch, midwatch-unattended, midwatch-advised, nothing, retry-loop,\n"
    "                 supervisord, controller, robustrl-like, robustrl-paged, no-delay\n"
    "  --save S       seconds that a save holds up training (3)\n"
    "  --every N      steps between saves (5)\n"
    "  --check-every S  seconds between two checks of midwatch's controller (60)\n"
    "  --full         midwatch with every heartbeat, every check and an episode for each fault\n"
    "  --intervals    the second table: how often to save\n"
    "  --causes       in place of the first table: what is lost to each fault, and where in it\n"
    "  --json         the first table as JSON\n"
    "  --check        only checks what must hold\n"
    "exit: 0 well, 1 a check failed, 2 wrong arguments\n";

struct Words {
  goodput::Plan plan;
  bool json = false, intervals = false, check = false, causes = false;
};

bool take_number(std::string_view word, double value, Words& out) {
  goodput::Plan& plan = out.plan;
  if (word == "--runs" && value >= 1)
    plan.runs = static_cast<uint64_t>(value);
  else if (word == "--days" && value > 0)
    plan.setting.days = value;
  else if (word == "--seed")
    plan.seed = static_cast<uint64_t>(value);
  else if (word == "--save")
    plan.setting.costs.save = value;
  else if (word == "--check-every" && value >= 10)
    plan.setting.costs.check = value;
  else if (word == "--every" && value >= 1)
    plan.setting.costs.every = static_cast<int64_t>(value);
  else
    return false;
  return true;
}

/// nullopt: they are wrong.
std::optional<Words> parse(int argc, char** argv) {
  Words out;
  out.plan.setting = *goodput::find_setting("report");
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::string_view(argv[i]) != "--world") continue;
    const goodput::Setting* const found = goodput::find_setting(argv[i + 1]);
    if (found == nullptr) return std::nullopt;
    out.plan.setting = *found;
  }
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--json")
      out.json = true;
    else if (word == "--full")
      out.plan.full = true;
    else if (word == "--intervals")
      out.intervals = true;
    else if (word == "--check")
      out.check = true;
    else if (word == "--causes")
      out.causes = true;
    else if (i + 1 >= argc)
      return std::nullopt;
    else if (const std::string value = argv[++i]; word == "--policy" && goodput::is_policy(value))
      out.plan.policies.push_back(value);
    else if (word != "--world") {
      const auto number = mw::parse_double(value);
      if (!number || !(*number >= 0) || *number > 1e9 || !take_number(word, *number, out)) return std::nullopt;
    }
  }
  if (out.plan.policies.empty()) out.plan.policies = goodput::table_policies();
  out.plan.jobs = std::max(1U, std::thread::hardware_concurrency());
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    std::fputs(kHelp, stdout);
    return 0;
  }
  const auto words = parse(argc, argv);
  if (!words) {
    std::fputs(kHelp, stderr);
    return 2;
  }
  const auto loaded = mw::KnowledgeBase::load({});
  if (!loaded.ok()) {
    std::fprintf(stderr, "%s\n", loaded.error().what.c_str());
    return 2;
  }
  const goodput::Eyes eyes((*loaded)->knowledge(), words->plan.setting.costs);
  if (words->check) {
    const std::string wrong = goodput::check(words->plan, eyes);
    std::puts(wrong.empty() ? "all holds" : wrong.c_str());
    return wrong.empty() ? 0 : 1;
  }
  std::string text;
  if (words->intervals) {
    text = goodput::intervals_text(words->plan, eyes);
  } else {
    const auto rows = goodput::play(words->plan, eyes);
    text = words->causes ? goodput::causes_text(words->plan, rows)
           : words->json ? goodput::table_json(words->plan, rows)
                         : goodput::table_text(words->plan, rows);
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}
