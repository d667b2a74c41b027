#include "read/books/signature_book.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "base/toml.h"
#include "core/incident_kind.h"
#include "read/books/anchored.h"
#include "read/books/embedded.h"

namespace mw {
namespace {

// The words of docs/formats/signature.md.
constexpr std::array<std::string_view, 8> kReactions{"retry",
                                                     "restart-component",
                                                     "restart-run-from-checkpoint",
                                                     "rollback-before-onset",
                                                     "free-space-then-resume",
                                                     "stop-and-notify",
                                                     "config-fix",
                                                     "ignore"};
constexpr std::array<std::string_view, 4> kTransients{"deterministic", "likely-transient", "degraded", "poison"};
constexpr std::array<std::string_view, 4> kRadii{"process", "run", "host", "model weights"};
constexpr std::array<std::pair<std::string_view, Role>, 5> kRoles{{{"root", Role::kRoot},
                                                                   {"cascade", Role::kCascade},
                                                                   {"symptom", Role::kSymptom},
                                                                   {"confirmation", Role::kConfirmation},
                                                                   {"benign", Role::kBenign}}};
constexpr std::array<std::pair<std::string_view, Severity>, 3> kSeverities{
    {{"critical", Severity::kCritical}, {"warning", Severity::kWarning}, {"info", Severity::kInfo}}};

bool is_id(std::string_view id) {
  if (id.empty() || id.size() > 64) return false;
  return std::all_of(id.begin(), id.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

std::string quoted(std::string_view word) { return cat("\"", clip(sanitize_utf8(word), 80), "\""); }

/// Reads the members of one table; the first error is kept and the rest then reads as empty.
class TomlFields {
 public:
  TomlFields(const Toml& table, std::string_view path) : table_(table), path_(path) {}

  std::string text(std::string_view key, bool required) {
    const Toml* value = find(key, required);
    if (value == nullptr) return {};
    if (!value->is_string()) {
      fail(*value, cat(key, " must be a string, not ", value->kind_name()));
    } else if (required && value->text().empty()) {
      fail(*value, cat(key, " is empty"));
    }
    return value->text();
  }
  std::vector<std::string> texts(std::string_view key, bool required) {
    const Toml* value = find(key, required);
    if (value == nullptr) return {};
    Result<std::vector<std::string>> all = value->texts(path_);
    if (!all.ok()) {
      if (problem_.what.empty()) problem_ = all.error();
      return {};
    }
    for (const std::string& one : *all) {
      if (one.empty()) fail(*value, cat(key, " holds an empty string"));
    }
    return std::move(all).value();
  }
  std::string word(std::string_view key, std::span<const std::string_view> known, bool required) {
    std::string value = text(key, required);
    if (!value.empty() && std::find(known.begin(), known.end(), value) == known.end()) {
      fail(*table_.find(key), cat("unknown ", key, " ", quoted(value)));
    }
    return value;
  }
  template <typename T, size_t N>
  T choice(std::string_view key, const std::array<std::pair<std::string_view, T>, N>& known) {
    const std::string value = text(key, true);
    for (const auto& [name, meaning] : known) {
      if (name == value) return meaning;
    }
    if (!value.empty()) fail(*table_.find(key), cat("unknown ", key, " ", quoted(value)));
    return known[0].second;
  }
  std::string id() {
    std::string value = text("id", true);
    if (!value.empty() && !is_id(value)) fail(*table_.find("id"), cat("not an id: ", quoted(value)));
    return value;
  }
  void check_kind(std::string_view key, const std::string& kind) {
    if (!kind.empty() && !is_incident_kind(kind)) {
      fail(*table_.find(key), cat("unknown incident kind ", quoted(kind)));
    }
  }
  bool boolean(std::string_view key) {
    const Toml* value = table_.find(key);
    if (value == nullptr) return false;
    if (value->kind() != Toml::Kind::kBoolean) fail(*value, cat(key, " must be true or false"));
    return value->boolean();
  }
  double share(std::string_view key) {
    const Toml* value = find(key, true);
    if (value == nullptr) return 0;
    const bool number = value->kind() == Toml::Kind::kFloat || value->kind() == Toml::Kind::kInteger;
    if (!number || !(value->number() >= 0 && value->number() <= 1)) fail(*value, cat(key, " must lie in 0..1"));
    return value->number();
  }
  void fail(const Toml& at, std::string_view what) {
    if (problem_.what.empty()) problem_ = at.error(path_, what);
  }
  Result<void> done(const std::vector<std::string_view>& known_keys) const {
    MW_TRY(table_.check_keys(path_, known_keys));
    if (!problem_.what.empty()) return problem_;
    return {};
  }

 private:
  const Toml* find(std::string_view key, bool required) {
    const Toml* value = table_.find(key);
    if (value == nullptr && required) fail(table_, cat("\"", key, "\" is missing"));
    return value;
  }

  const Toml& table_;
  std::string_view path_;
  Error problem_;
};

}  // namespace

struct SignatureBook::Row {
  Signature value;
  Faces faces;
  Examples examples;
  std::string place;  // "path:line"
  bool user = false;
};

/// Gathers the rows of all files by id, then checks what refers to what.
class SignatureBook::Loader {
 public:
  Result<void> add(std::string_view text, std::string_view path, bool user) {
    Result<Toml> document = Toml::parse(text, path);
    if (!document.ok()) return document.error();
    MW_TRY(document->check_keys(path, {"signature", "cause"}));
    for (const std::string_view key : {"signature", "cause"}) {
      const Toml* rows = document->find(key);
      if (rows == nullptr) continue;
      if (!rows->is_array()) return rows->error(path, cat("write [[", key, "]], not [", key, "]"));
      for (const Toml& row : rows->items()) {
        if (!row.is_table()) return row.error(path, cat("write [[", key, "]] tables"));
        if (key == "signature") {
          MW_TRY(add_signature(row, path, user));
        } else {
          MW_TRY(add_cause(row, path, user));
        }
      }
    }
    return {};
  }

  Result<SignatureBook> finish() {
    SignatureBook book;
    for (const std::string& id : order_) {
      Row& row = signatures_.at(id);
      for (const std::string& other : row.value.confused_with) {
        if (signatures_.find(other) == signatures_.end()) return unknown(row.place, other);
      }
      book.knowledge_.by_id.emplace(id, book.knowledge_.signatures.size());
      book.knowledge_.signatures.push_back(std::move(row.value));
      book.faces_.push_back(std::move(row.faces));
      book.examples_.push_back(std::move(row.examples));
    }
    for (auto& [id, row] : causes_) {
      for (const auto* list : {&row.value.for_signatures, &row.value.against_signatures}) {
        for (const std::string& other : *list) {
          if (signatures_.find(other) == signatures_.end()) return unknown(row.place, other);
        }
      }
      MW_TRY(complete(row.value, row.place, book.knowledge_));
      book.knowledge_.causes.push_back(std::move(row.value));
    }
    book.number_patterns();
    return book;
  }

 private:
  struct CauseRow {
    Cause value;
    std::string place;
    bool user = false;
  };

  static Error unknown(const std::string& place, const std::string& id) {
    return {Error::Code::kInvalid, cat(place, ": there is no signature ", quoted(id)), "see docs/formats/signature.md"};
  }

  /// What a cause leaves out, the signature of the same id says.
  static Result<void> complete(Cause& cause, const std::string& place, const Knowledge& knowledge) {
    const Signature* signature = knowledge.find(cause.id);
    if (signature != nullptr) {
      if (cause.title.empty()) cause.title = signature->symptom;
      if (cause.fix.empty()) cause.fix = signature->fix;
      if (cause.reaction.empty()) cause.reaction = signature->reaction;
      if (cause.check.empty()) {
        for (const std::string& look : signature->check) cause.check += cause.check.empty() ? look : "; " + look;
      }
    }
    if (cause.title.empty() || cause.check.empty() || cause.fix.empty() || cause.reaction.empty()) {
      return Error{Error::Code::kInvalid,
                   cat(place, ": a cause that is no signature needs title, check, fix and reaction"), ""};
    }
    return {};
  }

  template <typename Rows>
  static Result<void> admit(const Rows& rows, const std::string& id, const Toml& table, std::string_view path,
                            bool user) {
    const auto known = rows.find(id);
    if (known == rows.end() || (user && !known->second.user)) return {};
    return table.error(path, cat(quoted(id), " is already at ", known->second.place));
  }

  Result<void> add_signature(const Toml& table, std::string_view path, bool user) {
    TomlFields fields(table, path);
    Row row;
    row.place = cat(path, ":", table.line());
    row.user = user;
    Signature& value = row.value;
    value.id = fields.id();
    value.layer = fields.text("layer", true);
    value.frameworks = fields.texts("frameworks", true);
    value.role = fields.choice("role", kRoles);
    value.kind = fields.text("kind", true);
    fields.check_kind("kind", value.kind);
    value.severity = fields.choice("severity", kSeverities);
    value.fatal = fields.boolean("fatal");
    value.wrapper = fields.boolean("wrapper");
    value.symptom = fields.text("symptom", true);
    value.causes = fields.texts("causes", true);
    value.check = fields.texts("check", true);
    value.fix = fields.text("fix", true);
    value.transient = fields.word("transient", kTransients, true);
    value.blast_radius = fields.word("blast_radius", kRadii, true);
    value.reaction = fields.word("reaction", kReactions, true);
    value.metric_rule = fields.text("metric_rule", false);
    value.confused_with = fields.texts("confused_with", false);
    value.references = fields.texts("references", false);
    read_faces(fields, table, row);
    MW_TRY(fields.done({"id",           "layer",    "frameworks",  "role",       "kind",      "severity",
                        "fatal",        "wrapper",  "text",        "regex",      "weak_text", "weak_regex",
                        "unless",       "symptom",  "causes",      "check",      "fix",       "transient",
                        "blast_radius", "reaction", "metric_rule", "references", "examples",  "counter_examples",
                        "confused_with"}));
    MW_TRY(admit(signatures_, value.id, table, path, user));
    const std::string id = value.id;
    if (signatures_.find(id) == signatures_.end()) order_.push_back(id);
    signatures_.insert_or_assign(id, std::move(row));
    return {};
  }

  static void read_faces(TomlFields& fields, const Toml& table, Row& row) {
    row.faces.text = fields.texts("text", false);
    row.faces.regex = fields.texts("regex", false);
    row.faces.weak_text = fields.texts("weak_text", false);
    row.faces.weak_regex = fields.texts("weak_regex", false);
    row.faces.unless_text = fields.texts("unless", false);
    for (const std::string& expression : row.faces.unless_text) {
      if (!row.user) {  // as below
        row.faces.unless.push_back(Regex::compile_later(expression));
        continue;
      }
      Result<Regex> regex = Regex::compile(expression);
      if (regex.ok()) {
        row.faces.unless.push_back(std::move(regex).value());
      } else {
        fields.fail(*table.find("unless"), regex.error().what);
      }
    }
    row.examples.lines = fields.texts("examples", false);
    row.examples.counter_lines = fields.texts("counter_examples", false);
    const bool face = !row.faces.text.empty() || !row.faces.regex.empty() || !row.faces.weak_text.empty() ||
                      !row.faces.weak_regex.empty();
    if (face && row.examples.lines.empty()) fields.fail(table, "a signature with patterns needs an example");
    if (!face && row.value.metric_rule.empty()) fields.fail(table, "neither a pattern nor a metric_rule");
    if (!row.user) return;  // the tests compile the built-in ones; here it would only cost time
    for (const auto& [key, expressions] :
         {std::pair("regex", &row.faces.regex), {"weak_regex", &row.faces.weak_regex}}) {
      for (const std::string& expression : *expressions) {
        Result<Regex> regex = Regex::compile(expression);
        if (!regex.ok()) fields.fail(*table.find(key), regex.error().what);
      }
    }
  }

  Result<void> add_cause(const Toml& table, std::string_view path, bool user) {
    TomlFields fields(table, path);
    CauseRow row;
    row.place = cat(path, ":", table.line());
    row.user = user;
    Cause& value = row.value;
    value.id = fields.id();
    value.title = fields.text("title", false);
    value.kinds = fields.texts("kinds", true);
    for (const std::string& kind : value.kinds) fields.check_kind("kinds", kind);
    value.prior = fields.share("prior");
    value.for_signatures = fields.texts("for_signatures", false);
    value.against_signatures = fields.texts("against_signatures", false);
    value.check = fields.text("check", false);
    value.fix = fields.text("fix", false);
    value.reaction = fields.word("reaction", kReactions, false);
    MW_TRY(fields.done(
        {"id", "title", "kinds", "prior", "for_signatures", "against_signatures", "check", "fix", "reaction"}));
    MW_TRY(admit(causes_, value.id, table, path, user));
    const std::string id = value.id;
    causes_.insert_or_assign(id, std::move(row));
    return {};
  }

  std::map<std::string, Row, std::less<>> signatures_;
  std::vector<std::string> order_;  // ids, as they came
  std::map<std::string, CauseRow, std::less<>> causes_;
};

Result<SignatureBook> SignatureBook::load(std::span<const File> user_files) {
  Loader loader;
  for (const std::string_view folder : {"signatures/", "causes/"}) {
    for (const EmbeddedFile& file : embedded_files(folder)) {
      MW_TRY(loader.add(file.bytes, cat("knowledge/", file.path), false));
    }
  }
  for (const File& file : user_files) MW_TRY(loader.add(file.text, file.path, true));
  return loader.finish();
}

void SignatureBook::number_patterns() {
  targets_.clear();
  for (uint32_t i = 0; i < faces_.size(); ++i) {
    const Faces& faces = faces_[i];
    targets_.insert(targets_.end(), faces.text.size() + faces.regex.size(), Target{i, false});
    targets_.insert(targets_.end(), faces.weak_text.size() + faces.weak_regex.size(), Target{i, true});
  }
}

std::vector<Pattern> SignatureBook::patterns(uint32_t first_id) const {
  MW_CHECK(examples_.size() == faces_.size());  // not of a book that the build read
  std::vector<Pattern> all;
  all.reserve(targets_.size());
  const auto add = [&](const std::vector<std::string>& expressions, bool regex) {
    for (const std::string& expression : expressions) {
      all.push_back({regex ? anchored(expression) : expression, regex, first_id + static_cast<uint32_t>(all.size())});
    }
  };
  for (const Faces& faces : faces_) {  // in the order of number_patterns()
    add(faces.text, false);
    add(faces.regex, true);
    add(faces.weak_text, false);
    add(faces.weak_regex, true);
  }
  return all;
}

void SignatureBook::resolve(std::string_view line, std::span<const uint32_t> matched,
                            std::vector<SignatureHit>& hits) const {
  hits.clear();
  for (const uint32_t index : matched) hits.push_back({targets_[index].signature, targets_[index].weak});
  std::sort(hits.begin(), hits.end(), [](const SignatureHit& a, const SignatureHit& b) {
    return a.signature != b.signature ? a.signature < b.signature : a.weak < b.weak;
  });
  hits.erase(std::unique(hits.begin(), hits.end(),
                         [](const SignatureHit& a, const SignatureHit& b) { return a.signature == b.signature; }),
             hits.end());
  std::vector<std::string_view> captures;
  size_t end = 0;
  std::erase_if(hits, [&](const SignatureHit& hit) {
    const std::vector<Regex>& unless = faces_[hit.signature].unless;
    return std::any_of(unless.begin(), unless.end(),
                       [&](const Regex& regex) { return regex.match(line, captures, &end); });
  });
}

}  // namespace mw
