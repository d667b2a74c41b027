#include "app/preflight.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "base/numbers.h"
#include "base/text.h"
#include "base/units.h"
#include "platform/background_call.h"
#include "platform/clock.h"
#include "platform/gpus.h"
#include "platform/paths.h"
#include "platform/program.h"
#include "platform/real/posix_disk.h"
#include "platform/system.h"
#include "sense/preflight/gather.h"
#include "sense/preflight/host_facts.h"

namespace mw {
namespace {

constexpr Duration kGpuPatience = Duration::seconds(15);  // a driver that hangs never answers

/// What the driver says, within its time.
GpuSnapshot look_at_gpus(Clock& clock) {
  BackgroundCall<Result<GpuSnapshot>> call;
  call.start([gpus = std::shared_ptr<Gpus>(make_gpus())] { return gpus->look(); });
  const int64_t until = clock.steady().ns + kGpuPatience.ns;
  while (call.busy() && clock.steady().ns < until) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto answer = call.take();
  return answer.has_value() && answer->ok() ? **answer : GpuSnapshot{};
}

/// A finding as it may be shown: no value of a secret, nothing of endless length.
void make_presentable(preflight::Finding& finding) {
  constexpr size_t kMost = 1200;  // bytes of one sentence
  for (std::string* text : {&finding.what, &finding.why, &finding.fix, &finding.value, &finding.key}) {
    *text = clip(redact_secrets(*text), kMost);
  }
}

std::string machine_line(const preflight::Host& host) {
  const std::string where = host.is_here ? "this machine" : "a machine elsewhere";
  if (host.gpus.empty()) return cat(where, ", no NVIDIA GPU seen");
  const preflight::Gpu& gpu = host.gpus.front();
  return cat(where, ", ", host.gpus.size(), host.gpus.size() == 1 ? " GPU" : " GPUs",
             gpu.bytes > 0 ? cat(" of ", format_bytes(gpu.bytes)) : "");
}

std::string model_line(const preflight::Facts& facts) {
  if (!facts.model.has_value()) return "";
  const preflight::ModelFacts& model = *facts.model;
  if (model.parameters <= 0) return model.name;
  return cat(model.name, " (", format_short(model.parameters / 1e9, 3), " billion parameters by ", model.known_by, ")");
}

/// Asks the Python of the command itself, which knows its environments; nothing of the module is run.
std::optional<bool> finds_module(const std::string& python, const std::string& module) {
  constexpr int kNotFound = 3;
  ProgramRequest request;
  request.command = {python, "-c",
                     cat("import sys, importlib.util\nsys.exit(", kNotFound,
                         " if importlib.util.find_spec(sys.argv[1]) is None else 0)"),
                     module};
  request.limit = Duration::seconds(10);
  const auto end = run_program(request);
  if (!end.ok() || end->late || (end->code != 0 && end->code != kNotFound)) return std::nullopt;
  return end->code == 0;
}

Result<preflight::Asked> asked_of(const PreflightRequest& request, const State* measured) {
  preflight::Asked asked;
  asked.command = request.command;
  asked.files = request.files;
  asked.folder = absolute_path(".");
  asked.finds_module = finds_module;
  if (!request.gpus.empty()) {
    auto gpus = preflight::parse_gpus(request.gpus);
    if (!gpus.ok()) return gpus.error();
    asked.gpus = std::move(*gpus);
  }
  if (!request.disk.empty()) {
    const auto size = parse_size(request.disk);
    if (!size.ok()) return size.error();
    asked.disk = static_cast<double>(*size);
  }
  if (measured != nullptr) {
    asked.measured.run = request.like;
    asked.measured.checkpoint_bytes = largest_checkpoint(*measured);
  }
  return asked;
}

/// Every name of `ignored` is one of a lint or a rule: a misspelt one would pass in silence.
Result<void> check_ignored(const std::vector<std::string>& ignored, const preflight::Catalogue& catalogue) {
  std::vector<std::string_view> known;
  for (const preflight::Lint* lint : preflight::all_lints()) known.push_back(lint->name);
  for (const preflight::Rule& rule : catalogue.rules) known.emplace_back(rule.id);
  for (const preflight::Framework& framework : catalogue.frameworks) {
    for (const preflight::Rule& rule : framework.rules) known.emplace_back(rule.id);
  }
  for (const std::string& name : ignored) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string_view near = nearest(name, known);
    return Error{Error::Code::kInvalid, cat("there is no lint \"", name, "\""),
                 near.empty() ? "docs/preflight.md lists them" : cat("did you mean ", near, "?")};
  }
  return {};
}

}  // namespace

std::optional<double> largest_checkpoint(const State& state) {
  double most = 0;
  for (const auto& [moment, seen] : state.checkpoint_scans) most = std::max(most, static_cast<double>(seen.bytes));
  for (const Series& series : state.host) {
    if (series.signal.starts_with("checkpoint.bytes") && !series.empty()) most = std::max(most, series.max());
  }
  return most > 0 ? std::optional<double>(most) : std::nullopt;
}

Result<PreflightAnswer> run_preflight(const PreflightRequest& request, const State* measured) {
  if (request.command.empty() && request.files.empty()) {
    return Error{Error::Code::kInvalid, "there is no command to check",
                 "Write it behind --: midwatch preflight -- bash train.sh; or name its settings with --config FILE."};
  }
  const auto knowledge = preflight::load_knowledge();
  if (!knowledge.ok()) return knowledge.error();
  auto asked = asked_of(request, measured);
  if (!asked.ok()) return asked.error();
  if (measured != nullptr && !asked->measured.checkpoint_bytes.has_value()) {
    return Error{Error::Code::kUnsupported, cat("no checkpoint of ", request.like, " was seen"),
                 "leave --like out; sizes are estimated then"};
  }
  if (const auto known = check_ignored(request.ignored, knowledge->catalogue); !known.ok()) return known.error();
  const auto clock = make_posix_clock();
  asked->now = clock->now();
  const auto system = make_posix_system();
  const preflight::Facts facts = preflight::gather(*system, *knowledge, *asked, [&] { return look_at_gpus(*clock); });
  PreflightAnswer answer;
  answer.findings = preflight::check(facts, knowledge->catalogue);
  std::erase_if(answer.findings, [&](const preflight::Finding& finding) {
    return std::find(request.ignored.begin(), request.ignored.end(), finding.lint) != request.ignored.end();
  });
  for (preflight::Finding& finding : answer.findings) make_presentable(finding);
  if (facts.framework != nullptr) answer.framework = facts.framework->title;
  answer.version = facts.version;
  answer.model = model_line(facts);
  answer.command = facts.command;
  answer.files = facts.files;
  answer.machine = machine_line(facts.host);
  answer.settings = facts.settings.all().size();
  answer.lints = preflight::all_lints().size() + knowledge->catalogue.rules.size() +
                 (facts.framework != nullptr ? facts.framework->rules.size() : 0);
  return answer;
}

std::string save_setting(std::string_view framework) {
  const auto knowledge = preflight::load_knowledge();
  if (!knowledge.ok()) return "";
  for (const preflight::Framework& one : knowledge->catalogue.frameworks) {
    const auto meaning = one.meanings.find("checkpoint_every");
    if (one.id != framework || meaning == one.meanings.end() || meaning->second.keys.empty()) continue;
    return meaning->second.keys.front();
  }
  return "";
}

}  // namespace mw
