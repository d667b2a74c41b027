#include "act/fleet/wandb.h"

#include <algorithm>

#include "base/digest.h"
#include "base/json.h"
#include "base/text.h"
#include "platform/s3/answers.h"

namespace mw::fleet {
namespace {

constexpr Duration kDeadline = Duration::seconds(20);
constexpr size_t kAnswer = size_t{1} << 20;  // bytes; a summary may be long
constexpr size_t kText = 40;                 // bytes of the state
// Only what is needed: a run's configuration and its files are not asked for.
constexpr std::string_view kQuery =
    "query Run($entity: String, $project: String, $run: String!) { project(name: $project, entityName: $entity) "
    "{ run(name: $run) { name state heartbeatAt summaryMetrics } } }";

Error wrong(std::string_view what) { return {Error::Code::kInvalid, cat("W&B's answer ", what), ""}; }

std::optional<Duration> age_of(Time now, Time then) {
  if (!now.known() || !then.known()) return std::nullopt;
  return Duration{std::max<int64_t>((now - then).ns, 0)};
}

}  // namespace

Result<WandbWord> parse_wandb(std::string_view body, Time now) {
  const auto json = Json::parse(body);
  if (!json.ok()) return wrong("is no JSON");
  if (const Json* const errors = json->find("errors");
      errors != nullptr && errors->is_array() && !errors->items().empty()) {
    return wrong("is an error");
  }
  const Json* const data = json->find("data");
  const Json* const project = data == nullptr ? nullptr : data->find("project");
  if (project == nullptr) return wrong("has no project");
  const Json* const run = project->find("run");
  if (run == nullptr || !run->is_object()) return Error{Error::Code::kNotFound, "W&B knows no such run", ""};
  WandbWord out;
  out.state = clip(run->string_or("state", ""), kText);
  if (out.state.empty()) return wrong("has no state");
  out.heard = age_of(now, parse_time(run->string_or("heartbeatAt", "")).value_or(Time{}));
  // The summary is JSON within a text. Its time is that of the machine that trains.
  const auto summary = Json::parse(run->string_or("summaryMetrics", ""));
  if (!summary.ok()) return out;
  out.step = std::max<int64_t>(summary->integer_or("_step", kNoStep), kNoStep);
  const double seconds = summary->number_or("_timestamp", 0);
  if (seconds > 0 && seconds < 4e9) out.step_age = age_of(now, Time::from_seconds(seconds));
  return out;
}

Result<WandbWord> ask_wandb(Http& http, const WandbPlace& place) {
  std::string body;
  JsonWriter(body)
      .begin_object()
      .key("query")
      .string(kQuery)
      .key("variables")
      .begin_object()
      .key("entity")
      .string(place.entity)
      .key("project")
      .string(place.project)
      .key("run")
      .string(place.run)
      .end_object()
      .end_object();
  HttpRequest request;
  request.url = cat(place.endpoint, "/graphql");
  request.headers = {"Content-Type: application/json", cat("Authorization: Basic ", to_base64(cat("api:", place.key)))};
  request.body = std::move(body);
  request.deadline = kDeadline;
  request.answer_limit = kAnswer;
  request.want_headers = true;
  const auto answer = http.send(request);
  if (!answer.ok()) return answer.error();
  if (answer->status != 200) {
    const bool denied = answer->status == 401 || answer->status == 403;
    return Error{denied ? Error::Code::kDenied : Error::Code::kIo, cat("W&B answered with status ", answer->status),
                 ""};
  }
  return parse_wandb(answer->body, s3::parse_http_date(answer->header("date")));
}

}  // namespace mw::fleet
