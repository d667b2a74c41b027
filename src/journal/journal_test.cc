#include "journal/journal.h"

#include <doctest/doctest.h>

#include <map>

#include "base/text.h"
#include "journal/segment.h"
#include "platform/fake/fake_disk.h"

namespace mw {
namespace {

struct Collected final : Journal::Reader {
  std::map<uint64_t, std::string> records;
  std::vector<std::string> hurt;
  uint64_t last = 0;
  bool ascending = true;

  void record(uint64_t number, std::string_view json) override {
    ascending = ascending && number > last;
    last = number;
    records[number] = json;
  }
  void damage(const std::string& what) override { hurt.push_back(what); }
};

std::string text_of(uint64_t number) {
  return cat(R"({"n":)", number, R"(,"t":")", std::string(number % 37, 'x'), "\"}");
}

std::unique_ptr<Journal> open(FakeDisk& disk, Journal::Reader* reader = nullptr, uint64_t segment_bytes = 1 << 20) {
  auto journal = Journal::open(disk, "/j", reader, {segment_bytes});
  REQUIRE(journal.ok());
  return std::move(*journal);
}

void write(Journal& journal, int count) {
  for (int i = 0; i < count; ++i) journal.append(text_of(journal.last_number() + 1));
}

/// Everything from 1 to `least` at least is there, and whatever is there is right.
void check_whole(const Collected& read, uint64_t least) {
  CHECK(read.ascending);
  CHECK(read.records.size() >= least);
  uint64_t expected = 0;
  for (const auto& [number, text] : read.records) {
    REQUIRE(number == ++expected);
    REQUIRE(text == text_of(number));
  }
}

TEST_CASE("what is appended is read back in order, across restarts") {
  FakeDisk disk;
  for (int round = 0; round < 5; ++round) {
    Collected read;
    auto journal = open(disk, &read);
    CHECK(read.records.size() == static_cast<size_t>(round) * 10);
    CHECK(journal->last_number() == static_cast<uint64_t>(round) * 10);
    write(*journal, 10);
    REQUIRE(journal->flush().ok());
  }
  Collected read;
  REQUIRE(Journal::read(disk, "/j", read).ok());
  check_whole(read, 50);
  CHECK(read.hurt.empty());
  CHECK(disk.paths() == std::vector<std::string>{"/j/00000001.journal"});
}

TEST_CASE("the journal of a missing folder is an error to read and empty to open") {
  FakeDisk disk;
  Collected read;
  CHECK_FALSE(Journal::read(disk, "/j", read).ok());
  CHECK(open(disk, &read)->last_number() == 0);
}

TEST_CASE("cut at every byte: whole records stay, the torn tail goes, and appending goes on") {
  FakeDisk original;
  auto journal = open(original);
  write(*journal, 12);
  REQUIRE(journal->flush().ok());
  const std::string bytes = original.content("/j/00000001.journal");
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    size_t ends = 0;
    for (size_t i = 0; i < cut; ++i) ends += bytes[i] == '\n' ? 1 : 0;
    const size_t whole = ends == 0 ? 0 : ends - 1;  // the first line is the header
    FakeDisk disk;
    disk.put("/j/00000001.journal", bytes.substr(0, cut));
    Collected first;
    auto again = open(disk, &first);
    REQUIRE(first.records.size() == whole);
    REQUIRE(first.hurt.empty());
    write(*again, 2);
    REQUIRE(again->flush().ok());
    Collected second;
    REQUIRE(Journal::read(disk, "/j", second).ok());
    REQUIRE(second.records.size() == whole + 2);
    REQUIRE(second.hurt.empty());
    check_whole(second, whole + 2);
  }
}

TEST_CASE("flip every byte: only the records it touches are lost, and never silently inside") {
  FakeDisk original;
  auto journal = open(original);
  write(*journal, 8);
  REQUIRE(journal->flush().ok());
  const std::string bytes = original.content("/j/00000001.journal");
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const unsigned flip : {0x01U, 0x80U, 0x20U}) {
      FakeDisk disk;
      std::string changed = bytes;
      changed[at] = static_cast<char>(static_cast<unsigned char>(changed[at]) ^ flip);
      disk.put("/j/00000001.journal", changed);
      Collected read;
      REQUIRE(Journal::read(disk, "/j", read).ok());
      const size_t allowed = bytes[at] == '\n' || changed[at] == '\n' ? 2 : 1;
      REQUIRE(read.records.size() + allowed >= 8);
      for (const auto& [number, text] : read.records) REQUIRE(text == text_of(number));
      const bool tail = at + 1 == bytes.size();
      REQUIRE((tail || !read.hurt.empty()));
      auto again = open(disk);  // and it can be gone on with
      REQUIRE(again->append("{}") != 0);
      REQUIRE(again->flush().ok());
    }
  }
}

TEST_CASE("a full disk loses nothing: the buffer waits") {
  FakeDisk disk(3);
  auto journal = open(disk);
  for (uint64_t capacity = 100; capacity < 3000; capacity += 100) {
    disk.set_faults({0, 0, 0, capacity});
    write(*journal, 3);
    const Result<void> flushed = journal->flush();
    if (!flushed.ok()) CHECK(flushed.error().code == Error::Code::kFull);
  }
  disk.set_faults({});
  REQUIRE(journal->flush().ok());
  Collected read;
  REQUIRE(Journal::read(disk, "/j", read).ok());
  check_whole(read, 87);
  CHECK(read.hurt.empty());
}

TEST_CASE("when the disk refuses for ever, memory stays bounded and append says so") {
  FakeDisk disk;
  auto journal = open(disk);
  disk.set_faults({0, 0, 0, 0});
  const std::string record(Journal::kRecordLimit, 'x');
  int taken = 0;
  while (taken < 200 && journal->append(record) != 0) ++taken;
  CHECK(taken >= 60);
  CHECK(taken <= 70);
  CHECK(journal->append(std::string(Journal::kRecordLimit + 1, 'x')) == 0);
}

TEST_CASE("finished segments are compressed in quiet turns, and read the same") {
  FakeDisk disk;
  auto journal = open(disk, nullptr, 2000);
  for (int i = 0; i < 100; ++i) {
    write(*journal, 5);
    REQUIRE(journal->flush().ok());
  }
  for (int i = 0; i < 100; ++i) REQUIRE(journal->flush().ok());
  size_t sealed = 0, plain = 0;
  for (const std::string& path : disk.paths()) (path.ends_with(".zst") ? sealed : plain) += 1;
  CHECK(sealed > 5);
  CHECK(plain == 1);
  Collected read;
  REQUIRE(Journal::read(disk, "/j", read).ok());
  check_whole(read, 500);
  CHECK(read.hurt.empty());
}

TEST_CASE("a damaged sealed segment is reported, the others are read") {
  FakeDisk disk;
  auto journal = open(disk, nullptr, 2000);
  for (int i = 0; i < 60; ++i) {
    write(*journal, 5);
    REQUIRE(journal->flush().ok());
  }
  for (int i = 0; i < 60; ++i) REQUIRE(journal->flush().ok());
  const std::string path = "/j/00000002.journal.zst";
  REQUIRE(disk.exists(path));
  const std::string bytes = disk.content(path);
  for (size_t at = 0; at < bytes.size(); at += 7) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    disk.put(path, changed);
    Collected read;
    REQUIRE(Journal::read(disk, "/j", read).ok());
    CHECK(read.records.size() > 200);
    for (const auto& [number, text] : read.records) REQUIRE(text == text_of(number));
    if (read.records.size() < 300) CHECK_FALSE(read.hurt.empty());
  }
}

TEST_CASE("killed at any change of the disk: everything handed over is there, once") {
  for (uint64_t death = 1; death < 160; ++death) {
    FakeDisk disk(death);
    uint64_t handed_over = 0;
    {
      disk.die_after(death);
      auto opened = Journal::open(disk, "/j", nullptr, {700});
      for (int i = 0; i < 60 && opened.ok(); ++i) {
        write(**opened, 3);
        if (!(*opened)->flush().ok()) break;
        handed_over = (*opened)->last_number();
      }
    }
    disk.process_died();
    Collected read;
    auto again = open(disk, &read, 700);
    check_whole(read, handed_over);
    CHECK(read.hurt.empty());
    write(*again, 3);
    REQUIRE(again->flush().ok());
    Collected second;
    REQUIRE(Journal::read(disk, "/j", second).ok());
    check_whole(second, read.records.size() + 3);
  }
}

TEST_CASE("power loss with failing appends and syncs: what sync() said is durable is there") {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    FakeDisk disk(seed);
    Prng prng(seed);
    uint64_t durable = 0;
    for (int life = 0; life < 4; ++life) {
      disk.set_faults({});
      Collected read;
      auto journal = open(disk, &read, 1500);
      check_whole(read, durable);
      disk.set_faults({0.1, 0.3, 0.05, UINT64_MAX});
      if (prng.chance(0.5)) disk.die_after(1 + prng.below(100));
      for (int i = 0; i < 30; ++i) {
        write(*journal, static_cast<int>(prng.below(5)));
        if (prng.chance(0.5)) {
          if (journal->sync().ok()) durable = journal->last_number();
        } else {
          (void)journal->flush().ok();
        }
      }
      journal.reset();
      disk.power_lost();
    }
  }
}

TEST_CASE("a journal of a newer format is refused with a reason") {
  FakeDisk disk;
  std::string bytes;
  segment::put_line(bytes, 0, R"({"journal":"midwatch","version":2,"segment":1,"first":1})");
  disk.put("/j/00000001.journal", bytes);
  Collected read;
  const Result<void> got = Journal::read(disk, "/j", read);
  REQUIRE_FALSE(got.ok());
  CHECK(got.error().code == Error::Code::kUnsupported);
}

TEST_CASE("foreign files in the folder are left alone") {
  FakeDisk disk;
  disk.put("/j/notes.txt", "mine");
  disk.put("/j/x.journal", "mine");
  auto journal = open(disk);
  write(*journal, 1);
  REQUIRE(journal->flush().ok());
  CHECK(disk.content("/j/notes.txt") == "mine");
  CHECK(disk.content("/j/x.journal") == "mine");
}

TEST_CASE("a record missing inside is reported") {
  FakeDisk disk;
  auto journal = open(disk);
  write(*journal, 5);
  REQUIRE(journal->flush().ok());
  std::string bytes = disk.content("/j/00000001.journal");
  size_t begin = 0;
  for (int line = 0; line < 3; ++line) begin = bytes.find('\n', begin) + 1;
  bytes.erase(begin, bytes.find('\n', begin) + 1 - begin);
  disk.put("/j/00000001.journal", bytes);
  Collected read;
  REQUIRE(Journal::read(disk, "/j", read).ok());
  REQUIRE(read.hurt.size() == 1);
  CHECK(read.hurt[0] == "segment 1: records 3 to 3 are missing");
}

}  // namespace
}  // namespace mw
