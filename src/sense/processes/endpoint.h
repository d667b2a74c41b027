// Servers of the user's own that are asked for their metrics.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/time.h"

namespace mw {

inline constexpr size_t kEndpointsLimit = 16;

/// A server that is asked for its metrics, and for which of them.
struct Endpoint {
  struct Figure {
    std::string shown;   ///< as it was written: "queue_depth", "rate(errors_total)"
    std::string metric;  ///< "errors_total"
    bool rate = false;   ///< a counter, of which the growth per second is meant
  };
  std::string name;
  std::string url;
  std::vector<Figure> figures;
  Duration every = Duration::seconds(30), timeout = Duration::seconds(10);
};

}  // namespace mw
