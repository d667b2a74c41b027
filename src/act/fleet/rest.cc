#include "act/fleet/rest.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/text.h"
#include "platform/durable.h"
#include "platform/paths.h"
#include "platform/real/posix_disk.h"

namespace mw::fleet {
namespace {

constexpr size_t kAnswer = size_t{8} << 20;  // bytes
constexpr size_t kText = 300;                // bytes of a text in an answer
constexpr size_t kShown = 200;               // bytes of a message of an API
constexpr int kReads = 3;
constexpr double kFirstPause = 0.5, kLongestPause = 20;  // seconds
constexpr double kBidMargin = 0.1;
constexpr size_t kShortest = 4;  // bytes of a value that is hidden: less stands anywhere

bool is_here(std::string_view endpoint) {
  for (const std::string_view host : {"http://127.0.0.1", "http://localhost", "http://[::1]"}) {
    if (!endpoint.starts_with(host)) continue;
    const std::string_view rest = endpoint.substr(host.size());
    if (rest.empty() || rest.front() == ':' || rest.front() == '/') return true;
  }
  return false;
}

bool may_go_better(const RestAnswer& answer) { return answer.status == 429 || answer.status >= 500; }

Result<std::string> key_of(const ProviderSpec& spec, const ProviderDoors& doors, std::string_view variable) {
  std::string key;
  if (const auto file = spec.values.find("key_file"); file != spec.values.end()) {
    const auto text = read_small(*make_posix_disk(), absolute_path(file->second, "."));
    if (!text.ok()) return Error{Error::Code::kInvalid, cat("key_file: ", text.error().what), ""};
    key = trim(*text);
  } else {
    key = trim(doors.variable(std::string(variable)).value_or(""));
  }
  const bool plain = std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (key.empty() || !plain) {
    return Error{Error::Code::kInvalid, cat("a provider of kind ", spec.kind, " needs a key"),
                 cat("Set ", variable, " for the controller, or name a file that holds it as key_file.")};
  }
  return key;
}

}  // namespace

Result<RestApi> RestApi::open(const ProviderSpec& spec, const ProviderDoors& doors, const Place& place) {
  RestApi out;
  out.doors_ = doors;
  out.endpoint_ = place.endpoint;
  if (const auto endpoint = spec.values.find("endpoint"); endpoint != spec.values.end())
    out.endpoint_ = endpoint->second;
  while (out.endpoint_.ends_with('/')) out.endpoint_.pop_back();
  if (!out.endpoint_.starts_with("https://") && !is_here(out.endpoint_)) {
    return Error{Error::Code::kInvalid, "the endpoint is not https, and would carry the key for all to read", ""};
  }
  out.key_place_ = spec.values.count("key_file") != 0 ? std::string("key_file") : std::string(place.variable);
  auto key = key_of(spec, doors, place.variable);
  if (!key.ok()) return key.error();
  out.key_ = std::move(*key);
  out.secrets_.learn("API_KEY", out.key_);
  out.values_.push_back(out.key_);
  return out;
}

void RestApi::hide(const std::map<std::string, std::string>& environment) {
  for (const auto& [name, value] : environment) {
    if (name.starts_with("MIDWATCH_FLEET_")) continue;
    secrets_.learn(name, value);
    if (value.size() >= kShortest) values_.push_back(value);
  }
}

std::string RestApi::shown(std::string_view text) const {
  std::string out = secrets_.hide(clip(text, kShown + kRedactMargin));
  for (const std::string& value : values_) {
    for (size_t at = out.find(value); at != std::string::npos; at = out.find(value, at + kRedacted.size())) {
      out.replace(at, value.size(), kRedacted);
    }
  }
  return clip(redact_secrets(out), kShown);
}

Result<RestAnswer> RestApi::send(std::string_view method, std::string_view path, const std::string& body,
                                 double& retry_after) const {
  HttpRequest request;
  request.method = method;
  request.url = cat(endpoint_, path);
  request.headers = {cat("Authorization: Bearer ", key_), "Accept: application/json"};
  if (!body.empty()) request.headers.emplace_back("Content-Type: application/json");
  request.body = body;
  request.deadline = doors_.deadline;
  request.answer_limit = kAnswer;
  auto answer = doors_.http->send(request);
  if (!answer.ok()) {
    // Also a name that is not found is no word of the API's: whether an instance is there does not follow from it.
    return Error{Error::Code::kInterrupted, shown(answer.error().what), answer.error().hint};
  }
  if (answer->body.size() >= kAnswer) return Error{Error::Code::kIo, "its answer is longer than any answer", ""};
  retry_after = answer->retry_after_s;
  RestAnswer out;
  out.status = answer->status;
  auto json = Json::parse(answer->body);
  out.is_json = json.ok();
  if (json.ok()) out.json = std::move(*json);
  return out;
}

Result<Json> RestApi::read(std::string_view method, std::string_view path, const std::string& body) const {
  for (int tries = 1;; ++tries) {
    double retry_after = -1;
    auto answer = send(method, path, body, retry_after);
    const bool again = !answer.ok() || may_go_better(*answer);
    if (again && tries < kReads) {
      const double pause = std::max(retry_after, kFirstPause * std::pow(2, tries - 1));
      if (pause <= kLongestPause) {
        doors_.pause(Duration::seconds(pause));
        continue;
      }
    }
    if (!answer.ok()) return answer.error();
    if (!answer->ok()) return refusal("the request", *answer);
    if (!answer->is_json) return Error{Error::Code::kIo, "its answer is no JSON", ""};
    return std::move(answer->json);
  }
}

Result<RestAnswer> RestApi::write(std::string_view method, std::string_view path, const std::string& body) const {
  double retry_after = -1;
  return send(method, path, body, retry_after);
}

Error RestApi::refusal(std::string_view operation, const RestAnswer& answer) const {
  const int status = answer.status;
  const Error::Code code = status == 401 || status == 402 || status == 403  ? Error::Code::kDenied
                           : status == 404 || status == 410                 ? Error::Code::kNotFound
                           : status == 429                                  ? Error::Code::kFull
                           : status >= 400 && status < 500 && status != 408 ? Error::Code::kInvalid
                                                                            : Error::Code::kIo;
  const std::string said = shown(message_of(answer.json));
  const std::string hint = status == 402 ? "The account there needs credit."
                           : code == Error::Code::kDenied
                               ? cat("Is the key of ", key_place_, " right, and may it do this?")
                               : std::string();
  return {code, cat(operation, " was answered with status ", status, said.empty() ? "" : cat(": ", said)), hint};
}

std::string text_of(const Json& json, std::string_view key) {
  const Json* const found = json.find(key);
  if (found == nullptr) return "";
  if (found->is_string()) return clip(found->string(), kText);
  const bool whole = found->is_number() && found->number() == static_cast<double>(found->integer());
  return whole ? std::to_string(found->integer()) : "";
}

std::string message_of(const Json& json) {
  if (json.is_array()) return json.items().empty() ? "" : message_of(json.items().front());
  if (!json.is_object()) return json.is_string() ? json.string() : "";
  for (const std::string_view key : {"msg", "message", "detail", "error", "errors", "suggestion"}) {
    const Json* const found = json.find(key);
    if (found == nullptr) continue;
    if (std::string text = message_of(*found); !text.empty()) return text;
  }
  return "";
}

std::string_view json_within(std::string_view output) {
  // At the beginning of a line: what is said before it may have brackets, as the colours of a terminal have.
  size_t begin = 0;
  while (begin < output.size() && output[begin] != '[' && output[begin] != '{') {
    begin = output.find('\n', begin);
    begin = begin == std::string_view::npos ? output.size() : output.find_first_not_of(" \t\r\n", begin);
  }
  if (begin >= output.size()) return {};
  const size_t end = output.find_last_of("]}");
  return end == std::string_view::npos || end < begin ? std::string_view() : output.substr(begin, end - begin + 1);
}

double bid_margin_of(const ProviderSpec& spec) {
  const auto found = spec.values.find("bid_margin");
  return found == spec.values.end() ? kBidMargin : parse_double(found->second).value_or(kBidMargin);
}

}  // namespace mw::fleet
