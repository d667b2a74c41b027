#include "sense/fingerprint/collect.h"

#include <doctest/doctest.h>

#include "base/text.h"

namespace mw {
namespace {

struct Machine {
  FakeSystem system;
  Subject subject{
      {"bash", "train.sh", "--config", "conf/a.yaml", "--hf-token", "tok-abcdef"}, "/run", 7, {}, {"/data"}};

  Machine() {
    auto& files = system.files;
    files["/proc/7/environ"] = std::string("PATH=/venv/bin:/usr/bin\0LR=1e-6\0HF_TOKEN=hush-hush\0SHLVL=3\0", 59);
    files["/proc/7/limits"] =
        "Limit                     Soft Limit           Hard Limit           Units     \n"
        "Max open files            1024                 524288               files     \n"
        "Max processes             unlimited            unlimited            processes \n";
    files["/proc/7/status"] = "Name:\tbash\nCpus_allowed_list:\t0-7\n";
    files["/proc/7/cgroup"] = "0::/job\n";
    files["/sys/fs/cgroup/job/memory.max"] = "1073741824\n";
    files["/proc/sys/kernel/hostname"] = "node7\n";
    files["/proc/meminfo"] = "MemTotal:        2097152 kB\n";
    files["/proc/driver/nvidia/version"] =
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.14  Release Build  (x)\nGCC version: 12\n";
    files["/usr/local/cuda/version.json"] = R"({"cuda" : {"name" : "CUDA SDK", "version" : "12.4.1"}})";
    files["/run/train.sh"] = "export OPENAI_API_KEY=hush\npython train.py\n";
    files["/run/conf/a.yaml"] = "lr: 1e-6\n";
    files["/venv/bin/python"] = "";
    files["/venv/pyvenv.cfg"] = "home = /usr/bin\n";
    files["/venv/lib/python3.11/site-packages/vllm-0.8.5.dist-info/METADATA"] = "";
    files["/venv/lib/python3.11/site-packages/Flash_Attn-2.7.4.dist-info/METADATA"] = "";
    files["/venv/lib/python3.11/site-packages/verl-0.5.dist-info/direct_url.json"] =
        R"({"url":"file:///src/verl","dir_info":{"editable":true}})";
    files["/venv/lib/python3.11/site-packages/trl-0.19.dist-info/direct_url.json"] =
        R"({"url":"https://example.org/trl","vcs_info":{"vcs":"git","commit_id":"0123456789abcdef"}})";
    files["/proc/self/mounts"] = "/dev/sda1 / ext4 rw 0 0\nserver:/vol /data nfs rw 0 0\n";
    system.spaces["/"] = {1 << 20, 1 << 30, 0, 0};
  }
};

TEST_CASE("command, environment, files, packages and machine, without secrets") {
  Machine machine;
  const Fingerprint of = collect_quickly(machine.system, machine.subject);
  const std::string text = fingerprint_text(of);
  CHECK_FALSE(contains(text, "hush"));
  CHECK_FALSE(contains(text, "tok-abcdef"));
  const auto fact = [&of](const char* group, const char* name) {
    const auto at = of.facts.find(group);
    if (at == of.facts.end() || at->second.count(name) == 0) return std::string("none");
    return at->second.at(name);
  };
  CHECK(fact("environment", "LR") == "1e-6");
  CHECK(fact("environment", "HF_TOKEN") == "<redacted>");
  CHECK(fact("environment", "SHLVL") == "none");
  CHECK(fact("limit", "open files") == "1024, at most 524288");
  CHECK(fact("limit", "processes") == "unlimited");
  CHECK(fact("host", "name") == "node7");
  CHECK(fact("host", "CPUs allowed") == "0-7");
  CHECK(fact("host", "memory limit") == "1.1 GB");
  CHECK(fact("host", "memory") == "2.1 GB");
  CHECK(fact("driver", "NVIDIA driver") == "550.54.14");
  CHECK(fact("driver", "CUDA toolkit") == "12.4.1");
  CHECK(fact("package", "vllm") == "0.8.5");
  CHECK(fact("package", "flash-attn") == "2.7.4");
  CHECK(fact("package", "verl") == "0.5 (in development, file:///src/verl)");
  CHECK(fact("package", "trl") == "0.19 (git 0123456789ab…)");
  CHECK(fact("package", "(Python environment)") == "/venv");
  REQUIRE(of.files.count("train.sh") == 1);
  CHECK(of.files.at("train.sh").text == "export OPENAI_API_KEY=<redacted>\npython train.py\n");
  CHECK(of.files.count("conf/a.yaml") == 1);
}

TEST_CASE("what a variable holds in secret is redacted wherever the attempt has it") {
  Machine machine;
  machine.system.files["/proc/7/environ"] =
      std::string("JUDGE_TOKEN=plain-words-42\0COPY=plain-words-42\0ODD=tok-VERYSECRET-42\0", 69);
  machine.system.files["/run/train.sh"] = "curl -d plain-words-42 judge\n";
  machine.subject.command.insert(machine.subject.command.end(), {"--with", "plain-words-42"});
  const std::string text = fingerprint_text(collect_quickly(machine.system, machine.subject));
  CHECK_FALSE(contains(text, "plain-words-42"));
  CHECK_FALSE(contains(text, "VERYSECRET"));
}

TEST_CASE("a process that is gone is reported as gone, and not taken for one without variables") {
  Machine machine;
  machine.system.files.erase("/proc/7/environ");
  const Fingerprint of = collect_quickly(machine.system, machine.subject);
  CHECK(of.facts.count("environment") == 0);
  REQUIRE_FALSE(of.missing.empty());
  CHECK(of.missing.front().starts_with("environment:"));
}

TEST_CASE("of a file that holds secrets not even a hash of its content is kept") {
  Machine machine;
  machine.subject.command = {"bash", "train.sh", "--token-file", "token.txt", "prod.env"};
  machine.system.files["/run/token.txt"] = "abc";
  machine.system.files["/run/prod.env"] = "X=abc";
  const Fingerprint a = collect_quickly(machine.system, machine.subject);
  machine.system.files["/run/token.txt"] = "xyz";
  machine.system.files["/run/prod.env"] = "X=xyz";
  const Fingerprint b = collect_quickly(machine.system, machine.subject);
  REQUIRE(a.files.count("token.txt") == 1);
  CHECK(a.files.at("token.txt").hash == b.files.at("token.txt").hash);
  CHECK(a.files.at("prod.env").hash == b.files.at("prod.env").hash);
  CHECK(a.files.at("prod.env").text.empty());
}

TEST_CASE("Hydra's settings, and files behind an = or an @") {
  Machine machine;
  machine.subject.command = {"python",        "-m", "trainer",          "--config-path", "conf",
                             "--config-name", "b",  "data.file=d.json", "@args.txt"};
  machine.system.files["/run/conf/b.yaml"] = "x: 1\n";
  machine.system.files["/run/d.json"] = "{}";
  machine.system.files["/run/args.txt"] = "--lr 1";
  const Fingerprint of = collect_quickly(machine.system, machine.subject);
  CHECK(of.files.count("conf/b.yaml") == 1);
  CHECK(of.files.count("d.json") == 1);
  CHECK(of.files.count("args.txt") == 1);
}

TEST_CASE("the file systems under the run") {
  Machine machine;
  Fingerprint of = collect_disks(machine.system, machine.subject);
  CHECK(of.facts["disk"]["/data"] == "nfs server:/vol, 1.1 GB");
  CHECK(of.facts["disk"]["/run"] == "ext4 /dev/sda1, 1.1 GB");
  CHECK(of.facts["space"]["/data"] == "1.0 MB free");
}

TEST_CASE("this very process") {
  const auto system = make_posix_system();
  const Fingerprint of = collect_quickly(*system, {{"sh"}, "/", 0, {{"LR", "3"}}, {}});
  CHECK(of.facts.at("environment").at("LR") == "3");
  CHECK_FALSE(of.facts.at("host").at("name").empty());
  CHECK(of.facts.at("limit").count("open files") == 1);
  Fingerprint disks = collect_disks(*system, {{"sh"}, "/", 0, {}, {"/tmp/no-such-folder/checkpoints"}});
  CHECK_FALSE(disks.facts["disk"]["/"].empty());
  CHECK(disks.facts["disk"]["/tmp/no-such-folder/checkpoints"] == cat(kNotThere, disks.facts["disk"]["/tmp"]));
  CHECK(disks.facts["space"].count("/tmp/no-such-folder/checkpoints") == 0);
}

}  // namespace
}  // namespace mw
