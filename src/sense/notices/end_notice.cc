#include "sense/notices/end_notice.h"

#include <algorithm>

#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"
#include "platform/durable.h"
#include "platform/s3/answers.h"

namespace mw {
namespace {

using Notice = std::optional<EndNotice>;

constexpr Duration kDeadline = Duration::seconds(4);  // a metadata server is next door
constexpr std::string_view kTokenSeconds = "21600";
constexpr std::string_view kMithrilFile = "/opt/mithril/MITHRIL_SIGNAL.yml";
constexpr const char* kBlockVariables[] = {"SAGEMAKER_CURRENT_CAPACITY_BLOCK_EXPIRATION_TIMESTAMP",
                                           "MLP_CURRENT_CAPACITY_BLOCK_EXPIRATION_TIMESTAMP"};

/// A source that is a name and a question.
class Source final : public NoticeSource {
 public:
  Source(std::string name, std::function<Result<Notice>()> ask) : name_(std::move(name)), ask_(std::move(ask)) {}
  const std::string& name() const override { return name_; }
  Result<Notice> ask() override { return ask_(); }

 private:
  const std::string name_;
  const std::function<Result<Notice>()> ask_;
};

std::shared_ptr<NoticeSource> source(std::string_view name, std::function<Result<Notice>()> ask) {
  return std::make_shared<Source>(std::string(name), std::move(ask));
}

Result<HttpAnswer> ask_metadata(const NoticeDoors& doors, std::string_view method, const std::string& url,
                                std::string header) {
  HttpRequest request;
  request.method = method;
  request.url = url;
  request.headers = {std::move(header)};
  request.deadline = kDeadline;
  request.direct = true;  // no proxy reaches the metadata of this machine
  return doors.http->send(request);
}

Error no_answer(int status) { return {Error::Code::kIo, cat("the metadata server answered with status ", status), ""}; }

std::string place_of(const NoticeDoors& doors, const char* variable, std::string_view otherwise) {
  std::string place = doors.variable(variable).value_or(std::string(otherwise));
  if (!contains(place, "://")) place.insert(0, "http://");
  while (place.ends_with('/')) place.pop_back();
  return place;
}

/// The token of IMDSv2, which lives for six hours, is asked for anew when it is refused.
std::shared_ptr<NoticeSource> aws(const NoticeDoors& doors) {
  const std::string place = place_of(doors, "AWS_EC2_METADATA_SERVICE_ENDPOINT", "169.254.169.254");
  return source("aws", [doors, place, token = std::make_shared<std::string>()]() -> Result<Notice> {
    if (token->empty()) {
      const auto got = ask_metadata(doors, "PUT", cat(place, "/latest/api/token"),
                                    cat("X-aws-ec2-metadata-token-ttl-seconds: ", kTokenSeconds));
      if (!got.ok()) return got.error();
      if (got->status != 200) return no_answer(got->status);
      *token = trim(got->body);
    }
    const auto answer = ask_metadata(doors, "GET", cat(place, "/latest/meta-data/spot/instance-action"),
                                     cat("X-aws-ec2-metadata-token: ", *token));
    if (!answer.ok()) return answer.error();
    if (answer->status == 401) token->clear();
    if (answer->status == 404) return Notice();
    return answer->status == 200 ? Result<Notice>(parse_aws_notice(answer->body)) : no_answer(answer->status);
  });
}

std::shared_ptr<NoticeSource> gcp(const NoticeDoors& doors) {
  const std::string place = place_of(doors, "GCE_METADATA_HOST", "metadata.google.internal");
  return source("gcp", [doors, place]() -> Result<Notice> {
    const auto answer =
        ask_metadata(doors, "GET", cat(place, "/computeMetadata/v1/instance/preempted"), "Metadata-Flavor: Google");
    if (!answer.ok()) return answer.error();
    if (answer->status != 200) return no_answer(answer->status);
    return trim(answer->body) == "TRUE" ? Notice(EndNotice{"Google Cloud preempts this machine", {}}) : Notice();
  });
}

std::shared_ptr<NoticeSource> azure(const NoticeDoors& doors) {
  const std::string place = place_of(doors, "AZURE_METADATA_HOST", "169.254.169.254");
  return source("azure", [doors, place, own = std::make_shared<std::string>()]() -> Result<Notice> {
    if (own->empty()) {
      const auto name =
          ask_metadata(doors, "GET", cat(place, "/metadata/instance/compute/name?api-version=2021-02-01&format=text"),
                       "Metadata: true");
      if (!name.ok()) return name.error();
      if (name->status != 200) return no_answer(name->status);
      *own = trim(name->body);
    }
    const auto answer =
        ask_metadata(doors, "GET", cat(place, "/metadata/scheduledevents?api-version=2020-07-01"), "Metadata: true");
    if (!answer.ok()) return answer.error();
    return answer->status == 200 ? Result<Notice>(parse_azure_notice(answer->body, *own)) : no_answer(answer->status);
  });
}

std::shared_ptr<NoticeSource> mithril(const NoticeDoors& doors) {
  return source("mithril", [disk = doors.disk]() -> Result<Notice> {
    const auto text = read_small(*disk, std::string(kMithrilFile));
    return text.ok() ? parse_mithril_notice(*text) : Notice();
  });
}

std::shared_ptr<NoticeSource> file(const NoticeDoors& doors, const std::string& path) {
  return source(cat("file:", path), [disk = doors.disk, path]() -> Result<Notice> {
    return disk->info(path).ok() ? Notice(EndNotice{cat(path, " is there"), {}}) : Notice();
  });
}

std::shared_ptr<NoticeSource> capacity_block(const NoticeDoors& doors) {
  Notice notice;
  for (const char* name : kBlockVariables) {
    if (const auto value = doors.variable(name); value && !notice) notice = parse_capacity_block(*value);
  }
  return notice ? source("capacity-block", [notice]() -> Result<Notice> { return notice; }) : nullptr;
}

/// By what the firmware calls the maker of the machine: no network is asked for that.
std::vector<std::string> found_here(const NoticeDoors& doors) {
  std::vector<std::string> out = {"capacity-block"};
  const auto vendor = read_small(*doors.disk, "/sys/class/dmi/id/sys_vendor");
  const std::string maker = vendor.ok() ? std::string(trim(*vendor)) : "";
  const bool off = to_lower(doors.variable("AWS_EC2_METADATA_DISABLED").value_or("")) == "true";
  if (maker == "Amazon EC2" && !off) out.emplace_back("aws");
  if (maker == "Google") out.emplace_back("gcp");
  if (maker == "Microsoft Corporation") out.emplace_back("azure");
  if (doors.disk->info("/opt/mithril").ok()) out.emplace_back("mithril");
  return out;
}

}  // namespace

Result<std::vector<std::shared_ptr<NoticeSource>>> notice_sources(const NoticeDoors& doors,
                                                                  const std::vector<std::string>& words) {
  std::vector<std::string> wanted;
  for (const std::string& word : words) {
    if (word != "auto") {
      wanted.push_back(word);
      continue;
    }
    for (std::string& found : found_here(doors)) wanted.push_back(std::move(found));
  }
  std::vector<std::shared_ptr<NoticeSource>> out;
  for (const std::string& word : wanted) {
    std::shared_ptr<NoticeSource> one;
    if (word == "aws") {
      one = aws(doors);
    } else if (word == "gcp") {
      one = gcp(doors);
    } else if (word == "azure") {
      one = azure(doors);
    } else if (word == "mithril") {
      one = mithril(doors);
    } else if (word == "capacity-block") {
      one = capacity_block(doors);  // nullptr: the variable is not set
    } else if (word.starts_with("file:/")) {
      one = file(doors, word.substr(5));
    } else {
      return Error{Error::Code::kInvalid, cat("there is no notice \"", clip(word, 60), "\""),
                   "There are: auto, aws, gcp, azure, mithril, capacity-block, file:/PATH."};
    }
    if (one != nullptr) out.push_back(std::move(one));
  }
  return out;
}

bool notice_is_due(const EndNotice& notice, Time now, Duration lead) {
  return !notice.at.known() || (notice.at - now) <= lead;
}

std::optional<EndNotice> parse_aws_notice(std::string_view body) {
  const auto json = Json::parse(body);
  if (!json.ok()) return std::nullopt;
  const std::string action = json->string_or("action", "");
  if (action != "terminate" && action != "stop" && action != "hibernate") return std::nullopt;
  return EndNotice{cat("AWS will ", action, " this machine"), parse_time(json->string_or("time", "")).value_or(Time{})};
}

std::optional<EndNotice> parse_azure_notice(std::string_view body, std::string_view own) {
  const auto json = Json::parse(body);
  const Json* const events = json.ok() ? json->find("Events") : nullptr;
  if (events == nullptr || !events->is_array()) return std::nullopt;
  for (const Json& one : events->items()) {
    const std::string type = one.string_or("EventType", "");
    const Json* const resources = one.find("Resources");
    if ((type != "Preempt" && type != "Terminate") || resources == nullptr || !resources->is_array()) continue;
    const auto& names = resources->items();
    const bool mine = std::any_of(names.begin(), names.end(), [&](const Json& name) { return name.string() == own; });
    if (!mine || own.empty()) continue;
    return EndNotice{type == "Preempt" ? "Azure preempts this machine" : "Azure will terminate this machine",
                     s3::parse_http_date(one.string_or("NotBefore", ""))};
  }
  return std::nullopt;
}

std::optional<EndNotice> parse_mithril_notice(std::string_view body) {
  const bool preempts = contains(body, "STATUS_PREEMPTING"), relocates = contains(body, "STATUS_RELOCATING");
  if (!preempts && !relocates) return std::nullopt;
  EndNotice out{preempts ? "Mithril preempts this machine" : "Mithril relocates this machine", {}};
  for (const std::string_view line : split(body, '\n')) {
    const std::string_view text = trim(line);
    if (!text.starts_with("end_time:")) continue;
    std::string_view value = trim(text.substr(std::string_view("end_time:").size()));
    while (!value.empty() && (value.front() == '"' || value.front() == '\'')) value.remove_prefix(1);
    out.at = parse_time(value).value_or(Time{});
  }
  return out;
}

std::optional<EndNotice> parse_capacity_block(std::string_view value) {
  const auto seconds = parse_int(trim(value));
  if (!seconds || *seconds < 1'000'000'000 || *seconds > 9'000'000'000) return std::nullopt;
  return EndNotice{"the capacity block of this machine expires", Time::from_seconds(static_cast<double>(*seconds))};
}

}  // namespace mw
