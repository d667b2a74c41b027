#include "read/files/plain_json.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/numbers.h"

namespace mw {
namespace {

constexpr int kDepthLimit = 16;  // levels

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
bool is_letter(char c) { return static_cast<unsigned char>((c | 32) - 'a') < 26; }

constexpr uint64_t each(unsigned char byte) { return 0x0101010101010101ULL * byte; }

/// The high bit of each byte that is zero; above the first one, of others as well.
constexpr uint64_t zeros(uint64_t eight) { return (eight - each(1)) & ~eight & each(0x80); }

class PlainReader {
 public:
  PlainReader(std::string_view json, RowBuilder& row) : at_(json.data()), end_(at_ + json.size()), row_(row) {}

  bool read() {
    if (!object({}, 0, true)) return false;
    skip_space();
    return at_ == end_;
  }

 private:
  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }
  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  /// After an element: true when another follows; else `*whole` says whether `close` ended them.
  bool goes_on(char close, bool* whole) {
    skip_space();
    if (take(',')) return skip_space(), true;
    *whole = take(close);
    return false;
  }

  bool object(std::string_view path, int depth, bool wanted) {
    if (depth >= kDepthLimit || !take('{')) return false;
    skip_space();
    if (take('}')) return true;
    bool whole = false;
    do {
      std::string_view key;
      if (!string(key)) return false;
      skip_space();
      if (!take(':')) return false;
      skip_space();
      if (wanted && !path.empty()) key = row_.keep_joined(path, key);
      if (!value(key, depth, wanted)) return false;
    } while (goes_on('}', &whole));
    return whole;
  }

  /// None of what it holds is wanted.
  bool array(int depth) {
    if (depth >= kDepthLimit || !take('[')) return false;
    skip_space();
    if (take(']')) return true;
    bool whole = false;
    do {
      if (!value({}, depth, false)) return false;
    } while (goes_on(']', &whole));
    return whole;
  }

  bool value(std::string_view key, int depth, bool wanted) {
    if (at_ == end_) return false;
    switch (*at_) {
      case '"': {
        std::string_view text;
        if (!string(text)) return false;
        if (wanted) row_.add_text(key, text);
        return true;
      }
      case '{':
        return object(key, depth + 1, wanted);
      case '[':
        return array(depth + 1);
      case 't':
        return word("true", key, 1, wanted);
      case 'f':
        return word("false", key, 0, wanted);
      case 'n':
        return word("null", key, 0, false) || non_finite(key, wanted);
      case 'N':
      case 'I':
      case 'i':
        return non_finite(key, wanted);
      default:
        return number(key, wanted);
    }
  }

  bool word(std::string_view name, std::string_view key, double means, bool wanted) {
    if (std::string_view(at_, static_cast<size_t>(end_ - at_)).substr(0, name.size()) != name) return false;
    at_ += name.size();
    if (wanted) row_.add_number(key, means);
    return true;
  }

  /// As Python's json has them, or as printf does.
  bool non_finite(std::string_view key, bool wanted) {
    struct Word {
      std::string_view text;
      double value;
    };
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();
    static constexpr std::array<Word, 12> kWords = {{{"NaN", kNan},
                                                     {"nan", kNan},
                                                     {"-nan", kNan},
                                                     {"NAN", kNan},
                                                     {"Infinity", kInf},
                                                     {"-Infinity", -kInf},
                                                     {"inf", kInf},
                                                     {"-inf", -kInf},
                                                     {"Inf", kInf},
                                                     {"-Inf", -kInf},
                                                     {"INF", kInf},
                                                     {"-INF", -kInf}}};
    const char* const begin = at_;
    while (at_ != end_ && (*at_ == '-' || is_letter(*at_))) ++at_;
    const std::string_view text(begin, static_cast<size_t>(at_ - begin));
    const auto* const found =
        std::find_if(kWords.begin(), kWords.end(), [text](const Word& one) { return one.text == text; });
    if (found == kWords.end()) return false;
    if (wanted) row_.add_number(key, found->value);
    return true;
  }

  /// One without escapes and control characters.
  bool string(std::string_view& out) {
    if (!take('"')) return false;
    const char* const begin = at_;
    for (; end_ - at_ >= 8; at_ += 8) {
      uint64_t eight = 0;
      std::memcpy(&eight, at_, 8);
      const uint64_t control = (eight - each(0x20)) & ~eight & each(0x80);
      const uint64_t stops = zeros(eight ^ each('"')) | zeros(eight ^ each('\\')) | control;
      if (stops == 0) continue;
      at_ += std::countr_zero(stops) / 8;
      break;
    }
    while (at_ != end_ && *at_ != '"' && *at_ != '\\' && static_cast<unsigned char>(*at_) >= 0x20) ++at_;
    out = {begin, static_cast<size_t>(at_ - begin)};
    return take('"');
  }

  bool number(std::string_view key, bool wanted) {
    const char* const begin = at_;
    take('-');
    if (at_ != end_ && is_letter(*at_)) return at_ = begin, non_finite(key, wanted);
    const char* const whole = at_;
    while (at_ != end_ && is_digit(*at_)) ++at_;
    if (at_ == whole || (*whole == '0' && at_ - whole > 1)) return false;
    if (take('.') && (at_ == end_ || !is_digit(*at_))) return false;
    size_t used = 0;
    const auto parsed = parse_double_prefix({begin, static_cast<size_t>(end_ - begin)}, &used);
    if (!parsed || !std::isfinite(*parsed)) return false;
    at_ = begin + used;
    if (wanted) row_.add_number(key, *parsed);
    return true;
  }

  const char* at_;
  const char* end_;
  RowBuilder& row_;
};

}  // namespace

bool read_plain_json(std::string_view json, RowBuilder& row) { return PlainReader(json, row).read(); }

}  // namespace mw
