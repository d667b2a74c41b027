#include "daemon/run_reader.h"

#include "base/text.h"
#include "core/advance.h"

namespace mw {
namespace {

constexpr size_t kTurnBytes = size_t{8} << 20;  // bytes between two calls of progress

}  // namespace

RunReader::RunReader(Disk& disk, const Language& language, Judge when)
    : disk_(disk), language_(language), when_(when), voice_(language) {}

Result<void> RunReader::open(const std::vector<std::string>& paths, const std::string& framework) {
  auto found = discover(disk_, paths, worth_reading);
  if (!found.ok()) return found.error();
  notes_ = std::move(found->notes);
  partial_ = !notes_.empty();
  voice_.framework = framework;
  for (const FoundFile& file : found->files) {
    const auto number = static_cast<uint32_t>(sources_.size());
    auto source = std::make_unique<SourceReader>(disk_, file, number, voice_, *this);
    source->look();
    const FileKind kind = source->looked_like();
    const bool known = kind == FileKind::kText || kind == FileKind::kSqlite || make_decoder(kind, file.path) != nullptr;
    if (!known) {
      if (file.named) notes_.push_back(cat(file.path, ": ", kind_name(kind), "; nothing in it that midwatch reads"));
      continue;
    }
    if (kind == FileKind::kText) voice_.console_inside = false;
    total_bytes_ += file.info.size;
    sources_.push_back(std::move(source));
  }
  if (sources_.empty()) {
    return Error{Error::Code::kUnsupported, cat("nothing that midwatch can read in ", paths.front()),
                 "It reads text logs, JSON lines and documents, CSV, .wandb, tensorboard, trackio and MLflow files."};
  }
  say_framework();
  return {};
}

void RunReader::say_framework() {
  if (voice_.recogniser.version() == said_version_) return;
  said_version_ = voice_.recogniser.version();
  const Recogniser::Answer answer = voice_.recogniser.answer();
  if (answer.framework == said_framework_) return;
  said_framework_ = answer.framework;
  Event event;
  event.body = event::Recognised{answer.framework, "", answer.confidence};
  put(std::move(event));
}

void RunReader::put(Event&& event) {
  advance(state_, event, language_.knowledge(), when_, decided_);
  decided_.clear();
}

void RunReader::read_all(const std::function<void(int64_t, int64_t)>& progress) {
  int64_t before = 0;
  for (const auto& source : sources_) {
    for (;;) {
      const auto got = source->poll(kTurnBytes);
      if (!got.ok()) {
        notes_.push_back(cat(source->path(), ": ", got.error().what));
        partial_ = true;
        break;
      }
      say_framework();
      if (*got == 0) break;
      if (progress) progress(before + source->bytes(), total_bytes_);
    }
    source->finish();
    before += source->bytes();
  }
}

void RunReader::close() {
  say_framework();
  Event event;
  event.body = event::Closed{};
  put(std::move(event));
}

InputFigures RunReader::figures() const {
  InputFigures figures;
  for (const auto& source : sources_) {
    if (!source->readable()) continue;
    ++figures.files;
    figures.bytes += source->bytes();
    figures.lines += source->lines();
  }
  return figures;
}

}  // namespace mw
