#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "read/files/json_document.h"
#include "read/files/json_value.h"
#include "read/files/jsonl.h"
#include "read/files/testing/recording_sink.h"

using namespace mw;

namespace {
std::unique_ptr<Decoder> make_lines() { return std::make_unique<JsonlDecoder>(); }
std::unique_ptr<Decoder> make_document() { return std::make_unique<JsonDocumentDecoder>(false); }
std::unique_ptr<Decoder> make_settings() { return std::make_unique<JsonDocumentDecoder>(true); }
std::string lines(std::string_view text) { return decode_log(make_lines, text, 0, 0); }
std::string document(std::string_view text) { return decode_log(make_document, text, 0, 0); }
}  // namespace

TEST_CASE("json numbers are read exactly, and only numbers") {
  Prng prng(3);
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t bits = prng.next();
    double value = 0;
    std::memcpy(&value, &bits, 8);
    if (i % 2 == 0) value = (prng.unit() - 0.5) * std::pow(10.0, static_cast<double>(prng.below(20)) - 10);
    if (!std::isfinite(value)) continue;
    const std::string text = format_double(value);
    double read = 0;
    REQUIRE(read_json_number(text, read));
    REQUIRE(read == value);
  }
  double value = 5;
  for (const char* const text : {"0", "-0.0", "123456789012345678901234567890", "1e400", "1e-400", "0.1e+1", "1E5",
                                 "0.000000000000000000000000000000000001", "1.7976931348623157e308", "4.9e-324"}) {
    REQUIRE(read_json_number(text, value));
    CHECK(value == std::strtod(text, nullptr));
  }
  for (const char* const text :
       {"", "-", "abc", "1.2.3", "1e", "--1", "null", "\"1\"", "1,2", "Nan", "+1", ".5", "1x"}) {
    CHECK_FALSE(read_json_number(text, value));
  }
  CHECK((read_json_number("NaN", value) && std::isnan(value)));
  CHECK((read_json_number("nan", value) && std::isnan(value)));  // as printf writes it
  CHECK((read_json_number("-inf", value) && value < 0 && std::isinf(value)));
  CHECK((read_json_number("-Infinity", value) && value < 0 && std::isinf(value)));
}

TEST_CASE("jsonl: steps, times, NaN, nesting, text") {
  CHECK(lines("{\"step\": 3, \"loss\": NaN, \"a\": {\"b\": -1.5}, \"ok\": true, \"n\": null, \"l\": [1, 2], \"s\": "
              "\"1.5\", \"time\": 1760000000.5}\n") ==
        "row 1 step 3 at 2025-10-09T08:53:20.500Z step=3 loss=nan a/b=-1.5 ok=1 time=1760000000.5 s=1.5\nconsumed "
        "113\n");
  CHECK(contains(lines(R"({"global_step": 9, "timestamp": "2026-01-02T03:04:05Z", "iteration": 4})"),
                 "row 1 step 9 at 2026-01-02T03:04:05Z"));
  CHECK(contains(lines("{\"loss\": 1, \"time\": 3.5}\n"), "row 1 step - at  loss"));
}

TEST_CASE("jsonl: zero in all its shapes") {
  CHECK(contains(lines(R"({"a": 0e-30, "b": -0e+300, "c": 0.0e-400})"), "a=0 b=-0 c=0\n"));
}

TEST_CASE("jsonl: verl's level data is stripped, another's is not") {
  CHECK(contains(lines(R"({"step": 7, "data": {"actor/entropy": 0.5, "x": {"y": 1}}})"),
                 "step=7 actor/entropy=0.5 x/y=1\n"));
  CHECK(contains(lines(R"({"step": 7, "data": {"entropy": 0.5}, "loss": 1})"), "data/entropy=0.5"));
}

TEST_CASE("jsonl: garbled and overlong lines are said and passed over") {
  const std::string log = lines("{\"step\": 1}\nnot json\n\n{\"step\": 2,}\r\n[1]\n{\"step\": 5}\r\n");
  CHECK(contains(log, "row 1 step 1"));
  CHECK(contains(log, "console 2  not json\nproblem not-a-record 4: {\"step\": 2,}\nconsole 5  [1]\nrow 6 step 5"));
  CHECK(contains(log, "problem damaged 0: 14 of "));
  const std::string huge = "{\"step\": 1}\n{\"a\": \"" + std::string(kJsonLineLimit, 'x') + "\"}\n{\"step\": 3}\n";
  const std::string said = lines(huge);
  CHECK(contains(said, "problem line-too-long 2: a line of more than 8 MiB was left out\nrow 3 step 3"));
  CHECK(decode_log(make_lines, huge, 100'000, 1) == said);
}

TEST_CASE("jsonl: cut at any byte; the last line may lack its end") {
  const std::string text = "{\"step\": 1, \"a\": 0.5}\n{\"step\": 2, \"a\": 1.5}\r\n{\"step\": 3, \"a\": 2.5}";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    RecordingSink sink;
    JsonlDecoder decoder;
    decoder.feed(std::string_view(text).substr(0, cut), sink);
    decoder.finish(sink);
    const bool whole = cut == 0 || text[cut - 1] == '}' || text[cut - 1] == '\n' || text[cut - 1] == '\r';
    REQUIRE(sink.torn == !whole);
    REQUIRE(sink.problems == (whole ? 0 : 1));
    for (uint64_t seed = 0; seed < 3; ++seed) {
      REQUIRE(decode_log(make_lines, std::string_view(text).substr(0, cut), 1 + seed * 4, seed) ==
              decode_log(make_lines, std::string_view(text).substr(0, cut), 0, 0));
    }
  }
}

TEST_CASE("json document: trainer_state.json") {
  const std::string log = document(R"({
  "best_metric": 0.75, "epoch": 1.0, "global_step": 20, "is_world_process_zero": true,
  "log_history": [
    {"epoch": 0.5, "grad_norm": NaN, "loss": 1.25, "step": 10},
    {"epoch": 1.0, "eval_loss": 1.5, "step": 20}
  ],
  "max_steps": 100, "stateful_callbacks": {"x": {"y": 1}}
})");
  CHECK(contains(log, "property document/max_steps=100\n"));
  CHECK(contains(log, "row 1 step 10 at  epoch=0.5 grad_norm=nan loss=1.25 step=10\nrow 2 step 20"));
  CHECK(contains(log, "property document/best_metric=0.75\n"));
}

TEST_CASE("json document: series by name, lists of records, dicts of lists, a summary, settings") {
  CHECK(document(R"({"train/loss": {"1": 0.5, "2": 0.25}, "eval": {"acc": {"2": 1}}})") ==
        "row 1 step 1 at  train/loss=0.5\nrow 2 step 2 at  train/loss=0.25 eval/acc=1\nconsumed 64\n");
  CHECK(contains(document("[\n {\"step\": 1, \"loss\": -0.0},\n {\"step\": 2, \"loss\": 3}\n]\n"),
                 "row 2 step 2 at  step=2 loss=3\n"));
  CHECK(contains(document(R"({"steps": [10, 20], "loss": [1, null], "name": "x"})"), "row 2 step 20 at  loss=nan\n"));
  CHECK(contains(document(R"({"loss": [1, 2.5]})"), "row 2 step 2 at  loss=2.5\n"));
  CHECK(contains(document(R"({"timesteps": [2048, 4096], "loss": [1, 2.5]})"), "row 2 step 4096 at "));
  CHECK(contains(document(R"({"episode": [2, 2], "loss": [1, 2.5]})"), "row 2 step 2 at "));  // it does not rise
  CHECK(contains(document(R"({"timesteps": [2048, 4096], "step": [1, 2], "loss": [1, 2.5]})"), "row 2 step 2 at "));
  CHECK(contains(document(R"({"accuracy": 0.5, "_step": 7, "model": "m"})"),
                 "row 1 step 7 at  accuracy=0.5 _step=7 model='m'"));
  CHECK(contains(document(R"({"train": [{"step": 1, "loss": 2}], "eval": [{"step": 1, "acc": 3}], "seed": 1})"),
                 "row 2 step 1 at  step=1 eval/acc=3\n"));
  CHECK(document(R"({"by": {"n": 2}, "metrics": {"a/loss": [{"step": 5, "value": 2, "epoch": 0.5}, {"step": 10, )"
                 R"("value": 1}], "b/loss": [{"step": 10, "value": 3}]}})")
            .starts_with("row 1 step 5 at  a/loss=2\nrow 2 step 10 at  a/loss=1 b/loss=3\n"));
  CHECK(contains(document(R"({"train": [{"step": 1, "value": 2, "loss": 4}], "seed": 1})"), "loss=4"));
  CHECK(decode_log(make_settings, R"({"lr": 1e-6, "opt": {"name": "adam"}})", 0, 0) ==
        "property config/lr=1e-06\nproperty config/opt/name=adam\nconsumed 37\n");
}

TEST_CASE("json document: torn, garbled, in pieces") {
  const std::string text = R"({"a": "}{\"", "log_history": [{"step": 1, "loss": 2}], "z": 1})";
  const std::string whole = document(text);
  for (uint64_t seed = 0; seed < 20; ++seed) CHECK(decode_log(make_document, text, 1 + seed, seed) == whole);
  for (size_t cut = 1; cut < text.size(); ++cut) CHECK(contains(document(text.substr(0, cut)), "problem torn-tail"));
  CHECK(contains(document("{\"a\": 1,, }"), "problem"));
  CHECK(contains(document("[{\"step\": 1}, 5, {\"step\": 2}]"), "not-a-record"));
}

TEST_CASE("json document: a history beside lists of what it says already") {
  const std::string log = document(R"({"train_loss": [{"step": 1, "loss": 2}, {"step": 2, "loss": 1}], "seed": 1,
      "raw_log_history": [{"step": 1, "loss": 2, "lr": 0.5}, {"step": 2, "loss": 1, "lr": 0.25}],
      "lr": [{"step": 1, "lr": 0.5}], "tests": [{"step": 2, "acc": 1}]})");
  CHECK(contains(log, "row 1 step 1 at  step=1 loss=2 lr=0.5\nrow 2 step 2 at  step=2 loss=1 lr=0.25\n"));
  CHECK(contains(log, "row 3 step 2 at  step=2 tests/acc=1\n"));
  CHECK(!contains(log, "row 4"));
}

TEST_CASE("the rewards of a group that a record lists") {
  CHECK(contains(lines("{\"step\": 3, \"mean_reward\": 0.333, \"rewards\": [1, 0, 0]}\n"),
                 "mean_reward=0.333 reward_max=1 reward_min=0 reward_std=0.4714"));
  CHECK(contains(lines("{\"step\": 3, \"rewards\": [1.0, 0.0, 1, 0]}\n"),
                 "step=3 reward=0.5 reward_max=1 reward_min=0 reward_std=0.5"));
  CHECK(contains(lines("{\"step\": 3, \"rewards\": [[2, 2], [2, 2]], \"s\": \"a\\nb\"}\n"),
                 "step=3 reward=2 reward_max=2 reward_min=2 reward_std=0"));
  for (const char* const other :
       {"{\"step\": 3, \"rewards\": [1, 0], \"mean_reward\": 0.25}",
        "{\"step\": 3, \"rewards\": [1, 0], \"mean_reward\": 0.5, \"reward_spread\": 1}",
        "{\"step\": 3, \"rewards\": [1]}", "{\"step\": 3, \"rewards\": [1, \"x\"]}",
        "{\"step\": 3, \"rewards\": [1, NaN]}", "{\"step\": 3, \"a\": [{\"rewards\": [1, 0]}]}",
        "{\"step\": 3, \"rewards\": [[[[1, 0]]]]}"}) {
    CAPTURE(std::string(other));
    CHECK_FALSE(contains(lines(cat(other, "\n")), "reward_max"));
  }
}

TEST_CASE("json lines in the long form: a figure's name and its value") {
  CHECK(contains(lines("{\"step\": 3, \"name\": \"train/reward\", \"value\": 0.5}\n"),
                 "step 3 at  step=3 train/reward=0.5\n"));
  CHECK(contains(lines("{\"key\": \"loss\", \"value\": 2, \"step\": 3, \"timestamp\": 1772326800000}\n"), " loss=2 "));
  for (const char* const other :
       {"{\"step\": 3, \"name\": \"a\", \"value\": 1, \"loss\": 2}", "{\"step\": 3, \"title\": \"a\", \"value\": 1}",
        "{\"step\": 3, \"name\": \"step\", \"value\": 1}"}) {
    CHECK(contains(lines(cat(other, "\n")), "value=1"));
  }
}

TEST_CASE("json documents: a list of records, and lists of what else each of them had") {
  CHECK(document("{\"n\": 2, \"scores\": [0.5, 0.75], \"all\": [{\"topic\": \"a\", \"mean_reward\": 0.1}, "
                 "{\"topic\": \"b\", \"mean_reward\": 0.2, \"score\": 3}]}") ==
        "row 1 step 1 at  mean_reward=0.1 score=0.5 topic='a'\nrow 2 step 2 at  mean_reward=0.2 score=3 "
        "topic='b'\nconsumed 124\n");
  // Of other lengths they are lists of their own.
  CHECK(contains(document("{\"loss\": [3, 2, 1], \"evals\": [{\"a\": 1}, {\"a\": 2}]}"), "row 3 step 3 at  loss=1"));
}

TEST_CASE("json documents: records are the steps where a list beside them is shorter") {
  const std::string log = document(R"({"n": 3, "losses": [0.5], "by_step": [{"useful_step": 1, "loss": 3},
      {"useful_step": 2, "loss": 2}, {"useful_step": 3, "loss": 1}]})");
  CHECK(contains(log, "row 3 step 3 at  useful_step=3 loss=1"));
  CHECK_FALSE(contains(log, "losses"));
}

TEST_CASE("json documents: evaluations beside the training's records come in between them, by their steps") {
  const std::string log =
      document(R"({"train": [{"step": 1, "loss": 3}, {"step": 2, "loss": 2}, {"step": 3, "loss": 1}],
      "evals": [{"step": 2, "acc": 0.5}]})");
  CHECK(contains(log, "row 2 step 2 at  step=2 train/loss=2\nrow 3 step 2 at  step=2 evals/acc=0.5\nrow 4 step 3"));
  // Where one goes back, its own order says more.
  CHECK(contains(document(R"({"a": [{"step": 1, "x": 3}, {"step": 9, "x": 2}, {"step": 1, "x": 1}],
      "b": [{"step": 2, "y": 0.5}]})"),
                 "row 3 step 1 at  step=1 a/x=1\nrow 4 step 2"));
}

TEST_CASE("json documents: the one history some levels down is the document's") {
  CHECK(contains(document(R"({"setup": {"lr": 1}, "run": {"out": {"rows": [{"step": 1, "loss": 3}]}}})"),
                 "row 1 step 1 at  step=1 loss=3"));
  CHECK_FALSE(contains(
      document(R"({"a": {"rows": [{"step": 1, "loss": 3}]}, "b": {"rows": [{"step": 1, "loss": 3}]}})"), "step=1"));
}

TEST_CASE("json documents: what ended the run stands behind its records") {
  const std::string text =
      document("{\"status\": \"failed\", \"error\": \"ValueError: bad\", \"history\": [{\"step\": 1, \"loss\": 2}]}");
  CHECK(contains(text, "row 1 step 1 at  step=1 loss=2\n"));
  CHECK(contains(text, "row 2 step - at  status='failed' error='ValueError: bad'\n"));
  CHECK_FALSE(contains(document("{\"status\": \"done\", \"history\": [{\"step\": 1, \"loss\": 2}]}"), "row 2"));
}

TEST_CASE("json documents: one that is too long is kept in no memory, and said to be unread") {
  RecordingSink sink;
  const auto decoder = make_document();
  decoder->feed("[{\"step\": 1, \"text\": \"", sink);
  const std::string piece(size_t{8} << 20, 'x');
  for (int i = 0; i < 9; ++i) decoder->feed(piece, sink);
  decoder->feed("\"}]", sink);
  decoder->finish(sink);
  CHECK(sink.log == "problem unreadable 0: the JSON document has more than 64 MiB and is left out\n");
}
