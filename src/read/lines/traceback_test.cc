#include "read/lines/traceback.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace mw {
namespace {

using Took = TracebackReader::Took;

struct Seen {
  event::TraceSeen trace;
  uint64_t first = 0;
};

std::vector<Seen> read(const std::vector<std::string>& lines, bool at_end = false) {
  TracebackReader reader;
  std::vector<Seen> seen;
  uint64_t number = 0;
  for (const std::string& line : lines) {
    if (reader.feed(line, ++number) != Took::kDone) continue;
    const uint64_t first = reader.first_line();
    seen.push_back({reader.take(), first});
  }
  if (auto last = reader.flush(at_end)) seen.push_back({*last, reader.first_line()});
  return seen;
}

TEST_CASE("a plain traceback") {
  const auto seen = read({"Traceback (most recent call last):", "  File \"/w/train.py\", line 12, in main",
                          "    run(cfg)", "    ^^^^^^^^", "  File \"/v/site-packages/x/y.py\", line 3, in run",
                          "    raise ValueError(a)", "ValueError: bad value: 3", "step 4"});
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].trace.exception == "ValueError");
  CHECK(seen[0].trace.message == "bad value: 3");
  CHECK(seen[0].trace.frame == "/w/train.py:12 in main, raised in /v/site-packages/x/y.py:3 in run");
  CHECK(seen[0].trace.last_line == 7);
  CHECK(seen[0].first == 1);
  CHECK_FALSE(seen[0].trace.handled);
  CHECK_FALSE(seen[0].trace.sample);
}

TEST_CASE("an excerpt that ends with Ray's wrapper says where the error was raised") {
  const auto seen =
      read({"Traceback (most recent call last):", "  File \"/w/train.py\", line 12, in main", "    run()",
            "ray.exceptions.RayTaskError(KeyError): ray::Actor.load() (pid=11, ip=10.1.0.9, actor_id=94ea"});
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].trace.message == "raised in Actor.load of a Ray worker, whose own words are not here");
}

TEST_CASE("what a Ray worker raised while it handled an error of no frames is read behind both") {
  const auto seen = read({"Traceback (most recent call last):", "  File \"/w/main_ppo.py\", line 54, in run_ppo",
                          "    ray.get(runner.run.remote(config))",
                          "ray.exceptions.RayTaskError(KeyError): ray::Runner.run() (pid=19, ip=10.0.4.2, actor_id=ad)",
                          "RuntimeError: no running event loop", "",
                          "During handling of the above exception, another exception occurred:", "",
                          "ray::Runner.run() (pid=19, ip=10.0.4.2, actor_id=ad)",
                          "  File \"/w/verl/workers/reward_manager/own.py\", line 118, in async_call",
                          "    truth = item[\"reward_model\"]", "KeyError: 'reward_model'", ""});
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].trace.exception == "RuntimeError");
  CHECK(seen[0].trace.handled);
  CHECK(seen[1].trace.exception == "KeyError");
  CHECK(contains(seen[1].trace.frame, "own.py:118 in async_call"));
}

TEST_CASE("IPython's traceback, whatever source it shows") {
  const auto seen = read({"---------------------------------------------------------------------------",
                          "OSError                                   Traceback (most recent call last)",
                          "Cell In[7], line 3",
                          "      1 from trl import GRPOTrainer",
                          "----> 3 trainer = GRPOTrainer(",
                          "      4     model=name,",
                          "     11 )",
                          "",
                          "File ~/projects/trl/trl/trainer/grpo_trainer.py:237, in GRPOTrainer.__init__(self, model)",
                          "    233     # Disable caching",
                          "--> 237     model = load(model)",
                          "    238 else:",
                          "    239     raise ValueError(\"another\")",
                          "",
                          "File ~/env/lib/python3.11/site-packages/transformers/modeling_utils.py:3730, in load(name)",
                          "   3725         raise EnvironmentError(",
                          "   3729     else:",
                          "-> 3730         raise EnvironmentError(",
                          "   3735 elif a:",
                          "",
                          "OSError: Error no file named model.safetensors found in directory /w/m",
                          "next"});
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].trace.exception == "OSError");
  CHECK(seen[0].trace.message == "Error no file named model.safetensors found in directory /w/m");
  CHECK(seen[0].trace.frame ==
        "~/projects/trl/trl/trainer/grpo_trainer.py:237 in GRPOTrainer.__init__, raised in "
        "~/env/lib/python3.11/site-packages/transformers/modeling_utils.py:3730 in load");
  CHECK(seen[0].trace.last_line == 21);
  CHECK_FALSE(seen[0].trace.sample);
}

TEST_CASE("IPython's traceback of older versions; what no library of training is in may be a tool's") {
  const auto seen = read({"NameError                                 Traceback (most recent call last)",
                          "<ipython-input-5-ab12cd> in <module>", "      1 x = 3", "----> 2 go(y)",
                          "/usr/lib/python3.10/code.py in go(y)", "     40 def go(y):", "---> 41     return z",
                          "NameError: name 'z' is not defined"});
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].trace.frame == "/usr/lib/python3.10/code.py:41 in go");
  CHECK(seen[0].trace.exception == "NameError");
  CHECK(seen[0].trace.sample);
}

TEST_CASE("a cell that calls a training function of the notebook's own trains; one that only draws may be a tool's") {
  const auto is_sample = [](const char* function) {
    const auto seen =
        read({"KeyboardInterrupt                         Traceback (most recent call last)",
              "/tmp/ipython-input-7-1203.py in <cell line: 0>()", "     40 for epoch in range(9):", "---> 41     go()",
              function, "     12 total.backward()", "---> 13 print(total)", "KeyboardInterrupt: "});
    REQUIRE(seen.size() == 1);
    return seen[0].trace.sample;
  };
  CHECK_FALSE(is_sample("/tmp/ipython-input-6-1198.py in small_batch_train()"));
  CHECK_FALSE(is_sample("/tmp/ipython-input-6-1198.py in train_policy(batch)"));
  CHECK(is_sample("/tmp/ipython-input-6-1198.py in draw_curves()"));
  CHECK(is_sample("/tmp/ipython-input-6-1198.py in train_test_split(rows)"));
}

TEST_CASE("a bar that is closed behind an exception is no part of its message") {
  const auto seen = read({"Traceback (most recent call last):", "  File \"/w/train.py\", line 43, in odd",
                          "    return [scores[c] for c in completions]", "KeyError: '129'",
                          " 12%|\u2588\u258f        | 14/120 [00:21<02:43,  1.54s/it]"});
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].trace.message == "'129'");
  const auto more = read({"Traceback (most recent call last):", "  File \"/w/train.py\", line 43, in odd", "    f()",
                          "ValueError: two things:", "  100% of the first", "  and the second"});
  REQUIRE(more.size() == 1);
  CHECK(more[0].trace.message == "two things:\n100% of the first\nand the second");
}

TEST_CASE("the innermost frame of the run's own stands before the one that raised") {
  const auto seen =
      read({"Traceback (most recent call last):", "  File \"/usr/local/bin/torchrun\", line 8, in <module>",
            "    sys.exit(main())", "  File \"/w/train.py\", line 12, in main", "    score(x)",
            "  File \"/w/score.py\", line 30, in score", "    json.loads(x)",
            "  File \"/usr/lib/python3.12/json/__init__.py\", line 346, in loads",
            "    return _default_decoder.decode(s)", "ValueError: Expecting value", "step 4"});
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].trace.frame == "/w/score.py:30 in score, raised in /usr/lib/python3.12/json/__init__.py:346 in loads");
  const auto own = read(
      {"Traceback (most recent call last):", "  File \"/v/dist-packages/trl/cli.py\", line 2, in main", "    run()",
       "  File \"/w/train.py\", line 12, in main", "    raise ValueError(a)", "ValueError: bad", "step 4"});
  REQUIRE(own.size() == 1);
  CHECK(own[0].trace.frame == "/w/train.py:12 in main");
  const auto none =
      read({"Traceback (most recent call last):", "  File \"/v/dist-packages/trl/cli.py\", line 2, in main",
            "    run()", "ValueError: bad", "step 4"});
  REQUIRE(none.size() == 1);
  CHECK(none[0].trace.frame == "/v/dist-packages/trl/cli.py:2 in main");
}

TEST_CASE("an assertion without words is reported with what it asserts") {
  const auto asserted = [](const char* code, const char* exception) {
    const auto seen =
        read({"Traceback (most recent call last):", "  File \"/w/train.py\", line 12, in main", "    run(cfg)",
              "  File \"/w/load.py\", line 3, in load", code, "           ^^^^^", exception, "step 4"});
    REQUIRE(seen.size() == 1);
    return seen[0].trace.message;
  };
  CHECK(asserted("    assert metadata is not None", "AssertionError") == "assert metadata is not None");
  CHECK(asserted("    assert metadata, 'none'", "AssertionError: none") == "none");
  CHECK(asserted("    raise AssertionError", "AssertionError").empty());
  CHECK(asserted("    assert metadata", "ValueError").empty());
}

TEST_CASE("frames whose head was cut off count once an exception follows") {
  const auto seen = read({"  File \"/w/train.py\", line 12, in main", "    run(cfg)", "KeyError: 'gold'"});
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].trace.exception == "KeyError");
  CHECK(seen[0].first == 1);
  CHECK(read({"  File \"/w/train.py\", line 12, in main", "    run(cfg)"}).empty());
}

TEST_CASE("a copy may begin within a traceback, with another indentation") {
  const auto flat = read({"File \"/w/train.py\", line 12, in main", "run(cfg)", "File \"/w/loop.py\", line 3, in run",
                          "KeyError: 'gold'"});
  REQUIRE(flat.size() == 1);
  CHECK(flat[0].trace.exception == "KeyError");
  const auto deep = read({"    File \"/w/train.py\", line 12, in main", "      run(cfg)", "  KeyError: 'gold'"});
  REQUIRE(deep.size() == 1);
  CHECK(deep[0].trace.exception == "KeyError");
  CHECK(read({"a", "b", "File \"/w/train.py\", line 12, in main", "KeyError: 'gold'"}).empty());
  const auto ray = read({"ray.exceptions.RayTaskError(KeyError): ray::f() (pid=1)",
                         "  File \"/w/loop.py\", line 3, in run", "    rows[key]"});
  REQUIRE(ray.size() == 1);
  CHECK(ray[0].trace.exception == "ray.exceptions.RayTaskError(KeyError)");
  CHECK(ray[0].trace.frame == "/w/loop.py:3 in run");
}

TEST_CASE("frames alone are a traceback where the file ends within them") {
  const std::vector<std::string> frames = {"  File \"/w/train.py\", line 12, in main", "    run(cfg)",
                                           "  File \"/w/loop.py\", line 3, in run",    "    step(rows)",
                                           "  File \"/w/loop.py\", line 9, in step",   "    call("};
  CHECK(read(frames).empty());
  const auto seen = read(frames, true);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].trace.exception.empty());
  CHECK(seen[0].trace.frame == "/w/loop.py:9 in step");
  CHECK(read({frames[0], frames[1], frames[2]}, true).empty());
  auto more = frames;
  more.push_back("step 4 | loss 0.31");
  CHECK(read(more, true).empty());
}

TEST_CASE("rich draws a box around the frames") {
  const auto seen =
      read({"╭──── Traceback (most recent call last) ────╮", "│ /w/train.py:40 in main                    │",
            "│   39     for x in data:                   │", "│ ❱ 40         step(x)                      │",
            "│ /w/step.py:7 in step                      │", "╰───────────────────────────────────────────╯",
            "KeyError: 'gold'", "done"});
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].trace.exception == "KeyError");
  CHECK(seen[0].trace.frame == "/w/step.py:7 in step");
}

TEST_CASE("a program under /tmp that is entered from elsewhere is no tool") {
  CHECK_FALSE(read({"Traceback (most recent call last):", "  File \"/app/run.py\", line 2, in main",
                    "  File \"/tmp/job-1/model.py\", line 8, in check", "ValueError: bad"})[0]
                  .trace.sample);
  CHECK(read({"Traceback (most recent call last):", "  File \"/tmp/tmpab.py\", line 8, in <module>",
              "ValueError: bad"})[0]
            .trace.sample);
}

TEST_CASE("an exception's line is distinguished from a metric's") {
  CHECK(is_exception_line("RuntimeError: bad shape"));
  CHECK(is_exception_line("torch.distributed.DistBackendError: NCCL error"));
  CHECK_FALSE(is_exception_line("Loss: 0.2"));
  CHECK_FALSE(is_exception_line("ValueError"));
}

TEST_CASE("chained exceptions: all but the last are handled") {
  const auto seen = read(
      {"x", "Traceback (most recent call last):", "  File \"/w/a.py\", line 1, in f", "    g()", "KeyError: 'k'", "",
       "During handling of the above exception, another exception occurred:", "",
       "Traceback (most recent call last):", "  File \"/w/b.py\", line 2, in h", "    i()",
       "OSError: [Errno 28] No space", "", "The above exception was the direct cause of the following exception:", "",
       "Traceback (most recent call last):", "  File \"/w/c.py\", line 3, in j", "    k()", "torch.OutOfMemoryError"});
  REQUIRE(seen.size() == 3);
  CHECK(seen[0].trace.exception == "KeyError");
  CHECK(seen[0].trace.handled);
  CHECK(seen[0].first == 2);
  CHECK(seen[1].trace.exception == "OSError");
  CHECK(seen[1].trace.handled);
  CHECK(seen[2].trace.exception == "torch.OutOfMemoryError");
  CHECK_FALSE(seen[2].trace.handled);
  CHECK(seen[2].first == 16);
}

TEST_CASE("two tracebacks in a row are two") {
  const auto seen =
      read({"Traceback (most recent call last):", "  File \"/w/a.py\", line 1, in f", "KeyError: 1",
            "ERROR Traceback (most recent call last):", "  File \"/w/b.py\", line 1, in f", "IndexError: 2"});
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].first == 1);
  CHECK(seen[1].first == 4);
  CHECK(seen[1].trace.exception == "IndexError");
  CHECK_FALSE(seen[0].trace.handled);
}

TEST_CASE("Ray's wrapper gives way to the remote exception") {
  const auto seen =
      read({"Traceback (most recent call last):", "  File \"/w/main.py\", line 9, in main", "    ray.get(x)",
            "ray.exceptions.RayTaskError(AssertionError): ray::main_task() (pid=39, ip=10.0.0.2)",
            "  File \"/w/trainer.py\", line 198, in fit", "    assert n > 0", "AssertionError: only 0 rows", ""});
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].trace.exception == "AssertionError");
  CHECK(seen[0].trace.message == "only 0 rows");
  CHECK(seen[0].trace.frame == "/w/trainer.py:198 in fit");
  const auto bare = read({"Traceback (most recent call last):", "  File \"/w/main.py\", line 9, in main",
                          "ray.exceptions.RayTaskError(KeyError): ray::f() (pid=1)", "next line"});
  REQUIRE(bare.size() == 1);
  CHECK(bare[0].trace.exception == "ray.exceptions.RayTaskError(KeyError)");
}

TEST_CASE("SyntaxError comes without a head line") {
  const auto seen =
      read({"  File \"/w/conf.py\", line 7", "    x = (1", "        ^", "SyntaxError: '(' was never closed"});
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].trace.exception == "SyntaxError");
  CHECK(seen[0].trace.frame == "/w/conf.py:7");
  CHECK(read({"  File \"/w/conf.py\", line 7", "    x = 1", "Done"}).empty());
}

TEST_CASE("exception groups: the first leaf counts") {
  const auto seen =
      read({"  + Exception Group Traceback (most recent call last):", "  |   File \"/w/a.py\", line 1, in main",
            "  |     async with g:", "  | ExceptionGroup: unhandled errors (2 sub-exceptions)",
            "  +-+---------------- 1 ----------------",
            "    | Traceback (most recent call last):", "    |   File \"/w/b.py\", line 5, in one",
            "    | TimeoutError: slow", "    +---------------- 2 ----------------",
            "    | Traceback (most recent call last):", "    |   File \"/w/c.py\", line 6, in two",
            "    | ValueError: bad", "    +------------------------------------", "after"});
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].trace.exception == "TimeoutError");
  CHECK(seen[0].trace.message == "slow");
  CHECK(seen[0].first == 1);
}

TEST_CASE("what PyTorch re-raises from a worker is a link; the original traceback counts") {
  const auto seen =
      read({"Traceback (most recent call last):", "  File \"/w/train.py\", line 9, in main",
            "    for batch in loader:", "  File \"/v/site-packages/torch/_utils.py\", line 7, in reraise",
            "    raise exception", "ValueError: Caught ValueError in DataLoader worker process 3.",
            "Original Traceback (most recent call last):", "  File \"/w/rows.py\", line 31, in __getitem__",
            "    return parse(row)", "ValueError: row 7 has no prompt", "after"});
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].trace.handled);
  CHECK_FALSE(seen[1].trace.handled);
  CHECK(seen[1].trace.message == "row 7 has no prompt");
  CHECK(seen[1].trace.frame == "/w/rows.py:31 in __getitem__");
}

TEST_CASE("lines of others cut in; too many end it") {
  const auto seen = read({"Traceback (most recent call last):", "  File \"/w/a.py\", line 1, in f", "Step: 4 loss 0.1",
                          "  File \"/w/b.py\", line 2, in g", "    h()", "RuntimeError: late"});
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].trace.exception == "RuntimeError");
  std::vector<std::string> lines = {"Traceback (most recent call last):", "  File \"/w/a.py\", line 1, in f"};
  for (int i = 0; i < 2 * TracebackReader::kForeignLimit; ++i) lines.push_back("Step: 4");
  lines.push_back("RuntimeError: somebody else's");
  CHECK(read(lines).empty());
}

TEST_CASE("a traceback without its end is one at flush, when it has frames") {
  const auto seen = read({"Traceback (most recent call last):", "  File \"/w/a.py\", line 1, in f"});
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].trace.exception.empty());
  CHECK(seen[0].trace.frame == "/w/a.py:1 in f");
  CHECK(read({"Traceback (most recent call last):"}).empty());
}

TEST_CASE("indented lines behind the exception belong to its message") {
  const auto seen =
      read({"Traceback (most recent call last):", "  File \"/w/a.py\", line 1, in f",
            "pydantic_core.ValidationError: 1 error for Config", "  lr", "    Input should be a number", "next"});
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].trace.message == "1 error for Config\nlr\nInput should be a number");
  CHECK(seen[0].trace.last_line == 5);
}

TEST_CASE("endless tracebacks stay bounded") {
  TracebackReader reader;
  uint64_t number = 0;
  CHECK(reader.feed("Traceback (most recent call last):", ++number) == Took::kYes);
  for (uint64_t i = 0; i < 2 * TracebackReader::kLinesLimit; ++i) reader.feed("    x", ++number);
  CHECK_FALSE(reader.open());
}

TEST_CASE("model-written code is distinguished from programs") {
  CHECK(frame_is_infrastructure("/v/site-packages/vllm/engine.py:3 in run"));
  CHECK(frame_is_infrastructure("  File \"/w/train.py\", line 3, in main"));
  CHECK_FALSE(frame_is_infrastructure("<string>:3 in <module>"));
  CHECK_FALSE(frame_is_infrastructure("File \"<stdin>\", line 1, in <module>"));
  CHECK_FALSE(frame_is_infrastructure("/tmp/tmpab12.py:1 in f"));
  CHECK_FALSE(frame_is_infrastructure("Cell In[3], line 2"));
  const auto seen =
      read({"Traceback (most recent call last):", "  File \"/w/exec.py\", line 1, in run", "    exec(code)",
            "  File \"<string>\", line 2, in <module>", "NameError: name 'x' is not defined"});
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].trace.sample);
}

TEST_CASE("generated code that the training loop ran is the program's") {
  const auto seen = read({"Traceback (most recent call last):", "  File \"/w/fit.py\", line 210, in <module>",
                          "  File \"/v/site-packages/trainers/loop.py\", line 25, in train",
                          "  File \"<string>\", line 412, in _inner_training_loop", "RuntimeError: no grad here"});
  REQUIRE(seen.size() == 1);
  CHECK_FALSE(seen[0].trace.sample);
  const auto own = read({"Traceback (most recent call last):", "  File \"/w/exec.py\", line 1, in run",
                         "  File \"<string>\", line 2, in train", "NameError: name 'x' is not defined"});
  REQUIRE(own.size() == 1);
  CHECK(own[0].trace.sample);
}

TEST_CASE("rows of figures and bars are no source lines, and below a bare head nothing is") {
  for (const bool frame : {false, true}) {
    TracebackReader reader;
    uint64_t number = 0;
    CHECK(reader.feed("Traceback (most recent call last):", ++number) == Took::kYes);
    if (frame) CHECK(reader.feed("  File \"/w/main.py\", line 3, in <module>", ++number) == Took::kYes);
    CHECK(reader.feed("    21     0.4834     0.8177", ++number) == Took::kNo);
    CHECK(reader.feed(" 35%|#  | 21/60 [00:10<01:20, 1.1it/s, reward=0.5]", ++number) == Took::kNo);
    CHECK(reader.feed("    run(3, 4)", ++number) == (frame ? Took::kYes : Took::kNo));
  }
}

TEST_CASE("the first line of a traceback at the very end of a file is one that was cut off") {
  TracebackReader reader;
  CHECK(reader.feed("Traceback (most recent call last):", 7) == Took::kYes);
  TracebackReader live = reader;
  CHECK_FALSE(live.flush().has_value());
  const auto cut = reader.flush(true);
  REQUIRE(cut.has_value());
  CHECK(cut->exception.empty());
  CHECK(cut->last_line == 7);
  CHECK_FALSE(cut->sample);
  TracebackReader followed;
  CHECK(followed.feed("Traceback (most recent call last):", 1) == Took::kYes);
  CHECK(followed.feed("step 4: loss 0.5", 2) == Took::kNo);
  CHECK_FALSE(followed.flush(true).has_value());
}

}  // namespace
}  // namespace mw
