// E-mail: over an SMTP server, or by the machine's own sendmail program.
#include <algorithm>
#include <array>

#include "act/notify/channels/channel.h"
#include "base/checksum.h"
#include "base/text.h"
#include "platform/program.h"

namespace mw {
namespace {

constexpr size_t kMailTextLimit = 20000;  // bytes of a mail's text

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (size_t k = 0; k < 4; ++k) out += i + k > bytes.size() ? '=' : kDigits[group >> (18 - 6 * k) & 63];
  }
  return out;
}

/// "Thu, 15 Jan 2026 09:56:02 +0000" (RFC 5322).
std::string mail_date(Time at) {
  constexpr std::array<std::string_view, 7> kDays = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::string utc = format_utc(at);
  if (utc.size() < 19) return "";
  const auto month = parse_int(utc.substr(5, 2)).value_or(1);
  const int64_t day = at.ns / 1'000'000'000 / 86400;  // since a Thursday
  return cat(kDays[static_cast<size_t>(day % 7)], ", ", utc.substr(8, 2), " ",
             kMonths[static_cast<size_t>(month - 1) % 12], " ", utc.substr(0, 4), " ", utc.substr(11, 8), " +0000");
}

/// A header's text as encoded words (RFC 2047) where it is not plain ASCII; never with a line end in it.
std::string header_text(std::string_view text) {
  std::string plain = sanitize_utf8(text);
  for (char& c : plain) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  if (std::all_of(plain.begin(), plain.end(), [](char c) { return static_cast<unsigned char>(c) < 127; })) return plain;
  std::string out;
  constexpr size_t kPiece = 42;  // bytes; an encoded word has at most 75 characters
  for (size_t at = 0; at < plain.size();) {
    size_t end = std::min(plain.size(), at + kPiece);
    while (end < plain.size() && (static_cast<unsigned char>(plain[end]) & 0xC0) == 0x80) --end;
    out += cat(out.empty() ? "" : "\r\n ", "=?UTF-8?B?", base64(std::string_view(plain).substr(at, end - at)), "?=");
    at = end;
  }
  return out;
}

bool good_address(std::string_view address) {
  const size_t at = address.find('@');
  return at != std::string_view::npos && at > 0 && at + 1 < address.size() && address.front() != '-' &&
         std::all_of(address.begin(), address.end(), [](char c) {
           return static_cast<unsigned char>(c) > ' ' && static_cast<unsigned char>(c) < 127 && c != '<' && c != '>' &&
                  c != ',' && c != ';' && c != '"';
         });
}

std::string sender_of(const ChannelSetting& setting, const Message& message) {
  if (!setting.from.empty()) return setting.from;
  const std::string address = cat("midwatch@", message.host.empty() ? "localhost" : message.host);
  return good_address(address) ? address : "midwatch@localhost";
}

}  // namespace

std::string mail_text(const ChannelSetting& setting, const Message& message) {
  std::string to;
  for (const std::string& address : setting.to) to += cat(to.empty() ? "" : ", ", address);
  const uint64_t number = fnv1a(message_key(message));  // a repeated message has the same number and is shown once
  std::string text = cat("From: midwatch <", sender_of(setting, message), ">\r\nTo: ", to,
                         "\r\nSubject: ", header_text(cat("[midwatch] ", message_title(message))),
                         "\r\nDate: ", mail_date(message.at), "\r\nMessage-ID: <", number, "@midwatch.invalid>\r\n",
                         "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
                         "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n");
  const std::string body = base64(message_text(message, kMailTextLimit) + "\n");
  for (size_t at = 0; at < body.size(); at += 76) text += cat(std::string_view(body).substr(at, 76), "\r\n");
  return text;
}

namespace channels {
namespace {

Sent by_server(const ChannelSetting& setting, const Message& message, Http& http) {
  MailRequest mail;
  mail.server = setting.server;
  mail.user = setting.user;
  mail.password = setting.password;
  mail.tls = setting.tls == "never"        ? MailRequest::Tls::kNever
             : setting.tls == "if-offered" ? MailRequest::Tls::kIfOffered
                                           : MailRequest::Tls::kRequire;
  mail.from = sender_of(setting, message);
  mail.to = setting.to;
  mail.message = mail_text(setting, message);
  mail.deadline = setting.timeout;
  const auto done = http.mail(mail);
  if (done.ok()) return {true, false, -1, "accepted by the mail server"};
  const bool final = done.error().code == Error::Code::kInvalid || done.error().code == Error::Code::kDenied;
  return {false, !final, -1, cat(done.error().what, done.error().hint.empty() ? "" : ". ", done.error().hint)};
}

Sent by_program(const ChannelSetting& setting, const Message& message) {
  ProgramRequest program;
  program.command = setting.sendmail;
  for (const char* word : {"-i", "-f"}) program.command.emplace_back(word);
  program.command.push_back(sender_of(setting, message));
  program.command.emplace_back("--");
  program.command.insert(program.command.end(), setting.to.begin(), setting.to.end());
  program.input = mail_text(setting, message);
  program.input.erase(std::remove(program.input.begin(), program.input.end(), '\r'), program.input.end());
  program.limit = setting.timeout;
  program.output_limit = 4096;
  const auto end = run_program(program);
  if (!end.ok()) return {false, false, -1, end.error().what};
  if (end->code == 0) return {true, false, -1, cat("accepted by ", basename(setting.sendmail.front()))};
  constexpr int kTemporary = 75;  // EX_TEMPFAIL of sysexits.h
  const std::string how = end->late          ? "took too long"
                          : end->signal != 0 ? cat("ended by signal ", end->signal)
                                             : cat("ended with exit status ", end->code);
  return {false, end->late || end->code == kTemporary, -1,
          cat(basename(setting.sendmail.front()), " ", how, ": ", clip(trim(end->output), 200))};
}

Sent send(const ChannelSetting& setting, const Message& message, Http& http) {
  return setting.server.empty() ? by_program(setting, message) : by_server(setting, message, http);
}

std::string lacks(const ChannelSetting& setting) {
  if (setting.to.empty()) return "it names nobody to write to: to = [\"me@example.org\"]";
  for (const std::string& address : setting.to) {
    if (!good_address(address)) return cat("\"", clip(address, 60), "\" is not a mail address");
  }
  if (!setting.from.empty() && !good_address(setting.from))
    return cat("\"", clip(setting.from, 60), "\" is not a mail address");
  if (setting.server.empty()) return setting.sendmail.empty() ? "it has neither a server nor a sendmail program" : "";
  if (setting.server.rfind("smtp://", 0) != 0 && setting.server.rfind("smtps://", 0) != 0) {
    return "its server does not begin with smtp:// or smtps://";
  }
  return {};
}

}  // namespace

extern const ChannelKind email;
const ChannelKind email = {"email", send, lacks};

}  // namespace channels
}  // namespace mw
