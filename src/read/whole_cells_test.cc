// What the cells of a notebook say of a failure and of an end.
#include <algorithm>
#include <string>
#include <vector>

#include "read/testing/whole_log.h"

namespace mw {
namespace {

struct CellText {
  int count = 0;  // 0: null
  std::string code;
  std::vector<std::string> lines;  // of its output
  std::string error = {};          // "KeyError: 'a'"; "": none
  std::string arrow = "f()";       // the line of the cell at which it was raised
};

std::string raised_by(const CellText& cell) {
  const std::string name = cell.error.substr(0, cell.error.find(':'));
  const std::string value = cell.error.size() > name.size() + 2 ? cell.error.substr(name.size() + 2) : "";
  std::string out = cat("    {\n     \"ename\": \"", name, "\",\n     \"evalue\": \"", value,
                        "\",\n     \"output_type\": \"error\",\n     \"traceback\": [\n");
  if (name == "SyntaxError") {
    return cat(out, "      \"  Cell In[", cell.count, "], line 1\\n    ", cell.arrow, "\\n    ^\\nSyntaxError: ", value,
               "\\n\"\n     ]\n    }\n");
  }
  return cat(out, "      \"", name, "      Traceback (most recent call last)\",\n      \"Cell In[", cell.count,
             "], line 2\\n      1 x = 1\\n----> 2 ", cell.arrow, "\\n\",\n      \"", cell.error, "\"\n     ]\n    }\n");
}

std::string notebook(const std::vector<CellText>& cells) {
  std::string out = "{\n \"cells\": [\n";
  for (const CellText& cell : cells) {
    out += cat("  {\n   \"cell_type\": \"code\",\n   \"execution_count\": ",
               cell.count > 0 ? cat(cell.count) : std::string("null"), ",\n   \"outputs\": [\n");
    if (!cell.lines.empty()) out += "    {\n     \"output_type\": \"stream\",\n     \"text\": [\n";
    for (const std::string& line : cell.lines) {
      out += cat("      \"", line, "\\n\"", &line == &cell.lines.back() ? "\n     ]\n    }" : ",\n");
    }
    if (!cell.lines.empty()) out += cell.error.empty() ? "\n" : ",\n";
    if (!cell.error.empty()) out += raised_by(cell);
    out += cat("   ],\n   \"source\": [\n    \"", cell.code, "\"\n   ]\n  }", &cell == &cells.back() ? "\n" : ",\n");
  }
  return cat(out, " ],\n \"nbformat\": 4\n}\n");
}

std::vector<std::string> steps(int last, int total) {
  std::vector<std::string> lines = {cat("total_steps: ", total)};
  for (int i = 1; i <= last; ++i) {
    lines.push_back(cat("{'loss': 0.", 500 - i, ", 'reward': 0.", 100 + (i * 37) % 50, ", 'step': ", i, "}"));
  }
  return lines;
}

std::vector<std::string> chat(int lines) {
  return std::vector<std::string>(static_cast<size_t>(lines), "the model answers in words");
}

std::string said(const State& state, std::string_view kind) {
  for (const Incident& one : state.incidents) {
    if (one.kind == kind) return cat(severity_name(one.severity), " ", one.summary);
  }
  return "";
}

}  // namespace

TEST_CASE("a cell that fails beside the training is a warning, whatever runs after it") {
  const State asks = state_of(notebook({{1, "trainer = PPOTrainer()", {"ready"}},
                                        {2, "print(trainer.stats)", {}, "AttributeError: no attribute 'stats'"},
                                        {3, "print(model)", chat(60)}}),
                              "train.ipynb");
  CHECK(
      said(asks, "code-error") ==
      "warning AttributeError: no attribute 'stats' (Cell In[2]:2); a cell of the notebook ended with it, and not the "
      "training");
  const State trains = state_of(
      notebook({{2, "trainer.train()", {}, "AttributeError: no attribute 'stats'"}, {3, "print(model)", chat(60)}}),
      "train.ipynb");
  CHECK(said(trains, "code-error").starts_with("critical AttributeError ended the run"));
  // Without its import there is no training.
  const State imports = state_of(notebook({{2,
                                            "from unsloth import FastLanguageModel",
                                            {},
                                            "NotImplementedError: there is no accelerator here",
                                            "from unsloth import FastLanguageModel"},
                                           {3, "upload()", chat(60)}}),
                                 "train.ipynb");
  REQUIRE_FALSE(imports.incidents.empty());
  CHECK(imports.incidents[0].severity == Severity::kCritical);
}

TEST_CASE("a cell that failed before the training is information") {
  const State state = state_of(
      notebook(
          {{1, "load()", {}, "KeyError: 'rows'"}, {2, "load('a')", {"ok"}}, {3, "trainer.train()", steps(20, 20)}}),
      "train.ipynb");
  CHECK(said(state, "code-error") ==
        "info KeyError: 'rows' (Cell In[1]:2); a cell failed with it, and the training came after");
}

TEST_CASE("each cell that fails after the training is reported, and not only the last one") {
  const State state = state_of(notebook({{1, "trainer.train()", steps(20, 20)},
                                         {2, "PPOConfig(steps=1)", {"Training complete"}, "TypeError: no argument 'x'"},
                                         {3, "print(1)", chat(60)},
                                         {4, "plot(rows)", {}, "NameError: name 'rows' is not defined"}}),
                               "train.ipynb");
  CHECK(std::count_if(state.incidents.begin(), state.incidents.end(), [](const Incident& one) {
          return one.kind == "code-error" && one.severity == Severity::kWarning;
        }) == 2);
}

TEST_CASE("an error of a cell is known without a traceback, and with an editor's links in it") {
  const State syntax = state_of(notebook({{1, "trainer.train()", steps(20, 20)},
                                          {2, "apt-get update", {}, "SyntaxError: invalid syntax", "apt-get update"}}),
                                "train.ipynb");
  CHECK(said(syntax, "code-error").starts_with("warning A source file is not valid Python"));
  // What a server in the background says then is none of the cell.
  std::string served = notebook({{1, "trainer.train()", steps(20, 20)},
                                 {2, "apt-get update", {}, "SyntaxError: invalid syntax", "apt-get update"}});
  std::string log = "    },\n    {\n     \"output_type\": \"stream\",\n     \"text\": [\n";
  for (int i = 0; i < 30; ++i) log += cat("      \"[server] request ", i, "\\n\",\n");
  served.replace(served.rfind("    }\n   ],"), 6, log + "      \"done\\n\"\n     ]\n    }\n");
  CHECK(said(state_of(served, "train.ipynb"), "code-error").starts_with("warning A source file is not valid Python"));
  std::string linked = notebook({{1, "trainer.train()", steps(5, 2000), "KeyboardInterrupt: ", "trainer.train()"}});
  const std::string link =
      "<a href='vscode-notebook-cell://remote/a.ipynb#X1'>1</a> x = 1\\n----> <a "
      "href='vscode-notebook-cell://remote/a.ipynb#X2'>2</a> ";
  linked.replace(linked.find("1 x = 1\\n----> 2 "), 17, link);
  linked.replace(linked.find("Cell In[1], line 2"), 18, "/work/a.ipynb Cell 6 line 2");
  const State stopped = state_of(linked, "train.ipynb");
  CHECK(said(stopped, "interrupted").starts_with("warning"));
  CHECK(said(stopped, "died-silently").empty());
}

TEST_CASE("a training whose kernel ran other cells after it did not die, and its output says how far it came") {
  const std::string summary =
      "info The output of the training's cell ends at step 30 of 1000, and its kernel ran other cells after it: the "
      "training was stopped, ended by a rule of its own, or went on without its output being kept";
  const State known =
      state_of(notebook({{7, "trainer.train()", steps(30, 1000)}, {8, "ask(model)", chat(3)}}), "a.ipynb");
  CHECK(said(known, "died-silently").empty());
  CHECK(said(known, "interrupted") == summary);
  // The run of a cell without a number took one between those of the cells around it.
  const State between =
      state_of(notebook({{6, "load()", {"ok"}}, {0, "trainer.train()", steps(30, 1000)}, {8, "ask(model)", chat(3)}}),
               "a.ipynb");
  CHECK(said(between, "interrupted") == summary);
  // Output of an older session shows nothing.
  const State older =
      state_of(notebook({{6, "load()", {"ok"}}, {0, "trainer.train()", steps(30, 1000)}, {7, "ask(model)", chat(3)}}),
               "a.ipynb");
  CHECK(said(older, "died-silently").starts_with("warning"));
  const State last = state_of(notebook({{7, "trainer.train()", steps(30, 1000)}}), "a.ipynb");
  CHECK(said(last, "died-silently").starts_with("warning"));
  // A cell that only shows figures is no training that could die.
  const State report = state_of(notebook({{7, "show(pd.read_json('log'))", steps(30, 1000)}}), "a.ipynb");
  CHECK(said(report, "died-silently").empty());
  CHECK(said(report, "interrupted").empty());
}

TEST_CASE("what a cell goes on after is none of its end") {
  const State hook =
      state_of(notebook({{7, "trainer.train()", {}, "TypeError: a hook of the logger failed"}}), "a.ipynb");
  CHECK(said(hook, "code-error").starts_with("critical"));
  std::string text = notebook({{7, "trainer.train()", {}, "TypeError: a hook of the logger failed"}});
  std::string more = "    },\n    {\n     \"output_type\": \"stream\",\n     \"text\": [\n";
  for (const std::string& line : steps(20, 20)) more += cat("      \"", line, "\\n\",\n");
  text.replace(text.rfind("    }\n   ],"), 6, more + "      \"done\\n\"\n     ]\n    }\n");
  CHECK(said(state_of(text, "a.ipynb"), "code-error").empty());
}

TEST_CASE("the prompt that was too long is why the code found no token of an answer") {
  const std::string warns =
      "WARNING 03-04 10:20:30 scheduler.py:700] Input prompt (4100 tokens) is too long and exceeds limit of 2048\n";
  const std::string fails =
      "Traceback (most recent call last):\n  File \"/app/train.py\", line 3, in main\n    t.max(dim=1)\n"
      "IndexError: max(): Expected reduction dim 1 to have non-zero size.\n";
  const State state = state_of(cat("step: 1 loss: 0.5\nstep: 2 loss: 0.4\n", warns, fails));
  CHECK(said(state, "data-error").starts_with("critical A prompt is longer"));
  // What the run had lived through before is not why.
  const State often = state_of(cat(warns, "step: 1 loss: 0.5\nstep: 2 loss: 0.4\n", warns, fails));
  CHECK(said(often, "code-error").starts_with("critical IndexError"));
}

TEST_CASE("a line of a loss that went wrong names the exception that the run ended with") {
  const State state = state_of(notebook({{4,
                                          "for batch in loader:\\n    loss.backward()",
                                          {"loss/total 0.5", "loss/total nan", "loss/total nan", "mini-batch is done"},
                                          "AcceleratorError: CUDA error: device-side assert triggered"}}),
                               "a.ipynb");
  CHECK(contains(said(state, "non-finite"),
                 "; the run ended with AcceleratorError: CUDA error: device-side assert triggered"));
  CHECK(state.verdict == "crashed");
  // So it is where the figures are records, and the exception is among their evidence.
  CHECK(
      state_of("step: 1 loss: 0.5\nstep: 2 loss: 0.4\nstep: 3 loss: nan\nstep: 4 loss: nan\n"
               "Traceback (most recent call last):\n  File \"/app/train.py\", line 3, in main\n    model.generate(x)\n"
               "torch.AcceleratorError: CUDA error: device-side assert triggered\n")
          .verdict == "crashed");
}

}  // namespace mw
