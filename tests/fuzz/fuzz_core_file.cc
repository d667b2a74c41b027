// links: sense
#include "fuzz.h"
#include "sense/host/core_file.h"

std::vector<std::string> mw::fuzz_seeds() {
  std::string core("\x7f\x45\x4c\x46\x02\x01\x01", 7);
  core.resize(64 + 56 + 12 + 8 + 136);
  core[16] = 4;
  core[32] = 64;
  core[54] = core[56 + 40] = 56;
  core[56] = 1;
  core[64] = 4;
  core[64 + 8] = 120;
  core[64 + 32] = static_cast<char>(156);
  core[120] = 5;
  core[124] = static_cast<char>(136);
  core[128] = 3;
  return {core, core.substr(0, 150), std::string(200, '\x7f')};
}

void mw::fuzz_one(std::string_view input) {
  const auto core = host::parse_core_head(input);
  if (core && core->program.size() > 64) __builtin_trap();
}
