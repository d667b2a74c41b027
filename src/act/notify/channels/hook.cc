#include "act/notify/channels/hook.h"

#include "base/text.h"
#include "platform/program.h"

namespace mw {

Sent run_hook(const HookSetting& setting, const Message& message, std::string& output) {
  const Notice& notice = leading(message);
  ProgramRequest program;
  program.command = setting.command;
  program.folder = setting.folder;
  program.limit = setting.timeout;
  program.input = message_json(message) + "\n";
  program.environment = {{"MIDWATCH_EVENT", notice.event},
                         {"MIDWATCH_KEY", message_key(message)},
                         {"MIDWATCH_RUN", message.folder},
                         {"MIDWATCH_INCIDENT", notice.incident == 0 ? "" : cat(notice.incident)}};
  const auto end = run_program(program);
  if (!end.ok()) {
    output = cat("=== midwatch: ", end.error().what, " ===\n");
    return {false, false, -1, end.error().what};
  }
  const std::string how = end->signal != 0 ? cat("ended by signal ", end->signal) : cat("exit status ", end->code);
  std::string said =
      end->late ? cat("ended by midwatch after ", format_duration(setting.timeout), " (", how, ")") : how;
  output = redact_secrets(end->output);
  if (!output.empty() && output.back() != '\n') output += '\n';
  if (end->dropped > 0) output += cat("=== midwatch: ", end->dropped, " more bytes were dropped ===\n");
  output += cat("=== midwatch: ", said, " ===\n");
  return {end->code == 0 && !end->late, false, -1, std::move(said)};
}

}  // namespace mw
