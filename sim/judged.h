// What worlds have in common that say what happens in them: a digest of it, and the first thing that is wrong.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "base/checksum.h"

namespace mw::sim {

template <typename Verdict>
class Judged {
 protected:
  explicit Judged(bool aloud) : aloud_(aloud) {}

  bool ok() const { return out_.wrong.empty(); }
  void wrong(const std::string& what) {
    if (ok()) out_.wrong = what;
  }
  void say(const std::string& what) {
    out_.digest = fnv1a(what, out_.digest);
    if (aloud_) std::printf("%s\n", what.c_str());
  }

  const bool aloud_;
  Verdict out_;
};

}  // namespace mw::sim
