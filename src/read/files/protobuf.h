// A reader of protocol-buffer messages (https://protobuf.dev/programming-guides/encoding): fields in order, lengths
// checked, unknown fields left to the caller to ignore. No schema, no allocation.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace mw {

class ProtoReader {
 public:
  explicit ProtoReader(std::string_view message) : at_(message.data()), end_(message.data() + message.size()) {}

  /// The next field; false at the end of the message or where it is garbled (see good()).
  bool next() {
    if (at_ == end_) return false;
    uint64_t key = 0;
    if (!varint(key)) return fail();
    field_ = static_cast<uint32_t>(key >> 3);
    wire_ = static_cast<uint32_t>(key & 7);
    if (wire_ == 2) {
      uint64_t size = 0;
      if (!varint(size) || size > static_cast<uint64_t>(end_ - at_)) return fail();
      bytes_ = std::string_view(at_, static_cast<size_t>(size));
      at_ += size;
      return true;
    }
    if (wire_ == 0) return varint(value_) || fail();
    if (wire_ == 5) return fixed(4);
    if (wire_ == 1) return fixed(8);
    return fail();  // groups are not used by the formats read here
  }
  bool good() const { return good_; }
  uint32_t field() const { return field_; }
  bool is_bytes() const { return wire_ == 2; }
  bool is_varint() const { return wire_ == 0; }
  bool is_fixed32() const { return wire_ == 5; }
  bool is_fixed64() const { return wire_ == 1; }
  /// Of a length-delimited field; empty for the others.
  std::string_view bytes() const { return wire_ == 2 ? bytes_ : std::string_view(); }
  /// Of a varint or fixed field, as bits; 0 for the others.
  uint64_t value() const { return wire_ == 2 ? 0 : value_; }
  int64_t integer() const { return static_cast<int64_t>(value()); }

  static float float_from(uint64_t bits) {
    const auto narrow = static_cast<uint32_t>(bits);
    float value = 0;
    std::memcpy(&value, &narrow, 4);
    return value;
  }
  static double double_from(uint64_t bits) {
    double value = 0;
    std::memcpy(&value, &bits, 8);
    return value;
  }

 private:
  bool fail() { return at_ = end_, good_ = false; }
  bool fixed(size_t size) {
    if (static_cast<size_t>(end_ - at_) < size) return fail();
    value_ = 0;
    std::memcpy(&value_, at_, size);
    at_ += size;
    return true;
  }
  [[gnu::always_inline]] bool varint(uint64_t& out) {
    if (at_ != end_ && static_cast<unsigned char>(*at_) < 0x80) {
      out = static_cast<unsigned char>(*at_++);
      return true;
    }
    if (end_ - at_ > 1 && static_cast<unsigned char>(at_[1]) < 0x80) {  // fields from 16 on, lengths from 128 on
      out = (static_cast<unsigned char>(at_[0]) & 0x7fU) | static_cast<uint64_t>(static_cast<unsigned char>(at_[1]))
                                                               << 7;
      at_ += 2;
      return true;
    }
    return long_varint(out);
  }
  [[gnu::noinline]] bool long_varint(uint64_t& out) {
    out = 0;
    for (unsigned shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      out |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  const char* at_;
  const char* end_;
  std::string_view bytes_;
  uint64_t value_ = 0;
  uint32_t field_ = 0;
  uint32_t wire_ = 0;
  bool good_ = true;
};

}  // namespace mw
