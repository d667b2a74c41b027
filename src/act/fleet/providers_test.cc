// One suite over the providers that run here for real: a program of the user's, and this machine.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "act/fleet/provider.h"
#include "base/text.h"

namespace mw::fleet {
namespace {

namespace fs = std::filesystem;

/// A provider as a user would write it: one file an instance.
constexpr std::string_view kProgram = R"sh(#!/bin/sh
dir=$(dirname "$0")/instances; mkdir -p "$dir"
input=$(cat)
field() { printf '%s' "$input" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
echo "a warning that is no answer" >&2
case $1 in
search) echo '{"offers":[{"id":"o1","host":"h1","price":2.5,"gpu":"H100","count":2}]}' ;;
create) label=$(field label)
  [ -e "$dir/../refuses" ] && { echo '{"error":"no such offer","kind":"refused"}'; exit 1; }
  printf '%s' "$input" >"$dir/$label"
  echo "{\"instance\":{\"id\":\"$label\",\"label\":\"$label\",\"host\":\"h1\",\"state\":\"provisioning\",\"price\":2.5}}" ;;
list) printf '{"instances":['; comma=
  for file in "$dir"/*; do [ -e "$file" ] || continue
    name=$(basename "$file")
    printf '%s{"id":"%s","label":"%s","state":"running"}' "$comma" "$name" "$name"; comma=,
  done; echo ']}' ;;
destroy) rm -f "$dir/$(field id)"; echo '{}' ;;
esac
)sh";

struct Scratch {
  Scratch() {
    root = (fs::temp_directory_path() / "midwatch-fleet-XXXXXX").string();
    REQUIRE(::mkdtemp(root.data()) != nullptr);
  }
  ~Scratch() { fs::remove_all(root); }
  void program(const std::string& name, std::string_view text) const {
    std::ofstream(root + "/" + name) << text;
    REQUIRE(::chmod((root + "/" + name).c_str(), 0755) == 0);
  }
  std::string text(const std::string& name) const {
    std::ifstream file(root + "/" + name);
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
  }
  std::string root;
};

std::unique_ptr<Provider> command_in(const Scratch& scratch) {
  scratch.program("provider", kProgram);
  ProviderSpec spec;
  spec.kind = spec.name = "command";
  spec.words = {scratch.root + "/provider"};
  return std::move(*make_provider(spec));
}

/// This machine, whether it is taken or not.
Offer here() {
  Offer out;
  out.id = out.host = "here";
  out.provider = "local";
  return out;
}

std::unique_ptr<Provider> local_in(const Scratch& scratch) {
  ProviderSpec spec;
  spec.kind = spec.name = "local";
  spec.values["folder"] = scratch.root;
  return std::move(*make_provider(spec));
}

Order order_for(const Scratch& scratch, const std::string& nonce) {
  Order order;
  order.label = label_text({"test", "0badcafe", 3, nonce});
  order.start = cat("echo \"$SECRET\" >", scratch.root, "/said\nexec sleep 600");
  order.environment = {{"MIDWATCH_FLEET_LABEL", order.label}, {"SECRET", "it's a $secret"}};
  return order;
}

std::vector<Instance> with_label(Provider& provider, const std::string& label) {
  const auto listed = provider.list();
  REQUIRE(listed.ok());
  std::vector<Instance> out;
  for (const Instance& one : *listed) {
    if (one.label == label) out.push_back(one);
  }
  return out;
}

bool within_a_minute(const std::function<bool()>& holds) {
  for (int i = 0; i < 600 && !holds(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return holds();
}

TEST_CASE("what every provider promises: one instance a create, listed by its label until it is destroyed") {
  for (const std::string kind : {"command", "local"}) {
    CAPTURE(kind);
    const Scratch scratch;
    const auto provider = kind == "command" ? command_in(scratch) : local_in(scratch);
    const auto offers = provider->search({});
    REQUIRE(offers.ok());
    // Of "local" there is none while anybody else, a test beside this one, has a machine here.
    if (kind == "command") REQUIRE(offers->size() == 1);
    const Offer offer = kind == "command" ? offers->front() : here();
    const Order order = order_for(scratch, kind == "command" ? "00000000000000c1" : "00000000000000a1");
    CHECK(with_label(*provider, order.label).empty());
    const auto made = provider->create(offer, order);
    REQUIRE(made.ok());
    CHECK(made->label == order.label);
    const auto there = with_label(*provider, order.label);
    REQUIRE(there.size() == 1);
    CHECK(there[0].id == made->id);
    CHECK(provider->destroy(there[0]).ok());
    CHECK(with_label(*provider, order.label).empty());
    CHECK(provider->destroy(there[0]).ok());  // again
  }
}

TEST_CASE("a machine of one's own gets its environment as it is, and ends with all that it started") {
  const Scratch scratch;
  const auto provider = local_in(scratch);
  Order order = order_for(scratch, "00000000000000a2");
  order.start = cat("echo \"$SECRET\" >", scratch.root, "/said\nsetsid sleep 600 &\n(sleep 600) &\nexec sleep 600");
  REQUIRE(provider->create(here(), order).ok());
  CHECK(within_a_minute([&] { return scratch.text("said") == "it's a $secret\n"; }));
  CHECK(provider->search({})->empty());  // the host is taken
  const auto there = with_label(*provider, order.label);
  REQUIRE(there.size() == 1);
  REQUIRE(provider->destroy(there[0]).ok());
  CHECK(with_label(*provider, order.label).empty());
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "environ", std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    CHECK_FALSE(contains(text.str(), order.label));
  }
}

TEST_CASE("a machine of one's own begins even where setsid comes to its call late") {
  const Scratch scratch;
  fs::create_directories(scratch.root + "/bin");
  scratch.program("bin/setsid", "#!/bin/sh\nsleep 2\nPATH=${PATH#*:}\nexec setsid \"$@\"\n");
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (scratch.root + "/bin:" + path).c_str(), 1);
  const auto provider = local_in(scratch);
  const Order order = order_for(scratch, "00000000000000a3");
  const auto made = provider->create(here(), order);
  ::setenv("PATH", path.c_str(), 1);
  REQUIRE(made.ok());
  CHECK(within_a_minute([&] { return scratch.text("said") == "it's a $secret\n"; }));
  const auto there = with_label(*provider, order.label);
  CHECK(there.size() == 1);
  for (const Instance& one : there) CHECK(provider->destroy(one).ok());
}

TEST_CASE("a program that refuses, answers nonsense or ends badly is an error of its own kind") {
  const Scratch scratch;
  auto provider = command_in(scratch);
  std::ofstream(scratch.root + "/refuses") << "yes";
  const auto refused = provider->create({}, order_for(scratch, "00000000000000c2"));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Error::Code::kInvalid);
  for (const char* nonsense :
       {"#!/bin/sh\necho '{\"instances\":[{}]}'\n", "#!/bin/sh\necho '{}'\n", "#!/bin/sh\nexit 3\n",
        "#!/bin/sh\necho '{\"instances\":[{\"id\":\"1\",\"state\":\"fine\"}]}'\n"}) {
    CAPTURE(nonsense);
    scratch.program("provider", nonsense);
    const auto listed = provider->list();
    REQUIRE_FALSE(listed.ok());
    CHECK(listed.error().code == Error::Code::kIo);  // of which nothing follows
  }
}

TEST_CASE("a program may say that its list is not complete, and what it could not see") {
  const Scratch scratch;
  auto provider = command_in(scratch);
  CHECK(provider->list()->whole);
  scratch.program(
      "provider",
      "#!/bin/sh\necho '{\"instances\":[],\"incomplete\":true,\"notes\":[\"region b did not answer\",7]}'\n");
  const auto listed = provider->list();
  REQUIRE(listed.ok());
  CHECK_FALSE(listed->whole);
  CHECK(listed->notes == std::vector<std::string>{"region b did not answer"});
}

TEST_CASE("providers that lack a setting are refused") {
  ProviderSpec spec;
  for (const char* kind : {"command", "local", "ssh", "nonsense"}) {
    spec.kind = kind;
    CHECK_FALSE(make_provider(spec).ok());
  }
  spec.kind = "ssh";
  spec.values["folder"] = "/srv/midwatch";
  spec.words = {"-oProxyCommand=touch /tmp/x"};
  CHECK_FALSE(make_provider(spec).ok());
  spec.words = {"node1"};
  CHECK(make_provider(spec).ok());
}

}  // namespace
}  // namespace mw::fleet
