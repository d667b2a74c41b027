// Result<T>: a value, or the Error that kept it from being made. Dropping one is a compile warning (an error here).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace mw {

/// An operating error: what went wrong (`what`) and what a person can do about it (`hint`, may be empty).
struct Error {
  enum class Code { kNotFound, kDenied, kInvalid, kTruncated, kUnsupported, kFull, kIo, kLimit, kInterrupted };
  Code code = Code::kIo;
  std::string what;
  std::string hint;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: a value is a good result
  Result(Error error) : held_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: an error is a bad one

  bool ok() const { return held_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & {
    MW_CHECK(ok());
    return std::get<0>(held_);
  }
  const T& value() const& {
    MW_CHECK(ok());
    return std::get<0>(held_);
  }
  T&& value() && {
    MW_CHECK(ok());
    return std::get<0>(std::move(held_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const {
    MW_CHECK(!ok());
    return std::get<1>(held_);
  }

 private:
  std::variant<T, Error> held_;
};

/// The result of an action that has no value.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: as above

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    MW_CHECK(!ok());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace mw

/// Returns the error of `expression` (a Result) from the enclosing function; otherwise goes on. A statement.
#define MW_TRY(expression)                         \
  do {                                             \
    auto mw_result = (expression);                 \
    if (!mw_result.ok()) return mw_result.error(); \
  } while (false)
