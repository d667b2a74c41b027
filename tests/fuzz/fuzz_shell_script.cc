// links: sense
// Any bytes as a launch script, and its commands as arguments: both end within their limits.
#include <map>

#include "base/text.h"
#include "fuzz.h"
#include "sense/preflight/arguments.h"
#include "sense/preflight/shell_script.h"

namespace mw {

void fuzz_one(std::string_view input) {
  using namespace preflight;
  const std::string text(input);
  // Every file that it names is the script itself.
  ShellReader reader([&](const std::string&) { return std::optional<std::string>(text); },
                     {{"HOME", "/root"}, {"KEY", "<redacted>"}});
  reader.read(input, "f", {"one", "two"});
  const ShellScript script = reader.take();
  MW_CHECK(script.commands.size() <= ShellReader::kCommands);
  size_t bytes = 0;
  for (const ShellCommand& command : script.commands) {
    MW_CHECK(!command.words.empty() && command.words.size() <= ShellReader::kCommands);
    for (const ShellWord& word : command.words) {
      MW_CHECK(word.text.size() <= ShellReader::kWordBytes + 3);
      bytes += word.text.size();
    }
    const Launch launch = launch_of(command.words, [](const std::string& word) { return word == "rl"; });
    MW_CHECK(launch.begin <= launch.end && launch.end <= command.words.size());
    const Arguments arguments = read_arguments(command.words, launch.end);
    MW_CHECK(arguments.settings.all().size() <= command.words.size());
  }
  MW_CHECK(bytes <= ShellReader::kScripts * (input.size() + 64) + ShellReader::kExpanded + 4096);
}

std::vector<std::string> fuzz_seeds() {
  return {
      "set -ex\nexport A=${B:-${C:-8}}\nARGS=(\n --x \"$A\" # no\n)\npython3 -m t ${ARGS[@]} \"${ARGS[@]}\" k=v 2>&1 | "
      "tee log\n",
      "if [ -z \"$X\" ]; then N=1; else N=$(nproc); fi\nfor i in 1 2; do uv run rl @ a.toml --n $N; done\n",
      "cat <<EOF > x\n$A `b`\nEOF\nsource a.sh; bash b.sh \"$@\" && . c\nulimit -n 65536\n",
      "A=$A$A; A+=x; B=\"a\\\"b\" C='d' run $1 ${A%.*} ${#A} $((1+2)) $'x\\n'\n",
      "ray job submit --runtime-env-json=\"{\\\"a\\\": \\\"$B\\\"}\" -- python3 train.py --a 1\n"};
}

}  // namespace mw
