#include "read/match/required_literals.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "read/match/literal_rarity.h"

namespace mw {
namespace {

constexpr int kDepthLimit = 50;  ///< nested groups
constexpr size_t kNoLimit = RequiredLiterals::kNoLimit;
constexpr size_t kExactBytesLimit = 600;  ///< bytes of all strings of one exact set

using Strings = std::vector<std::string>;

/// What is known of a part of the expression.
struct Part {
  bool exact = false;            ///< its matches are just the strings of `strings`
  bool repeated = false;         ///< its matches are one or more of `strings`, one after another
  Strings strings;               ///< only when exact or repeated
  std::vector<Strings> clauses;  ///< of each, at least one string is in every match
  size_t most = kNoLimit;        ///< bytes of its longest match
};

size_t longest(const Strings& strings) {
  size_t most = 0;
  for (const std::string& s : strings) most = std::max(most, s.size());
  return most;
}

/// One byte of several.
Part some_byte() {
  Part part;
  part.most = 1;
  return part;
}

Part exactly(Strings strings) {
  Part part;
  part.exact = true;
  part.most = longest(strings);
  part.strings = std::move(strings);
  return part;
}

size_t bytes(const Strings& strings) {
  size_t sum = 0;
  for (const std::string& s : strings) sum += s.size();
  return sum;
}

bool usable(const Strings& strings) {
  return !strings.empty() && strings.size() <= kAlternativesLimit &&
         std::none_of(strings.begin(), strings.end(), [](const std::string& s) { return s.empty(); });
}

/// Leaves out strings that hold another one of the clause: finding that one is enough.
Strings reduced(Strings clause) {
  Strings kept;
  std::sort(clause.begin(), clause.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  for (std::string& s : clause) {
    const bool holds =
        std::any_of(kept.begin(), kept.end(), [&](const std::string& k) { return s.find(k) != std::string::npos; });
    if (!holds) kept.push_back(std::move(s));
  }
  return kept;
}

/// A sequence being read: the strings that the current run of exact parts can be, and the clauses behind it.
class Sequence {
 public:
  void add(Part part) {
    most_ = std::min(most_ + part.most, kNoLimit);
    put(std::move(part));
  }
  Part end() {
    if (pure_) return exactly(std::move(run_));
    flush();
    Part part;
    part.clauses = std::move(clauses_);
    part.most = most_;
    return part;
  }

 private:
  void put(Part part) {
    if (part.repeated) {  // the first of them follows what was before, what comes follows the last
      put(exactly(part.strings));
      flush();
      run_ = std::move(part.strings);
      return;
    }
    if (!part.exact) {
      flush();
      for (Strings& clause : part.clauses) clauses_.push_back(std::move(clause));
      return;
    }
    const size_t count = run_.size() * part.strings.size();
    if (count > kAlternativesLimit ||
        bytes(run_) * part.strings.size() + bytes(part.strings) * run_.size() > kExactBytesLimit) {
      flush();
      run_ = std::move(part.strings);
      return;
    }
    Strings crossed;
    crossed.reserve(count);
    for (const std::string& a : run_) {
      for (const std::string& b : part.strings) crossed.push_back(a + b);
    }
    run_ = std::move(crossed);
  }
  void flush() {
    if (usable(run_)) clauses_.push_back(reduced(std::move(run_)));
    run_ = {""};
    pure_ = false;
  }
  Strings run_ = {""};
  bool pure_ = true;
  size_t most_ = 0;  // bytes of all parts
  std::vector<Strings> clauses_;
};

Strings best_clause(const std::vector<Strings>& clauses) {
  const Strings* best = nullptr;
  double most = 0;
  for (const Strings& clause : clauses) {
    const double bits = clauses.size() > 1 ? rarity(clause) : 0;
    if (best != nullptr && bits <= most) continue;
    best = &clause;
    most = bits;
  }
  return best == nullptr ? Strings() : *best;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  /// Reads it all; ok() says whether it was understood.
  Part read() {
    Part part = alternation(0);
    if (at_ != text_.size()) ok_ = false;
    return part;
  }
  bool ok() const { return ok_; }

 private:
  bool more() const { return ok_ && at_ < text_.size(); }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  Part fail() {
    ok_ = false;
    return {};
  }

  Part alternation(int depth) {
    if (depth > kDepthLimit) return fail();
    std::vector<Part> branches;
    do branches.push_back(sequence(depth));
    while (ok_ && take("|"));
    if (branches.size() == 1) return std::move(branches[0]);
    Strings all, clause;
    bool exact = true, known = true;
    size_t most = 0;
    for (Part& branch : branches) {
      most = std::max(most, branch.most);
      exact = exact && branch.exact;
      Strings one = branch.exact ? branch.strings : best_clause(branch.clauses);
      known = known && usable(one);
      if (branch.exact) all.insert(all.end(), branch.strings.begin(), branch.strings.end());
      clause.insert(clause.end(), one.begin(), one.end());
    }
    if (exact && all.size() <= kAlternativesLimit && bytes(all) <= kExactBytesLimit) return exactly(std::move(all));
    Part part;
    part.most = most;
    if (known && usable(clause)) part.clauses.push_back(reduced(std::move(clause)));
    return part;
  }

  Part sequence(int depth) {
    Sequence sequence;
    while (more() && peek() != '|' && peek() != ')') {
      if (const size_t plain = plain_run(); plain > 1) {
        sequence.add(exactly({std::string(text_.substr(at_, plain))}));
        at_ += plain;
      } else {
        sequence.add(repeat(depth));
      }
    }
    return sequence.end();
  }

  /// The bytes from here on that stand for themselves, without the last when a quantifier belongs to it.
  size_t plain_run() const {
    const size_t end = std::min(text_.find_first_of("\\^$.[]|()*+?{}", at_), text_.size());
    const bool quantified = end < text_.size() && std::string_view("*+?{").find(text_[end]) != std::string_view::npos;
    return end - at_ - (quantified && end > at_ ? 1 : 0);
  }

  Part repeat(int depth) {
    Part part = atom(depth);
    size_t least = 1, most = 1;
    if (!quantifier(&least, &most)) return part;
    take("?");  // lazy
    size_t again = 0;
    if (quantifier(&again, &again)) return fail();  // "a**": RE2's business
    if (least == 1 && most == 1) return part;
    if (least == 0 && most == 1 && part.exact && part.strings.size() < kAlternativesLimit) {
      part.strings.emplace_back();
      return part;
    }
    Part loose;
    loose.most = most >= kMany ? kNoLimit : std::min(part.most * most, kNoLimit);
    if (least == 0) return loose;
    if (part.exact && usable(part.strings)) {
      loose.repeated = true;
      loose.strings = std::move(part.strings);
    }
    if (!part.exact) loose.clauses = std::move(part.clauses);
    return loose;
  }

  static constexpr size_t kMany = 1000;  // as often as it likes
  bool quantifier(size_t* least, size_t* most) {
    if (!more()) return false;
    if (take("*")) return *least = 0, *most = kMany, true;
    if (take("+")) return *least = 1, *most = kMany, true;
    if (take("?")) return *least = 0, *most = 1, true;
    if (peek() != '{') return false;
    size_t i = at_ + 1, low = 0, digits = 0;
    for (; i < text_.size() && text_[i] >= '0' && text_[i] <= '9' && digits < 5; ++i, ++digits)
      low = low * 10 + (text_[i] - '0');
    if (digits == 0 || i >= text_.size()) return false;  // a plain brace
    size_t high = low;
    if (text_[i] == ',') {
      ++i;
      size_t more_digits = 0;
      for (high = 0; i < text_.size() && text_[i] >= '0' && text_[i] <= '9' && more_digits < 5; ++i, ++more_digits)
        high = high * 10 + (text_[i] - '0');
      if (more_digits == 0) high = kMany;
    }
    if (i >= text_.size() || text_[i] != '}') return false;
    at_ = i + 1;
    if (low > kMany || high > kMany || high < low) ok_ = false;
    *least = low;
    *most = high == 0 ? kMany : high;  // {0} is rare and harmless when taken for "any number"
    return true;
  }

  Part atom(int depth) {
    const char c = text_[at_++];
    switch (c) {
      case '(':
        return group(depth);
      case '[':
        return char_class();
      case '.':
        return some_byte();
      case '^':
      case '$':
        return exactly({""});
      case '\\':
        return escape();
      case '*':
      case '+':
      case '?':
        return fail();
      default:
        return exactly({std::string(1, c)});
    }
  }

  Part group(int depth) {
    if (peek() == '?') {
      if (take("?P<")) {
        const size_t close = text_.find('>', at_);
        if (close == std::string_view::npos) return fail();
        at_ = close + 1;
      } else if (!take("?:")) {
        return fail();  // flags
      }
    }
    Part part = alternation(depth + 1);
    if (!take(")")) return fail();
    return part;
  }

  /// The byte that an escape stands for, -1 for a class or an assertion (`assertion` says which), -2 when not known.
  int escaped(char c, bool* assertion) {
    *assertion = c == 'b' || c == 'B' || c == 'A' || c == 'z';
    if (*assertion || c == 'd' || c == 'D' || c == 's' || c == 'S' || c == 'w' || c == 'W') return -1;
    if (c == 't') return '\t';
    if (c == 'x') return hex();
    if (c == 'n') return '\n';
    if (c == 'r') return '\r';
    const bool alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return alnum || static_cast<unsigned char>(c) >= 0x80 ? -2 : static_cast<unsigned char>(c);
  }

  /// The two digits of "\\x1b"; -2 when there are none ("\\x{1b}").
  int hex() {
    int value = 0;
    for (int i = 0; i < 2; ++i) {
      const char c = peek();
      const bool digit = c >= '0' && c <= '9';
      if (!digit && !(c >= 'a' && c <= 'f') && !(c >= 'A' && c <= 'F')) return -2;
      value = value * 16 + (digit ? c - '0' : (c | 0x20) - 'a' + 10);
      ++at_;
    }
    return value;
  }

  Part escape() {
    if (!more()) return fail();
    bool assertion = false;
    const int value = escaped(text_[at_++], &assertion);
    if (value == -2) return fail();
    if (value == -1) return assertion ? exactly({""}) : some_byte();
    return exactly({std::string(1, static_cast<char>(value))});
  }

  Part char_class() {
    constexpr size_t kSmall = 4;
    const bool negated = take("^");
    bool any = negated;
    Strings members;
    for (bool first = true;; first = false) {
      if (!more()) return fail();
      const char c = text_[at_++];
      if (c == ']' && !first) break;
      if (c == '[' && peek() == ':') return fail();
      int value = static_cast<unsigned char>(c);
      if (c == '\\') {
        bool assertion = false;
        if (!more()) return fail();
        value = escaped(text_[at_++], &assertion);
        if (value == -2 || assertion) return fail();
      }
      const bool range = peek() == '-' && at_ + 1 < text_.size() && text_[at_ + 1] != ']';
      if (range) {
        any = true;
        at_ += 1;
        if (peek() == '\\') return fail();
        const int high = static_cast<unsigned char>(peek());
        ++at_;
        if (value < 0 || high < value || high == '[') return fail();
      } else if (value < 0) {
        any = true;
      } else if (members.size() <= kSmall) {
        members.emplace_back(1, static_cast<char>(value));
      }
    }
    if (any || members.size() > kSmall) return some_byte();
    return exactly(std::move(members));
  }

  std::string_view text_;
  size_t at_ = 0;
  bool ok_ = true;
};

constexpr std::string_view kAnyCase = "(?i)";
constexpr size_t kCaseWindow = 4;           // bytes of a literal that are spelled in every case
constexpr size_t kCaseVariantsLimit = 100;  // spellings in all

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Every spelling of a few bytes of each literal: what a match that heeds no case must hold one of. Empty: too many.
// Alternatives often begin alike ("saved the model", "saved model"): one that begins like another adds nothing.
Strings in_every_case(const Strings& literals) {
  Strings out, heads;
  for (const std::string& literal : literals) {
    if (literal.size() < kLiteralLeast) return {};
    std::string head = to_lower(std::string_view(literal).substr(0, kCaseWindow));
    if (std::find(heads.begin(), heads.end(), head) != heads.end()) continue;
    heads.push_back(std::move(head));
    Strings spellings = {""};
    for (const char c : literal.substr(0, kCaseWindow)) {
      if (static_cast<unsigned char>(c) >= 0x80) return {};
      const size_t count = spellings.size();
      for (size_t i = 0; i < count; ++i) {
        if (is_letter(c)) spellings.push_back(spellings[i] + static_cast<char>(c ^ 0x20));
        spellings[i].push_back(c);
      }
    }
    out.insert(out.end(), spellings.begin(), spellings.end());
    if (out.size() > kCaseVariantsLimit) return {};
  }
  return out;
}

bool worth_seeking(const Strings& clause) {
  return !clause.empty() && clause.size() <= kAlsoAlternatives &&
         std::all_of(clause.begin(), clause.end(), [](const std::string& s) { return s.size() >= kAlsoLeast; });
}

/// Letters beyond ASCII have their cases elsewhere: nothing of a clause with one.
Strings in_small_letters(const Strings& clause) {
  Strings small;
  for (const std::string& literal : clause) {
    const auto beyond = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
    if (std::any_of(literal.begin(), literal.end(), beyond)) return {};
    small.push_back(to_lower(literal));
  }
  return small;
}

}  // namespace

RequiredLiterals required_literals(std::string_view expression) {
  RequiredLiterals required;
  if (expression.starts_with(kAnyCase)) {
    const RequiredLiterals one_case = required_literals(expression.substr(kAnyCase.size()));
    if (!one_case.understood) return required;
    required.any = in_every_case(one_case.any);
    required.understood = !required.any.empty();
    required.any_case = true;
    Strings whole = in_small_letters(one_case.any);
    if (!required.any.empty())
      required.whole = std::move(whole);
    else if (worth_seeking(whole))
      required.also.push_back(std::move(whole));
    for (const Strings& clause : one_case.also) {
      if (Strings small = in_small_letters(clause); !small.empty()) required.also.push_back(std::move(small));
    }
    required.most = one_case.most;  // of bytes: no letter has another length in the other case
    return required;
  }
  Reader reader(expression);
  Part part = reader.read();
  required.understood = reader.ok();
  if (!required.understood) return required;
  required.most = part.most;
  if (part.exact && usable(part.strings)) part.clauses.push_back(reduced(part.strings));
  const Strings best = best_clause(part.clauses);
  if (best.empty() || rarity(best) <= 0) return required;
  required.any = best;
  for (const Strings& clause : part.clauses) {
    if (clause != best && worth_seeking(clause) && required.also.size() < kAlsoLimit) required.also.push_back(clause);
  }
  return required;
}

bool holds_also(std::string_view text, const RequiredLiterals& required) {
  const auto held = [&](const Strings& clause) {
    return std::any_of(clause.begin(), clause.end(), [&](const std::string& literal) {
      return required.any_case ? contains_folded(text, literal) : contains(text, literal);
    });
  };
  return (required.whole.empty() || held(required.whole)) &&
         std::all_of(required.also.begin(), required.also.end(), held);
}

}  // namespace mw
