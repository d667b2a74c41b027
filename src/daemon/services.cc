#include "daemon/services.h"

#include <chrono>

#include "base/text.h"
#include "daemon/attach.h"
#include "daemon/durable.h"
#include "daemon/recorder.h"
#include "daemon/run.h"
#include "daemon/run_reader.h"
#include "daemon/settings.h"
#include "platform/clock.h"
#include "platform/lock.h"
#include "platform/posix_disk.h"
#include "platform/watch.h"

namespace mw {

DaemonServices::DaemonServices() : disk_(make_posix_disk()) {}
DaemonServices::~DaemonServices() = default;

Result<void> DaemonServices::learn(const std::vector<std::string>& folders) {
  if (language_ != nullptr) return {};
  auto loaded = Language::load(folders);
  if (!loaded.ok()) return loaded.error();
  language_ = std::move(*loaded);
  return {};
}

const Knowledge& DaemonServices::knowledge() { return learn({}).ok() ? language_->knowledge() : none_; }

Result<std::unique_ptr<Replayed>> DaemonServices::replay(const ReplayRequest& request) {
  const auto began = std::chrono::steady_clock::now();
  MW_TRY(learn(request.knowledge));
  RunReader reader(*disk_, *language_, Judge::kAtClose, nullptr, {});
  MW_TRY(reader.open(request.paths, request.framework));
  reader.read_all(request.progress);
  reader.close();
  auto told = std::make_unique<Replayed>();
  told->input = reader.figures();
  told->input.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  told->notes = std::move(reader.notes());
  told->partial = reader.partial();
  told->state = std::move(reader.state());
  return told;
}

Result<std::unique_ptr<Replayed>> DaemonServices::attach(const AttachRequest& request) {
  MW_TRY(learn(request.knowledge));
  auto watch = Watch::make();
  if (!watch.ok()) return watch.error();
  const auto clock = make_posix_clock();
  const auto locks = make_posix_locks();
  return attach_run({*disk_, *clock, **watch, *locks}, *language_, request);
}

Result<RunTold> DaemonServices::run(const RunRequest& request) {
  MW_TRY(learn(request.knowledge));
  auto watch = Watch::make();
  if (!watch.ok()) return watch.error();
  const auto clock = make_posix_clock();
  const auto locks = make_posix_locks();
  const auto processes = make_posix_processes();
  return hold_run({*disk_, *clock, **watch, *locks}, *processes, *language_, request);
}

namespace {

template <typename Request>
Result<void> configure_request(Disk& disk, const std::string& file, Request& request) {
  const auto config = load_config(disk, file);
  if (!config.ok()) return config.error();
  MW_TRY(config->check());
  apply(*config, request);
  return {};
}

}  // namespace

Result<void> DaemonServices::configure(const std::string& file, RunRequest& request) {
  return configure_request(*disk_, file, request);
}

Result<void> DaemonServices::configure(const std::string& file, AttachRequest& request) {
  return configure_request(*disk_, file, request);
}

Result<ConfigTold> DaemonServices::config(const std::string& file) {
  const auto config = load_config(*disk_, file);
  if (!config.ok()) return config.error();
  return tell_config(*disk_, *config);
}

std::string DaemonServices::config_reference(bool json) { return json ? config_reference_json() : config_page(); }

Result<std::unique_ptr<Replayed>> DaemonServices::recorded(const std::string& home, const std::string& run) {
  auto state = read_recorded(*disk_, home, run);
  if (!state.ok()) return state.error();
  auto told = std::make_unique<Replayed>();
  for (const SourceState& source : state->sources) {
    ++told->input.files;
    told->input.bytes += source.bytes;
    told->input.lines += source.lines;
  }
  told->state = std::move(*state);
  return told;
}

Result<void> DaemonServices::write_file(const std::string& path, std::string_view text) {
  return write_durably(*disk_, path, text);
}

}  // namespace mw
