#include "read/console_copy.h"

#include <doctest/doctest.h>

#include <string>

namespace mw {

TEST_CASE("a console is read unless a text beside it has its lines") {
  const std::string log = "starting the trainer\r\nstep 1 reward 0.5\n  step 2 reward 0.25  \n";
  const std::string note = "url: https://example.org/run\ncommit: 0123456789\n";
  const auto read_beside = [](const std::string& text, const std::string& console) {
    ConsoleCopy copy;
    copy.console(console);
    copy.text(text, text.size());
    return copy.is_read();
  };
  CHECK(ConsoleCopy().is_read());
  CHECK_FALSE(read_beside(log, "step 2 reward 0.25\n"));
  CHECK_FALSE(read_beside(log, "starting the trainer"));
  CHECK(read_beside(note, "step 2 reward 0.25"));
  CHECK_FALSE(read_beside(note, ""));            // nothing of the console is known yet
  CHECK(read_beside("", "step 2 reward 0.25"));  // an empty file is no log
  const std::string all(ConsoleCopy::kWhole + 1, 'x');
  CHECK_FALSE(read_beside(all, "step 2 reward 0.25"));
}

TEST_CASE("short lines are alike by chance") {
  ConsoleCopy copy;
  copy.console("done");
  copy.console("step 2 reward 0.25");
  copy.text("ok\ndone\n", 8);
  CHECK(copy.is_read());
}

TEST_CASE("one copy among several texts is enough") {
  ConsoleCopy copy;
  copy.text("torch==2.6.0\nnumpy==1.26.4\n", 27);
  copy.console("step 2 reward 0.25");
  CHECK(copy.is_read());
  copy.text("step 2 reward 0.25\n", 19);
  CHECK_FALSE(copy.is_read());
}

}  // namespace mw
