#include "sense/processes/recognise.h"

#include <doctest/doctest.h>

using namespace mw::components;

TEST_CASE("processes are known by the names that they give themselves") {
  CHECK(recognise("VLLM::EngineCor", {"VLLM::EngineCore"}).kind == "engine");
  CHECK(recognise("sglang::schedul", {"sglang::scheduler_TP0"}).kind == "engine");
  CHECK(recognise("raylet", {"/opt/ray/raylet", "--store"}).kind == "ray");
  CHECK(recognise("ray::IDLE", {"ray::IDLE"}).kind.empty());
}

TEST_CASE("programs are known by the module or script that is run") {
  const Recognised api =
      recognise("python3", {"/usr/bin/python3", "-m", "vllm.entrypoints.openai.api_server", "--port"});
  CHECK(api.kind == "engine");
  CHECK(api.label == "vllm.entrypoints.openai.api_server");
  CHECK(recognise("vllm", {"/opt/venv/bin/python3", "/opt/venv/bin/vllm", "serve", "model"}).label == "vllm serve");
  CHECK(recognise("python", {"python", "-m", "sglang.launch_server"}).kind == "engine");
  CHECK(recognise("python", {"python", "serve/reward_server.py", "--port", "9000"}).kind == "rewards");
}

TEST_CASE("who only speaks of an engine is none") {
  CHECK(recognise("python", {"python", "train.py", "vllm.entrypoints"}).kind.empty());
  CHECK(recognise("python", {"python", "-m", "verl.trainer.main_ppo", "rollout=vllm.entrypoints"}).kind.empty());
  CHECK(recognise("bash", {"bash", "-c", "vllm serve model"}).kind.empty());
  CHECK(recognise("python", {"python", "-c", "vllm.entrypoints"}).kind.empty());
  CHECK(recognise("vllm", {"vllm", "bench"}).kind.empty());
  CHECK(recognise("python", {"python", "-m", "vllm.entrypointsish"}).kind.empty());
  CHECK(recognise("python", {}).kind.empty());
}

TEST_CASE("a command line is taken apart at its zeros, and only its first words are read") {
  CHECK(words_of(std::string_view("a\0b c\0\0d", 8)) == std::vector<std::string>{"a", "b c", "d"});
  CHECK(words_of("").empty());
  CHECK(words_of(std::string(3000, '\0')).empty());
  std::string many;
  for (int i = 0; i < 100; ++i) many += std::string("x\0", 2);
  CHECK(words_of(many).size() == 8);
}
