#include "sense/processes/scrape_watch.h"

#include <algorithm>

#include "base/text.h"
#include "sense/processes/prometheus.h"

namespace mw {
namespace {

const std::string kSource = "host:scrape";
constexpr size_t kTroublesReported = 16;  // of one endpoint

}  // namespace

ScrapeWatch::ScrapeWatch(Clock& clock, std::shared_ptr<Http> http, std::vector<Endpoint> endpoints)
    : clock_(clock), http_(std::move(http)) {
  for (Endpoint& endpoint : endpoints) {
    if (asked_.size() >= kEndpointsLimit) break;
    asked_.push_back(std::make_unique<Asked>());
    asked_.back()->endpoint = std::move(endpoint);
  }
}

/// On a thread of its own.
ScrapeWatch::Answer ScrapeWatch::ask(Http& http, const Endpoint& endpoint) {
  HttpRequest request;
  request.method = "GET";
  request.url = endpoint.url;
  request.deadline = endpoint.timeout;
  request.answer_limit = kAnswerBytes;
  request.direct = true;
  const auto reply = http.send(request);
  if (!reply.ok()) return {cat("it gives no answer: ", reply.error().what), {}};
  if (reply->status != 200) return {cat("it answers with status ", reply->status), {}};
  std::vector<std::string> names;
  for (const Endpoint::Figure& figure : endpoint.figures) names.push_back(figure.metric);
  return {"", components::totals_of(reply->body, names)};
}

/// Reported once each: what is not there now may come, and what comes and goes is no news.
void ScrapeWatch::miss(Asked& one, const std::string& what, EventWriter& writer) {
  std::string text = cat("scrape ", one.endpoint.name, ": ", what);
  if (one.reported.size() >= kTroublesReported || !one.reported.insert(text).second) return;
  writer.observed(kSource, event::SourceProblem{"unseen", std::move(text)});
}

void ScrapeWatch::take(Asked& one, const Answer& answer, Duration now, EventWriter& writer) {
  if (!answer.trouble.empty()) {
    one.rates.clear();
    return miss(one, answer.trouble, writer);
  }
  std::vector<Reading> readings;
  for (const Endpoint::Figure& figure : one.endpoint.figures) {
    const auto found = answer.totals.find(figure.metric);
    if (found == answer.totals.end()) {
      miss(one, cat("there is no metric ", figure.metric), writer);
      continue;
    }
    std::optional<double> value = found->second;
    if (figure.rate) value = one.rates[figure.metric].take(*value, now);
    if (value) ledger_.note(cat("scrape.", one.endpoint.name), figure.shown, *value, now, readings);
  }
  if (!readings.empty()) writer.observed(kSource, event::Measured{kNoStep, false, std::move(readings)});
}

std::optional<Duration> ScrapeWatch::turn(const State&, bool, EventWriter& writer) {
  const Duration now = clock_.steady();
  Duration next{now.ns + Duration::seconds(3600).ns};
  for (const auto& one : asked_) {
    if (auto answer = one->call.take()) take(*one, *answer, now, writer);
    if (!one->call.started() && now >= one->due) {
      one->due = {now.ns + one->endpoint.every.ns};
      one->call.start([http = http_, endpoint = one->endpoint] { return ask(*http, endpoint); });
    }
    next = std::min(next, one->call.started() ? Duration{now.ns + kLook.ns} : one->due);
  }
  return Duration{std::max<int64_t>(0, next.ns - now.ns)};
}

std::unique_ptr<ScrapeWatch> watch_endpoints(Clock& clock, std::vector<Endpoint> endpoints) {
  if (endpoints.empty()) return nullptr;
  return std::make_unique<ScrapeWatch>(clock, make_http(), std::move(endpoints));
}

}  // namespace mw
