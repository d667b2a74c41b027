#include "base/result.h"

namespace mw {

HeldError::HeldError(const Error& error) : error_(new Error(error)) {}

HeldError::HeldError(const HeldError& other) : error_(other.none() ? nullptr : new Error(*other.error_)) {}

void HeldError::clear() { delete error_; }

}  // namespace mw
