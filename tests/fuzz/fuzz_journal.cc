// A journal made of any bytes opens, hands over whole records only, and can be gone on with.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "journal/journal.h"
#include "platform/fake/fake_disk.h"

namespace {

struct Counter final : mw::Journal::Reader {
  uint64_t last = 0, count = 0;
  void record(uint64_t number, std::string_view json) override {
    MW_CHECK(number > last);
    MW_CHECK(json.find('\n') == std::string_view::npos);
    last = number;
    ++count;
  }
  void damage(const std::string&) override {}
};

}  // namespace

// The first byte says how the rest is laid out: plain, sealed, or cut in two segments.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  mw::FakeDisk disk;
  if (data[0] % 3 == 0) {
    disk.put("/j/00000001.journal", bytes);
  } else if (data[0] % 3 == 1) {
    disk.put("/j/00000001.journal.zst", bytes);
  } else {
    const size_t cut = bytes.size() * data[0] / 256;
    disk.put("/j/00000001.journal", bytes.substr(0, cut));
    disk.put("/j/00000002.journal", bytes.substr(cut));
  }
  Counter first;
  auto journal = mw::Journal::open(disk, "/j", &first);
  if (!journal.ok() || first.last > UINT64_MAX - 10) return 0;
  const uint64_t number = (*journal)->append("{}");
  MW_CHECK(number == first.last + 1);
  MW_CHECK((*journal)->flush().ok());
  Counter second;
  MW_CHECK(mw::Journal::read(disk, "/j", second).ok());
  MW_CHECK(second.count == first.count + 1 && second.last == number);
  return 0;
}
