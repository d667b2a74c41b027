// Metric stores in SQLite: trackio's project databases and MLflow's tracking store. Read-only; a database that its
// writer has open (WAL or not) is read beside it and never locked for long.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "read/files/decoder.h"

namespace mw {

/// ms to wait for a writer's lock before giving up until the next time.
constexpr int kSqliteBusyMs = 2000;

/// Where reading goes on the next time: the highest row ids that were handed over.
struct SqliteSince {
  int64_t metrics = 0;  ///< rowid of "metrics"
  int64_t alerts = 0;   ///< rowid of trackio's "alerts"
  int64_t system = 0;   ///< rowid of trackio's "system_metrics"
};

/// Hands over what came after `since` (which is moved on) of every run in the database. A row's texts name its run
/// ("run" = name or id) when there is more than one; MLflow's points of one run, step and time are one row. Settings
/// ("run/…", "config/…") and ends of runs are handed over when `since` is at its start.
/// Errors: kNotFound, kDenied, kUnsupported (no schema that is known), kInvalid (no or a broken database), kIo
/// (locked).
Result<void> read_sqlite(const std::string& path, RecordSink& sink, SqliteSince& since);

/// What SQLite finds wrong with the pages of a database, "" when nothing, or when it cannot be looked at now: rows of a
/// damaged page may be missing without a word.
std::string sqlite_damage(const std::string& path);

}  // namespace mw
