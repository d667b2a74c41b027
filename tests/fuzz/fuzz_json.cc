// links: base
#include <cmath>

#include "base/json.h"
#include "fuzz.h"

namespace {

class Count : public mw::JsonLeaves {
 public:
  void number(std::string_view, double) override { ++leaves; }
  void string(std::string_view path, std::string_view value) override {
    leaves += 1 + 0 * (path.size() + value.size());
  }
  size_t leaves = 0;
};

}  // namespace

std::vector<std::string> mw::fuzz_seeds() {
  return {R"({"a": [1, -2.5e-3, {"b": null}], "c": "\u00e9\n", "d": true, "e": NaN})", "[[[[1]]]]", "-Infinity",
          "\"x\""};
}

void mw::fuzz_one(std::string_view input) {
  const auto parsed = Json::parse(input);
  Count count;
  const bool whole = for_each_leaf(input, count);
  MW_CHECK(parsed.ok() == whole);
  std::string out;
  JsonWriter(out).begin_object().key(input).string(input).end_object();
  const auto again = Json::parse(out);
  MW_CHECK(again.ok());
}
