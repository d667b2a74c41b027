// What the build keeps of the dialects and of the signatures (compiled.h), as bytes.
#include "read/books/archive.h"
#include "read/books/dialect_book.h"
#include "read/books/signature_book.h"

namespace mw {

template <typename Archive, MaybeConst<Sign> T>
void fields(Archive& archive, T& sign) {
  auto& [in, pattern, regex, weight] = sign;
  archive(in, pattern, regex, weight);
}

template <typename Archive, MaybeConst<Shape> T>
void fields(Archive& archive, T& shape) {
  auto& [make, literals, regex, on_line, only, policy, with] = shape;
  archive(make, literals, regex, on_line, only, policy, with);
}

template <typename Archive, MaybeConst<MetricRule> T>
void fields(Archive& archive, T& rule) {
  auto& [raw, signal, scale, offset, part, minus, rank, note] = rule;
  archive(raw, signal, scale, offset, part, minus, rank, note);
}

template <typename Archive, MaybeConst<ShareRule> T>
void fields(Archive& archive, T& rule) {
  auto& [signal, counted, rest, of, zero_with] = rule;
  archive(signal, counted, rest, of, zero_with);
}

template <typename Archive, MaybeConst<ResumeWords> T>
void fields(Archive& archive, T& resume) {
  auto& [when, words] = resume;
  archive(when, words);
}

template <typename Archive, MaybeConst<CheckpointLayout> T>
void fields(Archive& archive, T& layout) {
  auto& [folder, pointer, pointer_text, resume, below, counts_saves, takes_any_folder] = layout;
  archive(folder, pointer, pointer_text, resume, below, counts_saves, takes_any_folder);
}

template <typename Archive, MaybeConst<Dialect> T>
void fields(Archive& archive, T& dialect) {
  auto& [id, title, family, framework, base, extends, signs, shapes, metrics, shares, step_keys, step_offset,
         count_steps, eval, ignore, sampled, checkpoints, samples] = dialect;
  archive(id, title, family, framework, base, extends, signs, shapes, metrics, shares, step_keys, step_offset,
          count_steps, eval, ignore, sampled, checkpoints);
  static_cast<void>(samples);  // only tests read them
}

template <typename Archive, MaybeConst<Signature> T>
void fields(Archive& archive, T& signature) {
  auto& [id, layer, frameworks, role, kind, severity, symptom, causes, check, fix, transient, blast_radius, reaction,
         metric_rule, confused_with, references, fatal, wrapper] = signature;
  archive(id, layer, frameworks, role, kind, severity, symptom, causes, check, fix, transient, blast_radius, reaction,
          metric_rule, confused_with, references, fatal, wrapper);
}

template <typename Archive, MaybeConst<Cause> T>
void fields(Archive& archive, T& cause) {
  auto& [id, title, kinds, prior, for_signatures, against_signatures, check, fix, reaction] = cause;
  archive(id, title, kinds, prior, for_signatures, against_signatures, check, fix, reaction);
}

template <typename Archive, MaybeConst<SignatureBook::Target> T>
void fields(Archive& archive, T& target) {
  auto& [signature, weak] = target;
  archive(signature, weak);
}

/// The rule files are read from their text, as they are few, and hold compiled expressions.
void DialectBook::write(ArchiveWriter& out) const {
  std::vector<Dialect> files(dialects_.begin(), dialects_.end() - static_cast<std::ptrdiff_t>(rule_sets_.size()));
  out(files);
}

Result<DialectBook> DialectBook::read(ArchiveReader& in) {
  std::vector<Dialect> dialects;
  in(dialects);
  DialectBook book;
  for (Dialect& dialect : dialects) MW_TRY(book.put(std::move(dialect), "", true));
  MW_TRY(book.put_built_in_rules());
  book.index();
  return book;
}

void SignatureBook::write(ArchiveWriter& out) const {
  std::vector<std::vector<std::string>> unless;
  for (const Faces& faces : faces_) unless.push_back(faces.unless_text);
  out(knowledge_.signatures, knowledge_.causes, unless, targets_);
}

SignatureBook SignatureBook::read(ArchiveReader& in) {
  SignatureBook book;
  std::vector<std::vector<std::string>> unless;
  in(book.knowledge_.signatures, book.knowledge_.causes, unless, book.targets_);
  for (size_t i = 0; i < book.knowledge_.signatures.size(); ++i) {
    book.knowledge_.by_id.emplace(book.knowledge_.signatures[i].id, i);
    Faces& faces = book.faces_.emplace_back();
    faces.unless_text = std::move(unless[i]);
    for (const std::string& expression : faces.unless_text) faces.unless.push_back(Regex::compile_later(expression));
  }
  return book;
}

}  // namespace mw
