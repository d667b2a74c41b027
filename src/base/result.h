// Result<T>: a value, or the Error that kept it from being made. Dropping one is a compile warning (an error here).
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/check.h"

namespace mw {

/// An operating error: what went wrong (`what`) and what a person can do about it (`hint`, may be empty).
struct Error {
  enum class Code { kNotFound, kDenied, kInvalid, kTruncated, kUnsupported, kFull, kIo, kLimit, kInterrupted };
  Code code = Code::kIo;
  std::string what;
  std::string hint;
};

/// The error of a Result, or none. Out of line, so that a thousand callers do not compile the copies of its texts.
class HeldError {
 public:
  HeldError() = default;
  explicit HeldError(const Error& error);
  HeldError(const HeldError& other);
  HeldError(HeldError&& other) noexcept : error_(std::exchange(other.error_, nullptr)) {}
  HeldError& operator=(HeldError other) noexcept {
    std::swap(error_, other.error_);
    return *this;
  }
  ~HeldError() {
    if (error_ != nullptr) clear();
  }

  bool none() const { return error_ == nullptr; }
  const Error& get() const {
    MW_CHECK(error_ != nullptr);
    return *error_;
  }

 private:
  void clear();

  Error* error_ = nullptr;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT: a value is a good result
  Result(const Error& error) : error_(error) {}  // NOLINT: an error is a bad one

  bool ok() const { return error_.none(); }
  explicit operator bool() const { return ok(); }
  T& value() & {
    MW_CHECK(value_.has_value());
    return *value_;
  }
  const T& value() const& {
    MW_CHECK(value_.has_value());
    return *value_;
  }
  T&& value() && {
    MW_CHECK(value_.has_value());
    return *std::move(value_);
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const { return error_.get(); }

 private:
  std::optional<T> value_;  ///< there where there is no error
  HeldError error_;
};

/// The result of an action that has no value.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(const Error& error) : error_(error) {}  // NOLINT: as above

  bool ok() const { return error_.none(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const { return error_.get(); }

 private:
  HeldError error_;
};

}  // namespace mw

/// Returns the error of `expression` (a Result) from the enclosing function; otherwise goes on. A statement.
#define MW_TRY(expression)                         \
  do {                                             \
    auto mw_result = (expression);                 \
    if (!mw_result.ok()) return mw_result.error(); \
  } while (false)
