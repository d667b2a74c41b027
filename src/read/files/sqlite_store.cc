#include "read/files/sqlite_store.h"

#include <sqlite3.h>

#include <algorithm>
#include <limits>
#include <set>

#include "base/text.h"
#include "read/files/jsonl.h"

namespace mw {
namespace {

Error error_of(sqlite3* database, int code, const std::string& path) {
  const std::string what = cat(path, ": ", database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code));
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {Error::Code::kIo, what, "its writer has locked it; it is tried again"};
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return {Error::Code::kInvalid, what, "copy it with its -wal file while nobody writes"};
    case SQLITE_CANTOPEN:
      return {Error::Code::kNotFound, what, "check the path and the rights to read it"};
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {Error::Code::kDenied, what, "read rights on the file are needed"};
    default:
      return {Error::Code::kIo, what, ""};
  }
}

class Statement {
 public:
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  Statement(Statement&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }
  sqlite3_stmt* get() const { return statement_; }
  int step() { return sqlite3_step(statement_); }
  void bind(int at, int64_t value) { sqlite3_bind_int64(statement_, at, value); }
  /// "" for NULL.
  std::string_view text(int column) const {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    if (bytes == nullptr) return {};
    return {bytes, static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
  }
  int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  double real(int column) const { return sqlite3_column_double(statement_, column); }
  bool null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

 private:
  sqlite3_stmt* statement_;
};

class Store {
 public:
  Store(const std::string& path, RecordSink& sink, SqliteSince& since) : path_(path), sink_(sink), since_(since) {}
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store() { sqlite3_close_v2(database_); }

  Result<void> read();
  std::string damage();

 private:
  Result<void> open();
  Result<Statement> prepare(std::string_view sql);
  Result<bool> step(Statement& statement);
  bool has_column(std::string_view table, std::string_view column);
  Result<void> trackio();
  Result<void> trackio_facts();
  Result<void> trackio_rows(std::string_view table, int64_t& after, bool system);
  Result<void> mlflow();
  Result<void> mlflow_facts();
  Result<void> mlflow_rows();
  Result<void> each(std::string_view sql, const auto& use);

  std::string path_;
  RecordSink& sink_;
  SqliteSince& since_;
  sqlite3* database_ = nullptr;
  std::set<std::string, std::less<>> runs_;
  RowBuilder row_;
  uint64_t rows_ = 0;
};

/// Read-only; when that fails because the folder cannot be written (WAL needs its -shm file there) and no -wal file
/// stands beside it, the database cannot be changing and is opened as immutable.
Result<void> Store::open() {
  std::string uri = "file:";
  for (const char c : path_) {
    if (c == '%' || c == '?' || c == '#') {
      constexpr std::string_view kHex = "0123456789abcdef";
      uri += '%';
      uri += kHex[static_cast<unsigned char>(c) >> 4];
      uri += kHex[static_cast<unsigned char>(c) & 15];
    } else {
      uri += c;
    }
  }
  const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
  for (const std::string_view mode : {"?mode=ro", "?mode=ro&immutable=1"}) {
    int code = sqlite3_open_v2(cat(uri, mode).c_str(), &database_, flags, nullptr);
    if (code == SQLITE_OK) {
      sqlite3_busy_timeout(database_, kSqliteBusyMs);
      sqlite3_limit(database_, SQLITE_LIMIT_LENGTH, static_cast<int>(kJsonLineLimit));
      code = sqlite3_exec(database_, "SELECT count(*) FROM sqlite_master", nullptr, nullptr, nullptr);
    }
    if (code == SQLITE_OK) return {};
    const int kind = code & 0xff;
    const bool retry = mode == "?mode=ro" && (kind == SQLITE_CANTOPEN || kind == SQLITE_READONLY);
    Error error = error_of(database_, code, path_);
    sqlite3_close_v2(database_);
    database_ = nullptr;
    sqlite3* wal = nullptr;  // a -wal file means unread changes that an immutable opening would miss
    const bool has_wal = sqlite3_open_v2(cat(path_, "-wal").c_str(), &wal, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK;
    sqlite3_close_v2(wal);
    if (!retry || has_wal) return error;
  }
  return Error{Error::Code::kIo, cat(path_, ": cannot be opened"), ""};
}

Result<Statement> Store::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return error_of(database_, code, path_);
  return Statement(statement);
}

Result<bool> Store::step(Statement& statement) {
  const int code = statement.step();
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return error_of(database_, code, path_);
}

Result<void> Store::each(std::string_view sql, const auto& use) {
  auto statement = prepare(sql);
  if (!statement.ok()) return statement.error();
  while (true) {
    const auto more = step(*statement);
    if (!more.ok()) return more.error();
    if (!*more) return {};
    use(*statement);
  }
}

bool Store::has_column(std::string_view table, std::string_view column) {
  auto statement = prepare("SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2");
  if (!statement.ok()) return false;
  sqlite3_bind_text(statement->get(), 1, table.data(), static_cast<int>(table.size()), SQLITE_TRANSIENT);
  sqlite3_bind_text(statement->get(), 2, column.data(), static_cast<int>(column.size()), SQLITE_TRANSIENT);
  return statement->step() == SQLITE_ROW;
}

std::string Store::damage() {
  if (!open().ok()) return "";  // which reading it has said
  std::string found;
  size_t places = 0;
  const auto asked = each("PRAGMA quick_check(20)", [&](const Statement& row) {
    if (row.text(0) == "ok") return;
    if (places++ > 0) return;
    found = clip(row.text(0), 200);
    std::replace(found.begin(), found.end(), '\n', ' ');
  });
  if (!asked.ok()) return asked.error().code == Error::Code::kInvalid ? asked.error().what : "";
  return places > 1 ? cat(found, " and ", places - 1, places == 20 ? " or more" : "", " other places") : found;
}

Result<void> Store::read() {
  MW_TRY(open());
  if (has_column("metrics", "metrics")) return trackio();
  if (has_column("metrics", "run_uuid")) return mlflow();
  return Error{Error::Code::kUnsupported, cat(path_, ": a SQLite database that is neither trackio's nor MLflow's"), ""};
}

// ---- trackio (trackio/sqlite_storage.py): one JSON object per step
// ------------------------------------------------------
Result<void> Store::trackio() {
  MW_TRY(each("SELECT DISTINCT run_name FROM metrics LIMIT 1000",
              [&](const Statement& row) { runs_.emplace(row.text(0)); }));
  if (since_.metrics == 0) MW_TRY(trackio_facts());
  MW_TRY(trackio_rows("metrics", since_.metrics, false));
  if (has_column("system_metrics", "metrics")) MW_TRY(trackio_rows("system_metrics", since_.system, true));
  if (!has_column("alerts", "title")) return {};
  auto statement = prepare("SELECT rowid, title, text FROM alerts WHERE rowid > ?1 ORDER BY rowid");
  if (!statement.ok()) return statement.error();
  statement->bind(1, since_.alerts);
  while (true) {
    const auto more = step(*statement);
    if (!more.ok()) return more.error();
    if (!*more) return {};
    put_property(sink_, "run/alert", cat(statement->text(1), ": ", statement->text(2)));
    since_.alerts = statement->integer(0);
  }
}

Result<void> Store::trackio_facts() {
  for (const std::string& run : runs_) put_property(sink_, "run/name", run);
  if (!has_column("configs", "config")) return {};
  return each("SELECT run_name, config FROM configs", [&](const Statement& row) {
    const std::string prefix = runs_.size() > 1 ? cat("config/", clip(row.text(0), 200)) : "config";
    put_json_properties(sink_, prefix, row.text(1));
  });
}

Result<void> Store::trackio_rows(std::string_view table, int64_t& after, bool system) {
  auto statement = prepare(cat("SELECT rowid, timestamp, run_name, metrics, ", system ? "NULL" : "step", " FROM ",
                               table, " WHERE rowid > ?1 ORDER BY rowid"));
  if (!statement.ok()) return statement.error();
  statement->bind(1, after);
  ProblemCounter not_a_record("not-a-record");
  while (true) {
    const auto more = step(*statement);
    if (!more.ok()) return more.error();
    if (!*more) return {};
    after = statement->integer(0);
    ++rows_;
    if (!read_json_record(statement->text(3), row_)) {
      not_a_record.report(sink_, clip(statement->text(3), 200), rows_);
      continue;
    }
    if (system) {
      for (RowNumber& number : row_.numbers()) number.key = row_.keep_joined("system", number.key);
    }
    if (runs_.size() > 1) row_.add_text("run", statement->text(2));
    const auto at = parse_time(statement->text(1));
    row_.hand_over(sink_, rows_, statement->null(4) ? kNoStep : statement->integer(4), at.value_or(Time{}), system);
  }
}

// ---- MLflow (mlflow/store/tracking/dbmodels/models.py): one point per row
// -----------------------------------------------
Result<void> Store::mlflow() {
  MW_TRY(each("SELECT DISTINCT run_uuid FROM metrics LIMIT 1000",
              [&](const Statement& row) { runs_.emplace(row.text(0)); }));
  if (since_.metrics == 0) MW_TRY(mlflow_facts());
  return mlflow_rows();
}

Result<void> Store::mlflow_facts() {
  const bool many = runs_.size() > 1;
  if (has_column("params", "run_uuid")) {
    MW_TRY(each("SELECT run_uuid, key, value FROM params ORDER BY run_uuid, key", [&](const Statement& row) {
      put_property(sink_, many ? cat("config/", row.text(0), '/', row.text(1)) : cat("config/", row.text(1)),
                   row.text(2));
    }));
  }
  if (!has_column("runs", "status")) return {};
  return each("SELECT run_uuid, name, status, start_time, end_time FROM runs", [&](const Statement& row) {
    put_property(sink_, "run/id", row.text(0));
    if (!row.null(1)) put_property(sink_, "run/name", row.text(1));
    put_property(sink_, "run/status", row.text(2));
    const Time start = time_from_epoch(row.real(3)), end = time_from_epoch(row.real(4));
    if (start.known()) put_property(sink_, "run/start_time", format_utc(start));
    if (many) return;  // one run's end is not the others'
    if (row.text(2) == "FINISHED") sink_.ended(0, end);
    if (row.text(2) == "FAILED" || row.text(2) == "KILLED") sink_.ended(1, end);
  });
}

Result<void> Store::mlflow_rows() {
  auto statement = prepare(
      "SELECT rowid, run_uuid, key, value, timestamp, step, is_nan FROM metrics WHERE rowid > ?1 ORDER BY rowid");
  if (!statement.ok()) return statement.error();
  statement->bind(1, since_.metrics);
  std::string run;
  int64_t at_ms = 0, at_step = kNoStep;
  const auto hand_over = [&] {
    if (row_.empty()) return;
    if (runs_.size() > 1) row_.add_text("run", row_.keep(run));
    row_.hand_over(sink_, ++rows_, at_step, time_from_epoch(static_cast<double>(at_ms)));
  };
  while (true) {
    const auto more = step(*statement);
    if (!more.ok()) return more.error();
    if (!*more) break;
    const int64_t step_now = statement->integer(5);
    const bool same = !row_.empty() && step_now == at_step && statement->text(1) == run &&
                      row_.numbers()[0].key != statement->text(2) && row_.numbers().size() < kRowValueLimit;
    if (!same) {
      hand_over();
      run.assign(statement->text(1));
      at_ms = statement->integer(4);
      at_step = step_now;
    }
    constexpr double kHuge = 1.79e308;  // MLflow stores an infinity as the largest double
    double value = statement->integer(6) != 0 ? std::numeric_limits<double>::quiet_NaN() : statement->real(3);
    if (value > kHuge) value = std::numeric_limits<double>::infinity();
    if (value < -kHuge) value = -std::numeric_limits<double>::infinity();
    row_.add_number(row_.keep(statement->text(2)), value);
    since_.metrics = statement->integer(0);
  }
  hand_over();
  return {};
}

}  // namespace

std::string sqlite_damage(const std::string& path) {
  class None final : public RecordSink {
    void row(const Row&) override {}
    void console(std::string_view, uint64_t, Time) override {}
    void property(std::string_view, std::string_view) override {}
    void ended(int64_t, Time) override {}
    void problem(std::string_view, std::string_view, uint64_t) override {}
  } none;
  SqliteSince since;
  return Store(path, none, since).damage();
}

Result<void> read_sqlite(const std::string& path, RecordSink& sink, SqliteSince& since) {
  return Store(path, sink, since).read();
}

}  // namespace mw
