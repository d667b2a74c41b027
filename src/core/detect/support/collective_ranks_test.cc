#include "core/detect/support/collective_ranks.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

#include "base/text.h"

namespace mw::detect {
namespace {

State with(std::initializer_list<std::string> texts) {
  State state;
  SignatureState seen;
  seen.id = "nccl-watchdog-timeout";
  for (const std::string& text : texts) {
    seen.matches.emplace_back();
    seen.matches.back().text = text;
  }
  state.signatures.push_back(std::move(seen));
  return state;
}

std::string caught(int rank, int work, const char* operation = "ALLREDUCE", const char* group = "") {
  return cat("[", group, "Rank ", rank, "] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=", work,
             ", OpType=", operation, ", NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600020 milliseconds");
}

}  // namespace

TEST_CASE("the rank that is behind is named") {
  CHECK(missing_ranks(with({caught(0, 412), caught(1, 412), caught(2, 410), caught(3, 412)}), 0) ==
        "rank 2 is behind: at work 410, the others at 412");
}

TEST_CASE("the rank that says nothing is named") {
  CHECK(missing_ranks(with({caught(0, 9), caught(1, 9), caught(2, 9), caught(4, 9), caught(5, 9)}), 0) ==
        "rank 3 says nothing, ranks 0 to 2, 4 and 5 wait in ALLREDUCE");
}

TEST_CASE("ranks that wait in different operations took different paths") {
  CHECK(missing_ranks(with({caught(0, 9), caught(1, 9, "BROADCAST"), caught(2, 9)}), 0) ==
        "rank 1 waits in BROADCAST, the others in something else: they took different paths");
}

TEST_CASE("nothing is claimed where the lines do not tell") {
  CHECK(missing_ranks(with({}), 0).empty());
  CHECK(missing_ranks(with({caught(3, 9)}), 0).empty());                               // one rank alone
  CHECK(missing_ranks(with({caught(0, 9), caught(1, 8)}), 0).empty());                 // one against one
  CHECK(missing_ranks(with({caught(0, 9), caught(1, 9), caught(2, 9)}), 0).empty());   // all wait, none is missing
  CHECK(missing_ranks(with({caught(0, 9), caught(1, 9), caught(40, 9)}), 0).empty());  // of how many, nobody knows
  CHECK(missing_ranks(with({caught(0, 9), caught(1, 9), caught(3, 9)}), 1).empty());   // of another attempt
  CHECK(missing_ranks(with({"no rank at all SeqNum=4", "[Rank 99999999999999] SeqNum=4", "[Rank 1] SeqNum="}), 0)
            .empty());
}

TEST_CASE("each process group counts for itself") {
  CHECK(missing_ranks(
            with({caught(0, 9, "ALLREDUCE", "PG ID 1 PG GUID 1 "), caught(1, 7, "ALLREDUCE", "PG ID 1 PG GUID 1 "),
                  caught(2, 9, "ALLREDUCE", "PG ID 1 PG GUID 1 "), caught(0, 30, "ALLREDUCE", "PG ID 2 PG GUID 2 ")}),
            0) == "rank 1 is behind: at work 7, the others at 9");
}

}  // namespace mw::detect
