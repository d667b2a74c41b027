#include "read/books/signature_book.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/json.h"
#include "base/testing/skip.h"
#include "base/text.h"
#include "core/incident_kind.h"

using mw::SignatureBook;
using mw::SignatureHit;

namespace {

mw::Result<SignatureBook> load_with(const std::string& text) {
  const std::vector<SignatureBook::File> files{{"user/x.toml", text}};
  return SignatureBook::load(files);
}

std::string error_of(const std::string& text) {
  const auto book = load_with(text);
  return book.ok() ? "" : book.error().what;
}

std::string signature(const std::string& id, const std::string& more) {
  return mw::cat("[[signature]]\nid = '", id,
                 "'\nlayer = 'x'\nframeworks = ['any']\nrole = 'root'\nkind = 'crash'\nseverity = 'critical'\n"
                 "symptom = 's'\ncauses = ['c']\ncheck = ['k']\nfix = 'f'\ntransient = 'deterministic'\n"
                 "blast_radius = 'run'\nreaction = 'ignore'\n",
                 more, "\n");
}

std::vector<SignatureHit> hits_of(const SignatureBook& book, const mw::PatternSet& set, std::string_view line) {
  std::vector<uint32_t> ids;
  set.match_line(line, ids);
  std::vector<SignatureHit> hits;
  book.resolve(line, ids, hits);
  return hits;
}

std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

}  // namespace

TEST_CASE("the built-in signatures load") {
  const auto start = std::chrono::steady_clock::now();
  const auto book = SignatureBook::load({});
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
  if (!book.ok()) FAIL(book.error().what);
  std::printf("signatures: %zu, patterns: %zu, causes: %zu, loaded in %.1f ms\n", book->knowledge().signatures.size(),
              book->pattern_count(), book->knowledge().causes.size(), spent.count());
  CHECK(book->patterns(0).size() == book->pattern_count());
  CHECK(std::is_sorted(book->knowledge().causes.begin(), book->knowledge().causes.end(),
                       [](const mw::Cause& a, const mw::Cause& b) { return a.id < b.id; }));
}

TEST_CASE("what to do is said to whoever runs the training, and is more than to report it") {
  const auto book = SignatureBook::load({});
  REQUIRE(book.ok());
  for (const mw::Signature& signature : book->knowledge().signatures) {
    CAPTURE(signature.id);
    CHECK_FALSE(signature.fix.starts_with("Report"));
    CHECK_FALSE(signature.fix.starts_with("Notify"));
    CHECK_FALSE(signature.fix.starts_with("Tell"));
    for (const std::string_view somebody_else : {"notify the owner", "ask the owner", "tell the owner", "to the owner"})
      CHECK_FALSE(mw::contains_folded(signature.fix, somebody_else));
  }
}

TEST_CASE("every id of the failure catalogue is here, or left out for a stated reason") {
  const auto book = SignatureBook::load({});
  REQUIRE(book.ok());
  const std::string list = slurp(MW_SOURCE_DIR "/tests/golden/catalogue_ids.txt");
  const std::string doc = slurp(MW_SOURCE_DIR "/docs/formats/signature.md");
  size_t count = 0;
  for (const std::string_view id : mw::split(list, '\n')) {
    if (id.empty()) continue;
    ++count;
    const bool known = book->knowledge().find(id) != nullptr || mw::contains(doc, mw::cat("left out: `", id, "`"));
    if (!known) FAIL_CHECK("neither here nor left out: ", std::string(id));
  }
  CHECK(count == 406);
}

TEST_CASE("each example shows its own signature, no counter-example does") {
  const auto book = SignatureBook::load({});
  REQUIRE(book.ok());
  auto set = mw::PatternSet::compile(book->patterns(0));
  if (!set.ok()) FAIL(set.error().what);
  const auto& all = book->knowledge().signatures;
  size_t examples = 0;
  for (uint32_t i = 0; i < all.size(); ++i) {
    for (const std::string& line : book->examples(i).lines) {
      const auto hits = hits_of(*book, *set, line);
      const bool shown = std::any_of(hits.begin(), hits.end(), [&](const SignatureHit& h) { return h.signature == i; });
      if (!shown) FAIL_CHECK(all[i].id, " does not match its example: ", line);
      ++examples;
    }
    for (const std::string& line : book->examples(i).counter_lines) {
      const auto hits = hits_of(*book, *set, line);
      const bool shown =
          std::any_of(hits.begin(), hits.end(), [&](const SignatureHit& h) { return h.signature == i && !h.weak; });
      if (shown) FAIL_CHECK(all[i].id, " matches its counter-example: ", line);
    }
  }
  CHECK(examples >= 300);
}

TEST_CASE("every incident kind has at least two causes to rank") {
  const auto book = SignatureBook::load({});
  REQUIRE(book.ok());
  std::map<std::string, std::set<std::string>> by_kind;
  for (const mw::Cause& cause : book->knowledge().causes) {
    for (const std::string& kind : cause.kinds) by_kind[kind].insert(cause.id);
  }
  const std::string list = slurp(MW_SOURCE_DIR "/tests/golden/incident_kinds.txt");
  size_t kinds = 0;
  for (const std::string_view kind : mw::split(list, '\n')) {
    if (kind.empty()) continue;
    ++kinds;
    CHECK(mw::is_incident_kind(kind));
    if (kind == mw::kUserRule) continue;  // a rule is its own cause
    if (by_kind[std::string(kind)].size() < 2) FAIL_CHECK("fewer than two causes: ", std::string(kind));
  }
  CHECK(kinds == 56);
  CHECK(!mw::is_incident_kind("crashed"));
  CHECK(!mw::is_incident_kind(""));
}

TEST_CASE("a cause row takes what it leaves out from the signature of its id") {
  const auto book = SignatureBook::load({});
  REQUIRE(book.ok());
  const mw::Cause* cause = book->knowledge().find_cause("user-cancelled");
  REQUIRE(cause != nullptr);
  CHECK(cause->fix == book->knowledge().find("user-cancelled")->fix);
  CHECK(!cause->kinds.empty());
  CHECK(book->knowledge().find_cause("no-such-cause") == nullptr);
}

TEST_CASE("a user's file adds and replaces") {
  const auto book = load_with(signature("my-own", "text = ['boom 7']\nexamples = ['boom 7']") +
                              signature("cuda-oom-trainer", "text = ['boom 8']\nexamples = ['boom 8']"));
  REQUIRE(book.ok());
  const auto plain = SignatureBook::load({});
  CHECK(book->knowledge().signatures.size() == plain->knowledge().signatures.size() + 1);
  CHECK(book->knowledge().find("cuda-oom-trainer")->fix == "f");
  auto set = mw::PatternSet::compile(book->patterns(0));
  REQUIRE(set.ok());
  const auto hits = hits_of(*book, *set, "boom 7");
  REQUIRE(hits.size() == 1);
  CHECK(book->knowledge().signatures[hits[0].signature].id == "my-own");
}

TEST_CASE("a line that matches weakly and strongly is shown once, strongly, unless it is taken back") {
  const auto book = load_with(
      signature("my-own", "text = ['zork']\nweak_text = ['zor']\nunless = ['zork \\d']\nexamples = ['zork']"));
  REQUIRE(book.ok());
  auto set = mw::PatternSet::compile(book->patterns(0));
  REQUIRE(set.ok());
  REQUIRE(hits_of(*book, *set, "a zork").size() == 1);
  CHECK(!hits_of(*book, *set, "a zork")[0].weak);
  REQUIRE(hits_of(*book, *set, "a zorn").size() == 1);
  CHECK(hits_of(*book, *set, "a zorn")[0].weak);
  CHECK(hits_of(*book, *set, "a zork 3").empty());
}

TEST_CASE("errors name file, line and what is wrong") {
  const std::string face = "text = ['a']\nexamples = ['a']";
  CHECK(error_of(signature("Bad Id", face)) == "user/x.toml:2: not an id: \"Bad Id\"");
  CHECK(error_of(signature("my-own", face + "\ncolour = 1")) == "user/x.toml:17: unknown key \"colour\"");
  CHECK(error_of("[[signature]]\nid = 'a'\n") == "user/x.toml:1: \"layer\" is missing");
  CHECK(error_of("\n\n[signature]\nid = 'a'\n") == "user/x.toml:3: write [[signature]], not [signature]");
  CHECK(error_of(signature("my-own", face) + signature("my-own", face)) ==
        "user/x.toml:17: \"my-own\" is already at user/x.toml:1");
  CHECK(error_of(signature("my-own", "regex = ['(']\nexamples = ['(']")).rfind("user/x.toml:15: bad regular", 0) == 0);
  CHECK(error_of(signature("my-own", "unless = ['(?=a)']\n" + face)).rfind("user/x.toml:15: bad regular", 0) == 0);
  CHECK(error_of(signature("my-own", "")) == "user/x.toml:1: neither a pattern nor a metric_rule");
  CHECK(error_of(signature("my-own", "text = ['a']")) == "user/x.toml:1: a signature with patterns needs an example");
  CHECK(error_of(signature("my-own", face + "\nconfused_with = ['nobody']")) ==
        "user/x.toml:1: there is no signature \"nobody\"");
  CHECK(error_of("[[cause]]\nid = 'my-cause'\nkinds = ['crashed']\nprior = 0.1\n") ==
        "user/x.toml:3: unknown incident kind \"crashed\"");
  CHECK(error_of("[[cause]]\nid = 'my-cause'\nkinds = ['crash']\nprior = 7\n") ==
        "user/x.toml:4: prior must lie in 0..1");
  CHECK(error_of("[[cause]]\nid = 'my-cause'\nkinds = ['crash']\nprior = 0.7\n") ==
        "user/x.toml:1: a cause that is no signature needs title, check, fix and reaction");
  CHECK(error_of("a = ").rfind("user/x.toml:1: ", 0) == 0);
  CHECK(error_of("") == "");
}

namespace {

constexpr uintmax_t kFileLimit = 64 << 20;  // bytes; larger files are read elsewhere

/// Counts the lines that show each signature strongly, in the text files of some labelled cases.
class Counter : public mw::HitListener {
 public:
  Counter(const SignatureBook& book, std::vector<uint64_t>& counts) : book_(book), counts_(counts) {}
  size_t hit(std::string_view line, size_t, size_t, std::span<const uint32_t> ids) override {
    book_.resolve(line, ids, hits_);
    for (const SignatureHit& hit : hits_) {
      if (!hit.weak) ++counts_[hit.signature];
    }
    return 0;
  }

 private:
  const SignatureBook& book_;
  std::vector<uint64_t>& counts_;
  std::vector<SignatureHit> hits_;
};

bool is_text(const std::filesystem::path& path) {
  static constexpr std::array<std::string_view, 7> kBinary{".wandb", ".db", ".gz", ".zst", ".zip", ".png", ".pt"};
  const std::string extension = path.extension();
  return std::find(kBinary.begin(), kBinary.end(), extension) == kBinary.end() &&
         !mw::contains(path.string(), "tfevents");
}

/// Reads the files of a case; a folder stands for the text files in it.
void scan_case(const std::filesystem::path& data, const mw::Json& one, const mw::PatternSet& set, Counter& counter) {
  namespace fs = std::filesystem;
  const mw::Json* paths = one.find("paths");
  if (paths == nullptr) return;
  for (const mw::Json& path : paths->items()) {
    std::vector<fs::path> files;
    if (fs::is_directory(data / path.string())) {
      for (const auto& entry : fs::recursive_directory_iterator(data / path.string())) files.push_back(entry.path());
    } else {
      files.push_back(data / path.string());
    }
    for (const fs::path& file : files) {
      if (!is_text(file) || !fs::is_regular_file(file) || fs::file_size(file) > kFileLimit) continue;
      set.scan(slurp(file), counter);
    }
  }
}

/// The labelled cases, of the file that MIDWATCH_LABELS names when it is set.
mw::Result<mw::Json> labelled_cases(const std::filesystem::path& data) {
  const char* named = std::getenv("MIDWATCH_LABELS");
  return mw::Json::parse(slurp(named != nullptr ? std::filesystem::path(named) : data / "labels.json"));
}

const std::filesystem::path kData = MW_SOURCE_DIR "/../shared/data";

}  // namespace

TEST_CASE("signatures that end a run keep silent in the logs of healthy runs" *
          doctest::test_suite(mw::testing::kMachine)) {
  if (!std::filesystem::exists(kData / "labels.json")) {
    mw::testing::skip("../shared/data/labels.json is not there");
    return;
  }
  const auto book = SignatureBook::load({});
  REQUIRE(book.ok());
  auto set = mw::PatternSet::compile(book->patterns(0));
  REQUIRE(set.ok());
  const auto cases = labelled_cases(kData);
  REQUIRE(cases.ok());
  size_t healthy = 0;
  for (const mw::Json& one : cases->items()) {
    const mw::Json* flag = one.find("healthy");
    if (flag == nullptr || !flag->boolean()) continue;
    ++healthy;
    std::vector<uint64_t> counts(book->knowledge().signatures.size());
    Counter counter(*book, counts);
    scan_case(kData, one, *set, counter);
    for (size_t i = 0; i < counts.size(); ++i) {
      const mw::Signature& signature = book->knowledge().signatures[i];
      if (counts[i] == 0 || signature.role == mw::Role::kBenign) continue;
      std::printf("healthy run: %s in %llu lines of %s\n", signature.id.c_str(),
                  static_cast<unsigned long long>(counts[i]), one.string_or("id", "?").c_str());
      const bool ends = signature.fatal && signature.role == mw::Role::kRoot;
      if (ends) FAIL_CHECK(signature.id, " in the healthy run ", one.string_or("id", "?"));
    }
  }
  CHECK(healthy > 0);
}

TEST_CASE("how often each signature is seen in the labelled runs" * doctest::skip()) {
  const auto book = SignatureBook::load({});
  REQUIRE(book.ok());
  auto set = mw::PatternSet::compile(book->patterns(0));
  REQUIRE(set.ok());
  const auto cases = labelled_cases(kData);
  REQUIRE(cases.ok());
  std::vector<uint64_t> lines(book->knowledge().signatures.size()), runs(lines.size());
  for (const mw::Json& one : cases->items()) {
    std::vector<uint64_t> counts(lines.size());
    Counter counter(*book, counts);
    scan_case(kData, one, *set, counter);
    for (size_t i = 0; i < counts.size(); ++i) {
      lines[i] += counts[i];
      runs[i] += counts[i] > 0;
      if (counts[i] > 0) {
        std::printf("%s\t%s\t%llu\n", one.string_or("id", "?").c_str(), book->knowledge().signatures[i].id.c_str(),
                    static_cast<unsigned long long>(counts[i]));
      }
    }
  }
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i] == 0) continue;
    std::printf("total\t%s\t%llu lines\t%llu runs\n", book->knowledge().signatures[i].id.c_str(),
                static_cast<unsigned long long>(lines[i]), static_cast<unsigned long long>(runs[i]));
  }
}
