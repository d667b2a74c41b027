// A log line taken apart: what wraps it (colours, progress bars, Ray and torchrun prefixes, time stamps, levels) and
// what it says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"
#include "platform/time_zone.h"
#include "read/lines/bare_clocks.h"
#include "read/lines/container_label.h"
#include "read/lines/date_order.h"
#include "read/lines/rare_bytes.h"

namespace mw {

enum class Level : uint8_t { kNone, kDebug, kInfo, kWarning, kError, kCritical };

struct LogLine {
  std::string_view text;   ///< the message: prefixes, time, level and logger name stripped, ANSI removed
  std::string_view whole;  ///< the line as it is shown: ANSI removed, only the part after the last '\r'
  RareBytes rare;          ///< of the whole line, with what was stripped
  uint64_t number = 0;     ///< 1-based in its file
  Time at;                 ///< from the line itself; unknown when it has none (or a clock without a date: see clock)
  int32_t clock_ms = -1;   ///< time of day when the line shows only that, else -1
  Level level = Level::kNone;
  std::string_view logger;  ///< "vllm.engine", "accelerate.utils" when shown
  std::string_view actor;   ///< Ray: "TaskRunner", "(WorkerDict" ...; vLLM: "EngineCore_0"
  int64_t pid = -1;         ///< Ray "pid=", vLLM "pid=", torchrun none
  std::string_view ip;      ///< Ray "ip="
  int rank = -1;            ///< torchrun "[default0]:", "[rank3]:", "0: "
  uint64_t repeated = 1;    ///< Ray "[repeated 4x across cluster]"
};

/// Takes lines apart; keeps the storage for the last one, so the views live until the next call. Also turns clocks
/// without a date into times, from the last date seen and from going past midnight.
class LineReader {
 public:
  const LogLine& read(std::string_view line, uint64_t number);
  /// Of a file that is read once: its beginning, which may show that srun's labels, machines' names or ranks in
  /// brackets stand before its lines, or a clock alone. (Without it srun's are known from the second line on, clocks
  /// from the fourth, the others not at all.)
  void expect_labels(std::string_view head);
  /// A date to start from for clocks without one (the file's modification time, or a date in its name).
  void set_date_hint(Time date);
  /// Of a file that is read once: its beginning, whose first date, however far on, is nearer to the clocks before it
  /// than what the hint says.
  void expect_dates(std::string_view head);
  /// What clocks without a zone show from here on; UTC until then.
  void set_zone(const TimeZone& zone);
  /// The moment that the last line's clock showed, as if it were UTC; unknown where it named its zone, or had none.
  Time wall() const { return wall_; }
  /// What the clocks that were read did not name: their zone, where none was set either, and the date of the first
  /// ones, so that the hint was taken.
  bool lacks_zone() const { return lacks_zone_; }
  bool lacks_date() const { return lacks_date_; }
  /// Bytes of a line that are looked at; what lies beyond is cut off.
  static constexpr size_t kBytesLimit = 1 << 20;

 private:
  void date(Stamp stamp, bool month_first);
  void heed_clock(BareClocks::Begin begin);
  std::optional<Stamp> slurm_stamp(std::string_view text) const;
  bool expect_date_in(std::string_view head, Time changed);
  void expect_names(std::string_view head);
  void expect_numbers(std::string_view head);
  void expect_clocks(std::string_view head);
  void expect_order(std::string_view head);
  std::string_view label(std::string_view line);

  LogLine line_;
  std::string clean_;
  TimeZone zone_;
  Time last_;  // as the clock on the wall shows it
  Time wall_;
  bool hinted_ = false;      // last_ is a hint, not a moment met in the file
  bool expected_ = false;    // that hint is a moment that comes later in the file
  bool seeks_date_ = false;  // a time of day alone is none
  bool zone_set_ = false, lacks_zone_ = false, lacks_date_ = false;
  BareClocks clocks_;
  DateOrder order_;
  ContainerLabels containers_;
  std::string family_;   // what machines' names or ranks in brackets before each line begin with; empty: there are none
  int labels_ = 0;       // how surely the lines carry srun's labels
  int last_label_ = -1;  // of the line before
};

/// `line` without ANSI escape sequences, into `out` (only when there are any); returns the clean view.
std::string_view strip_ansi(std::string_view line, std::string& out);

}  // namespace mw
