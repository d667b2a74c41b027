// What an exception says in words: for one whose type alone says nothing.
#pragma once

#include <optional>
#include <string_view>

#include "core/detect/support/failure_chain.h"

namespace mw::detect {

/// By the number of a system error, the package that the exception is of, an HTTP status, phrases that libraries share,
/// and the parts of its name. An empty cause leaves that of its type.
std::optional<ExceptionClass> class_by_words(std::string_view exception, std::string_view message);

}  // namespace mw::detect
