// The part that all fuzz targets share: libFuzzer's entry points, and writing the seeds where scripts/fuzz wants them.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mw::fuzz_one(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* const folder = std::getenv("MIDWATCH_FUZZ_SEEDS");
  if (folder == nullptr) return 0;
  size_t number = 0;
  for (const std::string& seed : mw::fuzz_seeds()) {
    const std::string path = std::string(folder) + "/seed-" + std::to_string(number++);
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    MW_CHECK(file != nullptr);
    MW_CHECK(std::fwrite(seed.data(), 1, seed.size(), file) == seed.size());
    MW_CHECK(std::fclose(file) == 0);
  }
  std::exit(0);
}
