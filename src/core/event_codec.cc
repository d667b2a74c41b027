#include "core/event_codec.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/utf8.h"
#include "core/event_fields.h"

namespace mw {
namespace {

// ---- writing
// ---------------------------------------------------------------------------------------------------------

/// Bytes that go into a JSON string as they are: printable ASCII without '"' and '\\'.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (size_t c = 0x20; c < 0x7f; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

constexpr char kHex[] = "0123456789abcdef";

void put_unit(std::string& out, unsigned unit) {
  const char text[] = {'\\', 'u', kHex[unit >> 12 & 15], kHex[unit >> 8 & 15], kHex[unit >> 4 & 15], kHex[unit & 15]};
  out.append(text, sizeof text);
}

/// Length of the well-formed UTF-8 character (Unicode 15, table 3-7) at the start of `text`; 0 when there is none.
size_t utf8_length(std::string_view text) {
  const auto byte = [text](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto tail = [&](size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return tail(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const unsigned low = lead == 0xe0 ? 0xa0 : 0x80, high = lead == 0xed ? 0x9f : 0xbf;
    return tail(1, low, high) && tail(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const unsigned low = lead == 0xf0 ? 0x90 : 0x80, high = lead == 0xf4 ? 0x8f : 0xbf;
    return tail(1, low, high) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

void put_text(std::string& out, std::string_view text) {
  out.push_back('"');
  while (!text.empty()) {
    size_t plain = 0;
    while (plain < text.size() && kPlain[static_cast<unsigned char>(text[plain])]) ++plain;
    out.append(text.data(), plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const unsigned char c = static_cast<unsigned char>(text.front());
    size_t used = 1;
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(static_cast<char>(c));
    } else if (c == '\n') {
      out.append("\\n");
    } else if (c == '\t') {
      out.append("\\t");
    } else if (c < 0x80) {
      put_unit(out, c);
    } else if ((used = utf8_length(text)) != 0) {
      out.append(text.data(), used);
    } else {
      put_unit(out, 0xdc00U + c);
      used = 1;
    }
    text.remove_prefix(used);
  }
  out.push_back('"');
}

template <typename Number>
void put_number(std::string& out, Number value) {
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, static_cast<size_t>(end - digits));
}

void put(std::string& out, const std::string& value) { put_text(out, value); }
void put(std::string& out, bool value) { out.append(value ? "true" : "false"); }
void put(std::string& out, uint32_t value) { put_number(out, value); }
void put(std::string& out, uint64_t value) { put_number(out, value); }
void put(std::string& out, int64_t value) {
  if (value == kNoStep) {
    out.append("null");
  } else {
    put_number(out, value);
  }
}
void put(std::string& out, double value) {
  if (std::isfinite(value)) {
    put_number(out, value);
  } else {
    out.append(std::isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"");
  }
}
void put(std::string& out, const std::vector<Reading>& readings) {
  out.push_back('[');
  for (const Reading& reading : readings) {
    if (&reading != readings.data()) out.push_back(',');
    out.push_back('[');
    put_text(out, reading.signal());
    out.push_back(',');
    put_text(out, reading.raw());
    out.push_back(',');
    put(out, reading.value);
    out.push_back(']');
  }
  out.push_back(']');
}
template <typename Enum>
requires std::is_enum_v<Enum>
void put(std::string& out, Enum value) { put_text(out, enum_name(value)); }

// ---- reading
// ---------------------------------------------------------------------------------------------------------

/// Walks over one JSON text. Every take_x() returns false when what stands there is not an x.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool take(char c) {
    skip_space();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool done() {
    skip_space();
    return at_ == end_;
  }
  bool peek(char c) {
    skip_space();
    return at_ != end_ && *at_ == c;
  }

  /// A string without escapes, as a view: keys and words.
  bool take_word(std::string_view& out) {
    if (!take('"')) return false;
    const char* const begin = at_;
    while (at_ != end_ && kPlain[static_cast<unsigned char>(*at_)]) ++at_;
    out = {begin, static_cast<size_t>(at_ - begin)};
    return at_ != end_ && *at_++ == '"';
  }

  bool take_text(std::string& out) {
    out.clear();
    if (!take('"')) return false;
    for (;;) {
      const char* const begin = at_;
      while (at_ != end_ && *at_ != '"' && *at_ != '\\' && static_cast<unsigned char>(*at_) >= 0x20) ++at_;
      out.append(begin, static_cast<size_t>(at_ - begin));
      if (at_ == end_) return false;
      const char c = *at_++;
      if (c == '"') return true;
      if (c != '\\' || !take_escape(out)) return false;
    }
  }

  bool take_literal(std::string_view literal) {
    skip_space();
    if (static_cast<size_t>(end_ - at_) < literal.size() || std::memcmp(at_, literal.data(), literal.size()) != 0) {
      return false;
    }
    at_ += literal.size();
    return true;
  }

  template <typename Number>
  bool take_number(Number& out) {
    skip_space();
    const auto [end, error] = std::from_chars(at_, end_, out);
    if (error != std::errc{}) return false;
    at_ = end;
    return true;
  }

  /// Any value, unread. `depth` bounds nesting.
  bool skip_value(int depth = 32) {
    if (depth == 0) return false;
    if (peek('"')) {
      ++at_;
      while (at_ != end_ && *at_ != '"') at_ += *at_ == '\\' && at_ + 1 != end_ ? 2 : 1;
      return at_ != end_ && *at_++ == '"';
    }
    const bool object = peek('{');
    if (!object && !peek('[')) return skip_scalar();
    const char close = object ? '}' : ']';
    ++at_;
    if (take(close)) return true;
    do {
      if (object && !(take_any_key() && take(':'))) return false;
      if (!skip_value(depth - 1)) return false;
    } while (take(','));
    return take(close);
  }

 private:
  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
  }
  bool take_any_key() { return peek('"') && skip_value(1); }
  bool skip_scalar() {
    const char* const begin = at_;
    while (at_ != end_ && *at_ != ',' && *at_ != '}' && *at_ != ']' && *at_ != ' ') ++at_;
    return at_ != begin;
  }
  bool take_unit(unsigned& unit) {
    if (end_ - at_ < 4) return false;
    const auto [end, error] = std::from_chars(at_, at_ + 4, unit, 16);
    if (error != std::errc{} || end != at_ + 4) return false;
    at_ += 4;
    return true;
  }
  bool take_escape(std::string& out) {
    if (at_ == end_) return false;
    const char c = *at_++;
    switch (c) {
      case '"':
      case '\\':
      case '/':
        out.push_back(c);
        return true;
      case 'n':
        out.push_back('\n');
        return true;
      case 't':
        out.push_back('\t');
        return true;
      case 'r':
        out.push_back('\r');
        return true;
      case 'b':
        out.push_back('\b');
        return true;
      case 'f':
        out.push_back('\f');
        return true;
      case 'u':
        return take_character(out);
      default:
        return false;
    }
  }
  bool take_character(std::string& out) {
    unsigned unit = 0;
    if (!take_unit(unit)) return false;
    if (unit >= 0xdc80 && unit <= 0xdcff) {  // a byte that was not UTF-8
      out.push_back(static_cast<char>(unit - 0xdc00));
      return true;
    }
    if (unit >= 0xd800 && unit <= 0xdbff) {
      unsigned low = 0;
      if (end_ - at_ < 6 || at_[0] != '\\' || at_[1] != 'u') return false;
      at_ += 2;
      if (!take_unit(low) || low < 0xdc00 || low > 0xdfff) return false;
      unit = 0x10000U + ((unit - 0xd800U) << 10) + (low - 0xdc00U);
    } else if (unit >= 0xdc00 && unit <= 0xdfff) {
      return false;
    }
    append_utf8(out, unit);
    return true;
  }

  const char* at_;
  const char* end_;
};

bool get(Cursor& in, std::string& out) { return in.take_text(out); }
bool get(Cursor& in, bool& out) {
  out = in.take_literal("true");
  return out || in.take_literal("false");
}
bool get(Cursor& in, uint32_t& out) { return in.take_number(out); }
bool get(Cursor& in, uint64_t& out) { return in.take_number(out); }
bool get(Cursor& in, int64_t& out) {
  if (!in.take_literal("null")) return in.take_number(out);
  out = kNoStep;
  return true;
}
bool get(Cursor& in, double& out) {
  if (!in.peek('"')) return in.take_number(out);
  std::string_view word;
  if (!in.take_word(word)) return false;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (word == "nan") {
    out = std::numeric_limits<double>::quiet_NaN();
  } else if (word == "inf") {
    out = kInf;
  } else if (word == "-inf") {
    out = -kInf;
  } else {
    return false;
  }
  return true;
}
bool get(Cursor& in, std::vector<Reading>& out) {
  out.clear();
  if (!in.take('[')) return false;
  if (in.take(']')) return true;
  do {
    std::string signal, raw;
    double value = 0;
    if (!in.take('[') || !get(in, signal) || !in.take(',') || !get(in, raw) || !in.take(',') || !get(in, value) ||
        !in.take(']')) {
      return false;
    }
    out.emplace_back(std::move(signal), std::move(raw), value);
  } while (in.take(','));
  return in.take(']');
}
template <typename Enum>
requires std::is_enum_v<Enum>
bool get(Cursor& in, Enum& out) {
  std::string_view word;
  return in.take_word(word) && enum_from_name(word, out);
}

using Body = AnyBody;

/// Reads the value of `key` into the field of that name; skips it when there is none.
template <typename B>
bool get_field(Cursor& in, std::string_view key, B& body) {
  bool found = false, good = true;
  std::apply(
      [&](const auto&... field) {
        (void)((field.key == key ? (found = true, good = get(in, body.*(field.member)), true) : false) || ...);
      },
      EventTable<B>::table);
  return found ? good : in.skip_value();
}

template <typename B>
bool get_body(Cursor& in, Event& out) {
  B& body = out.body.emplace<B>();
  std::string_view key;
  while (in.take(',')) {
    if (!in.take_word(key) || !in.take(':')) return false;
    if (key == "at") {
      if (!in.take_number(out.at.ns)) return false;
    } else if (key == "rx") {
      if (!in.take_number(out.received.ns)) return false;
    } else if (key == "src") {
      if (!in.take_number(out.where.source)) return false;
    } else if (key == "ln") {
      if (!in.take_number(out.where.line)) return false;
    } else if (!get_field(in, key, body)) {
      return false;
    }
  }
  return in.take('}') && in.done();
}

struct Type {
  std::string_view name;
  bool (*get)(Cursor&, Event&);
};
template <size_t... I>
constexpr auto types_of(std::index_sequence<I...>) {
  return std::array{
      Type{EventTable<std::variant_alternative_t<I, Body>>::name, &get_body<std::variant_alternative_t<I, Body>>}...};
}
constexpr auto kTypes = types_of(std::make_index_sequence<std::variant_size_v<Body>>{});

consteval bool names_differ() {
  for (size_t i = 0; i < kTypes.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (kTypes[i].name == kTypes[j].name) return false;
    }
  }
  return true;
}
static_assert(names_differ());

}  // namespace

void encode_event(const Event& event, std::string& out) {
  std::visit(
      [&]<typename B>(const B& body) {
        out.append("{\"e\":\"").append(EventTable<B>::name).push_back('"');
        if (event.at.known()) {
          out.append(",\"at\":");
          put_number(out, event.at.ns);
        }
        if (event.received.known()) {
          out.append(",\"rx\":");
          put_number(out, event.received.ns);
        }
        if (event.where.source != 0) {
          out.append(",\"src\":");
          put_number(out, event.where.source);
        }
        if (event.where.line != 0) {
          out.append(",\"ln\":");
          put_number(out, event.where.line);
        }
        std::apply(
            [&](const auto&... field) {
              ((out.append(",\"").append(field.key).append("\":"), put(out, body.*(field.member))), ...);
            },
            EventTable<B>::table);
        out.push_back('}');
      },
      event.body);
}

Decoded decode_event(std::string_view json, Event& out) {
  out.at = {};
  out.where = {};
  Cursor in(json);
  std::string_view key, name;
  if (!in.take('{') || !in.take_word(key) || key != "e" || !in.take(':') || !in.take_word(name)) return Decoded::kBad;
  if (name == "told") name = "note";  // as journals of before 0014 have it
  for (const Type& type : kTypes) {
    if (type.name == name) return type.get(in, out) ? Decoded::kEvent : Decoded::kBad;
  }
  return Decoded::kUnknown;
}

std::string_view event_name(const Event& event) { return kTypes[event.body.index()].name; }

}  // namespace mw
