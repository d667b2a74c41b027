#include "read/files/sqlite_store.h"

#include <doctest/doctest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdio>

#include "read/files/testing/recording_sink.h"

using namespace mw;

namespace {

/// A database of a test, removed at its end.
class Scratch {
 public:
  explicit Scratch(const char* sql) {
    path = "/tmp/midwatch-test-" + std::to_string(getpid()) + "-#1.db";
    remove();
    REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
    run("PRAGMA journal_mode=WAL");
    run(sql);
  }
  ~Scratch() {
    sqlite3_close(database);
    remove();
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void run(const char* sql) { REQUIRE(sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK); }
  void remove() const {
    for (const char* const end : {"", "-wal", "-shm"}) std::remove((path + end).c_str());
  }
  std::string path;
  sqlite3* database = nullptr;
};

constexpr const char* kTrackio =
    "CREATE TABLE metrics(id INTEGER PRIMARY KEY, run_id TEXT, timestamp TEXT, run_name TEXT, step INTEGER, metrics "
    "TEXT);"
    "CREATE TABLE configs(id INTEGER PRIMARY KEY, run_name TEXT, config TEXT);"
    "CREATE TABLE system_metrics(id INTEGER PRIMARY KEY, timestamp TEXT, run_name TEXT, metrics TEXT);"
    "CREATE TABLE alerts(id INTEGER PRIMARY KEY, run_name TEXT, title TEXT, text TEXT);"
    "INSERT INTO configs(run_name, config) VALUES('a', '{\"lr\": 0.5}');"
    "INSERT INTO alerts(run_name, title, text) VALUES('a', 'low', 'reward');"
    "INSERT INTO system_metrics(timestamp, run_name, metrics) VALUES('2026-01-02T03:04:00', 'a', '{\"gpu\": 7}');"
    "INSERT INTO metrics(timestamp, run_name, step, metrics) VALUES('2026-01-02T03:04:05', 'a', 3, '{\"reward\": "
    "NaN}');"
    "INSERT INTO metrics(timestamp, run_name, step, metrics) VALUES('2026-01-02T03:05:05', 'a', 4, 'junk');";

constexpr const char* kMlflow =
    "CREATE TABLE metrics(key TEXT, value REAL, timestamp BIGINT, run_uuid TEXT, step BIGINT, is_nan BOOLEAN);"
    "CREATE TABLE runs(run_uuid TEXT PRIMARY KEY, name TEXT, status TEXT, start_time BIGINT, end_time BIGINT);"
    "CREATE TABLE params(key TEXT, value TEXT, run_uuid TEXT);"
    "INSERT INTO runs VALUES('r1', 'night', 'FAILED', 1760000000000, 1760000100000);"
    "INSERT INTO params VALUES('algo', 'grpo', 'r1');"
    "INSERT INTO metrics VALUES('reward', 0.5, 1760000010000, 'r1', 1, 0);"
    "INSERT INTO metrics VALUES('loss', 0, 1760000010001, 'r1', 1, 1);"
    "INSERT INTO metrics VALUES('reward', 1.7976931348623157e308, 1760000020000, 'r1', 2, 0);";

}  // namespace

TEST_CASE("sqlite: trackio's rows, beside its writer, going on where it was") {
  Scratch store(kTrackio);
  RecordingSink sink;
  SqliteSince since;
  REQUIRE(read_sqlite(store.path, sink, since).ok());
  CHECK(sink.log ==
        "property run/name=a\nproperty config/lr=0.5\n"
        "row 1 step 3 at 2026-01-02T03:04:05Z reward=nan\nproblem not-a-record 2: junk\n"
        "row 3 step - at 2026-01-02T03:04:00Z system/gpu=7\nproperty run/alert=low: reward\n");
  store.run(
      "INSERT INTO metrics(timestamp, run_name, step, metrics) VALUES('2026-01-02T03:06:05', 'b', 5, '{\"reward\": "
      "1}')");
  RecordingSink next;
  REQUIRE(read_sqlite(store.path, next, since).ok());
  CHECK(next.log == "row 1 step 5 at 2026-01-02T03:06:05Z reward=1 run='b'\n");
}

TEST_CASE("sqlite: MLflow's points become rows") {
  Scratch store(kMlflow);
  RecordingSink sink;
  SqliteSince since;
  REQUIRE(read_sqlite(store.path, sink, since).ok());
  CHECK(contains(sink.log, "property config/algo=grpo\n"));
  CHECK(contains(sink.log, "property run/status=FAILED\n"));
  CHECK(contains(sink.log, "ended 1 2025-10-09T08:55:00Z\n"));
  CHECK(contains(sink.log, "row 1 step 1 at 2025-10-09T08:53:30Z reward=0.5 loss=nan\nrow 2 step 2 "));
  CHECK(contains(sink.log, "reward=inf\n"));
}

TEST_CASE("sqlite: what cannot be read is an error that says why") {
  RecordingSink sink;
  SqliteSince since;
  const auto code = [&](const std::string& path) {
    const auto result = read_sqlite(path, sink, since);
    REQUIRE_FALSE(result.ok());
    return result.error().code;
  };
  CHECK(code("/nowhere/at/all.db") == Error::Code::kNotFound);
  Scratch other("CREATE TABLE t(a)");
  CHECK(code(other.path) == Error::Code::kUnsupported);
  const std::string junk = other.path + ".junk";
  std::FILE* file = std::fopen(junk.c_str(), "w");
  REQUIRE(file != nullptr);
  std::fputs("SQLite format 3 it is not, whatever it says about itself in its first bytes; nothing follows.", file);
  std::fclose(file);
  CHECK(code(junk) == Error::Code::kInvalid);
  std::remove(junk.c_str());
}
