#include "read/lines/open_brackets.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

namespace mw {
namespace {

/// Whether each line may go on what those before it opened.
bool whole(std::initializer_list<std::string_view> lines) {
  OpenBrackets open;
  bool first = true;
  for (const std::string_view line : lines) {
    if (!first && !open.goes_on_with(line)) return false;
    open.read(line);
    first = false;
  }
  return true;
}

TEST_CASE("a printed dict goes on with names, values and closing brackets") {
  CHECK(whole(
      {"{", "\"loss\": 0.5,", "\"parts\": [", "1,", "-2.5,", "null", "],", "\"all\": {", "\"a\":", "3", "}", "}"}));
  CHECK(
      whole({"{'loss': 0.5,", "'reward': np.float64(0.25),", "3: 0.5,", "'list': [1,", "2],", "'text': 'a '", "'b'}"}));
  CHECK(whole({"{'a':", "array([1, 2]),", "'it\\'s': None}"}));
  CHECK(whole({"{\"text\": \"it's {\",", "\"b\": true}"}));
}

TEST_CASE("what follows an answer that is cut within a dict is none of it") {
  CHECK_FALSE(whole({"{", "\"name\": \"John\",", "step 101/400 loss=0.5"}));
  CHECK_FALSE(whole({"{", "\"name\": \"Jo", "hn\""}));
  CHECK_FALSE(whole({"{\"name\": \"f\", \"arguments\": {\"x\": 1}", "</tool_call>"}));
  CHECK_FALSE(whole({"{\"name\": \"f\", \"arguments\": {\"x\": 1}", "{\"name\": \"f\"}"}));
  CHECK_FALSE(whole({"{'question': 'x',", "'answer': [1,", "Epoch:[1/1](7550/9751), Reward: -2.5754"}));
  CHECK_FALSE(whole({"{'question': 'x',", "12 | 0.5 | 0.25"}));
  CHECK_FALSE(whole({"{\"items\": [", "1,", "2,", "[14] loss 0.5 reward 0.25"}));
  CHECK_FALSE(whole({"{\"items\": [", "1,", "2,", "14    0.5    0.25"}));
  CHECK(whole({"{\"items\": [", "[1, 2],", "[", "3,", "4.5e-3", "],", "[5]", "]}"}));
  CHECK_FALSE(whole({"{\"a\": [1}", "\"b\": 2}"}));
  CHECK_FALSE(whole({"{\"a\": 1}", "\"b\": 2"}));
}

}  // namespace
}  // namespace mw
