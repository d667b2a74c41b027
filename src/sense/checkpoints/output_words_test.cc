#include "sense/checkpoints/output_words.h"

#include <doctest/doctest.h>

namespace mw {
namespace {

using Folders = std::vector<std::string>;

TEST_CASE("a command's words name the folder in which it saves") {
  CHECK(output_folders({"python", "grpo.py", "--output_dir", "out", "--seed", "7"}, "/w") == Folders{"/w/out"});
  CHECK(output_folders({"python", "grpo.py", "--output-dir=/data/out/"}, "/w") == Folders{"/data/out"});
  CHECK(output_folders({"python", "-m", "verl", "trainer.default_local_dir=ckpts/a"}, "/w") == Folders{"/w/ckpts/a"});
  CHECK(output_folders({"bash", "-c", "cd x; python grpo.py --output_dir 'out' && echo --save"}, "/w") ==
        Folders{"/w/out"});
  CHECK(output_folders({"train", "--ckpt.path", "a", "--save", "b", "--load", "c"}, "/w") == Folders{"/w/b"});
}

TEST_CASE("what is no folder of its own is none") {
  CHECK(output_folders({"python", "--output_dir", "$OUT", "--save_dir", "s3://b/run", "--save"}, "/w").empty());
  CHECK(output_folders({"python", "--save", "--seed", "7", "save"}, "/w").empty());
  CHECK(output_folders({"python", "--model", "out", "data.output_dir_name=x"}, "/w").empty());
}

}  // namespace
}  // namespace mw
