#include "read/files/notebook_cell.h"

#include <doctest/doctest.h>

#include <initializer_list>

#include "read/testing/whole_log.h"

namespace mw {
namespace {

std::string taken(std::initializer_list<std::string_view> outputs) {
  NotebookCell cell;
  uint32_t line = 0;
  for (const std::string_view output : outputs) {
    NotebookPiece piece;
    piece.append(output, ++line);
    cell.add(std::move(piece));
  }
  return cell.take().text;
}

/// A notebook of cells, each of which puts out a table with these rows below the bar.
struct Cell {
  std::string bar, head, rows, text;
};
std::string notebook(std::initializer_list<Cell> cells) {
  std::string out = R"({"cells": [{"cell_type": "code", "source": ["from trl import GRPOTrainer\n"], "outputs": [)"
                    R"({"text": "import trl: GRPOTrainer, GRPOConfig\n"}]})";
  for (const Cell& cell : cells) {
    const std::string bar = cell.bar.empty() ? "" : cat("<div><progress></progress>", cell.bar, "</div>");
    std::string table = cat(bar, "<table><tr>");
    for (const std::string_view name : split(cell.head, '|')) table += cat("<th>", name, "</th>");
    table += "</tr>";
    for (const std::string_view row : split(cell.rows, ';')) {
      table += "<tr>";
      for (const std::string_view value : split(row, '|')) table += cat("<td>", value, "</td>");
      table += "</tr>";
    }
    out += cat(R"~(, {"cell_type": "code", "source": ["t.train()"], "outputs": [{"data": {"text/html": ")~", table,
               R"~(</table><p>"}})~", cell.text.empty() ? "" : cat(R"~(, {"text": ")~", cell.text, R"~("})~"), "]}");
  }
  return out + R"~(], "metadata": {}, "nbformat": 4})~";
}

std::string rows(int first, int last, int by, double value) {
  std::string out;
  for (int step = first; step <= last; step += by)
    out += cat(out.empty() ? "" : ";", step, "|", format_double(value - 0.001 * step));
  return out;
}

bool has(const State& state, std::string_view kind) {
  return std::any_of(state.incidents.begin(), state.incidents.end(), [&](const auto& one) { return one.kind == kind; });
}

}  // namespace

TEST_CASE("rows of a table stand in front of the lines that say their steps, and the bar behind the last one") {
  const std::string_view table = "Step | Training Loss\n10 | 0.5\n20 | 0.4\n30 | 0.3\n[30/30 01:00, Epoch 1/1]\n";
  CHECK(taken({table, "Step 10 | reward: 1\nsaved\n", "Step 20 | reward: 2\n", "done\n"}) ==
        "Step | Training Loss\n10 | 0.5\nStep 10 | reward: 1\nsaved\n20 | 0.4\nStep 20 | reward: 2\n30 | 0.3\n"
        "[30/30 01:00, Epoch 1/1]\ndone\n");
  // Steps of something else: of an answer, or of another loop.
  CHECK(taken({table, "Step 1: add\nStep 2: halve\n"}) == cat(table, "Step 1: add\nStep 2: halve\n"));
  CHECK(taken({"a\n", table}) == cat("a\n", table));
  CHECK(taken({}).empty());
}

TEST_CASE("a table that is shown once more, with rows that came since, is one table") {
  const std::string_view first =
      "Step | Training Loss\n10 | 0.0\n20 | 0.0\n[25/30 00:50 < 00:10, 0.5 it/s, Epoch 0/1]\n";
  const std::string_view whole = "Step | Training Loss\n10 | 0.0\n20 | 0.0\n30 | 0.0\n[30/30 01:00, Epoch 1/1]\n";
  CHECK(taken({first, "warned\n", whole, "end\n"}) == cat(first, "warned\n30 | 0.0\n[30/30 01:00, Epoch 1/1]\nend\n"));
  CHECK(taken({whole, first}) == cat(whole, first));  // another training, which has not come so far
}

TEST_CASE("a table by epochs is one by steps where its bar says how many an epoch has") {
  CHECK(with_steps_of_epochs("Epoch | Training Loss\n1 | 0.5\n2 | 0.4\n[120/180 01:00 < 00:30, 2 it/s, Epoch 2/3]\n") ==
        "Step | Epoch | Training Loss\n60 | 1 | 0.5\n120 | 2 | 0.4\n[120/180 01:00 < 00:30, 2 it/s, Epoch 2/3]\n");
  // One that ends just below its whole number is shown as the one before.
  CHECK(with_steps_of_epochs("Epoch | Training Loss\n0 | 0.5\n1 | 0.4\n[180/180 01:00, Epoch 3/3]\n")
            .starts_with("Step | Epoch | Training Loss\n60 | 0 | 0.5\n120 | 1 | 0.4\n"));
  // A limit on steps ends the last epoch early.
  CHECK(with_steps_of_epochs("Epoch | Training Loss\n1 | 0.5\n14 | 0.1\n[1000/1000 27:27, Epoch 15/17]\n")
            .starts_with("Step | Epoch | Training Loss\n62 | 1 | 0.5\n875 | 14 | 0.1\n"));
  for (const std::string_view same :
       {"Epoch | Training Loss\n1 | 0.5\n", "Epoch | Training Loss\n1 | 0.5\n[20/100 01:00, Epoch 1/3]\n",
        "Step | Training Loss\n1 | 0.5\n[90/90 01:00, Epoch 1/3]\n", "", "[90/90 01:00, Epoch 3/3]\n"}) {
    CHECK(with_steps_of_epochs(same) == same);
  }
}

TEST_CASE("each table of a notebook is a training of its own, and the last one is what the run is") {
  const Cell first{"[80/80 05:00, Epoch 1/1]", "Step|Training Loss", rows(10, 80, 10, 1.75),
                   "TrainOutput(global_step=80, metrics={'train_runtime': 300.5, 'train_loss': 1.25})\\n"};
  std::string said;
  for (int step = 10; step <= 200; step += 10) said += cat("Step ", step, " | reward: 0.", 30 + step % 7, "\\n");
  const Cell second{"[200/200 47:00, Epoch 1/1]", "Step|Training Loss", rows(10, 200, 10, 0.5),
                    said + "TrainOutput(global_step=200, metrics={'train_runtime': 2800.5, 'train_loss': 0.25})\\n"};
  const State state = state_of(notebook({first, second}), "train.ipynb");
  CHECK(state.attempts.size() == 2);
  CHECK(state.attempts.back().last_step == 200);
  REQUIRE(state.find("reward.mean") != nullptr);
  CHECK(state.find("reward.mean")->points().size() == 20);
  CHECK(state.find("reward.mean")->points().back().attempt == 1);
  CHECK(state.verdict == "finished");
  CHECK_FALSE(has(state, "restart-from-scratch"));
  CHECK_FALSE(has(state, "died-silently"));
}

TEST_CASE("a training that its person left for the next one did not die, and a full bar is its end") {
  const Cell left{"[40/90 05:00 < 06:00, 0.1 it/s, Epoch 0/1]", "Step|Training Loss", rows(1, 40, 1, 1.75), ""};
  const Cell full{"[50/50 05:00, Epoch 1/1]", "Step|Training Loss", rows(1, 50, 1, 1.25), ""};
  const Cell last{"[60/60 05:00, Epoch 1/1]", "Step|Training Loss", rows(1, 60, 1, 0.75), ""};
  const State state = state_of(notebook({left, full, last}), "train.ipynb");
  CHECK(state.attempts.size() == 3);
  CHECK(state.attempts.back().last_step == 60);
  CHECK(state.attempts[1].ended.has_value());
  CHECK_FALSE(has(state, "died-silently"));
}

TEST_CASE("figures that a notebook shows once more, as a frame of them, begin no training") {
  const Cell table{"[50/50 05:00, Epoch 1/1]", "Step|Training Loss|reward", "10|0.51|0.25;20|0.42|0.31;30|0.33|0.42",
                   "TrainOutput(global_step=50, metrics={'train_runtime': 300.5, 'train_loss': 0.4})\\n"};
  const Cell frame{"", "step|loss|reward", "10|0.51|0.25;20|0.42|0.31", ""};
  const Cell again{"", "Step|Training Loss|reward", "10|0.51|0.25;20|0.42|0.31;30|0.33|0.42;40|0.31|0.5", ""};
  const State state = state_of(notebook({table, frame, again}), "train.ipynb");
  CHECK(state.attempts.size() == 1);
  CHECK(state.attempts.back().last_step == 40);
}

}  // namespace mw
