// What a test cannot try on this machine. Such test cases stand in the suite kMachine, which is a ctest test of its
// own.
#pragma once

namespace mw::testing {

inline constexpr const char* kMachine = "what the machine allows";

/// Says why the test case that calls it is left out. The program then ends with 77, which ctest shows as skipped.
void skip(const char* why);

}  // namespace mw::testing
