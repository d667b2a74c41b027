#include "read/books/knowledge_base.h"

#include <algorithm>
#include <iterator>

#include "base/checksum.h"
#include "base/text.h"
#include "base/toml.h"
#include "platform/real/posix_disk.h"
#include "read/books/archive.h"
#include "read/books/embedded.h"
#include "read/books/engine_book.h"
#include "read/books/signature_book.h"

namespace mw {
namespace {

constexpr size_t kKnowledgeBytes = size_t{4} << 20;  // bytes of one knowledge file of the user's

struct UserFiles {
  std::vector<SignatureBook::File> failures;
  std::vector<SignatureBook::File> dialects;
  std::vector<SignatureBook::File> rules;
};

/// Does the text of a rule file hold [rule.NAME] tables, rather than the rules of an answer (docs/formats/rules.md)?
bool holds_user_rules(std::string_view text) {
  const auto root = Toml::parse(text, "");
  const Toml* rules = root.ok() ? root->find("rule") : nullptr;
  return rules != nullptr && rules->is_table();
}

/// Files of `folder`/signatures, /causes, /dialects and /rules; a *.toml right in `folder` is a dialect when it says
/// so.
Result<void> read_user_files(Disk& disk, const std::string& folder, UserFiles& files) {
  size_t taken = 0;
  for (const std::string_view part : {"signatures", "causes", "dialects", "rules"}) {
    const std::string path = cat(folder, "/", part);
    const auto names = disk.list(path);
    if (!names.ok()) continue;
    for (const std::string& name : *names) {
      if (name.size() < 6 || name.substr(name.size() - 5) != ".toml") continue;
      auto file = disk.open_read(cat(path, "/", name));
      if (!file.ok()) return file.error();
      SignatureBook::File taken_file{cat(path, "/", name), ""};
      MW_TRY((*file)->read_at(0, kKnowledgeBytes, taken_file.text));
      auto& kept = part == "dialects" ? files.dialects : part == "rules" ? files.rules : files.failures;
      kept.push_back(std::move(taken_file));
      ++taken;
    }
  }
  if (taken > 0) return {};
  return Error{Error::Code::kNotFound, cat("no *.toml in ", folder, "/dialects, /signatures, /causes or /rules"),
               "docs/formats/dialect.md, signature.md and rules.md say what goes there."};
}

}  // namespace

Result<std::unique_ptr<KnowledgeBase>> KnowledgeBase::load(const std::vector<std::string>& folders,
                                                           const ReadRules& read_rules) {
  if (folders.empty()) {
    if (const auto compiled = compiled_knowledge()) return read(*compiled);
  }
  UserFiles files;
  const auto disk = make_posix_disk();
  for (const std::string& folder : folders) MW_TRY(read_user_files(*disk, folder, files));
  auto book = DialectBook::built_in();
  if (!book.ok()) return book.error();
  for (const SignatureBook::File& file : files.dialects) MW_TRY(book->add(file.text, file.path));
  std::vector<UserRule> rules;
  for (const SignatureBook::File& file : files.rules) {
    if (!holds_user_rules(file.text)) {
      MW_TRY(book->add_rules(file.text, file.path));
      continue;
    }
    auto found = read_rules(file.text, file.path);
    if (!found.ok()) return found.error();
    std::move(found->begin(), found->end(), std::back_inserter(rules));
  }
  auto signatures = SignatureBook::load(files.failures);
  if (!signatures.ok()) return signatures.error();

  std::unique_ptr<KnowledgeBase> base(new KnowledgeBase);
  base->book_ = std::move(*book);
  for (const auto* part : {&files.dialects, &files.rules, &files.failures}) {
    for (const SignatureBook::File& file : *part) base->added_ += cat(file.path, "\n", file.text, "\n");
  }
  base->signatures_ = std::make_unique<SignatureBook>(std::move(*signatures));
  base->signatures_->set_engines(built_in_engines());
  base->add(std::move(rules));
  std::vector<Pattern> patterns = base->book_.patterns(0);
  const auto first = static_cast<uint32_t>(base->book_.pattern_count());
  for (Pattern& pattern : base->signatures_->patterns(first)) patterns.push_back(std::move(pattern));
  auto set = PatternSet::compile(patterns, true), signs = PatternSet::compile(base->book_.sign_patterns(), true);
  if (!set.ok()) return set.error();
  if (!signs.ok()) return signs.error();
  base->patterns_ = std::make_unique<PatternSet>(std::move(*set));
  base->signs_ = std::make_unique<PatternSet>(std::move(*signs));
  base->index();
  return base;
}

Result<std::unique_ptr<KnowledgeBase>> KnowledgeBase::read(const CompiledKnowledge& compiled) {
  ArchiveReader dialects(compiled.dialects), signatures(compiled.signatures), engines(compiled.engines);
  auto book = DialectBook::read(dialects);
  if (!book.ok()) return book.error();
  auto set = PatternSet::read(compiled.patterns), signs = PatternSet::read(compiled.signs);
  if (!set.ok()) return set.error();
  if (!signs.ok()) return signs.error();
  std::unique_ptr<KnowledgeBase> base(new KnowledgeBase);
  base->book_ = std::move(*book);
  base->signatures_ = std::make_unique<SignatureBook>(SignatureBook::read(signatures));
  base->signatures_->set_engines(read_engines(engines));
  base->patterns_ = std::make_unique<PatternSet>(std::move(*set));
  base->signs_ = std::make_unique<PatternSet>(std::move(*signs));
  base->index();
  return base;
}

void KnowledgeBase::index() {
  for (size_t i = 0; i < signatures_->pattern_count(); ++i) {
    const SignatureBook::Target& target = signatures_->target(i);
    signature_patterns_.push_back({target.signature, target.weak});
  }
  pattern_index_ = {&book_,
                    0,
                    &signatures_->knowledge(),
                    static_cast<uint32_t>(book_.pattern_count()),
                    signature_patterns_,
                    signatures_.get(),
                    &known_,
                    patterns_.get()};
}

std::string KnowledgeBase::digest() const {
  uint64_t hash = fnv1a(added_);
  for (const std::string_view folder : {"dialects/", "rules/", "signatures/", "causes/", "engines/"}) {
    for (const EmbeddedFile& file : embedded_files(folder)) hash = fnv1a(file.bytes, fnv1a(file.path, hash));
  }
  return hex_of(hash);
}

void KnowledgeBase::add(std::vector<UserRule> rules) {
  for (UserRule& rule : rules) signatures_->add(std::move(rule));
}

void KnowledgeBase::name_signals(const std::map<std::string, std::string>& names) {
  for (const auto& [raw, signal] : names) {
    book_.name_signal(raw, signal);
    added_ += cat("signal ", signal, " = ", raw, "\n");
  }
}

void KnowledgeBase::name_checkpoints(const std::string& pattern) {
  checkpoint_pattern_ = pattern;
  if (!pattern.empty()) added_ += cat("checkpoints ", pattern, "\n");
}

const Knowledge& KnowledgeBase::knowledge() const { return signatures_->knowledge(); }

std::vector<std::string> KnowledgeBase::savers() const {
  std::vector<std::string> out;
  for (const Dialect& dialect : book_.dialects()) {
    if (dialect.checkpoints.counts_saves) out.push_back(dialect.framework);
  }
  return out;
}

CheckpointLayout KnowledgeBase::checkpoints_of(const std::string& framework, const std::string& pattern) const {
  CheckpointLayout layout;
  for (const Dialect& dialect : book_.dialects()) {
    const bool says =
        dialect.checkpoints.known() || !dialect.checkpoints.resume.empty() || dialect.checkpoints.takes_any_folder;
    if (dialect.framework != framework || !says) continue;
    layout = dialect.checkpoints;
    break;
  }
  if (!pattern.empty() && (layout.counts_saves || layout.folder != pattern)) {
    layout.folder = pattern;
    layout.pointer.clear();  // what names its checkpoints otherwise may write another pointer, too
    layout.pointer_text.clear();
    layout.below.clear();
    layout.counts_saves = false;
  }
  return layout;
}

}  // namespace mw
