#include "core/handbook.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace {

void compare(const std::string& path, const std::string& page) {
  if (std::getenv("MIDWATCH_UPDATE_DOCS") != nullptr) std::ofstream(path) << page;
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  CHECK_MESSAGE((text.str() == page), path << " is out of date: run MIDWATCH_UPDATE_DOCS=1 build/tests/test_core");
}

}  // namespace

TEST_CASE("the reference pages are those of the tables") {
  compare(MW_SOURCE_DIR "/docs/detectors.md", mw::detectors_page());
  compare(MW_SOURCE_DIR "/docs/signals.md", mw::signals_page());
}
