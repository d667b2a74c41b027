#include "app/verify.h"

#include "act/supervise/run_files.h"
#include "app/config/config.h"
#include "app/config/rule_settings.h"
#include "app/config/settings.h"
#include "app/config/signal_settings.h"
#include "base/text.h"
#include "core/event_codec.h"
#include "core/supervise/verify.h"
#include "journal/journal.h"

namespace mw {
namespace {

class JournalReading final : public Journal::Reader {
 public:
  JournalReading(Verifier& verifier, VerifyAnswer& answer) : verifier_(verifier), answer_(answer) {}
  void record(uint64_t number, std::string_view json) override {
    Event event;
    const Decoded decoded = decode_event(json, event);
    if (decoded == Decoded::kBad) answer_.damage.push_back(cat("record ", number, " is no event"));
    if (decoded == Decoded::kEvent) verifier_.take(event);
  }
  void damage(const std::string& what) override { answer_.damage.push_back(what); }

 private:
  Verifier& verifier_;
  VerifyAnswer& answer_;
};

/// Rules of the user's own judge, too.
void add_rules(Disk& disk, KnowledgeBase& knowledge, const std::string& run_folder) {
  const auto spec = load_run_spec(disk, run_folder);
  if (!spec.ok() || spec->config.empty()) return;
  const auto config = load_config(disk, spec->config);
  if (config.ok() && config->check().ok()) learn_settings(*config, knowledge);
}

}  // namespace

bool is_run_folder(Disk& disk, const std::string& path) {
  const auto info = disk.info(cat(path, "/journal"));
  return info.ok() && info->kind == FileInfo::Kind::kFolder;
}

Result<VerifyAnswer> verify_run(Disk& disk, KnowledgeBase& knowledge, const std::string& run_folder) {
  add_rules(disk, knowledge, run_folder);
  VerifyAnswer answer;
  answer.folder = run_folder;
  answer.run = basename(run_folder);
  Verifier verifier(knowledge.knowledge(), knowledge.digest(), MIDWATCH_VERSION);
  JournalReading reading(verifier, answer);
  const auto read = Journal::read(disk, cat(run_folder, "/journal"), reading);
  if (!read.ok()) return read.error();
  verifier.finish();
  answer.events = verifier.events();
  answer.judgements = verifier.judgements();
  answer.decisions = verifier.decisions();
  answer.same_knowledge = verifier.same_knowledge();
  answer.differing = verifier.differing();
  answer.differences = verifier.differences();
  return answer;
}

}  // namespace mw
