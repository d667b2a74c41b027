// What a record's line calls the arm of an experiment that it is of.
#pragma once

#include <string>
#include <string_view>

namespace mw {

/// A name by which an experiment calls one of its arms: "arm", "seed", "method".
bool names_arm(std::string_view key);
/// Such a name of what the arms of one training may be asked: its numbers are no arms.
bool names_task(std::string_view key);
/// Such a name that a run or a job has as well, so that another start of the same training may have another: "run_id".
bool names_run(std::string_view key);

/// Of those, one that steps which go on behind it do not make a stage of one training: "seed".
bool names_arm_alone(std::string_view key);
/// A setting that arms may differ in, and that a restart may change as well.
bool names_rate(std::string_view key);

/// "seed=3 method=grpo" of "seed=3 | method: grpo | step 7", "[high]" of "[high] step 7"; "" where the line names
/// nothing of the kind. Into `out`.
void arm_of_line(std::string_view text, std::string& out);
/// "arm=B" of a line that says nothing else: "=== arm B ===", "seed 1", "Running method: grpo (2/3)". Into `out`.
void arm_of_heading(std::string_view text, std::string& out);

}  // namespace mw
