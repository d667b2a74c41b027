// The JSON objects of a run in an object store: a schema, a checksum, and the content that it is of
// (docs/formats/store.md).
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace mw::vault {

/// One JSON object whose last member is `body`, itself one, with a checksum of that one's text.
std::string sealed(std::string_view schema, std::string_view body);
/// The text of the content; it lies in `text`. kInvalid: another schema, cut, or changed.
Result<std::string_view> unsealed(std::string_view schema, std::string_view text);
/// The content itself; kInvalid also when it is no JSON object.
Result<Json> unseal(std::string_view schema, std::string_view text);

}  // namespace mw::vault
