#include "sense/processes/tree_watch.h"

#include <doctest/doctest.h>

#include "base/text.h"

using namespace mw;
using namespace mw::components;
using Health = event::ComponentSaw::Health;

namespace {

constexpr int kKilled = 9, kTerminated = 15;

/// A keeper (100), a shell (101), a trainer (102) that does a step every two seconds, and whatever a test adds.
class World {
 public:
  World() {
    put(100, 1, 'S', "keeper");
    put(101, 100, 'S', "bash");
    put(102, 101, 'R', "python3", std::string("python3\0train.py", 16));
    run.keeper = 100;
    run.command = 101;
  }

  void put(int64_t pid, int64_t parent, char state, const std::string& name, const std::string& words = "",
           int status = 0) {
    std::string stat = cat(pid, " (", name, ") ", std::string(1, state), " ", parent, " ", pid, " 101");
    for (int field = 7; field <= 21; ++field) stat += " 0";
    stat += cat(" ", born.count(pid) > 0 ? born[pid] : (born[pid] = static_cast<int64_t>(seconds * 100)));
    for (int field = 23; field <= 51; ++field) stat += " 0";
    system.files[cat("/proc/", pid, "/stat")] = stat + cat(" ", status, "\n");
    if (!words.empty()) system.files[cat("/proc/", pid, "/cmdline")] = words;
    places[pid] = {parent, name};
  }
  void state(int64_t pid, char state, int status = 0) {
    put(pid, places[pid].first, state, places[pid].second, "", status);
  }
  void end(int64_t pid) {
    system.files.erase(cat("/proc/", pid, "/stat"));
    system.files.erase(cat("/proc/", pid, "/cmdline"));
  }
  void engine(int64_t pid = 200) { put(pid, 102, 'S', "VLLM::EngineCor", "VLLM::EngineCore"); }

  /// Half seconds pass; a step is done every two seconds while `training`.
  void pass(double more) {
    for (const double until = seconds + more; seconds < until;) {
      seconds += 0.5;
      system.files["/proc/uptime"] = cat(seconds, " 0.0\n");
      const Duration now = Duration::seconds(seconds);
      if (training && static_cast<int64_t>(seconds * 2) % 4 == 0) rhythm.saw(1, ++step, now);
      for (event::ComponentSaw& saw : watch.poll(run, rhythm, now)) news.push_back(std::move(saw));
    }
  }
  /// What was said of other than that somebody is there.
  std::vector<event::ComponentSaw> trouble() const {
    std::vector<event::ComponentSaw> found;
    for (const event::ComponentSaw& saw : news) {
      if (saw.health != Health::kWell) found.push_back(saw);
    }
    return found;
  }

  FakeSystem system;
  std::map<int64_t, std::pair<int64_t, std::string>> places;
  std::map<int64_t, int64_t> born;
  double seconds = 1000;
  bool training = true;
  int64_t step = 0;
  Run run;
  Rhythm rhythm;
  std::map<int64_t, int> ends;  // as the kernel remembers them
  TreeWatch watch{system, [this](const ProcessId& id) {
                    return [this, pid = id.pid] {
                      return ends.count(pid) > 0 ? std::optional(ends[pid]) : std::optional<int>();
                    };
                  }};
  std::vector<event::ComponentSaw> news;
};

}  // namespace

TEST_CASE("an engine that is killed behind a live trainer is reported within two seconds") {
  World world;
  world.engine();
  world.pass(30);
  REQUIRE(world.news.size() == 1);
  CHECK(world.news[0].component == "VLLM::EngineCor (200)");
  CHECK(world.news[0].kind == "engine");
  world.training = false;
  world.state(200, 'Z', kKilled);
  world.pass(2);
  REQUIRE(world.trouble().size() == 1);
  CHECK(world.trouble()[0].health == Health::kDead);
  CHECK(world.trouble()[0].certain);
  CHECK(world.trouble()[0].text ==
        "Process 200 (VLLM::EngineCor) of the run was ended by signal 9 while the trainer goes on");
  world.pass(100);
  CHECK(world.trouble().size() == 1);
}

TEST_CASE("one of several engines may be taken away: it is a failure when the run comes to wait") {
  World world;
  for (const int64_t pid : {200, 201, 202}) world.engine(pid);
  world.pass(30);
  world.state(201, 'Z', kKilled);
  world.pass(60);
  REQUIRE(world.trouble().size() == 1);
  CHECK(world.trouble()[0].health == Health::kDead);
  CHECK_FALSE(world.trouble()[0].certain);
  SUBCASE("no step is done any more") {
    world.training = false;
    world.pass(60);
    REQUIRE(world.trouble().size() == 2);
    CHECK(world.trouble()[1].certain);
  }
  SUBCASE("the last one fails, too") {
    world.state(200, 'Z', kKilled);
    world.pass(2);
    world.state(202, 'Z', kKilled);
    world.pass(2);
    CHECK(world.trouble().back().certain);
  }
}

TEST_CASE("one of several engines that was killed, and whose parent took note of it at once, failed") {
  World world;
  for (const int64_t pid : {200, 201, 202}) world.engine(pid);
  world.pass(30);
  const auto last = [&world] { return world.trouble().back().health; };
  SUBCASE("killed") {
    world.ends[201] = kKilled;
    world.end(201);
    world.pass(5);
    CHECK(last() == Health::kGone);
    world.pass(7);
    CHECK(last() == Health::kDead);
    CHECK_FALSE(world.trouble().back().certain);
    CHECK(contains(world.trouble().back().text, "was ended by signal 9"));
  }
  SUBCASE("asked to end") {
    world.ends[201] = kTerminated;
    world.end(201);
    world.pass(30);
    CHECK(last() == Health::kGone);
  }
  SUBCASE("ended by itself") {
    world.ends[201] = 0;
    world.end(201);
    world.pass(30);
    CHECK(last() == Health::kGone);
  }
  SUBCASE("all of them are killed, one after the other") {
    for (const int64_t pid : {200, 201, 202}) {
      world.ends[pid] = kKilled;
      world.end(pid);
      world.pass(2);
    }
    world.pass(20);
    for (const event::ComponentSaw& saw : world.trouble()) CHECK(saw.health == Health::kGone);
  }
}

TEST_CASE("an engine that somebody took note of is gone, and that alone proves nothing") {
  World world;
  world.engine();
  world.pass(30);
  SUBCASE("reaped before it was seen dead") { world.end(200); }
  SUBCASE("asked to end") { world.state(200, 'Z', kTerminated); }
  SUBCASE("ended well") { world.state(200, 'Z', 0); }
  world.pass(600);
  REQUIRE(world.trouble().size() == 1);
  CHECK(world.trouble()[0].health == Health::kGone);
  CHECK(!world.trouble()[0].certain);
  world.training = false;  // and half an hour without a step does
  world.pass(1900);
  REQUIRE(world.trouble().size() == 2);
  CHECK(world.trouble()[1].certain);
}

TEST_CASE("the only engine was killed and taken note of: a launcher reaps all, and no step for ten minutes shows it") {
  World world;
  world.engine();
  world.pass(30);
  world.state(200, 'Z', kKilled);
  world.pass(0.5);
  world.end(200);
  world.training = false;
  world.pass(500);
  REQUIRE(world.trouble().size() == 1);
  CHECK(!world.trouble()[0].certain);
  SUBCASE("nothing took its place") {
    world.pass(120);
    REQUIRE(world.trouble().size() == 2);
    CHECK(world.trouble()[1].certain);
  }
  SUBCASE("its framework starts it anew") {
    world.engine(201);
    world.pass(120);
    CHECK(world.trouble().size() == 1);
  }
  SUBCASE("the trainer does without") {
    world.training = true;
    world.pass(600);
    CHECK(world.trouble().size() == 1);
  }
}

TEST_CASE("one of two engines was killed and taken note of: it failed, and that the run needs it is not certain") {
  World world;
  for (const int64_t pid : {200, 201}) world.engine(pid);
  world.pass(30);
  world.state(201, 'Z', kKilled);
  world.pass(0.5);
  world.end(201);
  world.training = false;
  world.pass(700);
  REQUIRE(world.trouble().size() == 2);
  CHECK(world.trouble()[0].health == Health::kGone);
  CHECK(world.trouble()[1].health == Health::kDead);
  for (const event::ComponentSaw& saw : world.trouble()) CHECK_FALSE(saw.certain);
}

TEST_CASE("the run's end takes its engine with it") {
  World world;
  world.engine();
  world.pass(30);
  SUBCASE("the trainer is gone first") { world.end(102); }
  SUBCASE("both fail") { world.state(102, 'Z', kKilled); }
  SUBCASE("its plan is done") { world.run.over = true; }
  world.training = false;
  world.state(200, 'Z', kKilled);
  world.pass(3600);
  CHECK(world.trouble().empty());
}

TEST_CASE("helpers that come and go are nobody's business") {
  World world;
  world.pass(30);
  for (int64_t pid = 300; pid < 340; ++pid) {
    world.put(pid, 102, 'S', "pt_data_worker");
    world.pass(3);
    if (pid % 2 == 0) world.end(pid);
    if (pid % 2 == 1) world.state(pid, 'Z', pid % 3 == 0 ? kKilled : 256);
    world.pass(1);
  }
  world.put(400, 102, 'S', "VLLM::EngineCor", "VLLM::EngineCore");  // an evaluation's own
  world.pass(5);
  world.state(400, 'Z', kKilled);
  world.pass(60);
  CHECK(world.trouble().empty());
}

TEST_CASE("a worker that died is reported once the trainer waits for it") {
  World world;
  world.put(300, 102, 'S', "rank1");
  world.pass(60);
  world.state(300, 'Z', 256);
  world.pass(30);
  CHECK(world.trouble().empty());  // the trainer does without
  world.training = false;
  world.pass(10);
  REQUIRE(world.trouble().size() == 1);
  CHECK(world.trouble()[0].kind == "other");
  CHECK(world.trouble()[0].certain);
  CHECK(contains(world.trouble()[0].text, "exit status 1"));
}

TEST_CASE("an engine that is stopped is reported, and that it goes on") {
  World world;
  world.engine();
  world.pass(30);
  world.training = false;
  world.state(200, 'T');
  world.pass(4);
  CHECK(world.trouble().empty());
  world.pass(6);
  REQUIRE(!world.trouble().empty());
  CHECK(world.trouble().back().health == Health::kFrozen);
  CHECK(world.trouble().back().certain);
  world.state(200, 'S');
  world.pass(1);
  CHECK(world.news.back().health == Health::kWell);
}

TEST_CASE("a run that a person paused is not reported as stopped, what somebody else stopped is") {
  World world;
  world.engine();
  world.pass(30);
  world.training = false;
  world.run.paused = true;
  for (const int64_t pid : {101, 102, 200}) world.state(pid, 'T');
  world.pass(3600);
  CHECK(world.trouble().empty());
  world.run.paused = false;
  world.pass(4);
  CHECK(world.trouble().empty());
  world.pass(3600);                      // all of it is stopped: somebody else's pause
  REQUIRE(world.trouble().size() == 2);  // that it is so, and that no step was done since
  CHECK(world.trouble()[1].component == "python3 (102)");
  CHECK(world.trouble()[1].health == Health::kFrozen);
  CHECK(world.trouble()[1].certain);
  for (const int64_t pid : {101, 102, 200}) world.state(pid, 'S');
  world.pass(1);
  CHECK(world.news.back().health == Health::kWell);
  CHECK(world.news.back().component == "python3 (102)");
}

TEST_CASE("a trainer that a debugger holds is stopped, and that is over when it ends") {
  World world;
  world.put(300, 102, 'S', "pt_data_worker");
  world.pass(30);
  world.training = false;
  world.state(102, 't');
  world.state(300, 't');
  world.pass(5.5);
  REQUIRE(world.trouble().size() == 1);  // at once, as nothing of the trainer goes on; certain after three usual steps
  CHECK(contains(world.trouble()[0].text, "Process 102 (python3) of the run was stopped by a debugger"));
  CHECK_FALSE(world.trouble()[0].certain);
  world.pass(10);
  REQUIRE(world.trouble().size() == 2);
  CHECK(world.trouble()[1].certain);
  world.state(300, 'S');
  world.end(102);
  world.pass(1);
  CHECK(world.news.back().component == "python3 (102)");
  CHECK(world.news.back().health == Health::kWell);
}

TEST_CASE("an engine that its framework starts anew is in order again") {
  World world;
  world.engine(200);
  world.pass(30);
  world.end(200);
  world.pass(10);
  REQUIRE(world.trouble().size() == 1);
  world.engine(201);
  world.pass(10);
  CHECK(world.news.back().health == Health::kWell);
  CHECK(world.news.back().component == "VLLM::EngineCor (200)");
  const size_t said = world.news.size();
  world.pass(60);
  CHECK(world.news.size() == said);
}

TEST_CASE("a keeper that took over finds the processes by their session") {
  World world;
  world.engine();
  world.put(102, 1, 'R', "python3");
  world.put(101, 1, 'S', "bash");
  world.pass(30);
  REQUIRE(world.news.size() == 1);
  world.state(200, 'Z', kKilled);
  world.pass(3);
  CHECK(world.trouble().size() == 1);
}

TEST_CASE("a server that was there before the run, and is none of its own, is somebody else's") {
  World world;
  const char* table = "   0: 0100007F:1F40 00000000:0000 0A 0:0 00:0 0 1000 0 7 1\n";
  world.system.files["/proc/100/net/tcp"] = table;
  world.pass(1);
  CHECK_FALSE(world.watch.elsewhere(8000));
  world.seconds += 60;  // the watch is paused, and an engine may have come and gone
  world.pass(0.5);
  CHECK_FALSE(world.watch.elsewhere(8000));
  world.pass(3);
  CHECK(world.watch.elsewhere(8000));
  CHECK_FALSE(world.watch.elsewhere(8001));  // nobody was seen there
  world.run.keeper = 0;
  world.system.files.erase("/proc/100/net/tcp");  // it dies
  world.pass(60);
  CHECK(world.watch.elsewhere(8000));
  SUBCASE("also after an attempt that found it dead") {
    world.run.keeper = 100;
    world.pass(5);
    CHECK(world.watch.elsewhere(8000));
  }
  SUBCASE("but not once the run itself listens there") {
    world.put(103, 102, 'S', "python3", std::string("python3\0-m\0http.server", 22));
    world.system.files["/proc/103/fd/3"] = "socket:[7]";
    world.system.files["/proc/103/net/tcp"] = table;
    world.run.keeper = 100;
    world.pass(5);
    CHECK_FALSE(world.watch.elsewhere(8000));
  }
}

TEST_CASE("a server that came up after the run began is somebody else's where no process of the run listens") {
  for (const bool own : {false, true}) {
    World world;
    const char* table = "   0: 0100007F:1F40 00000000:0000 0A 0:0 00:0 0 1000 0 7 1\n";
    world.pass(1);
    world.system.files["/proc/100/net/tcp"] = table;
    if (own) {
      world.put(103, 102, 'S', "python3", std::string("python3\0-m\0http.server", 22));
      world.system.files["/proc/103/fd/3"] = "socket:[7]";
      world.system.files["/proc/103/net/tcp"] = table;
    }
    world.watch.answered(8000);
    world.pass(5);
    CHECK(world.watch.elsewhere(8000) == !own);
  }
}
