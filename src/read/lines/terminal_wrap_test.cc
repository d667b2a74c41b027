#include "read/lines/terminal_wrap.h"

#include <doctest/doctest.h>

#include <string>

#include "base/text.h"

namespace mw {
namespace {

std::string record(int step, bool fixed) {
  const std::string number = fixed ? std::to_string(1000 + step) : std::to_string(step * step);
  return cat("(TaskRunner pid=81) step:", number, " - actor/entropy:0.4", number, " - actor/pg_loss:0.0", number,
             " - critic/rewards/mean:0.3", number, " - response_length/mean:", number, ".25 - actor/grad_norm:0.",
             number, " - perf/throughput:", number, ".1 - timing_s/step:6", number, ".5");
}

std::string wrapped(std::string_view line, size_t width, bool strip) {
  std::string out;
  for (; line.size() > width; line.remove_prefix(width)) {
    std::string_view piece = line.substr(0, width);
    while (strip && piece.ends_with(' ')) piece.remove_suffix(1);
    out += cat(piece, "\n");
  }
  return cat(out, line, "\n");
}

TEST_CASE("a log that a terminal broke at its last column is put together, with the numbers of its lines") {
  for (const size_t width : {60U, 80U, 91U}) {
    for (const bool strip : {false, true}) {
      CAPTURE(width);
      CAPTURE(strip);
      std::string whole, copy;
      for (int step = 1; step <= 60; ++step) {
        whole += cat(record(step, false), "\n");
        copy += wrapped(record(step, false), width, strip);
      }
      const auto wrap = find_terminal_wrap(copy);
      REQUIRE(wrap);
      CHECK(wrap->width == width);
      UnwrapTerminal pieces(*wrap);
      const size_t cut = copy.find('\n', copy.size() / 2) + 1;  // somewhere within a line
      std::string joined = pieces.join(copy.substr(0, cut), 1);
      CHECK(pieces.numbers().front() == 1);
      const auto lines = [](std::string_view text) {
        return static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
      };
      joined += pieces.join(copy.substr(cut), 1 + lines(copy.substr(0, cut)));
      joined += pieces.rest();
      CHECK(joined == whole);
    }
  }
}

TEST_CASE("records of one width, a table, prose and short lines were broken by no terminal") {
  std::string rows, table, prose, rich;
  for (int step = 1; step <= 60; ++step) {
    rows += cat(record(step, true), "\n");
    table += cat("| ", std::string(76, step % 2 == 0 ? '-' : 'x'), " |\nstep ", std::to_string(step), "\n");
    prose += cat(std::string(static_cast<size_t>(60 + step % 20), 'a'), "\nend\n");
    rich += cat("[01:0", std::to_string(step % 10), ":00] INFO  step ", std::to_string(1000 + step),
                std::string(40, ' '), "train.py:312\n");
  }
  CHECK(!find_terminal_wrap(cat("Starting\n", rows)));
  CHECK(!find_terminal_wrap(cat(rows, "a\nb\nc\nd\ne\n")));
  CHECK(!find_terminal_wrap(table));
  CHECK(!find_terminal_wrap(prose));
  CHECK(!find_terminal_wrap(cat(rich, "a\nb\nc\nd\ne\n")));
  CHECK(!find_terminal_wrap(""));
  std::string warned, engine;
  for (int step = 1; step <= 60; ++step) {
    warned += cat("step ", step * step, " loss 0.", step * 7,
                  "\n/opt/trl/ppo_trainer.py:1100: UserWarning: KL divergence is starting to become negative: -",
                  10 + step, "\n");
    engine += cat("INFO 03-01 01:00:", 10 + step % 50,
                  " [loggers.py:116] Engine 000: Avg prompt throughput: 0.0 tokens/s, Running: 0 reqs\n",
                  std::string(static_cast<size_t>(step % 7), 'z'), "word ", step, "\n",
                  step % 3 == 0 ? "step 1 of it\n" : "a note\n");
  }
  CHECK(!find_terminal_wrap(warned));  // the longest line is a fixed one
  CHECK(!find_terminal_wrap(engine));
}

}  // namespace
}  // namespace mw
