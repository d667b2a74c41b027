#include "app/config/config.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "app/config/cleanup_settings.h"
#include "app/config/rule_settings.h"
#include "app/config/scrape_settings.h"
#include "app/config/settings.h"
#include "base/secrets.h"
#include "base/text.h"
#include "base/units.h"
#include "platform/fake/fake_disk.h"
#include "platform/paths.h"

namespace mw {
namespace {

Config parse(std::string_view text) { return Config::parse(text, "/etc/run/midwatch.toml"); }

/// The first problem as "line: what | hint".
std::string first_problem(std::string_view text) {
  const Config config = parse(text);
  if (config.problems().empty()) return "";
  const ConfigProblem& first = config.problems().front();
  return cat(first.line, ": ", first.what, " | ", first.hint);
}

TEST_CASE("docs/config.md is that of the table") {
  const std::string path = MW_SOURCE_DIR "/docs/config.md", page = config_page();
  if (std::getenv("MIDWATCH_UPDATE_DOCS") != nullptr) std::ofstream(path) << page;
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  CHECK_MESSAGE((text.str() == page), path << " is out of date: run MIDWATCH_UPDATE_DOCS=1 build/tests/test_app");
}

TEST_CASE("names of midwatch 0.1 are still read") {
  const Config config = parse("[free-space]\nmode = \"act\"\nwhat = [\"set-aside\", \"core-dumps\"]\n");
  CHECK(config.problems().empty());
  CHECK(config.text("cleanup.mode") == "act");
  CHECK(config.texts("cleanup.what") == std::vector<std::string>{"quarantine", "core-dumps"});
  CHECK(first_problem("[free-spaces]\nmode = \"act\"\n") != "");
}

TEST_CASE("a signal of keep_best that nobody knows is doubted before the run begins") {
  const auto doubt = [](std::string_view text) { return doubt_of_rules(cleanup_settings(parse(text))); };
  CHECK(doubt("[retention]\nkeep_last = 2\n").empty());
  CHECK(doubt("[retention]\nkeep_last = 2\nkeep_best = \"reward.mean\"\n").empty());
  CHECK(doubt("[retention]\nkeep_best = \"reward.men\"\n").empty());  // nothing is deleted anyway
  const std::string said = doubt("[retention]\nkeep_last = 2\nkeep_best = \"reward.men\"\n");
  CHECK(contains(said, "\"reward.men\" of [retention] is no signal that midwatch knows (the closest is reward.mean)"));
  CHECK(cleanup_settings(parse("")).disk_share == 0.85);
}

TEST_CASE("a [retention] that no folder of checkpoints goes with is a warning of config check") {
  FakeDisk disk;
  const auto warnings = [&disk](std::string_view text) { return config_answer(disk, parse(text)).warnings.size(); };
  CHECK(warnings("[retention]\nkeep_last = 2\n") == 1);
  CHECK(warnings("[retention]\nkeep_last = 2\n[run]\ncheckpoints = [\"ckpts\"]\n") == 0);
  CHECK(warnings("[retention]\nkeep_every = 50\n") == 0);
}

TEST_CASE("every key has a section, a purpose, and a default with its reason") {
  for (const ConfigKey& key : config_keys()) {
    CAPTURE(std::string(key.path));
    bool placed = false;
    for (const ConfigSection& section : config_sections())
      placed = placed || key.path.substr(0, key.path.rfind('.')) == section.path;
    CHECK(placed);
    CHECK_FALSE(key.does.empty());
    if (!key.otherwise.empty()) CHECK_FALSE(key.reason.empty());
  }
}

TEST_CASE("what the machines cost arrives in runs and in watches, and is a number from 0 up") {
  const Config config = parse("[run]\ncost_per_hour = 5.73\n");
  RunRequest run;
  apply(config, run);
  CHECK(run.cost_per_hour == 5.73);
  AttachRequest attach;
  apply(config, attach);
  CHECK(attach.cost_per_hour == 5.73);
  for (const char* wrong : {"-1", "1e7", "\"5.73\"", "nan"}) {
    CAPTURE(wrong);
    CHECK(first_problem(cat("[run]\ncost_per_hour = ", wrong, "\n")) != "");
  }
}

TEST_CASE("without a file the settings are those of a request that nobody touched") {
  const Config none = Config::parse("", "");
  CHECK(none.check().ok());
  RunRequest run;
  apply(none, run);
  CHECK(run_spec_text(run.spec) == run_spec_text(RunSpec()));  // every setting of a supervised run
  CHECK(run.home.empty());
  AttachRequest attach;
  apply(none, attach);
  CHECK(attach.poll_s == AttachRequest().poll_s);
  CHECK(attach.exit_after_idle_s == AttachRequest().exit_after_idle_s);
}

/// One of the choices of a key that is not its default.
std::string_view other_choice(const ConfigKey& key) {
  const std::string_view first = key.choices.substr(0, key.choices.find(' '));
  return key.otherwise == cat("\"", first, "\"") ? key.choices.substr(key.choices.rfind(' ') + 1) : first;
}

TEST_CASE("every setting of a supervised run that has a key arrives from the file") {
  for (const RunSetting& setting : run_settings()) {
    if (setting.config.empty()) continue;
    CAPTURE(setting.config);
    const size_t dot = setting.config.find('.');
    const ConfigKey* key = nullptr;
    for (const ConfigKey& one : config_keys()) key = one.path == setting.config ? &one : key;
    REQUIRE(key != nullptr);
    // A value of that kind that is not its default.
    using Kind = ConfigKey::Kind;
    const std::string value = key->kind == Kind::kBoolean    ? key->otherwise == "true" ? "false" : "true"
                              : key->kind == Kind::kInteger  ? "3"
                              : key->kind == Kind::kDuration ? "\"77s\""
                              : key->kind == Kind::kSize     ? "\"1MiB\""
                              : key->path == "run.timezone"  ? "\"+01:00\""
                              : key->path == "run.notices"   ? "[\"aws\"]"
                              : key->kind == Kind::kText     ? "\"text\""
                              : key->kind == Kind::kChoice   ? cat("\"", other_choice(*key), "\"")
                                                             : "[\"/a/b\"]";
    const Config config =
        parse(cat("[", setting.config.substr(0, dot), "]\n", setting.config.substr(dot + 1), " = ", value, "\n"));
    REQUIRE(config.check().ok());
    RunRequest run;
    apply(config, run);
    run.spec.config.clear();
    CHECK(run_spec_text(run.spec) != run_spec_text(RunSpec()));
  }
}

TEST_CASE("what a file says arrives") {
  const Config config = parse(R"(
[run]
command = ["bash", "train.sh"]
watch = ["out", "/data/tb"]
home = "records"
restarts = 2
rotate = "1MiB"
first_wait = "1m 30s"
breaker = false
)");
  REQUIRE(config.check().ok());
  RunRequest run;
  apply(config, run);
  CHECK(run.spec.command == std::vector<std::string>{"bash", "train.sh"});
  CHECK(run.spec.also == std::vector<std::string>{"/etc/run/out", "/data/tb"});
  CHECK(run.home == "/etc/run/records");
  CHECK(run.spec.limits.restarts == 2);
  CHECK(run.spec.rotate_bytes == 1 << 20);
  CHECK(run.spec.limits.first_wait == Duration::seconds(90));
  CHECK_FALSE(run.spec.breaker);
  CHECK(config.given("run.restarts"));
  CHECK_FALSE(config.given("run.grace"));
  CHECK(config.find("run.restarts")->line == 6);
}

TEST_CASE("what is wrong is refused with its line and a way out") {
  CHECK(first_problem("[run]\nrestart = 3") == "2: unknown key \"restart\" in [run] | Did you mean restarts?");
  CHECK(first_problem("[runn]\nrestarts = 3") == "1: unknown section \"runn\" | Did you mean run?");
  CHECK(first_problem("[notify.phone]\nkind = \"ntfy\"") ==
        "1: unknown section \"phone\" in [notify] | Write [notify.channel.phone]");
  CHECK(first_problem("[hook.a]\ncommand = [\"true\"]\nevents = []") ==
        "3: hook a names no event, so nothing ever runs it | Leave events out for opened, asks and stopped, or name "
        "some.");
  CHECK(first_problem("restarts = 3") == "1: unknown key \"restarts\" | restarts belongs into [run].");
  CHECK(first_problem("[attach]\nbreaker = true") ==
        "2: unknown key \"breaker\" in [attach] | breaker belongs into [run].");
  CHECK(first_problem("[run]\ngrace = 30") ==
        "2: run.grace is a duration, such as \"30s\", not an integer | Give it a unit: \"30s\"");
  CHECK(first_problem("[run]\ngrace = \"30 parsecs\"") ==
        "2: run.grace: \"parsecs\" is not a unit of a duration | "
        "Write a number with ms, s, m, h or d: \"30s\", \"1h 30m\".");
  CHECK(first_problem("[run]\ngrace = \"2d\"") == "2: run.grace is out of its range | It goes from 0s to 1d.");
  CHECK(first_problem("[run]\nrestarts = -1") == "2: run.restarts is out of its range | It goes from 0 to 1000000.");
  CHECK(first_problem("[run]\nrestarts = \"3\"") == "2: run.restarts is a whole number, not a string | ");
  CHECK(first_problem("[run]\nbreaker = \"no\"") ==
        "2: run.breaker is true or false, not a string | Write true or false, without quotes.");
  CHECK(first_problem("[run]\ncommand = \"bash train.sh\"") ==
        "2: run.command is a program and its arguments, such as [\"bash\", \"train.sh\"], not a string | "
        "Write [\"bash\", \"-c\", \"bash train.sh\"], or a string for each word.");
  CHECK(first_problem("[run]\ncommand = []") == "2: run.command names no program | ");
  CHECK(first_problem("[run]\nhome = \"/\"").find("2: run.home: \"/\" is the root of all files") == 0);
  CHECK(first_problem("[run]\nhome = \"/proc/1\"").find("2: run.home: \"/proc/1\" is a file system of the kernel") ==
        0);
  CHECK(first_problem("[run]\ncheckpoints = [\"/\"]").find("2: run.checkpoints: \"/\" is the root of all files") == 0);
  CHECK(first_problem("[run]\ncheckpoints = [\"../x\"]").find("goes up by \"..\"") != std::string::npos);
  CHECK(first_problem("[run]\ncheckpoints = [\"/data/my-run\"]").empty());
  CHECK(first_problem("run = 3") == "1: \"run\" is a section, not an integer | Write [run]");
  CHECK(first_problem("[run]\nname = \"a\nb\"").find("2: ") == 0);
}

TEST_CASE("a rule of the user's own is read as it is written") {
  const Config config = parse(R"(
[rule.reward-too-low]
signal = "reward.mean"
below = 0.05
for = 5
after_step = 20
severity = "critical"
breaker = true
text = "Check the verifier."

[rule.full]
signal = "disk.free:/data"
below = 50_000_000_000
above = 1e30
)");
  REQUIRE(config.check().ok());
  const std::vector<UserRule> rules = user_rules(config);
  REQUIRE(rules.size() == 2);
  CHECK(rules[0].name == "full");
  CHECK(rules[0].below == 5e10);
  CHECK((rules[0].points == 3 && rules[0].severity == Severity::kWarning && !rules[0].breaker));
  const UserRule& low = rules[1];
  CHECK((low.signal == "reward.mean" && low.below == 0.05 && !low.above));
  CHECK((low.points == 5 && low.after_step == 20 && low.severity == Severity::kCritical && low.breaker));
  CHECK(low.text == "Check the verifier.");
  CHECK(value_text(*config.find("rule.reward-too-low.below")) == "0.05");
}

TEST_CASE("what is wrong with a rule is refused with its line and a way out") {
  CHECK(first_problem("[rule.a]\nsignal = \"x\"\nbelow = \"0.1\"") ==
        "3: rule.*.below is a number, not a string | Write it without quotes and without a unit, as 0.05 or 5e9.");
  CHECK(first_problem("[rule.a]\nsignal = \"x\"\nbelow = nan").starts_with("3: rule.*.below is a number"));
  CHECK(first_problem("[rule.a]\nsignal = \"x\"\nbelow = 1\nfor = 0").starts_with("4: rule.*.for is out of its range"));
  CHECK(first_problem("[rule.a]\nbelow = 1").starts_with("1: rule a names no signal | "));
  CHECK(first_problem("[rule.a]\nsignal = \"x\"") == "1: rule a has no bounds | Give it below = …, above = … or both.");
  CHECK(first_problem("[rule.a]\nsignal = \"x\"\nbelow = 2\nabove = 1").starts_with("4: rule a: every value is below"));
  CHECK(first_problem("[rule.a]\nsignal = \"x\"\nbelow = 2\nbreaker = true") ==
        "4: rule a ends the attempt, and is not critical | Write severity = \"critical\".");
  CHECK(first_problem("[rule.a]\nsignal = \"x\"\nbellow = 2") ==
        "3: unknown key \"bellow\" in [rule.a] | Did you mean below?");
  CHECK(first_problem("[rule]\nbelow = 2") == "2: [rule] needs a name | Write [rule.NAME]");
  CHECK(first_problem("[[rule.x]]\nbelow = 2") == "1: \"x\" is a section, not an array | Write [rule.x]");
  CHECK(first_problem("[[rule]]\nsignal = \"x\"").starts_with("1: "));
}

TEST_CASE("endpoints are read as they are written, and what is wrong is refused") {
  const Config config = parse(R"toml(
[scrape.gateway]
address = "http://10.0.0.9:9400"
metrics = ["queue_depth", "rate(errors_total)"]
every = "5s"
[scrape.other]
address = "https://h/own/path"
metrics = ["a:b"]
)toml");
  REQUIRE(config.check().ok());
  const auto all = endpoints_of(config);
  REQUIRE(all.size() == 2);
  CHECK(all[0].url == "http://10.0.0.9:9400/metrics");
  CHECK((all[0].every.seconds() == 5 && all[0].timeout.seconds() == 10));
  REQUIRE(all[0].figures.size() == 2);
  CHECK((all[0].figures[0].metric == "queue_depth" && !all[0].figures[0].rate));
  CHECK((all[0].figures[1].metric == "errors_total" && all[0].figures[1].rate));
  CHECK(all[0].figures[1].shown == "rate(errors_total)");
  CHECK(all[1].url == "https://h/own/path");
  CHECK(
      first_problem("[component.e]\naddress = \"http://h:8000/v1/\"").starts_with("2: component e: the address ends"));
  CHECK(first_problem("[component.e]\naddress = \"http://h:8000\"").empty());
  CHECK(first_problem("[scrape.a]\naddress = \"http://h\"").starts_with("1: scrape a names no metric | Write metrics"));
  CHECK(first_problem("[scrape.a]\nmetrics = [\"x\"]").starts_with("1: scrape a: the address is none | "));
  CHECK(first_problem("[scrape.a]\naddress = \"file:///etc\"\nmetrics = [\"x\"]")
            .starts_with("2: scrape a: the address"));
  CHECK(first_problem("[scrape.a]\naddress = \"http://h\"\nmetrics = [\"x{y=1}\"]")
            .starts_with("3: scrape a: \"x{y=1}\" is no metric"));
  CHECK(first_problem("[scrape.a]\naddress = \"http://h\"\nmetrics = [\"rate(x\"]").starts_with("3: scrape a: "));
}

TEST_CASE("a knowledge folder's rules are those of the settings, and nothing else") {
  const auto rules = read_user_rules("[rule.a]\nsignal = \"x\"\nbelow = 1\n", "own/rules/a.toml");
  REQUIRE(rules.ok());
  CHECK(rules->size() == 1);
  const auto other = read_user_rules("[rule.a]\nsignal = \"x\"\nbelow = 1\n[run]\nrestarts = 1\n", "own/rules/a.toml");
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().what.find("a.toml:5: run.restarts is no part of a rule") != std::string::npos);
  CHECK_FALSE(read_user_rules("[rule.a]\nsignal = \"x\"\n", "own/rules/a.toml").ok());
}

TEST_CASE("all problems are found at once, in order") {
  const Config config = parse("[run]\nx = 1\nrestarts = -1\n[attach]\npoll = 3\n");
  REQUIRE(config.problems().size() == 3);
  CHECK(config.problems()[0].line == 2);
  CHECK(config.problems()[2].line == 5);
  const auto checked = config.check();
  REQUIRE_FALSE(checked.ok());
  CHECK(checked.error().what.find("/etc/run/midwatch.toml:2: ") == 0);
  CHECK(checked.error().hint.find("2 more") != std::string::npos);
}

TEST_CASE("durations and sizes are read as they are written") {
  CHECK(parse_duration("250ms")->ns == 250'000'000);
  CHECK(parse_duration("1h 30m")->seconds() == 5400);
  CHECK(parse_duration("1.5d")->seconds() == 129600);
  for (const char* wrong : {"", "30", "s", "-3s", "1e400s", "nan s", "3 weeks", "30ss", "1h30"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_duration(wrong).ok());
  }
  CHECK(*parse_size("5GiB") == int64_t{5} << 30);
  CHECK(*parse_size("1.5 MB") == 1'500'000);
  CHECK_FALSE(parse_size("5G").ok());
  CHECK_FALSE(parse_size("1e30TB").ok());
  for (const char* text : {"0s", "250ms", "30s", "1m 30s", "15m", "1h", "1d", "1d 1h 1m 1s 1ms"}) {
    CHECK(duration_text(*parse_duration(text)) == text);
  }
  for (const char* text : {"0B", "1B", "1500B", "10KB", "5GiB", "3TB", "512MiB"})
    CHECK(size_text(*parse_size(text)) == text);
}

TEST_CASE("the defaults that are documented read back as themselves") {
  const Config none = Config::parse("", "");
  for (const auto& one : none.all()) {
    CAPTURE(one.first);
    CHECK(value_text(*one.second) == one.second->key->otherwise);
  }
}

TEST_CASE("folders in which things may be deleted are named with care") {
  for (const char* wrong :
       {"", "data", "/", "//", "/.", "/data/..", "/data/../etc", "/etc", "/usr/lib/x", "/home", "/tmp", "/proc/self"}) {
    CAPTURE(wrong);
    CHECK_FALSE(check_root(wrong).ok());
  }
  char folder[] = "/tmp/midwatch-root-XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const std::string real = cat(folder, "/here"), link = cat(folder, "/link");
  CHECK(*check_root(cat(real, "//./x/")) == real + "/x");  // not there yet
  REQUIRE(symlink("/usr", link.c_str()) == 0);
  const auto led = check_root(link);
  REQUIRE_FALSE(led.ok());
  CHECK(led.error().what.find("through a link to \"/usr\"") != std::string::npos);
  CHECK_FALSE(check_root(link + "/lib").ok());
  unlink(link.c_str());
  rmdir(folder);
}

TEST_CASE("paths start from the file's folder") {
  CHECK(absolute_path("a//b/./c/", "/x") == "/x/a/b/c");
  CHECK(absolute_path("/a", "/x") == "/a");
  CHECK(absolute_path("../a", "/x") == "/x/../a");
  CHECK(absolute_path(".", "/x") == "/x");
  setenv("HOME", "/home/of/tests", 1);
  CHECK(absolute_path("~/a", "/x") == "/home/of/tests/a");
  CHECK(absolute_path("~other/a", "/x") == "/x/~other/a");
}

TEST_CASE("a run's store reaches its specification, a folder from the file's own") {
  const auto of = [](const std::string& text) {
    const Config config = Config::parse(text, "/x/midwatch.toml");
    REQUIRE(config.check().ok());
    RunRequest run;
    apply(config, run);
    return run.spec;
  };
  CHECK(of("").store.empty());
  CHECK(of("").store_limit == 0);
  const RunSpec spec =
      of("[store]\nplace = \"share/run\"\nlimit = \"50MB\"\nparallel = 2\nwait = \"1m\"\naddressing = \"path\"\n");
  CHECK(spec.store == "/x/share/run");
  CHECK(spec.store_limit == 50'000'000);
  CHECK(spec.store_parallel == 2);
  CHECK(spec.store_wait.seconds() == 60);
  CHECK(spec.store_addressing == "path");
  CHECK(of("[store]\nplace = \"s3://bucket/run\"\n").store == "s3://bucket/run");
  CHECK(of("[store]\nplace = \"/mnt/share/run\"\n").store == "/mnt/share/run");
}

TEST_CASE("a run's name is refused where it is written, and for what is wrong with it") {
  CHECK(contains(first_problem("[run]\nname = \"a b\"\n"), "2: a run cannot be called 'a b' | Use letters, digits"));
  CHECK(contains(first_problem(cat("[run]\nname = \"", std::string(300, 'a'), "\"\n")), "at most 200 letters"));
  CHECK(first_problem("[run]\nname = \"grpo_qwen-7b.2\"\n").empty());
}

TEST_CASE("a variable that the settings name as a secret's is one wherever it stands") {
  FakeDisk disk;
  disk.put("/etc/midwatch.toml",
           "[notify.channel.web]\nkind = \"webhook\"\nurl = \"http://127.0.0.1:1/\"\n"
           "token = { env = \"MIDWATCH_TEST_PLAIN\" }\n");
  CHECK_FALSE(names_secret("MIDWATCH_TEST_PLAIN"));
  REQUIRE(load_config(disk, "/etc/midwatch.toml").ok());
  CHECK(names_secret("MIDWATCH_TEST_PLAIN"));
  CHECK(redacted_setting("MIDWATCH_TEST_PLAIN", "some words") == kRedacted);
  KnownSecrets known;
  known.learn("MIDWATCH_TEST_PLAIN", "VERYSECRET-42");
  CHECK(known.hide("says VERYSECRET-42!") == "says <redacted>!");
}

TEST_CASE("what a run would be refused for, or would do nothing, is a problem of the file") {
  const auto problems = [](std::string_view text) { return Config::parse(text, "/etc/midwatch.toml").problems(); };
  for (const std::string_view text :
       {"[run]\ntimezone = \"Europe/Berlin\"\n", "[run]\nnotices = [\"azur\"]\n", "[store]\nplace = \"gs://b/r\"\n",
        "[store]\nplace = \"\"\n", "[retention]\nkeep_best = \"max:\"\n",
        "[run]\nresume = [\"--resume\", \"{pth}\"]\n"}) {
    CAPTURE(std::string(text));
    REQUIRE(problems(text).size() == 1);
    CHECK(problems(text)[0].line == 2);
    CHECK(!problems(text)[0].hint.empty());
  }
  for (const std::string_view text :
       {"[run]\ntimezone = \"+02:00\"\n", "[run]\nnotices = [\"aws\", \"file:/run/going\"]\n", "[run]\nnotices = []\n",
        "[store]\nplace = \"s3://b/r\"\n", "[store]\nplace = \"share/run\"\n", "[retention]\nkeep_best = \"max:a/b\"\n",
        "[run]\nresume = [\"--resume={path}\", \"{\\\"at\\\": {step}}\"]\n"}) {
    CAPTURE(std::string(text));
    CHECK(problems(text).empty());
  }
}

TEST_CASE("a secret is found where it is said to be, and errors do not tell it") {
  FakeDisk disk;
  setenv("MIDWATCH_TEST_SECRET", "from-the-environment", 1);
  CHECK(*reveal(disk, {Secret::From::kEnvironment, "MIDWATCH_TEST_SECRET"}) == "from-the-environment");
  CHECK_FALSE(reveal(disk, {Secret::From::kEnvironment, "MIDWATCH_TEST_MISSING"}).ok());
  CHECK(*reveal(disk, {Secret::From::kText, "as it is"}) == "as it is");
  CHECK_FALSE(reveal(disk, {Secret::From::kFile, "/nowhere"}).ok());
}

}  // namespace
}  // namespace mw
