// links: read
#include "fuzz.h"
#include "read/files/utf16_text.h"

namespace {

std::string read_all(mw::Utf16 order, std::string_view bytes, size_t most) {
  mw::Utf16Text text(order);
  std::string plain;
  const auto take = [&plain](std::string_view piece) { plain.append(piece); };
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, most);
    MW_CHECK(text.feed(piece, take).ok());
    bytes.remove_prefix(piece.size());
  }
  static_cast<void>(text.finish(take).ok());
  return plain;
}

}  // namespace

std::vector<std::string> mw::fuzz_seeds() {
  std::string wide = "\xff\xfe";
  for (const char c :
       std::string_view("py : D:\\a\\b\\c\\d\\e\\f\n: a warning, cut up\n    + CategoryInfo  \nstep 1\n")) {
    wide.push_back(c);
    wide.push_back('\0');
  }
  return {wide, wide + "step 2 loss 0.5\nstep 3 loss 0.25\nTraceback (most recent call last):\nValueError: x\n"};
}

void mw::fuzz_one(std::string_view input) {
  static_cast<void>(utf16_of(input));
  for (const Utf16 order : {Utf16::kLittleEndian, Utf16::kBigEndian}) {
    MW_CHECK(read_all(order, input, input.size() + 1) == read_all(order, input, 1 + input.size() % 7));
  }
}
