#include "read/files/pickle.h"

#include <bit>
#include <cstring>

#include "base/numbers.h"
#include "base/text.h"

namespace mw {
namespace {

using Kind = PickleValue::Kind;

class Machine {
 public:
  explicit Machine(std::string_view bytes) : bytes_(bytes) {}

  Result<Pickle> run() {
    while (!stopped_) {
      if (at_ >= bytes_.size()) return Error{Error::Code::kTruncated, "its pickle is cut", ""};
      const auto op = static_cast<unsigned char>(bytes_[at_++]);
      if (!step(op)) break;
      if (pickle_.values.size() > kPickleValues || items_ > kPickleItems || marks_.size() > kPickleValues ||
          stack_.size() > kPickleValues) {
        return Error{Error::Code::kLimit, "its pickle is larger than what is read", ""};
      }
    }
    if (cut_) return Error{Error::Code::kTruncated, "its pickle is cut", ""};
    if (!stopped_ || stack_.empty()) return Error{Error::Code::kInvalid, "its pickle is damaged", ""};
    pickle_.root = stack_.back();
    pickle_.bytes = at_;
    return std::move(pickle_);
  }

 private:
  // ---- bytes
  std::string_view take(uint64_t size) {
    if (size > bytes_.size() - at_) {
      cut_ = true;
      return {};
    }
    const std::string_view out = bytes_.substr(at_, size);
    at_ += size;
    return out;
  }
  template <typename Number>
  Number number() {
    const std::string_view raw = take(sizeof(Number));
    Number value = 0;
    if (raw.size() == sizeof value) std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }
  std::string_view line() {
    const size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) {
      cut_ = true;
      return {};
    }
    const std::string_view out = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return out;
  }

  /// Python refuses any other, too.
  bool known_protocol() {
    constexpr unsigned char kHighest = 5;
    const std::string_view version = take(1);
    return !cut_ && static_cast<unsigned char>(version.front()) <= kHighest;
  }

  // ---- values
  bool push(uint32_t number) {
    stack_.push_back(number);
    return !cut_;
  }
  uint32_t make(Kind kind) {
    pickle_.values.emplace_back();
    pickle_.values.back().kind = kind;
    return static_cast<uint32_t>(pickle_.values.size() - 1);
  }
  bool put(Kind kind) { return push(make(kind)); }
  bool put_integer(int64_t value, Kind kind = Kind::kInteger) {
    const uint32_t number = make(kind);
    pickle_.values[number].integer = value;
    return push(number);
  }
  bool put_real(double value) {
    const uint32_t number = make(Kind::kReal);
    pickle_.values[number].real = value;
    return push(number);
  }
  bool put_text(std::string_view text, Kind kind = Kind::kText) {
    const uint32_t number = make(kind);
    pickle_.values[number].text = text;
    return push(number);
  }
  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  bool pop(uint32_t& number) {
    if (stack_.size() <= floor()) return false;
    number = stack_.back();
    stack_.pop_back();
    return true;
  }
  void add(uint32_t container, uint32_t item) {
    pickle_.values[container].items.push_back(item);
    ++items_;
  }
  /// What lies above the topmost MARK, which goes.
  bool pop_mark(std::vector<uint32_t>& out) {
    if (marks_.empty()) return false;
    out.assign(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return true;
  }
  bool put_all(Kind kind) {
    std::vector<uint32_t> items;
    if (!pop_mark(items)) return false;
    return put_items(kind, items);
  }
  bool put_items(Kind kind, std::vector<uint32_t> items) {
    const uint32_t number = make(kind);
    items_ += items.size();
    pickle_.values[number].items = std::move(items);
    return push(number);
  }
  bool put_tuple(size_t size) {
    std::vector<uint32_t> items(size);
    for (size_t i = size; i > 0; --i) {
      if (!pop(items[i - 1])) return false;
    }
    return put_items(Kind::kTuple, std::move(items));
  }
  bool give(size_t size) {  // APPEND (1), SETITEM (2)
    uint32_t item[2] = {};
    for (size_t i = size; i > 0; --i) {
      if (!pop(item[i - 1])) return false;
    }
    if (stack_.size() <= floor()) return false;
    for (size_t i = 0; i < size; ++i) add(stack_.back(), item[i]);
    return true;
  }
  bool give_all() {  // APPENDS, SETITEMS, ADDITEMS
    std::vector<uint32_t> items;
    if (!pop_mark(items) || stack_.size() <= floor()) return false;
    for (const uint32_t item : items) add(stack_.back(), item);
    return true;
  }
  bool call(uint32_t callable, uint32_t args) {
    const uint32_t number = make(Kind::kCall);
    pickle_.values[number].callable = callable;
    pickle_.values[number].args = args;
    return push(number);
  }
  bool call_top() {  // REDUCE, NEWOBJ
    uint32_t args = 0, callable = 0;
    return pop(args) && pop(callable) && call(callable, args);
  }
  bool build() {
    uint32_t state = 0;
    if (!pop(state) || stack_.size() <= floor()) return false;
    pickle_.values[stack_.back()].state = state;
    return true;
  }
  bool put_global(std::string_view module, std::string_view name) {
    put_text(module);
    const uint32_t module_number = stack_.back();
    stack_.pop_back();
    put_text(name, Kind::kGlobal);
    pickle_.values[stack_.back()].callable = module_number;
    return !cut_;
  }
  bool stack_global() {
    uint32_t name = 0, module = 0;
    if (!pop(name) || !pop(module)) return false;
    return put_global(pickle_.values[module].text, pickle_.values[name].text);
  }
  bool persistent() {
    uint32_t id = 0;
    if (!pop(id)) return false;
    put(Kind::kPersistent);
    pickle_.values[stack_.back()].args = id;
    return true;
  }

  // ---- memo
  bool remember(uint64_t place) {
    if (stack_.size() <= floor() || place >= kPickleValues) return false;
    if (memo_.size() <= place) memo_.resize(place + 1, kNoValue);
    memo_[place] = stack_.back();
    return !cut_;
  }
  bool recall(uint64_t place) {
    if (cut_ || place >= memo_.size() || memo_[place] == kNoValue) return false;
    return push(memo_[place]);
  }

  bool put_long(uint64_t size) {
    const std::string_view raw = take(size);
    if (cut_ || raw.size() > 8) return put_text(raw, Kind::kBytes);
    int64_t value = !raw.empty() && (static_cast<unsigned char>(raw.back()) & 0x80U) != 0 ? -1 : 0;
    std::memcpy(&value, raw.data(), raw.size());
    return put_integer(value);
  }
  bool put_line_integer() {
    std::string_view text = line();
    if (text.ends_with('L')) text.remove_suffix(1);
    if (text == "00" || text == "01") return put_integer(text == "01" ? 1 : 0, Kind::kBool);
    const auto value = parse_int(text);
    return value ? put_integer(*value) : put_text(text, Kind::kBytes);
  }
  double big_endian_real() {
    uint64_t bits = number<uint64_t>();
    bits = __builtin_bswap64(bits);
    return std::bit_cast<double>(bits);
  }

  bool step(unsigned char op) {
    switch (op) {
      case 0x80:
        return known_protocol();  // PROTO
      case 0x95:
        return take(8), !cut_;  // FRAME
      case '.':
        return stopped_ = true;  // STOP
      case '(':
        return marks_.push_back(stack_.size()), true;
      case 'N':
        return put(Kind::kNone);
      case 0x88:
        return put_integer(1, Kind::kBool);
      case 0x89:
        return put_integer(0, Kind::kBool);
      case 'J':
        return put_integer(number<int32_t>());
      case 'K':
        return put_integer(number<uint8_t>());
      case 'M':
        return put_integer(number<uint16_t>());
      case 0x8a:
        return put_long(number<uint8_t>());
      case 0x8b:
        return put_long(number<uint32_t>());
      case 'I':
      case 'L':
        return put_line_integer();
      case 'F':
        return put_real(parse_double(line()).value_or(0));
      case 'G':
        return put_real(big_endian_real());
      default:
        return step_text(op);
    }
  }
  bool step_text(unsigned char op) {
    switch (op) {
      case 0x8c:
        return put_text(take(number<uint8_t>()));  // SHORT_BINUNICODE
      case 'X':
        return put_text(take(number<uint32_t>()));  // BINUNICODE
      case 0x8d:
        return put_text(take(number<uint64_t>()));  // BINUNICODE8
      case 'U':
        return put_text(take(number<uint8_t>()));  // SHORT_BINSTRING
      case 'T':
        return put_text(take(number<uint32_t>()));  // BINSTRING
      case 'S':
      case 'V':
        return put_text(line());
      case 'C':
        return put_text(take(number<uint8_t>()), Kind::kBytes);
      case 'B':
        return put_text(take(number<uint32_t>()), Kind::kBytes);
      case 0x8e:
      case 0x96:
        return put_text(take(number<uint64_t>()), Kind::kBytes);  // BINBYTES8, BYTEARRAY8
      case 'c':
        return step_global();
      case 0x93:
        return stack_global();
      default:
        return step_container(op);
    }
  }
  bool step_global() {
    const std::string_view module = line();
    return put_global(module, line());
  }
  bool step_container(unsigned char op) {
    switch (op) {
      case ')':
        return put(Kind::kTuple);
      case ']':
        return put(Kind::kList);
      case '}':
        return put(Kind::kDict);
      case 0x8f:
        return put(Kind::kList);  // EMPTY_SET
      case 0x85:
        return put_tuple(1);
      case 0x86:
        return put_tuple(2);
      case 0x87:
        return put_tuple(3);
      case 't':
        return put_all(Kind::kTuple);
      case 'l':
      case 0x91:
        return put_all(Kind::kList);  // LIST, FROZENSET
      case 'd':
        return put_all(Kind::kDict);
      case 'a':
        return give(1);
      case 's':
        return give(2);
      case 'e':
      case 'u':
      case 0x90:
        return give_all();
      default:
        return step_object(op);
    }
  }
  bool step_object(unsigned char op) {
    switch (op) {
      case 'R':
      case 0x81:
        return call_top();
      case 0x92:
        return call_with_names();  // NEWOBJ_EX
      case 'b':
        return build();
      case 'Q':
        return persistent();
      case 'P':
        return put_text(line(), Kind::kPersistent);
      case 0x94:
        return remember(memo_.size());
      case 'q':
        return remember(number<uint8_t>());
      case 'r':
        return remember(number<uint32_t>());
      case 'p':
        return remember(static_cast<uint64_t>(parse_int(line()).value_or(-1)));
      case 'h':
        return recall(number<uint8_t>());
      case 'j':
        return recall(number<uint32_t>());
      case 'g':
        return recall(static_cast<uint64_t>(parse_int(line()).value_or(-1)));
      default:
        return step_stack(op);
    }
  }
  bool call_with_names() {
    uint32_t names = 0;
    return pop(names) && call_top();
  }
  bool step_stack(unsigned char op) {
    uint32_t number = 0;
    std::vector<uint32_t> items;
    switch (op) {
      case '0':
        if (stack_.size() > floor()) return pop(number);
        return pop_mark(items);
      case '1':
        return pop_mark(items);
      case '2':
        return stack_.size() > floor() && push(stack_.back());
      case 'o':
      case 'i':
        return step_instance(op);
      case 0x97:
        return put(Kind::kBytes);  // NEXT_BUFFER
      case 0x98:
        return stack_.size() > floor();  // READONLY_BUFFER
      default:
        return false;
    }
  }
  bool step_instance(unsigned char op) {  // OBJ: the class is the first item; INST: it is named
    std::vector<uint32_t> items;
    if (!pop_mark(items)) return false;
    if (op == 'i') {
      if (!step_global()) return false;
      items.insert(items.begin(), stack_.back());
      stack_.pop_back();
    }
    if (items.empty()) return false;
    const uint32_t callable = items.front();
    items.erase(items.begin());
    put_items(Kind::kTuple, std::move(items));
    const uint32_t args = stack_.back();
    stack_.pop_back();
    return call(callable, args);
  }

  std::string_view bytes_;
  size_t at_ = 0, items_ = 0;
  bool cut_ = false, stopped_ = false;
  Pickle pickle_;
  std::vector<uint32_t> stack_, memo_;
  std::vector<size_t> marks_;
};

}  // namespace

uint32_t Pickle::find(uint32_t dict, std::string_view key) const {
  if (dict >= values.size()) return kNoValue;
  const PickleValue* value = &values[dict];
  if (value->items.empty() && value->state < values.size()) value = &values[value->state];
  for (size_t i = 0; i + 1 < value->items.size(); i += 2) {
    const PickleValue& name = values[value->items[i]];
    if (name.kind == Kind::kText && name.text == key) return value->items[i + 1];
  }
  return kNoValue;
}

Result<Pickle> read_pickle(std::string_view bytes) {
  if (bytes.size() > kPickleBytes) return Error{Error::Code::kLimit, "its pickle is larger than what is read", ""};
  return Machine(bytes).run();
}

}  // namespace mw
