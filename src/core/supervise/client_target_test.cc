#include "core/supervise/client_target.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/text.h"

namespace mw {
namespace {

std::string ends(std::string_view line, std::string_view job = "") {
  std::vector<std::string> words;
  for (const std::string_view word : split(line, ' ')) words.emplace_back(word);
  const Client* const client = client_of(words);
  REQUIRE(client != nullptr);
  return how_to_end(*client, words, job);
}

TEST_CASE("a container is named as its client names it") {
  const std::string stop = "docker ps shows it, docker stop box ends it.";
  CHECK(ends("docker run --rm --name box image python train.py") == stop);
  CHECK(ends("sudo docker run --gpus all -v /a:/b -it --name=box --shm-size 8g image python train.py") == stop);
  CHECK(ends("timeout 1h docker run --name box image") == stop);
  CHECK(ends("podman run -d --name box image") == "podman ps shows it, podman stop box ends it.");
  CHECK(ends("docker exec -it -w /work box python train.py") ==
        "docker top box shows it, docker stop box ends the container and all in it.");
}

TEST_CASE("what the program in it is called with is no name of it, nor is what a shell would take for more") {
  const std::string unknown = "docker ps shows it, docker stop ends it.";
  CHECK(ends("docker run --rm image python train.py --name box") == unknown);
  CHECK(ends("docker run --rm -e NAME image train --name box") == unknown);
  CHECK(ends("docker run --name box;reboot image") == unknown);
  CHECK(ends("docker run --name") == unknown);
  CHECK(ends("docker run") == unknown);
}

TEST_CASE("a job is named by what the client said, or as its words name it") {
  CHECK(ends("ray job submit -- python train.py", "raysubmit_a") ==
        "ray job status raysubmit_a shows it, ray job stop raysubmit_a ends it.");
  CHECK(ends("ray job submit --address=http://head:8265 --submission-id grpo-1 -- python train.py") ==
        "ray job status --address http://head:8265 grpo-1 shows it, ray job stop --address http://head:8265 grpo-1 "
        "ends it.");
  CHECK(ends("ray job submit -- python train.py --submission-id x") == "ray job list shows it, ray job stop ends it.");
}

TEST_CASE("a pod and a machine are named") {
  CHECK(ends("kubectl exec -it -n rl pod-0 -- python train.py") ==
        "kubectl exec -n rl pod-0 -- ps -ef shows it, kubectl exec -n rl pod-0 -- kill PID ends it.");
  CHECK(ends("ssh -p 22 -tt me@node python train.py") == "ssh me@node ps -ef shows it, ssh me@node kill PID ends it.");
  CHECK(ends("ssh -p22 node python train.py") == "ssh node ps -ef shows it, ssh node kill PID ends it.");
}

}  // namespace
}  // namespace mw
