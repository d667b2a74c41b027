#include "read/lines/template_miner.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "base/prng.h"
#include "base/text.h"

namespace mw {
namespace {

std::string one(std::string_view message) {
  TemplateMiner miner;
  return miner.text(miner.add(message));
}

TEST_CASE("numbers, ids, addresses and paths are masked before anything else") {
  CHECK(one("step 12 took 3.5s") == "step <*> took <*>");
  CHECK(one("pid=77 rank=3, lr=-1e-06") == "pid=<*> rank=<*>, lr=<*>");
  CHECK(one("connect to 10.0.0.1:8000 failed") == "connect to <*> failed");
  CHECK(one("GET http://10.0.0.1:80/v1/x?y=1 refused") == "GET <*> refused");
  CHECK(one("cannot open '/data/run/a.bin': gone") == "cannot open '<*>': gone");
  CHECK(one("job 7f3c0a1e-93bd-4e1f-8a55-0123456789ab lost") == "job <*> lost");
  CHECK(one("object at 0x7f00aa and deadbeefcafe") == "object at <*> and <*>");
  CHECK(one("weights [1, 2, 3, 4] sum") == one("weights [7, 8, 9, 10, 11, 12] sum"));
  CHECK(one("and/or is no path, nor is a b/c") == "and/or is no path, nor is a b/c");
  CHECK(one("").empty());
}

TEST_CASE("lines that differ in a word share a template, others do not") {
  TemplateMiner miner;
  const uint32_t a = miner.add("worker alpha lost its lease after 3 s");
  CHECK(miner.add("worker alpha lost its lease after 90 s") == a);
  const uint32_t b = miner.add("request to tool search timed out");
  CHECK(b == 1);
  CHECK(miner.add("request to tool browse timed out") == b);
  CHECK(miner.text(b) == "request to tool <*> timed out");
  CHECK(miner.text(a) == "worker alpha lost its lease after <*> s");
  CHECK(miner.add("disk is nearly full now") == 2);
  CHECK(miner.text(99).empty());
}

TEST_CASE("endless variety stays bounded") {
  TemplateMiner miner;
  Prng prng(3);
  std::set<uint32_t> ids;
  for (int i = 0; i < 30000; ++i) {
    std::string line;
    for (uint64_t words = 1 + prng.below(70); words > 0; --words) {
      for (int k = 0; k < 5; ++k) line.push_back(static_cast<char>('g' + prng.below(20)));
      line.push_back(' ');
    }
    ids.insert(miner.add(line));
  }
  CHECK(ids.size() <= TemplateMiner::kTemplateLimit + 1);
  bool rest = false;
  for (const uint32_t id : ids) rest = rest || miner.text(id) == "<*>";
  CHECK(rest);
}

TEST_CASE("hostile bytes are harmless") {
  TemplateMiner miner;
  miner.add(std::string(5000000, '/'));
  miner.add(std::string(5000, '\0') + "\xff\xfe 1");
  miner.add("<*> <*> \n\r\t <*>");
  CHECK(miner.text(0).size() < 5000);
}

TEST_CASE("while the version is the same, a message is of the same template") {
  TemplateMiner miner;
  const uint32_t first = miner.add("queue 7 of the pool is full");
  const uint64_t version = miner.version();
  CHECK(miner.add("queue 7 of the pool is full") == first);
  CHECK(miner.add("queue 8 of the pool is full") == first);
  CHECK(miner.version() == version);
  CHECK(miner.add("queue 8 of the pool is empty") == first);  // the word at its end is a variable from here on
  CHECK(miner.version() != version);
  const uint64_t looser = miner.version();
  CHECK(miner.add("queue 8 of the pool is gone") == first);
  CHECK(miner.version() == looser);
  CHECK(miner.add("cannot write") != first);
  CHECK(miner.version() != looser);
}

}  // namespace
}  // namespace mw
