// For tests: a door that the test owns, where the product shares it.
#pragma once

#include <memory>

namespace mw {

/// Owns nothing: `of` must outlive every call through it.
template <typename T>
std::shared_ptr<T> borrowed(T& of) {
  return std::shared_ptr<T>(std::shared_ptr<void>(), &of);
}

}  // namespace mw
