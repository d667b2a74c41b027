#include "read/files/notebook.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "read/files/sniff.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

std::string text_of(std::string_view html) {
  std::string out;
  append_html_text(html, out);
  return out;
}

/// What a notebook puts out, fed in pieces of `most` bytes; "!" and the error's words where it is none.
std::string output_of(std::string_view notebook, size_t most = 1 << 20) {
  std::string out;
  NotebookReader reader;
  while (!notebook.empty()) {
    const auto fed = reader.feed(notebook.substr(0, most), [&out](std::string_view text) { out.append(text); });
    if (!fed.ok()) return cat(out, "!", fed.error().what);
    notebook.remove_prefix(std::min(most, notebook.size()));
  }
  const auto whole = reader.finish([&out](std::string_view text) { out.append(text); });
  return whole.ok() ? out : cat(out, "!", whole.error().what);
}

std::string notebook_with(std::string_view outputs) {
  return cat(
      R"({"cells": [{"cell_type": "markdown", "source": ["# {a\"}"]}, {"cell_type": "code", "source": ["x = 1\n"],)",
      R"( "outputs": [)", outputs, R"(]}], "metadata": {}, "nbformat": 4})");
}

class StillClock final : public Clock {
 public:
  Time now() override { return {1'700'000'000'000'000'000}; }
  Duration steady() override { return {}; }
};

}  // namespace

TEST_CASE("a notebook's streams, texts and errors are read in order, in pieces of any size") {
  const std::string notebook = notebook_with(
      R"({"output_type": "stream", "name": "stdout", "text": ["step 1\n", "step 2"]},)"
      R"({"output_type": "display_data", "data": {"image/png": "iVBOR", "text/plain": ["<Figure size 640x480>"]}},)"
      R"~({"output_type": "execute_result", "data": {"text/plain": "TrainOutput(global_step=2)"}},)~"
      R"({"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["Traceback", "ValueError: no"]},)"
      R"({"output_type": "error", "ename": "KeyError", "evalue": "'w'", "traceback": []})");
  const std::string shown = "step 1\nstep 2\nTrainOutput(global_step=2)\nTraceback\nValueError: no\nKeyError: 'w'\n";
  CHECK(output_of(notebook) == shown);
  CHECK(output_of(notebook, 1) == shown);
  CHECK(output_of(notebook, 7) == shown);
  CHECK(output_of(cat("\n", notebook, "\nwhat comes behind")) == shown);
}

TEST_CASE("a notebook that is torn or garbled says so and keeps what came before") {
  const std::string notebook = notebook_with(R"({"text": "step 1"})");
  const std::string cut = "!the notebook's JSON does not end; what its cells put out until there was read";
  CHECK(output_of(notebook.substr(0, notebook.size() - 9)) == cat("step 1\n", cut));
  CHECK(output_of(notebook_with(R"({"text": ["step 1\n", "step 2\n"]})").substr(0, 140), 11) == cat("step 1\n", cut));
  CHECK(output_of(R"({"cells": [{"outputs": [{"text": "a"}, 1x]}]})") == "a\n!the notebook's JSON is garbled");
  CHECK(output_of("{}").empty());
  CHECK(output_of("").empty());
}

TEST_CASE("what a notebook shows is found at the lines of its own file") {
  std::string cell = "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"outputs\": [\n    {\n     \"text\": [\n";
  for (int i = 1; i <= 9; ++i) cell += cat("      \"step ", i, " | loss=0.", 10 + i, " | reward=0.25\\n\",\n");
  cell += "      \"done\\n\"\n     ]\n    },\n    {\n     \"traceback\": [\n";
  cell += "      \"Traceback (most recent call last)\",\n      \"Cell In[3], line 1\\n----> 1 trainer.train()\\n\",\n";
  cell += "      \"ValueError: bad\"\n     ]\n    }\n   ]\n  }\n ],\n \"nbformat\": 4\n}\n";
  NotebookReader reader;
  std::string out;
  CHECK(reader.feed(cell, [&out](std::string_view text) { out.append(text); }).ok());
  const std::vector<uint32_t> lines = {8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 22, 23, 23, 23, 24};
  CHECK(reader.file_lines() == lines);
  CHECK(std::count(out.begin(), out.end(), '\n') == static_cast<std::ptrdiff_t>(lines.size()));
  const State state = state_of(cell, "train.ipynb");
  REQUIRE_FALSE(state.traces.empty());
  CHECK(state.traces[0].moment.where.line == 22);
  CHECK(state.traces[0].trace.last_line == 24);
  REQUIRE(state.find("loss.total") != nullptr);
  CHECK(state.find("loss.total")->points().back().where.line == 16);
  CHECK(state.sources[0].lines == 24);  // of its last output
}

TEST_CASE("the error of a notebook's last cell ended it, however much was put out before, and no other one did") {
  const auto notebook = [](std::string_view after) {
    std::string cells =
        "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"outputs\": [\n    {\n     \"text\": [\n";
    for (int i = 1; i <= 250; ++i) cells += cat("      \"step ", i, " | loss=0.25 | reward=0.5\\n\",\n");
    cells += "      \"done\\n\"\n     ]\n    },\n    {\n     \"traceback\": [\n";
    cells += "      \"------------------------------------------------------------------------\",\n";
    cells += "      \"NameError                         Traceback (most recent call last)\",\n";
    cells += "      \"Cell In[4], line 1\\n----> 1 traner.save_model('out')\\n\",\n";
    cells += "      \"NameError: name 'traner' is not defined\"\n     ]\n    }";
    return cat(cells, after, "\n   ]\n  }\n ],\n \"nbformat\": 4\n}\n");
  };
  const auto own = [](const State& state) {
    return std::any_of(state.traces.begin(), state.traces.end(),
                       [](const TraceState& one) { return !one.trace.sample; });
  };
  CHECK(own(state_of(notebook(""), "train.ipynb")));
  std::string more = ",\n    {\n     \"text\": [\n";
  for (int i = 251; i <= 260; ++i) more += cat("      \"step ", i, " | loss=0.25 | reward=0.5\\n\",\n");
  CHECK_FALSE(own(state_of(notebook(more + "      \"done\\n\"\n     ]\n    }"), "train.ipynb")));
}

TEST_CASE("a notebook of nbformat 3 keeps its cells in worksheets, and its texts beside the kind of output") {
  const std::string old =
      R"({"metadata": {}, "nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1"], "outputs": [)"
      R"({"output_type": "stream", "stream": "stdout", "text": ["step 1\n"]},)"
      R"({"output_type": "pyout", "html": "<tr><td>10</td><td>0.5</td></tr>", "text": "<Table>"},)"
      R"({"output_type": "pyerr", "ename": "KeyError", "evalue": "'w'", "traceback": ["Traceback", "KeyError: 'w'"]}]}]}]})";
  CHECK(output_of(old) == "step 1\n10 | 0.5\nTraceback\nKeyError: 'w'\n");
  CHECK(is_notebook(old, "a.ipynb"));
}

TEST_CASE("a table of HTML becomes lines with bars, and the bar above it comes last") {
  CHECK(text_of("\n <div>\n <progress value='13' max='64'></progress>\n [13/64 10:29 &lt; 60:36, 0.02 it/s]\n </div>\n"
                "<table border=\"1\">\n <thead>\n<tr style=\"a: b\">\n <th>Step</th>\n <th>Training Loss</th>\n</tr>"
                "</thead><tbody><tr>\n<td>10</td>\n<td>0.5</td>\n</tr><tr><td>20</td><td></td></tr></table><p>") ==
        "Step | Training Loss\n10 | 0.5\n20 |\n[13/64 10:29 < 60:36, 0.02 it/s]\n");
  CHECK(text_of("<tr><td>a|b</td><td>c<br>d</td></tr>") == "a/b | c d\n");
  CHECK(text_of("<style>td { a: 1 }</style><!-- <b> -->x<script>1 < 2</script>&amp;&nbsp;y &foo; <p>1 < 2") ==
        "x& y &foo;\n1 < 2\n");
  CHECK(text_of("<style>never ends").empty());
  CHECK(text_of("a <b").starts_with("a"));
}

TEST_CASE("a notebook is known by its name and content, or by its cells alone") {
  CHECK(sniff(notebook_with(""), "/x/train.ipynb") == FileKind::kNotebook);
  CHECK(sniff(notebook_with(""), "") == FileKind::kNotebook);
  CHECK(sniff(R"({"nbformat": 4, "cells": [)", "a.ipynb") == FileKind::kNotebook);
  CHECK(sniff("step 1\n", "a.ipynb") == FileKind::kText);
  const std::string widgets = R"({"metadata": {"kernelspec": {"name": "python3"}, "widgets": {"1": {"state": {)";
  CHECK(sniff(widgets, "a.ipynb") == FileKind::kNotebook);
  CHECK(sniff(widgets, "") == FileKind::kNotebook);
  CHECK(sniff(R"({"metadata": {"seed": 1}, "loss": [0.5]})", "a.json") != FileKind::kNotebook);
  CHECK(sniff(R"({"cells": 3, "loss": 0.5})", "a.json") != FileKind::kNotebook);
}

TEST_CASE("a notebook is replayed as the log of its cells, with the framework that its code imports") {
  std::string rows;
  for (int step = 10; step <= 130; step += 10) {
    rows += cat("<tr>\\n<td>", step, "</td>\\n<td>0.000000</td>\\n<td>0.000000</td>\\n<td>0.000000</td>\\n</tr>\\n");
  }
  const std::string table = cat(
      "<div>\\n<progress value='131' max='3828'></progress>\\n[ 131/3828 10:29 < 60:36:50, 0.02 it/s, Epoch 0.00/1]\\n",
      "</div>\\n<table>\\n<tr>\\n<th>Step</th>\\n<th>Training Loss</th>\\n<th>reward</th>\\n",
      "<th>rewards / exact_reward_func / mean</th>\\n</tr>\\n", rows, "</table><p>");
  const std::string notebook = cat(
      R"({"cells": [{"cell_type": "code", "source": ["from trl import GRPOConfig, GRPOTrainer\n"], "outputs": []},)",
      R"~({"cell_type": "code", "source": ["trainer.train()"], "outputs": [{"output_type": "display_data", "data": )~",
      R"({"text/html": ")", table, R"(", "text/plain": "<IPython.core.display.HTML object>"}}, )",
      R"({"output_type": "error", "ename": "KeyboardInterrupt", "evalue": "", "traceback": )",
      R"~(["Traceback (most recent call last)", "Cell In[20], line 1\n----> 1 trainer.train()\n", )~",
      R"("\u001b[0;31mKeyboardInterrupt\u001b[0m: "]}]}], "metadata": {}, "nbformat": 4})");
  const State state = state_of(notebook, "train.ipynb");
  CHECK(state.framework == "trl");
  CHECK(state.total_steps == 3828);
  const Series* reward = state.find("reward.mean");
  REQUIRE(reward != nullptr);
  CHECK(reward->points().size() == 13);
  CHECK(reward->points().back().step == 130);
  REQUIRE_FALSE(state.sources.empty());
  CHECK(state.sources[0].kind == "notebook");
  const auto has = [&state](std::string_view kind) {
    return std::any_of(state.incidents.begin(), state.incidents.end(),
                       [&](const auto& one) { return one.kind == kind; });
  };
  CHECK(has("zero-reward"));
  CHECK(has("interrupted"));
  const State stops = state_of(notebook_with(cat(R"({"data": {"text/html": ")", table, R"("}})")), "train.ipynb");
  const auto silent = std::find_if(stops.incidents.begin(), stops.incidents.end(),
                                   [](const Incident& one) { return one.kind == "died-silently"; });
  REQUIRE(silent != stops.incidents.end());
  CHECK(silent->severity == Severity::kWarning);
}

TEST_CASE("the year of a notebook's first output is that of the date in the next one, and not that of its file") {
  const State state =
      state_of(notebook_with(R"({"text": "INFO 08-01 01:48:53 [platform.py:1] ready\n"},)"
                             R"({"text": "2025-08-01 01:49:05,179 INFO util.py:154 -- nothing is missing\n"},)"
                             R"({"text": "INFO 08-01 01:49:06 [engine.py:2] step 1 | loss=0.5 | reward=0.25\n"})"),
               "train.ipynb");
  REQUIRE(state.sources.size() == 1);
  CHECK(format_utc(state.first_at) == "2025-08-01T01:48:53Z");
  CHECK(format_utc(state.last_at) == "2025-08-01T01:49:06Z");
}

TEST_CASE("a notebook that is watched live is not read: each of its saves would look like another start") {
  FakeDisk disk;
  StillClock clock;
  const std::string cells =
      notebook_with(R"({"text": "step 1 | loss=0.5 | reward=0.25\nstep 2 | loss=0.4 | reward=0.5\n"})");
  disk.put("/run/train.ipynb", cat(cells, "\n"));
  RunReader reader(disk, built_in_knowledge(), Judge::kAlways, nullptr, {}, &clock);
  REQUIRE(reader.open({"/run/train.ipynb"}, "").ok());
  for (int i = 0; i < 3; ++i) (void)reader.turn();
  CHECK(reader.state().series.empty());
  REQUIRE(reader.state().sources.size() == 1);
  REQUIRE(reader.state().sources[0].problems.size() == 1);
  CHECK(reader.state().sources[0].problems[0].starts_with("not-followed: "));
}

}  // namespace mw
