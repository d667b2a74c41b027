#include <doctest/doctest.h>

#include "base/text.h"
#include "sense/fingerprint/fingerprint.h"

namespace mw {
namespace {

Fingerprint sample() {
  Fingerprint of;
  of.attempt = 1;
  of.at = {1'771'491'791'000'000'000};
  of.command = {"bash", "train.sh"};
  of.folder = "/data/run";
  of.facts["environment"] = {{"LR", "1e-6"}, {"WANDB_API_KEY", "<redacted>"}};
  of.facts["package"] = {{"vllm", "0.8.5"}, {"torch", "2.6.0"}};
  of.facts["host"] = {{"name", "node7"}};
  of.facts["space"] = {{"/data", "3 GiB free"}};
  of.files["train.sh"] = {40, "00", "#!/bin/sh\npython train.py --lr 1e-6\necho done\n"};
  of.code = CodeSeen{"/data/run", "c0ffee", "main", {{"reward.py", "@@ -3 +3 @@\n-a = 1\n+a = 2\n"}}, {"new.py"}, "11"};
  return of;
}

std::string shown(const Fingerprint& a, const Fingerprint& b) {
  std::string out;
  for (const Difference& d : differences(a, b)) out += cat(d.what, " ", d.name, ": ", d.before, " > ", d.after, "\n");
  return out;
}

TEST_CASE("a fingerprint reads back as it was written, and is not different from itself") {
  const Fingerprint of = sample();
  const auto back = parse_fingerprint(fingerprint_text(of));
  REQUIRE(back.ok());
  CHECK(fingerprint_text(*back) == fingerprint_text(of));
  CHECK(shown(of, *back).empty());
  CHECK_FALSE(parse_fingerprint("{").ok());
  CHECK_FALSE(parse_fingerprint("[1]").ok());
  CHECK_FALSE(parse_fingerprint("{}").ok());
  CHECK(
      parse_fingerprint(R"({"facts":{"host":[1,{}],"package":{"a":1}},"files":{"x":3},"code":[],"command":{}})").ok());
}

TEST_CASE("differences are listed, the likeliest cause of trouble first") {
  const Fingerprint a = sample();
  Fingerprint b = sample();
  b.facts["environment"]["LR"] = "2e-6";
  b.facts["environment"]["NEW"] = "1";
  b.facts["package"].erase("torch");
  b.facts["package"]["vllm"] = "0.9.0";
  b.facts["space"]["/data"] = "2 GiB free";
  b.files["train.sh"].hash = "01";
  b.files["train.sh"].text = "#!/bin/sh\npython train.py --lr 3e-6\necho done\n";
  b.code->changed["reward.py"] = "@@ -3 +3 @@\n-a = 1\n+a = 3\n";
  b.code->hash = "12";
  b.code->untracked.push_back("sweep.sh");
  CHECK(shown(a, b) ==
        "file train.sh: python train.py --lr 1e-6 > python train.py --lr 3e-6\n"
        "code reward.py: +a = 2 > +a = 3\n"
        "code sweep.sh:  > a new file that git does not know\n"
        "environment LR: 1e-6 > 2e-6\n"
        "environment NEW:  > 1\n"
        "package torch: 2.6.0 > \n"
        "package vllm: 0.8.5 > 0.9.0\n");
}

TEST_CASE("a folder that an attempt made is no difference; another disk under it is, and one that went") {
  Fingerprint a = sample(), b = sample();
  a.facts["disk"] = {{"/data", "nfs server:/vol, 1.0 TB"}, {"/data/ck", "not there yet; nfs server:/vol, 1.0 TB"}};
  b.facts["disk"] = {{"/data", "nfs server:/vol, 1.0 TB"},
                     {"/data/ck", "nfs server:/vol, 1.0 TB"},
                     {"/data/eval", "nfs server:/vol, 1.0 TB"}};
  CHECK(shown(a, b).empty());
  CHECK(shown(b, a) == "disk /data/ck: nfs server:/vol, 1.0 TB > \ndisk /data/eval: nfs server:/vol, 1.0 TB > \n");
  b.facts["disk"]["/data/ck"] = "tmpfs tmpfs, 2.0 GB";
  b.facts["disk"]["/data"] = "nfs server:/vol, read-only, 1.0 TB";
  CHECK(shown(a, b) ==
        "disk /data: nfs server:/vol, 1.0 TB > nfs server:/vol, read-only, 1.0 TB\n"
        "disk /data/ck: nfs server:/vol, 1.0 TB > tmpfs tmpfs, 2.0 GB\n");
}

TEST_CASE("another commit, and what was edited on top of it") {
  const Fingerprint a = sample();
  Fingerprint b = sample();
  b.code->commit = "decade";
  b.code->changed.clear();
  b.code->hash = "";
  CHECK(shown(a, b) == "code commit: c0ffee > decade\n");
  b.code->commit = "c0ffee";
  CHECK(shown(a, b) == "code reward.py: -a = 1\n+a = 2 > \n");
  b.code.reset();
  CHECK(shown(a, b).empty());  // not looked at
}

TEST_CASE("what was not looked at is not compared") {
  const Fingerprint a = sample();
  Fingerprint b;
  b.attempt = 2;
  CHECK(shown(a, b).empty());
  Fingerprint c = sample();
  c.facts.erase("environment");
  CHECK(shown(a, c).empty());
}

TEST_CASE("differences are bounded, in number and in size") {
  const Fingerprint a = sample();
  Fingerprint b = sample();
  for (int i = 0; i < 500; ++i) b.facts["package"][cat("package-", i)] = std::string(5000, 'x');
  const auto found = differences(a, b);
  CHECK(found.size() == kDifferenceLimit);
  CHECK(found.back().after == "401 further differences");
  for (const Difference& one : found) CHECK(one.after.size() <= kDifferenceText + 3);
}

TEST_CASE("lines that differ") {
  using Pair = std::pair<std::string, std::string>;
  CHECK(differing_lines("", "") == Pair{"", ""});
  CHECK(differing_lines("a\nb\nc\n", "a\nc\n") == Pair{"b", ""});
  CHECK(differing_lines("a\nb\nc\nd", "x\nb\ny\nd") == Pair{"a\nc", "x\ny"});
  CHECK(differing_lines("a\n", "a") == Pair{"", ""});
  std::string long_a, long_b;
  for (int i = 0; i < 3000; ++i) {
    long_a += cat("a", i, "\n");
    long_b += cat("b", i, "\n");
  }
  CHECK(differing_lines(long_a, long_b) == Pair{"3000 lines", "3000 other lines"});
}

TEST_CASE("what an earlier midwatch kept of a secret is not shown as a difference") {
  Fingerprint before = sample(), after = sample();
  after.facts["environment"]["JUDGE"] = "tok-VERYSECRET-42";
  CHECK(shown(before, after) == "environment JUDGE:  > <redacted>\n");
}

}  // namespace
}  // namespace mw
