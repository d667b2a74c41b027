// Values of the books as bytes, and back: for what the build reads of knowledge/ once (compiled.h). Both are of one
// build of one program, so nothing says what the bytes are. A struct is archived by fields(), which names all of its
// members in a structured binding: one that is added does not compile until it is named there.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"

namespace mw {

template <typename T, typename Of>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Of>;

template <typename T>
concept PlainValue = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class ArchiveWriter {
 public:
  template <typename... Values>
  void operator()(const Values&... values) {
    (put(values), ...);
  }
  std::string take() { return std::move(bytes_); }

 private:
  template <typename T>
  void put(const T& value) {
    if constexpr (PlainValue<T>) {
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    } else {
      fields(*this, value);
    }
  }
  void put(const std::string& text) {
    put(static_cast<uint32_t>(text.size()));
    bytes_.append(text);
  }
  template <typename T>
  void put(const std::vector<T>& items) {
    put(static_cast<uint32_t>(items.size()));
    for (const T& item : items) put(item);
  }
  template <typename A, typename B>
  void put(const std::pair<A, B>& both) {
    put(both.first);
    put(both.second);
  }

  std::string bytes_;
};

class ArchiveReader {
 public:
  explicit ArchiveReader(std::string_view bytes) : rest_(bytes) {}
  template <typename... Values>
  void operator()(Values&... values) {
    (get(values), ...);
  }

 private:
  std::string_view next(size_t size) {
    MW_CHECK(size <= rest_.size());
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }
  template <typename T>
  void get(T& value) {
    if constexpr (PlainValue<T>) {
      std::memcpy(&value, next(sizeof(value)).data(), sizeof(value));
    } else {
      fields(*this, value);
    }
  }
  void get(std::string& text) {
    uint32_t size = 0;
    get(size);
    text.assign(next(size));
  }
  template <typename T>
  void get(std::vector<T>& items) {
    uint32_t size = 0;
    get(size);
    items.resize(size);
    for (T& item : items) get(item);
  }
  template <typename A, typename B>
  void get(std::pair<A, B>& both) {
    get(both.first);
    get(both.second);
  }

  std::string_view rest_;
};

}  // namespace mw
