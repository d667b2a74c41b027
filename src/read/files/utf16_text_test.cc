#include "read/files/utf16_text.h"

#include <doctest/doctest.h>

#include "read/files/sniff.h"

using namespace mw;

namespace {

std::string wide(std::u16string_view text, Utf16 order) {
  std::string out;
  for (const char16_t unit : text) {
    const char low = static_cast<char>(unit & 0xff), high = static_cast<char>(unit >> 8);
    out.push_back(order == Utf16::kLittleEndian ? low : high);
    out.push_back(order == Utf16::kLittleEndian ? high : low);
  }
  return out;
}
std::string little(std::u16string_view text) { return wide(text, Utf16::kLittleEndian); }
std::string big(std::u16string_view text) { return wide(text, Utf16::kBigEndian); }

std::string plain(std::string_view bytes, size_t most, bool whole = true) {
  auto stream = make_plain_stream(bytes);
  REQUIRE(stream != nullptr);
  std::string out;
  const auto take = [&out](std::string_view piece) { out.append(piece); };
  for (; !bytes.empty(); bytes.remove_prefix(std::min(most, bytes.size()))) {
    REQUIRE(stream->feed(bytes.substr(0, most), take).ok());
  }
  CHECK(stream->finish(take).ok() == whole);
  return out;
}

}  // namespace

TEST_CASE("utf16: both orders, begun by U+FEFF and not, in pieces of any size") {
  const std::u16string text = u"step 1 loss 0.5\r\nsch\u00f6n \u6b65\u9aa4 2 \U0001f600\nstep 3 loss 0.25";
  const std::string same =
      "step 1 loss 0.5\r\nsch\xc3\xb6n \xe6\xad\xa5\xe9\xaa\xa4 2 \xf0\x9f\x98\x80\nstep 3 loss 0.25";
  for (const size_t most : {size_t{1}, size_t{2}, size_t{3}, size_t{1000}}) {
    CHECK(plain(little(u"\ufeff" + text), most) == same);
    CHECK(plain(big(u"\ufeff" + text), most) == same);
    CHECK(plain(little(text), most) == same);
    CHECK(plain(big(text), most) == same);
  }
}

TEST_CASE("utf16: what is none") {
  CHECK_FALSE(utf16_of("step 1 loss 0.5\nstep 2 loss 0.25\n"));
  CHECK_FALSE(utf16_of(std::string(100, '\0')));
  CHECK_FALSE(utf16_of(""));
  CHECK_FALSE(utf16_of("\xff"));
  CHECK_FALSE(utf16_of(std::string_view("\x01\0\x02\0\x03\0\x04\0\x05\0\x06\0\x07\0\x08\0\x09\0", 18)));
  CHECK_FALSE(utf16_of(std::string_view("\xff\xfe\0\0s\0\0\0t\0\0\0", 12)));  // UTF-32
  std::string music = "\xff\xfe";
  for (int i = 0; i < 2000; ++i) music.push_back(static_cast<char>(i * 37 + i / 7));
  CHECK_FALSE(utf16_of(music));
  CHECK(sniff(little(u"\ufeffstep 1\n"), "err.log") == FileKind::kUtf16);
  CHECK(is_readable(sniff(little(u"\ufeffstep 1\n"), "err.log")));
}

TEST_CASE("utf16: half a character, and halves of pairs") {
  CHECK(plain(little(u"\ufeffstep 1\n") + "x", 4, false) == "step 1\n");
  CHECK(plain(little(std::u16string(u"\ufeffa ") + char16_t{0xd800} + u"b" + char16_t{0xdc00}), 3) ==
        "a \xef\xbf\xbd"
        "b\xef\xbf\xbd");
}

TEST_CASE("utf16: text of one byte a character that another program appended") {
  const std::string more = "Traceback (most recent call last):\n  File \"a.py\", line 1, in main\nValueError: x\n";
  CHECK(plain(little(u"\ufeffstep 1 loss 0.5\n") + more, 7) == "step 1 loss 0.5\n" + more);
  const std::u16string rule(200, u'\u2550');  // whose bytes are letters, too
  CHECK(plain(little(u"\ufeffstep 1 loss 0.5\n" + rule + u"\n"), 9).size() == 617);
}

TEST_CASE("utf16: lines cut at the width of PowerShell's window stand in the place of the first") {
  const std::u16string record =
      u"\ufeff"
      u"python.exe : D:\\env\\lib\\\r\n"
      u"site-packages\\train.py:1\r\n"
      u"2: UserWarning: an optio\r\n"
      u"n is not supported on th\r\n"
      u"is platform\r\n"
      u"    + CategoryInfo      \r\n"
      u"   : NotSpecified\r\n"
      u"Ready.\r\n"
      u"Traceback (most recent c\r\n"
      u"all last):\r\n"
      u"Saved all of the files of the model\r\n";
  const std::string text = plain(little(record), 5);
  CHECK(text.find("\nReady.\r\nTraceback (most recent call last):\r\n\nSaved all of the files of the model\r\n") !=
        std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 11);
}

TEST_CASE("utf16: a log of lines of one width is no window's") {
  std::u16string text = u"\ufeff";
  std::string same;
  for (int i = 0; i < 60; ++i) {
    text += u"step 00010 loss 0.5000\r\n";
    same += "step 00010 loss 0.5000\r\n";
  }
  CHECK(plain(little(text), 11) == same);
}
