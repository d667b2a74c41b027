#include "read/interpret/known_names.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/prng.h"
#include "base/text.h"

namespace mw {
namespace {

std::vector<RowNumber> record_of(const std::vector<std::string>& names) {
  std::vector<RowNumber> numbers;
  for (const std::string& name : names) numbers.push_back({name, 0.5});
  return numbers;
}

}  // namespace

TEST_CASE("a name is known again wherever it stands, and no other is taken for it") {
  KnownNames names;
  Prng prng(3);
  std::vector<std::string> all;
  for (int i = 0; i < 60; ++i) all.push_back(cat("system/gpu.", i, ".temp"));
  std::vector<KnownName*> first;
  for (KnownName* name : names.of_record(record_of(all))) first.push_back(name);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> some;
    std::vector<size_t> which;
    for (uint64_t left = prng.below(40); left > 0; --left) which.push_back(prng.below(all.size()));
    for (const size_t i : which) some.push_back(all[i]);
    const auto known = names.of_record(record_of(some));
    REQUIRE(known.size() == which.size());
    for (size_t i = 0; i < which.size(); ++i) CHECK(known[i] == first[which[i]]);
  }
}

TEST_CASE("a sink's own count of its rows is no step") {
  KnownNames names;
  const std::vector<std::string> own = {"_step", "_runtime", "global_step"};
  const auto record = names.of_record(record_of(own));
  CHECK(record[0]->step_rank == KnownName::kNoRank);
  CHECK(record[1]->step_rank == KnownName::kNoRank);
  CHECK(record[2]->step_rank != KnownName::kNoRank);
}

TEST_CASE("a prefix makes another name of it, and leaves the record's own") {
  KnownNames names;
  const std::vector<std::string> own = {"step", "loss"};
  const auto record = names.of_record(record_of(own));
  const auto prefixed = names.with_prefix("eval/", record_of(own));
  CHECK(record[0]->raw == "step");
  CHECK(record[0]->step_rank != KnownName::kNoRank);
  CHECK(record[1]->raw == "loss");
  CHECK(prefixed[0]->raw == "eval/step");
  CHECK(prefixed[0]->step_rank == KnownName::kNoRank);
  CHECK(prefixed[1]->raw == "eval/loss");
}

TEST_CASE("names without an end are forgotten between two records, never within one") {
  KnownNames names;
  std::vector<std::string> many;
  for (size_t i = 0; i < 2 * KnownNames::kLimit; ++i) many.push_back(cat("metric_", i));
  const auto record = names.of_record(record_of(many));
  for (size_t i = 0; i < many.size(); ++i) CHECK(record[i]->raw == many[i]);
  record[0]->recognised = true;
  CHECK_FALSE(names.of_record(record_of({many[0]}))[0]->recognised);
}

}  // namespace mw
