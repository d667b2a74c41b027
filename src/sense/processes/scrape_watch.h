// Asks endpoints of the user's own for their metrics, and records what changed in the run's journal.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/task.h"
#include "platform/background_call.h"
#include "platform/clock.h"
#include "platform/http.h"
#include "sense/host/host_ledger.h"
#include "sense/processes/endpoint.h"
#include "sense/processes/rate.h"

namespace mw {

class ScrapeWatch final : public Task {
 public:
  static constexpr size_t kAnswerBytes = size_t{4} << 20;   ///< that are read of an answer
  static constexpr Duration kLook = Duration::millis(250);  ///< between two questions whether an answer is there

  ScrapeWatch(Clock& clock, std::shared_ptr<Http> http, std::vector<Endpoint> endpoints);
  ScrapeWatch(const ScrapeWatch&) = delete;
  ScrapeWatch& operator=(const ScrapeWatch&) = delete;

  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override;

 private:
  struct Answer {
    std::string trouble;  ///< why there are no figures; "" when there are
    std::map<std::string, double, std::less<>> totals;
  };
  struct Asked {
    Endpoint endpoint;
    BackgroundCall<Answer> call;
    Duration due;
    std::map<std::string, components::Rate> rates;
    std::set<std::string> reported;  ///< what was missing
  };
  static Answer ask(Http& http, const Endpoint& endpoint);
  void take(Asked& one, const Answer& answer, Duration now, EventWriter& writer);
  static void miss(Asked& one, const std::string& what, EventWriter& writer);

  Clock& clock_;
  std::shared_ptr<Http> http_;
  std::vector<std::unique_ptr<Asked>> asked_;
  HostLedger ledger_;
};

/// nullptr where there are no endpoints.
std::unique_ptr<ScrapeWatch> watch_endpoints(Clock& clock, std::vector<Endpoint> endpoints);

}  // namespace mw
