// The [scrape.NAME] sections of midwatch.toml.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "daemon/config.h"

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

/// In byte order of their names. The file has no problems.
std::vector<Endpoint> endpoints_of(const Config& config);
/// What the table of keys cannot say: an address that is none, a metric that cannot be called so.
std::vector<ConfigProblem> scrape_problems(const Config& config);

}  // namespace mw
