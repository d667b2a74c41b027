#include "sense/preflight/shell_script.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "sense/preflight/arguments.h"

using namespace mw;
using namespace mw::preflight;

namespace {

std::map<std::string, std::string> files;

ShellScript script(std::string_view text, const std::map<std::string, std::string>& environment = {},
                   const std::vector<std::string>& arguments = {}) {
  ShellReader reader(
      [](const std::string& path) {
        const auto at = files.find(path);
        return at == files.end() ? std::optional<std::string>() : at->second;
      },
      environment);
  reader.read(text, "t.sh", arguments);
  return reader.take();
}

/// Commands as lines, words in brackets, unsure ones with a question mark.
std::string lines(const ShellScript& script) {
  std::string out;
  for (const ShellCommand& command : script.commands) {
    for (const ShellWord& word : command.words) out += cat(word.text, word.unsure ? "? " : " ");
    out += "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("words: quotes, continued lines, comments, variables") {
  CHECK(lines(script("# nothing\npython 'a b'.py \\\n  --x=\"$N\" --y ${M:-7} # end\n", {{"N", "3"}})) ==
        "python a b.py --x=3 --y 7 \n");
  CHECK(lines(script("A=1; B=\"$A 2\"\nrun $B \"$B\"\n")) == "run 1 2 1 2 \n");
  CHECK(lines(script("run $NOBODY $(nproc) `date` ${X%.*}\n")) == "run $NOBODY? $(nproc)? $(...)? $X? \n");
  CHECK(script("run \"$A\"\n", {{"A", "<redacted>"}}).commands.at(0).words.at(1).unsure);
}

TEST_CASE("each word knows its line") {
  const ShellScript read = script("set -ex\n\npython a.py \\\n  --n 1 \\\n  --m 2\n");
  REQUIRE(read.commands.size() == 2);
  CHECK(place_text(read.commands[1].words[3].place) == "t.sh:4");
  CHECK(place_text(read.commands[1].words[5].place) == "t.sh:5");
}

TEST_CASE("arrays, with comments in them") {
  const ShellScript read = script(
      "ARGS=(\n  --lr 1e-6\n  # --wd 0.1\n  --name \"a b\"\n)\nMORE=()\nARGS+=(--last)\npython t.py ${ARGS[@]} "
      "\"${MORE[@]}\" \"${ARGS[@]}\"\n");
  CHECK(lines(read) == "python t.py --lr 1e-6 --name a b --last  --lr 1e-6 --name a b --last \n");
}

TEST_CASE("pipes, redirections, conditions, loops and here documents") {
  CHECK(lines(script("a 2>&1 | tee log >>more && b; (c) & d <in\n")) == "a \ntee log \nb \nc \nd \n");
  CHECK(lines(script("cat <<EOF > x\nrm -rf $HOME\nEOF\nnext\n")) == "cat \nnext \n");
  CHECK(lines(script("if [ -n \"$X\" ]; then\n  N=8\nelse\n  N=1\nfi\nrun $N\nfor i in 1 2; do\n  step $i\ndone\n")) ==
        "[ -n $X? ] \nrun 1? \nstep $i? \n");
}

TEST_CASE("exports, limits, folders, other scripts") {
  files = {{"env.sh", "export A=5\nB=6\n"}, {"go.sh", "python t.py $1 \"$@\" $A $B\n"}};
  const ShellScript read = script(
      "source env.sh\nulimit -n 65536\nulimit -c 0\nexport TOKEN=$(cat secret)\nC=1 bash go.sh x y\nbash gone.sh\n");
  CHECK(read.open_files == 65536);
  CHECK(read.core_bytes == 0);
  CHECK(read.exported.at(0).at("A").text == "5");
  CHECK(read.exported.at(0).count("B") == 0);
  CHECK(read.exported.at(0).at("TOKEN").unsure);
  CHECK(lines(read) == "python t.py x x y 5 $B? \nbash go.sh x y \nbash gone.sh \n");
  CHECK(read.commands.at(0).process == 1);
  CHECK(read.commands.at(1).process == 0);
  REQUIRE(read.unread.size() == 1);
  CHECK(read.unread[0].line == 6);
  files.clear();
}

TEST_CASE("hostile scripts come to an end within their limits") {
  std::string doubling = "A=xxxxxxxxxxxxxxxx\n";
  for (int i = 0; i < 60; ++i) doubling += "A=$A$A\n";
  for (int i = 0; i < 300; ++i) doubling += "run $A $A $A\n";
  size_t bytes = 0;
  for (const ShellCommand& command : script(doubling).commands) {
    for (const ShellWord& word : command.words) bytes += word.text.size();
  }
  CHECK(bytes < 2 * ShellReader::kExpanded);
  files = {{"own.sh", "bash own.sh\nsource own.sh\n"}};
  CHECK(!script("bash own.sh\n").unread.empty());
  files.clear();
  for (const std::string& text :
       {std::string(5000, '('), std::string("${") + std::string(3000, '{'), std::string("\"$("), std::string("a=("),
        std::string("<<"), std::string("${a:-${b:-${c:-"), std::string("'")}) {
    (void)script(text);
  }
}

TEST_CASE("arguments: options, hydra, files") {
  const auto read = [](std::string_view line) {
    const ShellScript whole = script(line);
    return read_arguments(whole.commands.at(0).words, 1);
  };
  const Arguments one = read(
      "rl @ a.toml --trainer @ t.toml --ckpt --ckpt.keep-last 2 --x=1 --list a b --neg -1 +new.key=3 ~gone 'q=[1,2]' "
      "l[0].m=true\n");
  REQUIRE(one.files.size() == 2);
  CHECK(one.files[0].path == "a.toml");
  CHECK(one.files[1].prefix == "trainer");
  CHECK(one.settings.find("ckpt.keep_last")->number == 2);
  CHECK(one.settings.find("x")->number == 1);
  CHECK(one.settings.find("list")->text == "a b");
  CHECK(one.settings.find("neg")->number == -1);
  CHECK(one.settings.find("new.key")->number == 3);
  CHECK(one.settings.find("q")->number == 2);
  CHECK(one.settings.find("l.0.m")->number == 1);
  CHECK(one.removed == std::vector<std::string>{"gone"});
  const Arguments hydra = read("main --config-path conf --config-name base trainer.n=1\n");
  REQUIRE(hydra.files.size() == 1);
  CHECK(hydra.files[0].path == "conf/base.yaml");
  CHECK(hydra.files[0].maybe);
  const Arguments config = read("t.py --config g.yaml scheduler.type=local --config_file x.txt\n");
  REQUIRE(config.files.size() == 1);
  CHECK(config.settings.find("scheduler.type")->text == "local");
}
