#include "app/read_run.h"

#include <doctest/doctest.h>

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
  const auto knowledge = KnowledgeBase::load({}, nullptr);
  REQUIRE(knowledge.ok());
  FakeDisk disk;
  disk.put("/w/notes.txt", "taken from the shared folder\n");
  disk.put("/w/config.json", R"({"model": "tiny"})");
  disk.put("/w/train.ipynb", kNotebook);
  const ReplayRequest request;
  const auto steps = [&] {
    auto read = read_run(disk, **knowledge, request, {"/w"});
    return read.ok() ? (*read)->state.steps().last : kNoStep;
  };
  CHECK(steps() == 2);
  disk.put("/w/train.log", "step 7: loss=0.5 reward=0.25\nstep 8: loss=0.4 reward=0.5\n");
  CHECK(steps() == 8);
}

}  // namespace
}  // namespace mw
