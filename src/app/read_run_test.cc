#include "app/read_run.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "base/text.h"
#include "platform/fake/fake_disk.h"

namespace mw {
namespace {

constexpr std::string_view kNotebook =
    R"({"cells": [{"cell_type": "code", "execution_count": 1, "metadata": {}, "source": [],
 "outputs": [{"output_type": "stream", "name": "stdout",
 "text": ["step 1: loss=0.5 reward=0.25\n", "step 2: loss=0.4 reward=0.5\n"]}]}],
 "metadata": {}, "nbformat": 4, "nbformat_minor": 5})";

TEST_CASE("a notebook is read where what lies beside it shows nothing of a run, and not beside a log") {
  const auto knowledge = KnowledgeBase::load({}, {});
  REQUIRE(knowledge.ok());
  FakeDisk disk;
  disk.put("/w/notes.txt", "taken from the shared folder\n");
  disk.put("/w/config.json", R"({"model": "tiny"})");
  disk.put("/w/train.ipynb", std::string(kNotebook));
  const ReplayRequest request;
  const auto steps = [&] {
    auto read = read_run(disk, **knowledge, request, {"/w"});
    return read.ok() ? (*read)->state.steps().last : kNoStep;
  };
  CHECK(steps() == 2);
  disk.put("/w/train.log", "step 7: loss=0.5 reward=0.25\nstep 8: loss=0.4 reward=0.5\n");
  CHECK(steps() == 8);
}

TEST_CASE("of an engine's own log the bar that it ends with shows whether the engine was ever ready") {
  const auto knowledge = KnowledgeBase::load({}, {});
  REQUIRE(knowledge.ok());
  const auto incidents = [&](std::string_view last) {
    std::string text = "[2026-03-01 08:00:00] server_args=ServerArgs(model_path='/m/tiny', port=30000, tp_size=2)\n";
    for (int i = 10; i < 55; ++i) text += cat("[2026-03-01 08:00:", i, " TP0] Load weight begin. avail mem=40.1 GB\n");
    text +=
        "[2026-03-01 08:01:00 TP0] Capture cuda graph begin. This can take "
        "up to several minutes. avail mem=7.10 GB\n";
    FakeDisk disk;
    disk.put("/w/server.log", cat(text, last, "\n"));
    auto read = read_run(disk, **knowledge, ReplayRequest{}, {"/w/server.log"});
    REQUIRE(read.ok());
    return (*read)->state.incidents.size();
  };
  CHECK(incidents("Capturing batches (bs=8):   0%|          | 0/4 [00:00<?, ?it/s]") == 1);
  CHECK(incidents("Capturing batches (bs=8): 100%|##########| 4/4 [00:03<00:00,  1.2it/s]") == 0);
  CHECK(incidents("[2026-03-01 08:01:09] The server is fired up and ready to roll!") == 0);
}

/// Two arms, of which one ends early and the other has much lower rewards.
std::string log_of_two_arms() {
  std::string text = "arm,step,reward,loss\n";
  for (int step = 1; step <= 100; ++step) {
    const int wave = step * 7 % 5;
    if (step <= 50) text += cat("high,", step, ",0.8", wave, ",0.5", wave, "\n");
    text += cat("low,", step, ",0.1", wave, ",0.5", wave, "\n");
  }
  return text;
}

TEST_CASE("of several arms in one file each is judged by itself") {
  const auto knowledge = KnowledgeBase::load({}, {});
  REQUIRE(knowledge.ok());
  FakeDisk disk;
  disk.put("/w/arms.csv", log_of_two_arms());
  ReplayRequest request;
  const auto both = read_run(disk, **knowledge, request, {"/w/arms.csv"});
  REQUIRE(both.ok());
  CHECK((*both)->arms == std::vector<std::string>{"arm=high", "arm=low"});
  for (const Incident& incident : (*both)->state.incidents) CHECK(incident.kind != "reward-collapse");
  request.arm = "high";
  const auto one = read_run(disk, **knowledge, request, {"/w/arms.csv"});
  REQUIRE(one.ok());
  CHECK((*one)->state.steps().last == 50);
  CHECK((*one)->state.config.at("arm") == "arm=high");
  request.arm = "middle";
  CHECK_FALSE(read_run(disk, **knowledge, request, {"/w/arms.csv"}).ok());
}

}  // namespace
}  // namespace mw
