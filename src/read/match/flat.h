// Arrays of plain values, one after another in one piece of memory: written once, and then used where they lie. So the
// build can make what takes long to make (read/books/compiled.h), and a start only points at it.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/check.h"

namespace mw {

constexpr size_t kFlatAlign = 8;  ///< bytes: the piece of memory begins at a multiple of them, and so does each array

class FlatWriter {
 public:
  template <typename T>
  void array(const std::vector<T>& items) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kFlatAlign);
    const uint64_t count = items.size();
    bytes_.append(reinterpret_cast<const char*>(&count), sizeof(count));
    bytes_.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T));
    bytes_.resize((bytes_.size() + kFlatAlign - 1) / kFlatAlign * kFlatAlign);
  }
  void text(std::string_view text) { array(std::vector<char>(text.begin(), text.end())); }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads in the order in which it was written; what it gives lives as long as `bytes`.
class FlatReader {
 public:
  explicit FlatReader(std::string_view bytes) : rest_(bytes) {
    MW_CHECK(reinterpret_cast<uintptr_t>(bytes.data()) % kFlatAlign == 0);
  }
  template <typename T>
  std::span<const T> array() {
    uint64_t count = 0;
    MW_CHECK(rest_.size() >= sizeof(count));
    std::memcpy(&count, rest_.data(), sizeof(count));
    MW_CHECK(count <= (rest_.size() - sizeof(count)) / sizeof(T));
    const auto* items = reinterpret_cast<const T*>(rest_.data() + sizeof(count));
    const size_t size = (sizeof(count) + count * sizeof(T) + kFlatAlign - 1) / kFlatAlign * kFlatAlign;
    rest_.remove_prefix(size);
    return {items, static_cast<size_t>(count)};
  }
  std::string_view text() {
    const std::span<const char> chars = array<char>();
    return {chars.data(), chars.size()};
  }

 private:
  std::string_view rest_;
};

/// Lists of values, by number.
template <typename T>
class FlatLists {
 public:
  FlatLists() = default;
  explicit FlatLists(FlatReader& in) : ends_(in.array<uint32_t>()), values_(in.array<T>()) {}
  static void write(const std::vector<std::vector<T>>& lists, FlatWriter& out) {
    std::vector<uint32_t> ends;
    std::vector<T> values;
    for (const std::vector<T>& list : lists) {
      values.insert(values.end(), list.begin(), list.end());
      ends.push_back(static_cast<uint32_t>(values.size()));
    }
    out.array(ends);
    out.array(values);
  }
  size_t size() const { return ends_.size(); }
  std::span<const T> operator[](size_t i) const {
    const uint32_t begin = i == 0 ? 0 : ends_[i - 1];
    return values_.subspan(begin, ends_[i] - begin);
  }

 private:
  std::span<const uint32_t> ends_;
  std::span<const T> values_;
};

/// Texts, by number.
class FlatTexts {
 public:
  FlatTexts() = default;
  explicit FlatTexts(FlatReader& in) : ends_(in.array<uint32_t>()), bytes_(in.text()) {}
  static void write(std::span<const std::string> texts, FlatWriter& out) {
    std::vector<uint32_t> ends;
    std::string bytes;
    for (const std::string& text : texts) {
      bytes += text;
      ends.push_back(static_cast<uint32_t>(bytes.size()));
    }
    out.array(ends);
    out.text(bytes);
  }
  size_t size() const { return ends_.size(); }
  std::string_view operator[](size_t i) const {
    const uint32_t begin = i == 0 ? 0 : ends_[i - 1];
    return bytes_.substr(begin, ends_[i] - begin);
  }

 private:
  std::span<const uint32_t> ends_;
  std::string_view bytes_;
};

}  // namespace mw
