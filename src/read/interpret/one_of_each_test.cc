#include "read/interpret/one_of_each.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mw {
namespace {

/// Names of one signal, as a dialect has them: those that stand first in the file first.
struct Names {
  KnownName& add(const std::string& raw, bool part = false, const std::string& signal = "time.train") {
    all.push_back(std::make_unique<KnownName>());
    KnownName& name = *all.back();
    name.raw = raw;
    name.means.signal = signal;
    name.means.part = part;
    name.means.rank = all.size();
    return name;
  }
  std::vector<std::unique_ptr<KnownName>> all;
};

/// "signal raw=value" of what the record has.
std::vector<std::string> record_of(OneOfEach& signals, const std::vector<std::pair<KnownName*, double>>& figures) {
  std::vector<Reading> readings;
  signals.begin_record();
  for (const auto& [name, value] : figures) {
    signals.add(*name, value, Reading(name->means.signal, name->raw, value), readings);
  }
  std::vector<std::string> said;
  for (const Reading& one : readings) {
    said.push_back(one.signal() + " " + one.raw() + "=" + std::to_string(static_cast<int>(one.value)));
  }
  return said;
}

using Said = std::vector<std::string>;

}  // namespace

TEST_CASE("of several names of one signal the one that stands first in the dialect counts") {
  Names names;
  KnownName& whole = names.add("gen");
  KnownName& within = names.add("generate_sequences");
  KnownName& other = names.add("reward", false, "time.reward");
  OneOfEach signals;
  const Said expected = {"time.train gen=25", "time.reward reward=1", " generate_sequences=3"};
  CHECK(record_of(signals, {{&whole, 25}, {&other, 1}, {&within, 3}}) == expected);
  CHECK(record_of(signals, {{&within, 3}, {&other, 1}, {&whole, 25}}) == expected);
  CHECK(record_of(signals, {{&within, 4}}) == Said{"time.train generate_sequences=4"});
}

TEST_CASE("parts add up, under one name in whichever order they come") {
  Names names;
  KnownName& actor = names.add("actor", true);
  KnownName& critic = names.add("critic", true);
  KnownName& also = names.add("also", true);
  OneOfEach signals;
  CHECK(record_of(signals, {{&actor, 70}, {&critic, 74}}) ==
        Said{"time.train actor + critic=144", " actor=70", " critic=74"});
  CHECK(record_of(signals, {{&critic, 74}, {&actor, 70}}) ==
        Said{"time.train actor + critic=144", " critic=74", " actor=70"});
  CHECK(record_of(signals, {{&critic, 2}, {&actor, 3}, {&also, 4}}) ==
        Said{"time.train actor + also + critic=9", " critic=2", " actor=3", " also=4"});
  CHECK(record_of(signals, {{&actor, 70}}) == Said{"time.train actor=70"});
}

TEST_CASE("a whole beside its parts is not added to them") {
  Names names;
  KnownName& actor = names.add("actor", true);
  KnownName& critic = names.add("critic", true);
  KnownName& whole = names.add("whole");
  OneOfEach signals;
  CHECK(record_of(signals, {{&actor, 70}, {&critic, 74}, {&whole, 150}}) ==
        Said{"time.train actor + critic=144", " actor=70", " critic=74", " whole=150"});
  CHECK(record_of(signals, {{&whole, 150}, {&actor, 70}}) == Said{"time.train actor=70", " whole=150"});
}

}  // namespace mw
