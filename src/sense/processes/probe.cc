#include "sense/processes/probe.h"

#include "base/json.h"
#include "base/text.h"

namespace mw::components {
namespace {

constexpr size_t kMetricsBytes = size_t{1} << 20;
constexpr size_t kTokenBytes = 64;
constexpr int kTwice = 2;                           // failures in a row: one may be a hiccup
constexpr int kThrice = 3;                          // where a busy server is slow to answer
constexpr Duration kWaits = Duration::seconds(60);  // of no step, before silence is no longer taken for work
constexpr Duration kFlat = Duration::seconds(120);  // compiling and long prompts give no token for that long
constexpr Duration kNoRhythm = Duration::seconds(600);
constexpr double kSteps = 3;

Reply reply_of(const Result<HttpAnswer>& answer) {
  if (answer.ok()) return {Reply::How::kAnswered, answer->status};
  switch (answer.error().code) {
    case Error::Code::kNotFound:
      return {Reply::How::kRefused, 0};
    case Error::Code::kInterrupted:
      return {Reply::How::kLate, 0};
    default:
      return {Reply::How::kBroken, 0};
  }
}

HttpRequest question(const Target& target, const char* method, const std::string& path) {
  HttpRequest request;
  request.method = method;
  request.url = target.address + path;
  request.deadline = target.timeout;
  request.answer_limit = kMetricsBytes;
  request.direct = true;
  return request;
}

HttpRequest posted(const Target& target, const std::string& path, std::string body) {
  HttpRequest request = question(target, "POST", path);
  request.headers = {"Content-Type: application/json"};
  request.body = std::move(body);
  return request;
}

/// The first model of {"data":[{"id":"…"}]}; "" when there is none.
std::string model_of(const Result<HttpAnswer>& answer) {
  if (!answer.ok() || answer->status != 200) return "";
  const auto json = Json::parse(answer->body);
  const Json* data = json.ok() ? json->find("data") : nullptr;
  if (data == nullptr || !data->is_array() || data->items().empty()) return "";
  return data->items().front().string_or("id", "");
}

/// A token and its log-probability as OpenAI's protocol has them
/// (https://github.com/openai/openai-openapi, CreateCompletionResponse).
void read_completion(const std::string& body, Answer& answer) {
  const auto json = Json::parse(body);
  const Json* choices = json.ok() ? json->find("choices") : nullptr;
  if (choices == nullptr || !choices->is_array() || choices->items().empty()) return;
  const Json& choice = choices->items().front();
  const Json* logprobs = choice.find("logprobs");
  const Json* scores = logprobs != nullptr ? logprobs->find("token_logprobs") : nullptr;
  if (scores == nullptr || !scores->is_array() || scores->items().empty()) return;
  if (!scores->items().front().is_number()) return;
  answer.token = clip(choice.string_or("text", ""), kTokenBytes);
  answer.score = scores->items().front().number();
}

/// As SGLang gives them: [[log-probability, number of the token, its text], …]
/// (https://docs.sglang.ai/basic_usage/sampling_params.html, return_logprob).
void read_generate(const std::string& body, Answer& answer) {
  const auto json = Json::parse(body);
  const Json* meta = json.ok() ? json->find("meta_info") : nullptr;
  const Json* tokens = meta != nullptr ? meta->find("output_token_logprobs") : nullptr;
  if (tokens == nullptr || !tokens->is_array() || tokens->items().empty()) return;
  const Json& token = tokens->items().front();
  if (!token.is_array() || token.items().size() < 2 || !token.items()[0].is_number()) return;
  answer.token = token.items()[1].is_number() ? cat(token.items()[1].number()) : "";
  answer.score = token.items()[0].number();
}

/// False where it does not speak OpenAI's protocol.
bool ask_for_completion(Http& http, const Target& target, const std::string& model, Answer& answer) {
  std::string body;
  JsonWriter json(body);
  json.begin_object().key("model").string(model).key("prompt").string("1").key("max_tokens").integer(1);
  json.key("temperature").integer(0).key("logprobs").integer(1).end_object();
  const auto reply = http.send(posted(target, "/v1/completions", std::move(body)));
  answer.generation = reply_of(reply);
  if (reply.ok() && reply->status == 200) read_completion(reply->body, answer);
  return answer.generation.status != 404 && answer.generation.status != 405;
}

void ask_for_a_token(Http& http, const Target& target, Answer& answer) {
  const auto models = http.send(question(target, "GET", "/v1/models"));
  answer.generation = reply_of(models);
  if (!models.ok()) return;
  const std::string model = model_of(models);
  if (!model.empty() && ask_for_completion(http, target, model, answer)) return;
  const auto reply =
      http.send(posted(target, "/generate",
                       R"({"text":"1","sampling_params":{"max_new_tokens":1,"temperature":0},"return_logprob":true})"));
  answer.generation = reply_of(reply);
  if (reply.ok() && reply->status == 200) read_generate(reply->body, answer);
  // It speaks neither protocol: that says nothing of its health.
  Reply& last = answer.generation;
  if (last.how == Reply::How::kAnswered && last.status >= 400 && last.status < 500) last.how = Reply::How::kNotAsked;
}

bool fine(const Reply& reply) { return reply.how == Reply::How::kAnswered && reply.status < 500; }

std::string words(const Reply& reply, Duration timeout) {
  switch (reply.how) {
    case Reply::How::kAnswered:
      return cat("is answered with status ", reply.status);
    case Reply::How::kRefused:
      return "is refused: nothing listens there";
    case Reply::How::kLate:
      return cat("is not answered within ", format_duration(timeout));
    case Reply::How::kBroken:
      return "breaks off without an answer";
    case Reply::How::kNotAsked:
      break;
  }
  return "was not asked";
}

}  // namespace

Answer ask(Http& http, const Target& target) {
  Answer answer;
  answer.health = reply_of(http.send(question(target, "GET", target.health)));
  if (!fine(answer.health) || target.kind != "engine") return answer;
  const auto metrics = http.send(question(target, "GET", "/metrics"));
  if (metrics.ok() && metrics->status == 200) answer.figures = engine_figures(metrics->body);
  if (target.generate) ask_for_a_token(http, target, answer);
  return answer;
}

bool works(const Answer& answer) {
  return fine(answer.health) && (answer.generation.how == Reply::How::kNotAsked || fine(answer.generation));
}

/// Requests run, and not a token is generated.
bool ProbeJudge::flat(const EngineFigures& figures, const Rhythm& rhythm, Duration now) {
  const bool moved = !figures.known() || !generated_ || *figures.generated != *generated_;
  if (figures.known()) generated_ = figures.generated;
  if (moved) moved_ = true;
  if (moved || *figures.running <= 0) {
    flat_since_ = {};
    return false;
  }
  if (flat_since_.ns == 0) flat_since_ = now;
  return now.ns - flat_since_.ns >= kFlat.ns && rhythm.waits(flat_since_, now, kFlat, kSteps, kNoRhythm);
}

ProbeJudge::Verdict ProbeJudge::verdict(const Target& target, const Answer& answer, const Rhythm& rhythm,
                                        Duration now) {
  const bool stuck = flat(answer.figures, rhythm, now);
  const bool asked = answer.generation.how != Reply::How::kNotAsked;
  const bool generation_fails = asked && !fine(answer.generation);
  if (fine(answer.health) && !generation_fails) {
    failures_ = 0;
    ever_well_ = true;
    ever_generated_ = ever_generated_ || asked;
    if (!stuck) return {Health::kWell, false, cat(target.health, " ", words(answer.health, target.timeout))};
    return {
        Health::kHalfDead, true,
        cat(target.address, ": ", *answer.figures.running, " requests are running, and not a token was generated for ",
            format_duration(Duration{now.ns - flat_since_.ns}))};
  }
  if (failures_++ == 0) {
    bad_since_ = now;
    moved_ = false;
  }
  const bool waits = rhythm.waits(bad_since_, now, kWaits, kSteps, kNoRhythm);
  if (fine(answer.health)) {
    const bool late = answer.generation.how == Reply::How::kLate;
    if (!ever_generated_) return {Health::kStarting, false, "a request for one token has not succeeded yet"};
    if (failures_ < kTwice || (late && moved_ && answer.figures.known())) return {health_, certain_, ""};
    return {Health::kHalfDead, true,
            cat(target.address, ": ", target.health, " ", words(answer.health, target.timeout),
                ", but a request for one token ", words(answer.generation, target.timeout))};
  }
  if (!ever_well_ && target.declared && now.ns - first_.ns >= target.ready_within.ns) {
    // Whose process is known is needed; of an address alone nobody knows whether it is right.
    return {worked_ || target.pid != 0 ? Health::kSilent : Health::kStarting, true,
            cat(target.address, ": ", target.health, " ", words(answer.health, target.timeout), ", ",
                format_duration(Duration{now.ns - first_.ns}), " after it was first asked")};
  }
  if (!ever_well_) return {Health::kStarting, false, cat(target.health, " ", words(answer.health, target.timeout))};
  const bool slow = answer.health.how == Reply::How::kLate;
  if (failures_ < (slow ? kThrice : kTwice)) return {health_, certain_, ""};
  const bool there = answer.health.how == Reply::How::kAnswered;
  return {there ? Health::kHalfDead : Health::kSilent, waits || (target.declared && !slow),
          cat(target.address, ": ", target.health, " ", words(answer.health, target.timeout))};
}

std::optional<event::ComponentSaw> ProbeJudge::take(const Target& target, const Answer& answer, const Rhythm& rhythm,
                                                    Duration now, bool paused) {
  if (paused) {
    failures_ = 0;
    flat_since_ = {};
    return std::nullopt;
  }
  if (first_.ns == 0) first_ = now;
  Verdict now_is = verdict(target, answer, rhythm, now);
  if (now_is.text.empty() || (reported_ && now_is.health == health_ && (now_is.certain == certain_ || certain_))) {
    return std::nullopt;
  }
  reported_ = true;
  health_ = now_is.health;
  certain_ = now_is.certain;
  event::ComponentSaw saw;
  saw.component = target.name;
  saw.kind = target.kind;
  saw.health = now_is.health;
  saw.certain = now_is.certain;
  saw.text = std::move(now_is.text);
  const size_t host = target.address.find("://");
  saw.address = host == std::string::npos ? target.address : target.address.substr(host + 3);
  saw.pid = target.pid;
  saw.seconds = failures_ > 0 ? Duration{now.ns - bad_since_.ns}.seconds() : 0;
  return saw;
}

}  // namespace mw::components
