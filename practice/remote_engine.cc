#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"
#include "practice/engine.h"
#include "practice/http.h"

namespace practice {
namespace {

constexpr double kHealthLimit = 2;  // seconds

std::string question_json(const std::vector<Question>& questions, int group, double temperature, uint64_t seed) {
  std::string body;
  mw::JsonWriter json(body);
  json.begin_object().key("prompts").begin_array();
  for (const Question& q : questions) json.begin_array().integer(q.a).integer(q.b).boolean(q.minus).end_array();
  json.end_array().key("n").integer(group).key("temperature").number(temperature);
  json.key("seed").string(mw::cat(seed)).end_object();
  return body;
}

bool read_sample(const mw::Json& json, Sample& sample) {
  const mw::Json* tokens = json.find("token_ids");
  const mw::Json* scores = json.find("logprobs");
  if (tokens == nullptr || scores == nullptr || tokens->items().size() != scores->items().size()) return false;
  for (const mw::Json& token : tokens->items()) sample.tokens.push_back(static_cast<int>(token.integer()));
  for (const mw::Json& score : scores->items()) sample.log_probs.push_back(score.number());
  sample.entropy = json.number_or("entropy", 0);
  sample.cut = json.string_or("finish_reason", "stop") == "length";
  return !sample.tokens.empty();
}

}  // namespace

bool RemoteEngine::healthy() { return http_ask(port_, {"GET", "/health", ""}, kHealthLimit).status == 200; }

std::optional<std::string> RemoteEngine::ask(const std::string& path, std::string body) {
  HttpReply reply = http_ask(port_, {"POST", path, std::move(body)}, timeout_s_);
  problem_ = reply.status == 200          ? ""
             : reply.problem == "timeout" ? "TimeoutError: "
             : reply.problem == "reset"   ? "ServerDisconnectedError: Server disconnected"
             : reply.problem == "refused"
                 ? mw::cat("ClientConnectorError: Cannot connect to host 127.0.0.1:", port_,
                           " ssl:default [Connect call failed ('127.0.0.1', ", port_, ")]")
                 : mw::cat("ClientResponseError: ", reply.status,
                           ", message='Internal Server Error', url='http://127.0.0.1:", port_, path, "'");
  if (reply.status != 200) return std::nullopt;
  return std::move(reply.body);
}

bool RemoteEngine::load(const std::vector<double>& weights, int64_t version) {
  const std::string body(reinterpret_cast<const char*>(weights.data()), weights.size() * sizeof(double));
  return ask(mw::cat("/update_weights?version=", version), body).has_value();
}

std::optional<std::vector<Sample>> RemoteEngine::generate(const std::vector<Question>& questions, int group,
                                                          double temperature, uint64_t seed) {
  const auto body = ask("/generate", question_json(questions, group, temperature, seed));
  if (!body) return std::nullopt;
  const auto json = mw::Json::parse(*body);
  const mw::Json* outputs = json.ok() ? json->find("outputs") : nullptr;
  if (outputs == nullptr || outputs->items().size() != questions.size() * static_cast<size_t>(group)) {
    problem_ = "JSONDecodeError: the answer of the server is no list of outputs";
    return std::nullopt;
  }
  std::vector<Sample> samples(outputs->items().size());
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i].question = questions[i / static_cast<size_t>(group)];
    if (!read_sample(outputs->items()[i], samples[i])) return std::nullopt;
  }
  return samples;
}

}  // namespace practice
