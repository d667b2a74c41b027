#include "act/notify/channels/channel.h"

#include <doctest/doctest.h>

#include "act/notify/channels/hook.h"
#include "base/text.h"

namespace mw {
namespace {

/// Gives the answer that the test sets, and keeps the requests.
class FakeHttp final : public Http {
 public:
  Result<HttpAnswer> send(const HttpRequest& request) override {
    asked.push_back(request);
    return answer;
  }
  Result<void> mail(const MailRequest& request) override {
    mails.push_back(request);
    return mailed;
  }
  std::vector<HttpRequest> asked;
  std::vector<MailRequest> mails;
  Result<HttpAnswer> answer{HttpAnswer{200, "ok", -1}};
  Result<void> mailed;
};

Message sample(std::string what = "Reward is exactly 0 since step 75") {
  Notice notice;
  notice.key = "opened:3:critical";
  notice.event = "opened";
  notice.severity = Severity::kCritical;
  notice.incident = 3;
  notice.kind = "zero-reward";
  notice.cause = "engine-down";
  notice.what = std::move(what);
  notice.step = 75;
  notice.since = *parse_time("2026-01-15T09:55:29Z", nullptr);
  notice.why = "engine-down (92 %)";
  notice.did = "Holds the run.";
  notice.advice = "Restart the server.";
  return {"grpo-7b", "node-17", "/data/runs/grpo-7b", notice.since + Duration::seconds(90), false, {notice}};
}

ChannelSetting channel(std::string kind) {
  ChannelSetting setting;
  setting.name = "c";
  setting.kind = std::move(kind);
  setting.url = "https://hooks.example/T000/secret-part";
  setting.token = "token-of-the-channel";
  return setting;
}

const std::string kNasty =
    "<!channel> <http://evil.example|click> @everyone **bold** `code` \x1b[31m \"quoted\"\nnext \xff";

TEST_CASE("a message says what, since when, why, what was done, what to do, and whose run it is") {
  const Message message = sample();
  CHECK(message_title(message) == "CRITICAL zero-reward (#3) since step 75 in grpo-7b");
  CHECK(message_text(message, 8000) ==
        "Reward is exactly 0 since step 75\nSince: step 75, 2026-01-15T09:55:29Z (1m 30s ago)\n"
        "Likely cause: engine-down (92 %)\nmidwatch: Holds the run.\nTo do: Restart the server.\n"
        "Run: grpo-7b on node-17");
  CHECK(message_key(message) == "grpo-7b/opened:3:critical");
  CHECK(message_text(message, 40).size() <= 43);
}

TEST_CASE("several notices are one message that the gravest leads") {
  Message message = sample();
  Notice mild = message.notices[0];
  mild.severity = Severity::kWarning;
  mild.key = "opened:2:warning";
  mild.kind = "stall";
  message.notices.insert(message.notices.begin(), mild);
  CHECK(message_title(message) == "CRITICAL zero-reward (#3) since step 75 in grpo-7b, and 1 more");
  CHECK(message_key(message) == "grpo-7b/opened:2:warning+opened:3:critical");
  const auto json = Json::parse(message_json(message));
  REQUIRE(json.ok());
  CHECK(json->find("notices")->items().size() == 2);
  CHECK(json->string_or("severity", "") == "critical");
}

TEST_CASE("each service gets its own form, and foreign text stays text") {
  FakeHttp http;
  for (const char* kind : {"webhook", "slack", "discord", "ntfy"}) {
    CAPTURE(kind);
    CHECK(send_message(channel(kind), sample(kNasty), http).ok);
    const auto json = Json::parse(http.asked.back().body);
    REQUIRE(json.ok());
    CHECK(http.asked.back().method == "POST");
  }
  CHECK(http.asked[0].headers.at(1) == "Authorization: Bearer token-of-the-channel");
  CHECK(http.asked[0].headers.at(2) == "Idempotency-Key: \"grpo-7b%2Fopened%3A3%3Acritical\"");
  CHECK(http.asked[1].headers.size() == 1);
  CHECK_FALSE(contains(http.asked[1].body, "<!channel>"));
  CHECK_FALSE(contains(http.asked[1].body, "<http"));
  CHECK(contains(http.asked[2].body, "\"parse\":[]"));
  CHECK_FALSE(contains(http.asked[2].body, " **bold"));
  CHECK(http.asked[3].url == "https://hooks.example/T000/");
  CHECK(Json::parse(http.asked[3].body)->string_or("topic", "") == "secret-part");
  CHECK(Json::parse(http.asked[3].body)->integer_or("priority", 0) == 5);
}

TEST_CASE("no form grows beyond what its service takes") {
  const Message message = sample(std::string(100'000, '<'));
  CHECK(Json::parse(slack_request(channel("slack"), message).body)
            ->find("blocks")
            ->items()[1]
            .find("text")
            ->string_or("text", "")
            .size() <= 3000);
  CHECK(Json::parse(discord_request(channel("discord"), message).body)
            ->find("embeds")
            ->items()[0]
            .string_or("description", "")
            .size() <= 4096);
  CHECK(Json::parse(ntfy_request(channel("ntfy"), message).body)->string_or("message", "").size() <= 4096);
}

TEST_CASE("a failure that may pass is distinguished from one that will not") {
  FakeHttp http;
  const auto sent = [&](int status) {
    http.answer = HttpAnswer{status, "why not", 7};
    return send_message(channel("webhook"), sample(), http);
  };
  for (const int status : {200, 201, 204}) CHECK(sent(status).ok);
  for (const int status : {408, 425, 429, 500, 502, 503}) {
    CHECK((!sent(status).ok && sent(status).again));
    CHECK(sent(status).retry_after_s == 7);
  }
  for (const int status : {301, 400, 401, 403, 404, 410}) CHECK((!sent(status).ok && !sent(status).again));
  CHECK(sent(403).said == "HTTP 403: why not");
  http.answer = Error{Error::Code::kNotFound, "Could not resolve host: hooks.example", ""};
  CHECK(
      (!send_message(channel("webhook"), sample(), http).ok && send_message(channel("webhook"), sample(), http).again));
}

TEST_CASE("secrets do not come back in what a receiver said") {
  FakeHttp http;
  const ChannelSetting setting = channel("webhook");
  http.answer = HttpAnswer{404, "no route for " + setting.url + " with " + setting.token + "\nsecond line", -1};
  const Sent sent = send_message(setting, sample(), http);
  CHECK(sent.said == "HTTP 404: no route for <hidden> with <hidden> second line");
}

TEST_CASE("a channel that cannot work says what it lacks") {
  FakeHttp http;
  ChannelSetting setting = channel("webhook");
  setting.url = "";
  CHECK(send_message(setting, sample(), http).said == "it has no url");
  setting.url = "ftp://x";
  CHECK(send_message(setting, sample(), http).said == "its url does not begin with https:// or http://");
  setting = channel("ntfy");
  setting.url = "https://ntfy.sh/";
  CHECK(send_message(setting, sample(), http).said == "its url names no topic: https://ntfy.sh/TOPIC");
  setting.kind = "pigeon";
  CHECK_FALSE(send_message(setting, sample(), http).ok);
  CHECK(http.asked.empty());
}

std::string decoded(std::string_view base64) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : base64) {
    const size_t digit = std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/").find(c);
    if (digit == std::string_view::npos) continue;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    if ((count += 6) >= 8) out += static_cast<char>(bits >> (count -= 8) & 255);
  }
  return out;
}

TEST_CASE("a mail has its headers, its text, and nothing that a foreign text put there") {
  ChannelSetting setting = channel("email");
  setting.to = {"a@example.org", "b@example.org"};
  setting.server = "smtps://mail.example.org";
  setting.password = "password-of-the-server";
  Message message = sample("w\xc3\xa4rme\r\nBcc: evil@example.org " + std::string(200, 'x'));
  message.run = "r\r\nBcc: evil@example.org \xc3\xa9";
  FakeHttp http;
  CHECK(send_message(setting, message, http).ok);
  REQUIRE(http.mails.size() == 1);
  const MailRequest& mail = http.mails[0];
  CHECK(mail.from == "midwatch@node-17");
  CHECK(mail.tls == MailRequest::Tls::kRequire);
  const size_t end = mail.message.find("\r\n\r\n");
  REQUIRE(end != std::string::npos);
  const std::string head = mail.message.substr(0, end);
  CHECK(head.find("From: midwatch <midwatch@node-17>\r\nTo: a@example.org, b@example.org\r\nSubject: =?UTF-8?B?") == 0);
  CHECK(contains(head, "\r\nDate: Thu, 15 Jan 2026 09:56:59 +0000\r\n"));
  CHECK_FALSE(contains(head, "\nBcc"));
  for (const std::string_view line : split(mail.message, '\n')) CHECK(line.size() <= 78);
  CHECK(contains(decoded(std::string_view(mail.message).substr(end)), "w\xc3\xa4rme"));
  http.mailed = Error{Error::Code::kDenied, "no for password-of-the-server", ""};
  const Sent refused = send_message(setting, message, http);
  CHECK((!refused.ok && !refused.again && refused.said == "no for <hidden>"));
  http.mailed = Error{Error::Code::kIo, "450 later", ""};
  CHECK(send_message(setting, message, http).again);
}

TEST_CASE("without a server the sendmail program gets the mail") {
  ChannelSetting setting = channel("email");
  setting.to = {"a@example.org"};
  FakeHttp http;
  setting.sendmail = {"sh", "-c", "grep -q '^Subject: .midwatch. CRITICAL' && test \"$5\" = a@example.org", "sendmail"};
  const Sent sent = send_message(setting, sample(), http);
  CHECK_MESSAGE(sent.ok, sent.said);
  setting.sendmail = {"sh", "-c", "echo busy; exit 75"};
  CHECK(send_message(setting, sample(), http).again);
  CHECK(send_message(setting, sample(), http).said == "sh ended with exit status 75: busy");
  setting.sendmail = {"/nowhere/sendmail"};
  CHECK_FALSE(send_message(setting, sample(), http).ok);
}

TEST_CASE("addresses that would be options or headers are refused") {
  FakeHttp http;
  for (const char* wrong : {"", "nobody", "-O@x", "a@b c@d", "a@", "@b", "a@b\r\nBcc:c@d", "a@b,c@d", "<a@b>"}) {
    CAPTURE(wrong);
    ChannelSetting setting = channel("email");
    setting.to = {wrong};
    setting.sendmail = {"true"};
    CHECK_FALSE(send_message(setting, sample(), http).ok);
  }
}

TEST_CASE("a hook gets the message and its surroundings, and what it said is kept") {
  HookSetting hook{"h",
                   {"sh", "-c", "echo \"$MIDWATCH_EVENT $MIDWATCH_INCIDENT $MIDWATCH_KEY $MIDWATCH_RUN\"; cat"},
                   "/",
                   Duration::seconds(10)};
  std::string output;
  const Sent sent = run_hook(hook, sample(), output);
  CHECK((sent.ok && sent.said == "exit status 0"));
  CHECK(output == "opened 3 grpo-7b/opened:3:critical /data/runs/grpo-7b\n" + message_json(sample()) +
                      "\n=== midwatch: exit status 0 ===\n");
  hook.command = {"sh", "-c", "exit 4"};
  CHECK((!run_hook(hook, sample(), output).ok && run_hook(hook, sample(), output).said == "exit status 4"));
  hook.command = {"sleep", "100"};
  hook.timeout = Duration::millis(100);
  const Sent late = run_hook(hook, sample(), output);
  CHECK((!late.ok && !late.again && late.said == "ended by midwatch after 100 ms (ended by signal 15)"));
  hook.command = {"/nowhere/hook"};
  CHECK(run_hook(hook, sample(), output).said == "cannot start /nowhere/hook: No such file or directory");
}

}  // namespace
}  // namespace mw
