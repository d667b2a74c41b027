// What every provider with an API of its own promises, over fakes of the APIs (clouds/serve.py, one process each), with
// the HTTP code and the programs that midwatch uses. How the real services answer, nobody here can try.
#include <doctest/doctest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "act/fleet/provider.h"
#include "base/json.h"
#include "base/text.h"

namespace mw::fleet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKey = "key-of-the-account-0123456789";
constexpr std::string_view kSecret = "hf_qwertyuiopasdfghjklzxcvbnm1234";

/// A fake cloud in a process of its own, which ends with this object.
class World {
 public:
  explicit World(const std::string& kind) : kind_(kind) {
    folder_ = (fs::temp_directory_path() / "midwatch-clouds-XXXXXX").string();
    REQUIRE(::mkdtemp(folder_.data()) != nullptr);
    int to[2], from[2];
    REQUIRE(::pipe(to) == 0);
    REQUIRE(::pipe(from) == 0);
    const std::string script = MIDWATCH_CLOUDS "/serve.py";
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(to[0], 0);
      ::dup2(from[1], 1);
      for (const int end : {to[0], to[1], from[0], from[1]}) ::close(end);
      ::execlp("python3", "python3", "-B", script.c_str(), kind.c_str(), folder_.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    input_ = to[1];
    char digit = 0;
    while (::read(from[0], &digit, 1) == 1 && digit != '\n') port_ += digit;
    ::close(from[0]);
    REQUIRE(!port_.empty());
  }
  ~World() {
    ::close(input_);
    ::waitpid(child_, nullptr, 0);
    fs::remove_all(folder_);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  bool is_program() const { return kind_ == "kubernetes" || kind_ == "skypilot"; }

  ProviderSpec spec() const {
    ProviderSpec out;
    out.kind = out.name = kind_;
    out.price = 2;
    if (!is_program()) out.values["endpoint"] = cat("http://127.0.0.1:", port_);
    if (kind_ == "prime") out.values["template"] = "tpl";
    if (kind_ == "lambda") out.values["ssh_key"] = "mine";
    if (kind_ == "kubernetes") out.values = {{"context", "test"}, {"namespace", "trainers"}};
    return out;
  }
  ProviderDoors doors() const {
    ProviderDoors out = real_provider_doors();
    out.pause = [](Duration) {};
    out.variable = [](const std::string&) { return std::string(kKey); };
    out.run = [folder = folder_](ProgramRequest request) {
      request.command[0] = cat(folder, "/", request.command[0]);
      return run_program(request);
    };
    return out;
  }
  std::unique_ptr<Provider> provider() const { return std::move(*make_provider(spec(), doors())); }

  Json books() const { return *Json::parse(ask("GET", "/_books", "")); }
  size_t machines() const { return books().find("machines")->items().size(); }
  int64_t calls(std::string_view operation) const { return books().find("calls")->integer_or(operation, -1); }
  void control(const std::string& order) const { ask("POST", "/_control", order); }
  void fault(std::string_view operation, std::string_view how, int times = 1) const {
    control(cat("{\"fault\":{\"op\":\"", operation, "\",\"how\":\"", how, "\",\"times\":", times, "}}"));
  }
  void state(const std::string& state) const {
    const std::string id = books().find("machines")->items().front().string_or("id", "");
    control(cat("{\"machine\":{\"id\":", id, ",\"state\":\"", state, "\"}}"));
  }

 private:
  std::string ask(const std::string& method, const std::string& path, const std::string& body) const {
    HttpRequest request;
    request.method = method;
    request.url = cat("http://127.0.0.1:", port_, path);
    request.body = body;
    request.direct = true;
    request.deadline = Duration::seconds(60);
    request.answer_limit = size_t{16} << 20;
    const auto answer = make_http()->send(request);
    REQUIRE(answer.ok());
    REQUIRE(answer->status == 200);
    return answer->body;
  }

  const std::string kind_;
  std::string folder_, port_;
  pid_t child_ = -1;
  int input_ = -1;
};

Order order_of(const std::string& nonce) {
  Order out;
  out.label = label_text({"run", "0badcafe", 7, nonce});
  out.start = "echo \"it's\" $HOME\nexec midwatch onstart -- bash train.sh";
  out.environment = {
      {"HF_TOKEN", std::string(kSecret)}, {"MIDWATCH_FLEET_EPOCH", "7"}, {"ODD", "a 'b' \"c\" \\ $d\ne"}};
  out.wants.image = "me/train:1";
  out.wants.gpu = "H100";
  out.wants.count = 1;
  return out;
}

std::vector<Instance> listed(Provider& provider) {
  auto out = provider.list();
  if (!out.ok()) FAIL(out.error().what);
  return std::move(out->instances);
}

Offer first_offer(Provider& provider, const MachineWants& wants) {
  const auto offers = provider.search(wants);
  if (!offers.ok()) FAIL(offers.error().what);
  REQUIRE(offers->size() == 1);
  return offers->front();
}

bool refused(const Error& error) { return error.code != Error::Code::kIo && error.code != Error::Code::kInterrupted; }

void rents_and_gives_back(const World& world) {
  const auto provider = world.provider();
  const Order order = order_of("00000000000000a1");
  const Offer offer = first_offer(*provider, order.wants);
  CHECK(offer.provider == provider->name());
  CHECK(offer.price == doctest::Approx(2.0));
  CHECK(gpu_fits("H100", offer.gpu.empty() ? "H100" : offer.gpu));
  const auto made = provider->create(offer, order);
  if (!made.ok()) FAIL(made.error().what);
  CHECK_FALSE(made->id.empty());
  const Json machine = world.books().find("machines")->items().front();
  CHECK(machine.string_or("label", "") == order.label);
  const Json* const environment = machine.find("environment");
  if (environment->is_object()) {
    for (const auto& [name, value] : order.environment) CHECK(environment->string_or(name, "") == value);
    CHECK(machine.string_or("start", "") == order.start);
  } else {  // of Lambda one script is all that there is
    CHECK(contains(environment->string(), kSecret));
    CHECK(contains(machine.string_or("start", ""), order.start));
  }
  auto there = listed(*provider);
  REQUIRE(there.size() == 1);
  CHECK(there[0].id == made->id);
  CHECK(there[0].label == order.label);
  CHECK(provider->destroy(there[0]).ok());
  CHECK(listed(*provider).empty());
  CHECK(world.machines() == 0);
  CHECK(provider->destroy(there[0]).ok());  // gone already
}

void says_what_became_of_it(const World& world) {
  const auto provider = world.provider();
  const Order order = order_of("00000000000000a2");
  REQUIRE(provider->create(first_offer(*provider, order.wants), order).ok());
  const auto state = [&] { return listed(*provider).at(0).state; };
  CHECK(state() == InstanceState::kProvisioning);
  world.state("running");
  CHECK(state() == InstanceState::kRunning);
  world.state("odd");  // an unknown word may cost something
  CHECK(state() == InstanceState::kRunning);
  world.state("stopped");
  CHECK(state() == InstanceState::kStopped);
  CHECK_FALSE(listed(*provider).at(0).says.empty());
  if (provider->name() == "skypilot") return;  // it has no word for it
  world.state("lost");
  CHECK(state() == InstanceState::kLost);
}

/// The create that timed out and yet succeeded: nobody tries it again, and the list knows it by its label, if late.
void rents_once_without_an_answer(const World& world) {
  const auto provider = world.provider();
  const Order order = order_of("00000000000000a3");
  const Offer offer = first_offer(*provider, order.wants);
  world.fault("create", "silent");
  const auto made = provider->create(offer, order);
  REQUIRE_FALSE(made.ok());
  CHECK_FALSE(refused(made.error()));
  CHECK(world.calls("create") == 1);
  CHECK(world.machines() == 1);
  const auto there = listed(*provider);
  REQUIRE(there.size() == 1);
  CHECK(there[0].label == order.label);
}

void shows_late_what_is_new(const World& world) {
  const auto provider = world.provider();
  const Order order = order_of("00000000000000a4");
  const Offer offer = first_offer(*provider, order.wants);
  world.fault("create", "late");
  REQUIRE(provider->create(offer, order).ok());
  CHECK(listed(*provider).empty());
  CHECK(listed(*provider).empty());
  CHECK(listed(*provider).size() == 1);
}

void knows_what_was_refused(const World& world) {
  const auto provider = world.provider();
  const Order order = order_of("00000000000000a5");
  const Offer offer = first_offer(*provider, order.wants);
  world.fault("create", "full");
  const auto full = provider->create(offer, order);
  REQUIRE_FALSE(full.ok());
  CHECK(refused(full.error()));
  for (const char* how : {"broken", "html", "garbage", "empty", "huge"}) {
    // kubectl's status says that it was made; what it prints beside that is of no use.
    if (world.is_program() && std::string(how) != "broken") continue;
    CAPTURE(std::string(how));
    world.fault("create", how);
    const auto made = provider->create(offer, order);
    REQUIRE_FALSE(made.ok());
    CHECK_FALSE(refused(made.error()));
  }
  CHECK(world.calls("create") == (world.is_program() ? 2 : 6));  // each once
  CHECK(world.machines() == 0);
}

/// An answer that is none is an error, and never "there is nothing".
void lists_all_or_fails(const World& world) {
  const auto provider = world.provider();
  const Order order = order_of("00000000000000a6");
  const Offer offer = first_offer(*provider, order.wants);
  world.control("{\"others\":130}");
  REQUIRE(provider->create(offer, order).ok());
  CHECK(listed(*provider).size() == 1);
  for (const char* how : {"broken", "html", "garbage", "empty", "huge", "denied"}) {
    CAPTURE(std::string(how));
    const bool asked_again = how == std::string("broken") || how == std::string("huge");
    world.fault("list", how, asked_again ? 3 : 1);
    CHECK_FALSE(provider->list().ok());
    while (!provider->list().ok()) continue;  // what is left of the fault
    CHECK(listed(*provider).size() == 1);
  }
  if (world.is_program()) return;
  const int64_t before = world.calls("list");
  world.fault("list", "busy", 2);
  CHECK(listed(*provider).size() == 1);  // tried again, as it was busy
  CHECK(world.calls("list") >= before + 3);
}

void keeps_secrets(const World& world) {
  const auto provider = world.provider();
  const Order order = order_of("00000000000000a7");
  const Offer offer = first_offer(*provider, order.wants);
  for (const char* operation : {"create", "list", "destroy"}) {
    CAPTURE(operation);
    world.fault(operation, "denied");
    std::string said;
    if (operation == std::string("create")) said = provider->create(offer, order).error().what;
    if (operation == std::string("list")) said = provider->list().error().what;
    if (operation == std::string("destroy"))
      said = provider->destroy({"1001", order.label, "", {}, 0, "", false}).error().what;
    CHECK_FALSE(said.empty());
    CHECK_FALSE(contains(said, kKey));
  }
  Order shown = order;
  for (auto& [name, value] : shown.environment) value = "<" + name + ">";
  const auto text = provider->preview(offer, shown);
  REQUIRE(text.ok());
  CHECK(contains(*text, "train.sh"));
  CHECK_FALSE(contains(*text, kSecret));
  CHECK_FALSE(contains(*text, kKey));
}

}  // namespace

TEST_CASE("every provider with an API rents once, finds again what it rented, and says what became of it") {
  for (const char* kind : {"vast", "runpod", "prime", "lambda", "kubernetes", "skypilot"}) {
    CAPTURE(kind);
    const World world(kind);
    for (const auto& one : {rents_and_gives_back, says_what_became_of_it, rents_once_without_an_answer,
                            shows_late_what_is_new, knows_what_was_refused, lists_all_or_fails, keeps_secrets}) {
      world.control("{\"reset\":true}");
      one(world);
    }
  }
}

TEST_CASE("a bid is placed above the least one, and what too low a bid leaves behind is given back") {
  for (const char* kind : {"vast", "runpod"}) {
    CAPTURE(kind);
    const World world(kind);
    ProviderSpec spec = world.spec();
    spec.values["market"] = "spot";
    auto provider = std::move(*make_provider(spec, world.doors()));
    const Order order = order_of("00000000000000b1");
    const auto offers = provider->search(order.wants);
    REQUIRE(offers.ok());
    REQUIRE(offers->size() == 1);
    CHECK(offers->front().price == doctest::Approx(kind == std::string("vast") ? 0.88 + 0.1 : 1.1));
    CHECK(provider->create(offers->front(), order).ok());
    if (kind != std::string("vast")) continue;
    Offer low = offers->front();
    low.id = "77@0.5";
    const auto made = provider->create(low, order_of("00000000000000b2"));
    REQUIRE_FALSE(made.ok());
    CHECK(made.error().code == Error::Code::kFull);
    CHECK(world.machines() == 1);  // the one that was rented
  }
}

TEST_CASE("a pod that is preempted, and one whose image cannot be pulled, are two things") {
  const World world("kubernetes");
  const auto provider = world.provider();
  const Order order = order_of("00000000000000b3");
  REQUIRE(provider->create({}, order).ok());
  CHECK(listed(*provider).at(0).says == "Unschedulable");
  world.state("pulling");
  CHECK(listed(*provider).at(0).state == InstanceState::kProvisioning);
  CHECK(listed(*provider).at(0).says == "ImagePullBackOff");
  world.state("preempted");
  CHECK(listed(*provider).at(0).state == InstanceState::kStopped);
  CHECK(listed(*provider).at(0).says == "PreemptionByScheduler");
  world.state("stopped");
  CHECK(listed(*provider).at(0).says == "Evicted");
  const auto again = provider->create({}, order);  // of one label there is one job
  REQUIRE_FALSE(again.ok());
  CHECK_FALSE(refused(again.error()));
  CHECK(world.machines() == 1);
}

TEST_CASE("a provider without a key, with another kind's setting or with an open line is refused") {
  ProviderSpec spec;
  spec.kind = "vast";
  ProviderDoors doors = real_provider_doors();
  doors.variable = [](const std::string&) { return std::nullopt; };
  const auto keyless = make_provider(spec, doors);
  REQUIRE_FALSE(keyless.ok());
  CHECK(contains(keyless.error().hint, "VAST_API_KEY"));
  doors.variable = [](const std::string&) { return std::string(kKey); };
  CHECK(make_provider(spec, doors).ok());
  spec.values["partition"] = "gpu";
  CHECK_FALSE(make_provider(spec, doors).ok());
  spec.values = {{"endpoint", "http://example.com"}};
  CHECK_FALSE(make_provider(spec, doors).ok());
  spec.values = {{"endpoint", "http://127.0.0.1.example.com"}};
  CHECK_FALSE(make_provider(spec, doors).ok());
}

}  // namespace mw::fleet
