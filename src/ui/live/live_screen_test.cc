#include "ui/live/live_screen.h"

#include <doctest/doctest.h>

#include "base/text.h"

namespace mw {
namespace {

constexpr ScreenSize kSize{24, 20};

size_t count(std::string_view text, std::string_view part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

OutputCursor after(std::string_view bytes) {
  OutputCursor cursor;
  cursor.feed(bytes, kSize.columns, kSize.rows);
  return cursor;
}

TEST_CASE("the cursor is followed through what progress bars write") {
  CHECK(after("").fresh());
  CHECK(after("line\n").fresh());
  CHECK_FALSE(after("half").fresh());
  CHECK_FALSE(after("\r50%").fresh());
  CHECK(after("12345678901234567890").at_edge());
  CHECK_FALSE(after("12345678901234567890\r").at_edge());
  CHECK_FALSE(after("123456789012345678901").at_edge());
  CHECK(after("\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8"
              "\xad\xe4\xb8\xad")
            .at_edge());
  CHECK(after("outer\ninner\x1b[A\r").below() == 1);
  CHECK(after("outer\ninner\x1b[A\r\n").below() == 0);
  CHECK_FALSE(after("outer\ninner\x1b[A\n").fresh());
  CHECK(after("outer\ninner\x1b[A\n\n").fresh());
}

TEST_CASE("nothing is written into an unfinished character or sequence") {
  for (const std::string_view bytes : {"\x1b", "\x1b[", "\x1b[3", "\x1b]0;title", "\x1bPdata", "\xe4\xb8", "\x1b("}) {
    CHECK_FALSE(after(bytes).between());
    LiveScreen screen;
    (void)screen.show({"status"}, kSize);
    CHECK_FALSE(contains(screen.output(bytes, kSize), "status"));
  }
  for (const std::string_view bytes :
       {"\x1b[31m", "\x1b]0;title\x07", "\x1b]0;t\x1b\\", "\xe4\xb8\xad", "\x1b(B", "\xff"}) {
    CHECK(after(bytes).between());
  }
}

TEST_CASE("a command that draws the screen itself is left alone") {
  for (const std::string_view bytes : {"\x1b[?1049h", "\0337", "\x1b[s", "\x1b[2;10r", "\x1b[5;1H"}) {
    CHECK(after(bytes).draws_screen());
    LiveScreen screen;
    (void)screen.show({"status"}, kSize);
    CHECK_FALSE(contains(screen.output(bytes, kSize), "status"));
  }
  CHECK_FALSE(after("\x1b[H\x1b[2J").draws_screen());  // clear
  CHECK_FALSE(after("\x1b[?25l\x1b[K").draws_screen());
  CHECK_FALSE(after(cat("\x1b[5;1H", std::string(24, '\n'))).draws_screen());
}

TEST_CASE("the block is drawn below, taken away before output, and drawn again after it") {
  LiveScreen screen;
  const std::string first = screen.show({"one", "two"}, kSize);
  CHECK(contains(first, "\r\none"));
  CHECK(contains(first, "\r\ntwo"));
  CHECK(
      first.ends_with("\x1b"
                      "8"));
  CHECK(screen.show({"one", "two"}, kSize).empty());
  const std::string second = screen.output("text\n", kSize);
  const size_t erased = second.find("\x1b[J"), text = second.find("text\n"), drawn = second.find("\r\none");
  CHECK(erased < text);
  CHECK(text < drawn);
  CHECK(count(second, "one") == 1);
  CHECK_FALSE(screen.show({"one", "three"}, kSize).empty());
  CHECK_FALSE(screen.erasure().empty());
  screen.was_erased();
  CHECK(screen.erasure().empty());
  CHECK_FALSE(screen.show({"one", "three"}, kSize).empty());
  CHECK(contains(screen.close(), "\x1b[J"));
  CHECK(screen.close().empty());
}

TEST_CASE("without a block the output is what came, and sentences begin on a row of their own") {
  LiveScreen screen;
  CHECK(screen.output("half", kSize) == "half");
  CHECK(screen.say("midwatch: so\n", kSize) == "\r\nmidwatch: so\n");
  CHECK(screen.say("midwatch: so\n", kSize) == "midwatch: so\n");
  CHECK(screen.output("\x1b[3", kSize) == "\x1b[3");
  CHECK(screen.close().empty());
}

TEST_CASE("a row that was full when the block was drawn goes on in the next one") {
  LiveScreen screen;
  (void)screen.show({"status"}, kSize);
  (void)screen.output("12345678901234567890", kSize);
  CHECK(contains(screen.output("next", kSize),
                 "\x1b"
                 "8\r\nnext"));
  (void)screen.output("\n12345678901234567890", kSize);
  CHECK(contains(screen.output("\nnext", kSize),
                 "\x1b"
                 "8\nnext"));
}

TEST_CASE("a terminal that is too small shows the output alone") {
  for (const ScreenSize size : {ScreenSize{5, 80}, ScreenSize{24, 19}}) {
    LiveScreen screen;
    CHECK(screen.show({"status"}, size).empty());
    CHECK(screen.output("text", size) == "text");
  }
  LiveScreen screen;
  CHECK(count(screen.show({"one", "two", "three"}, {6, 80}), "\r\n") == 2);
}

}  // namespace
}  // namespace mw
