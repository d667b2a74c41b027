#include "app/notifications.h"

#include <algorithm>

#include "app/config/notify_settings.h"
#include "app/config/settings.h"
#include "base/text.h"
#include "platform/paths.h"

namespace mw {
namespace {

/// ".../home/runs/NAME" → ".../home".
std::string home_above(const std::string& run_folder) {
  const size_t runs = run_folder.rfind("/runs/");
  return runs == std::string::npos ? run_folder : run_folder.substr(0, runs);
}

}  // namespace

Result<std::unique_ptr<Notifications>> Notifications::make(const Doors& doors, const std::string& config,
                                                           std::function<void(const std::string&)> say) {
  std::unique_ptr<Notifications> made(new Notifications());
  if (config.empty()) return made;
  const auto loaded = load_config(doors.disk, config);
  if (!loaded.ok()) return loaded.error();
  MW_TRY(loaded->check());
  auto settings = notify_settings(doors.disk, *loaded);
  if (!settings.ok()) return settings.error();
  if (settings->channels.empty()) return made;
  if (!say) say = [](const std::string&) {};
  made->http_ = make_http();
  made->notifier_ = std::make_unique<Notifier>(
      NotifierDoors{doors.disk, doors.clock, *made->http_, std::move(say), doors.known}, std::move(*settings));
  return made;
}

void Notifications::watches(const std::string& recorded_in) {
  if (notifier_ == nullptr) return;
  const std::string run_folder = absolute_path(recorded_in, real_path("."));
  notifier_->watch({std::string(basename(run_folder)), home_above(run_folder), false, false}, run_folder);
}

void Notifications::supervises(const std::string& run_folder, const RunSpec& spec) {
  if (notifier_ == nullptr) return;
  notifier_->watch({std::string(basename(run_folder)), home_above(run_folder), true, spec.breaker, spec.breaking,
                    spec.breaking_learning, spec.breaking_hang, spec.answer_patience},
                   run_folder);
}

Result<std::vector<NotifyResult>> test_channels(Disk& disk, Clock& clock, const Config& config,
                                                const std::string& only) {
  MW_TRY(config.check());
  auto names = config.names("notify.channel");
  for (std::string& hook : config.names("hook")) names.push_back(std::move(hook));
  if (names.empty()) {
    return Error{
        Error::Code::kNotFound, "no channel and no hook is set up",
        "Write one into midwatch.toml: [notify.channel.phone], kind = \"ntfy\", url = \"https://ntfy.sh/TOPIC\"."};
  }
  const auto settings = notify_settings(disk, config);
  if (!settings.ok()) return settings.error();
  std::vector<NotifyResult> results;
  const auto http = make_http();
  for (const ChannelRule& rule : settings->channels) {
    if (!only.empty() && rule.channel.name != only) continue;
    Notice notice;
    notice.event = "test";
    notice.key = cat("test:", clock.now().ns);
    notice.what = "This is what a message from midwatch looks like. Nothing has happened.";
    notice.advice = "Nothing.";
    const Message message{"a-test", host_name(), "", clock.now(), false, {notice}};
    const Duration began = clock.steady();
    std::string output;
    const Sent sent = rule.hook ? run_hook(*rule.hook, message, output) : send_message(rule.channel, message, *http);
    const double seconds = Duration{clock.steady().ns - began.ns}.seconds();
    results.push_back({rule.channel.name, rule.hook ? "hook" : rule.channel.kind, sent.ok, sent.said, seconds});
  }
  if (!results.empty()) return results;
  std::string all;
  for (const std::string& name : names) all += cat(all.empty() ? "" : ", ", name);
  return Error{Error::Code::kInvalid, cat("there is no channel or hook called '", only, "'"),
               cat("There is: ", all, ".")};
}

}  // namespace mw
