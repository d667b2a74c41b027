// The records of runs for people: one on a terminal, all of them as an experiment log, one line each for a spreadsheet.
// Text of logs and people is foreign: it can be neither markup nor a terminal's command nor a spreadsheet's formula.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/requests.h"
#include "ui/cli/verb.h"

namespace mw {

/// `midwatch runs show`: at most as wide as the terminal.
std::string terminal_record(const RunsAnswer::Run& run, const Console& console);

/// `midwatch runs export`: the live runs, the table of those that are over, each of them, and all lessons.
std::string markdown_experiment_log(const std::vector<RunsAnswer::Run>& runs);

/// RFC 4180, a header and one line for each run.
std::string csv_of_runs(const std::vector<RunsAnswer::Run>& runs);

/// Schema midwatch.runs-export/1.
std::string json_of_runs(const std::vector<RunsAnswer::Run>& runs);
/// One of its runs.
std::string json_of_run(const RunsAnswer::Run& run);

/// "2h 10m in 3 attempts", "3 attempts"; "" where there was none.
std::string record_duration(const RunRecord& record);
/// "step 80 of 1000, 3m 20s a step"; "" where no step was seen.
std::string record_progress(const RunRecord& record);
/// "12.40 at 5.73 an hour"; "" where the rate is not known.
std::string record_cost(const RunRecord& record);
/// "0.41 at step 80 (best 0.47 at step 62, first 0.02 at step 1)".
std::string record_figure(const RunRecord::Figure& figure);
/// "setting lr: 1e-6 → 2e-6", on one line.
std::string record_change(const RunRecord::Change& change);
/// "step 12, 2026-02-19T09:08:11Z", as far as it is known.
std::string record_place(int64_t step, Time at);
/// The value of a canonical setting; "" where the run does not show it.
std::string_view record_setting(const RunRecord& record, std::string_view key);

}  // namespace mw
