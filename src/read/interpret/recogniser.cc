#include "read/interpret/recogniser.h"

#include <algorithm>
#include <cmath>

#include "base/checksum.h"
#include "base/text.h"

namespace mw {

Recogniser::Recogniser(const DialectBook& book)
    : book_(book),
      scores_(book.dialects().size(), 0),
      own_names_(scores_),
      evidence_(scores_.size()),
      versions_(scores_.size()) {
  for (const Dialect& dialect : book.dialects()) {
    seen_.emplace_back(dialect.signs.size(), false);
    compiled_.emplace_back(dialect.signs.size());
    for (size_t i = 0; i < dialect.signs.size(); ++i) {
      const Sign& sign = dialect.signs[i];
      if (sign.in == Sign::In::kLine) continue;
      const bool open = sign.regex || contains(sign.pattern, "*");
      (open ? open_ : exact_).push_back({sign.pattern, seen_.size() - 1, i, sign.in});
    }
  }
  std::sort(exact_.begin(), exact_.end(), [](const Name& a, const Name& b) { return a.pattern < b.pattern; });
}

bool Recogniser::regex_hits(size_t dialect, size_t index, std::string_view text) {
  std::optional<Regex>& regex = compiled_[dialect][index];
  if (!regex) {
    const Sign& sign = book_.dialects()[dialect].signs[index];
    // The book refuses what is no expression when it is read.
    regex = Regex::compile_later(sign.in == Sign::In::kLine ? "(?m)" + sign.pattern : sign.pattern);
  }
  std::vector<std::string_view> captures;
  size_t end = 0;
  return regex->match(text, captures, &end);
}

void Recogniser::sign(size_t dialect, size_t index) {
  if (seen_[dialect][index]) return;
  seen_[dialect][index] = true;
  scores_[dialect] += book_.dialects()[dialect].signs[index].weight;
  ++evidence_[dialect].signs;
  ++version_;
}

void Recogniser::set_version(size_t dialect, std::string_view text) {
  if (versions_[dialect] == text) return;
  versions_[dialect] = text;
  ++version_;
}

void Recogniser::name(Sign::In in, std::string_view text) {
  if (names_.size() >= kNameLimit || !names_.insert(fnv1a(text, static_cast<uint64_t>(in) + 1)).second) return;
  std::vector<std::pair<size_t, size_t>> found;
  auto same = std::lower_bound(exact_.begin(), exact_.end(), text, [](const Name& a, auto b) { return a.pattern < b; });
  for (; same != exact_.end() && same->pattern == text; ++same) {
    if (same->in == in && !seen_[same->dialect][same->index]) found.emplace_back(same->dialect, same->index);
  }
  for (const Name& named : open_) {
    if (named.in != in || seen_[named.dialect][named.index]) continue;
    const Sign& of = book_.dialects()[named.dialect].signs[named.index];
    if (of.regex ? regex_hits(named.dialect, named.index, text) : name_matches(of.pattern, text)) {
      found.emplace_back(named.dialect, named.index);
    }
  }
  const bool plain = in == Sign::In::kMetric && text.find('/') == std::string_view::npos;
  strongest(found, plain);
  if (in != Sign::In::kMetric) return;
  if (const auto only = book_.only_trainer_with(text); only && own_names_[*only] < kOwnNamesLimit) {
    own_names_[*only] += kOwnName;
    const bool fresh = std::none_of(found.begin(), found.end(), [&](const auto& one) { return one.first == *only; });
    evidence_[*only].signs += fresh ? 1 : 0;
    ++version_;
  }
}

/// One name shows one sign of a dialect, however many of them fit it: the others wait for another name.
void Recogniser::strongest(std::vector<std::pair<size_t, size_t>>& signs, bool plain) {
  const auto weight = [this](const auto& one) { return book_.dialects()[one.first].signs[one.second].weight; };
  std::sort(signs.begin(), signs.end(), [&](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : weight(a) > weight(b);
  });
  size_t last = SIZE_MAX;
  for (const auto& [dialect, index] : signs) {
    if (dialect == last) continue;
    last = dialect;
    sign(dialect, index);
    evidence_[dialect].plain = evidence_[dialect].plain || plain;
  }
}

void Recogniser::names(std::span<KnownName* const> record) {
  for (KnownName* known : record) {
    if (!known->recognised) name(Sign::In::kMetric, known->raw);
    known->recognised = true;
  }
}

void Recogniser::text(std::string_view piece) {
  for (size_t d = 0; d < seen_.size(); ++d) {
    const auto& signs = book_.dialects()[d].signs;
    for (size_t i = 0; i < signs.size(); ++i) {
      if (signs[i].in != Sign::In::kLine || seen_[d][i]) continue;
      if (signs[i].regex ? regex_hits(d, i, piece) : contains(piece, signs[i].pattern)) sign(d, i);
    }
  }
}

bool Recogniser::force(std::string_view name) {
  Answer answer;
  answer.confidence = 1;
  if (name != "custom") {
    answer.dialect = book_.find(name);
    if (!answer.dialect) return false;
    answer.framework = book_.dialects()[*answer.dialect].framework;
  }
  forced_ = answer;
  ++version_;
  return true;
}

double Recogniser::own_score(size_t dialect) const {
  const double own = scores_[dialect] + own_names_[dialect];
  return evidence_[dialect].signs <= 1 && evidence_[dialect].plain ? std::min(own, kLoneName) : own;
}

double Recogniser::score(size_t dialect) const {
  const Dialect& of = book_.dialects()[dialect];
  const double own = own_score(dialect);
  if (of.extends.empty() || own < kOwnName) return own;
  const auto base = book_.find(of.extends);
  const double below = base ? own_score(*base) : 0;
  return own + (below >= kHint ? below : 0);
}

Recogniser::Best Recogniser::best_of(Dialect::Family family, bool bases) const {
  Best best;
  for (size_t d = 0; d < scores_.size(); ++d) {
    const Dialect& dialect = book_.dialects()[d];
    const double own = score(d);
    if (dialect.family != family || own < kLeastEvidence || (dialect.base && !bases)) continue;
    const bool related = best.dialect && (book_.dialects()[*best.dialect].framework == dialect.framework ||
                                          book_.dialects()[*best.dialect].extends == dialect.id ||
                                          dialect.extends == book_.dialects()[*best.dialect].id);
    if (!best.dialect || own > best.score) {
      if (best.dialect && !related) best.second = std::max(best.second, best.score);
      best.dialect = d;
      best.score = own;
    } else if (!related) {
      best.second = std::max(best.second, own);
    }
  }
  return best;
}

Recogniser::Answer Recogniser::answer() const {
  if (forced_) return *forced_;
  Best best = best_of(Dialect::Family::kTrainer, false);
  // What others build upon speaks in their runs, too, and often louder.
  if (!best.dialect || best.score < kHint) best = best_of(Dialect::Family::kTrainer);
  const Best engine = best_of(Dialect::Family::kEngine);
  // Layers' signs show that something is trained, not by which trainer: libraries under every trainer, and what scripts
  // print.
  const bool unknown = unknown_records_ >= kUnknownRecords;
  const bool training = unknown || best_of(Dialect::Family::kLayer).dialect;
  // A trainer that is only hinted at gives way to what surely speaks: engines and unknown trainers import the libraries
  // of known ones.
  if (best.dialect && best.score < kHint && (unknown || (engine.score > best.score && !training))) best = Best();
  if (!best.dialect && !training && engine.dialect) best = engine;
  Answer answer;
  if (!best.dialect) {
    answer.confidence = 0.5;
    return answer;
  }
  answer.dialect = best.dialect;
  answer.framework = book_.dialects()[*best.dialect].framework;
  answer.version = versions_[*best.dialect];
  answer.confidence = 1 / (1 + std::exp(-(best.score - best.second - 1)));
  return answer;
}

}  // namespace mw
