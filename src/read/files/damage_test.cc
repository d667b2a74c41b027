// Every format, damaged in every way: what cannot be read is said, with where and how much, and a file that was only
// cut at its end is not called damaged.
#include "read/files/damage.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "read/files/jsonl.h"
#include "read/files/testing/encode.h"
#include "read/files/testing/recording_sink.h"
#include "read/files/tfevents.h"
#include "read/files/wandb.h"

namespace mw {
namespace {

std::string wandb_file() {
  encode::Wandb file;
  for (int step = 0; step < 1500; ++step)
    file.history(step, 1'760'000'000 + step, {{"reward", "0.5"}, {"loss", "0.1"}});
  return file.take();
}

std::string tfevents_file() {
  encode::Tfevents file;
  for (int step = 0; step < 1500; ++step) file.event(step, 1.76e9 + step, {encode::Tfevents::simple("reward", 0.5F)});
  return file.take();
}

std::string jsonl_file() {
  std::string text;
  for (int step = 0; step < 1500; ++step) text += cat("{\"step\": ", step, ", \"reward\": 0.5, \"loss\": 0.25}\n");
  return text;
}

struct Format {
  std::string name;
  std::string bytes;
  std::function<std::unique_ptr<Decoder>()> make;
};

std::vector<Format> formats() {
  return {{"wandb", wandb_file(), [] { return std::make_unique<WandbDecoder>(); }},
          {"tfevents", tfevents_file(), [] { return std::make_unique<TfeventsDecoder>(); }},
          {"jsonl", jsonl_file(), [] { return std::make_unique<JsonlDecoder>(); }}};
}

std::string with_zeros(std::string bytes, size_t at, size_t count) {
  return bytes.replace(at, count, std::string(count, '\0'));
}

struct Harm {
  std::string name;
  std::function<std::string(const std::string&)> done;
};

std::vector<Harm> harms() {
  return {
      {"a page of zeros", [](const std::string& file) { return with_zeros(file, 36'864, 4096); }},
      {"two pages of zeros at a block's begin", [](const std::string& file) { return with_zeros(file, 32'768, 8192); }},
      {"the first page is zeros", [](const std::string& file) { return with_zeros(file, 0, 4096); }},
      {"130 bytes of the middle are missing",
       [](const std::string& file) { return file.substr(0, 40'000) + file.substr(40'130); }},
      {"a page of another file", [](const std::string& file) {
         return file.substr(0, 36'864) + std::string(4096, '\x81') + file.substr(40'960);
       }}};
}

}  // namespace

TEST_CASE("damage in the middle is said, with place and size, however the file comes") {
  for (const Format& format : formats()) {
    REQUIRE(format.bytes.size() > 50'000);
    const auto say = [&format](const std::string& bytes, size_t most) {
      return decode_log(format.make, bytes, most, 3);
    };
    CHECK_FALSE(contains(say(format.bytes, 0), "problem"));
    for (const Harm& harm : harms()) {
      const std::string bad = harm.done(format.bytes);
      const std::string log = say(bad, 0);
      CHECK_MESSAGE(contains(log, "problem damaged 0: "), format.name, ": ", harm.name);
      CHECK_MESSAGE(contains(log, cat(" of ", bad.size(), " bytes could not be read, in ")), format.name, ": ",
                    harm.name);
      CHECK_FALSE_MESSAGE(contains(log, "torn-tail"), format.name, ": ", harm.name);
      CHECK_MESSAGE(say(bad, 977) == log, format.name, ": ", harm.name);
    }
  }
}

TEST_CASE("a flipped bit in what is checked is said, wherever it is") {
  Prng prng(5);
  for (const Format& format : formats()) {
    if (format.name == "jsonl") continue;  // nothing checks its numbers
    const std::string good = decode_log(format.make, format.bytes, 0, 0);
    for (int round = 0; round < 200; ++round) {
      std::string bad = format.bytes;
      const size_t at = static_cast<size_t>(prng.below(bad.size()));
      bad[at] = static_cast<char>(bad[at] ^ (1 << prng.below(8)));
      const std::string log = decode_log(format.make, bad, 0, 0);
      CHECK_MESSAGE((log == good || contains(log, "problem damaged 0: ") || contains(log, "of a newer kind")),
                    format.name, " at ", at);
    }
  }
}

TEST_CASE("what is only cut at its end, or ends in zeros that were never written, is no damage") {
  for (const Format& format : formats()) {
    for (const size_t cut : {size_t{1000}, size_t{33'000}, format.bytes.size() - 5}) {
      CHECK_FALSE_MESSAGE(contains(decode_log(format.make, format.bytes.substr(0, cut), 0, 0), "damaged"), format.name,
                          " cut at ", cut);
    }
    if (format.name == "jsonl") continue;
    const std::string log = decode_log(format.make, format.bytes + std::string(10'000, '\0'), 0, 0);
    CHECK_FALSE_MESSAGE(contains(log, "damaged"), format.name);
    CHECK_MESSAGE(contains(log, "torn-tail"), format.name);
  }
}

TEST_CASE("jsonl: a program's error output between its records are text, and so are those in a log's records") {
  const auto read = [](std::string_view text) {
    return decode_log([] { return std::make_unique<JsonlDecoder>(); }, text, 0, 0);
  };
  const std::string log =
      read("{\"step\": 1}\nTraceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 1\n");
  CHECK(contains(log, "console 2  Traceback (most recent call last):\nconsole 3    File \"a.py\", line 1, in f\n"));
  CHECK_FALSE(contains(log, "problem"));
  const std::string trace = "Traceback (most recent call last):\\n  File \\\"a.py\\\", line 1, in f\\nKeyError: 1";
  CHECK(contains(read(cat("{\"level\": \"ERROR\", \"message\": \"no\", \"exc_info\": \"", trace, "\"}\n")),
                 "console 1  Traceback (most recent call last):\nconsole 1    File \"a.py\", line 1, in f\n"));
  CHECK(contains(read(cat("{\"message\": \"", trace, "\"}\n")), "console 1  KeyError: 1\n"));
  CHECK(contains(read("{\"level\": \"error\", \"msg\": \"CUDA error: oh\"}\n"), "console 1  ERROR CUDA error: oh\n"));
  CHECK_FALSE(contains(read("{\"level\": \"info\", \"msg\": \"well\"}\n"), "console"));
  const auto says = [&read](std::string_view record, std::string_view words) {
    return contains(read(cat(record, "\n")), cat("console 1  ", words, "\n"));
  };
  CHECK(says("{\"level\": \"info\", \"msg\": \"step 3 loss 0.5\"}", "step 3 loss 0.5"));
  CHECK(says("{\"level\": \"warning\", \"msg\": \"step 3 is slow\"}", "WARNING step 3 is slow"));
  CHECK(says("{\"level\": 30, \"pid\": 71, \"msg\": \"step 3 loss 0.5\"}", "step 3 loss 0.5"));
  CHECK(
      says("{\"text\": \"step 3 loss 0.5\", \"record\": {\"function\": \"fit\", \"level\": {\"no\": 20}, \"line\": 7, "
           "\"process\": {\"id\": 71}, \"message\": \"step 3 loss 0.5\"}}",
           "step 3 loss 0.5"));
  CHECK_FALSE(says("{\"level\": \"info\", \"msg\": \"step 3 loss 0.5\", \"loss\": 0.5}", "step 3 loss 0.5"));
  CHECK_FALSE(says("{\"msg\": \"step 3 loss 0.5\"}", "step 3 loss 0.5"));
  CHECK_FALSE(contains(read(cat("{\"tool\": \"python\", \"error\": \"", trace, "\"}\n")), "console"));
  CHECK_FALSE(contains(
      read(cat("{\"step\": 3, \"error\": \"", trace, "\", \"a\":1, \"b\":1, \"c\":1, \"d\":1, \"e\":1, \"f\":1}\n")),
      "console"));
  CHECK(contains(read("{\"step\": 1, \"lo{\"step\": 2}\n"), "problem not-a-record 1"));
}

}  // namespace mw
