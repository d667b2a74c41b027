#include "read/lines/template_miner.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "base/text.h"

namespace mw {
namespace {

constexpr std::string_view kStar = "<*>";
constexpr size_t kBytesLimit = 4096;    ///< bytes of a line that count
constexpr size_t kDepth = 2;            ///< leading tokens that choose the leaf
constexpr size_t kChildrenLimit = 100;  ///< different tokens at one place of the tree; more share "<*>" (as in Drain)
constexpr size_t kPlacesLimit = 8000;   ///< places of the tree; beyond it all tokens share "<*>"
constexpr size_t kPlaceBytes = 64;      ///< bytes of a token that choose its place
constexpr size_t kLeafLimit = 50;       ///< templates of one leaf: each line is compared with all of them
constexpr double kSimilar = 0.5;        ///< share of equal tokens; Drain's authors use 0.4 to 0.6 on system logs
constexpr size_t kHexLeast = 8;         ///< letters a-f alone, so many in a row, are an id and not a word

bool digit(char c) { return c >= '0' && c <= '9'; }

/// Letters, those beyond ASCII as well, and what else words are made of, in tables.
struct Words {
  std::array<bool, 256> letter{}, word{};
  constexpr Words() {
    for (size_t c = 0; c < 256; ++c) {
      letter[c] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
      word[c] = letter[c] || (c >= '0' && c <= '9') || c == '_';
    }
  }
};
constexpr Words kWords;

bool letter(char c) { return kWords.letter[static_cast<unsigned char>(c)]; }
bool word_char(char c) { return kWords.word[static_cast<unsigned char>(c)]; }
bool space(char c) { return static_cast<unsigned char>(c) <= ' '; }
bool ends_path(char c) {
  return space(c) || c == '\'' || c == '"' || c == ',' || c == ')' || c == ']' || c == '}' || c == '>';
}

/// A path or an address with a scheme begins at `at`.
bool path_begins(std::string_view text, size_t at) {
  if (!letter(text[at]) && text[at] != '/' && text[at] != '.' && text[at] != '~') return false;
  if (at > 0 && (word_char(text[at - 1]) || text[at - 1] == '/' || text[at - 1] == '.')) return false;
  if (text.substr(at, 2) == "./" || text.substr(at, 2) == "~/" || text.substr(at, 3) == "../") return true;
  if (text[at] == '/') return at + 1 < text.size() && (word_char(text[at + 1]) || text[at + 1] == '.');
  size_t i = at;
  while (i < text.size() && i - at < 10 && letter(text[i])) ++i;
  return i > at && text.substr(i, 3) == "://";
}

/// The end of the run of letters, digits and '_' (and '.', '-', ':' between two digits or hex groups) at `at`.
size_t word_end(std::string_view text, size_t at) {
  bool digits = false;
  size_t i = at;
  while (i < text.size()) {
    const char c = text[i];
    const bool joint = digits && (c == '.' || c == '-' || c == ':' || c == '+');
    if (!word_char(c) && !(joint && i + 1 < text.size() && digit(text[i + 1]))) break;
    digits = digits || digit(c);
    ++i;
  }
  return i;
}

bool variable_word(std::string_view word) {
  bool hex = word.size() >= kHexLeast;
  for (const char c : word) {
    if (digit(c)) return true;
    hex = hex && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'));
  }
  return hex;
}

/// `message` with numbers, ids, addresses and paths replaced, into `out`.
void mask(std::string_view message, std::string& out) {
  out.clear();
  size_t kept = 0;  // what is before it stands in `out`
  for (size_t at = 0; at < message.size();) {
    const char c = message[at];
    const bool sign = (c == '-' || c == '+') && at + 1 < message.size() && digit(message[at + 1]) &&
                      (at == 0 || !word_char(message[at - 1]));
    size_t end = at + 1;
    bool variable = false;
    if (path_begins(message, at)) {
      while (end < message.size() && !ends_path(message[end])) ++end;
      while (end > at + 1 && (message[end - 1] == ':' || message[end - 1] == '.' || message[end - 1] == ';')) --end;
      variable = true;
    } else if (word_char(c) || sign) {
      end = word_end(message, at + (sign ? 1 : 0));
      variable = sign || variable_word(message.substr(at, end - at));
    }
    if (variable) {
      out.append(message.substr(kept, at - kept));
      if (!out.ends_with(kStar)) out.append(kStar);
      kept = end;
    }
    at = end;
  }
  out.append(message.substr(kept));
}

bool only_stars(std::string_view token) {
  return token.starts_with(kStar) && token.size() <= kStar.size() + 2;  // "<*>", "<*>,", "<*>],"
}

/// Tokens of a masked line; a list of variables counts as one, however long it is.
void tokenise(std::string_view masked, std::vector<std::string_view>& tokens) {
  tokens.clear();
  for (size_t at = 0; at < masked.size() && tokens.size() < TemplateMiner::kTokenLimit;) {
    while (at < masked.size() && space(masked[at])) ++at;
    size_t end = at;
    while (end < masked.size() && !space(masked[end])) ++end;
    if (end == at) break;
    std::string_view token = masked.substr(at, end - at);
    if (only_stars(token)) token = kStar;
    if (token != kStar || tokens.empty() || tokens.back() != kStar) tokens.push_back(token);
    at = end;
  }
}

struct Template {
  std::vector<std::string> tokens;
};

struct Leaf {
  std::vector<uint32_t> templates;
};

}  // namespace

struct TemplateMiner::Inner {
  using Tokens = std::vector<std::string_view>;
  std::vector<Template> templates;
  std::map<std::string, Leaf, std::less<>> leaves;      // token count and leading tokens, joined by '\n'
  std::map<std::string, size_t, std::less<>> children;  // how many different tokens follow a place in the tree
  uint32_t rest = UINT32_MAX;                           // the template of all that found no place
  std::string masked, key, longer;
  Tokens tokens;
  bool changed = false;  // a template came, or was made looser

  Leaf& leaf();
  uint32_t rest_template();
  uint32_t place(Leaf& leaf);
};

/// The leaf of the tokens. A place with too many different tokens sends further ones down "<*>".
Leaf& TemplateMiner::Inner::leaf() {
  key = std::to_string(tokens.size());
  for (size_t i = 0; i < std::min(kDepth, tokens.size()); ++i) {
    longer = key;
    longer.push_back('\n');
    const size_t stem = longer.size();
    longer.append(tokens[i].substr(0, kPlaceBytes));
    if (children.find(longer) == children.end()) {
      size_t& count = children[key];
      if (count >= kChildrenLimit || children.size() >= kPlacesLimit) {
        longer.resize(stem);
        longer.append(kStar);
      } else {
        ++count;
      }
      children.try_emplace(longer, 0);
    }
    key.swap(longer);
  }
  return leaves[key];
}

uint32_t TemplateMiner::Inner::rest_template() {
  if (rest == UINT32_MAX) {
    changed = true;
    rest = static_cast<uint32_t>(templates.size());
    templates.push_back({{std::string(kStar)}});
  }
  return rest;
}

/// The template of the leaf that is most like the tokens, made looser where they differ; a new one when none is.
uint32_t TemplateMiner::Inner::place(Leaf& leaf) {
  uint32_t best = UINT32_MAX;
  size_t best_equal = 0;
  for (const uint32_t id : leaf.templates) {
    const Template& known = templates[id];
    size_t equal = 0;
    for (size_t i = 0; i < tokens.size(); ++i) equal += known.tokens[i] == tokens[i] ? 1 : 0;
    if (best == UINT32_MAX || equal > best_equal) {
      best = id;
      best_equal = equal;
    }
  }
  if (best != UINT32_MAX && static_cast<double>(best_equal) >= kSimilar * static_cast<double>(tokens.size())) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      std::string& token = templates[best].tokens[i];
      if (token == tokens[i] || token == kStar) continue;
      token = kStar;
      changed = true;
    }
    return best;
  }
  if (leaf.templates.size() >= kLeafLimit || templates.size() >= kTemplateLimit) return rest_template();
  changed = true;
  const auto id = static_cast<uint32_t>(templates.size());
  templates.push_back({{tokens.begin(), tokens.end()}});
  leaf.templates.push_back(id);
  return id;
}

TemplateMiner::TemplateMiner() : inner_(std::make_unique<Inner>()) {}
TemplateMiner::~TemplateMiner() = default;

uint32_t TemplateMiner::add(std::string_view message) {
  Inner& inner = *inner_;
  mask(message.substr(0, kBytesLimit), inner.masked);
  tokenise(inner.masked, inner.tokens);
  const uint32_t id = inner.place(inner.leaf());
  if (std::exchange(inner.changed, false)) ++version_;
  return id;
}

std::string TemplateMiner::text(uint32_t id) const {
  std::string text;
  if (id >= inner_->templates.size()) return text;
  for (const std::string& token : inner_->templates[id].tokens) {
    if (!text.empty()) text.push_back(' ');
    text.append(token);
  }
  return text;
}

}  // namespace mw
