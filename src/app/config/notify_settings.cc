#include "app/config/notify_settings.h"

#include <algorithm>

#include "app/config/settings.h"
#include "base/text.h"
#include "base/units.h"

namespace mw {
namespace {

constexpr std::string_view kChannels = "notify.channel", kHooks = "hook";

std::string path_of(std::string_view channel, std::string_view key) { return cat(kChannels, ".", channel, ".", key); }

/// A channel's own value, else that of all.
const ConfigValue* own_or_common(const Config& config, std::string_view channel, std::string_view key) {
  const ConfigValue* own = config.find(path_of(channel, key));
  return own != nullptr ? own : config.find(cat("notify.", key));
}

Severity severity_of(std::string_view word) {
  return word == "info" ? Severity::kInfo : word == "warning" ? Severity::kWarning : Severity::kCritical;
}

/// The setting without its secrets; they count as given when the file says where they are.
ChannelSetting plain_setting(const Config& config, const std::string& name) {
  ChannelSetting setting;
  setting.name = name;
  setting.kind = config.text(path_of(name, "kind"));
  setting.timeout = config.duration(path_of(name, "timeout"));
  setting.to = config.texts(path_of(name, "to"));
  setting.from = config.text(path_of(name, "from"));
  setting.server = config.text(path_of(name, "server"));
  setting.user = config.text(path_of(name, "user"));
  setting.tls = config.text(path_of(name, "tls"));
  setting.sendmail = config.texts(path_of(name, "sendmail"));
  return setting;
}

ChannelRule hook_rule(const Config& config, const std::string& name) {
  const auto path = [&](std::string_view key) { return cat(kHooks, ".", name, ".", key); };
  ChannelRule rule;
  rule.channel.name = name;
  rule.hook = HookSetting{name, config.texts(path("command")), config.path().substr(0, config.path().rfind('/')),
                          config.duration(path("timeout"))};
  rule.events = config.texts(path("events"));
  rule.least = severity_of(config.text(path("min_severity")));
  rule.per_hour = static_cast<int>(config.number(path("per_hour")));
  return rule;
}

}  // namespace

Result<NotifySettings> notify_settings(Disk& disk, const Config& config) {
  NotifySettings settings;
  settings.escalate_after = config.duration("notify.escalate_after");
  settings.escalate_times = static_cast<int>(config.number("notify.escalate_times"));
  settings.escalate_to = config.texts("notify.escalate_to");
  settings.give_up_after = config.duration("notify.give_up_after");
  for (const std::string& name : config.names(kChannels)) {
    ChannelRule rule;
    rule.channel = plain_setting(config, name);
    const auto take = [&](std::string_view key, std::string& out) -> Result<void> {
      const ConfigValue* value = config.find(path_of(name, key));
      if (value == nullptr) return {};
      auto secret = reveal(disk, value->secret);
      if (!secret.ok()) {
        return Error{Error::Code::kInvalid,
                     cat(config.path(), ":", value->line, ": channel ", name, ": ", secret.error().what),
                     secret.error().hint};
      }
      out = std::move(*secret);
      return {};
    };
    MW_TRY(take("url", rule.channel.url));
    MW_TRY(take("token", rule.channel.token));
    MW_TRY(take("password", rule.channel.password));
    const ChannelKind* kind = find_channel_kind(rule.channel.kind);
    const std::string lacking = kind == nullptr ? "it has no kind" : kind->lacks(rule.channel);
    if (!lacking.empty()) {
      return Error{Error::Code::kInvalid,
                   cat(config.path(), ":", config.line_of(kChannels, name), ": channel ", name, ": ", lacking), ""};
    }
    rule.events = own_or_common(config, name, "events")->texts;
    rule.least = severity_of(own_or_common(config, name, "min_severity")->text);
    rule.per_hour = static_cast<int>(config.number(path_of(name, "per_hour")));
    settings.channels.push_back(std::move(rule));
  }
  for (const std::string& name : config.names(kHooks)) settings.channels.push_back(hook_rule(config, name));
  return settings;
}

std::vector<ConfigProblem> notify_problems(const Config& config) {
  std::vector<ConfigProblem> problems;
  const auto names = config.names(kChannels);
  for (const std::string& name : names) {
    const uint32_t line = config.line_of(kChannels, name);
    ChannelSetting setting = plain_setting(config, name);
    const ChannelKind* kind = find_channel_kind(setting.kind);
    if (kind == nullptr) {
      problems.push_back(
          {line, cat("channel ", name, " has no kind"), "Say what it is: kind = \"slack\", for example."});
      continue;
    }
    const Secret url = config.secret(path_of(name, "url"));
    // What stands elsewhere is not known before it is used; then it is checked again.
    if (url.given()) setting.url = url.from == Secret::From::kText ? url.text : "https://elsewhere.invalid/topic";
    if (const std::string lacking = kind->lacks(setting); !lacking.empty()) {
      const ConfigValue* value = config.find(path_of(name, "url"));
      problems.push_back({value != nullptr ? value->line : line, cat("channel ", name, ": ", lacking), ""});
    }
  }
  for (const std::string& name : config.names(kHooks)) {
    const ConfigValue* events = config.find(cat(kHooks, ".", name, ".events"));
    if (events != nullptr && events->texts.empty())
      problems.push_back({events->line, cat("hook ", name, " names no event, so nothing ever runs it"),
                          "Leave events out for opened, asks and stopped, or name some."});
    if (!config.texts(cat(kHooks, ".", name, ".command")).empty()) continue;
    problems.push_back({config.line_of(kHooks, name), cat("hook ", name, " has no command"),
                        "Say what to run: command = [\"./on-incident.sh\"]."});
  }
  const ConfigValue* to = config.find("notify.escalate_to");
  for (const std::string& name : to == nullptr ? std::vector<std::string>() : to->texts) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::vector<std::string_view> known(names.begin(), names.end());
    const std::string_view near = nearest(name, known);
    problems.push_back({to->line, cat("notify.escalate_to: there is no channel \"", clip(name, 60), "\""),
                        near.empty() ? "" : cat("Did you mean ", near, "?")});
  }
  return problems;
}

}  // namespace mw
