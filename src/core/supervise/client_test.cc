#include "core/supervise/client.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "core/planted_run_for_test.h"

namespace mw {
namespace {

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (const std::string_view word : split(line, ' ')) words.emplace_back(word);
  return words;
}

struct Followed {
  PlantedRun run;
  AttemptOutcome ended;
  Followed() {
    for (const char* id : {"job-submitted", "client-reports-end", "container-client-lost", "container-not-started"})
      run.add(id, "interrupted", Role::kBenign, Severity::kInfo, false, "ignore");
    ended.code = 1;
    ended.last_step = 20;
    run.steps(1, 20);
  }
  void says(const char* id, const char* line) { run.say(event::Matched{id, line, 1, false}); }
  std::string goes_on(std::string_view command) const { return may_train_on(run.state, words_of(command), ended); }
};

}  // namespace

TEST_CASE("commands that only follow the training") {
  for (const std::string line :
       {"ray job submit --working-dir . -- python train.py", "docker run --rm image bash train.sh",
        "sudo -E docker run image", "timeout 8h docker run image", "env A=1 timeout 3 ssh node",
        "/usr/bin/podman exec box python", "kubectl exec pod -- python"}) {
    CAPTURE(line);
    CHECK(client_of(words_of(line)) != nullptr);
  }
  for (const std::string line :
       {"python train.py", "ray start --head", "ray", "docker build .", "docker", "", "bash train.sh",
        "apptainer exec image python", "srun python train.py", "python docker run"}) {
    CAPTURE(line);
    CHECK(client_of(words_of(line)) == nullptr);
  }
}

TEST_CASE("a job goes on until its client says that it is over, whatever ended the client") {
  Followed one;
  const std::string direct = "ray job submit -- python train.py", script = "bash train.sh";
  CHECK(one.goes_on(script).empty());
  one.says("job-submitted", "Job 'raysubmit_a' submitted successfully");
  for (const std::string& command : {direct, script}) {
    CHECK(contains(one.goes_on(command), "ray job stop raysubmit_a"));
    CHECK(trains_elsewhere(one.run.state, words_of(command)));
  }
  one.says("client-reports-end", "Job 'raysubmit_other' failed");
  CHECK_FALSE(one.goes_on(direct).empty());
  one.says("client-reports-end", "Job 'raysubmit_a' failed");
  CHECK(one.goes_on(direct).empty());
  CHECK(one.goes_on(script).empty());
  CHECK_FALSE(trains_elsewhere(one.run.state, words_of(script)));
  one.says("job-submitted", "Job 'raysubmit_b' submitted successfully");
  CHECK(contains(one.goes_on(script), "raysubmit_b"));
}

TEST_CASE("a container goes on without its client, and not where its own program ended") {
  Followed one;
  const std::string command = "docker run image python train.py";
  CHECK(one.goes_on(command).empty());  // the status of the program in it
  one.ended.code = 137;
  CHECK(one.goes_on(command).empty());
  one.ended.code = 125;
  CHECK(contains(one.goes_on(command), "docker stop"));
  one.ended.code = -1;
  one.ended.signal = 9;
  CHECK_FALSE(one.goes_on(command).empty());
  CHECK(one.goes_on("python train.py").empty());
  one.ended.known = false;
  CHECK_FALSE(one.goes_on(command).empty());
}

TEST_CASE("where nothing was begun nothing goes on") {
  Followed one;
  one.ended.code = 125;
  one.ended.last_step = kNoStep;
  CHECK_FALSE(one.goes_on("docker run image").empty());  // it may load its model
  one.says("container-not-started", "docker: Error response from daemon: no such image");
  CHECK(one.goes_on("docker run image").empty());
  one.ended.code = 255;
  CHECK(one.goes_on("ssh node python train.py").empty());
  one.ended.last_step = 3;
  CHECK_FALSE(one.goes_on("ssh node python train.py").empty());
}

TEST_CASE("a script's docker run that lost its daemon says so") {
  Followed one;
  one.ended.code = 125;
  CHECK(one.goes_on("bash train.sh").empty());
  one.says("container-client-lost", "error waiting for container: unexpected EOF");
  CHECK(contains(one.goes_on("bash train.sh"), "docker ps"));
  one.run.restart();
  one.run.steps(1, 3);
  CHECK(one.goes_on("bash train.sh").empty());  // that was the attempt before
}

TEST_CASE("a command in a pod is over by its client's word or by status 0") {
  Followed one;
  CHECK_FALSE(one.goes_on("kubectl exec pod -- python").empty());
  one.ended.code = 0;
  CHECK(one.goes_on("kubectl exec pod -- python").empty());
  one.ended.code = 1;
  one.says("client-reports-end", "command terminated with exit code 1");
  CHECK(one.goes_on("kubectl exec pod -- python").empty());
}

}  // namespace mw
